// Package seccomp starts a program so that some of its system calls are
// answered by this process, by seccomp's user notification (kernel/seccomp.c,
// include/uapi/linux/seccomp.h), and needs no privilege for it.
//
// [Filter] is the BPF program that says which calls those are; [Compile] makes
// such a program of a table of rules, also for others. [Launch] starts
// this executable again as a launcher, whose code is [Main]: it installs the
// filter on itself, passes the [Listener] back and executes the program, which
// all its threads, children and later programs inherit the filter from.
// [Listener] takes the calls and answers them. [Probe] says what a machine
// lacks for all that.
//
// Only the system calls of x86_64 are taken; those of a 32-bit or x32 program
// go to the kernel, as do calls that a program makes through io_uring.
package seccomp
