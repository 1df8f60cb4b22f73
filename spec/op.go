package spec

// Op is one operation of a device on whose presence definitions depend: a
// member of struct ib_device_ops (include/rdma/ib_verbs.h).
type Op uint8

// The operations, by the name of their member.
const (
	OpAllocMW Op = iota
	OpAllocPD
	OpAllocUcontext
	OpAllocXRCD
	OpAttachMcast
	OpCreateCQ
	OpCreateFlow
	OpCreateQP
	OpCreateRWQIndTable
	OpCreateSRQ
	OpCreateUserAH
	OpCreateWQ
	OpDeallocDM
	OpDeallocMW
	OpDeallocPD
	OpDeallocUcontext
	OpDeallocXRCD
	OpDeregMR
	OpDestroyAH
	OpDestroyCounters
	OpDestroyCQ
	OpDestroyFlow
	OpDestroyFlowAction
	OpDestroyQP
	OpDestroyRWQIndTable
	OpDestroySRQ
	OpDestroyWQ
	OpDetachMcast
	OpModifyCQ
	OpModifyQP
	OpModifySRQ
	OpModifyWQ
	OpPollCQ
	OpPostRecv
	OpPostSend
	OpPostSRQRecv
	OpQueryDevice
	OpQueryPort
	OpQueryQP
	OpQuerySRQ
	OpRegUserMR
	OpReqNotifyCQ
	OpReregUserMR
	OpResizeCQ

	// NumOps is how many there are.
	NumOps
)

var opNames = [NumOps]string{
	OpAllocMW:            "alloc_mw",
	OpAllocPD:            "alloc_pd",
	OpAllocUcontext:      "alloc_ucontext",
	OpAllocXRCD:          "alloc_xrcd",
	OpAttachMcast:        "attach_mcast",
	OpCreateCQ:           "create_cq",
	OpCreateFlow:         "create_flow",
	OpCreateQP:           "create_qp",
	OpCreateRWQIndTable:  "create_rwq_ind_table",
	OpCreateSRQ:          "create_srq",
	OpCreateUserAH:       "create_user_ah",
	OpCreateWQ:           "create_wq",
	OpDeallocDM:          "dealloc_dm",
	OpDeallocMW:          "dealloc_mw",
	OpDeallocPD:          "dealloc_pd",
	OpDeallocUcontext:    "dealloc_ucontext",
	OpDeallocXRCD:        "dealloc_xrcd",
	OpDeregMR:            "dereg_mr",
	OpDestroyAH:          "destroy_ah",
	OpDestroyCounters:    "destroy_counters",
	OpDestroyCQ:          "destroy_cq",
	OpDestroyFlow:        "destroy_flow",
	OpDestroyFlowAction:  "destroy_flow_action",
	OpDestroyQP:          "destroy_qp",
	OpDestroyRWQIndTable: "destroy_rwq_ind_table",
	OpDestroySRQ:         "destroy_srq",
	OpDestroyWQ:          "destroy_wq",
	OpDetachMcast:        "detach_mcast",
	OpModifyCQ:           "modify_cq",
	OpModifyQP:           "modify_qp",
	OpModifySRQ:          "modify_srq",
	OpModifyWQ:           "modify_wq",
	OpPollCQ:             "poll_cq",
	OpPostRecv:           "post_recv",
	OpPostSend:           "post_send",
	OpPostSRQRecv:        "post_srq_recv",
	OpQueryDevice:        "query_device",
	OpQueryPort:          "query_port",
	OpQueryQP:            "query_qp",
	OpQuerySRQ:           "query_srq",
	OpRegUserMR:          "reg_user_mr",
	OpReqNotifyCQ:        "req_notify_cq",
	OpReregUserMR:        "rereg_user_mr",
	OpResizeCQ:           "resize_cq",
}

// String returns the member's name: "destroy_cq".
func (op Op) String() string {
	if op < NumOps {
		return opNames[op]
	}
	return "?"
}

// OpByName returns the operation whose member has the name.
func OpByName(name string) (Op, bool) {
	for i, n := range opNames {
		if n == name {
			return Op(i), true
		}
	}
	return 0, false
}
