package copyuser

import (
	"syscall"

	"uverbsim/rule"
)

// protSem is PROT_SEM of include/uapi/asm-generic/mman-common.h.
const protSem = 0x8

// Mprotect models do_mprotect_pkey in mm/mprotect.c. When it fails, what lies
// before the address that it failed at has its new protection. Its errors are
// the rules mprotect/… and what an area's MaySplit returns.
func (m *AddressSpace) Mprotect(cur Current, start Addr, n uint64, prot int) error {
	if start.PageOffset() != 0 {
		return rule.MprotectUnaligned
	}
	if n == 0 {
		return nil
	}
	end := start + Addr(pageAlign(n))
	if end <= start {
		return rule.MprotectWraps
	}
	if prot&^(syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC|protSem) != 0 {
		return rule.MprotectProt
	}

	t := TraceOf(cur)
	m.mmapLock.DownWrite(t)
	defer m.mmapLock.UpWrite(t)
	at := start
	for _, a := range m.within(start, end) {
		if a.Start > at {
			return rule.MprotectHole
		}
		flags := protFlags(prot) | a.Flags&^vmAccess
		if flags&^(flags>>4)&vmAccess != 0 { // VM_MAY* lie 4 bits above VM_*
			return rule.MprotectMayNot
		}
		areaEnd := min(a.End, end)
		if err := m.mprotectFixup(cur, a, at, areaEnd, flags); err != nil {
			return err
		}
		at = areaEnd
	}
	if at < end {
		return rule.MprotectHole
	}
	return nil
}

// mprotectFixup models mprotect_fixup in mm/mprotect.c: the part [start, end)
// of an area gets those flags.
func (m *AddressSpace) mprotectFixup(cur Current, a *Area, start, end Addr, flags VMFlags) error {
	if flags == a.Flags {
		return nil
	}
	if a.Start < start {
		if m.areas.Len() >= maxMapCount {
			return rule.SplitTooManyAreas
		}
		if err := m.splitBelow(cur, a, start); err != nil {
			return err
		}
	}
	if a.End > end {
		if m.areas.Len() >= maxMapCount {
			return rule.SplitTooManyAreas
		}
		if err := m.splitAbove(cur, a, end); err != nil {
			return err
		}
	}
	a.Flags = flags
	m.invalidating(TraceOf(cur), a.Start, a.End, func() { m.changeProtection(a) })
	m.merge(a)
	return nil
}

// changeProtection models change_protection in mm/mprotect.c for a whole area.
// A page that is to be copied before it is written stays read-only.
func (m *AddressSpace) changeProtection(a *Area) {
	m.ptl.Lock()
	defer m.ptl.Unlock()
	rights := a.pteBits()
	m.pgd.each(a.Start, a.End, func(_ Addr, e *pte) {
		keep := e.bits.Load() & (pteSpecial | pteAnon)
		grant := rights
		if a.isCOW() && keep&pteAnon == 0 {
			grant &^= pteWrite
		}
		e.protect(keep | grant)
	})
}
