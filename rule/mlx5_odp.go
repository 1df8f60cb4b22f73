package rule

import "syscall"

const mlx5ODP = "drivers/infiniband/hw/mlx5/odp.c"

// The refusals of odp.c of mlx5_ib.
var (
	MLX5ODPUnsupported = add(Rule{"mlx5-odp/unsupported", syscall.EOPNOTSUPP, "mlx5r_odp_create_eq", mlx5ODP,
		"The device does not page memory on demand.",
		"Use a device with IB_ODP_SUPPORT."})
	MLX5ODPImplicitLength = add(Rule{"mlx5-odp/implicit-length", syscall.EOPNOTSUPP, "mlx5_ib_alloc_implicit_mr", mlx5ODP,
		"The device cannot change the list of a part of the address space by work requests.",
		"Register ranges instead of the whole address space."})
	MLX5ODPKeyNoMemory = add(Rule{"mlx5-odp/key-no-memory", syscall.ENOMEM, "mlx5r_store_odp_mkey", mlx5IBH,
		"There was no memory for the key's place among those that page faults find.",
		"Free memory and call again."})
	MLX5ODPChildNoMemory = add(Rule{"mlx5-odp/child-no-memory", syscall.ENOMEM, "implicit_get_child_mr", mlx5ODP,
		"There was no memory for the place of a part in the table of the whole address space.",
		"Free memory and call again."})
	MLX5ODPNoMemory = add(Rule{"mlx5-odp/no-memory", syscall.ENOMEM, "mlx5_ib_advise_mr_prefetch", mlx5ODP,
		"There was no memory to keep the pieces until they are fetched.",
		"Free memory and call again."})
	MLX5ODPAddress = add(Rule{"mlx5-odp/address", syscall.EFAULT, "pagefault_mr", mlx5ODP,
		"The bytes are not all inside of the region.",
		"Keep to the region."})
	MLX5ODPNoKey = add(Rule{"mlx5-odp/no-key", syscall.ENOENT, "get_prefetchable_mr", mlx5ODP,
		"The key is none of a region that is paged on demand.",
		"Pass the local key of a region that was registered with IB_ACCESS_ON_DEMAND."})
	MLX5ODPKeyType = add(Rule{"mlx5-odp/key-type", syscall.EINVAL, "get_prefetchable_mr", mlx5ODP,
		"The key is that of a memory window or stands for other keys.",
		"Pass the local key of the region itself."})
	MLX5ODPForeignPD = add(Rule{"mlx5-odp/foreign-pd", syscall.EPERM, "get_prefetchable_mr", mlx5ODP,
		"The region is of another protection domain.",
		"Pass the domain that the region was registered with."})
	MLX5ODPReadOnly = add(Rule{"mlx5-odp/read-only", syscall.EPERM, "get_prefetchable_mr", mlx5ODP,
		"Pages are to be fetched for writing, and the region has no rights to write.",
		"Fetch them for reading, or register the region with IB_ACCESS_LOCAL_WRITE."})
	MLX5ODPKeyVariant = add(Rule{"mlx5-odp/key-variant", syscall.EFAULT, "find_odp_mkey", mlx5ODP,
		"The key is that of a region that is gone, whose number another one has.",
		"Use the key of a region that lives."})
	MLX5ODPIndirection = add(Rule{"mlx5-odp/indirection", syscall.EFAULT, "pagefault_single_data_segment", mlx5ODP,
		"Keys stand for keys more often than the device follows.",
		"Let a window stand for a region directly."})
)
