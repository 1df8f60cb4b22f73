package uobject

import (
	"iter"
	"sync/atomic"

	"uverbsim/process"
	"uverbsim/trace"
)

// Owner is what rdma_core.c needs of the rest of a struct ib_uverbs_file.
type Owner interface {
	// ObjectContext is ib_uverbs_get_ucontext_file.
	ObjectContext(task *process.Task) (Context, error)
	// HasContext says whether a context exists, whatever became of the device.
	HasContext(t *trace.Task) bool
	// DestroyContext is what ufile_destroy_ucontext does to the context.
	DestroyContext(task *process.Task, why RemoveReason)
	// DeviceGone says that the device was removed (ib_dev is NULL).
	DeviceGone(t *trace.Task) bool
	// Get and Put count the references on the file; the last Put releases it.
	Get(t *trace.Task)
	Put(task *process.Task)
	// GetAttrs lends an empty bundle for a destroy outside of any method.
	GetAttrs(task *process.Task) Attrs
	PutAttrs(Attrs)
}

// File is the part of a struct ib_uverbs_file that holds its objects.
type File struct {
	// HWDestroyRwsem is held shared while an object is made or destroyed, and
	// exclusively while all of them are destroyed.
	HWDestroyRwsem trace.RWSem

	owner   Owner
	handles handles

	uobjectsLock trace.Mutex
	uobjects     Object // head of the ring of committed objects, newest first
	listed       int

	alive     atomic.Int64 // objects that somebody has a reference on
	abandoned atomic.Bool

	// spares has, for each object key, one object that was aborted before
	// anyone else could see it, to be used again.
	spares [32]atomic.Pointer[Object]
}

// Init makes the file ready for use. It models setup_ufile_idr_uobject and
// what ib_uverbs_open sets up for the objects.
func (f *File) Init(t *trace.Task, owner Owner) {
	defer t.Enter(trace.Uverbs, "setup_ufile_idr_uobject").Leave()
	f.owner = owner
	f.HWDestroyRwsem.Name = "hw_destroy_rwsem"
	f.uobjectsLock.Name = "uobjects_lock"
	f.handles.mu.Name = "xa_lock"
	f.uobjects.prev, f.uobjects.next = &f.uobjects, &f.uobjects
}

// list puts the object at the head of the list.
func (f *File) list(t *trace.Task, o *Object) {
	o.listed = true
	f.uobjectsLock.Lock(t)
	head := &f.uobjects
	o.prev, o.next = head, head.next
	o.next.prev, head.next = o, o
	f.listed++
	f.uobjectsLock.Unlock(t)
}

// unlist takes the object off the list and says whether it was on it.
func (f *File) unlist(t *trace.Task, o *Object) bool {
	if !o.listed {
		return false
	}
	o.listed = false
	f.uobjectsLock.Lock(t)
	o.prev.next, o.next.prev = o.next, o.prev
	o.prev, o.next = nil, nil
	f.listed--
	f.uobjectsLock.Unlock(t)
	return true
}

// Objects walks the committed objects, the newest first, holding
// uobjects_lock: what it yields to must not make or destroy objects.
func (f *File) Objects(t *trace.Task) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		f.uobjectsLock.Lock(t)
		defer f.uobjectsLock.Unlock(t)
		for o := f.uobjects.next; o != &f.uobjects; o = o.next {
			if !yield(o) {
				return
			}
		}
	}
}

// Counts returns how many objects are committed and how many handles are taken.
func (f *File) Counts() (objects, handles int) {
	f.uobjectsLock.Lock(nil)
	defer f.uobjectsLock.Unlock(nil)
	f.handles.mu.Lock(nil)
	defer f.handles.mu.Unlock(nil)
	return f.listed, f.handles.live
}

// Alive returns how many objects there are that somebody has a reference on: those
// that are committed, those in the making, and those that are destroyed but held; not
// those that are lost for ever (Object.Lose).
func (f *File) Alive() int { return int(f.alive.Load()) }

// Abandoned says whether there was an object that could not be destroyed when the file
// was closed or the device went. What it holds stays held.
func (f *File) Abandoned() bool { return f.abandoned.Load() }

// Held returns the names of the locks that somebody holds.
func (f *File) Held() []string {
	return trace.Held(&f.HWDestroyRwsem, &f.uobjectsLock, &f.handles.mu)
}

// Owner returns the rest of the open file.
func (f *File) Owner() Owner { return f.owner }

// spare returns an object of that type that was aborted earlier, or nil.
func (f *File) spare(typ *Type) *Object {
	o := f.spares[typ.Slot].Swap(nil)
	if o == nil || o.typ != typ {
		return nil
	}
	return o
}

// free takes back an object whose last reference is gone. One that was never
// visible can serve again.
func (f *File) free(o *Object) {
	f.alive.Add(-1)
	if o.used {
		return
	}
	if o.Ext != nil {
		ext, ok := o.Ext.(interface{ Reset() })
		if !ok {
			return
		}
		ext.Reset()
	}
	o.UserHandle.Store(0)
	o.HW, o.filp, o.context, o.charge = nil, nil, nil, process.Charge{}
	o.id.Store(0)
	f.spares[o.typ.Slot].Store(o)
}
