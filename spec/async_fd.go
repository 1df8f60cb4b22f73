package spec

import "syscall"

// objectAsyncEvent declares UVERBS_OBJECT_ASYNC_EVENT as
// drivers/infiniband/core/uverbs_std_types_async_fd.c does.
var objectAsyncEvent = Object{
	ID:    UVERBS_OBJECT_ASYNC_EVENT,
	Class: ClassFD, FDName: "[infinibandevent]", FDFlags: syscall.O_RDONLY,
	Methods: []Method{
		{ID: UVERBS_METHOD_ASYNC_EVENT_ALLOC, Attrs: Attrs(
			FDAttr(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, UVERBS_OBJECT_ASYNC_EVENT, AccessNew, Mandatory))},
	},
}
