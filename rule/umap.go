package rule

import "syscall"

const ibCoreUverbs = "drivers/infiniband/core/ib_core_uverbs.c"

// The refusals of ib_core_uverbs.c.
var (
	UmapNoOffset = add(Rule{"umap/no-offset", syscall.ENOMEM, "rdma_user_mmap_entry_insert_range", ibCoreUverbs,
		"No page offset is left to map the new object at.",
		"Destroy objects of this kind and unmap them first."})
	UmapNotShared = add(Rule{"umap/not-shared", syscall.EINVAL, "rdma_user_mmap_io", ibCoreUverbs,
		"Device memory was to be mapped privately.",
		"Map it with MAP_SHARED, of a file that was opened for reading and writing."})
	UmapSize = add(Rule{"umap/size", syscall.EINVAL, "rdma_user_mmap_io", ibCoreUverbs,
		"The length of the mapping is not that of the thing mapped.",
		"Map exactly as many bytes as the driver gave out."})
	UmapNoMemory = add(Rule{"umap/no-memory", syscall.ENOMEM, "rdma_user_mmap_io", ibCoreUverbs,
		"There was no memory to keep track of the mapping.",
		"Free memory and call again."})
	UmapRemap = add(Rule{"umap/remap", syscall.EAGAIN, "rdma_user_mmap_io", ibCoreUverbs,
		"There was no memory for the page tables of the mapping.",
		"Free memory and call again."})
)
