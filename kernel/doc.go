// Package kernel is the machine: devices with their /dev/infiniband/uverbsN
// nodes, and what happens when a process opens one and makes system calls on
// it. It models uverbs_main.c (open, write, mmap, close, event files, removal
// of a device), uverbs_ioctl.c (the parser and the bundle with its accessors)
// and uverbs_uapi.c (the radix tree of a device's API) of
// drivers/infiniband/core.
//
// It parses and dispatches by definitions that it is handed, and names neither
// a driver nor a standard method: those are in packages methods and
// drivers/…, which give it Definitions.
//
// Left out are SIGIO on event files (fasync) and netlink. What sysfs shows of a
// machine is made by package interpose/sysfs.
package kernel
