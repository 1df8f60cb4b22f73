// Package sysfs makes a twin of what a machine's RDMA devices look like in
// sysfs, /dev/infiniband and /dev/char: a tree of real files, directories and
// relative links below a directory, which a program can be handed instead of
// the real ones, and which tells it of the simulated devices.
//
// The files and what they contain are those of drivers/infiniband/core/sysfs.c
// and uverbs_main.c, of the driver (core.SysfsInfo), of drivers/pci/pci-sysfs.c
// and net/core/net-sysfs.c. All that a device can say comes from the device.
//
// Tree.Resolve says of a client's path whether the twin has the answer. It follows
// links as the kernel does, so that what begins at one of the machine's
// directories ends in the twin or outside, never beside the twin. The nodes of
// devices are there as empty files, for listings: opening them is not for the
// file system to answer.
//
// Left out are the driver core's own files (power/, the interrupts, auxiliary
// devices), ptp/, net/…/queues and /sys/module; hw_counters, of which no modelled
// device counts any; and ib_umad and ib_cm, as on a machine without those modules:
// their paths are the twin's and do not exist. A file whose reading fails on a
// real machine, as that of the type of a GID that is not there, is empty here;
// and a write to a file that root may write goes to the file alone.
package sysfs
