package uobject

import (
	"uverbsim/rule"
	"uverbsim/trace"
)

// alloc makes an object, locked exclusively and not yet visible. It models
// alloc_uobj.
func alloc(typ *Type, attrs Attrs) (*Object, error) {
	task := attrs.Task()
	t := task.Trace
	defer t.Enter(trace.Uverbs, "alloc_uobj").Leave()
	f := attrs.ObjectFile()
	context := attrs.ObjectContext()
	if context == nil {
		var err error
		if context, err = f.owner.ObjectContext(task); err != nil {
			return nil, err
		}
		attrs.SetObjectContext(context)
	}
	if t.Fail(trace.Alloc, typ.Name) {
		return nil, rule.ObjectNoMemory
	}
	o := f.spare(typ)
	if o == nil {
		o = &Object{file: f, typ: typ}
		if ta := typ.declaration(t); ta != nil && ta.New != nil {
			o.Ext = ta.New()
		}
	}
	f.alive.Add(1)
	o.context = context
	o.usecnt.Store(-1)
	o.ref.Store(1)
	t.Note(trace.Ref, typ.Name, 0, 1, 0)
	return o, nil
}

// AllocBegin begins a new object: it has a number and is locked exclusively.
// The file's hw_destroy_rwsem is held shared until AllocCommit or AllocAbort.
// It models rdma_alloc_begin_uobject.
//
// Errors: object/unknown-type, object/file-destroyed, context/…, object/no-memory,
// and those of the charge or of the descriptor table.
func AllocBegin(typ *Type, attrs Attrs) (*Object, error) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "rdma_alloc_begin_uobject").Leave()
	if typ == nil {
		return nil, rule.ObjectUnknownType
	}
	f := attrs.ObjectFile()
	if !f.HWDestroyRwsem.TryDownRead(t) {
		return nil, rule.ObjectFileDestroyed
	}
	o, err := typ.class.allocBegin(typ, attrs)
	if err != nil {
		f.HWDestroyRwsem.UpRead(t)
		return nil, err
	}
	return o, nil
}

// AllocCommit makes a begun object visible and unlocks it. It models
// rdma_alloc_commit_uobject.
func AllocCommit(o *Object, attrs Attrs) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "rdma_alloc_commit_uobject").Leave()
	f := o.file
	o.used = true
	o.Get(t) // the list's
	f.list(t, o)
	o.setFree(t)
	o.typ.class.allocCommit(o, attrs)
	f.HWDestroyRwsem.UpRead(t)
}

// AllocAbort undoes a begun object; hwValid says that its hardware object
// exists. One that cannot be destroyed is committed instead, and lives until
// the file is closed. It models rdma_alloc_abort_uobject.
func AllocAbort(o *Object, hwValid bool, attrs Attrs) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "rdma_alloc_abort_uobject").Leave()
	f := o.file
	if hwValid {
		if err := o.typ.class.destroyHW(o, RemoveAbort, attrs); err != nil {
			t.Warn("rdma_alloc_abort_uobject")
			AllocCommit(o, attrs)
			return
		}
	}
	destroy(o, RemoveAbort, attrs)
	f.HWDestroyRwsem.UpRead(t)
}

// Assign gives fresh, begun and not yet committed, the handle of to, which the
// caller holds exclusively and which is destroyed. The caller then commits
// fresh and puts to with LookupDestroy. It models rdma_assign_uobject.
func Assign(to, fresh *Object, attrs Attrs) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "rdma_assign_uobject").Leave()
	if to.typ != fresh.typ || !to.typ.class.swapObjects(to, fresh, attrs) {
		t.Warn("rdma_assign_uobject")
		return
	}
	// One that cannot be destroyed stays valid under its new number until the
	// file is closed.
	destroy(to, RemoveDestroy, attrs) // as the kernel does
}
