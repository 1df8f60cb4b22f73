package copyuser

import (
	"uverbsim/rule"
	"uverbsim/trace"
)

// Munmap models munmap(2): nothing is mapped in the n bytes from a afterwards.
// Its errors are the rules munmap/… and what an area's MaySplit returns.
func (m *AddressSpace) Munmap(cur Current, a Addr, n uint64) error {
	t := TraceOf(cur)
	m.mmapLock.DownWrite(t)
	defer m.mmapLock.UpWrite(t)
	return m.doMunmap(cur, a, n)
}

// doMunmap models do_vmi_munmap in mm/vma.c.
func (m *AddressSpace) doMunmap(cur Current, a Addr, n uint64) error {
	if a.PageOffset() != 0 || a > TaskSizeMax || n > uint64(TaskSizeMax-a) {
		return rule.MunmapRange
	}
	end := a + Addr(pageAlign(n))
	if end == a {
		return rule.MunmapEmpty
	}
	return m.unmapRange(cur, a, end)
}

// unmapRange models do_vmi_align_munmap in mm/vma.c. When it fails nothing is
// unmapped, but areas may stay split.
func (m *AddressSpace) unmapRange(cur Current, start, end Addr) error {
	areas := m.within(start, end)
	if areas == nil {
		return nil
	}
	if first := areas[0]; start > first.Start {
		if end < first.End && m.areas.Len() >= maxMapCount {
			return rule.MunmapTooManyAreas
		}
		if err := m.splitBelow(cur, first, start); err != nil {
			return err
		}
	}
	if last := areas[len(areas)-1]; last.End > end {
		if err := m.splitAbove(cur, last, end); err != nil {
			return err
		}
	}
	for _, a := range areas {
		m.areas.Delete(a)
	}
	m.zap(TraceOf(cur), start, end)
	for _, a := range areas {
		removeVMA(cur, a)
	}
	return nil
}

// removeVMA models remove_vma in mm/vma.c.
func removeVMA(cur Current, a *Area) {
	if a.Ops != nil && a.Ops.Close != nil {
		a.Ops.Close(cur, a)
	}
	putFile(cur, a.File)
}

// exitMmap models exit_mmap in mm/mmap.c.
func (m *AddressSpace) exitMmap(cur Current) {
	t := TraceOf(cur)
	m.mmapLock.DownWrite(t)
	defer m.mmapLock.UpWrite(t)
	m.zap(t, 0, TaskSizeMax)
	m.areas.Ascend(func(a *Area) bool {
		removeVMA(cur, a)
		return true
	})
	m.areas.Clear(false)
}

// splitBelow models __split_vma in mm/vma.c with new_below: a keeps what is
// above the address, a new area takes what is below.
func (m *AddressSpace) splitBelow(cur Current, a *Area, at Addr) error {
	low, err := dupForSplit(cur, a, at)
	if err != nil {
		return err
	}
	low.End = at
	openVMA(cur, low)
	m.areas.Delete(a)
	a.Pgoff += uint64(a.index(at))
	a.Start = at
	m.areas.ReplaceOrInsert(a)
	m.areas.ReplaceOrInsert(low)
	return nil
}

// splitAbove models __split_vma in mm/vma.c without new_below: a keeps what is
// below the address, a new area takes what is above.
func (m *AddressSpace) splitAbove(cur Current, a *Area, at Addr) error {
	high, err := dupForSplit(cur, a, at)
	if err != nil {
		return err
	}
	high.Pgoff += uint64(a.index(at))
	high.Start = at
	openVMA(cur, high)
	a.End = at
	m.areas.ReplaceOrInsert(high)
	return nil
}

func dupForSplit(cur Current, a *Area, at Addr) (*Area, error) {
	if a.Ops != nil && a.Ops.MaySplit != nil {
		if err := a.Ops.MaySplit(a, at); err != nil {
			return nil, err
		}
	}
	if TraceOf(cur).Fail(trace.Alloc, "vm_area_dup") {
		return nil, rule.SplitAlloc
	}
	dup := *a
	return &dup, nil
}

// openVMA takes what an area that was made as a copy holds.
func openVMA(cur Current, a *Area) {
	getFile(cur, a.File)
	if a.Ops != nil && a.Ops.Open != nil {
		a.Ops.Open(cur, a)
	}
}
