package copyuser

import "sync/atomic"

// The bits of a page table entry.
const (
	pteRead    uint32 = 1 << iota // may be read
	pteWrite                      // may be written
	pteSpecial                    // mapped by remap_pfn_range: not to be pinned
	pteAnon                       // the page is this mapping's own
)

// pte is a page table entry.
//
// Whoever changes entries holds the ptl of the address space. A copy holds no
// such lock: it loads the page, locks that page, and then looks whether the
// entry still has it. So an entry that has a page is changed only with that
// page locked, and when the change is done no copy by the old entry is under
// way. That takes the place of flushing the TLB.
type pte struct {
	page atomic.Pointer[Page]
	bits atomic.Uint32
}

// The four levels of x86-64 (arch/x86/include/asm/pgtable_64_types.h). The
// highest has only the user's half.
type (
	pageTable [1 << 8]atomic.Pointer[pudTable]
	pudTable  [1 << 9]atomic.Pointer[pmdTable]
	pmdTable  [1 << 9]atomic.Pointer[pteTable]
	pteTable  [1 << 9]pte
)

const (
	pmdShift   = PageShift + 9
	pudShift   = pmdShift + 9
	pgdShift   = pudShift + 9
	tableIndex = 1<<9 - 1
)

// find returns the entry of address a, which is the user's, or nil if there is
// no table for it.
func (t *pageTable) find(a Addr) *pte {
	pud := t[a>>pgdShift&(1<<8-1)].Load()
	if pud == nil {
		return nil
	}
	pmd := pud[a>>pudShift&tableIndex].Load()
	if pmd == nil {
		return nil
	}
	ptes := pmd[a>>pmdShift&tableIndex].Load()
	if ptes == nil {
		return nil
	}
	return &ptes[a>>PageShift&tableIndex]
}

// alloc returns the entry of address a, and makes the tables for it.
func (t *pageTable) alloc(a Addr) *pte {
	pud := below(&t[a>>pgdShift&(1<<8-1)])
	pmd := below(&pud[a>>pudShift&tableIndex])
	ptes := below(&pmd[a>>pmdShift&tableIndex])
	return &ptes[a>>PageShift&tableIndex]
}

func below[T any](p *atomic.Pointer[T]) *T {
	if t := p.Load(); t != nil {
		return t
	}
	t := new(T)
	p.Store(t)
	return t
}

// each calls f for every entry in [start, end) that has a page.
func (t *pageTable) each(start, end Addr, f func(a Addr, e *pte)) {
	for a := start; a < end; {
		pud := t[a>>pgdShift&(1<<8-1)].Load()
		if pud == nil {
			a = (a>>pgdShift + 1) << pgdShift
			continue
		}
		pmd := pud[a>>pudShift&tableIndex].Load()
		if pmd == nil {
			a = (a>>pudShift + 1) << pudShift
			continue
		}
		ptes := pmd[a>>pmdShift&tableIndex].Load()
		if ptes == nil {
			a = (a>>pmdShift + 1) << pmdShift
			continue
		}
		if e := &ptes[a>>PageShift&tableIndex]; e.page.Load() != nil {
			f(a, e)
		}
		a += PageSize
	}
}

// set gives an empty entry a page. The caller holds the ptl.
func (e *pte) set(p *Page, bits uint32) {
	e.bits.Store(bits)
	e.page.Store(p)
}

// clear empties an entry and returns what it had. The caller holds the ptl.
func (e *pte) clear() (*Page, uint32) {
	p, bits := e.page.Load(), e.bits.Load()
	if p == nil {
		return nil, 0
	}
	p.mu.Lock()
	e.page.Store(nil)
	p.mu.Unlock()
	return p, bits
}

// protect changes the bits of an entry that has a page. The caller holds the
// ptl.
func (e *pte) protect(bits uint32) {
	p := e.page.Load()
	p.mu.Lock()
	e.bits.Store(bits)
	p.mu.Unlock()
}

// unshare gives the mapping a copy of its page, to have for its own. The
// caller holds the ptl.
func (e *pte) unshare(bits uint32) {
	p := e.page.Load()
	p.mu.Lock()
	e.page.Store(nil)
	n := p.copyLocked()
	p.mu.Unlock()
	e.set(n, bits|pteAnon)
}
