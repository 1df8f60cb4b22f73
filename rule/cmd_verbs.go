package rule

import "syscall"

// The refusals of verbs.c that only write() commands meet.
var (
	AHAttrPort = add(Rule{"ah-attr/port", syscall.EINVAL, "rdma_check_ah_attr", verbsC,
		"The address names a port that the device does not have.",
		"Name a port from 1 to the device's phys_port_cnt."})
	AHAttrNoGRH = add(Rule{"ah-attr/no-grh", syscall.EINVAL, "rdma_check_ah_attr", verbsC,
		"The address has no global route, which every packet of an Ethernet port carries.",
		"Set is_global and fill in the GID of the destination."})
	AHNoMemory = add(Rule{"ah/no-memory", syscall.ENOMEM, "_rdma_create_ah", verbsC,
		"There was no memory for the address handle.",
		"Free memory and call again."})
	QPAltPath = add(Rule{"qp/alt-path", syscall.EINVAL, "_ib_modify_qp", verbsC,
		"An alternate path was given and the QP's port is not an InfiniBand one.",
		"Leave IB_QP_ALT_PATH out on Ethernet, and set the QP's port first on InfiniBand."})
	QPNoQuery = add(Rule{"qp/no-query", syscall.EOPNOTSUPP, "ib_query_qp", verbsC,
		"The driver has no query_qp operation.",
		"Use a device whose QPs can be asked for their attributes."})
	SRQNoQuery = add(Rule{"srq/no-query", syscall.EOPNOTSUPP, "ib_query_srq", verbsC,
		"The driver has no query_srq operation.",
		"Use a device whose SRQs can be asked for their attributes."})
	McastAttachUnsupported = add(Rule{"mcast/attach-unsupported", syscall.EOPNOTSUPP, "ib_attach_mcast", verbsC,
		"The driver has no attach_mcast operation.",
		"Use a device that can do multicast."})
	McastAttachGroup = add(Rule{"mcast/attach-group", syscall.EINVAL, "ib_attach_mcast", verbsC,
		"The GID is no multicast address, the QP is not of type UD, or the LID is no multicast LID on InfiniBand.",
		"Attach a UD QP to a GID that begins with ff, and to a LID from 0xc000 to 0xfffe on InfiniBand."})
	McastDetachUnsupported = add(Rule{"mcast/detach-unsupported", syscall.EOPNOTSUPP, "ib_detach_mcast", verbsC,
		"The driver has no detach_mcast operation.",
		"Use a device that can do multicast."})
	McastDetachGroup = add(Rule{"mcast/detach-group", syscall.EINVAL, "ib_detach_mcast", verbsC,
		"The GID is no multicast address, the QP is not of type UD, or the LID is no multicast LID on InfiniBand.",
		"Name the group exactly as it was attached."})
)
