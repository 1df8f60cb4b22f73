package rule

import "syscall"

const stdWQ = "drivers/infiniband/core/uverbs_std_types_wq.c"

// The refusals of uverbs_std_types_wq.c.
var WQType = add(Rule{"wq/type", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_WQ_CREATE", stdWQ,
	"The type is not IB_WQT_RQ.",
	"Pass IB_WQT_RQ, the only type of a work queue."})
