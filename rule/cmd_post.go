package rule

import "syscall"

// The refusals of the write() commands that post work requests.
var (
	CmdPostSendSize = add(Rule{"cmd-post/send-size", syscall.EINVAL, "ib_uverbs_post_send", uverbsCmd,
		"The member wqe_size is smaller than a struct ib_uverbs_send_wr.",
		"Set wqe_size to 56 or more."})
	CmdPostSendNoMemory = add(Rule{"cmd-post/send-no-memory", syscall.ENOMEM, "ib_uverbs_post_send", uverbsCmd,
		"There was no memory for a work request of wqe_size bytes.",
		"Set wqe_size to 56; above 4 MiB it always fails."})
	CmdPostSendWRFault = add(Rule{"cmd-post/send-wr-fault", syscall.EFAULT, "ib_uverbs_post_send", uverbsCmd,
		"A work request cannot be read.",
		"Pass the address of readable memory."})
	CmdPostSendSGECount = add(Rule{"cmd-post/send-sge-count", syscall.EINVAL, "ib_uverbs_post_send", uverbsCmd,
		"The work requests have more pieces of memory together than sge_count says.",
		"Set sge_count to the sum of all num_sge."})
	CmdPostSendUDOpcode = add(Rule{"cmd-post/send-ud-opcode", syscall.EINVAL, "ib_uverbs_post_send", uverbsCmd,
		"A work request of a UD QP is no send.",
		"Post IB_WR_SEND or IB_WR_SEND_WITH_IMM to UD QPs."})
	CmdPostSendOpcode = add(Rule{"cmd-post/send-opcode", syscall.EINVAL, "ib_uverbs_post_send", uverbsCmd,
		"A work request has an opcode that the command does not know.",
		"Post sends, RDMA writes and reads, or the two plain atomics."})
	CmdPostSendWRNoMemory = add(Rule{"cmd-post/send-wr-no-memory", syscall.ENOMEM, "ib_uverbs_post_send", uverbsCmd,
		"There was no memory for a work request with that many pieces.",
		"Free memory, or post fewer pieces."})
	CmdPostSendSGEFault = add(Rule{"cmd-post/send-sge-fault", syscall.EFAULT, "ib_uverbs_post_send", uverbsCmd,
		"The pieces of memory of a work request cannot be read.",
		"Pass the address of readable memory."})

	CmdPostRecvSize = add(Rule{"cmd-post/recv-size", syscall.EINVAL, "ib_uverbs_unmarshall_recv", uverbsCmd,
		"The member wqe_size is smaller than a struct ib_uverbs_recv_wr.",
		"Set wqe_size to 16 or more."})
	CmdPostRecvNoMemory = add(Rule{"cmd-post/recv-no-memory", syscall.ENOMEM, "ib_uverbs_unmarshall_recv", uverbsCmd,
		"There was no memory for a work request of wqe_size bytes.",
		"Set wqe_size to 16; above 4 MiB it always fails."})
	CmdPostRecvWRFault = add(Rule{"cmd-post/recv-wr-fault", syscall.EFAULT, "ib_uverbs_unmarshall_recv", uverbsCmd,
		"A work request cannot be read.",
		"Pass the address of readable memory."})
	CmdPostRecvSGECount = add(Rule{"cmd-post/recv-sge-count", syscall.EINVAL, "ib_uverbs_unmarshall_recv", uverbsCmd,
		"The work requests have more pieces of memory together than sge_count says.",
		"Set sge_count to the sum of all num_sge."})
	CmdPostRecvManySGEs = add(Rule{"cmd-post/recv-many-sges", syscall.EINVAL, "ib_uverbs_unmarshall_recv", uverbsCmd,
		"A work request has so many pieces of memory that their size does not fit into 32 bits.",
		"Post fewer pieces."})
	CmdPostRecvWRNoMemory = add(Rule{"cmd-post/recv-wr-no-memory", syscall.ENOMEM, "ib_uverbs_unmarshall_recv", uverbsCmd,
		"There was no memory for a work request.",
		"Free memory and call again."})
	CmdPostRecvSGEFault = add(Rule{"cmd-post/recv-sge-fault", syscall.EFAULT, "ib_uverbs_unmarshall_recv", uverbsCmd,
		"The pieces of memory of a work request cannot be read.",
		"Pass the address of readable memory."})
)
