// Package ptrace runs a program whose calls go to the machine's real RDMA device
// and looks on: each call on a device file or an event file is told to a
// [watch.Watcher], before it and, with its result, after it.
//
// It uses ptrace(2) with a seccomp filter (SECCOMP_RET_TRACE), as a listener of
// seccomp notifications does not learn what a call that goes on returns. Only the
// few system calls that the filter names stop the program: those that open, copy
// and close a descriptor, an ioctl with RDMA_VERBS_IOCTL, and an mmap that shares
// a file; with Options.Transfers also read and write. The children and threads of
// the program are followed, and its signals and stops are its own.
//
// A program is started by a launcher: this command again, in which
// [ServeLauncher] waits until it is attached, installs the filter and becomes
// the program.
//
// What a program has open is known from its system calls and /proc/PID/fd; a
// descriptor that came another way (passed over a socket, inherited) is compared
// by kcmp(2) with those that are known. That a device file is closed is
// told with its last descriptor, whatever closes that.
//
// A call that a signal interrupts before it has done anything is told as EINTR; if
// the kernel begins it again, it is told again. So is, as EINTR, a call in which
// the program is killed.
//
// Left out are munmap, readv and writev, io_uring, system calls of the 32-bit and
// x32 ABIs, children made with CLONE_UNTRACED, and a thread that has left its
// process's descriptors by unshare(2). A set-user-ID program gains no privilege,
// as under any tracer. The program and its children end with the one who looks on:
// without it their system calls could not go on.
package ptrace
