package rule

import "syscall"

const (
	mlx5QoS    = "drivers/infiniband/hw/mlx5/qos.c"
	mlx5CoreRL = "drivers/net/ethernet/mellanox/mlx5/core/rl.c"
)

// The refusals of qos.c of mlx5_ib and of rl.c of mlx5_core: packet pacing.
var (
	MLX5PPNoUID = add(Rule{"mlx5-pp/no-uid", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_PP_OBJ_ALLOC", mlx5QoS,
		"The context is no DEVX user.",
		"Make the context with MLX5_IB_ALLOC_UCTX_DEVX."})
	MLX5PPNoMemory = add(Rule{"mlx5-pp/no-memory", syscall.ENOMEM, "mlx5_ib_handler_MLX5_IB_METHOD_PP_OBJ_ALLOC", mlx5QoS,
		"There was no memory for the object.",
		"Free memory and call again."})
	MLX5RLUnsupported = add(Rule{"mlx5-rl/unsupported", syscall.EOPNOTSUPP, "mlx5_rl_add_rate_raw", mlx5CoreRL,
		"The device has no table of rates.",
		"Send without a rate limit."})
	MLX5RLRange = add(Rule{"mlx5-rl/range", syscall.EINVAL, "mlx5_rl_add_rate_raw", mlx5CoreRL,
		"The rate is 0, or out of the range that the device can do.",
		"Pass a rate between those that QUERY_DEVICE says in packet_pacing_caps, in kbit/s."})
	MLX5RLNoMemory = add(Rule{"mlx5-rl/no-memory", syscall.ENOMEM, "mlx5_rl_table_get", mlx5CoreRL,
		"There was no memory for the table of rates.",
		"Free memory and call again."})
	MLX5RLFull = add(Rule{"mlx5-rl/full", syscall.ENOSPC, "mlx5_rl_add_rate_raw", mlx5CoreRL,
		"All places of the device's table of rates are taken.",
		"Share a rate that is in the table, or free one."})
)
