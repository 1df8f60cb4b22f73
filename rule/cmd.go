package rule

import "syscall"

// The refusals of uverbs_cmd.c that all write() commands share.
var (
	CmdRequestFault = add(Rule{"cmd/request-fault", syscall.EFAULT, "uverbs_request", uverbsCmd,
		"The command's struct cannot be read.",
		"Pass the address of readable memory."})
	CmdRequestTail = add(Rule{"cmd/request-tail", syscall.EOPNOTSUPP, "uverbs_request", uverbsCmd,
		"The request is longer than the command's struct, and the rest is not zero or cannot be read.",
		"Clear the members that this kernel does not know, or send the shorter struct."})
	CmdResponseFault = add(Rule{"cmd/response-fault", syscall.EFAULT, "uverbs_response", uverbsCmd,
		"The response cannot be written.",
		"Pass the address of writable memory for the whole response."})
	CmdStartShort = add(Rule{"cmd/start-short", syscall.ENOSPC, "uverbs_request_start", uverbsCmd,
		"The request is shorter than the struct that its arrays follow.",
		"Send the whole struct."})
	CmdStartFault = add(Rule{"cmd/start-fault", syscall.EFAULT, "uverbs_request_start", uverbsCmd,
		"The struct that the arrays follow cannot be read.",
		"Pass the address of readable memory."})
	CmdNextShort = add(Rule{"cmd/next-short", syscall.ENOSPC, "uverbs_request_next", uverbsCmd,
		"The request ends before the array that its struct announces.",
		"Send as many elements as the struct says."})
	CmdNextFault = add(Rule{"cmd/next-fault", syscall.EFAULT, "uverbs_request_next", uverbsCmd,
		"The array that follows the struct cannot be read.",
		"Pass the address of readable memory."})
	CmdArrayShort = add(Rule{"cmd/array-short", syscall.ENOSPC, "uverbs_request_next_ptr", uverbsCmd,
		"The request ends before the work requests or their pieces of memory that its struct announces.",
		"Send wr_count work requests of wqe_size bytes each and then sge_count pieces of 16 bytes each."})
	CmdFinishTail = add(Rule{"cmd/finish-tail", syscall.EOPNOTSUPP, "uverbs_request_finish", uverbsCmd,
		"Something that is not zero, or cannot be read, follows the last array of the request.",
		"End the request with its last array."})
)
