package rxe

import (
	"math/bits"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// modifyQP models rxe_modify_qp in drivers/infiniband/sw/rxe/rxe_verbs.c.
//
// Errors: rxe/qp-mask, those of qpChkAttr and of fromAttr.
func modifyQP(ibqp *core.QP, attr *core.QPAttr, mask uint32, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_modify_qp").Leave()
	d, qp := toRdev(ibqp.Device), toRqp(ibqp)
	if mask&^spec.IB_QP_ATTR_STANDARD_BITS != 0 {
		return rule.RxeQPMask
	}
	if err := d.qpChkAttr(t, qp, attr, mask); err != nil {
		return err
	}
	return qp.fromAttr(t, attr, mask)
}

// qpChkAttr models rxe_qp_chk_attr in drivers/infiniband/sw/rxe/rxe_qp.c.
//
// Errors: rxe/qp-port, rxe/qp-access-type, rxe/qp-access, rxe/qp-alt-port,
// rxe/qp-alt-timeout, rxe/qp-mtu, rxe/qp-rd-atomic, rxe/qp-timeout, those of
// chkState, qpChkCap and avChkAttr.
func (d *rxeDev) qpChkAttr(t *trace.Task, qp *rxeQP, attr *core.QPAttr, mask uint32) error {
	defer t.Enter(module, "rxe_qp_chk_attr").Leave()
	if !d.kernel.Has(spec.RxeModifyQPStateLast) {
		if err := qp.chkStateNow(t, attr, mask); err != nil {
			return err
		}
	}
	if mask&spec.IB_QP_PORT != 0 && !d.ib.IsPort(attr.PortNum) {
		return rule.RxeQPPort
	}
	if mask&spec.IB_QP_CAP != 0 {
		if err := d.qpChkCap(t, &attr.Cap, qp.srq != nil); err != nil {
			return err
		}
	}
	if mask&spec.IB_QP_ACCESS_FLAGS != 0 && d.kernel.Has(spec.RxeQPAccess) {
		if qp.ib.Type != spec.IB_QPT_RC && qp.ib.Type != spec.IB_QPT_UC {
			return rule.RxeQPAccessType
		}
		if attr.AccessFlags&^accessSupportedQP != 0 {
			return rule.RxeQPAccess
		}
	}
	if mask&spec.IB_QP_AV != 0 {
		if err := d.avChkAttr(t, &attr.AH); err != nil {
			return err
		}
	}
	if mask&spec.IB_QP_ALT_PATH != 0 {
		if err := d.qpChkAltPath(t, attr); err != nil {
			return err
		}
	}
	switch {
	case mask&spec.IB_QP_PATH_MTU != 0 && attr.PathMTU > d.port.Load().MaxMTU:
		return rule.RxeQPMTU
	case mask&spec.IB_QP_MAX_QP_RD_ATOMIC != 0 && uint32(attr.MaxRdAtomic) > d.attr.MaxQPRdAtom:
		return rule.RxeQPRdAtomic
	case mask&spec.IB_QP_TIMEOUT != 0 && attr.Timeout > 31:
		return rule.RxeQPTimeout
	}
	return nil
}

func (d *rxeDev) qpChkAltPath(t *trace.Task, attr *core.QPAttr) error {
	if err := d.avChkAttr(t, &attr.AltAH); err != nil {
		return err
	}
	if !d.ib.IsPort(attr.AltPortNum) {
		return rule.RxeQPAltPort
	}
	if attr.AltTimeout > 31 {
		return rule.RxeQPAltTimeout
	}
	return nil
}

// fromAttr models rxe_qp_from_attr in drivers/infiniband/sw/rxe/rxe_qp.c.
//
// Errors: rxe/qp-resources-no-memory, and those of chkState.
func (qp *rxeQP) fromAttr(t *trace.Task, attr *core.QPAttr, mask uint32) error {
	defer t.Enter(module, "rxe_qp_from_attr").Leave()
	if mask&spec.IB_QP_STATE != 0 {
		if err := qp.setState(t, attr, mask); err != nil {
			return err
		}
	}
	if mask&spec.IB_QP_MAX_DEST_RD_ATOMIC != 0 {
		qp.recvTask.disable(t)
		if t.Fail(trace.Alloc, "resources") {
			qp.stateLock.Lock(t)
			qp.takeAttr(t, attr, mask&(spec.IB_QP_MAX_QP_RD_ATOMIC|spec.IB_QP_MAX_DEST_RD_ATOMIC))
			qp.stateLock.Unlock(t)
			return rule.RxeQPResourcesNoMemory
		}
		qp.recvTask.enable(t)
	}
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	qp.takeAttr(t, attr, mask)
	return nil
}

// setState moves the QP to the state that the user wants, or leaves it where
// it is.
func (qp *rxeQP) setState(t *trace.Task, attr *core.QPAttr, mask uint32) error {
	qp.stateLock.Lock(t)
	err := qp.chkState(t, attr, mask)
	if err == nil {
		qp.attr.State = attr.State
	}
	qp.stateLock.Unlock(t)
	if err != nil {
		return err
	}
	switch attr.State {
	case spec.IB_QPS_RESET:
		qp.reset(t)
	case spec.IB_QPS_SQD:
		qp.sqd(t)
	case spec.IB_QPS_ERR:
		qp.error(t)
	}
	return nil
}

// chkState models __qp_chk_state in drivers/infiniband/sw/rxe/rxe_qp.c: the
// state that the user says the QP is in counts, where he says so. The caller
// holds the state lock.
//
// Errors: rxe/qp-transition, rxe/qp-draining.
func (qp *rxeQP) chkState(t *trace.Task, attr *core.QPAttr, mask uint32) error {
	defer t.EnterInlined(module, "__qp_chk_state").Leave()
	cur := qp.attr.State
	if mask&spec.IB_QP_CUR_STATE != 0 {
		cur = attr.CurState
	}
	next := cur
	if mask&spec.IB_QP_STATE != 0 {
		next = attr.State
	}
	if !core.ModifyQPIsOK(t, cur, next, qp.ib.Type, mask) {
		return rule.RxeQPTransition
	}
	if mask&spec.IB_QP_STATE != 0 && cur == spec.IB_QPS_SQD && qp.attr.SQDraining != 0 && next != spec.IB_QPS_ERR {
		return rule.RxeQPDraining
	}
	return nil
}

// chkStateNow is chkState for a caller who does not hold the lock.
func (qp *rxeQP) chkStateNow(t *trace.Task, attr *core.QPAttr, mask uint32) error {
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	return qp.chkState(t, attr, mask)
}

// takeAttr is the rest of rxe_qp_from_attr. The caller holds the state lock.
func (qp *rxeQP) takeAttr(t *trace.Task, attr *core.QPAttr, mask uint32) {
	for _, f := range qpAttrs {
		if mask&f.mask != 0 {
			f.take(qp, attr)
		}
	}
	if mask&spec.IB_QP_AV != 0 {
		qp.dev.initAV(t, &attr.AH, &qp.priAV)
	}
	if mask&spec.IB_QP_ALT_PATH != 0 {
		qp.dev.initAV(t, &attr.AltAH, &qp.altAV)
	}
}

// qpAttrs says what the QP keeps of each attribute.
var qpAttrs = []struct {
	mask uint32
	take func(qp *rxeQP, attr *core.QPAttr)
}{
	{spec.IB_QP_MAX_QP_RD_ATOMIC, func(qp *rxeQP, a *core.QPAttr) {
		qp.attr.MaxRdAtomic = roundupPow2(a.MaxRdAtomic)
		qp.req.rdAtomic = int32(qp.attr.MaxRdAtomic)
	}},
	{spec.IB_QP_MAX_DEST_RD_ATOMIC, func(qp *rxeQP, a *core.QPAttr) { qp.attr.MaxDestRdAtomic = roundupPow2(a.MaxDestRdAtomic) }},
	{spec.IB_QP_EN_SQD_ASYNC_NOTIFY, func(qp *rxeQP, a *core.QPAttr) { qp.attr.EnSQDAsyncNotify = a.EnSQDAsyncNotify }},
	{spec.IB_QP_ACCESS_FLAGS, func(qp *rxeQP, a *core.QPAttr) { qp.attr.AccessFlags = a.AccessFlags }},
	{spec.IB_QP_PKEY_INDEX, func(qp *rxeQP, a *core.QPAttr) { qp.attr.PkeyIndex = a.PkeyIndex }},
	{spec.IB_QP_PORT, func(qp *rxeQP, a *core.QPAttr) { qp.attr.PortNum = a.PortNum }},
	{spec.IB_QP_QKEY, func(qp *rxeQP, a *core.QPAttr) { qp.attr.QKey = a.QKey }},
	{spec.IB_QP_ALT_PATH, func(qp *rxeQP, a *core.QPAttr) {
		qp.attr.AltPortNum, qp.attr.AltPkeyIndex, qp.attr.AltTimeout = a.AltPortNum, a.AltPkeyIndex, a.AltTimeout
	}},
	{spec.IB_QP_PATH_MTU, func(qp *rxeQP, a *core.QPAttr) { qp.attr.PathMTU = a.PathMTU }},
	{spec.IB_QP_TIMEOUT, func(qp *rxeQP, a *core.QPAttr) { qp.attr.Timeout = a.Timeout }},
	{spec.IB_QP_RETRY_CNT, func(qp *rxeQP, a *core.QPAttr) { qp.attr.RetryCnt, qp.comp.retryCnt = a.RetryCnt, a.RetryCnt }},
	{spec.IB_QP_RNR_RETRY, func(qp *rxeQP, a *core.QPAttr) { qp.attr.RNRRetry, qp.comp.rnrRetry = a.RNRRetry, a.RNRRetry }},
	{spec.IB_QP_RQ_PSN, func(qp *rxeQP, a *core.QPAttr) { qp.resp.psn = a.RqPSN & psnMask }},
	{spec.IB_QP_MIN_RNR_TIMER, func(qp *rxeQP, a *core.QPAttr) { qp.attr.MinRNRTimer = a.MinRNRTimer }},
	{spec.IB_QP_SQ_PSN, func(qp *rxeQP, a *core.QPAttr) {
		qp.req.psn = a.SqPSN & psnMask
		qp.comp.psn = qp.req.psn
	}},
	{spec.IB_QP_PATH_MIG_STATE, func(qp *rxeQP, a *core.QPAttr) { qp.attr.PathMigState = a.PathMigState }},
	{spec.IB_QP_DEST_QPN, func(qp *rxeQP, a *core.QPAttr) { qp.attr.DestQPNum = a.DestQPNum }},
}

const psnMask = 0xffffff // BTH_PSN_MASK

// roundupPow2 is roundup_pow_of_two of include/linux/log2.h, and 0 for 0. Above
// 128 it is 256, of which the attribute's 8 bits keep 0.
func roundupPow2(n uint8) uint8 {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len8(n-1)
}

// reset empties the QP and brings it back to how it began. It models
// rxe_qp_reset in drivers/infiniband/sw/rxe/rxe_qp.c.
func (qp *rxeQP) reset(t *trace.Task) {
	defer t.EnterInlined(module, "rxe_qp_reset").Leave()
	qp.recvTask.disable(t)
	qp.sendTask.disable(t)
	qp.send(t)
	qp.receive(t)
	if qp.rq.queue != nil {
		qp.rq.queue.reset(t)
	}
	if qp.sq.queue != nil {
		qp.sq.queue.reset(t)
	}
	qp.resp.sentPSNNak, qp.resp.gotoError = false, false
	qp.dropMR(t)
	qp.recvTask.enable(t)
	qp.sendTask.enable(t)
}

// sqd has the send queue drained. It models rxe_qp_sqd in
// drivers/infiniband/sw/rxe/rxe_qp.c.
func (qp *rxeQP) sqd(t *trace.Task) {
	defer t.EnterInlined(module, "rxe_qp_sqd").Leave()
	qp.stateLock.Lock(t)
	qp.attr.SQDraining = 1
	qp.sendTask.sched(t)
	qp.stateLock.Unlock(t)
}

// error moves the QP to the error state and has its queues flushed. It models
// rxe_qp_error in drivers/infiniband/sw/rxe/rxe_qp.c.
func (qp *rxeQP) error(t *trace.Task) {
	defer t.Enter(module, "rxe_qp_error").Leave()
	qp.stateLock.Lock(t)
	qp.attr.State = spec.IB_QPS_ERR
	qp.recvTask.sched(t)
	qp.sendTask.sched(t)
	qp.stateLock.Unlock(t)
}
