package rule

import "syscall"

const (
	mlx5AH = "drivers/infiniband/hw/mlx5/ah.c"
	mlx5QP = "drivers/infiniband/hw/mlx5/qp.c"
)

// The refusals of ah.c of mlx5_ib: address handles.
var (
	MLX5AHNotGlobal = add(Rule{"mlx5-ah/not-global", syscall.EINVAL, "mlx5_ib_create_ah", mlx5AH,
		"On a RoCE port the address has no global route.",
		"Set is_global and fill in grh."})
	MLX5AHResponseSize = add(Rule{"mlx5-ah/response-size", syscall.EINVAL, "mlx5_ib_create_ah", mlx5AH,
		"The driver's part of the response is shorter than 10 bytes, where dmac ends in struct mlx5_ib_create_ah_resp.",
		"Pass room for struct mlx5_ib_create_ah_resp, 16 bytes, in UHW_OUT."})
	MLX5AHResponseFault = add(Rule{"mlx5-ah/response-fault", syscall.EFAULT, "mlx5_ib_create_ah", mlx5AH,
		"The driver's part of the response cannot be written.",
		"Pass the address of writable memory in UHW_OUT."})
	MLX5Rate = add(Rule{"mlx5-ah/rate", syscall.EINVAL, "mlx5r_ib_rate", mlx5QP,
		"The static rate is neither 0 nor between IB_RATE_2_5_GBPS and IB_RATE_800_GBPS.",
		"Pass 0 for the port's current rate."})
)
