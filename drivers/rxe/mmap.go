package rxe

import (
	"slices"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// mmapInfo is a struct rxe_mmap_info: the memory of a queue, which its user
// may map once. It lives until the queue and all mappings are gone.
type mmapInfo struct {
	dev     *rxeDev
	context *core.Ucontext
	obj     *buffer
	offset  uint64 // what to give mmap, in bytes; never given out again
	size    uint64 // bytes, whole pages

	// Under the device's pending lock.
	ref     int
	pending bool // waits to be mapped
}

// createMmapInfo models rxe_create_mmap_info in
// drivers/infiniband/sw/rxe/rxe_mmap.c.
//
// Errors: rxe/mmap-info-no-memory.
func (d *rxeDev) createMmapInfo(q *queue, udata *core.Udata) (*mmapInfo, error) {
	t := udata.Trace()
	defer t.Enter(module, "rxe_create_mmap_info").Leave()
	if t.Fail(trace.Alloc, "rxe_mmap_info") {
		return nil, rule.RxeMmapInfoNoMemory
	}
	ip := &mmapInfo{dev: d, context: udata.Attrs.Ucontext(), obj: q.buf, size: pageAlign(q.bufSize), ref: 1}
	d.mmapOffsetLock.Lock(t)
	if d.mmapOffset == 0 {
		d.mmapOffset = copyuser.PageSize
	}
	ip.offset = d.mmapOffset
	d.mmapOffset += ip.size
	d.mmapOffsetLock.Unlock(t)
	return ip, nil
}

// copyTo tells the user where to map the memory.
//
// Errors: rxe/mmap-info-fault.
func (ip *mmapInfo) copyTo(outbuf copyuser.Addr, udata *core.Udata) error {
	task := udata.Task()
	info := spec.RxeMminfo{Offset: ip.offset, Size: uint32(ip.size)}
	if !copyuser.CopyToUser(task.Trace, task.Mem, outbuf, spec.Bytes(&info)) {
		return rule.RxeMmapInfoFault
	}
	return nil
}

// pendMmap lets the memory be mapped.
func (d *rxeDev) pendMmap(t *trace.Task, ip *mmapInfo) {
	d.pendingLock.Lock(t)
	ip.pending = true
	d.pendingMmaps = append(d.pendingMmaps, ip)
	d.pendingLock.Unlock(t)
}

// unpend takes the memory off the list. The caller holds the pending lock.
func (d *rxeDev) unpend(ip *mmapInfo) {
	if ip.pending {
		i := slices.Index(d.pendingMmaps, ip)
		d.pendingMmaps = slices.Delete(d.pendingMmaps, i, i+1)
		ip.pending = false
	}
}

// put drops a reference.
func (ip *mmapInfo) put(t *trace.Task) {
	ip.dev.pendingLock.Lock(t)
	ip.ref--
	last := ip.ref == 0
	ip.dev.pendingLock.Unlock(t)
	if last {
		ip.release(t)
	}
}

// release models rxe_mmap_release in drivers/infiniband/sw/rxe/rxe_mmap.c.
func (ip *mmapInfo) release(t *trace.Task) {
	defer t.Enter(module, "rxe_mmap_release").Leave()
	ip.dev.pendingLock.Lock(t)
	ip.dev.unpend(ip)
	ip.dev.pendingLock.Unlock(t)
}

// vmOps is rxe_vm_ops.
var vmOps = copyuser.AreaOps{Open: vmaOpen, Close: vmaClose}

// vmaOpen models rxe_vma_open in drivers/infiniband/sw/rxe/rxe_mmap.c.
func vmaOpen(cur copyuser.Current, a *copyuser.Area) {
	t := copyuser.TraceOf(cur)
	defer t.Enter(module, "rxe_vma_open").Leave()
	ip := a.Private.(*mmapInfo)
	ip.dev.pendingLock.Lock(t)
	ip.ref++
	ip.dev.pendingLock.Unlock(t)
}

// vmaClose models rxe_vma_close in drivers/infiniband/sw/rxe/rxe_mmap.c.
func vmaClose(cur copyuser.Current, a *copyuser.Area) {
	t := copyuser.TraceOf(cur)
	defer t.Enter(module, "rxe_vma_close").Leave()
	a.Private.(*mmapInfo).put(t)
}

// mmap maps the memory of a queue, or the first part of it, at the offset that
// the user was told. It models rxe_mmap in
// drivers/infiniband/sw/rxe/rxe_mmap.c. What could not be mapped does not wait to be
// any more.
//
// Errors: rxe/mmap-too-large, rxe/mmap-no-object, rxe/mmap-object-gone,
// rxe/mmap-remap.
func mmap(task *process.Task, ctx *core.Ucontext, a *copyuser.Area) error {
	t := task.Trace
	defer t.Enter(module, "rxe_mmap").Leave()
	d := toRdev(ctx.Device)
	ip, err := d.takePending(t, ctx, a.Pgoff<<copyuser.PageShift, a.Len())
	if err != nil {
		return err
	}
	if t.Fail(trace.Alloc, "remap_vmalloc_range") {
		ip.put(t)
		return rule.RxeMmapRemap
	}
	a.Ops, a.Private = &vmOps, ip
	for i := range a.Pages() {
		a.InsertPage(i, ip.obj.page(i)) // remap_vmalloc_range
	}
	return nil
}

// takePending takes what waits to be mapped at the offset off the list, with a
// reference.
func (d *rxeDev) takePending(t *trace.Task, ctx *core.Ucontext, offset, size uint64) (*mmapInfo, error) {
	d.pendingLock.Lock(t)
	defer d.pendingLock.Unlock(t)
	i := slices.IndexFunc(d.pendingMmaps, func(ip *mmapInfo) bool {
		return ip.context == ctx && ip.offset == offset
	})
	if i < 0 {
		return nil, rule.RxeMmapNoObject
	}
	ip := d.pendingMmaps[i]
	switch {
	case size > ip.size:
		return nil, rule.RxeMmapTooLarge
	case ip.ref == 0:
		return nil, rule.RxeMmapObjectGone
	}
	ip.ref++
	d.unpend(ip)
	return ip, nil
}
