package core

import (
	"container/list"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// Umaps is the part of a struct ib_uverbs_file that follows the mappings of
// device memory that were made through it, so that they can be taken away when
// the device goes.
type Umaps struct {
	DisassociationLock trace.Mutex // held while a mapping is made or all are taken away

	lock trace.Mutex // umap_lock
	list list.List   // of *umap, the newest first
	page *copyuser.Page
}

// umap is a struct rdma_umap_priv: one area.
type umap struct {
	area   *copyuser.Area
	entry  *MmapEntry
	listed *list.Element // nil once the device's pages were taken away
}

// Init names the locks.
func (u *Umaps) Init() {
	u.DisassociationLock.Name = "disassociation_lock"
	u.lock.Name = "umap_lock"
}

// Held returns the names of the locks that somebody holds.
func (u *Umaps) Held() []string { return trace.Held(&u.DisassociationLock, &u.lock) }

// Areas returns how many areas are followed.
func (u *Umaps) Areas() int {
	u.lock.Lock(nil)
	defer u.lock.Unlock(nil)
	return u.list.Len()
}

// MmapIO maps pages of the device into the area, whose size must be theirs,
// and follows it from then on. entry may be nil. It models rdma_user_mmap_io
// in drivers/infiniband/core/ib_core_uverbs.c.
//
// Errors: umap/not-shared, umap/size, umap/no-memory, umap/remap.
func (c *Ucontext) MmapIO(t *trace.Task, a *copyuser.Area, pages []*copyuser.Page, entry *MmapEntry) error {
	defer t.Enter(trace.Core, "rdma_user_mmap_io").Leave()
	if a.Flags&copyuser.VM_SHARED == 0 {
		return rule.UmapNotShared
	}
	if a.Pages() != len(pages) {
		return rule.UmapSize
	}
	if t.Fail(trace.Alloc, "rdma_umap_priv") {
		return rule.UmapNoMemory
	}
	if t.Fail(trace.Alloc, "io_remap_pfn_range") {
		return rule.UmapRemap
	}
	for i, p := range pages {
		a.RemapPFN(i, p)
	}
	c.Umaps.Track(t, a, entry)
	return nil
}

// Track follows an area. It models rdma_umap_priv_init in
// drivers/infiniband/core/ib_core_uverbs.c.
func (u *Umaps) Track(t *trace.Task, a *copyuser.Area, entry *MmapEntry) {
	defer t.Enter(trace.Core, "rdma_umap_priv_init").Leave()
	m := &umap{area: a, entry: entry}
	if entry != nil {
		entry.get(t)
	}
	a.Private = m
	u.lock.Lock(t)
	m.listed = u.list.PushFront(m)
	u.lock.Unlock(t)
}

// Retrack follows the copy of an area that a fork or a split made of it. It is
// the second half of rdma_umap_open in drivers/infiniband/core/uverbs_main.c.
func (u *Umaps) Retrack(t *trace.Task, a *copyuser.Area) {
	if m, ok := a.Private.(*umap); ok {
		u.Track(t, a, m.entry)
	}
}

// Untrack ends the following of an area that goes. It models rdma_umap_close
// in drivers/infiniband/core/uverbs_main.c.
func (u *Umaps) Untrack(t *trace.Task, a *copyuser.Area) {
	m, ok := a.Private.(*umap)
	if !ok {
		return
	}
	u.lock.Lock(t)
	defer u.lock.Unlock(t)
	u.putEntry(t, m)
	u.drop(m)
}

// drop ends the following of an area. The caller holds the lock.
func (u *Umaps) drop(m *umap) {
	if m.listed != nil {
		u.list.Remove(m.listed)
		m.listed = nil
	}
}

// putEntry lets go of what the area maps. The caller holds the lock.
func (u *Umaps) putEntry(t *trace.Task, m *umap) {
	if m.entry != nil {
		m.entry.Put(t)
		m.entry = nil
	}
}

// Fault returns the page that stands for device memory that is gone: zeros,
// and one page for the whole file where the area may be written. False is
// SIGBUS. It models rdma_umap_fault in drivers/infiniband/core/uverbs_main.c.
func (u *Umaps) Fault(a *copyuser.Area) (*copyuser.Page, bool) {
	if _, ok := a.Private.(*umap); !ok {
		return nil, false
	}
	if a.Flags&(copyuser.VM_WRITE|copyuser.VM_MAYWRITE) == 0 {
		return copyuser.NewPage(), true
	}
	u.lock.Lock(nil)
	defer u.lock.Unlock(nil)
	if u.page == nil {
		u.page = copyuser.NewPage()
	}
	return u.page, true
}

// Disassociate takes the device's pages out of every area and puts the
// entries. It models uverbs_user_mmap_disassociate in
// drivers/infiniband/core/uverbs_main.c: one address space at a time, since
// umap_lock nests inside mmap_lock.
func (u *Umaps) Disassociate(task *process.Task) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "uverbs_user_mmap_disassociate").Leave()
	u.DisassociationLock.Lock(t)
	defer u.DisassociationLock.Unlock(t)
	for {
		mm := u.nextMM(t)
		if mm == nil {
			return
		}
		mm.MmapReadLock(t)
		u.lock.Lock(t)
		for at := u.list.Front(); at != nil; {
			m := at.Value.(*umap)
			at = at.Next()
			if m.area.MM == mm {
				u.drop(m)
				m.area.Zap()
				u.putEntry(t, m)
			}
		}
		u.lock.Unlock(t)
		mm.MmapReadUnlock(t)
		mm.Mmput(task)
	}
}

// nextMM takes a use of the address space of some followed area; areas of
// address spaces that are on their way out are forgotten.
func (u *Umaps) nextMM(t *trace.Task) *copyuser.AddressSpace {
	u.lock.Lock(t)
	defer u.lock.Unlock(t)
	for at := u.list.Front(); at != nil; at = u.list.Front() {
		m := at.Value.(*umap)
		if m.area.MM.MmgetNotZero() {
			return m.area.MM
		}
		u.drop(m)
		u.putEntry(t, m)
	}
	return nil
}
