package methods

import (
	"syscall"

	"uverbsim/kernel"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// objectAsyncEvent is UVERBS_OBJECT_ASYNC_EVENT
// (drivers/infiniband/core/uverbs_std_types_async_fd.c).
var objectAsyncEvent = object{
	id: spec.UVERBS_OBJECT_ASYNC_EVENT,
	typ: &uobject.TypeAttrs{
		New: func() any { return new(kernel.AsyncEventFile) },
		DestroyFD: func(o *uobject.Object, why uobject.RemoveReason, attrs uobject.Attrs) {
			o.Ext.(*kernel.AsyncEventFile).Destroy(o, why, attrs)
		},
		FileOps: &kernel.AsyncEventFops,
		FDFlags: syscall.O_RDONLY,
	},
	methods: map[uint16]kernel.Handler{
		spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC: asyncEventAlloc,
	},
}

// asyncEventAlloc makes an async event descriptor. It is the handler of
// UVERBS_METHOD_ASYNC_EVENT_ALLOC.
func asyncEventAlloc(b *kernel.Bundle) error {
	o := mustObject(b, spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)
	o.Ext.(*kernel.AsyncEventFile).Init(b, o)
	return nil
}
