package copyuser

import (
	"uverbsim/rule"
	"uverbsim/trace"
)

// Flags of mremap(2), include/uapi/linux/mman.h.
const (
	MREMAP_MAYMOVE = 1
	MREMAP_FIXED   = 2
)

// Mremap models mremap(2) in mm/mremap.c: the oldLen bytes at old become
// newLen bytes, at the returned address; to counts only with MREMAP_FIXED. Its
// errors are the rules mremap/…, and those of Mmap and Munmap where it makes
// room or takes away.
func (m *AddressSpace) Mremap(cur Current, old Addr, oldLen, newLen uint64, flags int, to Addr) (Addr, error) {
	switch {
	case flags&^(MREMAP_MAYMOVE|MREMAP_FIXED) != 0:
		return 0, rule.MremapFlags
	case flags&MREMAP_FIXED != 0 && flags&MREMAP_MAYMOVE == 0:
		return 0, rule.MremapFixedStays
	case old.PageOffset() != 0:
		return 0, rule.MremapUnaligned
	}
	oldLen, newLen = pageAlign(oldLen), pageAlign(newLen)
	if newLen == 0 {
		return 0, rule.MremapZeroLength
	}

	t := TraceOf(cur)
	m.mmapLock.DownWrite(t)
	defer m.mmapLock.UpWrite(t)
	if m.Find(old) == nil {
		return 0, rule.MremapUnmapped
	}
	if flags&MREMAP_FIXED != 0 {
		return m.mremapTo(cur, old, oldLen, newLen, to)
	}
	if oldLen >= newLen {
		if oldLen == newLen {
			return old, nil
		}
		return old, m.doMunmap(cur, old+Addr(newLen), oldLen-newLen)
	}
	return m.mremapGrow(cur, old, oldLen, newLen, flags)
}

// mremapGrow makes an area longer, in its place if there is room.
func (m *AddressSpace) mremapGrow(cur Current, old Addr, oldLen, newLen uint64, flags int) (Addr, error) {
	a, err := m.vmaToResize(old, oldLen, newLen)
	if err != nil {
		return 0, err
	}
	if grown := old + Addr(newLen); oldLen == uint64(a.End-old) && m.expandable(a, grown) {
		a.End = grown
		m.merge(a)
		return old, nil
	}
	if flags&MREMAP_MAYMOVE == 0 {
		return 0, rule.MremapStays
	}
	to, err := m.getUnmappedArea(0, newLen, 0)
	if err != nil {
		return 0, err
	}
	return m.moveVMA(cur, a, old, oldLen, newLen, to)
}

// expandable models vma_expandable in mm/mremap.c.
func (m *AddressSpace) expandable(a *Area, end Addr) bool {
	return end > a.End && end <= TaskSizeMax && m.within(a.End, end) == nil
}

// vmaToResize models vma_to_resize in mm/mremap.c.
func (m *AddressSpace) vmaToResize(old Addr, oldLen, newLen uint64) (*Area, error) {
	a := m.Find(old)
	switch {
	case a == nil:
		return nil, rule.MremapUnmapped
	case oldLen == 0 && a.Flags&(VM_SHARED|VM_MAYSHARE) == 0:
		return nil, rule.MremapPrivateTwice
	case oldLen > uint64(a.End-old):
		return nil, rule.MremapBeyondArea
	case newLen == oldLen:
		return a, nil
	}
	pgoff := a.Pgoff + uint64(a.index(old))
	switch {
	case pgoff+newLen>>PageShift < pgoff:
		return nil, rule.MremapOffsetWraps
	case a.Flags&(VM_DONTEXPAND|VM_PFNMAP) != 0:
		return nil, rule.MremapDontExpand
	}
	return a, nil
}

// mremapTo models mremap_to in mm/mremap.c for MREMAP_FIXED.
func (m *AddressSpace) mremapTo(cur Current, old Addr, oldLen, newLen uint64, to Addr) (Addr, error) {
	switch {
	case to.PageOffset() != 0, newLen > uint64(TaskSizeMax), to > TaskSizeMax-Addr(newLen):
		return 0, rule.MremapTarget
	case old+Addr(oldLen) > to && to+Addr(newLen) > old:
		return 0, rule.MremapOverlap
	case m.areas.Len()+2 >= maxMapCount-3:
		return 0, rule.MremapTooManyAreas
	}
	if err := m.doMunmap(cur, to, newLen); err != nil {
		return 0, err
	}
	if oldLen > newLen {
		if err := m.doMunmap(cur, old+Addr(newLen), oldLen-newLen); err != nil {
			return 0, err
		}
		oldLen = newLen
	}
	a, err := m.vmaToResize(old, oldLen, newLen)
	if err != nil {
		return 0, err
	}
	return m.moveVMA(cur, a, old, oldLen, newLen, to)
}

// moveVMA models move_vma in mm/mremap.c.
func (m *AddressSpace) moveVMA(cur Current, a *Area, old Addr, oldLen, newLen uint64, to Addr) (Addr, error) {
	if m.areas.Len() >= maxMapCount-3 {
		return 0, rule.MremapTooManyAreas
	}
	end := old + Addr(oldLen)
	if a.Ops != nil && a.Ops.MaySplit != nil {
		for _, at := range []Addr{old, end} {
			if at == a.Start || at == a.End {
				continue
			}
			if err := a.Ops.MaySplit(a, at); err != nil {
				return 0, err
			}
		}
	}
	if TraceOf(cur).Fail(trace.Alloc, "vm_area_dup") {
		return 0, rule.MremapAlloc
	}
	moved := *a
	moved.Start, moved.End = to, to+Addr(newLen)
	moved.Pgoff += uint64(a.index(old))
	if a.Ops == nil && !m.populated(a) {
		moved.Pgoff = uint64(to >> PageShift)
	}
	openVMA(cur, &moved)
	m.areas.ReplaceOrInsert(&moved)
	m.invalidating(TraceOf(cur), old, end, func() { m.movePageTables(old, end, to) })
	m.merge(&moved)
	if oldLen == 0 { // the area stays: it is mapped twice now
		return to, nil
	}
	// A failure to split leaves the old area, without its pages.
	_ = m.doMunmap(cur, old, oldLen)
	return to, nil
}

// populated reports whether the area has a page.
func (m *AddressSpace) populated(a *Area) (yes bool) {
	m.ptl.Lock()
	defer m.ptl.Unlock()
	m.pgd.each(a.Start, a.End, func(Addr, *pte) { yes = true })
	return yes
}

// movePageTables models move_page_tables in mm/mremap.c.
func (m *AddressSpace) movePageTables(start, end, to Addr) {
	m.ptl.Lock()
	defer m.ptl.Unlock()
	m.pgd.each(start, end, func(a Addr, e *pte) {
		p, bits := e.clear()
		m.pgd.alloc(to+a-start).set(p, bits)
	})
}
