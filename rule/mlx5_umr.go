package rule

import "syscall"

const mlx5UMR = "drivers/infiniband/hw/mlx5/umr.c"

// The refusals of umr.c of mlx5_ib.
var (
	MLX5UMRDevice = add(Rule{"mlx5-umr/device", syscall.EIO, "mlx5r_umr_post_send", mlx5UMR,
		"The device is in error and takes no work requests.",
		"Reset the device."})
	MLX5UMRFailed = add(Rule{"mlx5-umr/failed", syscall.EFAULT, "mlx5r_umr_post_send_wait", mlx5UMR,
		"The device refused to change the key of the region.",
		"Use a device that can change its keys by work requests."})
	MLX5UMRNoMemory = add(Rule{"mlx5-umr/no-memory", syscall.ENOMEM, "mlx5r_umr_create_xlt", mlx5UMR,
		"There was no memory for the list of the region's pages.",
		"Free memory and call again."})
	MLX5UMRIndirect = add(Rule{"mlx5-umr/indirect", syscall.EPERM, "mlx5r_umr_update_xlt", mlx5UMR,
		"The device cannot change keys that stand for other keys.",
		"Use a device that supports implicit on-demand paging."})
)
