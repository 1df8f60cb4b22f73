package rule

import "syscall"

const umemODPFile = "drivers/infiniband/core/umem_odp.c"

// The refusals of umem_odp.c.
var (
	UmemODPHugetlb = add(Rule{"umem-odp/hugetlb", syscall.EINVAL, "ib_umem_odp_alloc_implicit", umemODPFile,
		"A region of the whole address space was asked for huge pages alone.",
		"Leave IB_ACCESS_HUGETLB out."})
	UmemODPNoMemory = add(Rule{"umem-odp/no-memory", syscall.ENOMEM, "ib_umem_odp_get", umemODPFile,
		"There was no memory to keep the region's pages in a list.",
		"Free memory and call again."})
	UmemODPOverflow = add(Rule{"umem-odp/overflow", syscall.EOVERFLOW, "ib_init_umem_odp", umemODPFile,
		"Address plus length runs past the end of the 64-bit address space.",
		"Pass a range that lies in the process's memory."})
	UmemODPEmpty = add(Rule{"umem-odp/empty", syscall.EINVAL, "ib_init_umem_odp", umemODPFile,
		"The range touches no page.",
		"Pass a length of at least one byte."})
	UmemODPRange = add(Rule{"umem-odp/range", syscall.EFAULT, "ib_umem_odp_map_dma_and_lock", umemODPFile,
		"The bytes are not all inside of the region's memory.",
		"Keep to the region."})
	UmemODPNoOwner = add(Rule{"umem-odp/no-owner", syscall.EINVAL, "ib_umem_odp_map_dma_and_lock", umemODPFile,
		"The process that registered the memory is gone.",
		"End the region with its process."})
	UmemODPPageOrder = add(Rule{"umem-odp/page-order", syscall.EINVAL, "ib_umem_odp_map_dma_and_lock", umemODPFile,
		"The region was asked for huge pages, and smaller ones are mapped there.",
		"Map the memory with MAP_HUGETLB, or leave IB_ACCESS_HUGETLB out."})
	UmemODPChildOwner = add(Rule{"umem-odp/child-owner", syscall.EFAULT, "ib_umem_odp_alloc_child", umemODPFile,
		"The process whose whole memory is registered is gone.",
		"End the region with its process."})
)
