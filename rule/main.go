package rule

import "syscall"

const uverbsMain = "drivers/infiniband/core/uverbs_main.c"

// The refusals of uverbs_main.c.
var (
	OpenNoNode = add(Rule{"open/no-node", syscall.ENOENT, "do_sys_openat2", "fs/open.c",
		"There is no device node of that name.",
		"Open /dev/infiniband/uverbsN of a device that is registered."})
	OpenNoDevice = add(Rule{"open/no-device", syscall.ENXIO, "ib_uverbs_open", uverbsMain,
		"The device behind the node is on its way out.",
		"Open another device."})
	OpenDeviceGone = add(Rule{"open/device-gone", syscall.EIO, "ib_uverbs_open", uverbsMain,
		"The device was removed.",
		"Open another device."})
	OpenNetNS = add(Rule{"open/net-namespace", syscall.EPERM, "ib_uverbs_open", uverbsMain,
		"Devices are exclusive to a network namespace, and the process is in another one than the device.",
		"Open the device from its own namespace, or let namespaces share the devices (netns_mode=1 of ib_core)."})
	OpenNoMemory = add(Rule{"open/no-memory", syscall.ENOMEM, "ib_uverbs_open", uverbsMain,
		"There was no memory for the open file.",
		"Free memory and open again."})
	ContextDeviceGone = add(Rule{"context/device-gone", syscall.EIO, "ib_uverbs_get_ucontext_file", uverbsMain,
		"The device was removed.",
		"Destroy what is left and close the file."})
	ContextNone = add(Rule{"context/none", syscall.EINVAL, "ib_uverbs_get_ucontext_file", uverbsMain,
		"The file has no context yet.",
		"Call GET_CONTEXT first."})

	WriteAccess = add(Rule{"write/access", syscall.EACCES, "ib_uverbs_write", uverbsMain,
		"The caller's credentials are not those that the file was opened with, or it runs on kernel memory.",
		"Use ioctl(), or write from the process that opened the file and never changed its credentials."})
	WriteTooShort = add(Rule{"write/too-short", syscall.EINVAL, "ib_uverbs_write", uverbsMain,
		"The write is shorter than the 8 bytes of a command header.",
		"Write the whole command at once."})
	WriteHeaderFault = add(Rule{"write/header-fault", syscall.EFAULT, "ib_uverbs_write", uverbsMain,
		"The command header cannot be read.",
		"Pass the address of readable memory."})
	WriteCommandFlags = add(Rule{"write/command-flags", syscall.EINVAL, "uapi_get_method", "drivers/infiniband/core/rdma_core.h",
		"The command word has bits besides the number and the extended flag.",
		"Put the number into the low 8 bits and set bit 31 for an extended command."})
	WriteCommandRange = add(Rule{"write/command-range", syscall.EOPNOTSUPP, "uapi_get_method", "drivers/infiniband/core/rdma_core.h",
		"The command's number is beyond the last one that the device has.",
		"Use a command that this device can do."})
	WriteNotSupported = add(Rule{"write/not-supported", syscall.EOPNOTSUPP, "ib_uverbs_notsupp", "drivers/infiniband/core/uverbs_uapi.c",
		"The device lacks the operation behind this command.",
		"Use a command that this device can do."})
	WriteExTooShort = add(Rule{"write/ex-too-short", syscall.EINVAL, "ib_uverbs_write", uverbsMain,
		"The write is shorter than the 24 bytes of an extended command's two headers.",
		"Write the whole command at once."})
	WriteExHeaderFault = add(Rule{"write/ex-header-fault", syscall.EFAULT, "ib_uverbs_write", uverbsMain,
		"The extended command header cannot be read.",
		"Pass the address of readable memory."})
	WriteExWords = add(Rule{"write/ex-words", syscall.EINVAL, "verify_hdr", uverbsMain,
		"The fields in_words and provider_in_words, in units of 8 bytes, are not the length of the write without its headers.",
		"Set them to the sizes of the core's and the driver's part."})
	WriteExReserved = add(Rule{"write/ex-reserved", syscall.EINVAL, "verify_hdr", uverbsMain,
		"The field cmd_hdr_reserved is not zero.",
		"Clear the header before filling it in."})
	WriteExNoOutWords = add(Rule{"write/ex-no-out-words", syscall.EINVAL, "verify_hdr", uverbsMain,
		"There is a response address but both lengths of the response are 0.",
		"Set out_words, or leave the address out."})
	WriteExNoResponse = add(Rule{"write/ex-no-response", syscall.EINVAL, "verify_hdr", uverbsMain,
		"A response has a length but no address.",
		"Set the response address, or both lengths to 0."})
	WriteExResponseFault = add(Rule{"write/ex-response-fault", syscall.EFAULT, "verify_hdr", uverbsMain,
		"The response does not lie in the user's half of the address space.",
		"Pass the address of a buffer of the process."})
	WriteWords = add(Rule{"write/words", syscall.EINVAL, "verify_hdr", uverbsMain,
		"The field in_words, in units of 4 bytes, is not the length of the write.",
		"Set in_words to the length of the write with its header, divided by 4."})
	WriteRequestShort = add(Rule{"write/request-short", syscall.ENOSPC, "verify_hdr", uverbsMain,
		"The request is shorter than the command's struct.",
		"Write the header and the whole struct."})
	WriteResponseShort = add(Rule{"write/response-short", syscall.ENOSPC, "verify_hdr", uverbsMain,
		"Out_words says that the response buffer is smaller than the command's response.",
		"Pass a buffer of at least the response's size."})
	WriteResponseFault = add(Rule{"write/response-fault", syscall.EFAULT, "ib_uverbs_write", uverbsMain,
		"The response address at the start of the request cannot be read.",
		"Pass the address of readable memory."})

	EventClosed = add(Rule{"event/closed", syscall.EIO, "ib_uverbs_event_read", uverbsMain,
		"The queue is empty and no event will ever come, since the file or the device behind it is gone.",
		"Close the descriptor."})
	EventAgain = add(Rule{"event/again", syscall.EAGAIN, "ib_uverbs_event_read", uverbsMain,
		"No event has come and the descriptor is non-blocking.",
		"Poll for POLLIN first, or read blocking."})
	EventShort = add(Rule{"event/short", syscall.EINVAL, "ib_uverbs_event_read", uverbsMain,
		"The buffer is smaller than one event, which stays in the queue.",
		"Read at least 8 bytes from a completion channel, 16 from an async event file."})
	EventFault = add(Rule{"event/fault", syscall.EFAULT, "ib_uverbs_event_read", uverbsMain,
		"The buffer cannot be written; the event is lost but counted as reported.",
		"Pass the address of writable memory."})
)
