// Package watch says what one who looks on gets of a program's system calls on
// device files and event files: each call before and after it, with the memory
// of the caller, and for an RDMA_VERBS_IOCTL all that its argument leads to,
// as it was before the call and as it is after it.
//
// A [Watcher] sees calls; it does not change them. What a pointer is in an
// ioctl's argument, the tables of package spec say ([TakeIoctl]).
//
// Left out is all that does not go through a system call: doorbells, the memory
// that a device reads and writes, and a program's own calls on other files.
package watch
