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
