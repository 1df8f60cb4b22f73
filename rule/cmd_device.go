package rule

import "syscall"

// The refusals of the write() commands of devices and protection domains.
var (
	CmdDeviceExCompMask = add(Rule{"cmd-device/ex-comp-mask", syscall.EINVAL, "ib_uverbs_ex_query_device", uverbsCmd,
		"The member comp_mask is not zero.",
		"Set comp_mask to 0; the length of the response tells what the kernel knows."})
	CmdDeviceExReserved = add(Rule{"cmd-device/ex-reserved", syscall.EINVAL, "ib_uverbs_ex_query_device", uverbsCmd,
		"The reserved member is not zero.",
		"Clear the struct before filling it in."})
	CmdPDNoMemory = add(Rule{"cmd-pd/no-memory", syscall.ENOMEM, "ib_uverbs_alloc_pd", uverbsCmd,
		"There was no memory for the protection domain.",
		"Free memory and call again."})
)
