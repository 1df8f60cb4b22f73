// Package spec is the ABI of uverbs as data: the ids, the wire structs, what
// each method of each object takes, the write() commands, and how ids are
// packed into keys. It holds no state and no handlers.
//
// It models, for Linux 6.12,
//
//   - the headers of include/uapi/rdma, one file here for each there;
//   - the declarations of drivers/infiniband/core/uverbs_std_types*.c and of
//     the drivers mlx5, efa and bnxt_re, one file here for each there (cq.go,
//     mlx5_devx.go), written with constructors that stand for the kernel's
//     macros (declare.go, declare_write.go);
//   - the list of write() commands in drivers/infiniband/core/uverbs_cmd.c
//     (write_cmds.go);
//   - the names of the members of the structs (members.go), where they lie on
//     each kernel (layout.go), what each number in them stands for (meaning.go),
//     what follows the structs (tail.go), and which struct a driver hands on with
//     a command (udata.go);
//   - the key functions and the specification structs of
//     include/rdma/uverbs_ioctl.h (key.go, attr.go, method.go, object.go,
//     write.go).
//
// It leaves out the C-only members of these structs (handlers, object sizes,
// destroy functions), the UAPI of RDMA that is not uverbs (MAD, CM, netlink),
// and drivers other than those named.
//
// [Core] and [MLX5] return the definitions in the order in which the kernel
// merges them. To find what one method takes, with all that a driver adds, ask
// [FindMethod].
//
// Ids, flags and enumerators keep the kernel's spelling and are untyped
// constants, so that they fit any integer.
package spec
