package uobject

import (
	"sync/atomic"

	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Context is what an object needs of its struct ib_ucontext: the charge of one
// object to the RDMA control group of the caller.
type Context interface {
	TryCharge(task *process.Task) (process.Charge, error)
	Uncharge(task *process.Task, c process.Charge)
}

// Attrs is what rdma_core.c needs of a struct uverbs_attr_bundle.
type Attrs interface {
	Task() *process.Task       // the caller, "current" in the kernel
	ObjectContext() Context    // attrs->context, nil if not known yet
	SetObjectContext(Context)  // sets attrs->context
	ObjectFile() *File         // attrs->ufile
	APIObject(id uint16) *Type // uapi_get_object, without its UVERBS_IDR_ANY_OBJECT; nil if absent
}

// RemoveReason says why an object goes (enum rdma_remove_reason in
// include/rdma/ib_verbs.h).
type RemoveReason uint8

// The reasons of a removal.
const (
	RemoveDestroy       RemoveReason = iota // RDMA_REMOVE_DESTROY: the user asked
	RemoveClose                             // RDMA_REMOVE_CLOSE: the file was closed
	RemoveDriverRemove                      // RDMA_REMOVE_DRIVER_REMOVE: the device goes
	RemoveAbort                             // RDMA_REMOVE_ABORT: the creation failed
	RemoveDriverFailure                     // RDMA_REMOVE_DRIVER_FAILURE: the driver could not destroy it
)

var reasonNames = [...]string{"destroy", "close", "driver_remove", "abort", "driver_failure"}

func (r RemoveReason) String() string { return reasonNames[r] }

// Type is one object of a device's API (struct uverbs_api_object) together
// with what its declaration says of it (struct uverbs_obj_type).
type Type struct {
	ID    uint16 // object id, with the driver namespace bit
	Name  string
	Slot  uint8 // key of the object, 0 to 31
	class class

	attrs atomic.Pointer[TypeAttrs] // type_attrs; nil once the device is gone
}

// TypeAttrs is a struct uverbs_obj_type: how objects of a type are made and
// destroyed.
type TypeAttrs struct {
	// New makes what follows struct ib_uobject in the type's own struct
	// (obj_size); nil where nothing does.
	New func() any

	// Destroy destroys the hardware object (destroy_object of an idr type).
	// After an error the object is as it was.
	Destroy func(o *Object, why RemoveReason, attrs Attrs) error

	// DestroyFD tells a descriptor object that it is to go (destroy_object of
	// an fd type); FileOps and FDFlags are those of its file.
	DestroyFD func(o *Object, why RemoveReason, attrs Attrs)
	FileOps   *process.FileOps
	FDFlags   int
}

// NewType makes the API object of a declaration. attrs may be nil for an
// object that has methods but no instances.
func NewType(id uint16, name string, c spec.Class, attrs *TypeAttrs) *Type {
	t := &Type{ID: id, Name: name, Slot: uint8(spec.KeyObj(id) >> spec.ObjKeyShift)}
	switch c {
	case spec.ClassIDR:
		t.class = idrClass{}
	case spec.ClassFD:
		t.class = fdClass{}
	}
	t.attrs.Store(attrs)
	return t
}

// FD says whether objects of the type are descriptors.
func (t *Type) FD() bool {
	_, ok := t.class.(fdClass)
	return ok
}

// Disassociate forgets the type's declaration, which may be part of a driver
// that goes (uverbs_disassociate_api in uverbs_uapi.c).
func (t *Type) Disassociate(task *trace.Task) {
	task.Point(trace.Word, "store", "type_attrs", trace.Writes, &t.attrs)
	t.attrs.Store(nil)
}

// declaration returns type_attrs, nil once the device is gone.
func (t *Type) declaration(task *trace.Task) *TypeAttrs {
	task.Point(trace.Word, "load", "type_attrs", trace.Reads, &t.attrs)
	return t.attrs.Load()
}

// Object is a struct ib_uobject (include/rdma/ib_verbs.h).
type Object struct {
	// UserHandle is the number by which the user knows the object; events
	// carry it.
	UserHandle atomic.Uint64

	// HW is the object behind the handle: a *core.PD, *core.CQ, …; for a
	// descriptor object its *process.File. nil once it is destroyed. Whoever
	// reads or writes it has the object locked.
	HW any

	// Ext is the rest of the type's own struct, as TypeAttrs.New made it.
	Ext any

	file    *File
	context Context
	typ     *Type
	filp    *process.File // of a descriptor object, whatever becomes of HW
	id      atomic.Int64  // handle, or descriptor until the commit
	charge  process.Charge

	usecnt atomic.Int32 // -1 exclusive, 0 free, n readers
	ref    atomic.Int32

	prev, next *Object // in File.uobjects; under uobjects_lock, as neighbours change them
	listed     bool    // is in File.uobjects; whoever commits or destroys the object knows
	used       bool    // was committed once, so others may still hold it
	lost       atomic.Bool
}

// Lose says that a reference on the object is never dropped, where the kernel forgets
// to: nobody waits for the object to go any more.
func (o *Object) Lose() {
	if o.lost.CompareAndSwap(false, true) {
		o.file.alive.Add(-1)
	}
}

// ID returns the handle; for a descriptor object the descriptor until it is
// committed, then 0.
func (o *Object) ID() int64 { return o.id.Load() }

// Type returns the object's type.
func (o *Object) Type() *Type { return o.typ }

// File returns the open file that the object belongs to.
func (o *Object) File() *File { return o.file }

// Context returns the context that the object was made in; nil once it is
// destroyed.
func (o *Object) Context() Context { return o.context }

// Usecnt returns the use count: -1 locked exclusively, 0 free, n readers.
func (o *Object) Usecnt() int32 { return o.usecnt.Load() }

// Refs returns the number of references.
func (o *Object) Refs() int32 { return o.ref.Load() }

// Get takes a reference (uverbs_uobject_get).
func (o *Object) Get(t *trace.Task) {
	t.Before(trace.Ref, "get", o.typ.Name, trace.Nothing, &o.ref) // by who has one already
	o.ref.Add(1)
	t.Note(trace.Ref, o.typ.Name, uint64(o.ID()), 1, 0)
}

// getUnlessZero takes a reference unless the last one is gone.
func (o *Object) getUnlessZero(t *trace.Task) bool {
	t.Before(trace.Ref, "get_unless_zero", o.typ.Name, trace.Reads, &o.ref)
	for {
		n := o.ref.Load()
		if n == 0 {
			return false
		}
		if o.ref.CompareAndSwap(n, n+1) {
			t.Note(trace.Ref, o.typ.Name, uint64(o.ID()), 1, 0)
			return true
		}
	}
}

// Put drops a reference and frees the object with the last one. It models
// uverbs_uobject_put.
func (o *Object) Put(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "uverbs_uobject_put").Leave()
	o.put(t)
}

// put is Put for rdma_core.c itself, into which the compiler inlines it.
func (o *Object) put(t *trace.Task) {
	t.Before(trace.Ref, "put", o.typ.Name, trace.Drops, &o.ref)
	n := o.ref.Add(-1)
	t.Note(trace.Ref, o.typ.Name, uint64(o.ID()), ^uint64(0), 0)
	switch {
	case n == 0:
		t.Turned(trace.Writes)
		o.file.free(o)
	case n < 0:
		panic("uobject: an object was put once too often")
	}
}

// LookupMode says how a lookup locks (enum rdma_lookup_mode in
// include/rdma/uverbs_types.h).
type LookupMode uint8

// The lookup modes.
const (
	LookupRead    LookupMode = iota // shared
	LookupWrite                     // exclusive
	LookupDestroy                   // not at all: the destroy itself locks
)

// tryLock models uverbs_try_lock_object.
func (o *Object) tryLock(t *trace.Task, mode LookupMode) error {
	switch mode {
	case LookupRead:
		t.Before(trace.Usecnt, "try_lock_object, read", o.typ.Name, trace.Counts, &o.usecnt)
		for {
			n := o.usecnt.Load()
			if n == -1 {
				t.Turned(trace.Reads)
				return rule.ObjectBusyRead
			}
			if o.usecnt.CompareAndSwap(n, n+1) {
				t.Note(trace.Usecnt, o.typ.Name, uint64(o.ID()), uint64(n+1), 0)
				return nil
			}
		}
	case LookupWrite:
		t.Before(trace.Usecnt, "try_lock_object, write", o.typ.Name, trace.Writes, &o.usecnt)
		if !o.usecnt.CompareAndSwap(0, -1) {
			t.Turned(trace.Reads)
			return rule.ObjectBusyWrite
		}
		t.Note(trace.Usecnt, o.typ.Name, uint64(o.ID()), ^uint64(0), 0)
	}
	return nil
}

// unlock undoes tryLock.
func (o *Object) unlock(t *trace.Task, mode LookupMode) {
	switch mode {
	case LookupRead:
		t.Before(trace.Usecnt, "unlock, read", o.typ.Name, trace.Counts, &o.usecnt)
		n := o.usecnt.Add(-1)
		t.Note(trace.Usecnt, o.typ.Name, uint64(o.ID()), uint64(n), 0)
	case LookupWrite:
		o.setFree(t)
	}
}

// setFree sets the use count to 0, whatever it was.
func (o *Object) setFree(t *trace.Task) {
	t.Before(trace.Usecnt, "set 0", o.typ.Name, trace.Writes, &o.usecnt)
	o.usecnt.Store(0)
	t.Note(trace.Usecnt, o.typ.Name, uint64(o.ID()), 0, 0)
}
