package uobject

import (
	"uverbsim/trace"
)

// destroy destroys the hardware object and takes the object out of the file.
// The caller holds the object exclusively and the file's hw_destroy_rwsem.
// After RemoveDestroy the object stays locked for ever, so that nobody who
// still sees it can use it; after an error it is as it was. It models
// uverbs_destroy_uobject.
func destroy(o *Object, why RemoveReason, attrs Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "uverbs_destroy_uobject").Leave()
	if why == RemoveAbort {
		o.typ.class.allocAbort(o, attrs)
	} else if o.HW != nil {
		if err := o.typ.class.destroyHW(o, why, attrs); err != nil {
			return err
		}
		o.HW = nil
	}
	o.context = nil

	if why == RemoveDestroy {
		o.typ.class.removeHandle(o, attrs)
	} else {
		o.setFree(t)
	}

	if o.file.unlist(t, o) {
		o.put(t)
	}
	if why == RemoveAbort {
		o.put(t)
	}
	return nil
}

// Destroy destroys an object that was looked up with LookupDestroy. The caller
// puts it afterwards with LookupDestroy, whatever the outcome. It models
// uobj_destroy.
//
// Errors: object/busy-write, and those of the type.
func Destroy(o *Object, attrs Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "uobj_destroy").Leave()
	f := o.file
	f.HWDestroyRwsem.DownRead(t)
	defer f.HWDestroyRwsem.UpRead(t)
	if err := o.tryLock(t, LookupWrite); err != nil {
		return err
	}
	attrs.SetObjectContext(o.context)
	if err := destroy(o, RemoveDestroy, attrs); err != nil {
		o.setFree(t)
		return err
	}
	return nil
}

// GetDestroy looks an object up and destroys it. The caller puts it with
// LookupDestroy. It models __uobj_get_destroy.
func GetDestroy(typ *Type, id int64, attrs Attrs) (*Object, error) {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "__uobj_get_destroy").Leave()
	o, err := LookupGet(typ, id, LookupDestroy, attrs)
	if err != nil {
		return nil, err
	}
	if err := Destroy(o, attrs); err != nil {
		LookupPut(o, LookupDestroy, attrs)
		return nil, err
	}
	return o, nil
}

// PerformDestroy looks an object up, destroys it and lets it go. It models
// __uobj_perform_destroy.
func PerformDestroy(typ *Type, id int64, attrs Attrs) error {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "__uobj_perform_destroy").Leave()
	o, err := GetDestroy(typ, id, attrs)
	if err != nil {
		return err
	}
	LookupPut(o, LookupDestroy, attrs)
	return nil
}
