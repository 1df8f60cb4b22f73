package rxe

import (
	"encoding/binary"
	"sync/atomic"

	"uverbsim/copyuser"
)

// buffer is memory of vmalloc_user (mm/vmalloc.c): whole pages of zeros that
// can be mapped into a process. A page is made when it is first needed: a queue
// that nobody uses has none.
type buffer struct {
	pages []atomic.Pointer[copyuser.Page]
	head  [bufHead]byte // what the first page begins with when it is made
}

func newBuffer(size uint64) *buffer {
	return &buffer{pages: make([]atomic.Pointer[copyuser.Page], pageAlign(size)>>copyuser.PageShift)}
}

// page returns page i.
func (b *buffer) page(i int) *copyuser.Page {
	if p := b.pages[i].Load(); p != nil {
		return p
	}
	p := copyuser.NewPage()
	if i == 0 {
		p.Store(0, b.head[:])
	}
	b.pages[i].CompareAndSwap(nil, p)
	return b.pages[i].Load()
}

// each calls f for each page of n bytes at off: at is the offset in the page,
// from and to say which of the n bytes lie there.
func (b *buffer) each(off uint64, n int, f func(p *copyuser.Page, at, from, to int)) {
	for done := 0; done < n; {
		at := copyuser.Addr(off).PageOffset()
		c := min(n-done, copyuser.PageSize-at)
		f(b.page(int(off>>copyuser.PageShift)), at, done, done+c)
		done += c
		off += uint64(c)
	}
}

func (b *buffer) load(off uint64, dst []byte) {
	b.each(off, len(dst), func(p *copyuser.Page, at, from, to int) { p.Load(at, dst[from:to]) })
}

func (b *buffer) store(off uint64, src []byte) {
	b.each(off, len(src), func(p *copyuser.Page, at, from, to int) { p.Store(at, src[from:to]) })
}

// clear zeroes the bytes from off up to end.
func (b *buffer) clear(off, end uint64) {
	var zeros [copyuser.PageSize]byte
	for off < end {
		at := copyuser.Addr(off).PageOffset()
		c := min(end-off, uint64(copyuser.PageSize-at))
		if p := b.pages[off>>copyuser.PageShift].Load(); p != nil {
			p.Store(at, zeros[:c])
		}
		off += c
	}
}

// word reads a 32-bit number in one access, setWord writes it.

func (b *buffer) word(off uint64) uint32 {
	var w [4]byte
	b.load(off, w[:])
	return binary.LittleEndian.Uint32(w[:])
}

func (b *buffer) setWord(off uint64, v uint32) {
	var w [4]byte
	binary.LittleEndian.PutUint32(w[:], v)
	b.store(off, w[:])
}
