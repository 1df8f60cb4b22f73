package rule

import "syscall"

const (
	rxeQP  = "drivers/infiniband/sw/rxe/rxe_qp.c"
	rxeSRQ = "drivers/infiniband/sw/rxe/rxe_srq.c"
)

// The refusals to make or destroy a queue pair.
var (
	RxeCreateQPUdataIn = add(Rule{"rxe/create-qp-udata-in", syscall.EINVAL, "rxe_create_qp", rxeVerbs,
		"The request has a driver's part, and this driver has none.",
		"Leave UHW_IN out."})
	RxeCreateQPUdataOut = add(Rule{"rxe/create-qp-udata-out", syscall.EINVAL, "rxe_create_qp", rxeVerbs,
		"The driver's response has less than 32 bytes.",
		"Give UHW_OUT room for a struct rxe_create_qp_resp."})
	RxeCreateQPFlags = add(Rule{"rxe/create-qp-flags", syscall.EOPNOTSUPP, "rxe_create_qp", rxeVerbs,
		"A creation flag is set or a source QP number is given, and this driver knows neither.",
		"Set no flags and no source QP number."})
	RxeQPType = add(Rule{"rxe/qp-type", syscall.EOPNOTSUPP, "rxe_qp_chk_init", rxeQP,
		"The driver has no queue pairs of this type.",
		"Use RC, UC or UD."})
	RxeQPNoCQ = add(Rule{"rxe/qp-no-cq", syscall.EINVAL, "rxe_qp_chk_init", rxeQP,
		"The send or the receive completion queue is missing.",
		"Name both; they may be the same."})
	RxeQPGSIPort = add(Rule{"rxe/qp-gsi-port", syscall.EINVAL, "rxe_qp_chk_init", rxeQP,
		"A GSI queue pair belongs to a port, and a user cannot name one.",
		"Use RC, UC or UD."})
	RxeQPSendWR = add(Rule{"rxe/qp-send-wr", syscall.EINVAL, "rxe_qp_chk_cap", rxeQP,
		"More sends are asked for than max_qp_wr of QUERY_DEVICE.",
		"Ask for at most 1048576."})
	RxeQPSendSGE = add(Rule{"rxe/qp-send-sge", syscall.EINVAL, "rxe_qp_chk_cap", rxeQP,
		"More gather entries for each send are asked for than max_sge of QUERY_DEVICE.",
		"Ask for at most 32."})
	RxeQPRecvWR = add(Rule{"rxe/qp-recv-wr", syscall.EINVAL, "rxe_qp_chk_cap", rxeQP,
		"More receives are asked for than max_qp_wr of QUERY_DEVICE.",
		"Ask for at most 1048576, or use a shared receive queue."})
	RxeQPRecvSGE = add(Rule{"rxe/qp-recv-sge", syscall.EINVAL, "rxe_qp_chk_cap", rxeQP,
		"More scatter entries for each receive are asked for than max_sge of QUERY_DEVICE.",
		"Ask for at most 32, or use a shared receive queue."})
	RxeQPInline = add(Rule{"rxe/qp-inline", syscall.EINVAL, "rxe_qp_chk_cap", rxeQP,
		"More inline data is asked for than an element of the send queue has room for.",
		"Ask for at most 512 bytes."})
	RxeQPNoSocket = add(Rule{"rxe/qp-no-socket", syscall.ENOMEM, "rxe_qp_init_req", rxeQP,
		"The socket that the queue pair sends through cannot be made.",
		"Try again when memory is free."})
	RxeQPResourcesNoMemory = add(Rule{"rxe/qp-resources-no-memory", syscall.ENOMEM, "alloc_rd_atomic_resources", rxeQP,
		"There is no memory for the reads and atomic operations that the queue pair is to answer at once; it has its new state by then, and takes no packets any more.",
		"Free memory and set max_dest_rd_atomic again."})
	RxeCreateQPNoMemory = add(Rule{"rxe/create-qp-no-memory", syscall.ENOMEM, "rxe_qp_from_init", rxeQP,
		"There is no memory for the send or the receive queue.",
		"Ask for fewer or smaller elements."})
	RxeQPInMcastGroup = add(Rule{"rxe/qp-in-mcast-group", syscall.EBUSY, "rxe_qp_chk_destroy", rxeQP,
		"The queue pair is attached to a multicast group.",
		"Detach it first."})
)

// The refusals to change a queue pair.
var (
	RxeQPMask = add(Rule{"rxe/qp-mask", syscall.EOPNOTSUPP, "rxe_modify_qp", rxeVerbs,
		"The attr_mask has a bit beyond the standard ones, such as RATE_LIMIT.",
		"Use the bits up to DEST_QPN only."})
	RxeQPPort = add(Rule{"rxe/qp-port", syscall.EINVAL, "rxe_qp_chk_attr", rxeQP,
		"The device has only port 1.",
		"Set port_num to 1."})
	RxeQPAccessType = add(Rule{"rxe/qp-access-type", syscall.EINVAL, "rxe_qp_chk_attr", rxeQP,
		"Access flags are for RC and UC queue pairs.",
		"Leave ACCESS_FLAGS out of attr_mask."})
	RxeQPAccess = add(Rule{"rxe/qp-access", syscall.EINVAL, "rxe_qp_chk_attr", rxeQP,
		"An access flag is set that this driver does not know.",
		"Use the flags that REG_MR takes."})
	RxeQPAltPort = add(Rule{"rxe/qp-alt-port", syscall.EINVAL, "rxe_qp_chk_attr", rxeQP,
		"The alternate path is on a port that the device does not have.",
		"Set alt_port_num to 1."})
	RxeQPAltTimeout = add(Rule{"rxe/qp-alt-timeout", syscall.EINVAL, "rxe_qp_chk_attr", rxeQP,
		"The alternate path's timeout is above 31.",
		"Set alt_timeout to at most 31."})
	RxeQPMTU = add(Rule{"rxe/qp-mtu", syscall.EINVAL, "rxe_qp_chk_attr", rxeQP,
		"The path MTU is above the port's max_mtu.",
		"Use an enum ib_mtu of at most 5, which is 4096 bytes."})
	RxeQPRdAtomic = add(Rule{"rxe/qp-rd-atomic", syscall.EINVAL, "rxe_qp_chk_attr", rxeQP,
		"More outstanding reads and atomics are asked for than max_qp_rd_atom of QUERY_DEVICE.",
		"Set max_rd_atomic to at most 128."})
	RxeQPTimeout = add(Rule{"rxe/qp-timeout", syscall.EINVAL, "rxe_qp_chk_attr", rxeQP,
		"The timeout is above 31.",
		"Set timeout to at most 31."})
	RxeQPTransition = add(Rule{"rxe/qp-transition", syscall.EINVAL, "__qp_chk_state", rxeQP,
		"There is no such step from the present state to the new one, or an attribute is missing that the step needs, or one is given that it does not take.",
		"Go from RESET over INIT and RTR to RTS, each with the attributes that the queue pair's type needs there."})
	RxeQPDraining = add(Rule{"rxe/qp-draining", syscall.EINVAL, "__qp_chk_state", rxeQP,
		"The send queue is still being drained.",
		"Wait for the event SQ_DRAINED, or go to the error state."})
)

// The refusals to post work.
var (
	RxePostSendState = add(Rule{"rxe/post-send-state", syscall.EINVAL, "rxe_post_send", rxeVerbs,
		"The queue pair is not ready to send.",
		"Bring it to RTS first."})
	RxePostRecvState = add(Rule{"rxe/post-recv-state", syscall.EINVAL, "rxe_post_recv", rxeVerbs,
		"The queue pair is in RESET and takes no receives.",
		"Bring it to INIT first."})
	RxePostRecvSRQ = add(Rule{"rxe/post-recv-srq", syscall.EINVAL, "rxe_post_recv", rxeVerbs,
		"The queue pair takes its receives from a shared receive queue.",
		"Post to that."})
	RxePostRecvFull = add(Rule{"rxe/post-recv-full", syscall.ENOMEM, "post_one_recv", rxeVerbs,
		"The receive queue is full.",
		"Wait until receives are completed."})
	RxePostRecvSGE = add(Rule{"rxe/post-recv-sge", syscall.EINVAL, "post_one_recv", rxeVerbs,
		"The receive has more scatter entries than the queue was made for.",
		"Use at most max_recv_sge."})
	RxePostRecvLength = add(Rule{"rxe/post-recv-length", syscall.EINVAL, "post_one_recv", rxeVerbs,
		"The receive is longer than the longest message, 2 GiB.",
		"Post less."})
)

// The refusals about shared receive queues.
var (
	RxeCreateSRQUdata = add(Rule{"rxe/create-srq-udata", syscall.EINVAL, "rxe_create_srq", rxeVerbs,
		"The driver's response has less than 24 bytes.",
		"Give UHW_OUT room for a struct rxe_create_srq_resp."})
	RxeSRQType = add(Rule{"rxe/srq-type", syscall.EOPNOTSUPP, "rxe_create_srq", rxeVerbs,
		"The driver has no shared receive queues for XRC or tag matching.",
		"Use the type BASIC."})
	RxeSRQTooLarge = add(Rule{"rxe/srq-too-large", syscall.EINVAL, "rxe_srq_chk_init", rxeSRQ,
		"More receives are asked for than max_srq_wr of QUERY_DEVICE.",
		"Ask for at most 1048576."})
	RxeSRQEmpty = add(Rule{"rxe/srq-empty", syscall.EINVAL, "rxe_srq_chk_init", rxeSRQ,
		"The number of receives is 0.",
		"Ask for at least one."})
	RxeSRQSGE = add(Rule{"rxe/srq-sge", syscall.EINVAL, "rxe_srq_chk_init", rxeSRQ,
		"More scatter entries for each receive are asked for than max_srq_sge of QUERY_DEVICE.",
		"Ask for at most 27."})
	RxeCreateSRQNoMemory = add(Rule{"rxe/create-srq-no-memory", syscall.ENOMEM, "rxe_srq_from_init", rxeSRQ,
		"There is no memory for the queue.",
		"Ask for fewer or smaller elements."})
	RxeCreateSRQFault = add(Rule{"rxe/create-srq-fault", syscall.EFAULT, "rxe_srq_from_init", rxeSRQ,
		"The place in the driver's response where the queue's number goes cannot be written.",
		"Pass the address of 24 writable bytes."})
	RxeModifySRQUdata = add(Rule{"rxe/modify-srq-udata", syscall.EINVAL, "rxe_modify_srq", rxeVerbs,
		"The driver's part of the request has less than 8 bytes.",
		"Put a struct rxe_modify_srq_cmd behind the request."})
	RxeModifySRQFault = add(Rule{"rxe/modify-srq-fault", syscall.EFAULT, "rxe_modify_srq", rxeVerbs,
		"The driver's part of the request cannot be read.",
		"Pass the address of readable memory."})
	RxeModifySRQTooLarge = add(Rule{"rxe/modify-srq-too-large", syscall.EINVAL, "rxe_srq_chk_attr", rxeSRQ,
		"More receives are asked for than max_srq_wr of QUERY_DEVICE.",
		"Ask for at most 1048576."})
	RxeModifySRQEmpty = add(Rule{"rxe/modify-srq-empty", syscall.EINVAL, "rxe_srq_chk_attr", rxeSRQ,
		"The new number of receives is 0.",
		"Ask for at least one."})
	RxeModifySRQBelowLimit = add(Rule{"rxe/modify-srq-below-limit", syscall.EINVAL, "rxe_srq_chk_attr", rxeSRQ,
		"The new number of receives is below the queue's limit.",
		"Lower the limit first, in a call of its own."})
	RxeSRQLimitMax = add(Rule{"rxe/srq-limit-max", syscall.EINVAL, "rxe_srq_chk_attr", rxeSRQ,
		"The limit is above max_srq_wr of QUERY_DEVICE.",
		"Set it to at most the queue's size."})
	RxeSRQLimit = add(Rule{"rxe/srq-limit", syscall.EINVAL, "rxe_srq_chk_attr", rxeSRQ,
		"The limit is above the queue's size as it stands in the memory shared with the user.",
		"Set it to at most max_wr of QUERY_SRQ."})
)
