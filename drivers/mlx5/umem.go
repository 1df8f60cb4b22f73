package mlx5

import (
	"math/bits"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/trace"
)

// adapterPageShift is MLX5_ADAPTER_PAGE_SHIFT: the device's smallest page.
const adapterPageShift = 12

// umem is pinned memory of a user that the device can reach: a struct ib_umem
// with its DMA mapping, which is one run of bus addresses.
type umem struct {
	*core.Umem
	dma    uint64           // of the first page
	dmabuf *core.UmemDmabuf // of another driver's memory, which is pinned there
}

// umemGet pins memory of the caller and maps it for the device. It is the part
// of ib_umem_get in drivers/infiniband/core/umem.c that package core leaves to
// drivers.
//
// Errors: umem/…, pin/….
func (d *Device) umemGet(task *process.Task, addr, size uint64, access uint32) (umem, error) {
	u, err := core.GetUmem(task, d.IB, addr, size, access)
	if err != nil {
		return umem{}, err
	}
	return umem{Umem: u, dma: d.Bus.Map(u.Pin.Pages())}, nil
}

// release unmaps and unpins the memory; the zero value is released already.
func (u *umem) release(t *trace.Task, d *Device) {
	if u.dmabuf != nil {
		u.dmabuf.Release(t)
		*u = umem{}
		return
	}
	if u.Umem != nil {
		d.Bus.Unmap(u.dma, len(u.Pin.Pages()))
	}
	u.Umem.Release(t)
	*u = umem{}
}

// dmaAddress is the bus address of the memory's first byte.
func (u *umem) dmaAddress() uint64 { return u.dma + uint64(u.Offset()) }

// numDMABlocks returns how many pages of that size the memory touches when it
// is seen at iova. It models ib_umem_num_dma_blocks in include/rdma/ib_umem.h.
func (u *umem) numDMABlocks(iova, pageSize uint64) int {
	return int((alignUp(iova+u.Length, pageSize) - iova&^(pageSize-1)) / pageSize)
}

// populatePas writes the bus addresses of the memory's pages of that size. It
// models mlx5_ib_populate_pas in drivers/infiniband/hw/mlx5/mem.c.
func (u *umem) populatePas(pageSize uint64, n int, pas []byte, access uint64) {
	addr := u.dmaAddress() &^ (pageSize - 1)
	for i := range n {
		be.PutUint64(pas[8*i:], addr+uint64(i)*pageSize|access)
	}
}

// findBestPgsz returns the largest of the page sizes in the bitmap with which
// the device can be given the memory so that its user, or it itself, sees it at
// virt; 0 if there is none. It models ib_umem_find_best_pgsz in
// drivers/infiniband/core/umem.c for memory that is one run of bus addresses.
func (u *umem) findBestPgsz(bitmap, virt uint64) uint64 {
	last := virt + u.Length - 1
	if last < virt {
		return 0
	}
	var mask uint64
	if n := bits.Len64(virt ^ last); n < 64 {
		mask = bitmap &^ (1<<n - 1)
	}
	mask |= u.dmaAddress() ^ virt
	if mask != 0 {
		bitmap &= 2<<bits.TrailingZeros64(mask) - 1
	}
	return roundDownPow2(bitmap)
}

// quantizedPgoff is a page size and where in the first page of it the memory
// begins, in units of a part of the page.
type quantizedPgoff struct {
	pageSize uint64 // 0 if there is none
	offset   uint64
}

// findBestQuantizedPgoff finds the page size of a queue's memory, whose offset
// in the first page has offsetBits bits and counts scaleths of a page. Bits of
// the address that are in pgoffMask may lie in that offset. It models
// __mlx5_umem_find_best_quantized_pgoff in drivers/infiniband/hw/mlx5/mem.c and
// ib_umem_find_best_pgoff in include/rdma/ib_umem.h.
func (u *umem) findBestQuantizedPgoff(bitmap uint64, offsetBits uint, pgoffMask, scale uint64) quantizedPgoff {
	offsetMask := uint64(1)<<offsetBits - 1
	size := u.findBestPgsz(bitmap, u.dmaAddress()&pgoffMask)
	if size == 0 {
		return quantizedPgoff{}
	}
	offset := u.dmaAddress() & (size - 1)
	for offset&^(offsetMask*(size/scale)) != 0 {
		size /= 2
		offset = u.dmaAddress() & (size - 1)
	}
	if bitmap&size == 0 {
		return quantizedPgoff{}
	}
	return quantizedPgoff{size, offset / (size / scale)}
}

// logPageSizeToBitmap returns the page sizes that a field can hold that has the
// logarithm less shift. It models __mlx5_log_page_size_to_bitmap in
// drivers/infiniband/hw/mlx5/mlx5_ib.h.
func logPageSizeToBitmap(field ifc.Field, shift uint) uint64 {
	largest := min(uint64(1)<<field.Width-1+uint64(shift), 63)
	return 2<<largest - 1<<max(shift, adapterPageShift)
}

// cqPgoffScale is what the offset of a completion queue's buffer counts in:
// 64ths of a page.
const cqPgoffScale = 64

// findBestCQPgoff is findBestQuantizedPgoff for a completion queue, whose buffer
// may not begin in the middle of a page. It models
// mlx5_umem_find_best_cq_quantized_pgoff in
// drivers/infiniband/hw/mlx5/mlx5_ib.h.
func (u *umem) findBestCQPgoff() quantizedPgoff {
	return u.findBestQuantizedPgoff(logPageSizeToBitmap(cqc.logPageSize, adapterPageShift),
		uint(cqc.pageOffset.Width), 0, cqPgoffScale)
}

func alignUp(n, size uint64) uint64 { return (n + size - 1) &^ (size - 1) }

// roundDownPow2 returns the highest bit of n, 0 for 0.
func roundDownPow2(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return 1 << (bits.Len64(n) - 1)
}

// roundUpPow2 models roundup_pow_of_two in include/linux/log2.h, for 1 and more.
func roundUpPow2(n uint64) uint64 { return 1 << bits.Len64(n-1) }

// log2 returns the logarithm of a power of two.
func log2(n uint64) uint64 { return uint64(bits.TrailingZeros64(n)) }

const pageMask = copyuser.PageSize - 1
