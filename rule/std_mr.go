package rule

import "syscall"

const stdMR = "drivers/infiniband/core/uverbs_std_types_mr.c"

// The refusals of uverbs_std_types_mr.c.
var (
	AdviseMRUnsupported = add(Rule{"advise-mr/unsupported", syscall.EOPNOTSUPP, "ib_uverbs_handler_UVERBS_METHOD_ADVISE_MR", stdMR,
		"The driver has no advise_mr operation.",
		"Use a device that takes advice on memory, or do without."})
	DMMRUnsupported = add(Rule{"dm-mr/unsupported", syscall.EOPNOTSUPP, "ib_uverbs_handler_UVERBS_METHOD_DM_MR_REG", stdMR,
		"The driver has no reg_dm_mr operation.",
		"Use a device whose own memory can be registered."})
	DMMRZeroBased = add(Rule{"dm-mr/zero-based", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_DM_MR_REG", stdMR,
		"IB_ZERO_BASED is not among the access flags.",
		"Add IB_ZERO_BASED; addresses in the device's memory begin at 0."})
	DMMRRange = add(Rule{"dm-mr/range", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_DM_MR_REG", stdMR,
		"Offset and length run past the end of the device memory.",
		"Pass a range that lies in what DM_ALLOC gave."})
	DmabufMRUnsupported = add(Rule{"dmabuf-mr/unsupported", syscall.EOPNOTSUPP, "ib_uverbs_handler_UVERBS_METHOD_REG_DMABUF_MR", stdMR,
		"The driver has no reg_user_mr_dmabuf operation.",
		"Use a device that can register dma-bufs."})
	DmabufMRMisaligned = add(Rule{"dmabuf-mr/misaligned", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_REG_DMABUF_MR", stdMR,
		"Offset and iova lie at different places in their pages.",
		"Choose an iova with the same low 12 bits as the offset."})
)
