package methods

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// How write() commands get at objects: include/rdma/uverbs_std_types.h. An
// ioctl's parser does this by the method's declaration; a command does it by
// itself, in whatever order it was written, and its handles have 32 bits.

// uobjAlloc begins an object, of the device that it returns. It models
// uobj_alloc.
func uobjAlloc(b *kernel.Bundle, object uint16) (*uobject.Object, *core.Device, error) {
	o, err := uobject.AllocBegin(b.APIObject(object), b)
	if err != nil {
		return nil, nil, err
	}
	return o, b.Ucontext().Device, nil
}

// uobjAllocAbort gives a begun object up that has no hardware object. It
// models uobj_alloc_abort.
func uobjAllocAbort(o *uobject.Object, b *kernel.Bundle) { uobject.AllocAbort(o, false, b) }

// uobjFinalizeUobjCreate hands a made object to whoever runs the command: it
// is committed if the command succeeds, else destroyed. It models
// uobj_finalize_uobj_create.
func uobjFinalizeUobjCreate(o *uobject.Object, b *kernel.Bundle) {
	if b.UObject != nil {
		b.Trace().Warn("uobj_finalize_uobj_create")
	}
	b.UObject = o
}

// uobjGetRead looks an object up for use. It models uobj_get_read.
func uobjGetRead(b *kernel.Bundle, object uint16, handle uint32) (*uobject.Object, error) {
	return uobject.LookupGet(b.APIObject(object), int64(handle), uobject.LookupRead, b)
}

// uobjGetObjRead is uobjGetRead that also returns the object behind the
// handle. It models uobj_get_obj_read.
func uobjGetObjRead[T any](b *kernel.Bundle, object uint16, handle uint32) (T, *uobject.Object, error) {
	o, err := uobjGetRead(b, object, handle)
	if err != nil {
		var none T
		return none, nil, err
	}
	hw, _ := o.HW.(T)
	return hw, o, nil
}

// uobjGetWrite looks an object up for exclusive use. It models uobj_get_write.
func uobjGetWrite(b *kernel.Bundle, object uint16, handle uint32) (*uobject.Object, error) {
	return uobject.LookupGet(b.APIObject(object), int64(handle), uobject.LookupWrite, b)
}

// uobjPutRead lets an object go that uobjGetRead gave; nil is none. It models
// uobj_put_read.
func uobjPutRead(o *uobject.Object, b *kernel.Bundle) {
	if o != nil {
		uobject.LookupPut(o, uobject.LookupRead, b)
	}
}

// uobjPutWrite models uobj_put_write.
func uobjPutWrite(o *uobject.Object, b *kernel.Bundle) {
	uobject.LookupPut(o, uobject.LookupWrite, b)
}

// uobjGetDestroy destroys an object and keeps a hold on what is left of it. It
// models uobj_get_destroy.
func uobjGetDestroy(b *kernel.Bundle, object uint16, handle uint32) (*uobject.Object, error) {
	return uobject.GetDestroy(b.APIObject(object), int64(handle), b)
}

// uobjPutDestroy models uobj_put_destroy.
func uobjPutDestroy(o *uobject.Object, b *kernel.Bundle) {
	uobject.LookupPut(o, uobject.LookupDestroy, b)
}

// uobjPerformDestroy destroys an object. It models uobj_perform_destroy.
func uobjPerformDestroy(b *kernel.Bundle, object uint16, handle uint32) error {
	return uobject.PerformDestroy(b.APIObject(object), int64(handle), b)
}

// getClearedUdata takes the user's arguments out of the driver's part of the
// request, for a destroy on the way back from a failure: the driver is to see
// no request. It models uverbs_get_cleared_udata in
// drivers/infiniband/core/uverbs_cmd.c.
func getClearedUdata(b *kernel.Bundle) *core.Udata {
	defer b.Trace().EnterInlined(trace.Uverbs, "uverbs_get_cleared_udata").Leave()
	b.DriverUdata = core.Udata{Attrs: b}
	return &b.DriverUdata
}

// lookupCompFile finds a completion channel by its descriptor and takes a
// reference on its object; the descriptor itself is let go. It models
// _ib_uverbs_lookup_comp_file in drivers/infiniband/core/uverbs_cmd.c.
func lookupCompFile(b *kernel.Bundle, fd int32) (*kernel.CompletionEventFile, error) {
	t := b.Trace()
	defer t.EnterInlined(trace.Uverbs, "_ib_uverbs_lookup_comp_file").Leave()
	o, err := uobject.LookupGet(b.APIObject(spec.UVERBS_OBJECT_COMP_CHANNEL), int64(fd), uobject.LookupRead, b)
	if err != nil {
		return nil, err
	}
	o.Get(t)
	uobjPutRead(o, b)
	return o.Ext.(*kernel.CompletionEventFile), nil
}

// defaultAsyncEvent returns the file's first async event file with a
// reference, nil if it has none: where the events of an object that a command
// makes go.
func defaultAsyncEvent(b *kernel.Bundle) *kernel.AsyncEventFile {
	a := b.File().DefaultAsync(b.Trace())
	if a != nil {
		a.Object.Get(b.Trace())
	}
	return a
}
