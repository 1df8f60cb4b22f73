package copyuser

import (
	"syscall"

	"uverbsim/trace"
)

// VMFlags are the flags of an area: vm_flags_t, include/linux/mm_types.h.
type VMFlags uint64

// The VM_* flags, include/linux/mm.h.
const (
	VM_READ       VMFlags = 0x00000001
	VM_WRITE      VMFlags = 0x00000002
	VM_EXEC       VMFlags = 0x00000004
	VM_SHARED     VMFlags = 0x00000008
	VM_MAYREAD    VMFlags = 0x00000010
	VM_MAYWRITE   VMFlags = 0x00000020
	VM_MAYEXEC    VMFlags = 0x00000040
	VM_MAYSHARE   VMFlags = 0x00000080
	VM_PFNMAP     VMFlags = 0x00000400
	VM_IO         VMFlags = 0x00004000
	VM_DONTCOPY   VMFlags = 0x00020000
	VM_DONTEXPAND VMFlags = 0x00040000
	VM_DONTDUMP   VMFlags = 0x04000000
	VM_MIXEDMAP   VMFlags = 0x10000000

	vmAccess = VM_READ | VM_WRITE | VM_EXEC // VM_ACCESS_FLAGS
	vmMay    = VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC
)

// protFlags models calc_vm_prot_bits in include/linux/mman.h.
func protFlags(prot int) (f VMFlags) {
	if prot&syscall.PROT_READ != 0 {
		f |= VM_READ
	}
	if prot&syscall.PROT_WRITE != 0 {
		f |= VM_WRITE
	}
	if prot&syscall.PROT_EXEC != 0 {
		f |= VM_EXEC
	}
	return f
}

// Area is a run of pages with one protection: struct vm_area_struct of
// include/linux/mm_types.h. Its fields change only while the mmap_lock of its
// address space is held for writing.
type Area struct {
	MM         *AddressSpace // vm_mm
	Start, End Addr          // vm_start, vm_end
	Pgoff      uint64        // vm_pgoff: offset in the file, in pages
	Flags      VMFlags       // vm_flags
	File       any           // vm_file: the open file that is mapped, or nil
	Ops        *AreaOps      // vm_ops; nil is anonymous memory
	Private    any           // vm_private_data
}

// AreaOps are the operations of an area: struct vm_operations_struct of
// include/linux/mm.h. Any may be nil. They are called with the mmap_lock held.
type AreaOps struct {
	// Open is called for an area that was made as a copy of another, by a
	// fork, a split or an mremap, before the copy has pages.
	Open func(cur Current, a *Area)
	// Close is called when the area goes.
	Close func(cur Current, a *Area)
	// Fault returns page i of the area, counted from its start, when it is
	// touched and nothing is mapped there. False is SIGBUS.
	Fault func(a *Area, i int) (*Page, bool)
	// MaySplit refuses, by its error, that the area is split at an address.
	MaySplit func(a *Area, at Addr) error
}

// Len returns the area's length in bytes.
func (a *Area) Len() uint64 { return uint64(a.End - a.Start) }

// Pages models vma_pages in include/linux/mm.h.
func (a *Area) Pages() int { return int(a.Len() >> PageShift) }

// index returns which page of the area the address is in.
func (a *Area) index(at Addr) int { return int((at - a.Start) >> PageShift) }

// isCOW models is_cow_mapping in include/linux/mm.h: a private mapping that
// may be written.
func (a *Area) isCOW() bool { return a.Flags&(VM_SHARED|VM_MAYWRITE) == VM_MAYWRITE }

// pteBits models vm_get_page_prot: what an entry of the area's own page may
// permit.
func (a *Area) pteBits() (bits uint32) {
	if a.permits(false) {
		bits |= pteRead
	}
	if a.permits(true) {
		bits |= pteWrite
	}
	return bits
}

// InsertPage models vm_insert_page in mm/memory.c: it maps p, a page of
// memory, at index i of the area. The page can be pinned through the mapping.
// It is for the mmap operation of a file.
func (a *Area) InsertPage(i int, p *Page) {
	a.Flags |= VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTDUMP
	a.insert(i, p, 0)
}

// RemapPFN models remap_pfn_range in mm/memory.c for one page: it maps p at
// index i of the area as device memory, whatever it is, and the area's pages
// cannot be pinned. It is for the mmap operation of a file.
func (a *Area) RemapPFN(i int, p *Page) {
	a.Flags |= VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP
	a.insert(i, p, pteSpecial)
}

func (a *Area) insert(i int, p *Page, bits uint32) {
	bits |= a.pteBits()
	if a.isCOW() {
		bits &^= pteWrite
	}
	at := a.Start + Addr(i)<<PageShift
	a.MM.ptl.Lock()
	defer a.MM.ptl.Unlock()
	e := a.MM.pgd.alloc(at)
	e.clear()
	e.set(p, bits)
}

// Zap models zap_vma_ptes in mm/memory.c for the whole area: it takes the pages
// out that RemapPFN put in. When it returns, no copy to or from a page of
// memory through this area is under way; the next access asks Ops.Fault. An
// area without such pages is left alone. The caller holds the mmap_lock, if
// only for reading.
func (a *Area) Zap() {
	if a.Flags&VM_PFNMAP != 0 {
		a.MM.zap(nil, a.Start, a.End)
	}
}

// zap empties the page table of a range.
func (m *AddressSpace) zap(t *trace.Task, start, end Addr) {
	m.invalidating(t, start, end, func() {
		m.ptl.Lock()
		defer m.ptl.Unlock()
		m.pgd.each(start, end, func(_ Addr, e *pte) { e.clear() })
	})
}
