package copyuser

import (
	"encoding/binary"

	"uverbsim/rule"
)

// Bytes is a user's memory of a single buffer, which may start and end
// anywhere in a page: the byte before it and the byte behind it fault.
type Bytes struct {
	start, end Addr
	pages      []*Page
}

var _ Memory = (*Bytes)(nil)

// NewBytes returns a memory that has a copy of data at address start. It
// panics if that is not in the user's half of the address space.
func NewBytes(start Addr, data []byte) *Bytes {
	if !AccessOK(start, uint64(len(data))) {
		panic("copyuser: bytes outside of the user's half")
	}
	b := &Bytes{start: start, end: start + Addr(len(data))}
	for a := start.PageDown(); a < b.end; a += PageSize {
		b.pages = append(b.pages, NewPage())
	}
	b.CopyOut(start, data)
	return b
}

// Bytes returns a copy of the buffer as it stands.
func (b *Bytes) Bytes() []byte {
	data := make([]byte, b.end-b.start)
	b.CopyIn(data, b.start)
	return data
}

// room returns how many of the n bytes at a lie in the buffer before the first
// that does not.
func (b *Bytes) room(a Addr, n uint64) uint64 {
	if a < b.start || a >= b.end {
		return 0
	}
	return min(n, uint64(b.end-a))
}

// each calls f for each page of the n bytes at a, which lie in the buffer: off
// is the offset in the page, from and to say which of the n bytes lie there.
func (b *Bytes) each(a Addr, n int, f func(p *Page, off, from, to int)) {
	for done := 0; done < n; {
		off := a.PageOffset()
		c := min(n-done, PageSize-off)
		f(b.pages[(a-b.start.PageDown())>>PageShift], off, done, done+c)
		done += c
		a += Addr(c)
	}
}

// CopyIn models copy_from_user; see Memory.
func (b *Bytes) CopyIn(dst []byte, from Addr) int {
	n := int(b.room(from, uint64(len(dst))))
	b.each(from, n, func(p *Page, off, i, j int) { p.Load(off, dst[i:j]) })
	return n
}

// CopyOut models copy_to_user; see Memory.
func (b *Bytes) CopyOut(to Addr, src []byte) int {
	n := int(b.room(to, uint64(len(src))))
	b.each(to, n, func(p *Page, off, i, j int) { p.Store(off, src[i:j]) })
	return n
}

// Clear models clear_user; see Memory.
func (b *Bytes) Clear(to Addr, n uint64) uint64 {
	n = b.room(to, n)
	b.each(to, int(n), func(p *Page, off, i, j int) {
		p.mu.Lock()
		p.clearUnlock(off, j-i)
	})
	return n
}

// GetUint64 models get_user; see Memory.
func (b *Bytes) GetUint64(from Addr) (uint64, bool) {
	if b.room(from, 8) < 8 {
		return 0, false
	}
	var v [8]byte
	b.CopyIn(v[:], from)
	return binary.LittleEndian.Uint64(v[:]), true
}

// PutUint16 models put_user; see Memory.
func (b *Bytes) PutUint16(to Addr, v uint16) bool { return b.put(to, uint64(v), 2) }

// PutUint32 models put_user; see Memory.
func (b *Bytes) PutUint32(to Addr, v uint32) bool { return b.put(to, uint64(v), 4) }

// PutUint64 models put_user; see Memory.
func (b *Bytes) PutUint64(to Addr, v uint64) bool { return b.put(to, v, 8) }

func (b *Bytes) put(to Addr, v uint64, width int) bool {
	if b.room(to, uint64(width)) < uint64(width) {
		return false
	}
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], v)
	b.CopyOut(to, buf[:width])
	return true
}

// Pin models pin_user_pages_fast; see Memory. It pins the pages that the bytes
// lie in. Its error is the rule pin/unmapped.
func (b *Bytes) Pin(from Addr, n uint64, write bool) (*Pin, error) {
	if n == 0 {
		return &Pin{}, nil
	}
	if b.room(from, n) < n {
		return nil, rule.PinUnmapped
	}
	first := (from - b.start.PageDown()) >> PageShift
	last := (from + Addr(n-1) - b.start.PageDown()) >> PageShift
	return NewPin(b.pages[first : last+1 : last+1]), nil
}
