package uobject

import (
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// idrClass is uverbs_idr_class: objects that the user knows by a handle.
type idrClass struct{}

// lookupIDR models lookup_get_idr_uobject. The caller holds a reference on
// what it gets.
func lookupIDR(f *File, attrs Attrs, id int64) (*Object, error) {
	t := attrs.Task().Trace
	if t != nil {
		defer t.Enter(trace.Uverbs, "lookup_get_idr_uobject").Leave()
	}
	if id < 0 {
		return nil, rule.ObjectNegativeHandle
	}
	if t != nil {
		defer t.Enter(trace.Uverbs, "lookup_get_idr_uobject.part.0").Leave()
	}
	o := f.handles.load(t, uint64(id))
	if o == nil || !o.getUnlessZero(t) {
		return nil, rule.ObjectNotFound
	}
	return o, nil
}

func (idrClass) lookupGet(_ *Type, attrs Attrs, f *File, id int64, _ LookupMode) (*Object, error) {
	return lookupIDR(f, attrs, id)
}

// lookupPut models lookup_put_idr_uobject.
func (idrClass) lookupPut(_ *Object, attrs Attrs, _ LookupMode) {
	attrs.Task().Trace.Enter(trace.Uverbs, "lookup_put_idr_uobject").Leave()
}

// allocBegin models alloc_begin_idr_uobject.
func (idrClass) allocBegin(typ *Type, attrs Attrs) (*Object, error) {
	task := attrs.Task()
	t := task.Trace
	defer t.Enter(trace.Uverbs, "alloc_begin_idr_uobject").Leave()
	o, err := alloc(typ, attrs)
	if err != nil {
		return nil, err
	}
	if t.Fail(trace.ID, typ.Name) {
		o.put(t)
		return nil, rule.ObjectNoMemory
	}
	o.id.Store(int64(o.file.handles.alloc(t)))
	t.Note(trace.Handle, typ.Name, uint64(o.ID()), 1, 0)
	if o.charge, err = o.context.TryCharge(task); err != nil {
		o.eraseHandle(t)
		o.put(t)
		return nil, err
	}
	return o, nil
}

// eraseHandle frees the object's number.
func (o *Object) eraseHandle(t *trace.Task) {
	o.file.handles.erase(t, uint64(o.ID()))
	t.Note(trace.Handle, o.typ.Name, uint64(o.ID()), 0, 0)
}

// uncharge gives the object's charge back.
func (o *Object) uncharge(attrs Attrs) {
	o.context.Uncharge(attrs.Task(), o.charge)
	o.charge = process.Charge{}
}

// allocCommit models alloc_commit_idr_uobject: the table takes over the
// caller's reference.
func (idrClass) allocCommit(o *Object, attrs Attrs) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "alloc_commit_idr_uobject").Leave()
	if o.file.handles.store(t, uint64(o.ID()), o) != nil {
		t.Warn("alloc_commit_idr_uobject")
	}
}

// allocAbort models alloc_abort_idr_uobject.
func (idrClass) allocAbort(o *Object, attrs Attrs) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "alloc_abort_idr_uobject").Leave()
	o.uncharge(attrs)
	o.eraseHandle(t)
}

// destroyHW models destroy_hw_idr_uobject.
func (idrClass) destroyHW(o *Object, why RemoveReason, attrs Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "destroy_hw_idr_uobject").Leave()
	if err := o.typ.declaration(t).Destroy(o, why, attrs); err != nil {
		return err
	}
	if why != RemoveAbort {
		o.uncharge(attrs)
	}
	return nil
}

// removeHandle models remove_handle_idr_uobject: the table's reference goes
// with the handle.
func (idrClass) removeHandle(o *Object, attrs Attrs) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "remove_handle_idr_uobject").Leave()
	o.eraseHandle(t)
	o.put(t)
}

// swapObjects models swap_idr_uobjects: fresh takes the number of old, which
// is then no longer visible under any.
func (idrClass) swapObjects(old, fresh *Object, attrs Attrs) bool {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "swap_idr_uobjects").Leave()
	h := &old.file.handles
	if h.store(t, uint64(old.ID()), nil) != old {
		t.Warn("swap_idr_uobjects")
		return true
	}
	fresh.id.Store(old.id.Swap(fresh.ID()))
	h.store(t, uint64(old.ID()), old)
	return true
}
