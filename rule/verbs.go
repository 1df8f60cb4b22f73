package rule

import "syscall"

const (
	verbsC   = "drivers/infiniband/core/verbs.c"
	ibVerbsH = "include/rdma/ib_verbs.h"
	deviceC  = "drivers/infiniband/core/device.c"
	cacheC   = "drivers/infiniband/core/cache.c"
)

// The refusals of verbs.c, and of what belongs to the verbs in ib_verbs.h,
// device.c and cache.c.
var (
	CQBusy = add(Rule{"cq/busy", syscall.EBUSY, "ib_destroy_cq_user", verbsC,
		"A QP, an SRQ or a work queue still uses the completion queue.",
		"Destroy everything that completes into this queue first."})
	CQNoModeration = add(Rule{"cq/no-moderation", syscall.EOPNOTSUPP, "rdma_set_cq_moderation", verbsC,
		"The driver has no modify_cq operation.",
		"Use a device that can moderate its completion queues."})

	SRQNoMemory = add(Rule{"srq/no-memory", syscall.ENOMEM, "ib_create_srq_user", verbsC,
		"There was no memory for the shared receive queue.",
		"Free memory and call again."})
	SRQBusy = add(Rule{"srq/busy", syscall.EBUSY, "ib_destroy_srq_user", verbsC,
		"A QP still uses the shared receive queue.",
		"Destroy the QPs that receive from this queue first."})

	QPUnsupported = add(Rule{"qp/unsupported", syscall.EOPNOTSUPP, "create_qp", verbsC,
		"The driver has no create_qp operation.",
		"Use a device that has QPs."})
	QPNoMemory = add(Rule{"qp/no-memory", syscall.ENOMEM, "create_qp", verbsC,
		"There was no memory for the QP.",
		"Free memory and call again."})
	QPOpenType = add(Rule{"qp/open-type", syscall.EINVAL, "ib_open_qp", verbsC,
		"The type of the QP to open is not IB_QPT_XRC_TGT.",
		"Open XRC target QPs only; no other can be shared."})
	QPOpenUnknown = add(Rule{"qp/open-unknown", syscall.EINVAL, "ib_open_qp", verbsC,
		"The XRC domain has no target QP of that number.",
		"Pass the number of a target QP that exists in this domain."})
	QPNotShared = add(Rule{"qp/not-shared", syscall.EINVAL, "ib_close_qp", verbsC,
		"The QP is no handle on a shared QP.",
		"Destroy the QP instead of closing it."})
	QPBusy = add(Rule{"qp/busy", syscall.EBUSY, "ib_destroy_qp_user", verbsC,
		"A flow rule or a multicast group still uses the QP.",
		"Destroy its flow rules and detach it from its multicast groups first."})

	WQBusy = add(Rule{"wq/busy", syscall.EBUSY, "ib_destroy_wq_user", verbsC,
		"An indirection table still has the work queue.",
		"Destroy the indirection tables that have this queue first."})

	XRCDUnsupported = add(Rule{"xrcd/unsupported", syscall.EOPNOTSUPP, "ib_alloc_xrcd_user", verbsC,
		"The driver has no alloc_xrcd operation.",
		"Use a device that can do XRC."})
	XRCDNoMemory = add(Rule{"xrcd/no-memory", syscall.ENOMEM, "ib_alloc_xrcd_user", verbsC,
		"There was no memory for the XRC domain.",
		"Free memory and call again."})
	XRCDInUse = add(Rule{"xrcd/in-use", syscall.EBUSY, "ib_dealloc_xrcd_user", verbsC,
		"An XRC SRQ or target QP, also one of another process, still uses the domain.",
		"Destroy what was made in this domain first."})

	MRAccessNeedsLocalWrite = add(Rule{"mr-access/needs-local-write", syscall.EINVAL, "ib_check_mr_access", ibVerbsH,
		"Remote writes or remote atomics are asked for without local writes.",
		"Add IB_ACCESS_LOCAL_WRITE."})
	MRAccessUnknown = add(Rule{"mr-access/unknown", syscall.EINVAL, "ib_check_mr_access", ibVerbsH,
		"An access bit is set that the kernel does not know and that is not in the optional range.",
		"Use the bits of enum ib_access_flags; bits 20 to 29 are optional and may be unknown."})
	MRAccessNoOnDemand = add(Rule{"mr-access/no-on-demand", syscall.EOPNOTSUPP, "ib_check_mr_access", ibVerbsH,
		"On-demand paging is asked for and the device cannot do it.",
		"Leave IB_ACCESS_ON_DEMAND out."})
	MRAccessOnDemandInvalid = add(Rule{"mr-access/on-demand-invalid", syscall.EINVAL, "ib_check_mr_access", ibVerbsH,
		"On-demand paging is asked for, the device cannot do it, and the kernel is one that does not tell that apart from a mistake.",
		"Leave IB_ACCESS_ON_DEMAND out."})
	MRAccessNoFlush = add(Rule{"mr-access/no-flush", syscall.EOPNOTSUPP, "ib_check_mr_access", ibVerbsH,
		"A flush right is asked for that the device cannot give.",
		"Leave IB_ACCESS_FLUSH_GLOBAL and IB_ACCESS_FLUSH_PERSISTENT out where device_cap_flags lack them."})

	PortInvalid = add(Rule{"port/invalid", syscall.EINVAL, "ib_query_port", deviceC,
		"The device has no port of that number.",
		"Pass a port from 1 to the device's phys_port_cnt."})
	GIDTableTooSmall = add(Rule{"gid-table/too-small", syscall.EINVAL, "rdma_query_gid_table", cacheC,
		"There are more valid GIDs than the user has room for.",
		"Pass room for every entry of every port's table."})
	GIDIndex = add(Rule{"gid/index", syscall.EINVAL, "rdma_get_gid_attr", cacheC,
		"The index is beyond the port's GID table.",
		"Pass an index below the port's gid_tbl_len."})
	GIDEmpty = add(Rule{"gid/empty", syscall.ENODATA, "rdma_get_gid_attr", cacheC,
		"That entry of the port's GID table holds no GID.",
		"Pass the index of a valid entry, which QUERY_GID_TABLE lists."})
)
