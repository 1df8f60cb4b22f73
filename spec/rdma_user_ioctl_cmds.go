package spec

// The enumerators and structs of include/uapi/rdma/rdma_user_ioctl_cmds.h.

// RDMA_IOCTL_MAGIC, include/uapi/rdma/rdma_user_ioctl_cmds.h: the type byte
// of the ioctl command.
const RDMA_IOCTL_MAGIC = 0x1b

// An enum without a name, include/uapi/rdma/rdma_user_ioctl_cmds.h: the
// bits of IoctlAttr.Flags. The user sets the first to have an attribute
// refused that the kernel does not know; the kernel sets the second when it
// has written an output.
const (
	UVERBS_ATTR_F_MANDATORY    = 1 << 0
	UVERBS_ATTR_F_VALID_OUTPUT = 1 << 1
)
