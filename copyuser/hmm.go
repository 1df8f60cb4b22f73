package copyuser

import "uverbsim/rule"

// RangePage is what RangeFault finds of one page: the page, nil for none, and
// whether it may be written as it is mapped.
type RangePage struct {
	Page  *Page
	Write bool
}

// RangeFault models hmm_range_fault in mm/hmm.c: it finds the pages that are
// mapped from an address on, as many as there is room for, without holding them.
// With fault it makes them present first, with write for writing; without it
// takes what there is. What it found is good until the range's notifier is told
// otherwise. Its errors are the rules hmm/….
func (m *AddressSpace) RangeFault(from Addr, pages []RangePage, fault, write bool) error {
	m.mmapLock.DownRead(nil)
	defer m.mmapLock.UpRead(nil)
	for i := range pages {
		a := from + Addr(i)<<PageShift
		found, err := m.walkPage(a, fault, write)
		if err != nil {
			return err
		}
		pages[i] = found
	}
	return nil
}

// walkPage models hmm_vma_walk_pmd and what it calls, for one page.
func (m *AddressSpace) walkPage(a Addr, fault, write bool) (RangePage, error) {
	area := m.Find(a)
	switch {
	case area == nil && fault:
		return RangePage{}, rule.HMMUnmapped
	case area == nil:
		return RangePage{}, nil
	case area.Flags&VM_READ == 0 || area.Flags&(VM_IO|VM_PFNMAP) != 0:
		if fault {
			return RangePage{}, rule.HMMArea
		}
		return RangePage{}, nil
	}
	for {
		if p := m.present(a); p.Page != nil && (!fault || !write || p.Write) || !fault {
			return p, nil
		}
		if write && area.Flags&VM_WRITE == 0 {
			return RangePage{}, rule.HMMWrite
		}
		if !m.handleMMFault(area, a, write) {
			return RangePage{}, rule.HMMFault
		}
	}
}

// present returns what the page table has.
func (m *AddressSpace) present(a Addr) RangePage {
	m.ptl.Lock()
	defer m.ptl.Unlock()
	e := m.pgd.find(a)
	if e == nil {
		return RangePage{}
	}
	bits := e.bits.Load()
	p := e.page.Load()
	if p == nil || bits&pteSpecial != 0 {
		return RangePage{}
	}
	return RangePage{p, bits&pteWrite != 0}
}
