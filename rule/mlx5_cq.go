package rule

import "syscall"

const (
	mlx5CQ       = "drivers/infiniband/hw/mlx5/cq.c"
	mlx5Doorbell = "drivers/infiniband/hw/mlx5/doorbell.c"
	mlx5EQ       = "drivers/net/ethernet/mellanox/mlx5/core/eq.c"
)

// The refusals of cq.c and doorbell.c of mlx5_ib.
var (
	MLX5CQEntries = add(Rule{"mlx5-cq/entries", syscall.EINVAL, "mlx5_ib_create_cq", mlx5CQ,
		"The number of entries is negative as a 32-bit number, or above 2^log_max_cq_sz.",
		"Ask for at most as many entries as QUERY_DEVICE says in max_cqe."})
	MLX5CQFlags = add(Rule{"mlx5-cq/create-flags", syscall.EOPNOTSUPP, "mlx5_ib_create_cq", mlx5CQ,
		"The core's flags have bits besides time stamps and ignored overruns.",
		"Pass IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION and IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN at most."})
	MLX5CQEntriesRounded = add(Rule{"mlx5-cq/entries-rounded", syscall.EINVAL, "mlx5_ib_create_cq", mlx5CQ,
		"The number of entries plus one, rounded up to a power of two, is above 2^log_max_cq_sz.",
		"Ask for at most as many entries as QUERY_DEVICE says in max_cqe."})
	MLX5CQRequestSize = add(Rule{"mlx5-cq/request-size", syscall.EINVAL, "create_cq_user", mlx5CQ,
		"The driver's part of the request is shorter than 22 bytes, where flags begins in struct mlx5_ib_create_cq.",
		"Pass struct mlx5_ib_create_cq, 32 bytes, in UHW_IN."})
	MLX5CQRequestFault = add(Rule{"mlx5-cq/request-fault", syscall.EFAULT, "create_cq_user", mlx5CQ,
		"The driver's part of the request cannot be read.",
		"Pass the address of readable memory in UHW_IN."})
	MLX5CQUserFlags = add(Rule{"mlx5-cq/flags", syscall.EINVAL, "create_cq_user", mlx5CQ,
		"Flags of struct mlx5_ib_create_cq have bits above the third.",
		"Pass MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD, _UAR_PAGE_INDEX and _REAL_TIME_TS at most."})
	MLX5CQShape = add(Rule{"mlx5-cq/cqe-size", syscall.EINVAL, "create_cq_user", mlx5CQ,
		"The field cqe_size is neither 64 nor 128, or a reserved field is not zero.",
		"Set cqe_size to 64 or 128 and clear the rest of the struct."})
	MLX5CQAlignment = add(Rule{"mlx5-cq/buffer-alignment", syscall.EINVAL, "create_cq_user", mlx5CQ,
		"The buffer does not begin at a page.",
		"Align buf_addr to 4096 bytes."})
	MLX5CQNoMemory = add(Rule{"mlx5-cq/no-memory", syscall.ENOMEM, "create_cq_user", mlx5CQ,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5CQNoUAR = add(Rule{"mlx5-cq/no-uar", syscall.EINVAL, "create_cq_user", mlx5CQ,
		"The context has no registers of its own and the call names no UAR.",
		"Allocate a UAR and name it by MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX or by uar_page_index and its flag."})
	MLX5CQCompression = add(Rule{"mlx5-cq/compression", syscall.EOPNOTSUPP, "create_cq_user", mlx5CQ,
		"The device does not compress completions of that size.",
		"Set cqe_comp_en to 0, or use a size that QUERY_DEVICE says can be compressed."})
	MLX5CQFormat = add(Rule{"mlx5-cq/compression-format", syscall.EINVAL, "mini_cqe_res_format_to_hw", mlx5CQ,
		"The field cqe_comp_res_format is none of 1 (hash), 2 (checksum) and 4 (checksum and stride index).",
		"Name exactly one format that QUERY_DEVICE lists."})
	MLX5CQFormatStride = add(Rule{"mlx5-cq/compression-stride-index", syscall.EOPNOTSUPP, "mini_cqe_res_format_to_hw", mlx5CQ,
		"The device has no stride index in compressed completions.",
		"Use format 1 or 2."})
	MLX5CQPadding = add(Rule{"mlx5-cq/padding", syscall.EOPNOTSUPP, "create_cq_user", mlx5CQ,
		"Padding needs completions of 128 bytes and a device that can do it.",
		"Set cqe_size to 128, or leave MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD out."})
	MLX5CQVector = add(Rule{"mlx5-cq/vector", syscall.EINVAL, "mlx5_comp_eqn_get", mlx5EQ,
		"The device has no such completion vector.",
		"Use a vector below num_comp_vectors."})
	MLX5CQNoEQ = add(Rule{"mlx5-cq/no-eq", syscall.ENOENT, "mlx5_eqn2comp_eq", mlx5EQ,
		"No completion event queue of the driver has the number that the command names.",
		"Ask for the number of a vector's queue by MLX5_IB_METHOD_DEVX_QUERY_EQN."})
	MLX5CQResponseFault = add(Rule{"mlx5-cq/response-fault", syscall.EFAULT, "mlx5_ib_create_cq", mlx5CQ,
		"The 4 bytes of the CQ's number cannot be written to UHW_OUT, whose length does not matter; there is no CQ.",
		"Pass the address of 4 writable bytes in UHW_OUT."})

	MLX5ResizeNotSupported = add(Rule{"mlx5-resize/not-supported", syscall.ENOSYS, "mlx5_ib_resize_cq", mlx5CQ,
		"The device cannot resize a completion queue.",
		"Make a new one."})
	MLX5ResizeEntries = add(Rule{"mlx5-resize/entries", syscall.EINVAL, "mlx5_ib_resize_cq", mlx5CQ,
		"The number of entries is below 1 as a signed 32-bit number, or above 2^log_max_cq_sz.",
		"Ask for 1 to max_cqe entries."})
	MLX5ResizeEntriesRounded = add(Rule{"mlx5-resize/entries-rounded", syscall.EINVAL, "mlx5_ib_resize_cq", mlx5CQ,
		"The number of entries plus one, rounded up to a power of two, is above 2^log_max_cq_sz.",
		"Ask for at most max_cqe entries."})
	MLX5ResizeRequestFault = add(Rule{"mlx5-resize/request-fault", syscall.EFAULT, "resize_user", mlx5CQ,
		"The 16 bytes of struct mlx5_ib_resize_cq cannot be read from UHW_IN, whose length does not matter.",
		"Pass the whole struct."})
	MLX5ResizeReserved = add(Rule{"mlx5-resize/reserved", syscall.EINVAL, "resize_user", mlx5CQ,
		"A reserved field of struct mlx5_ib_resize_cq is not zero.",
		"Clear the struct before filling it in."})
	MLX5ResizeAlignment = add(Rule{"mlx5-resize/buffer-alignment", syscall.EINVAL, "mlx5_ib_resize_cq", mlx5CQ,
		"The new buffer does not begin at a page.",
		"Align buf_addr to 4096 bytes."})
	MLX5ResizeNoMemory = add(Rule{"mlx5-resize/no-memory", syscall.ENOMEM, "mlx5_ib_resize_cq", mlx5CQ,
		"There was no memory for the firmware command.",
		"Free memory and call again."})

	MLX5ModifyCQNotSupported = add(Rule{"mlx5-modify-cq/not-supported", syscall.EOPNOTSUPP, "mlx5_ib_modify_cq", mlx5CQ,
		"The device cannot moderate completion events.",
		"Do without moderation."})
	MLX5ModifyCQPeriod = add(Rule{"mlx5-modify-cq/period", syscall.EINVAL, "mlx5_ib_modify_cq", mlx5CQ,
		"The period is above 4095 microseconds.",
		"Use a period of at most max_cq_moderation_period, as QUERY_DEVICE says it."})

	MLX5DoorbellNoMemory = add(Rule{"mlx5-doorbell/no-memory", syscall.ENOMEM, "mlx5_ib_db_map_user", mlx5Doorbell,
		"There was no memory to keep track of the doorbell record's page.",
		"Free memory and call again."})
	MLX5EQTreeNoMemory = add(Rule{"mlx5-cq/eq-no-memory", syscall.ENOMEM, "mlx5_eq_add_cq", mlx5EQ,
		"There is no memory for the completion queue's place among those that its event queue tells.",
		"Free memory and try again."})
	MLX5EQNoMemory = add(Rule{"mlx5-eq/no-memory", syscall.ENOMEM, "create_comp_eq", mlx5EQ,
		"There was no memory for the event queue of the completion vector.",
		"Free memory and call again."})
)
