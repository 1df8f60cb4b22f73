package methods

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The write() commands of UVERBS_OBJECT_QP that make, open and destroy QPs.

// qpCreateFlags are the creation flags that a command lets through (enum
// ib_qp_create_flags in include/rdma/ib_verbs.h).
const qpCreateFlags = spec.IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | spec.IB_QP_CREATE_CROSS_CHANNEL |
	spec.IB_QP_CREATE_MANAGED_SEND | spec.IB_QP_CREATE_MANAGED_RECV | spec.IB_QP_CREATE_SCATTER_FCS |
	spec.IB_QP_CREATE_CVLAN_STRIPPING | spec.IB_QP_CREATE_SOURCE_QPN | spec.IB_QP_CREATE_PCI_WRITE_END_PADDING

// qpUses are the objects that the creation of a QP holds, nil where it holds
// none. recvCQ is nil too where it is the same as sendCQ.
type qpUses struct {
	xrcd, pd, sendCQ, recvCQ, srq, indTbl *uobject.Object
}

// put lets them go.
func (u *qpUses) put(b *kernel.Bundle) {
	for _, o := range [...]*uobject.Object{u.xrcd, u.pd, u.sendCQ, u.recvCQ, u.srq, u.indTbl} {
		uobjPutRead(o, b)
	}
}

// checkQPType says whether the user may have a QP of that type.
func checkQPType(b *kernel.Bundle, qpType uint8) error {
	switch qpType {
	case spec.IB_QPT_RAW_PACKET:
		if !b.Task().Capable(process.CAP_NET_RAW) {
			return rule.CmdQPRawPacket
		}
	case spec.IB_QPT_RC, spec.IB_QPT_UC, spec.IB_QPT_UD, spec.IB_QPT_XRC_INI, spec.IB_QPT_XRC_TGT, spec.IB_QPT_DRIVER:
	default:
		return rule.CmdQPType
	}
	return nil
}

// createQP makes a QP for both its commands. It models create_qp in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-qp/raw-packet, cmd-qp/type, cmd-qp/ind-table, cmd-qp/xrcd,
// cmd-qp/srq-xrc, cmd-qp/create-flags, cmd-qp/source-qpn, those of the
// lookups, qp/…, and those of the driver.
func createQP(b *kernel.Bundle, cmd *spec.ExCreateQP) error {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "create_qp").Leave()
	if err := checkQPType(b, cmd.QPType); err != nil {
		return err
	}
	o, _, err := uobjAlloc(b, spec.UVERBS_OBJECT_QP)
	if err != nil {
		return err
	}
	o.UserHandle.Store(cmd.UserHandle)
	var uses qpUses
	var attr core.QPInitAttr
	qp, err := newQP(b, o, cmd, &attr, &uses)
	if err != nil {
		uses.put(b)
		uobjAllocAbort(o, b)
		return err
	}
	core.QPUsecntInc(t, qp)
	o.HW = qp
	u := o.Ext.(*uqp)
	u.SetEventFile(b.Trace(), defaultAsyncEvent(b))
	if uses.xrcd != nil {
		u.uxrcd = uses.xrcd.Ext.(*uxrcd)
		u.uxrcd.refcnt.Add(1)
	}
	uses.put(b)
	uobjFinalizeUobjCreate(o, b)

	resp := spec.ExCreateQPResp{Base: spec.CreateQPResp{
		QPHandle:      uint32(o.ID()),
		QPN:           qp.QPNum,
		MaxSendWR:     attr.Cap.MaxSendWR,
		MaxRecvWR:     attr.Cap.MaxRecvWR,
		MaxSendSGE:    attr.Cap.MaxSendSGE,
		MaxRecvSGE:    attr.Cap.MaxRecvSGE,
		MaxInlineData: attr.Cap.MaxInlineData,
	}}
	resp.ResponseLength = responseLength(b, &resp)
	return response(b, &resp)
}

// newQP is the part of createQP that makes the QP itself. Whatever it has
// looked up is in uses, also after an error.
func newQP(b *kernel.Bundle, o *uobject.Object, cmd *spec.ExCreateQP, attr *core.QPInitAttr, uses *qpUses) (*core.QP, error) {
	var dev *core.Device
	var pd *core.PD
	var err error
	if cmd.CompMask&spec.IB_UVERBS_CREATE_QP_MASK_IND_TABLE != 0 {
		attr.RWQIndTable, uses.indTbl, err = uobjGetObjRead[*core.RWQIndTable](b, spec.UVERBS_OBJECT_RWQ_IND_TBL, cmd.RWQIndTblHandle)
		if err != nil {
			return nil, err
		}
		if cmd.MaxRecvWR != 0 || cmd.MaxRecvSGE != 0 || cmd.IsSRQ != 0 {
			return nil, rule.CmdQPIndTable
		}
	}
	if cmd.QPType == spec.IB_QPT_XRC_TGT {
		// An XRC target lives in an XRC domain, which comes in the PD's place.
		if attr.XRCD, uses.xrcd, err = uobjGetObjRead[*core.XRCD](b, spec.UVERBS_OBJECT_XRCD, cmd.PDHandle); err != nil {
			return nil, rule.CmdQPXRCD
		}
		dev = attr.XRCD.Device
	} else {
		if pd, err = lookupQPUses(b, cmd, attr, uses); err != nil {
			return nil, err
		}
		dev = pd.Device
	}

	attr.EventHandler = qpEventHandler
	attr.SqSigType = signalReqWR
	if cmd.SQSigAll != 0 {
		attr.SqSigType = signalAllWR
	}
	attr.Type = cmd.QPType
	attr.Cap = core.QPCap{
		MaxSendWR:     cmd.MaxSendWR,
		MaxRecvWR:     cmd.MaxRecvWR,
		MaxSendSGE:    cmd.MaxSendSGE,
		MaxRecvSGE:    cmd.MaxRecvSGE,
		MaxInlineData: cmd.MaxInlineData,
	}
	attr.CreateFlags = cmd.CreateFlags
	if attr.CreateFlags&^qpCreateFlags != 0 {
		return nil, rule.CmdQPCreateFlags
	}
	if attr.CreateFlags&spec.IB_QP_CREATE_SOURCE_QPN != 0 {
		if !b.Task().Capable(process.CAP_NET_RAW) {
			return nil, rule.CmdQPSourceQPN
		}
		attr.SourceQPN = cmd.SourceQPN
	}
	return core.CreateQPUser(dev, pd, attr, &b.DriverUdata, o)
}

// Which send work requests make a completion (enum ib_sig_type in
// include/rdma/ib_verbs.h).
const (
	signalAllWR = 0 // IB_SIGNAL_ALL_WR
	signalReqWR = 1 // IB_SIGNAL_REQ_WR
)

// lookupQPUses looks up what a QP other than an XRC target is made of, in the
// order SRQ, receive CQ, send CQ, PD. A receive CQ with the send CQ's handle
// is not looked up by itself; a QP with an indirection table has none, and
// without room for sends no send CQ either.
func lookupQPUses(b *kernel.Bundle, cmd *spec.ExCreateQP, attr *core.QPInitAttr, uses *qpUses) (pd *core.PD, err error) {
	hasRecv := cmd.QPType != spec.IB_QPT_XRC_INI
	if !hasRecv {
		cmd.MaxRecvWR, cmd.MaxRecvSGE = 0, 0
	}
	if hasRecv && cmd.IsSRQ != 0 {
		if attr.SRQ, uses.srq, err = uobjGetObjRead[*core.SRQ](b, spec.UVERBS_OBJECT_SRQ, cmd.SRQHandle); err != nil {
			return nil, err
		}
		if attr.SRQ.Type == spec.IB_UVERBS_SRQT_XRC {
			return nil, rule.CmdQPSRQXRC
		}
	}
	hasTable := attr.RWQIndTable != nil
	if hasRecv && !hasTable && cmd.RecvCQHandle != cmd.SendCQHandle {
		if attr.RecvCQ, uses.recvCQ, err = uobjGetObjRead[*core.CQ](b, spec.UVERBS_OBJECT_CQ, cmd.RecvCQHandle); err != nil {
			return nil, err
		}
	}
	if !hasTable || cmd.MaxSendWR != 0 {
		if attr.SendCQ, uses.sendCQ, err = uobjGetObjRead[*core.CQ](b, spec.UVERBS_OBJECT_CQ, cmd.SendCQHandle); err != nil {
			return nil, err
		}
	}
	if hasRecv && !hasTable && attr.RecvCQ == nil {
		attr.RecvCQ = attr.SendCQ
	}
	pd, uses.pd, err = uobjGetObjRead[*core.PD](b, spec.UVERBS_OBJECT_PD, cmd.PDHandle)
	return pd, err
}

// uverbsCreateQP models ib_uverbs_create_qp in
// drivers/infiniband/core/uverbs_cmd.c. The request's reserved member is not
// looked at.
func uverbsCreateQP(b *kernel.Bundle) error {
	var cmd spec.CreateQP
	if err := request(b, &cmd); err != nil {
		return err
	}
	return createQP(b, &spec.ExCreateQP{
		UserHandle:    cmd.UserHandle,
		PDHandle:      cmd.PDHandle,
		SendCQHandle:  cmd.SendCQHandle,
		RecvCQHandle:  cmd.RecvCQHandle,
		SRQHandle:     cmd.SRQHandle,
		MaxSendWR:     cmd.MaxSendWR,
		MaxRecvWR:     cmd.MaxRecvWR,
		MaxSendSGE:    cmd.MaxSendSGE,
		MaxRecvSGE:    cmd.MaxRecvSGE,
		MaxInlineData: cmd.MaxInlineData,
		SQSigAll:      cmd.SQSigAll,
		QPType:        cmd.QPType,
		IsSRQ:         cmd.IsSRQ,
	})
}

// uverbsExCreateQP is uverbsCreateQP with creation flags and an indirection
// table. It models ib_uverbs_ex_create_qp in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-qp/ex-comp-mask, cmd-qp/ex-reserved, and those of createQP.
func uverbsExCreateQP(b *kernel.Bundle) error {
	var cmd spec.ExCreateQP
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.CompMask&^spec.IB_UVERBS_CREATE_QP_SUP_COMP_MASK != 0 {
		return rule.CmdQPExCompMask
	}
	if cmd.Reserved != 0 {
		return rule.CmdQPExReserved
	}
	return createQP(b, &cmd)
}

// uverbsOpenQP opens an XRC target QP that is there, of another process too.
// Its events go nowhere. It models ib_uverbs_open_qp in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-qp/open-xrcd, qp/open-type, qp/open-unknown, qp/no-memory.
func uverbsOpenQP(b *kernel.Bundle) error {
	var cmd spec.OpenQP
	if err := request(b, &cmd); err != nil {
		return err
	}
	o, _, err := uobjAlloc(b, spec.UVERBS_OBJECT_QP)
	if err != nil {
		return err
	}
	qp, err := openQP(b, o, &cmd)
	if err != nil {
		uobjAllocAbort(o, b)
		return err
	}
	uobjFinalizeUobjCreate(o, b)
	resp := spec.CreateQPResp{QPHandle: uint32(o.ID()), QPN: qp.QPNum}
	return response(b, &resp)
}

// openQP is the part of uverbsOpenQP that holds the XRC domain.
func openQP(b *kernel.Bundle, o *uobject.Object, cmd *spec.OpenQP) (*core.QP, error) {
	xrcd, xrcdObject, err := uobjGetObjRead[*core.XRCD](b, spec.UVERBS_OBJECT_XRCD, cmd.PDHandle)
	if err != nil {
		return nil, rule.CmdQPOpenXRCD
	}
	defer uobjPutRead(xrcdObject, b)
	qp, err := core.OpenQP(b.Task(), xrcd, cmd.QPN, uint32(cmd.QPType), qpEventHandler)
	if err != nil {
		return nil, err
	}
	o.HW = qp
	o.UserHandle.Store(cmd.UserHandle)
	u := o.Ext.(*uqp)
	u.uxrcd = xrcdObject.Ext.(*uxrcd)
	u.uxrcd.refcnt.Add(1)
	qp.Object = o
	return qp, nil
}

// uverbsDestroyQP destroys a QP and tells how many of its events the user has
// read. It models ib_uverbs_destroy_qp in drivers/infiniband/core/uverbs_cmd.c.
func uverbsDestroyQP(b *kernel.Bundle) error {
	var cmd spec.DestroyQP
	if err := request(b, &cmd); err != nil {
		return err
	}
	o, err := uobjGetDestroy(b, spec.UVERBS_OBJECT_QP, cmd.QPHandle)
	if err != nil {
		return err
	}
	resp := spec.DestroyQPResp{EventsReported: o.Ext.(*uqp).EventsReported}
	uobjPutDestroy(o, b)
	return response(b, &resp)
}
