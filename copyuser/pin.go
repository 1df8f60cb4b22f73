package copyuser

import (
	"errors"
	"io"
	"sync/atomic"

	"uverbsim/rule"
)

// ErrUnpinned is the error of an access by a Pin that was given back.
var ErrUnpinned = errors.New("copyuser: access to pages that are not pinned any more")

// Pin is a run of pinned pages: the memory that a device may reach by DMA. The
// pages stay what they are, whatever becomes of the mappings they were found
// by. Its methods may be called by several goroutines at once.
type Pin struct {
	pages   []*Page
	gone    atomic.Bool
	account *atomic.Int64
}

var (
	_ io.ReaderAt = (*Pin)(nil)
	_ io.WriterAt = (*Pin)(nil)
)

// NewPin returns a pin of those pages, for another implementation of Memory.
func NewPin(pages []*Page) *Pin { return &Pin{pages: pages} }

// PinPages returns a pin of those pages that PinnedPages counts, for another
// implementation of MM that is built on m.
func (m *AddressSpace) PinPages(pages []*Page) *Pin {
	m.pinnedPages.Add(int64(len(pages)))
	return &Pin{pages: pages, account: &m.pinnedPages}
}

// NewIOPages returns n pages whose loads and stores go to what io returns for
// each. They lie side by side, so that many are not much work for the garbage
// collector.
func NewIOPages(n int, io func(i int) IO) []*Page {
	run, pages := make([]Page, n), make([]*Page, n)
	for i := range run {
		run[i].io = io(i)
		pages[i] = &run[i]
	}
	return pages
}

// Pages returns the pinned pages in order. The slice is the pin's.
func (p *Pin) Pages() []*Page { return p.pages }

// ReadAt reads from the pinned pages; off counts bytes from the start of the
// first page. It returns io.EOF when they end, and ErrUnpinned after Unpin.
func (p *Pin) ReadAt(b []byte, off int64) (int, error) {
	return p.each(len(b), off, io.EOF, func(page *Page, at, from, to int) {
		page.Load(at, b[from:to])
	})
}

// WriteAt writes to the pinned pages; off counts as in ReadAt. It returns
// io.ErrShortWrite when the pages end, and ErrUnpinned after Unpin.
func (p *Pin) WriteAt(b []byte, off int64) (int, error) {
	return p.each(len(b), off, io.ErrShortWrite, func(page *Page, at, from, to int) {
		page.Store(at, b[from:to])
	})
}

// each calls f for each page of n bytes at off: at is the offset in the page,
// from and to say which of the n bytes lie there.
func (p *Pin) each(n int, off int64, short error, f func(page *Page, at, from, to int)) (int, error) {
	if p.gone.Load() {
		return 0, ErrUnpinned
	}
	done := 0
	for done < n {
		i := off >> PageShift
		if off < 0 || i >= int64(len(p.pages)) {
			return done, short
		}
		at := int(off & pageMask)
		c := min(n-done, PageSize-at)
		f(p.pages[i], at, done, done+c)
		done += c
		off += int64(c)
	}
	return done, nil
}

// Unpin models unpin_user_pages in mm/gup.c: it gives the pages back. A second
// call does nothing.
func (p *Pin) Unpin() {
	if !p.gone.Swap(true) && p.account != nil {
		p.account.Add(-int64(len(p.pages)))
	}
}

// Pin models pin_user_pages_fast with FOLL_LONGTERM in mm/gup.c; see Memory.
// Its errors are the rules pin/….
func (m *AddressSpace) Pin(from Addr, n uint64, write bool) (*Pin, error) {
	return m.pin(from, n, gup{write: write})
}

// PinForced is like Pin for writing, with FOLL_FORCE: memory of a private
// mapping is pinned whatever its protection is, and copied first if others see
// it too.
func (m *AddressSpace) PinForced(from Addr, n uint64) (*Pin, error) {
	return m.pin(from, n, gup{write: true, force: true})
}

// gup is what pages are pinned for: FOLL_WRITE and FOLL_FORCE of
// include/linux/mm_types.h.
type gup struct{ write, force bool }

func (m *AddressSpace) pin(from Addr, n uint64, flags gup) (*Pin, error) {
	if n == 0 {
		return &Pin{}, nil
	}
	last, ok := from.Add(n - 1)
	if !ok {
		return nil, rule.PinWraps
	}
	if last >= TaskSizeMax {
		return nil, rule.PinRange
	}
	var pages []*Page
	for a := from.PageDown(); a <= last; a += PageSize {
		page := m.gupFast(a, flags.write)
		if page == nil {
			var err error
			if page, err = m.gupSlow(a, flags); err != nil {
				return nil, err
			}
		}
		pages = append(pages, page)
	}
	return m.PinPages(pages), nil
}

// gupFast models gup_fast_pte_range in mm/gup.c: it takes the page that the
// page table has, if that permits the access and the page is not to be copied
// first. The area is not looked at.
func (m *AddressSpace) gupFast(a Addr, write bool) *Page {
	e := m.pgd.find(a)
	if e == nil {
		return nil
	}
	p := e.page.Load()
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.page.Load() != p {
		return nil
	}
	bits := e.bits.Load()
	switch {
	case bits&pteSpecial != 0:
		return nil
	case write && bits&pteWrite == 0, !write && bits&pteRead == 0:
		return nil
	case bits&(pteWrite|pteAnon) == 0: // gup_must_unshare
		return nil
	}
	return p
}

// gupSlow models __get_user_pages in mm/gup.c for one page: it looks at the
// area, and makes the page present.
func (m *AddressSpace) gupSlow(a Addr, flags gup) (*Page, error) {
	m.mmapLock.DownRead(nil)
	defer m.mmapLock.UpRead(nil)
	area := m.Find(a)
	if area == nil {
		return nil, rule.PinUnmapped
	}
	if err := area.checkFlags(flags); err != nil {
		return nil, err
	}
	for {
		if p := m.followPage(area, a, flags); p != nil {
			return p, nil
		}
		if !m.handleMMFault(area, a, flags.write) {
			return nil, rule.PinFault
		}
	}
}

// checkFlags models check_vma_flags in mm/gup.c.
func (a *Area) checkFlags(flags gup) error {
	switch {
	case a.Flags&(VM_IO|VM_PFNMAP) != 0:
		return rule.PinIO
	case flags.write && a.Flags&VM_WRITE == 0 && !(flags.force && a.isCOW()):
		return rule.PinWrite
	case !flags.write && a.Flags&VM_READ == 0:
		return rule.PinRead
	}
	return nil
}

// followPage models follow_page_pte in mm/gup.c. A page that a private mapping
// shares with others is copied first, even for reading (FAULT_FLAG_UNSHARE):
// otherwise the device would see another page than the process does after its
// next store.
func (m *AddressSpace) followPage(area *Area, a Addr, flags gup) *Page {
	m.ptl.Lock()
	defer m.ptl.Unlock()
	e := m.pgd.find(a)
	if e == nil || e.page.Load() == nil {
		return nil
	}
	bits := e.bits.Load()
	if flags.write && !area.canFollowWrite(bits, flags) {
		return nil
	}
	if bits&pteAnon == 0 && area.isCOW() {
		m.ptl.Unlock()
		m.unshare(a, area.pteBits()&^pteWrite)
		m.ptl.Lock()
	}
	return e.page.Load()
}

// canFollowWrite models can_follow_write_pte in mm/gup.c: a page that may be
// written, or by force one of a private mapping's own.
func (a *Area) canFollowWrite(bits uint32, flags gup) bool {
	return bits&pteWrite != 0 || flags.force && a.isCOW() && a.Flags&VM_WRITE == 0 && bits&pteAnon != 0
}
