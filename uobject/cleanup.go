package uobject

import (
	"uverbsim/trace"
)

// DestroyAll destroys every object of the file, the newest first and as often
// as it takes for those that depend on others, then the context. It models
// uverbs_destroy_ufile_hw.
func (f *File) DestroyAll(why RemoveReason, attrs Attrs) {
	task := attrs.Task()
	t := task.Trace
	defer t.Enter(trace.Uverbs, "uverbs_destroy_ufile_hw").Leave()
	f.HWDestroyRwsem.DownWrite(t)
	defer f.HWDestroyRwsem.UpWrite(t)
	if !f.owner.HasContext(t) {
		return
	}
	for f.uobjects.next != &f.uobjects && f.cleanup(why, attrs) {
	}
	if f.uobjects.next != &f.uobjects {
		t.Warn("uverbs_destroy_ufile_hw")
		f.abandoned.Store(true)
		f.cleanup(RemoveDriverFailure, attrs)
	}
	f.owner.DestroyContext(task, why)
}

// cleanup goes once over the file's objects and says whether any could be
// destroyed. It models __uverbs_cleanup_ufile. With hw_destroy_rwsem held
// exclusively nobody else changes the list.
func (f *File) cleanup(why RemoveReason, attrs Attrs) (progress bool) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "__uverbs_cleanup_ufile").Leave()
	for o := f.uobjects.next; o != &f.uobjects; {
		next := o.next
		attrs.SetObjectContext(o.context)
		if o.tryLock(t, LookupWrite) != nil {
			t.Warn("__uverbs_cleanup_ufile")
		}
		if why == RemoveDriverFailure {
			o.HW = nil
		}
		if destroy(o, why, attrs) == nil {
			progress = true
		} else {
			o.setFree(t)
		}
		o = next
	}
	return progress
}

// Release drops what the handle table still holds once the file's last
// reference is gone. It models release_ufile_idr_uobject.
func (f *File) Release(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "release_ufile_idr_uobject").Leave()
	for _, o := range f.handles.all() {
		if o.HW != nil {
			t.Warn("release_ufile_idr_uobject")
		}
		t.Note(trace.Handle, o.typ.Name, uint64(o.ID()), 0, 0)
		o.put(t)
	}
	f.handles.root.Store(nil)
	f.handles.live = 0
}
