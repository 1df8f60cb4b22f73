package rule

import "syscall"

const (
	stdDevice = "drivers/infiniband/core/uverbs_std_types_device.c"
	uverbsCmd = "drivers/infiniband/core/uverbs_cmd.c"
)

// The refusals of uverbs_std_types_device.c, and those of the making of a
// context in uverbs_cmd.c.
var (
	UcontextDeviceGone = add(Rule{"ucontext/device-gone", syscall.EIO, "ib_alloc_ucontext", uverbsCmd,
		"The device was removed.",
		"Close the file and open another device."})
	UcontextNoMemory = add(Rule{"ucontext/no-memory", syscall.ENOMEM, "ib_alloc_ucontext", uverbsCmd,
		"There was no memory for the context.",
		"Free memory and call again."})
	UcontextFileDestroyed = add(Rule{"ucontext/file-destroyed", syscall.EIO, "ib_init_ucontext", uverbsCmd,
		"The file's objects are being destroyed, by a close or by the removal of the device.",
		"Make a context only while the device is there and the file is open."})
	UcontextTwice = add(Rule{"ucontext/twice", syscall.EINVAL, "ib_init_ucontext", uverbsCmd,
		"The file has its context already.",
		"Call GET_CONTEXT once for each open of the device."})

	QueryContextUnsupported = add(Rule{"query-context/unsupported", syscall.EOPNOTSUPP, "ib_uverbs_handler_UVERBS_METHOD_QUERY_CONTEXT", stdDevice,
		"The driver has no query_ucontext operation.",
		"Use a device whose driver lets a context be imported."})
	InvokeWriteCoreSize = add(Rule{"invoke-write/core-size", syscall.ENOSPC, "ib_uverbs_handler_UVERBS_METHOD_INVOKE_WRITE", stdDevice,
		"CORE_IN is shorter than the command's request or CORE_OUT than its response.",
		"Send CORE_IN and CORE_OUT of at least the sizes of the command's structs."})
	InfoHandlesList = add(Rule{"info-handles/list", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_INFO_HANDLES", stdDevice,
		"The INFO_HANDLES_LIST is missing or its length is no multiple of 4.",
		"Send a list with room for one or more handles of 4 bytes each."})
	InfoHandlesAnyObject = add(Rule{"info-handles/any-object", syscall.ENOMSG, "uapi_get_object", "drivers/infiniband/core/rdma_core.h",
		"Object id 0xffff stands for objects of any type and has no list.",
		"Ask for one type of object at a time."})
	InfoHandlesUnknownObject = add(Rule{"info-handles/unknown-object", syscall.ENOENT, "uapi_get_object", "drivers/infiniband/core/rdma_core.h",
		"The device has no objects of that type.",
		"Ask for a type that this device has."})
	QueryPortUnsupported = add(Rule{"query-port/unsupported", syscall.EOPNOTSUPP, "ib_uverbs_handler_UVERBS_METHOD_QUERY_PORT", stdDevice,
		"The driver has no query_port operation.",
		"Use a device that has ports."})
	QueryGIDTableEntrySize = add(Rule{"query-gid-table/entry-size", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_QUERY_GID_TABLE", stdDevice,
		"The size of an entry is 0.",
		"Set ENTRY_SIZE to the size of struct ib_uverbs_gid_entry."})
	QueryGIDTableEmpty = add(Rule{"query-gid-table/empty", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_QUERY_GID_TABLE", stdDevice,
		"There is no room for a single entry.",
		"Send RESP_ENTRIES with room for one or more entries."})
	QueryGIDTableEntryFault = add(Rule{"query-gid-table/entry-fault", syscall.EFAULT, "copy_gid_entries_to_user", stdDevice,
		"An entry cannot be written to the user.",
		"Pass the address of writable memory."})
	QueryGIDEntryPort = add(Rule{"query-gid-entry/port", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_QUERY_GID_ENTRY", stdDevice,
		"The device has no port of that number.",
		"Pass a port from 1 to the device's phys_port_cnt."})
)
