package rule

import "syscall"

// The refusals of main.c of mlx5_ib: contexts.
var (
	MLX5UctxInactive = add(Rule{"mlx5-ucontext/inactive", syscall.EAGAIN, "mlx5_ib_alloc_ucontext", mlx5Main,
		"The device is in error and makes no new contexts.",
		"Open another device."})
	MLX5UctxRequestSize = add(Rule{"mlx5-ucontext/request-size", syscall.EINVAL, "mlx5_ib_alloc_ucontext", mlx5Main,
		"The driver's part of the request is neither 8 bytes (the first version) nor at least 16 (the second).",
		"Pass struct mlx5_ib_alloc_ucontext_req_v2, 32 bytes, in UHW_IN."})
	MLX5UctxRequestFault = add(Rule{"mlx5-ucontext/request-fault", syscall.EFAULT, "mlx5_ib_alloc_ucontext", mlx5Main,
		"The driver's part of the request cannot be read.",
		"Pass the address of readable memory in UHW_IN."})
	MLX5UctxFlags = add(Rule{"mlx5-ucontext/flags", syscall.EOPNOTSUPP, "mlx5_ib_alloc_ucontext", mlx5Main,
		"Flags has bits besides MLX5_IB_ALLOC_UCTX_DEVX.",
		"Set flags to 0 or to MLX5_IB_ALLOC_UCTX_DEVX (1)."})
	MLX5UctxReserved = add(Rule{"mlx5-ucontext/reserved", syscall.EOPNOTSUPP, "mlx5_ib_alloc_ucontext", mlx5Main,
		"The field comp_mask or a reserved field of the request is not zero.",
		"Clear the request before filling it in."})
	MLX5UctxLowLatency = add(Rule{"mlx5-ucontext/low-latency", syscall.EINVAL, "mlx5_ib_alloc_ucontext", mlx5Main,
		"All registers, rounded up to an even number, are asked for as low-latency ones, or more than all.",
		"Leave at least one register of total_num_bfregs that is not low-latency."})
	MLX5UctxNoBfregs = add(Rule{"mlx5-ucontext/no-bfregs", syscall.EINVAL, "calc_total_bfregs", mlx5Main,
		"The field total_num_bfregs is 0, or wraps to 0 when it is rounded up.",
		"Ask for 1 to 512 registers, or set MLX5_LIB_CAP_DYN_UAR to have none."})
	MLX5UctxManyBfregs = add(Rule{"mlx5-ucontext/many-bfregs", syscall.ENOMEM, "calc_total_bfregs", mlx5Main,
		"The field total_num_bfregs, rounded up to an even number, is above 512.",
		"Ask for at most 512 registers."})
	MLX5UctxLowLatencyRounded = add(Rule{"mlx5-ucontext/low-latency-rounded", syscall.EINVAL, "calc_total_bfregs", mlx5Main,
		"After rounding up to whole pages all registers would be low-latency ones.",
		"Ask for fewer low-latency registers."})
	MLX5UctxNoMemory = add(Rule{"mlx5-ucontext/no-memory", syscall.ENOMEM, "mlx5_ib_alloc_ucontext", mlx5Main,
		"There was no memory for the context's table of registers.",
		"Free memory and call again."})
	MLX5UctxResponseFault = add(Rule{"mlx5-ucontext/response-fault", syscall.EFAULT, "mlx5_ib_alloc_ucontext", mlx5Main,
		"The driver's part of the response cannot be written; there is no context.",
		"Pass the address of writable memory in UHW_OUT."})
)

// The refusals of main.c of mlx5_ib: register pages and other things to map.
var (
	MLX5MmapNoRegisters = add(Rule{"mlx5-mmap/no-registers", syscall.EINVAL, "uar_mmap", mlx5Main,
		"The context was made with MLX5_LIB_CAP_DYN_UAR and has no registers of its own.",
		"Allocate a UAR object and map its offset."})
	MLX5MmapUARLength = add(Rule{"mlx5-mmap/uar-length", syscall.EINVAL, "uar_mmap", mlx5Main,
		"A page of registers is mapped in one piece of one page.",
		"Map 4096 bytes."})
	MLX5MmapUARIndex = add(Rule{"mlx5-mmap/uar-index", syscall.EINVAL, "uar_mmap", mlx5Main,
		"The index in the offset is beyond the context's pages of registers.",
		"Use an index below tot_bfregs/2, for dynamic pages below num_dyn_bfregs/2."})
	MLX5MmapDynIndex = add(Rule{"mlx5-mmap/dynamic-index", syscall.EINVAL, "uar_mmap", mlx5Main,
		"The first register of the dynamic page is beyond those of the context.",
		"Use an index below num_dyn_bfregs/2."})
	MLX5MmapDynBusy = add(Rule{"mlx5-mmap/dynamic-busy", syscall.EINVAL, "uar_mmap", mlx5Main,
		"The dynamic page with that index is allocated already.",
		"Map each dynamic page once, or use another index."})
	MLX5MmapNoWC = add(Rule{"mlx5-mmap/no-write-combining", syscall.EPERM, "mlx5_ib_mmap", mlx5Main,
		"A write-combining mapping was asked for and the device, or the machine, cannot do that.",
		"Map with command 0 (regular) or 3 (non-cached)."})
	MLX5MmapContiguous = add(Rule{"mlx5-mmap/contiguous", syscall.ENOSYS, "mlx5_ib_mmap", mlx5Main,
		"Command 1, contiguous memory, is no longer known.",
		"Use memory of the process."})
	MLX5MmapClockLength = add(Rule{"mlx5-mmap/clock-length", syscall.EINVAL, "mlx5_ib_mmap", mlx5Main,
		"The core clock is one page.",
		"Map 4096 bytes."})
	MLX5MmapClockWrite = add(Rule{"mlx5-mmap/clock-write", syscall.EPERM, "mlx5_ib_mmap", mlx5Main,
		"The core clock was to be mapped for writing.",
		"Map it with PROT_READ alone."})
	MLX5MmapInfoShape = add(Rule{"mlx5-mmap/clock-info-shape", syscall.EINVAL, "mlx5_ib_mmap_clock_info_page", mlx5Main,
		"The clock info is one page, and mapped shared.",
		"Map 4096 bytes with MAP_SHARED, of a file that was opened for reading and writing."})
	MLX5MmapInfoVersion = add(Rule{"mlx5-mmap/clock-info-version", syscall.EOPNOTSUPP, "mlx5_ib_mmap_clock_info_page", mlx5Main,
		"The low byte of the offset names a version of the clock info that the driver does not have.",
		"Use version 0 (MLX5_IB_CLOCK_INFO_V1)."})
	MLX5MmapInfoAccess = add(Rule{"mlx5-mmap/clock-info-access", syscall.EPERM, "mlx5_ib_mmap_clock_info_page", mlx5Main,
		"The clock info was to be mapped for writing or execution.",
		"Map it with PROT_READ alone."})
	MLX5MmapInfoNoMemory = add(Rule{"mlx5-mmap/clock-info-no-memory", syscall.ENOMEM, "mlx5_ib_mmap_clock_info_page", mlx5Main,
		"There was no memory for the page tables of the mapping.",
		"Free memory and call again."})
	MLX5MmapNoEntry = add(Rule{"mlx5-mmap/no-entry", syscall.EINVAL, "mlx5_ib_mmap_offset", mlx5Main,
		"The offset's command is unknown, and no object of this context gave the offset out.",
		"Map the offset that an allocation returned, on the same descriptor, while the object lives."})

	MLX5UARType = add(Rule{"mlx5-uar/type", syscall.EOPNOTSUPP, "mlx5_ib_handler_MLX5_IB_METHOD_UAR_OBJ_ALLOC", mlx5Main,
		"The type of the UAR is neither BF (0) nor NC (1).",
		"Pass MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF or MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC."})
	MLX5UARNoWC = add(Rule{"mlx5-uar/no-write-combining", syscall.EOPNOTSUPP, "mlx5_ib_handler_MLX5_IB_METHOD_UAR_OBJ_ALLOC", mlx5Main,
		"A UAR with BlueFlame was asked for and the device, or the machine, cannot do write combining.",
		"Pass MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC."})
	MLX5UARNoMemory = add(Rule{"mlx5-uar/no-memory", syscall.ENOMEM, "alloc_uar_entry", mlx5Main,
		"There was no memory for the UAR object.",
		"Free memory and call again."})
	MLX5VARFull = add(Rule{"mlx5-var/full", syscall.ENOSPC, "alloc_var_entry", mlx5Main,
		"All doorbells of the device for emulated queues are taken.",
		"Destroy VAR objects, of any process."})
	MLX5VARNoMemory = add(Rule{"mlx5-var/no-memory", syscall.ENOMEM, "alloc_var_entry", mlx5Main,
		"There was no memory for the VAR object.",
		"Free memory and call again."})

	MLX5PDResponseFault = add(Rule{"mlx5-pd/response-fault", syscall.EFAULT, "mlx5_ib_alloc_pd", mlx5Main,
		"The 4 bytes of the PD's number cannot be written to UHW_OUT, whose length does not matter; there is no PD.",
		"Pass the address of 4 writable bytes in UHW_OUT."})

	MLX5QueryDeviceResponse = add(Rule{"mlx5-query-device/response-size", syscall.EINVAL, "mlx5_ib_query_device", mlx5Main,
		"UHW_OUT is shorter than 8 bytes and not empty.",
		"Leave UHW_OUT out, or give it at least 8 bytes."})
	MLX5QueryDeviceRequest = add(Rule{"mlx5-query-device/request-nonzero", syscall.EINVAL, "mlx5_ib_query_device", mlx5Main,
		"UHW_IN holds something else than zeros, or cannot be read.",
		"Leave UHW_IN out."})
	MLX5QueryDeviceFault = add(Rule{"mlx5-query-device/response-fault", syscall.EFAULT, "mlx5_ib_query_device", mlx5Main,
		"The driver's part of the response cannot be written.",
		"Pass the address of writable memory in UHW_OUT."})
	MLX5QueryGID = add(Rule{"mlx5-query-gid/roce", syscall.EINVAL, "mlx5_ib_query_gid", mlx5Main,
		"The device's link is Ethernet, where the core keeps the GIDs.",
		"Ask the core for its table."})
)

// MLX5Unmodelled is what operations of the driver answer that are outside of the
// model: those for queues of the kernel's own; no kernel gives this answer.
var MLX5Unmodelled = add(Rule{"mlx5/unmodelled", syscall.ENOSYS, "mlx5_ib_dev_ops", mlx5Main,
	"This method of the mlx5 driver is outside the model.",
	"Run the call on a real device."})

const mlx5StdTypes = "drivers/infiniband/hw/mlx5/std_types.c"

// The refusals of std_types.c of mlx5_ib.
var (
	MLX5QueryPortFault = add(Rule{"mlx5-query-port/port-fault", syscall.EFAULT, "mlx5_ib_handler_MLX5_IB_METHOD_QUERY_PORT", mlx5StdTypes,
		"The port's number cannot be read.",
		"Pass the number in the attribute itself."})
	MLX5QueryPortPort = add(Rule{"mlx5-query-port/port", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_QUERY_PORT", mlx5StdTypes,
		"The device has no such port.",
		"Use a port from 1 to the number that QUERY_DEVICE says."})
	MLX5DataDirectNone = add(Rule{"mlx5-data-direct/none", syscall.ENODEV, "mlx5_ib_handler_MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH", mlx5StdTypes,
		"The device has no function for direct access to the memory of other devices.",
		"Do without it."})
	MLX5DataDirectSpace = add(Rule{"mlx5-data-direct/space", syscall.ENOSPC, "mlx5_ib_handler_MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH", mlx5StdTypes,
		"The path with its final zero is longer than the room for it.",
		"Give more room."})
)

const coreAddr = "drivers/infiniband/core/addr.c"

// What becomes of the resolution of an address.
var (
	MLX5NetNoRoute = add(Rule{"mlx5-net/no-route", syscall.ENETUNREACH, "rdma_resolve_ip", coreAddr,
		"No route leads from the source's network device to the destination.",
		"Use a destination on the device's own subnets."})
	MLX5NetNoNeighbour = add(Rule{"mlx5-net/no-neighbour", syscall.ETIMEDOUT, "rdma_resolve_ip", coreAddr,
		"Nobody answered for the destination's address.",
		"Use an address of the device itself, or of another one on its fabric."})
)
