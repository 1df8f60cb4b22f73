package rule

import "syscall"

const stdSRQ = "drivers/infiniband/core/uverbs_std_types_srq.c"

// The refusals of uverbs_std_types_srq.c.
var (
	SRQXRCDGone = add(Rule{"srq/xrcd-gone", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_SRQ_CREATE", stdSRQ,
		"Nothing is left behind the handle of the XRC domain.",
		"Pass the handle of a live XRC domain."})
	SRQType = add(Rule{"srq/type", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_SRQ_CREATE", stdSRQ,
		"The type is none of basic, XRC and tag matching.",
		"Pass a member of enum ib_uverbs_srq_type."})
)
