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
	MLX5MRReregImplicit = add(Rule{"mlx5-mr/rereg-implicit", syscall.EOPNOTSUPP, "mlx5_ib_rereg_user_mr", mlx5MR,
		"The region is the whole address space, and shall be without on-demand paging.",
		"Leave IB_ACCESS_ON_DEMAND in the rights, or give other memory along with them."})
	MLX5MRReregInPlace = add(Rule{"mlx5-mr/rereg-in-place", syscall.EOPNOTSUPP, "mlx5_ib_rereg_user_mr", mlx5MR,
		"The device cannot change these rights, and the memory is not pinned, so that no other region can take it.",
		"Register the memory anew."})
	MLX5MRODPImplicitIOVA = add(Rule{"mlx5-mr/odp-implicit-iova", syscall.EINVAL, "create_user_odp_mr", mlx5MR,
		"The whole address space is to be seen at other addresses than its own.",
		"Pass 0 as the address that the region is seen at."})
	MLX5MRODPImplicit = add(Rule{"mlx5-mr/odp-implicit", syscall.EINVAL, "create_user_odp_mr", mlx5MR,
		"The device cannot register the whole address space.",
		"Register ranges, or use a device with IB_ODP_SUPPORT_IMPLICIT."})
	MLX5MRODPLength = add(Rule{"mlx5-mr/odp-length", syscall.EINVAL, "create_user_odp_mr", mlx5MR,
		"The list of so many pages cannot be changed by work requests.",
		"Register less memory at once."})
	MLX5MRAdvice = add(Rule{"mlx5-mr/advice", syscall.EOPNOTSUPP, "mlx5_ib_advise_mr", mlx5MR,
		"The driver does not know the advice.",
		"Advise IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, …_PREFETCH_WRITE or …_PREFETCH_NO_FAULT."})
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
