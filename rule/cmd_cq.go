package rule

import "syscall"

// The refusals of the write() commands of completion queues.
var (
	CmdCQCompVector = add(Rule{"cmd-cq/comp-vector", syscall.EINVAL, "create_cq", uverbsCmd,
		"The member comp_vector is not below the device's number of completion vectors.",
		"Pass a vector below num_comp_vectors, which GET_CONTEXT tells."})
	CmdCQNoMemory = add(Rule{"cmd-cq/no-memory", syscall.ENOMEM, "create_cq", uverbsCmd,
		"There was no memory for the completion queue.",
		"Free memory and call again."})
	CmdCQExCompMask = add(Rule{"cmd-cq/ex-comp-mask", syscall.EINVAL, "ib_uverbs_ex_create_cq", uverbsCmd,
		"The member comp_mask is not zero.",
		"Set comp_mask to 0."})
	CmdCQExReserved = add(Rule{"cmd-cq/ex-reserved", syscall.EINVAL, "ib_uverbs_ex_create_cq", uverbsCmd,
		"The reserved member is not zero.",
		"Clear the struct before filling it in."})
	CmdCQPollWCFault = add(Rule{"cmd-cq/poll-wc-fault", syscall.EFAULT, "copy_wc_to_user", uverbsCmd,
		"A completion cannot be written; it is lost.",
		"Pass writable memory of 8 bytes and 48 more for each completion that is asked for."})
	CmdCQPollFault = add(Rule{"cmd-cq/poll-fault", syscall.EFAULT, "ib_uverbs_poll_cq", uverbsCmd,
		"The number of completions cannot be written; the completions are lost.",
		"Pass the address of writable memory."})
	CmdCQModifyEmpty = add(Rule{"cmd-cq/modify-empty", syscall.EINVAL, "ib_uverbs_ex_modify_cq", uverbsCmd,
		"The member attr_mask is zero, or the reserved member is not.",
		"Set attr_mask to IB_CQ_MODERATE and clear the rest of the struct."})
	CmdCQModifyMask = add(Rule{"cmd-cq/modify-mask", syscall.EOPNOTSUPP, "ib_uverbs_ex_modify_cq", uverbsCmd,
		"The member attr_mask names an attribute that the kernel does not know.",
		"Set attr_mask to IB_CQ_MODERATE."})
)
