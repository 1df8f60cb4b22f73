package core

import (
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// UmemDmabuf is a struct ib_umem_dmabuf: memory that another driver exports. It is
// mapped for the device when that needs it, until its exporter moves it.
type UmemDmabuf struct {
	Umem // Address is the offset in the dma-buf

	// Private is the driver's region; nil is none that has to be told.
	Private any

	dma    DMA
	addr   uint64 // on the bus, of the first page of the memory; 0 where it is not mapped
	pages  int
	attach *process.DmaBufAttachment
	file   *process.File
}

// GetUmemDmabuf makes memory of size bytes at an offset of the dma-buf that a
// descriptor of the caller stands for. Move is the driver's part when the exporter
// moves the memory: it takes the device's way to it and calls UnmapPages, all with
// the lock held. It models ib_umem_dmabuf_get in
// drivers/infiniband/core/umem_dmabuf.c.
//
// Errors: dmabuf/….
func GetUmemDmabuf(task *process.Task, dev *Device, dma DMA, offset, size uint64, fd int, access uint32,
	move func(t *trace.Task, u *UmemDmabuf)) (*UmemDmabuf, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_umem_dmabuf_get").Leave()
	if offset+size < offset {
		return nil, rule.DmabufOverflow
	}
	buf, f, err := task.GetDmaBuf(fd)
	if err != nil {
		return nil, err
	}
	u := &UmemDmabuf{Umem: Umem{Device: dev, Address: offset, Length: size, Writable: access&accessWritable != 0},
		dma: dma, file: f}
	switch {
	case buf.Size() < offset+size:
		err = rule.DmabufRange
	case t.Fail(trace.Alloc, "ib_umem_dmabuf"):
		err = rule.DmabufNoMemory
	case u.NumPages() == 0:
		err = rule.DmabufEmpty
	}
	if err != nil {
		f.Put(task)
		return nil, err
	}
	u.attach = buf.Attach(t, func(t *trace.Task) { move(t, u) })
	dev.umems.Add(1)
	return u, nil
}

// GetUmemDmabufPinned is the same for memory that its exporter has to keep where it
// is. It is mapped. It models ib_umem_dmabuf_get_pinned in
// drivers/infiniband/core/umem_dmabuf.c.
//
// Errors: dmabuf/….
func GetUmemDmabufPinned(task *process.Task, dev *Device, dma DMA, offset, size uint64, fd int, access uint32) (*UmemDmabuf, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_umem_dmabuf_get_pinned").Leave()
	u, err := GetUmemDmabuf(task, dev, dma, offset, size, fd, access, func(*trace.Task, *UmemDmabuf) {})
	if err != nil {
		return nil, err
	}
	u.Lock(t)
	defer u.Unlock(t)
	u.attach.Pin()
	u.MapPages(t)
	return u, nil
}

// Lock keeps the memory where it is (dma_resv_lock); Unlock lets it go again.
func (u *UmemDmabuf) Lock(t *trace.Task)   { u.attach.Lock(t) }
func (u *UmemDmabuf) Unlock(t *trace.Task) { u.attach.Unlock(t) }

// Addr returns the bus address of the first page of the memory, 0 where it is not
// mapped. The caller holds the lock, or has the memory pinned.
func (u *UmemDmabuf) Addr() uint64 { return u.addr }

// IsMapped says whether the device can reach the memory. The caller holds the lock.
func (u *UmemDmabuf) IsMapped() bool { return u.addr != 0 }

// MapPages maps the memory for the device, unless it is, and returns the bus address
// of its first page: its pages are one run. The caller holds the lock. It models
// ib_umem_dmabuf_map_pages in drivers/infiniband/core/umem_dmabuf.c; there are no
// fences to wait for.
func (u *UmemDmabuf) MapPages(t *trace.Task) uint64 {
	defer t.Enter(trace.Uverbs, "ib_umem_dmabuf_map_pages").Leave()
	if u.addr == 0 {
		first := u.Address >> copyuser.PageShift
		pages := u.attach.Map()[first:][:u.NumPages()]
		u.addr, u.pages = u.dma.Map(pages), len(pages)
	}
	return u.addr
}

// UnmapPages ends the mapping, if there is one. The caller holds the lock, and the
// device has no way to the memory any more. It models ib_umem_dmabuf_unmap_pages in
// drivers/infiniband/core/umem_dmabuf.c.
func (u *UmemDmabuf) UnmapPages(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "ib_umem_dmabuf_unmap_pages").Leave()
	if u.addr == 0 {
		return
	}
	u.dma.Unmap(u.addr, u.pages)
	u.addr = 0
	u.attach.Unmap()
}

// Release ends the use of the memory. It models ib_umem_dmabuf_release in
// drivers/infiniband/core/umem_dmabuf.c.
func (u *UmemDmabuf) Release(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "ib_umem_dmabuf_release").Leave()
	u.Lock(t)
	u.UnmapPages(t)
	u.Unlock(t)
	u.attach.Detach(t)
	u.file.Put(nil)
	u.Device.umems.Add(-1)
}
