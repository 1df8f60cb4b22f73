package methods

import (
	"math"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// objectQP is UVERBS_OBJECT_QP
// (drivers/infiniband/core/uverbs_std_types_qp.c).
var objectQP = object{
	id:  spec.UVERBS_OBJECT_QP,
	typ: &uobject.TypeAttrs{New: newUQP, Destroy: freeQP},
	methods: map[uint16]kernel.Handler{
		spec.UVERBS_METHOD_QP_CREATE:  qpCreate,
		spec.UVERBS_METHOD_QP_DESTROY: qpDestroy,
	},
}

// freeQP destroys a QP and drops its unread events. A user has to detach it
// from its multicast groups first; on any other way it is detached here. It
// models uverbs_free_qp.
//
// Errors: qp/mcast-attached, qp/busy, and those of the driver.
func freeQP(o *uobject.Object, why uobject.RemoveReason, attrs uobject.Attrs) error {
	task := attrs.Task()
	defer task.Trace.Enter(trace.Uverbs, "uverbs_free_qp").Leave()
	qp, u := o.HW.(*core.QP), o.Ext.(*uqp)
	if why == uobject.RemoveDestroy {
		if len(u.mcastList) != 0 {
			return rule.QPMcastAttached
		}
	} else if qp == qp.RealQP {
		detachUmcast(task, qp, u)
	}
	if err := core.DestroyQPUser(qp, core.UdataOf(attrs)); err != nil {
		return err
	}
	if u.uxrcd != nil {
		u.uxrcd.refcnt.Add(-1)
	}
	u.UEvent.Release(task.Trace)
	return nil
}

// detachUmcast takes a QP out of its multicast groups, whatever the driver
// answers. It models ib_uverbs_detach_umcast in
// drivers/infiniband/core/uverbs_main.c.
func detachUmcast(task *process.Task, qp *core.QP, u *uqp) {
	defer task.Trace.Enter(trace.Uverbs, "ib_uverbs_detach_umcast").Leave()
	for _, m := range u.mcastList {
		core.DetachMcast(task, qp, m.gid, m.lid) // as the kernel does
	}
	u.mcastList = nil
}

// checkCreationFlags says whether QPs of that type may have these flags. It
// models check_creation_flags.
//
// Errors: qp/flags-type, qp/flags-raw-packet.
func checkCreationFlags(t *trace.Task, qpType uint64, flags uint32) error {
	defer t.EnterInlined(trace.Uverbs, "check_creation_flags").Leave()
	flags &^= spec.IB_UVERBS_QP_CREATE_SQ_SIG_ALL
	if flags == 0 || qpType == spec.IB_QPT_DRIVER {
		return nil
	}
	if qpType != spec.IB_QPT_RAW_PACKET && qpType != spec.IB_QPT_UD {
		return rule.QPFlagsType
	}
	const rawPacket = spec.IB_UVERBS_QP_CREATE_SCATTER_FCS | spec.IB_UVERBS_QP_CREATE_CVLAN_STRIPPING
	if flags&rawPacket != 0 && qpType != spec.IB_QPT_RAW_PACKET {
		return rule.QPFlagsRawPacket
	}
	return nil
}

// qpParts are the objects that a QP is made of.
type qpParts struct {
	dev            *core.Device
	pd             *core.PD
	sendCQ, recvCQ *core.CQ
	indTbl         *core.RWQIndTable
	xrcd           *core.XRCD
	uxrcd          *uxrcd
}

// qpCreate makes a QP. It is the handler of UVERBS_METHOD_QP_CREATE.
//
// Errors: qp/type, qp/tgt-objects, qp/xrcd-gone, qp/raw-packet-cap,
// qp/forbidden-object, qp/ind-table-receives, attr/absent, flags/…,
// qp/flags-type, qp/flags-raw-packet, qp/srq-type, qp/unsupported,
// qp/no-memory, attr/output-fault, attr/flag-fault, attr/data-fault,
// const/range, and those of the driver.
func qpCreate(b *kernel.Bundle) error {
	t := b.Trace()
	o := mustObject(b, spec.UVERBS_ATTR_CREATE_QP_HANDLE)
	qpCap, err := qpCaps(b)
	if err != nil {
		return err
	}
	userHandle, err := b.Uint64(spec.UVERBS_ATTR_CREATE_QP_USER_HANDLE)
	if err != nil {
		return err
	}
	qpType, err := b.Const(spec.UVERBS_ATTR_CREATE_QP_TYPE, math.MaxUint32)
	if err != nil {
		return err
	}
	parts, err := qpPartsOf(b, qpType, &qpCap)
	if err != nil {
		return err
	}
	attr := core.QPInitAttr{SendCQ: parts.sendCQ, RecvCQ: parts.recvCQ, XRCD: parts.xrcd, RWQIndTable: parts.indTbl,
		Type: uint8(qpType), EventHandler: qpEventHandler,
		Cap: core.QPCap{MaxSendWR: qpCap.MaxSendWR, MaxRecvWR: qpCap.MaxRecvWR, MaxSendSGE: qpCap.MaxSendSGE,
			MaxRecvSGE: qpCap.MaxRecvSGE, MaxInlineData: qpCap.MaxInlineData}}
	if err := qpFlags(b, qpType, &attr); err != nil {
		return err
	}
	if attr.SRQ, err = qpSRQ(b, qpType); err != nil {
		return err
	}

	u := o.Ext.(*uqp)
	u.SetEventFile(b.Trace(), b.AsyncEvent(spec.UVERBS_ATTR_CREATE_QP_EVENT_FD))
	o.UserHandle.Store(userHandle)
	attr.SqSigType = signalReqWR
	if attr.CreateFlags&spec.IB_UVERBS_QP_CREATE_SQ_SIG_ALL != 0 {
		attr.CreateFlags &^= spec.IB_UVERBS_QP_CREATE_SQ_SIG_ALL // it is unknown to drivers
		attr.SqSigType = signalAllWR
	}
	qp, err := core.CreateQPUser(parts.dev, parts.pd, &attr, &b.DriverUdata, o)
	if err != nil {
		putEventFile(t, &u.UEvent)
		return err
	}
	core.QPUsecntInc(t, qp)
	if parts.uxrcd != nil {
		u.uxrcd = parts.uxrcd
		u.uxrcd.refcnt.Add(1)
	}
	o.HW = qp
	b.FinalizeCreate(spec.UVERBS_ATTR_CREATE_QP_HANDLE)

	qpCap = spec.QPCap{MaxSendWR: attr.Cap.MaxSendWR, MaxRecvWR: attr.Cap.MaxRecvWR, MaxSendSGE: attr.Cap.MaxSendSGE,
		MaxRecvSGE: attr.Cap.MaxRecvSGE, MaxInlineData: attr.Cap.MaxInlineData}
	raw := b.Scratch(spec.QPCapSize)
	copy(raw, spec.Bytes(&qpCap))
	if err := b.CopyToStructOrZero(spec.UVERBS_ATTR_CREATE_QP_RESP_CAP, raw); err != nil {
		return err
	}
	return b.CopyToUint32(spec.UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp.QPNum)
}

// qpCaps reads how large the QP is to be.
func qpCaps(b *kernel.Bundle) (qpCap spec.QPCap, err error) {
	raw := b.Scratch(spec.QPCapSize)
	if err := b.CopyFromOrZero(raw, spec.UVERBS_ATTR_CREATE_QP_CAP); err != nil {
		return qpCap, err
	}
	copy(spec.Bytes(&qpCap), raw)
	return qpCap, nil
}

// qpPartsOf finds the objects that QPs of that type are made of, and refuses
// those that they are not.
func qpPartsOf(b *kernel.Bundle, qpType uint64, qpCap *spec.QPCap) (qpParts, error) {
	switch qpType {
	case spec.IB_QPT_XRC_TGT:
		return xrcTgtParts(b)
	case spec.IB_UVERBS_QPT_RAW_PACKET:
		if !b.Task().Capable(process.CAP_NET_RAW) {
			return qpParts{}, rule.QPRawPacketCap
		}
		fallthrough
	case spec.IB_UVERBS_QPT_RC, spec.IB_UVERBS_QPT_UC, spec.IB_UVERBS_QPT_UD,
		spec.IB_UVERBS_QPT_XRC_INI, spec.IB_UVERBS_QPT_DRIVER:
		return ownParts(b, qpType, qpCap)
	}
	return qpParts{}, rule.QPType
}

// xrcTgtParts are those of an XRC target QP, which lives in its XRC domain.
func xrcTgtParts(b *kernel.Bundle) (qpParts, error) {
	if b.IsValid(spec.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE) ||
		b.IsValid(spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE) ||
		b.IsValid(spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE) ||
		b.IsValid(spec.UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE) {
		return qpParts{}, rule.QPTgtObjects
	}
	o, err := b.Object(spec.UVERBS_ATTR_CREATE_QP_XRCD_HANDLE)
	if err != nil {
		return qpParts{}, err
	}
	xrcd, ok := o.HW.(*core.XRCD)
	if !ok {
		return qpParts{}, rule.QPXRCDGone
	}
	return qpParts{dev: xrcd.Device, xrcd: xrcd, uxrcd: o.Ext.(*uxrcd)}, nil
}

// ownParts are those of every other QP.
func ownParts(b *kernel.Bundle, qpType uint64, qpCap *spec.QPCap) (p qpParts, err error) {
	if b.IsValid(spec.UVERBS_ATTR_CREATE_QP_XRCD_HANDLE) ||
		b.IsValid(spec.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE) && qpType == spec.IB_QPT_XRC_INI {
		return p, rule.QPForbiddenObject
	}
	if p.pd, err = attrHW[*core.PD](b, spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE); err != nil {
		return p, err
	}
	p.dev = p.pd.Device
	if indTbl, err := attrHW[*core.RWQIndTable](b, spec.UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE); err == nil {
		p.indTbl = indTbl
		// The table's work queues receive; it may send as well.
		if qpCap.MaxRecvWR != 0 || qpCap.MaxRecvSGE != 0 ||
			b.IsValid(spec.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE) ||
			b.IsValid(spec.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE) {
			return p, rule.QPIndTableReceives
		}
		if qpCap.MaxSendWR != 0 {
			p.sendCQ, err = attrHW[*core.CQ](b, spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE)
		}
		return p, err
	}
	if p.sendCQ, err = attrHW[*core.CQ](b, spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE); err != nil {
		return p, err
	}
	if qpType != spec.IB_QPT_XRC_INI {
		p.recvCQ, err = attrHW[*core.CQ](b, spec.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE)
	}
	return p, err
}

// qpFlags reads the flags, and the QP number that a QP is to send under.
func qpFlags(b *kernel.Bundle, qpType uint64, attr *core.QPInitAttr) (err error) {
	attr.CreateFlags, err = b.Flags32(spec.UVERBS_ATTR_CREATE_QP_FLAGS,
		spec.IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK|
			spec.IB_UVERBS_QP_CREATE_SCATTER_FCS|
			spec.IB_UVERBS_QP_CREATE_CVLAN_STRIPPING|
			spec.IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING|
			spec.IB_UVERBS_QP_CREATE_SQ_SIG_ALL)
	if err != nil {
		return err
	}
	if err := checkCreationFlags(b.Trace(), qpType, attr.CreateFlags); err != nil {
		return err
	}
	if !b.IsValid(spec.UVERBS_ATTR_CREATE_QP_SOURCE_QPN) {
		return nil
	}
	attr.SourceQPN, err = b.Uint32(spec.UVERBS_ATTR_CREATE_QP_SOURCE_QPN)
	attr.CreateFlags |= spec.IB_QP_CREATE_SOURCE_QPN
	return err
}

// qpSRQ returns the SRQ that the QP is to receive from, nil if it was given
// none. XRC target QPs receive from XRC SRQs, and no others do.
func qpSRQ(b *kernel.Bundle, qpType uint64) (*core.SRQ, error) {
	srq, err := attrHW[*core.SRQ](b, spec.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE)
	if err != nil {
		return nil, nil
	}
	if (srq.Type == spec.IB_UVERBS_SRQT_XRC) != (qpType == spec.IB_QPT_XRC_TGT) {
		return nil, rule.QPSRQType
	}
	return srq, nil
}

// qpDestroy tells how many events of a QP, destroyed just before, the user has
// read. It is the handler of UVERBS_METHOD_QP_DESTROY.
//
// Errors: attr/output-fault, attr/flag-fault.
func qpDestroy(b *kernel.Bundle) error {
	u := mustObject(b, spec.UVERBS_ATTR_DESTROY_QP_HANDLE).Ext.(*uqp)
	return b.CopyToUint32(spec.UVERBS_ATTR_DESTROY_QP_RESP, u.EventsReported)
}
