package rule

import "syscall"

const stdDM = "drivers/infiniband/core/uverbs_std_types_dm.c"

// The refusals of uverbs_std_types_dm.c.
var (
	DMBusy = add(Rule{"dm/busy", syscall.EBUSY, "uverbs_free_dm", stdDM,
		"An MR still covers a part of the device memory.",
		"Destroy the MRs that were registered in this memory first."})
	DMUnsupported = add(Rule{"dm/unsupported", syscall.EOPNOTSUPP, "ib_uverbs_handler_UVERBS_METHOD_DM_ALLOC", stdDM,
		"The driver has no alloc_dm operation.",
		"Use a device that has memory of its own to give."})
)
