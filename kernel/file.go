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

	// Bundles that no call uses at the moment.
	spare       atomic.Pointer[Bundle]
	sparesMutex sync.Mutex
	spares      []*Bundle
	spareWrite  atomic.Pointer[Bundle] // one without attributes, for a write() command
}

// The operations of a device node, without and with mmap.
var (
	uverbsFops     = process.FileOps{Write: write, Ioctl: ioctl, Release: closeFile}
	uverbsMmapFops = process.FileOps{Write: write, Ioctl: ioctl, Release: closeFile, Mmap: mmap}
)

// open makes a file of the device. It models ib_uverbs_open.
//
// Errors: open/no-device, open/device-gone, open/net-namespace, open/no-memory.
func (d *Device) open(task *process.Task, flags int) (*process.File, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_open").Leave()
	if !d.getNotZero() {
		return nil, rule.OpenNoDevice
	}
	f, err := d.newFile(task)
	if err != nil {
		d.put()
		return nil, err
	}
	filp, err := process.NewFile(task, d.fops, f, flags)
	if err != nil {
		d.unlist(t, f)
		(*owner)(f).Put(task)
	}
	return filp, err
}

// newFile is the part of ib_uverbs_open under lists_mutex.
func (d *Device) newFile(task *process.Task) (*File, error) {
	t := task.Trace
	key := d.srcu.ReadLock(t)
	defer d.srcu.ReadUnlock(t, key)
	d.listsMutex.Lock(t)
	defer d.listsMutex.Unlock(t)
	dev := d.ibDev.Load()
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
	c := f.ucontext.Load()
	if f.Device.ibDev.Load() == nil {
		return nil, rule.ContextDeviceGone
	}
	if c == nil {
		return nil, rule.ContextNone
	}
	return c, nil
}

// HasUcontext says whether a context was set. The caller holds UcontextLock.
func (f *File) HasUcontext() bool { return f.ucontext.Load() != nil }

// SetUcontext makes the context visible. The caller holds UcontextLock.
func (f *File) SetUcontext(c *core.Ucontext) { f.ucontext.Store(c) }

// DefaultAsync returns the first async event file that was made, or nil.
func (f *File) DefaultAsync() *AsyncEventFile { return f.defaultAsync.Load() }

// getBundle lends a bundle for an ioctl, or for a destroy outside of any call.
func (f *File) getBundle(task *process.Task) *Bundle {
	b := f.spare.Swap(nil)
	if b == nil {
		b = f.anotherBundle()
	}
	b.reset(f, task)
	return b
}

// anotherBundle serves a call while another one is under way.
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
	if f.spare.CompareAndSwap(nil, b) {
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
	b := f.spareWrite.Swap(nil)
	if b == nil {
		b = newBundle(nil)
	}
	b.reset(f, task)
	return b
}

// putWriteBundle takes it back.
func (f *File) putWriteBundle(b *Bundle) {
	b.forget()
	f.spareWrite.Store(b)
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

func (o *owner) HasContext() bool { return o.ucontext.Load() != nil }

func (o *owner) DeviceGone() bool { return o.Device.ibDev.Load() == nil }

func (o *owner) Get(t *trace.Task) {
	t.Before(trace.Ref, "ib_uverbs_file")
	o.ref.Add(1)
}

// Put drops a reference on the file and releases it with the last.
func (o *owner) Put(task *process.Task) {
	task.Trace.Before(trace.Ref, "ib_uverbs_file")
	if o.ref.Add(-1) == 0 {
		o.file().release(task)
	}
}

func (o *owner) GetAttrs(task *process.Task) uobject.Attrs { return o.file().getBundle(task) }

func (o *owner) PutAttrs(attrs uobject.Attrs) { o.file().putBundle(attrs.(*Bundle)) }

// DestroyContext ends the context. It models ufile_destroy_ucontext in
// rdma_core.c.
func (o *owner) DestroyContext(task *process.Task, why uobject.RemoveReason) {
	defer task.Trace.EnterInlined(trace.Uverbs, "ufile_destroy_ucontext").Leave()
	c := o.ucontext.Load()
	ops := &c.Device.Ops
	if why == uobject.RemoveDriverRemove {
		o.Umaps.Disassociate(task)
		if ops.DisassociateUcontext != nil {
			ops.DisassociateUcontext(task, c)
		}
	}
	c.UnchargeHandle(task)
	ops.DeallocUcontext(task, c)
	o.ucontext.Store(nil)
}

// release models ib_uverbs_release_file.
func (f *File) release(task *process.Task) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_release_file").Leave()
	f.Objects.Release(t)
	f.Device.put()
	if a := f.defaultAsync.Load(); a != nil {
		a.Object.Put(t)
	}
}
