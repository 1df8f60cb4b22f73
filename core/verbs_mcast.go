package core

import (
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Where the multicast LIDs of InfiniBand begin, and the permissive LID, which
// is none (IB_MULTICAST_LID_BASE and IB_LID_PERMISSIVE in
// include/rdma/ib_verbs.h).
const (
	multicastLIDBase = 0xc000
	lidPermissive    = 0xffff
)

// v4Mapped is how an IPv4 address as a GID begins.
var v4Mapped = [12]byte{10: 0xff, 11: 0xff}

// isMulticast says whether a GID is that of a multicast group, also an IPv4
// one. It models rdma_is_multicast_addr in include/rdma/ib_addr.h.
func isMulticast(gid *[16]byte) bool {
	return gid[0] == 0xff || [12]byte(gid[:12]) == v4Mapped && gid[12]>>4 == 0xe
}

// isValidMcastLID says whether lid can be a group's LID where the QP is. A QP
// that has a port is judged by that port, another by all. It models
// is_valid_mcast_lid in drivers/infiniband/core/verbs.c.
func isValidMcastLID(task *process.Task, qp *QP, lid uint16) bool {
	defer task.Trace.EnterInlined(trace.Core, "is_valid_mcast_lid").Leave()
	var attr QPAttr
	var init QPInitAttr
	QueryQP(task, qp, &attr, spec.IB_QP_STATE|spec.IB_QP_PORT, &init) // without an answer all ports count
	// The ports of a device all have one link layer, so any will do.
	if qp.Device.LinkLayer != LinkLayerInfiniband {
		return true
	}
	return lid >= multicastLIDBase && lid != lidPermissive
}

// AttachMcast attaches a QP to a multicast group. It models ib_attach_mcast in
// drivers/infiniband/core/verbs.c.
//
// Errors: mcast/attach-unsupported, mcast/attach-group, and those of the
// driver.
func AttachMcast(task *process.Task, qp *QP, gid [16]byte, lid uint16) error {
	defer task.Trace.Enter(trace.Core, "ib_attach_mcast").Leave()
	if qp.Device.Ops.AttachMcast == nil {
		return rule.McastAttachUnsupported
	}
	if !isMulticast(&gid) || qp.Type != spec.IB_QPT_UD || !isValidMcastLID(task, qp, lid) {
		return rule.McastAttachGroup
	}
	if err := qp.Device.Ops.AttachMcast(task, qp, gid, lid); err != nil {
		return err
	}
	qp.Usecnt.Count(task.Trace, "ib_qp", 1)
	return nil
}

// DetachMcast detaches a QP from a multicast group. It models ib_detach_mcast
// in drivers/infiniband/core/verbs.c.
//
// Errors: mcast/detach-unsupported, mcast/detach-group, and those of the
// driver.
func DetachMcast(task *process.Task, qp *QP, gid [16]byte, lid uint16) error {
	defer task.Trace.Enter(trace.Core, "ib_detach_mcast").Leave()
	if qp.Device.Ops.DetachMcast == nil {
		return rule.McastDetachUnsupported
	}
	if !isMulticast(&gid) || qp.Type != spec.IB_QPT_UD || !isValidMcastLID(task, qp, lid) {
		return rule.McastDetachGroup
	}
	if err := qp.Device.Ops.DetachMcast(task, qp, gid, lid); err != nil {
		return err
	}
	qp.Usecnt.Count(task.Trace, "ib_qp", -1)
	return nil
}
