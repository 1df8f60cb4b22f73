package rule

import "syscall"

const rdmaCore = "drivers/infiniband/core/rdma_core.c"

// The refusals of rdma_core.c.
var (
	ObjectUnknownType = add(Rule{"object/unknown-type", syscall.EINVAL, "rdma_lookup_get_uobject", rdmaCore,
		"The attribute names an object of a type that this device does not have.",
		"Leave the optional attribute out, or use a device that has this type of object."})
	ObjectNegativeHandle = add(Rule{"object/negative-handle", syscall.EINVAL, "lookup_get_idr_uobject", rdmaCore,
		"The handle is negative when read as a signed 64-bit number.",
		"Pass the handle that the kernel wrote back, zero-extended to 64 bits."})
	ObjectNotFound = add(Rule{"object/not-found", syscall.ENOENT, "lookup_get_idr_uobject", rdmaCore,
		"No live object of this open file has that handle.",
		"Pass a handle that this file descriptor's own calls returned and that was not destroyed since."})
	ObjectWrongType = add(Rule{"object/wrong-type", syscall.EINVAL, "rdma_lookup_get_uobject", rdmaCore,
		"The handle names an object of another type.",
		"Pass a handle of the type that the attribute asks for."})
	ObjectDeviceGone = add(Rule{"object/device-gone", syscall.EIO, "rdma_lookup_get_uobject", rdmaCore,
		"The device was removed, and then only a destroy may use an object.",
		"Destroy what is left and close the file."})
	ObjectBusyRead = add(Rule{"object/busy-read", syscall.EBUSY, "uverbs_try_lock_object", rdmaCore,
		"Another call holds the object exclusively.",
		"Wait until the modify or destroy of this object has returned."})
	ObjectBusyWrite = add(Rule{"object/busy-write", syscall.EBUSY, "uverbs_try_lock_object", rdmaCore,
		"Another call holds the object, and this one needs it exclusively.",
		"Wait until every other call that uses this object has returned."})
	ObjectFDRange = add(Rule{"object/fd-range", syscall.EINVAL, "lookup_get_fd_uobject", rdmaCore,
		"The descriptor does not fit into a C int.",
		"Pass the descriptor sign-extended to 64 bits."})
	ObjectFDMode = add(Rule{"object/fd-mode", syscall.EOPNOTSUPP, "lookup_get_fd_uobject", rdmaCore,
		"A descriptor object can only be looked up for reading.",
		"Declare the attribute with read access; a descriptor is destroyed by closing it."})
	ObjectFDGone = add(Rule{"object/fd-gone", syscall.EIO, "lookup_get_fd_uobject", rdmaCore,
		"The device was removed, and with it the type of this descriptor.",
		"Close the descriptor."})
	ObjectFDBad = add(Rule{"object/fd-bad", syscall.EBADF, "lookup_get_fd_uobject", rdmaCore,
		"The number is not an open descriptor of the process.",
		"Pass a descriptor that is open."})
	ObjectFDForeign = add(Rule{"object/fd-foreign", syscall.EBADF, "lookup_get_fd_uobject", rdmaCore,
		"The descriptor is of another kind, or was made through another open of the device.",
		"Pass a descriptor of this kind that was made through the same device descriptor."})
	ObjectFileDestroyed = add(Rule{"object/file-destroyed", syscall.EIO, "rdma_alloc_begin_uobject", rdmaCore,
		"The file's objects are being destroyed, by a close or by the removal of the device.",
		"Make objects only while the device is there and the file is open."})
	ObjectNoMemory = add(Rule{"object/no-memory", syscall.ENOMEM, "alloc_uobj", rdmaCore,
		"There was no memory for the object or its handle.",
		"Free memory and call again."})
)
