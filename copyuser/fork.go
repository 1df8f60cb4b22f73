package copyuser

import (
	"uverbsim/rule"
	"uverbsim/trace"
)

// Fork models dup_mmap in kernel/fork.c: it returns an address space for a
// child, with the same areas. Shared pages are the same; of private ones the
// child gets copies at once, so that the parent keeps every page that it has
// pinned. The child starts with an empty account of pinned memory. The error
// is the rule fork/no-memory.
func (m *AddressSpace) Fork(cur Current) (MM, error) {
	t := TraceOf(cur)
	child := NewAddressSpace()
	m.mmapLock.DownWrite(t)
	child.mmapLock.DownWrite(t)
	failed := false
	m.areas.Ascend(func(a *Area) bool {
		if a.Flags&VM_DONTCOPY != 0 {
			return true
		}
		failed = t.Fail(trace.Alloc, "vm_area_dup")
		if !failed {
			child.dupArea(cur, a)
		}
		return !failed
	})
	child.mmapLock.UpWrite(t)
	m.mmapLock.UpWrite(t)
	if failed {
		child.Mmput(cur)
		return nil, rule.ForkAlloc
	}
	return child, nil
}

// dupArea gives a child a copy of an area. The driver hears of it before the
// pages are there.
func (m *AddressSpace) dupArea(cur Current, a *Area) {
	dup := *a
	dup.MM = m
	m.areas.ReplaceOrInsert(&dup)
	openVMA(cur, &dup)
	if !a.MM.needsCopy(a) {
		return
	}
	if !a.isCOW() {
		m.copyPageRange(a)
		return
	}
	a.MM.invalidating(TraceOf(cur), a.Start, a.End, func() { m.copyPageRange(a) })
}

// needsCopy models vma_needs_copy in mm/memory.c: other pages come back by a
// fault.
func (m *AddressSpace) needsCopy(a *Area) (yes bool) {
	if a.Flags&(VM_PFNMAP|VM_MIXEDMAP) != 0 {
		return true
	}
	m.ptl.Lock()
	defer m.ptl.Unlock()
	m.pgd.each(a.Start, a.End, func(_ Addr, e *pte) {
		yes = yes || e.bits.Load()&pteAnon != 0
	})
	return yes
}

// copyPageRange models copy_page_range in mm/memory.c.
func (m *AddressSpace) copyPageRange(a *Area) {
	a.MM.ptl.Lock()
	defer a.MM.ptl.Unlock()
	m.ptl.Lock()
	defer m.ptl.Unlock()
	a.MM.pgd.each(a.Start, a.End, func(at Addr, e *pte) {
		p, bits := e.page.Load(), e.bits.Load()
		if bits&pteAnon != 0 {
			p.mu.Lock()
			own := p.copyLocked()
			p.mu.Unlock()
			p = own
		}
		m.pgd.alloc(at).set(p, bits)
	})
}
