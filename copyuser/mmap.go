package copyuser

import (
	"syscall"

	"uverbsim/rule"
	"uverbsim/trace"
)

// Flags of mmap(2) that package syscall lacks, include/uapi/linux/mman.h and
// include/uapi/asm-generic/mman-common.h.
const (
	MAP_SHARED_VALIDATE = 0x03
	MAP_TYPE            = 0x0f
	MAP_FIXED_NOREPLACE = 0x100000
)

// legacyMapMask is LEGACY_MAP_MASK of include/linux/mman.h: what
// MAP_SHARED_VALIDATE takes for granted on any file.
const legacyMapMask = syscall.MAP_SHARED | syscall.MAP_PRIVATE | syscall.MAP_FIXED |
	syscall.MAP_ANONYMOUS | syscall.MAP_DENYWRITE | syscall.MAP_EXECUTABLE |
	syscall.MAP_GROWSDOWN | syscall.MAP_LOCKED | syscall.MAP_NORESERVE |
	syscall.MAP_POPULATE | syscall.MAP_NONBLOCK | syscall.MAP_STACK |
	syscall.MAP_HUGETLB | syscall.MAP_32BIT |
	0x4000000 | // MAP_UNINITIALIZED
	0x80 | // MAP_ABOVE4G
	21<<26 | 30<<26 // MAP_HUGE_2MB, MAP_HUGE_1GB

// Where mappings go: downwards from mmap_base, as it is without randomization,
// and not below mmap_min_addr.
const (
	mmapBase    Addr = 0x7ffff7fff000
	mmapMinAddr Addr = 0x10000
)

// MmapRequest is what mmap(2) asks for.
type MmapRequest struct {
	Addr   Addr   // where to map: a hint, or with MAP_FIXED an order
	Length uint64 // bytes
	Prot   int    // PROT_*
	Flags  int    // MAP_*; whether File is nil decides, not MAP_ANONYMOUS

	// To map a file: the open file, the offset in pages, whether the file was
	// opened for reading and for writing, and its mmap operation.
	File               any
	Pgoff              uint64
	Readable, Writable bool
	Map                func(a *Area) error
}

// Mmap models do_mmap in mm/mmap.c: it returns where it mapped. Its errors are
// the rules mmap/… and whatever the file's mmap operation returns.
func (m *AddressSpace) Mmap(cur Current, req MmapRequest) (Addr, error) {
	t := TraceOf(cur)
	m.mmapLock.DownWrite(t)
	defer m.mmapLock.UpWrite(t)

	if req.Length == 0 {
		return 0, rule.MmapZeroLength
	}
	if req.Flags&MAP_FIXED_NOREPLACE != 0 {
		req.Flags |= syscall.MAP_FIXED
	}
	n := pageAlign(req.Length)
	switch {
	case n == 0:
		return 0, rule.MmapLengthWraps
	case req.Pgoff+n>>PageShift < req.Pgoff:
		return 0, rule.MmapOffsetWraps
	case m.areas.Len() > maxMapCount:
		return 0, rule.MmapTooManyAreas
	}
	start, err := m.getUnmappedArea(req.Addr, n, req.Flags)
	if err != nil {
		return 0, err
	}
	end := start + Addr(n)
	if req.Flags&MAP_FIXED_NOREPLACE != 0 && m.within(start, end) != nil {
		return 0, rule.MmapFixedOccupied
	}
	a := &Area{
		MM: m, Start: start, End: end, Pgoff: req.Pgoff,
		Flags: protFlags(req.Prot) | vmMay, File: req.File,
	}
	if req.File != nil {
		err = a.setFile(&req)
	} else {
		err = a.setAnonymous(&req)
	}
	if err != nil {
		return 0, err
	}
	if err := m.mmapRegion(cur, a, req.Map); err != nil {
		return 0, err
	}
	return start, nil
}

// setFile makes the checks of do_mmap for a file and sets the flags.
func (a *Area) setFile(req *MmapRequest) error {
	if room := ^uint64(0) - a.Len(); a.Pgoff > room>>PageShift { // file_mmap_ok
		return rule.MmapFileOffset
	}
	switch flags := req.Flags; flags & MAP_TYPE {
	case syscall.MAP_SHARED, MAP_SHARED_VALIDATE:
		if flags&MAP_TYPE == MAP_SHARED_VALIDATE && flags&^(legacyMapMask) != 0 {
			return rule.MmapFlagsUnsupported
		}
		if req.Prot&syscall.PROT_WRITE != 0 && !req.Writable {
			return rule.MmapWriteShared
		}
		a.Flags |= VM_SHARED | VM_MAYSHARE
		if !req.Writable {
			a.Flags &^= VM_MAYWRITE | VM_SHARED
		}
	case syscall.MAP_PRIVATE:
	default:
		return rule.MmapType
	}
	if !req.Readable {
		return rule.MmapNotReadable
	}
	if req.Map == nil {
		return rule.MmapNoOperation
	}
	return nil
}

// setAnonymous makes the checks of do_mmap for memory of no file.
func (a *Area) setAnonymous(req *MmapRequest) error {
	switch req.Flags & MAP_TYPE {
	case syscall.MAP_SHARED:
		a.Pgoff = 0
		a.Flags |= VM_SHARED | VM_MAYSHARE
		a.Ops, a.Private = shmemOps, new(shmem)
	case syscall.MAP_PRIVATE:
		a.Pgoff = uint64(a.Start >> PageShift)
	default:
		return rule.MmapType
	}
	return nil
}

// getUnmappedArea models __get_unmapped_area in mm/mmap.c: where n bytes go.
func (m *AddressSpace) getUnmappedArea(at Addr, n uint64, flags int) (Addr, error) {
	if n > uint64(TaskSizeMax) {
		return 0, rule.MmapNoRoom
	}
	switch {
	case flags&syscall.MAP_FIXED != 0:
		if at > TaskSizeMax-Addr(n) {
			return 0, rule.MmapNoRoom
		}
		if at.PageOffset() != 0 {
			return 0, rule.MmapFixedUnaligned
		}
		return at, nil
	case at.PageDown() != 0: // round_hint_to_min
		at = max(at.PageDown(), mmapMinAddr)
		if at <= TaskSizeMax-Addr(n) && m.within(at, at+Addr(n)) == nil {
			return at, nil
		}
	}
	return m.topDown(n)
}

// topDown finds the highest gap below mmap_base that leaves a page unmapped on
// both sides.
func (m *AddressSpace) topDown(n uint64) (Addr, error) {
	need := Addr(n) + 2*PageSize
	high := mmapBase
	found := false
	m.areas.Descend(func(a *Area) bool {
		found = a.End < high && high-a.End >= need
		if !found && a.Start < high {
			high = a.Start
		}
		return !found
	})
	if !found && (high < mmapMinAddr || high-mmapMinAddr < need) {
		return 0, rule.MmapNoRoom
	}
	return high - PageSize - Addr(n), nil
}

// mmapRegion models __mmap_region in mm/mmap.c: what a fixed mapping covers is
// unmapped, and the file's operation fills the area.
func (m *AddressSpace) mmapRegion(cur Current, a *Area, mmap func(*Area) error) error {
	if err := m.unmapRange(cur, a.Start, a.End); err != nil {
		return err
	}
	if TraceOf(cur).Fail(trace.Alloc, "vm_area_alloc") {
		return rule.MmapAlloc
	}
	if a.File != nil {
		getFile(cur, a.File)
		if err := mmap(a); err != nil {
			putFile(cur, a.File)
			m.zap(TraceOf(cur), a.Start, a.End)
			return err
		}
	}
	m.areas.ReplaceOrInsert(a)
	m.merge(a)
	return nil
}

// mergeable models can_vma_merge_after in mm/vma.c for areas of no file: b goes
// on where a ends.
func mergeable(a, b *Area) bool {
	if a.End != b.Start || a.Flags != b.Flags || a.File != nil || b.File != nil || a.Ops != b.Ops {
		return false
	}
	if a.Ops != nil && (a.Ops != shmemOps || a.Private != b.Private) {
		return false
	}
	return a.Pgoff+uint64(a.Pages()) == b.Pgoff
}

// merge models vma_merge_existing_range in mm/vma.c: it joins an area with its
// neighbours where nothing tells them apart.
func (m *AddressSpace) merge(a *Area) {
	if next := m.Find(a.End); next != nil && mergeable(a, next) {
		m.areas.Delete(next)
		a.End = next.End
	}
	if prev := m.Find(a.Start - 1); prev != nil && mergeable(prev, a) {
		m.areas.Delete(a)
		prev.End = a.End
	}
}
