package core

import (
	"slices"

	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// CreateQPUser makes a queue pair of o. The driver writes into attr what it
// really holds. An XRC target QP is made as a QP of the kernel's own, with no
// data of the driver and no object, and what is returned is a first handle on
// it. The caller counts the uses with QPUsecntInc. It models
// ib_create_qp_user in drivers/infiniband/core/verbs.c.
//
// Errors: qp/unsupported, qp/no-memory, and those of the driver.
func CreateQPUser(dev *Device, pd *PD, attr *QPInitAttr, udata *Udata, o *uobject.Object) (*QP, error) {
	t := udata.Trace()
	defer t.Enter(trace.Core, "ib_create_qp_user").Leave()
	if attr.Type != spec.IB_QPT_XRC_TGT {
		return createQP(dev, pd, attr, udata, o)
	}
	none := &Udata{Attrs: udata.Attrs}
	realQP, err := createQP(dev, pd, attr, none, nil)
	if err != nil {
		return nil, err
	}
	qp, err := createXRCQPUser(t, realQP, attr)
	if err != nil {
		DestroyQPUser(realQP, none) // as the kernel does
		return nil, err
	}
	qp.Object = o
	return qp, nil
}

// createQP models create_qp in drivers/infiniband/core/verbs.c.
func createQP(dev *Device, pd *PD, attr *QPInitAttr, udata *Udata, o *uobject.Object) (*QP, error) {
	t := udata.Trace()
	if dev.Ops.CreateQP == nil {
		return nil, rule.QPUnsupported
	}
	defer t.Enter(trace.Core, "create_qp.part.0").Leave()
	if t.Fail(trace.Alloc, "ib_qp") {
		return nil, rule.QPNoMemory
	}
	qp := &QP{Device: dev, PD: pd, Object: o, Type: attr.Type, RWQIndTable: attr.RWQIndTable, SRQ: attr.SRQ,
		SendCQ: attr.SendCQ, RecvCQ: attr.RecvCQ, EventHandler: attr.EventHandler}
	qp.RealQP = qp
	if err := dev.Ops.CreateQP(qp, attr, udata); err != nil {
		return nil, err
	}
	qp.SendCQ, qp.RecvCQ = attr.SendCQ, attr.RecvCQ
	return qp, nil
}

// createXRCQPUser makes a fresh QP one that is shared, and opens the first
// handle on it. It models create_xrc_qp_user in
// drivers/infiniband/core/verbs.c.
func createXRCQPUser(t *trace.Task, realQP *QP, attr *QPInitAttr) (*QP, error) {
	defer t.EnterInlined(trace.Core, "create_xrc_qp_user").Leave()
	realQP.EventHandler = sharedQPEventHandler
	realQP.PD, realQP.SendCQ, realQP.RecvCQ, realQP.SRQ = nil, nil, nil, nil
	realQP.XRCD = attr.XRCD
	realQP.openLock.Name = "qp_open_list_lock"
	attr.XRCD.Usecnt.Count(t, "ib_xrcd", 1)
	qp, err := openQP(t, realQP, attr.EventHandler)
	if err != nil {
		return nil, err
	}
	if t.Fail(trace.Alloc, "tgt_qps") {
		CloseQP(t, qp) // it is a handle
		return nil, rule.QPNoMemory
	}
	attr.XRCD.tgtQPs.store(t, realQP)
	return qp, nil
}

// sharedQPEventHandler hands an event of a shared QP to all its handles. It
// models __ib_shared_qp_event_handler in drivers/infiniband/core/verbs.c.
func sharedQPEventHandler(t *trace.Task, e *Event) {
	defer t.Enter(trace.Core, "__ib_shared_qp_event_handler").Leave()
	realQP := e.QP
	realQP.openLock.Lock(t)
	defer realQP.openLock.Unlock(t)
	for _, qp := range realQP.open {
		if qp.EventHandler != nil {
			qp.EventHandler(t, &Event{Type: e.Type, QP: qp})
		}
	}
}

// openQP makes one more handle on a shared QP. It models __ib_open_qp in
// drivers/infiniband/core/verbs.c.
func openQP(t *trace.Task, realQP *QP, handler func(*trace.Task, *Event)) (*QP, error) {
	defer t.Enter(trace.Core, "__ib_open_qp").Leave()
	if t.Fail(trace.Alloc, "ib_qp") {
		return nil, rule.QPNoMemory
	}
	qp := &QP{Device: realQP.Device, RealQP: realQP, QPNum: realQP.QPNum, Type: realQP.Type, EventHandler: handler}
	realQP.Usecnt.Count(t, "ib_qp", 1)
	realQP.openLock.Lock(t)
	realQP.open = slices.Insert(realQP.open, 0, qp)
	realQP.openLock.Unlock(t)
	return qp, nil
}

// OpenQP opens a handle on the XRC target QP of that number. It models
// ib_open_qp in drivers/infiniband/core/verbs.c.
//
// Errors: qp/open-type, qp/open-unknown, qp/no-memory.
func OpenQP(task *process.Task, xrcd *XRCD, num uint32, qpType uint32, handler func(*trace.Task, *Event)) (*QP, error) {
	t := task.Trace
	defer t.Enter(trace.Core, "ib_open_qp").Leave()
	if qpType != spec.IB_QPT_XRC_TGT {
		return nil, rule.QPOpenType
	}
	xrcd.tgtQPsRwsem.DownRead(t)
	defer xrcd.tgtQPsRwsem.UpRead(t)
	realQP := xrcd.tgtQPs.load(t, num)
	if realQP == nil {
		return nil, rule.QPOpenUnknown
	}
	return openQP(t, realQP, handler)
}

// CloseQP closes a handle on a shared QP. It models ib_close_qp in
// drivers/infiniband/core/verbs.c.
//
// Errors: qp/not-shared.
func CloseQP(t *trace.Task, qp *QP) error {
	defer t.Enter(trace.Core, "ib_close_qp").Leave()
	realQP := qp.RealQP
	if realQP == qp {
		return rule.QPNotShared
	}
	realQP.openLock.Lock(t)
	if i := slices.Index(realQP.open, qp); i >= 0 {
		realQP.open = slices.Delete(realQP.open, i, i+1)
	}
	realQP.openLock.Unlock(t)
	realQP.Usecnt.Count(t, "ib_qp", -1)
	return nil
}

// QPUsecntInc counts the QP as a user of what it is made of. It models
// ib_qp_usecnt_inc in drivers/infiniband/core/verbs.c.
func QPUsecntInc(t *trace.Task, qp *QP) {
	defer t.Enter(trace.Core, "ib_qp_usecnt_inc").Leave()
	qp.countUses(t, 1)
}

// QPUsecntDec undoes QPUsecntInc. It models ib_qp_usecnt_dec in
// drivers/infiniband/core/verbs.c.
func QPUsecntDec(t *trace.Task, qp *QP) {
	defer t.Enter(trace.Core, "ib_qp_usecnt_dec").Leave()
	qp.countUses(t, -1)
}

func (qp *QP) countUses(t *trace.Task, n int32) {
	if qp.PD != nil {
		qp.PD.Usecnt.Count(t, "ib_pd", n)
	}
	if qp.SendCQ != nil {
		qp.SendCQ.Usecnt.Count(t, "ib_cq", n)
	}
	if qp.RecvCQ != nil {
		qp.RecvCQ.Usecnt.Count(t, "ib_cq", n)
	}
	if qp.SRQ != nil {
		qp.SRQ.Usecnt.Count(t, "ib_srq", n)
	}
	if qp.RWQIndTable != nil {
		qp.RWQIndTable.Usecnt.Count(t, "ib_rwq_ind_table", n)
	}
}

// DestroyQPUser destroys a QP that no flow and no multicast group uses any
// more. Of a shared QP it closes the handle, and destroys the QP with the last
// one. It models ib_destroy_qp_user in drivers/infiniband/core/verbs.c.
//
// Errors: qp/busy, and those of the driver.
func DestroyQPUser(qp *QP, udata *Udata) error {
	t := udata.Trace()
	defer t.Enter(trace.Core, "ib_destroy_qp_user").Leave()
	if qp.Usecnt.Read(t, "ib_qp") != 0 {
		return rule.QPBusy
	}
	if qp.RealQP != qp {
		return destroySharedQP(qp, udata)
	}
	if err := qp.Device.Ops.DestroyQP(qp, udata); err != nil {
		return err
	}
	QPUsecntDec(t, qp)
	return nil
}

// destroySharedQP models __ib_destroy_shared_qp in
// drivers/infiniband/core/verbs.c. What the destruction of the QP itself
// answers is lost.
func destroySharedQP(qp *QP, udata *Udata) error {
	t := udata.Trace()
	defer t.EnterInlined(trace.Core, "__ib_destroy_shared_qp").Leave()
	realQP := qp.RealQP
	xrcd := realQP.XRCD
	xrcd.tgtQPsRwsem.DownWrite(t)
	CloseQP(t, qp) // it is a handle
	last := realQP.Usecnt.Read(t, "ib_qp") == 0
	if last {
		xrcd.tgtQPs.erase(t, realQP.QPNum)
	}
	xrcd.tgtQPsRwsem.UpWrite(t)
	if last && DestroyQPUser(realQP, &Udata{Attrs: udata.Attrs}) == nil {
		xrcd.Usecnt.Count(t, "ib_xrcd", -1)
	}
	return nil
}
