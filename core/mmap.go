package core

import (
	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/trace"
)

// MmapEntry is a struct rdma_user_mmap_entry: something of the device that the
// user may map at a page offset that was given out for it.
type MmapEntry struct {
	Ucontext *Ucontext
	Pgoff    uint64 // start_pgoff, in pages
	NPages   uint64
	Driver   any

	ref           int
	driverRemoved bool
}

// mmapEntries is the xarray of a context's entries (mmap_xa) by page offset.
type mmapEntries struct {
	mu      trace.Mutex
	entries map[uint64]*MmapEntry
	free    freeOffsets
}

// InsertMmapEntry gives the entry the lowest free page offsets in [min, max]
// for length bytes. It models rdma_user_mmap_entry_insert_range in
// drivers/infiniband/core/ib_core_uverbs.c.
//
// Errors: umap/no-offset.
func (c *Ucontext) InsertMmapEntry(t *trace.Task, e *MmapEntry, length uint64, min, max uint32) error {
	defer t.Enter(trace.Core, "rdma_user_mmap_entry_insert_range").Leave()
	c.Umaps.lock.Lock(t)
	defer c.Umaps.lock.Unlock(t)
	x := &c.mmap
	x.mu.Lock(t)
	defer x.mu.Unlock(t)
	n := (length + copyuser.PageSize - 1) >> copyuser.PageShift
	first, ok := x.free.find(uint64(min), uint64(max), n)
	if !ok || t.Fail(trace.Alloc, "rdma_user_mmap_entry") {
		return rule.UmapNoOffset
	}
	e.Ucontext, e.Pgoff, e.NPages, e.ref, e.driverRemoved = c, first, n, 1, false
	if x.entries == nil {
		x.entries = map[uint64]*MmapEntry{}
	}
	x.free.take(first, n)
	for i := range n {
		x.entries[first+i] = e
	}
	return nil
}

// MmapOffsets returns how many page offsets are given out.
func (c *Ucontext) MmapOffsets() int {
	c.mmap.mu.Lock(nil)
	defer c.mmap.mu.Unlock(nil)
	return len(c.mmap.entries)
}

// MmapEntryOf takes a reference on the entry that the area maps in whole, or
// returns nil. It models rdma_user_mmap_entry_get in
// drivers/infiniband/core/ib_core_uverbs.c.
func (c *Ucontext) MmapEntryOf(t *trace.Task, a *copyuser.Area) *MmapEntry {
	defer t.Enter(trace.Core, "rdma_user_mmap_entry_get").Leave()
	if a.Flags&copyuser.VM_SHARED == 0 {
		return nil
	}
	e := c.MmapEntryAt(t, a.Pgoff)
	if e == nil {
		return nil
	}
	if e.NPages != uint64(a.Pages()) {
		e.Put(t)
		return nil
	}
	return e
}

// MmapEntryAt takes a reference on the entry that begins at that page offset, or
// returns nil. It models rdma_user_mmap_entry_get_pgoff in
// drivers/infiniband/core/ib_core_uverbs.c.
func (c *Ucontext) MmapEntryAt(t *trace.Task, pgoff uint64) *MmapEntry {
	defer t.Enter(trace.Core, "rdma_user_mmap_entry_get_pgoff").Leave()
	if pgoff > 1<<32-1 {
		return nil
	}
	c.mmap.mu.Lock(t)
	defer c.mmap.mu.Unlock(t)
	e := c.mmap.entries[pgoff]
	if e == nil || e.Pgoff != pgoff || e.driverRemoved || e.ref == 0 {
		return nil
	}
	e.ref++
	return e
}

// get takes a reference for an area.
func (e *MmapEntry) get(t *trace.Task) {
	x := &e.Ucontext.mmap
	x.mu.Lock(t)
	e.ref++
	x.mu.Unlock(t)
}

// Put drops a reference; with the last one, that of the last area, the offsets
// are free again and the driver is told. It models rdma_user_mmap_entry_put in
// drivers/infiniband/core/ib_core_uverbs.c.
func (e *MmapEntry) Put(t *trace.Task) {
	defer t.Enter(trace.Core, "rdma_user_mmap_entry_put").Leave()
	x := &e.Ucontext.mmap
	x.mu.Lock(t)
	e.ref--
	last := e.ref == 0
	if last {
		for i := range e.NPages {
			delete(x.entries, e.Pgoff+i)
		}
		x.free.give(e.Pgoff, e.NPages)
	}
	x.mu.Unlock(t)
	if last && e.Ucontext.Device.Ops.MmapFree != nil {
		e.Ucontext.Device.Ops.MmapFree(t, e)
	}
}

// Remove forbids new mappings of the entry and drops the driver's reference.
// It models rdma_user_mmap_entry_remove in
// drivers/infiniband/core/ib_core_uverbs.c.
func (e *MmapEntry) Remove(t *trace.Task) {
	defer t.Enter(trace.Core, "rdma_user_mmap_entry_remove").Leave()
	if e == nil {
		return
	}
	x := &e.Ucontext.mmap
	x.mu.Lock(t)
	e.driverRemoved = true
	x.mu.Unlock(t)
	e.Put(t)
}
