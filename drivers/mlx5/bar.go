package mlx5

import (
	"sync"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
)

// bar is the device's address range, BAR 0, as far as users can map it: pages
// of registers, the page with the core clock, and memory of the device.
type bar struct {
	hw    *hw.Device
	clock *copyuser.Page

	mu     sync.Mutex
	uars   map[uint32]*copyuser.Page // by number, the page's place in the range
	memory map[uint64]*copyuser.Page // by place in the range, in pages
}

func newBar(dev *hw.Device, clock func() uint64) *bar {
	return &bar{
		hw:     dev,
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
		at := offset>>copyuser.PageShift + uint64(i)
		if b.memory[at] == nil {
			b.memory[at] = copyuser.NewPage()
		}
		pages[i] = b.memory[at]
	}
	return pages
}

// pages returns what the entry leads to.
func (e *userMmapEntry) pages(b *bar) []*copyuser.Page {
	if e.typ == mmapTypeUARWC || e.typ == mmapTypeUARNC {
		return []*copyuser.Page{b.uarPage(e.pageIdx)}
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

// Store is lost: the page is never mapped for writing.
func (clockPage) Store(int, []byte) {}
