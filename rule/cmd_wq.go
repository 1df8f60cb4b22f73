package rule

import "syscall"

// The refusals of the write() commands of shared receive queues, work queues
// and indirection tables.
var (
	CmdSRQXRCD = add(Rule{"cmd-srq/xrcd", syscall.EINVAL, "__uverbs_create_xsrq", uverbsCmd,
		"The member xrcd_handle is not the handle of an XRC domain.",
		"Pass the handle of an open XRC domain."})

	CmdWQCreateCompMask = add(Rule{"cmd-wq/create-comp-mask", syscall.EOPNOTSUPP, "ib_uverbs_ex_create_wq", uverbsCmd,
		"The member comp_mask is not zero.",
		"Set comp_mask to 0."})
	CmdWQDestroyCompMask = add(Rule{"cmd-wq/destroy-comp-mask", syscall.EOPNOTSUPP, "ib_uverbs_ex_destroy_wq", uverbsCmd,
		"The member comp_mask is not zero.",
		"Set comp_mask to 0."})
	CmdWQModifyNothing = add(Rule{"cmd-wq/modify-nothing", syscall.EINVAL, "ib_uverbs_ex_modify_wq", uverbsCmd,
		"The member attr_mask is zero, so that nothing would change.",
		"Say with IB_WQ_STATE, IB_WQ_CUR_STATE and IB_WQ_FLAGS what to change."})
	CmdWQModifyMask = add(Rule{"cmd-wq/modify-mask", syscall.EINVAL, "ib_uverbs_ex_modify_wq", uverbsCmd,
		"The member attr_mask names an attribute that the kernel does not know.",
		"Use IB_WQ_STATE, IB_WQ_CUR_STATE and IB_WQ_FLAGS only."})
	CmdWQModifyCurState = add(Rule{"cmd-wq/modify-cur-state", syscall.EINVAL, "ib_uverbs_ex_modify_wq", uverbsCmd,
		"The member curr_wq_state is above IB_WQS_ERR; the kernel forgets to let the queue go, so that it stays in use.",
		"Pass a state of enum ib_wq_state."})
	CmdWQModifyState = add(Rule{"cmd-wq/modify-state", syscall.EINVAL, "ib_uverbs_ex_modify_wq", uverbsCmd,
		"The member wq_state is above IB_WQS_ERR; the kernel forgets to let the queue go, so that it stays in use.",
		"Pass a state of enum ib_wq_state."})

	CmdRWQCompMask = add(Rule{"cmd-rwq/comp-mask", syscall.EOPNOTSUPP, "ib_uverbs_ex_create_rwq_ind_table", uverbsCmd,
		"The member comp_mask is not zero.",
		"Set comp_mask to 0."})
	CmdRWQLogSize = add(Rule{"cmd-rwq/log-size", syscall.EINVAL, "ib_uverbs_ex_create_rwq_ind_table", uverbsCmd,
		"The member log_ind_tbl_size is above 13.",
		"Make a table of at most 8192 work queues."})
	CmdRWQHandlesNoMemory = add(Rule{"cmd-rwq/handles-no-memory", syscall.ENOMEM, "ib_uverbs_ex_create_rwq_ind_table", uverbsCmd,
		"There was no memory for the handles of the work queues.",
		"Free memory and call again."})
	CmdRWQTableNoMemory = add(Rule{"cmd-rwq/table-no-memory", syscall.ENOMEM, "ib_uverbs_ex_create_rwq_ind_table", uverbsCmd,
		"There was no memory for the list of the work queues.",
		"Free memory and call again."})
	CmdRWQNoMemory = add(Rule{"cmd-rwq/no-memory", syscall.ENOMEM, "ib_uverbs_ex_create_rwq_ind_table", uverbsCmd,
		"There was no memory for the indirection table.",
		"Free memory and call again."})
	CmdRWQDestroyCompMask = add(Rule{"cmd-rwq/destroy-comp-mask", syscall.EOPNOTSUPP, "ib_uverbs_ex_destroy_rwq_ind_table", uverbsCmd,
		"The member comp_mask is not zero.",
		"Set comp_mask to 0."})
)
