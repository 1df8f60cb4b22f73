package core

import (
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// isConnected says whether a QP has one peer, whose address it keeps. It models
// is_qp_type_connected in drivers/infiniband/core/verbs.c.
func (qp *QP) isConnected() bool {
	switch qp.Type {
	case spec.IB_QPT_UC, spec.IB_QPT_RC, spec.IB_QPT_XRC_INI, spec.IB_QPT_XRC_TGT:
		return true
	}
	return false
}

// ModifyQPWithUdata changes those attributes of a QP that mask names (enum
// ib_qp_attr_mask). It completes the addresses in attr first. It models
// ib_modify_qp_with_udata in drivers/infiniband/core/verbs.c.
//
// Errors: ah-attr/…, gid/…, qp/alt-path, and those of the driver.
func ModifyQPWithUdata(qp *QP, attr *QPAttr, mask uint32, udata *Udata) error {
	defer udata.Trace().Enter(trace.Core, "ib_modify_qp_with_udata").Leave()
	return modifyQP(qp.RealQP, attr, mask, udata)
}

// modifyQP models _ib_modify_qp in drivers/infiniband/core/verbs.c, without
// the binding to counters and without partitions.
func modifyQP(qp *QP, attr *QPAttr, mask uint32, udata *Udata) error {
	task := udata.Task()
	defer task.Trace.Enter(trace.Core, "_ib_modify_qp").Leave()
	dev := qp.Device
	port := qp.Port.Load()
	if mask&spec.IB_QP_PORT != 0 {
		port = attr.PortNum
	}
	if mask&spec.IB_QP_AV != 0 {
		sgid, err := fillSGIDAttr(task, dev, &attr.AH)
		if err != nil {
			return err
		}
		if dev.IsRoCE() && qp.isConnected() {
			if err := resolveEthDMAC(task, dev, &attr.AH, sgid); err != nil {
				return err
			}
		}
	}
	if mask&spec.IB_QP_ALT_PATH != 0 {
		if _, err := fillSGIDAttr(task, dev, &attr.AltAH); err != nil {
			return err
		}
		// The other path is valid, so only the port of the QP can fail.
		if dev.LinkLayer != LinkLayerInfiniband || !dev.IsPort(port) {
			return rule.QPAltPath
		}
	}
	if dev.IsPort(port) {
		const psnMask = 1<<24 - 1
		if mask&spec.IB_QP_RQ_PSN != 0 {
			attr.RqPSN &= psnMask
		}
		if mask&spec.IB_QP_SQ_PSN != 0 {
			attr.SqPSN &= psnMask
		}
	}
	if err := dev.Ops.ModifyQP(qp, attr, mask, udata); err != nil {
		return err
	}
	if mask&spec.IB_QP_PORT != 0 {
		qp.Port.Store(attr.PortNum)
	}
	return nil
}
