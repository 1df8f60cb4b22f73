package kernel

import (
	"slices"
	"sync"
	"sync/atomic"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// File is a struct ib_uverbs_file: one open of a device node.
type File struct {
	Device  *Device
	Objects uobject.File // the objects, their handles and locks
	Umaps   core.Umaps   // the mappings of device memory

	// UcontextLock is held while the context or the first async event file is
	// set.
	UcontextLock trace.Mutex

	ucontext     atomic.Pointer[core.Ucontext]
	defaultAsync atomic.Pointer[AsyncEventFile]
	ref          atomic.Int64

	sparesMutex sync.Mutex
	spares      []*Bundle // that no call uses at the moment; see getBundle
}

// The operations of a device node, without and with mmap.
var (
	uverbsFops     = process.FileOps{Write: write, Ioctl: ioctl, Release: closeFile}
	uverbsMmapFops = process.FileOps{Write: write, Ioctl: ioctl, Release: closeFile, Mmap: mmap}
)

// open makes a fresh file one of the device. It models ib_uverbs_open.
//
// Errors: open/no-device, open/device-gone, open/net-namespace, open/no-memory.
func (d *Device) open(task *process.Task, filp *process.File) error {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_open").Leave()
	if !d.getNotZero(t) {
		return rule.OpenNoDevice
	}
	f, err := d.newFile(task)
	if err != nil {
		d.put(t)
		return err
	}
	filp.Ops, filp.Private = d.fops, f
	return nil
}

// newFile is the part of ib_uverbs_open under lists_mutex.
func (d *Device) newFile(task *process.Task) (*File, error) {
	t := task.Trace
	key := d.srcu.ReadLock(task)
	defer d.srcu.ReadUnlock(task, key)
	d.listsMutex.Lock(t)
	defer d.listsMutex.Unlock(t)
	dev := d.SRCUDereference(t)
	if dev == nil {
		return nil, rule.OpenDeviceGone
	}
	if !dev.AccessNetNS(t, !d.machine.exclusiveNetNS, task.NetNS()) {
		return nil, rule.OpenNetNS
	}
	if t.Fail(trace.Alloc, "ib_uverbs_file") {
		return nil, rule.OpenNoMemory
	}
	f := &File{Device: d}
	f.UcontextLock.Name = "ucontext_lock"
	f.Umaps.Init()
	f.ref.Store(1)
	f.Objects.Init(t, (*owner)(f)) // before a removal can find it in the list
	d.files = append(d.files, f)
	return f, nil
}

// closeFile is the release operation of the node. It models ib_uverbs_close.
func closeFile(task *process.Task, filp *process.File) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_close").Leave()
	f := filp.Private.(*File)
	f.destroyAll(task, uobject.RemoveClose)
	f.Device.unlist(t, f)
	(*owner)(f).Put(task)
}

func (f *File) destroyAll(task *process.Task, why uobject.RemoveReason) {
	b := f.getBundle(task)
	f.Objects.DestroyAll(why, b)
	f.putBundle(b)
}

// unlist takes the file off the device's list.
func (d *Device) unlist(t *trace.Task, f *File) {
	d.listsMutex.Lock(t)
	if i := slices.Index(d.files, f); i >= 0 {
		d.files = slices.Delete(d.files, i, i+1)
	}
	d.listsMutex.Unlock(t)
}

// Ucontext returns the file's context for a call that needs the device. It
// models ib_uverbs_get_ucontext_file.
//
// Errors: context/device-gone, context/none.
func (f *File) Ucontext(t *trace.Task) (*core.Ucontext, error) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_get_ucontext_file").Leave()
	c := f.loadUcontext(t)
	if f.Device.SRCUDereference(t) == nil {
		return nil, rule.ContextDeviceGone
	}
	if c == nil {
		return nil, rule.ContextNone
	}
	return c, nil
}

// HasUcontext says whether a context was set. The caller holds UcontextLock.
func (f *File) HasUcontext(t *trace.Task) bool { return f.loadUcontext(t) != nil }

func (f *File) loadUcontext(t *trace.Task) *core.Ucontext {
	t.Point(trace.Word, "load", "ucontext", trace.Reads, &f.ucontext)
	return f.ucontext.Load()
}

// SetUcontext makes the context visible. The caller holds UcontextLock.
func (f *File) SetUcontext(t *trace.Task, c *core.Ucontext) {
	t.Point(trace.Word, "store", "ucontext", trace.Writes, &f.ucontext)
	f.ucontext.Store(c)
}

// DefaultAsync returns the first async event file that was made, or nil.
func (f *File) DefaultAsync(t *trace.Task) *AsyncEventFile {
	t.Point(trace.Word, "load", "default_async_file", trace.Reads, &f.defaultAsync)
	return f.defaultAsync.Load()
}

// What a task keeps for its next call.
const (
	spareBundle      = iota // for an ioctl, or for a destroy outside of any call
	spareWriteBundle        // one without attributes, for a write() command
	SpareDriver             // what the device's driver needs for a query
)

// getBundle lends a bundle for an ioctl, or for a destroy outside of any call. It is
// the task's own, but for a call that comes while another one of the task is under
// way, in it or beside it. What waits holds nothing of a file or a call (forget): it
// serves the task's next call on any file, and keeps none of them alive.
func (f *File) getBundle(task *process.Task) *Bundle {
	var b *Bundle
	if s := &task.Spares[spareBundle]; s.Take() {
		if b, _ = s.Value.(*Bundle); b == nil {
			b = newSpare(s, new(bundlePriv))
		}
	} else {
		b = f.anotherBundle()
	}
	b.reset(f, task)
	return b
}

// newSpare returns a new bundle that the task keeps.
func newSpare(s *process.Spare, priv *bundlePriv) *Bundle {
	b := newBundle(priv)
	b.spare, s.Value = s, b
	return b
}

// anotherBundle serves a call while another one of the task is under way.
func (f *File) anotherBundle() *Bundle {
	f.sparesMutex.Lock()
	defer f.sparesMutex.Unlock()
	if n := len(f.spares); n > 0 {
		b := f.spares[n-1]
		f.spares[n-1] = nil
		f.spares = f.spares[:n-1]
		return b
	}
	return newBundle(new(bundlePriv))
}

// maxSpares bounds the bundles that wait for as many calls at once as there
// were before.
const maxSpares = 64

// putBundle takes the bundle back.
func (f *File) putBundle(b *Bundle) {
	b.forget()
	if b.spare != nil {
		b.spare.GiveBack()
		return
	}
	f.sparesMutex.Lock()
	if len(f.spares) < maxSpares {
		f.spares = append(f.spares, b)
	}
	f.sparesMutex.Unlock()
}

// getWriteBundle lends a bundle for a write() command. It has no attributes.
func (f *File) getWriteBundle(task *process.Task) *Bundle {
	var b *Bundle
	if s := &task.Spares[spareWriteBundle]; !s.Take() {
		b = newBundle(nil)
	} else if b, _ = s.Value.(*Bundle); b == nil {
		b = newSpare(s, nil)
	}
	b.reset(f, task)
	return b
}

// putWriteBundle takes it back.
func (f *File) putWriteBundle(b *Bundle) {
	b.forget()
	if b.spare != nil {
		b.spare.GiveBack()
	}
}

// owner is a File as package uobject sees it.
type owner File

func (o *owner) file() *File { return (*File)(o) }

func (o *owner) ObjectContext(task *process.Task) (uobject.Context, error) {
	c, err := o.file().Ucontext(task.Trace)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (o *owner) HasContext(t *trace.Task) bool {
	if o.ref.Load() <= 0 {
		panic("kernel: a uverbs file is used that was released")
	}
	return o.file().loadUcontext(t) != nil
}

func (o *owner) DeviceGone(t *trace.Task) bool { return o.Device.SRCUDereference(t) == nil }

func (o *owner) Get(t *trace.Task) {
	t.Before(trace.Ref, "get", "ib_uverbs_file", trace.Nothing, &o.ref)
	o.ref.Add(1)
}

// Put drops a reference on the file and releases it with the last.
func (o *owner) Put(task *process.Task) {
	t := task.Trace
	t.Before(trace.Ref, "put", "ib_uverbs_file", trace.Drops, &o.ref)
	switch n := o.ref.Add(-1); {
	case n == 0:
		t.Turned(trace.Writes)
		o.file().release(task)
	case n < 0:
		panic("kernel: a uverbs file was put once too often")
	}
}

func (o *owner) GetAttrs(task *process.Task) uobject.Attrs { return o.file().getBundle(task) }

func (o *owner) PutAttrs(attrs uobject.Attrs) { o.file().putBundle(attrs.(*Bundle)) }

// DestroyContext ends the context. It models ufile_destroy_ucontext in
// rdma_core.c.
func (o *owner) DestroyContext(task *process.Task, why uobject.RemoveReason) {
	defer task.Trace.EnterInlined(trace.Uverbs, "ufile_destroy_ucontext").Leave()
	c := o.file().loadUcontext(task.Trace)
	ops := &c.Device.Ops
	if why == uobject.RemoveDriverRemove {
		o.Umaps.Disassociate(task)
		if ops.DisassociateUcontext != nil {
			ops.DisassociateUcontext(task, c)
		}
	}
	c.UnchargeHandle(task)
	ops.DeallocUcontext(task, c)
	o.file().SetUcontext(task.Trace, nil)
}

// release models ib_uverbs_release_file.
func (f *File) release(task *process.Task) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_release_file").Leave()
	f.Objects.Release(t)
	f.Device.leave(f)
	f.Device.put(t)
	if a := f.DefaultAsync(t); a != nil {
		a.Object.Put(t)
	}
}
