package copyuser

// fault models do_user_addr_fault in arch/x86/mm/fault.c for an access that
// the page table did not let through: it makes the page present, or returns
// false if the access is not allowed.
func (m *AddressSpace) fault(a Addr, write bool) bool {
	m.mmapLock.DownRead(nil)
	defer m.mmapLock.UpRead(nil)
	area := m.Find(a)
	if area == nil || !area.permits(write) {
		return false
	}
	return m.handleMMFault(area, a, write)
}

// permits models access_error in arch/x86/mm/fault.c: memory that can be
// written or executed can be read as well.
func (a *Area) permits(write bool) bool {
	if write {
		return a.Flags&VM_WRITE != 0
	}
	return a.Flags&vmAccess != 0
}

// handleMMFault models handle_mm_fault in mm/memory.c: it maps the page at a,
// for writing if write is set. It returns false when the area has no such page.
// An area that permits no writes gets a page of its own that nobody may write,
// if it is private.
func (m *AddressSpace) handleMMFault(area *Area, a Addr, write bool) bool {
	m.ptl.Lock()
	missing := m.pgd.alloc(a).page.Load() == nil
	m.ptl.Unlock()
	if missing {
		return m.doFault(area, a, write)
	}
	m.wpFault(area, a, write)
	return true
}

// doFault models do_pte_missing in mm/memory.c.
func (m *AddressSpace) doFault(area *Area, a Addr, write bool) bool {
	page, bits := NewPage(), area.pteBits()|pteAnon
	if area.Ops != nil {
		var ok bool
		if page, ok = area.opsFault(a); !ok {
			return false
		}
		bits = area.pteBits()
		if area.isCOW() {
			bits &^= pteWrite
		}
	}
	m.ptl.Lock()
	if e := m.pgd.alloc(a); e.page.Load() == nil { // nobody else was faster
		e.set(page, bits)
	}
	m.ptl.Unlock()
	m.wpFault(area, a, write)
	return true
}

func (a *Area) opsFault(at Addr) (*Page, bool) {
	if a.Ops.Fault == nil {
		return nil, false
	}
	return a.Ops.Fault(a, a.index(at))
}

// wpFault models do_wp_page in mm/memory.c: an entry that has a page gets the
// rights that its area has now; a private page is copied before it is written.
func (m *AddressSpace) wpFault(area *Area, a Addr, write bool) {
	m.ptl.Lock()
	defer m.ptl.Unlock()
	e := m.pgd.find(a)
	bits := e.bits.Load()
	switch {
	case !write || bits&pteWrite != 0 || e.page.Load() == nil:
	case area.isCOW() && bits&pteAnon == 0:
		m.ptl.Unlock()
		m.unshare(a, area.pteBits())
		m.ptl.Lock()
	case area.permits(true):
		e.protect(bits | pteWrite)
	}
}

// unshare models wp_page_copy in mm/memory.c: a private mapping gets a copy of a
// page that others see too.
func (m *AddressSpace) unshare(a Addr, bits uint32) {
	a = a.PageDown()
	m.invalidating(nil, a, a+PageSize, func() {
		m.ptl.Lock()
		defer m.ptl.Unlock()
		if e := m.pgd.find(a); e.page.Load() != nil && e.bits.Load()&pteAnon == 0 {
			e.unshare(bits)
		}
	})
}
