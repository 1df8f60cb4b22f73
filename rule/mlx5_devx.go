package rule

import "syscall"

const mlx5Devx = "drivers/infiniband/hw/mlx5/devx.c"

// The refusals of devx.c of mlx5_ib.
var (
	MLX5DevxNoUctx = add(Rule{"mlx5-devx/no-uctx", syscall.EINVAL, "mlx5_ib_devx_create", mlx5Devx,
		"the device knows no users of its own (capability log_max_uctx)",
		"Make the context without MLX5_IB_ALLOC_UCTX_DEVX."})
)
