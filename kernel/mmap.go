package kernel

import (
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/trace"
)

// mmap is the mmap operation of a device node. It models ib_uverbs_mmap.
//
// Errors: those of File.Ucontext and of the driver.
func mmap(task *process.Task, filp *process.File, a *copyuser.Area) error {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_mmap").Leave()
	f := filp.Private.(*File)
	key := f.Device.srcu.ReadLock(task)
	defer f.Device.srcu.ReadUnlock(task, key)
	c, err := f.Ucontext(t)
	if err != nil {
		return refuse(t, err)
	}
	f.Umaps.DisassociationLock.Lock(t)
	defer f.Umaps.DisassociationLock.Unlock(t)
	a.Ops = &umapOps
	if err := c.Device.Ops.Mmap(task, c, a); err != nil {
		return refuse(t, err)
	}
	return nil
}

// umapOps is rdma_umap_ops.
var umapOps = copyuser.AreaOps{Open: umapOpen, Close: umapClose, Fault: umapFault}

func areaFile(a *copyuser.Area) *File { return a.File.(*process.File).Private.(*File) }

// umapOpen is told of the copy of an area that a fork or a split made. While
// the device goes, or once it is gone, the copy gets no page of the device. It
// models rdma_umap_open.
func umapOpen(cur copyuser.Current, a *copyuser.Area) {
	t := copyuser.TraceOf(cur)
	defer t.Enter(trace.Uverbs, "rdma_umap_open").Leave()
	if a.Private == nil {
		return
	}
	f := areaFile(a)
	if !f.Objects.HWDestroyRwsem.TryDownRead(t) {
		a.Private = nil
		a.Zap()
		return
	}
	defer f.Objects.HWDestroyRwsem.UpRead(t)
	f.Umaps.DisassociationLock.Lock(t)
	defer f.Umaps.DisassociationLock.Unlock(t)
	if f.loadUcontext(t) == nil || t.Fail(trace.Alloc, "rdma_umap_priv") {
		a.Private = nil
		a.Zap()
		return
	}
	f.Umaps.Retrack(t, a)
}

// umapClose models rdma_umap_close.
func umapClose(cur copyuser.Current, a *copyuser.Area) {
	t := copyuser.TraceOf(cur)
	defer t.Enter(trace.Uverbs, "rdma_umap_close").Leave()
	areaFile(a).Umaps.Untrack(t, a)
}

// umapFault models rdma_umap_fault.
func umapFault(a *copyuser.Area, _ int) (*copyuser.Page, bool) { return areaFile(a).Umaps.Fault(a) }
