package copyuser

import "sync"

// IO is what answers behind a page of device memory: the registers of a
// device. Off is the offset in the page. An access comes as one call, of the
// width that the copy or the instruction has within the page. The calls are
// not serialized, and one may still be under way when the mapping it came
// through is already gone.
type IO interface {
	Load(off int, dst []byte)
	Store(off int, src []byte)
}

// Page is one page of memory, or a page of device registers. It may be mapped
// at several addresses, in several address spaces, and be pinned; it lives as
// long as anyone holds it. Accesses of one page of memory are atomic against
// each other.
type Page struct {
	mu     sync.Mutex
	shared bool            // data is a frame of somebody else's; see Share
	data   *[PageSize]byte // nil if io is not
	io     IO
	others []*[PageSize]byte // frames beside data

	// A lock is alone in its cache line, and in the pair of lines that processors
	// fetch together: the above is 64 bytes long.
	_ [64]byte
}

// NewPage returns a page of zeros.
func NewPage() *Page { return &Page{data: new([PageSize]byte)} }

// NewIOPage returns a page whose loads and stores go to io.
func NewIOPage(io IO) *Page { return &Page{io: io} }

// IsIO reports whether the page is device memory.
func (p *Page) IsIO() bool { return p.io != nil }

// Load copies len(dst) bytes at offset off of the page. They must lie in it.
func (p *Page) Load(off int, dst []byte) {
	p.mu.Lock()
	p.loadUnlock(off, dst)
}

// Store copies src to offset off of the page. It must fit.
func (p *Page) Store(off int, src []byte) {
	p.mu.Lock()
	p.storeUnlock(off, src)
}

// loadUnlock and storeUnlock access a page that the caller has locked, and
// unlock it. The device is not called with the lock held: it may do DMA.

func (p *Page) loadUnlock(off int, dst []byte) {
	if p.io != nil {
		p.mu.Unlock()
		p.io.Load(off, dst)
		return
	}
	copy(dst, p.data[off:off+len(dst)])
	p.mu.Unlock()
}

func (p *Page) storeUnlock(off int, src []byte) {
	if p.io != nil {
		p.mu.Unlock()
		p.io.Store(off, src)
		return
	}
	copy(p.data[off:off+len(src)], src)
	for _, f := range p.others {
		copy(f[off:off+len(src)], src)
	}
	p.mu.Unlock()
}

func (p *Page) clearUnlock(off, n int) {
	if p.io != nil {
		p.mu.Unlock()
		p.io.Store(off, make([]byte, n))
		return
	}
	clear(p.data[off : off+n])
	for _, f := range p.others {
		clear(f[off : off+n])
	}
	p.mu.Unlock()
}

// copyLocked returns a new page with the same bytes. The caller has locked p.
// Device memory cannot be copied so: its copy is zeros.
func (p *Page) copyLocked() *Page {
	n := NewPage()
	if p.data != nil {
		*n.data = *p.data
	}
	return n
}
