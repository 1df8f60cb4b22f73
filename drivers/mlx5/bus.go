package mlx5

import (
	"errors"
	"math/bits"
	"sync"

	"uverbsim/copyuser"
)

// busBase is the bus address of page 0 of a Bus: high enough that an address
// is not taken for a small number, and aligned beyond any run of pages.
const busBase = 1 << 40

// ErrBusFault is the error of a DMA to an address that nothing is mapped at.
var ErrBusFault = errors.New("mlx5: DMA to a bus address that nothing is mapped at")

// Bus is the memory that a device reaches by DMA: the DMA API of the kernel
// with an IOMMU behind it. Mapped pages lie side by side on the bus, whatever
// they are, and a run of them begins at a multiple of its length rounded up to a
// power of two. The zero value is ready for use. Its methods may be called by
// several goroutines at once.
type Bus struct {
	mu    sync.RWMutex
	pages []*copyuser.Page // by page of the bus; nil where nothing is mapped
	free  [48][]uint32     // runs given back, by the logarithm of their length
}

// order returns the logarithm of a run's length, rounded up.
func order(n int) int { return bits.Len(uint(n - 1)) }

// Map makes pages reachable and returns the bus address of the first. It models
// dma_map_sg of the kernel's DMA API. A page may be mapped more than once.
func (b *Bus) Map(pages []*copyuser.Page) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := b.take(order(len(pages)))
	copy(b.pages[first:], pages)
	return busBase + uint64(first)<<copyuser.PageShift
}

// take returns the first page of an unused run.
func (b *Bus) take(k int) uint32 {
	if l := b.free[k]; len(l) > 0 {
		b.free[k] = l[:len(l)-1]
		return l[len(l)-1]
	}
	// What is skipped to get to a multiple of the length can serve shorter runs.
	for len(b.pages)&(1<<k-1) != 0 {
		skip := bits.TrailingZeros(uint(len(b.pages)))
		b.free[skip] = append(b.free[skip], uint32(len(b.pages)))
		b.pages = append(b.pages, make([]*copyuser.Page, 1<<skip)...)
	}
	first := uint32(len(b.pages))
	b.pages = append(b.pages, make([]*copyuser.Page, 1<<k)...)
	return first
}

// Unmap ends the mapping of n pages that Map returned addr for. A DMA that is
// under way ends first. It models dma_unmap_sg.
func (b *Bus) Unmap(addr uint64, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := uint32((addr - busBase) >> copyuser.PageShift)
	clear(b.pages[first : int(first)+n])
	k := order(n)
	b.free[k] = append(b.free[k], first)
}

// Mapped returns how many pages are mapped.
func (b *Bus) Mapped() (n int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, p := range b.pages {
		if p != nil {
			n++
		}
	}
	return n
}

// ReadAt copies len(p) bytes from the bus address addr. The error is
// ErrBusFault; nothing is copied then.
func (b *Bus) ReadAt(p []byte, addr uint64) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if page, off := b.within(addr, len(p)); page != nil {
		page.Load(off, p)
		return nil
	}
	return b.each(len(p), addr, func(page *copyuser.Page, off, from, to int) { page.Load(off, p[from:to]) })
}

// WriteAt copies p to the bus address addr. The error is ErrBusFault; nothing
// is copied then.
func (b *Bus) WriteAt(p []byte, addr uint64) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if page, off := b.within(addr, len(p)); page != nil {
		page.Store(off, p)
		return nil
	}
	return b.each(len(p), addr, func(page *copyuser.Page, off, from, to int) { page.Store(off, p[from:to]) })
}

// within returns the page that n bytes at addr lie in, and where in it; nil if
// they do not lie in one page that is mapped.
func (b *Bus) within(addr uint64, n int) (*copyuser.Page, int) {
	off := int(addr % copyuser.PageSize)
	if i := (addr - busBase) >> copyuser.PageShift; i < uint64(len(b.pages)) && off+n <= copyuser.PageSize {
		return b.pages[i], off
	}
	return nil, 0
}

// each calls f for the part of n bytes at addr that lies in each page: its
// offset there, and which of the n bytes it is.
func (b *Bus) each(n int, addr uint64, f func(page *copyuser.Page, off, from, to int)) error {
	size := uint64(len(b.pages)) << copyuser.PageShift
	if addr < busBase || addr-busBase > size || uint64(n) > size-(addr-busBase) {
		return ErrBusFault
	}
	addr -= busBase
	for at := addr &^ (copyuser.PageSize - 1); at < addr+uint64(n); at += copyuser.PageSize {
		if b.pages[at>>copyuser.PageShift] == nil {
			return ErrBusFault
		}
	}
	for done := 0; done < n; {
		off := int((addr + uint64(done)) % copyuser.PageSize)
		to := min(n, done+copyuser.PageSize-off)
		f(b.pages[(addr+uint64(done))>>copyuser.PageShift], off, done, to)
		done = to
	}
	return nil
}
