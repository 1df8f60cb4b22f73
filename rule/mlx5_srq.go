package rule

import "syscall"

const (
	mlx5SRQ    = "drivers/infiniband/hw/mlx5/srq.c"
	mlx5SRQCmd = "drivers/infiniband/hw/mlx5/srq_cmd.c"
	mlx5IBH    = "drivers/infiniband/hw/mlx5/mlx5_ib.h"
)

// The refusals of srq.c and srq_cmd.c of mlx5_ib: shared receive queues.
var (
	MLX5SRQType = add(Rule{"mlx5-srq/type", syscall.EOPNOTSUPP, "mlx5_ib_create_srq", mlx5SRQ,
		"The type is none of basic, XRC and tag matching.",
		"Pass IB_SRQT_BASIC, IB_SRQT_XRC or IB_SRQT_TM."})
	MLX5SRQSize = add(Rule{"mlx5-srq/size", syscall.EINVAL, "mlx5_ib_create_srq", mlx5SRQ,
		"There are 2^log_max_srq_sz work requests or more, or more pieces in one than max_wqe_sz_rq has room for.",
		"Ask for at most what QUERY_DEVICE says in max_srq_wr and max_srq_sge."})
	MLX5SRQRequestFault = add(Rule{"mlx5-srq/request-fault", syscall.EFAULT, "create_srq_user", mlx5SRQ,
		"The driver's part of the request cannot be read.",
		"Pass the address of readable memory in UHW_IN."})
	MLX5SRQReserved = add(Rule{"mlx5-srq/reserved", syscall.EINVAL, "create_srq_user", mlx5SRQ,
		"A reserved field of struct mlx5_ib_create_srq is not zero.",
		"Clear reserved0 and reserved1."})
	MLX5SRQTail = add(Rule{"mlx5-srq/tail", syscall.EINVAL, "create_srq_user", mlx5SRQ,
		"The request is longer than struct mlx5_ib_create_srq and not zero behind it.",
		"Pass struct mlx5_ib_create_srq, 32 bytes, in UHW_IN."})
	MLX5SRQUserIndex = add(Rule{"mlx5-srq/user-index", syscall.EINVAL, "get_srq_user_index", mlx5IBH,
		"The request has a user index where the context's completions carry none, or none where they do.",
		"Pass uidx exactly if alloc_ucontext answered cqe_version 1."})
	MLX5UserIndexRange = add(Rule{"mlx5-uidx/range", syscall.EINVAL, "verify_assign_uidx", mlx5IBH,
		"The user index is 0xffffff or has more than 24 bits.",
		"Pass a number below 0xffffff."})
	MLX5SRQAlignment = add(Rule{"mlx5-srq/buffer-alignment", syscall.EINVAL, "__set_srq_page_size", mlx5SRQCmd,
		"The buffer cannot be given to the device where it begins in its page.",
		"Align buf_addr to 64 bytes."})
	MLX5SRQNoMemory = add(Rule{"mlx5-srq/no-memory", syscall.ENOMEM, "create_rmp_cmd", mlx5SRQCmd,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5SRQTags = add(Rule{"mlx5-srq/tags", syscall.EINVAL, "mlx5_ib_create_srq", mlx5SRQ,
		"There are more tags than the device matches (capability log_tag_matching_list_sz).",
		"Ask for fewer tags."})
	MLX5SRQResponseFault = add(Rule{"mlx5-srq/response-fault", syscall.EFAULT, "mlx5_ib_create_srq", mlx5SRQ,
		"The queue's number cannot be written into the driver's part of the response.",
		"Pass the address of writable memory in UHW_OUT."})
	MLX5SRQResize = add(Rule{"mlx5-srq/resize", syscall.EINVAL, "mlx5_ib_modify_srq", mlx5SRQ,
		"The driver does not change the size of a shared receive queue.",
		"Leave IB_SRQ_MAX_WR out of the mask."})
	MLX5SRQLimit = add(Rule{"mlx5-srq/limit", syscall.EINVAL, "mlx5_ib_modify_srq", mlx5SRQ,
		"The limit is not below the number of entries.",
		"Pass a limit of at most max_wr."})
	MLX5SRQQueryNoMemory = add(Rule{"mlx5-srq/query-no-memory", syscall.ENOMEM, "mlx5_ib_query_srq", mlx5SRQ,
		"There was no memory for the answer.",
		"Free memory and call again."})
)
