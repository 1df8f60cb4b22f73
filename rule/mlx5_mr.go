package rule

import "syscall"

const mlx5MR = "drivers/infiniband/hw/mlx5/mr.c"

// The refusals of mr.c of mlx5_ib.
var (
	MLX5MRPageSize = add(Rule{"mlx5-mr/page-size", syscall.EINVAL, "reg_create", mlx5MR,
		"No page size of the device fits the memory at the address that it is to be seen at.",
		"Let the address and the memory lie equally far in their pages, and the region not wrap around 2^64."})
	MLX5MRNoMemory = add(Rule{"mlx5-mr/no-memory", syscall.ENOMEM, "reg_create", mlx5MR,
		"There was no memory for the region or its firmware command.",
		"Free memory and call again."})
	MLX5MRReregFlags = add(Rule{"mlx5-mr/rereg-flags", syscall.EOPNOTSUPP, "mlx5_ib_rereg_user_mr", mlx5MR,
		"Something else than memory, domain and access rights is to change.",
		"Pass IB_MR_REREG_TRANS, IB_MR_REREG_PD and IB_MR_REREG_ACCESS at most."})
)

// The refusals of mr.c of mlx5_ib: memory windows.
var (
	MLX5MWRequestFault = add(Rule{"mlx5-mw/request-fault", syscall.EFAULT, "mlx5_ib_alloc_mw", mlx5MR,
		"The driver's part of the request cannot be read.",
		"Pass the address of readable memory in UHW_IN."})
	MLX5MWReserved = add(Rule{"mlx5-mw/reserved", syscall.EOPNOTSUPP, "mlx5_ib_alloc_mw", mlx5MR,
		"The field comp_mask or a reserved field is not zero.",
		"Clear all fields of struct mlx5_ib_alloc_mw but num_klms."})
	MLX5MWTail = add(Rule{"mlx5-mw/tail", syscall.EOPNOTSUPP, "mlx5_ib_alloc_mw", mlx5MR,
		"The request is longer than struct mlx5_ib_alloc_mw and not zero behind it.",
		"Pass struct mlx5_ib_alloc_mw, 8 bytes, in UHW_IN."})
	MLX5MWNoMemory = add(Rule{"mlx5-mw/no-memory", syscall.ENOMEM, "mlx5_ib_alloc_mw", mlx5MR,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5MWResponseFault = add(Rule{"mlx5-mw/response-fault", syscall.EFAULT, "mlx5_ib_alloc_mw", mlx5MR,
		"The driver's part of the response cannot be written.",
		"Pass the address of writable memory in UHW_OUT."})
)
