package uobject

import (
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// LookupGet finds the object with that handle or descriptor in the caller's
// file, takes a reference and locks it. typ is nil for a type that the device
// lacks. It models rdma_lookup_get_uobject.
//
// Errors: object/unknown-type, object/negative-handle, object/not-found,
// object/wrong-type, object/device-gone, object/busy-read, object/busy-write,
// and object/fd-….
func LookupGet(typ *Type, id int64, mode LookupMode, attrs Attrs) (*Object, error) {
	t := attrs.Task().Trace
	if t != nil {
		defer t.Enter(trace.Uverbs, "rdma_lookup_get_uobject").Leave()
	}
	if typ == nil {
		return nil, rule.ObjectUnknownType
	}
	f := attrs.ObjectFile()
	o, err := typ.class.lookupGet(typ, attrs, f, id, mode)
	if err != nil {
		return nil, err
	}
	if o.typ != typ {
		o.putUnlocked(mode, attrs)
		return nil, rule.ObjectWrongType
	}
	return o.lock(mode, attrs)
}

// LookupGetAny is LookupGet for an attribute that takes an object of any type
// (UVERBS_IDR_ANY_OBJECT).
func LookupGetAny(id int64, mode LookupMode, attrs Attrs) (*Object, error) {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "rdma_lookup_get_uobject").Leave()
	o, err := lookupIDR(attrs.ObjectFile(), attrs, id)
	if err != nil {
		return nil, err
	}
	return o.lock(mode, attrs)
}

// lock is the second half of rdma_lookup_get_uobject: after a removal only a
// destroy may have the object; then the use count decides.
func (o *Object) lock(mode LookupMode, attrs Attrs) (*Object, error) {
	if mode != LookupDestroy && o.file.owner.DeviceGone(attrs.Task().Trace) {
		o.putUnlocked(mode, attrs)
		return nil, rule.ObjectDeviceGone
	}
	if err := o.tryLock(attrs.Task().Trace, mode); err != nil {
		o.putUnlocked(mode, attrs)
		return nil, err
	}
	if mode != LookupDestroy { // Destroy reads it when it has the object to itself
		attrs.SetObjectContext(o.context)
	}
	return o, nil
}

// putUnlocked gives back what a class's lookupGet gave.
func (o *Object) putUnlocked(mode LookupMode, attrs Attrs) {
	o.typ.class.lookupPut(o, attrs, mode)
	o.put(attrs.Task().Trace)
}

// LookupPut unlocks the object and drops the reference. It models
// rdma_lookup_put_uobject.
func LookupPut(o *Object, mode LookupMode, attrs Attrs) {
	t := attrs.Task().Trace
	if t != nil {
		defer t.Enter(trace.Uverbs, "rdma_lookup_put_uobject").Leave()
	}
	o.unlock(t, mode)
	o.putUnlocked(mode, attrs)
}

// FromFile gets the object that an attribute names, or begins a new one. It
// models uverbs_get_uobject_from_file.
func FromFile(object uint16, access spec.Access, id int64, attrs Attrs) (*Object, error) {
	if t := attrs.Task().Trace; t != nil {
		defer t.Enter(trace.Uverbs, "uverbs_get_uobject_from_file").Leave()
	}
	if access == spec.AccessNew {
		return AllocBegin(attrs.APIObject(object), attrs)
	}
	mode := accessModes[access]
	if object == spec.IDRAnyObject {
		return LookupGetAny(id, mode, attrs)
	}
	return LookupGet(attrs.APIObject(object), id, mode, attrs)
}

// accessModes has the lookup mode of each access that looks up. The destroy
// itself comes after the parsing.
var accessModes = [...]LookupMode{
	spec.AccessRead:    LookupRead,
	spec.AccessWrite:   LookupWrite,
	spec.AccessDestroy: LookupDestroy,
}

// Finalize ends the use of an object that FromFile gave: it unlocks one that
// was looked up, and commits or aborts a new one. hwValid says that a new
// one's hardware object exists and must be destroyed on abort. It models
// uverbs_finalize_object.
func Finalize(o *Object, access spec.Access, hwValid, commit bool, attrs Attrs) {
	if t := attrs.Task().Trace; t != nil {
		defer t.Enter(trace.Uverbs, "uverbs_finalize_object").Leave()
	}
	if access != spec.AccessNew {
		LookupPut(o, accessModes[access], attrs)
		return
	}
	if commit {
		AllocCommit(o, attrs)
		return
	}
	AllocAbort(o, hwValid, attrs)
}
