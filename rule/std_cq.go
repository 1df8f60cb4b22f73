package rule

import "syscall"

const stdCQ = "drivers/infiniband/core/uverbs_std_types_cq.c"

// The refusals of uverbs_std_types_cq.c.
var (
	CQUnsupported = add(Rule{"cq/unsupported", syscall.EOPNOTSUPP, "ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE", stdCQ,
		"The driver lacks create_cq or destroy_cq.",
		"Use a device that has completion queues."})
	CQCompVector = add(Rule{"cq/comp-vector", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE", stdCQ,
		"The comp_vector is not below the device's number of completion vectors.",
		"Pass a vector below num_comp_vectors, which GET_CONTEXT tells."})
	CQNoMemory = add(Rule{"cq/no-memory", syscall.ENOMEM, "ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE", stdCQ,
		"There was no memory for the completion queue.",
		"Free memory and call again."})
)
