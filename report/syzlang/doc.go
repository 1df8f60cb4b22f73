// Package syzlang writes descriptions of uverbs methods and write() commands in
// the language of the fuzzer syzkaller, for those that its own description of
// RDMA (sys/linux/dev_infiniband_rdma.txt) does not have.
//
// A method becomes a struct: the header, then its attributes one by one, each an
// instance of a template. One with optional attributes becomes two: one with
// what is mandatory, one with all. Handles and descriptors are resources, so
// that the fuzzer hands on what a call returned; those of syzkaller's own file
// keep its names.
//
// Left out is which attributes go together, what the firmware's commands in
// DEVX's buffers look like, and lengths other than those of the structs.
package syzlang
