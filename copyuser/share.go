package copyuser

import "slices"

// Polled is device memory that can be memory of a program which is not simulated:
// nobody sees the loads and stores there, so the device has to look. It does what
// a store to the registers would have done that has changed since it last looked,
// and puts there what a load is to find. Rang says whether it found a store.
type Polled interface {
	IO
	Poll(frame *[PageSize]byte) (rang bool)
}

// Polled returns what answers behind the page if that can be polled; false is a
// page of memory, or of registers that have to see each access when it happens.
func (p *Page) Polled() (Polled, bool) {
	io, ok := p.io.(Polled)
	return io, ok
}

// Share makes frame, which is memory of a program that is not simulated, the
// place of the page's bytes from now on: they are moved there, and each load and
// store of the page goes there, under the page's lock but not under any of the
// program's. A page may be shared with several frames: stores go to all of
// them, and loads read the first. A frame that the page has already is not taken
// twice. Device memory has no bytes and is not shared; see Polled.
func (p *Page) Share(frame *[PageSize]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.io != nil || p.shared && p.data == frame || slices.Contains(p.others, frame) {
		return
	}
	*frame = *p.data
	if p.shared {
		p.others = append(p.others, frame)
		return
	}
	p.data, p.shared = frame, true
}

// Unshare takes a frame away from the page, which then is not accessed any more.
// With the last one the bytes return to memory of the page's own, as they stand
// in the frame. A frame that the page does not have is none of its business.
func (p *Page) Unshare(frame *[PageSize]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch i := slices.Index(p.others, frame); {
	case i >= 0:
		p.others = slices.Delete(p.others, i, i+1)
	case !p.shared || p.data != frame:
		return
	case len(p.others) > 0:
		p.data = p.others[0]
		p.others = slices.Delete(p.others, 0, 1)
	default:
		p.data, p.shared = new([PageSize]byte), false
		*p.data = *frame
	}
	if len(p.others) == 0 {
		p.others = nil
	}
}

// isPlain says that the page's bytes are those at data and nowhere else. The
// caller has locked the page.
func (p *Page) isPlain() bool { return p.io == nil && p.others == nil }
