package rule

import "syscall"

const (
	umemDmabufFile = "drivers/infiniband/core/umem_dmabuf.c"
	dmaBufFile     = "drivers/dma-buf/dma-buf.c"
)

// The refusals of umem_dmabuf.c and dma-buf.c.
var (
	DmabufOverflow = add(Rule{"dmabuf/overflow", syscall.EINVAL, "ib_umem_dmabuf_get_with_dma_device", umemDmabufFile,
		"The offset and the length together exceed 64 bits.",
		"Pass a range that lies in the dma-buf."})
	DmabufRange = add(Rule{"dmabuf/range", syscall.EINVAL, "ib_umem_dmabuf_get_with_dma_device", umemDmabufFile,
		"The range ends behind the dma-buf.",
		"Pass a range that lies in the dma-buf."})
	DmabufEmpty = add(Rule{"dmabuf/empty", syscall.EINVAL, "ib_umem_dmabuf_get_with_dma_device", umemDmabufFile,
		"The range touches no page.",
		"Pass a length of at least one byte."})
	DmabufNoMemory = add(Rule{"dmabuf/no-memory", syscall.ENOMEM, "ib_umem_dmabuf_get_with_dma_device", umemDmabufFile,
		"There was no memory for the region.",
		"Free memory and call again."})
	DmabufBad = add(Rule{"dmabuf/bad", syscall.EBADF, "dma_buf_get", dmaBufFile,
		"The descriptor is not open.",
		"Pass the descriptor of a dma-buf."})
	DmabufForeign = add(Rule{"dmabuf/foreign", syscall.EINVAL, "dma_buf_get", dmaBufFile,
		"The descriptor is not that of a dma-buf.",
		"Pass the descriptor of a dma-buf."})
	DmabufMmapRange = add(Rule{"dmabuf/mmap-range", syscall.EINVAL, "dma_buf_mmap_internal", dmaBufFile,
		"The mapping would end behind the dma-buf.",
		"Map no more than the dma-buf has."})
)
