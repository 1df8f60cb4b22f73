// Package libmlx5 is what the library of the mlx5 driver adds to package verbs:
// the context with its registers, and completion queues, queue pairs and shared
// receive queues whose entries and requests lie in the program's memory. It
// models providers/mlx5 of rdma-core 44, files mlx5.c, verbs.c, qp.c, srq.c, cq.c,
// buf.c and dbrec.c, with their defaults where the environment could say
// otherwise. Sequences of system calls, their attributes and their contents are
// those of the library, and so are the bytes of requests and the order of stores
// to the program's memory and to registers; where the library leaves old bytes
// behind a request, there are zeros.
//
// A program opens a device with OpenDevice, makes its objects with the methods of
// Context and PD, and posts and polls with those of QP, SRQ and CQ. Requests can
// be posted as lists (QP.PostSend) or built by calls (QP.WRStart and what
// follows it).
//
// Left out are raw packets, dynamically connected queue pairs and tag matching;
// registers of kernels that have no dynamic ones; compressed entries,
// signatures, and the memory keys of package mlx5dv; huge pages, custom
// allocators, thread and parent domains.
package libmlx5
