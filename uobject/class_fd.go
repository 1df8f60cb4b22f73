package uobject

import (
	"math"

	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// fdClass is uverbs_fd_class: objects that are file descriptors of the user.
type fdClass struct{}

// lookupGet models lookup_get_fd_uobject. The caller holds a reference on the
// object and one on its file.
func (fdClass) lookupGet(typ *Type, attrs Attrs, f *File, id int64, mode LookupMode) (*Object, error) {
	task := attrs.Task()
	t := task.Trace
	defer t.Enter(trace.Uverbs, "lookup_get_fd_uobject").Leave()
	if id < math.MinInt32 || id > math.MaxInt32 {
		return nil, rule.ObjectFDRange
	}
	if mode != LookupRead {
		return nil, rule.ObjectFDMode
	}
	ta := typ.declaration(t)
	if ta == nil {
		return nil, rule.ObjectFDGone
	}
	file := task.Fget(int(id))
	if file == nil {
		return nil, rule.ObjectFDBad
	}
	o, ok := file.Private.(*Object)
	if file.Ops != ta.FileOps || !ok || o.file != f {
		file.Put(task)
		return nil, rule.ObjectFDForeign
	}
	o.Get(t)
	return o, nil
}

// lookupPut models lookup_put_fd_uobject. Dropping the file may release it,
// and with it the object. The kernel finds the file in uobj->object, which is
// NULL there if the device went between the two halves of the lookup, and
// crashes.
func (fdClass) lookupPut(o *Object, attrs Attrs, mode LookupMode) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "lookup_put_fd_uobject").Leave()
	if mode != LookupRead {
		t.Warn("lookup_put_fd_uobject")
	}
	o.filp.Put(attrs.Task())
}

// allocBegin models alloc_begin_fd_uobject.
func (fdClass) allocBegin(typ *Type, attrs Attrs) (*Object, error) {
	task := attrs.Task()
	t := task.Trace
	defer t.Enter(trace.Uverbs, "alloc_begin_fd_uobject").Leave()
	o, err := alloc(typ, attrs)
	if err != nil {
		return nil, err
	}
	ta := typ.declaration(t)
	fd, err := task.GetUnusedFD(true)
	if err != nil {
		o.put(t)
		return nil, err
	}
	file, err := process.NewAnonFile(task, ta.FileOps, nil, ta.FDFlags)
	if err != nil {
		task.PutUnusedFD(fd)
		o.put(t)
		return nil, err
	}
	o.HW, o.filp = file, file
	o.id.Store(int64(fd))
	t.Note(trace.Handle, typ.Name, uint64(fd), 1, 0)
	return o, nil
}

// allocCommit models alloc_commit_fd_uobject: the installed file takes over
// the caller's reference on the object and holds the uverbs file.
func (fdClass) allocCommit(o *Object, attrs Attrs) {
	task := attrs.Task()
	defer task.Trace.Enter(trace.Uverbs, "alloc_commit_fd_uobject").Leave()
	o.file.owner.Get(task.Trace)
	fd := int(o.ID())
	o.id.Store(0)
	o.filp.Private = o
	task.FDInstall(fd, o.filp)
}

// allocAbort models alloc_abort_fd_uobject.
func (fdClass) allocAbort(o *Object, attrs Attrs) {
	task := attrs.Task()
	defer task.Trace.Enter(trace.Uverbs, "alloc_abort_fd_uobject").Leave()
	o.filp.Put(task)
	task.PutUnusedFD(int(o.ID()))
	task.Trace.Note(trace.Handle, o.typ.Name, uint64(o.ID()), 0, 0)
}

// destroyHW models destroy_hw_fd_uobject. A descriptor object cannot refuse.
func (fdClass) destroyHW(o *Object, why RemoveReason, attrs Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "destroy_hw_fd_uobject").Leave()
	o.typ.declaration(t).DestroyFD(o, why, attrs)
	return nil
}

// removeHandle models remove_handle_fd_uobject: the descriptor stays the
// user's.
func (fdClass) removeHandle(*Object, Attrs) {}

func (fdClass) swapObjects(_, _ *Object, _ Attrs) bool { return false }

// FDRelease models uverbs_uobject_fd_release: the release operation of every
// descriptor object's file.
func FDRelease(task *process.Task, file *process.File) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "uverbs_uobject_fd_release").Leave()
	o, ok := file.Private.(*Object)
	if !ok { // the file of an aborted object
		return
	}
	f := o.file
	if f.HWDestroyRwsem.TryDownRead(t) {
		attrs := f.owner.GetAttrs(task)
		attrs.SetObjectContext(o.context)
		if o.tryLock(t, LookupWrite) != nil {
			t.Warn("uverbs_uobject_fd_release")
		}
		destroy(o, RemoveClose, attrs)
		f.owner.PutAttrs(attrs)
		f.HWDestroyRwsem.UpRead(t)
	}
	f.owner.Put(task)
	o.put(t)
}
