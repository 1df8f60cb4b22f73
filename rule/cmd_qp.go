package rule

import "syscall"

// The refusals of the write() commands that make, open, ask for and modify
// QPs, and that attach them to multicast groups.
var (
	CmdQPRawPacket = add(Rule{"cmd-qp/raw-packet", syscall.EPERM, "create_qp", uverbsCmd,
		"A raw packet QP was asked for without CAP_NET_RAW.",
		"Give the process CAP_NET_RAW, or make a QP of another type."})
	CmdQPType = add(Rule{"cmd-qp/type", syscall.EINVAL, "create_qp", uverbsCmd,
		"Users cannot have QPs of that type.",
		"Make a QP of type RC, UC, UD, RAW_PACKET, XRC_INI, XRC_TGT or DRIVER."})
	CmdQPIndTable = add(Rule{"cmd-qp/ind-table", syscall.EINVAL, "create_qp", uverbsCmd,
		"A QP with an indirection table was asked for a receive queue or an SRQ of its own.",
		"Set max_recv_wr, max_recv_sge and is_srq to 0."})
	CmdQPXRCD = add(Rule{"cmd-qp/xrcd", syscall.EINVAL, "create_qp", uverbsCmd,
		"The member pd_handle, which for an XRC target QP names an XRC domain, is not the handle of one.",
		"Pass the handle of an open XRC domain in pd_handle."})
	CmdQPSRQXRC = add(Rule{"cmd-qp/srq-xrc", syscall.EINVAL, "create_qp", uverbsCmd,
		"The SRQ is an XRC one, which only XRC target QPs receive from.",
		"Pass a basic or a tag matching SRQ."})
	CmdQPCreateFlags = add(Rule{"cmd-qp/create-flags", syscall.EINVAL, "create_qp", uverbsCmd,
		"A creation flag is set that users cannot set.",
		"Use the flags that the kernel lets through only."})
	CmdQPSourceQPN = add(Rule{"cmd-qp/source-qpn", syscall.EPERM, "create_qp", uverbsCmd,
		"A source QP number was given without CAP_NET_RAW.",
		"Give the process CAP_NET_RAW, or leave IB_QP_CREATE_SOURCE_QPN out."})
	CmdQPExCompMask = add(Rule{"cmd-qp/ex-comp-mask", syscall.EINVAL, "ib_uverbs_ex_create_qp", uverbsCmd,
		"The member comp_mask has a bit that the kernel does not know.",
		"Use IB_UVERBS_CREATE_QP_MASK_IND_TABLE only."})
	CmdQPExReserved = add(Rule{"cmd-qp/ex-reserved", syscall.EINVAL, "ib_uverbs_ex_create_qp", uverbsCmd,
		"The reserved member is not zero.",
		"Clear the struct before filling it in."})
	CmdQPOpenXRCD = add(Rule{"cmd-qp/open-xrcd", syscall.EINVAL, "ib_uverbs_open_qp", uverbsCmd,
		"The member pd_handle, which names an XRC domain here, is not the handle of one.",
		"Pass the handle of an open XRC domain in pd_handle."})
	CmdQPQueryNoMemory = add(Rule{"cmd-qp/query-no-memory", syscall.ENOMEM, "ib_uverbs_query_qp", uverbsCmd,
		"There was no memory for the QP's attributes.",
		"Free memory and call again."})

	CmdQPModifyMask = add(Rule{"cmd-qp/modify-mask", syscall.EOPNOTSUPP, "ib_uverbs_modify_qp", uverbsCmd,
		"The member attr_mask names an attribute that this command does not have.",
		"Use the bits 0 to 20; a rate limit needs the extended command."})
	CmdQPExModifyMask = add(Rule{"cmd-qp/ex-modify-mask", syscall.EOPNOTSUPP, "ib_uverbs_ex_modify_qp", uverbsCmd,
		"The member attr_mask names an attribute that the kernel does not know.",
		"Use the bits 0 to 20 and IB_QP_RATE_LIMIT."})
	CmdQPModifyNoMemory = add(Rule{"cmd-qp/modify-no-memory", syscall.ENOMEM, "modify_qp", uverbsCmd,
		"There was no memory for the QP's attributes.",
		"Free memory and call again."})
	CmdQPModifyPort = add(Rule{"cmd-qp/modify-port", syscall.EINVAL, "modify_qp", uverbsCmd,
		"The port is to be set, and the device has no such port.",
		"Pass a port from 1 to the device's phys_port_cnt."})
	CmdQPModifyPathPort = add(Rule{"cmd-qp/modify-path-port", syscall.EINVAL, "modify_qp", uverbsCmd,
		"The primary path names a port that the device does not have.",
		"Set dest.port_num to the QP's port."})
	CmdQPModifyOtherPort = add(Rule{"cmd-qp/modify-other-port", syscall.EINVAL, "modify_qp", uverbsCmd,
		"On the way to RTR the primary path names another port than the QP got in INIT.",
		"Set dest.port_num to the QP's port."})
	CmdQPModifyTwoPorts = add(Rule{"cmd-qp/modify-two-ports", syscall.EINVAL, "modify_qp", uverbsCmd,
		"The member port_num and the primary path name different ports.",
		"Set both to the same port, or leave IB_QP_PORT out."})
	CmdQPModifyAltPort = add(Rule{"cmd-qp/modify-alt-port", syscall.EINVAL, "modify_qp", uverbsCmd,
		"The member alt_port_num and the alternate path do not name the same port of the device.",
		"Set alt_port_num and alt_dest.port_num to the same valid port."})
	CmdQPModifyState = add(Rule{"cmd-qp/modify-state", syscall.EINVAL, "modify_qp", uverbsCmd,
		"The state, or the state that the QP is said to be in, is above IB_QPS_ERR.",
		"Pass a state of enum ib_qp_state."})
	CmdQPModifyQKey = add(Rule{"cmd-qp/modify-qkey", syscall.EPERM, "modify_qp", uverbsCmd,
		"A privileged Q_Key, one with bit 31, is to be set without CAP_NET_RAW.",
		"Give the process CAP_NET_RAW, or choose a Q_Key below 0x80000000."})

	CmdMcastNoMemory = add(Rule{"cmd-mcast/no-memory", syscall.ENOMEM, "ib_uverbs_attach_mcast", uverbsCmd,
		"There was no memory for the note of the multicast group.",
		"Free memory and call again."})
	CmdMcastNotAttached = add(Rule{"cmd-mcast/not-attached", syscall.EINVAL, "ib_uverbs_detach_mcast", uverbsCmd,
		"The QP is not attached to that group through this handle.",
		"Pass the GID and LID that the QP was attached with."})
)
