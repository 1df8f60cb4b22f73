// Package interpose lets unmodified programs use a simulated machine: under Linux
// on x86-64 they find its devices in /sys and /dev, open them, and make system
// calls that the model answers. It needs no privilege and no kernel module.
//
// A program runs under a seccomp filter (package interpose/seccomp) that sends the
// few system calls that may concern an RDMA device to a Supervisor and lets all
// others through. The Supervisor looks whether the call names something of the
// machine and, if it does not, has the kernel go on with it. If it does:
//
//   - A path below /sys/class/infiniband and its kin is opened or looked at in a
//     twin of these trees (package interpose/sysfs).
//   - An open of a device node gives the program a descriptor of a sparse file
//     that is made for this one open. Whose descriptor it is, whatever became of
//     it by dup, fork or passing, the file's inode says. Its last close is what
//     inotify tells.
//   - An ioctl goes through the same entry of package kernel as in a test, on a
//     task of a process.Process whose memory is the program's (package
//     interpose/live) and whose descriptors, credentials and limits are asked of
//     the real kernel (process.Host).
//   - What an mmap of the device file shows is pages of the sparse file, which the
//     Supervisor maps too: the device's registers and memory are there.
//   - An event descriptor is the read end of a pipe. Events stay in the model's
//     queue until they have been read from it.
//
// One goroutine, the engine, looks at the register pages that programs have mapped
// and keeps the devices going.
//
// What a program can find out differently than on a real machine is listed in
// docs/fidelity.md.
package interpose
