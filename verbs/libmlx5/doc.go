// Package libmlx5 is what the library of the mlx5 driver adds to package verbs:
// the context with its registers, and completion queues whose entries lie in
// the program's memory. It models providers/mlx5 of rdma-core 44, files mlx5.c,
// verbs.c, cq.c, buf.c and dbrec.c, with their defaults where the environment
// could say otherwise. Sequences of system calls, their attributes and their
// contents are those of the library.
//
// A program opens a device with OpenDevice.
//
// Left out are queue pairs and shared receive queues, so a completion does not
// lead to the work request that it is about (its counter stands in the WC);
// registers of kernels that have no dynamic ones; compressed entries,
// signatures and tag matching; huge pages, custom allocators and parent domains.
package libmlx5
