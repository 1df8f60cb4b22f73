package mlx5

import (
	"sync"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/words"
)

// bar is the device's address range, BAR 0, as far as users can map it: pages
// of registers, the page with the core clock, and memory of the device. As a
// hw.Memory it is the last of these, by offset in the range.
type bar struct {
	hw    *hw.Device
	clock *copyuser.Page

	mu     sync.Mutex
	uars   map[uint32]*copyuser.Page // by number, the page's place in the range
	memory map[uint64]*copyuser.Page // by place in the range, in pages
}

func newBar(clock func() uint64) *bar {
	return &bar{
		clock:  copyuser.NewIOPage(clockPage(clock)),
		uars:   map[uint32]*copyuser.Page{},
		memory: map[uint64]*copyuser.Page{},
	}
}

// uarPage returns the page of registers with that number.
func (b *bar) uarPage(n uint32) *copyuser.Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.uars[n]
	if p == nil {
		p = copyuser.NewIOPage(b.hw.UARPage(n))
		b.uars[n] = p
	}
	return p
}

// memoryPages returns n pages of the device's memory from an offset of the range
// on. They keep what is written to them.
func (b *bar) memoryPages(offset, n uint64) []*copyuser.Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	pages := make([]*copyuser.Page, n)
	for i := range pages {
		pages[i] = b.memoryPage(offset>>copyuser.PageShift + uint64(i))
	}
	return pages
}

// memoryPage is one of memoryPages, by its place in pages. The caller holds the
// lock.
func (b *bar) memoryPage(at uint64) *copyuser.Page {
	if b.memory[at] == nil {
		b.memory[at] = copyuser.NewPage()
	}
	return b.memory[at]
}

// ReadAt is the device's own access to its memory. It never fails.
func (b *bar) ReadAt(p []byte, offset uint64) error {
	b.eachPage(len(p), offset, func(page *copyuser.Page, off, from, to int) { page.Load(off, p[from:to]) })
	return nil
}

// WriteAt is the same for writing.
func (b *bar) WriteAt(p []byte, offset uint64) error {
	b.eachPage(len(p), offset, func(page *copyuser.Page, off, from, to int) { page.Store(off, p[from:to]) })
	return nil
}

// eachPage calls f for the part of n bytes at an offset of the range that lies in
// each page: its offset there, and which of the n bytes it is.
func (b *bar) eachPage(n int, offset uint64, f func(page *copyuser.Page, off, from, to int)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for done := 0; done < n; {
		at := offset + uint64(done)
		off := int(at % copyuser.PageSize)
		to := min(n, done+copyuser.PageSize-off)
		f(b.memoryPage(at>>copyuser.PageShift), off, done, to)
		done = to
	}
}

// operationPages returns n pages from an offset of the range on where accesses do
// something with the device's memory.
func (b *bar) operationPages(offset, n uint64) []*copyuser.Page {
	pages := make([]*copyuser.Page, n)
	for i := range pages {
		pages[i] = copyuser.NewIOPage(b.hw.MemoryPage(offset + uint64(i)<<copyuser.PageShift))
	}
	return pages
}

// pages returns what the entry leads to.
func (e *userMmapEntry) pages(b *bar) []*copyuser.Page {
	switch e.typ {
	case mmapTypeUARWC, mmapTypeUARNC:
		return []*copyuser.Page{b.uarPage(e.pageIdx)}
	case mmapTypeMemicOp:
		return b.operationPages(e.address, e.rdma.NPages)
	}
	return b.memoryPages(e.address, e.rdma.NPages)
}

// clockPage is the page of the initialization segment with the device's
// free-running counter: 64 bits, big-endian, at its beginning. The rest reads
// zeros.
type clockPage func() uint64

// Load reads the counter, which a load of 8 bytes sees whole.
func (c clockPage) Load(off int, dst []byte) {
	clear(dst)
	if off >= 8 {
		return
	}
	var b [8]byte
	be.PutUint64(b[:], c())
	copy(dst, b[off:])
}

// Poll puts the counter as it is now where a load of the program finds it.
func (c clockPage) Poll(frame *[copyuser.PageSize]byte) (rang bool) {
	words.Store64(frame[:], 0, c())
	return false
}

// Store is lost: the page is never mapped for writing.
func (clockPage) Store(int, []byte) {}
