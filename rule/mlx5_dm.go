package rule

import "syscall"

const (
	mlx5DM     = "drivers/infiniband/hw/mlx5/dm.c"
	mlx5CoreDM = "drivers/net/ethernet/mellanox/mlx5/core/lib/dm.c"
)

// The refusals of dm.c of mlx5_ib and of lib/dm.c of mlx5_core: memory of the
// device.
var (
	MLX5DMType = add(Rule{"mlx5-dm/type", syscall.EOPNOTSUPP, "mlx5_ib_alloc_dm", mlx5DM,
		"The driver knows no such type of memory.",
		"Pass one of MLX5_IB_UAPI_DM_TYPE_…."})
	MLX5DMNoMemic = add(Rule{"mlx5-dm/no-memic", syscall.EOPNOTSUPP, "handle_alloc_dm_memic", mlx5DM,
		"The device has no memory that users can map (capability memic).",
		"Use memory of the host."})
	MLX5DMNoMemory = add(Rule{"mlx5-dm/no-memory", syscall.ENOMEM, "handle_alloc_dm_memic", mlx5DM,
		"There was no memory for the object.",
		"Free memory and call again."})
	MLX5DMLength = add(Rule{"mlx5-dm/length", syscall.EINVAL, "mlx5_cmd_alloc_memic", mlx5DM,
		"The length, rounded up to a multiple of 64, is 0.",
		"Ask for at least one byte."})
	MLX5DMAlignment = add(Rule{"mlx5-dm/alignment", syscall.EINVAL, "mlx5_cmd_alloc_memic", mlx5DM,
		"The alignment is larger than the device can give (capability log_max_memic_addr_alignment, in units of 64 bytes).",
		"Pass a smaller power of two."})
	MLX5DMFull = add(Rule{"mlx5-dm/full", syscall.ENOMEM, "mlx5_cmd_alloc_memic", mlx5DM,
		"The device has not that much free memory in one piece.",
		"Free memory of the device, or ask for less."})
	MLX5DMPrivilege = add(Rule{"mlx5-dm/privilege", syscall.EPERM, "handle_alloc_dm_sw_icm", mlx5DM,
		"The caller lacks CAP_SYS_RAWIO or CAP_NET_RAW, which memory for steering wants.",
		"Run with both capabilities."})
	MLX5DMNoSWOwner = add(Rule{"mlx5-dm/no-sw-owner", syscall.EOPNOTSUPP, "handle_alloc_dm_sw_icm", mlx5DM,
		"The device lets no software own its steering tables (capabilities sw_owner and sw_owner_v2).",
		"Steer by the firmware's commands."})
	MLX5DMNoPatterns = add(Rule{"mlx5-dm/no-patterns", syscall.EOPNOTSUPP, "handle_alloc_dm_sw_icm", mlx5DM,
		"The device has no memory for patterns of header modifications (capability sw_owner_v2, both ways).",
		"Use MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM."})
	MLX5DMICMNoMemory = add(Rule{"mlx5-dm/icm-no-memory", syscall.ENOMEM, "handle_alloc_dm_sw_icm", mlx5DM,
		"There was no memory for the object.",
		"Free memory and call again."})
	MLX5DMICMNone = add(Rule{"mlx5-dm/icm-none", syscall.EOPNOTSUPP, "mlx5_dm_sw_icm_alloc", mlx5CoreDM,
		"The device has no memory of that type.",
		"Use a type of memory that the device has."})
	MLX5DMICMLength = add(Rule{"mlx5-dm/icm-length", syscall.EINVAL, "mlx5_dm_sw_icm_alloc", mlx5CoreDM,
		"The length, rounded up to a power of two of blocks, is 0.",
		"Ask for at least one byte, and at most 2^63."})
	MLX5DMICMFull = add(Rule{"mlx5-dm/icm-full", syscall.ENOMEM, "mlx5_dm_sw_icm_alloc", mlx5CoreDM,
		"The device has not that much free memory of the type in one piece.",
		"Free memory of the device, or ask for less."})
	MLX5DMQueryType = add(Rule{"mlx5-dm/query-type", syscall.EOPNOTSUPP, "mlx5_ib_handler_MLX5_IB_METHOD_DM_QUERY", mlx5DM,
		"The memory cannot be mapped, so that there is nothing to say of it.",
		"Query memory of MLX5_IB_UAPI_DM_TYPE_MEMIC."})
	MLX5DMOpRange = add(Rule{"mlx5-dm/op-range", syscall.EOPNOTSUPP, "mlx5_ib_handler_MLX5_IB_METHOD_DM_MAP_OP_ADDR", mlx5DM,
		"The operation is above 31.",
		"Pass an operation that the device has."})
	MLX5DMOp = add(Rule{"mlx5-dm/op", syscall.EOPNOTSUPP, "mlx5_ib_handler_MLX5_IB_METHOD_DM_MAP_OP_ADDR", mlx5DM,
		"The device has no such operation on its memory (capability memic_operations).",
		"Pass an operation that the device has."})
	MLX5DMOpNoMemory = add(Rule{"mlx5-dm/op-no-memory", syscall.ENOENT, "mlx5_ib_handler_MLX5_IB_METHOD_DM_MAP_OP_ADDR", mlx5DM,
		"There was no memory for the operation's address; the errno is left over from the search for an old one.",
		"Free memory and call again."})
	MLX5DMOpTable = add(Rule{"mlx5-dm/op-table-no-memory", syscall.ENOMEM, "mlx5_ib_handler_MLX5_IB_METHOD_DM_MAP_OP_ADDR", mlx5DM,
		"There is no memory for the operation's place in the table of the memory's operations.",
		"Free memory and call again."})
	MLX5DMMRAccess = add(Rule{"mlx5-dm/mr-access", syscall.EINVAL, "mlx5_ib_reg_dm_mr", mlx5MR,
		"The access flags have one that memory of the device does not take.",
		"Pass local write, remote read and write, remote atomics (not for steering memory) and zero based at most."})
	MLX5DMMRNoMemory = add(Rule{"mlx5-dm/mr-no-memory", syscall.ENOMEM, "mlx5_ib_get_dm_mr", mlx5MR,
		"There was no memory for the region.",
		"Free memory and call again."})
)
