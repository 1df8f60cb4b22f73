package rule

import "syscall"

const stdQP = "drivers/infiniband/core/uverbs_std_types_qp.c"

// The refusals of uverbs_std_types_qp.c.
var (
	QPMcastAttached = add(Rule{"qp/mcast-attached", syscall.EBUSY, "uverbs_free_qp", stdQP,
		"The QP is still attached to a multicast group.",
		"Detach it from all its groups first."})
	QPType = add(Rule{"qp/type", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE", stdQP,
		"The type is none that a user can make.",
		"Pass a member of enum ib_uverbs_qp_type."})
	QPTgtObjects = add(Rule{"qp/tgt-objects", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE", stdQP,
		"An XRC target QP was given a PD, a CQ or an indirection table.",
		"Send the XRC domain alone."})
	QPXRCDGone = add(Rule{"qp/xrcd-gone", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE", stdQP,
		"Nothing is left behind the handle of the XRC domain.",
		"Pass the handle of a live XRC domain."})
	QPRawPacketCap = add(Rule{"qp/raw-packet-cap", syscall.EPERM, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE", stdQP,
		"A raw packet QP wants CAP_NET_RAW, which the caller lacks.",
		"Give the process CAP_NET_RAW."})
	QPForbiddenObject = add(Rule{"qp/forbidden-object", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE", stdQP,
		"The QP was given an XRC domain, or an XRC initiator QP an SRQ.",
		"Leave the XRC domain to target QPs, and the SRQ out for an initiator."})
	QPIndTableReceives = add(Rule{"qp/ind-table-receives", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE", stdQP,
		"A QP with an indirection table was also given a receive queue, a receive CQ or an SRQ.",
		"Set max_recv_wr and max_recv_sge to 0 and leave receive CQ and SRQ out; the table's work queues receive."})
	QPFlagsType = add(Rule{"qp/flags-type", syscall.EINVAL, "check_creation_flags", stdQP,
		"Creation flags were given for a type of QP that has none.",
		"Give flags to UD, raw packet and driver QPs only; SQ_SIG_ALL goes with all."})
	QPFlagsRawPacket = add(Rule{"qp/flags-raw-packet", syscall.EINVAL, "check_creation_flags", stdQP,
		"SCATTER_FCS or CVLAN_STRIPPING was given for a QP that is no raw packet QP.",
		"Give these two flags to raw packet QPs only."})
	QPSRQType = add(Rule{"qp/srq-type", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE", stdQP,
		"An XRC target QP was given an SRQ that is no XRC SRQ, or another QP one that is.",
		"Pair XRC SRQs with XRC target QPs and other SRQs with other QPs."})
)
