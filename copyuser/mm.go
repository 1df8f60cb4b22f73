package copyuser

import (
	"sync"
	"sync/atomic"

	"github.com/google/btree"

	"uverbsim/trace"
)

// areaDegree is the degree of the B-tree of areas.
const areaDegree = 32

// maxMapCount is how many areas an address space may have:
// DEFAULT_MAX_MAP_COUNT, include/linux/mm.h.
const maxMapCount = 65530

// Current is the thread that makes a system call: what the kernel calls
// current. A nil Current is nobody; the files that areas hold are then neither
// taken nor put.
type Current interface {
	// TraceTask returns what the thread reports to; it may be nil.
	TraceTask() *trace.Task
	// GetFile and PutFile take and give back a reference to an open file that
	// an area maps (get_file, fput).
	GetFile(file any)
	PutFile(file any)
}

// TraceOf returns what the thread reports to; it may be nobody.
func TraceOf(cur Current) *trace.Task {
	if cur == nil {
		return nil
	}
	return cur.TraceTask()
}

func getFile(cur Current, file any) {
	if cur != nil && file != nil {
		cur.GetFile(file)
	}
}

func putFile(cur Current, file any) {
	if cur != nil && file != nil {
		cur.PutFile(file)
	}
}

// AddressSpace is the memory of one process: struct mm_struct of
// include/linux/mm_types.h.
type AddressSpace struct {
	mmapLock trace.RWSem          // over the areas
	areas    *btree.BTreeG[*Area] // by start

	ptl sync.Mutex // over changes of the page table (page_table_lock)
	pgd pageTable

	notifiers notifiers

	users       atomic.Int64 // mm_users
	pinnedVM    atomic.Int64 // pages
	pinnedPages atomic.Int64
}

var _ MM = (*AddressSpace)(nil)

// NewAddressSpace returns an empty address space with one user.
func NewAddressSpace() *AddressSpace {
	m := &AddressSpace{
		mmapLock: trace.RWSem{Name: "mmap_lock"},
		areas:    btree.NewG(areaDegree, func(a, b *Area) bool { return a.Start < b.Start }),
	}
	m.users.Store(1)
	return m
}

// PinnedVM returns the account of pinned memory, in pages: mm->pinned_vm.
func (m *AddressSpace) PinnedVM() int64 { return m.pinnedVM.Load() }

// AddPinnedVM adds pages to the account and returns its new value:
// atomic64_add_return on mm->pinned_vm. The limit is the caller's to check.
func (m *AddressSpace) AddPinnedVM(pages int64) int64 { return m.pinnedVM.Add(pages) }

// SubPinnedVM takes pages off the account: atomic64_sub on mm->pinned_vm.
func (m *AddressSpace) SubPinnedVM(pages int64) { m.pinnedVM.Add(-pages) }

// PinnedPages returns how many pins of pages are held: one for each page of
// each Pin that has yet to be unpinned.
func (m *AddressSpace) PinnedPages() int { return int(m.pinnedPages.Load()) }

// MmapReadLock models mmap_read_lock in include/linux/mmap_lock.h: it keeps the
// areas as they are.
func (m *AddressSpace) MmapReadLock(t *trace.Task) { m.mmapLock.DownRead(t) }

// MmapReadUnlock models mmap_read_unlock.
func (m *AddressSpace) MmapReadUnlock(t *trace.Task) { m.mmapLock.UpRead(t) }

// MmgetNotZero models mmget_not_zero in include/linux/sched/mm.h: it takes a
// use of the address space, and returns false when the last user is gone.
func (m *AddressSpace) MmgetNotZero() bool {
	for {
		n := m.users.Load()
		if n == 0 {
			return false
		}
		if m.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Mmput models mmput in kernel/fork.c: it gives a use of the address space
// back. The last one unmaps everything (exit_mmap).
func (m *AddressSpace) Mmput(cur Current) {
	if m.users.Add(-1) == 0 {
		m.exitMmap(cur)
	}
}

// Find models vma_lookup in include/linux/mm.h: it returns the area that holds
// the address, or nil. The caller keeps the areas as they are.
func (m *AddressSpace) Find(a Addr) *Area {
	if area := m.atOrBelow(a); area != nil && a < area.End {
		return area
	}
	return nil
}

// atOrBelow returns the last area that starts at a or below.
func (m *AddressSpace) atOrBelow(a Addr) (found *Area) {
	m.areas.DescendLessOrEqual(&Area{Start: a}, func(area *Area) bool {
		found = area
		return false
	})
	return found
}

// FindVMA models find_vma in mm/mmap.c: it returns the first area that ends
// behind a, or nil. The caller keeps the areas as they are.
func (m *AddressSpace) FindVMA(a Addr) (found *Area) {
	if found = m.Find(a); found != nil {
		return found
	}
	m.areas.AscendGreaterOrEqual(&Area{Start: a}, func(area *Area) bool {
		found = area
		return false
	})
	return found
}

// within returns the areas that overlap [start, end), in order.
func (m *AddressSpace) within(start, end Addr) []*Area {
	first := m.FindVMA(start)
	if first == nil || first.Start >= end {
		return nil
	}
	var areas []*Area
	m.areas.AscendRange(first, &Area{Start: end}, func(area *Area) bool {
		areas = append(areas, area)
		return true
	})
	return areas
}

// Areas returns how many areas there are: map_count.
func (m *AddressSpace) Areas() int {
	m.mmapLock.DownRead(nil)
	defer m.mmapLock.UpRead(nil)
	return m.areas.Len()
}

// Mapped returns where each area starts and ends, in order. Areas that touch are
// one range.
func (m *AddressSpace) Mapped() (ranges [][2]uint64) {
	m.mmapLock.DownRead(nil)
	defer m.mmapLock.UpRead(nil)
	m.areas.Ascend(func(a *Area) bool {
		if n := len(ranges); n > 0 && ranges[n-1][1] == uint64(a.Start) {
			ranges[n-1][1] = uint64(a.End)
		} else {
			ranges = append(ranges, [2]uint64{uint64(a.Start), uint64(a.End)})
		}
		return true
	})
	return ranges
}
