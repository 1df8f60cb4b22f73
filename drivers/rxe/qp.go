package rxe

import (
	"sync"
	"sync/atomic"
	"time"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// sendQueue is a struct rxe_sq.
type sendQueue struct {
	maxWR, maxSGE, maxInline uint32
	queue                    *queue
}

// rxeQP is a struct rxe_qp.
type rxeQP struct {
	elem
	dev *rxeDev
	ib  *core.QP

	pd       *rxePD
	srq      *rxeSRQ // nil if it has a receive queue of its own
	scq, rcq *rxeCQ

	sqSigType uint8
	sq        sendQueue
	rq        recvQueue
	mcgNum    atomic.Int32 // multicast groups it is in

	sendTask, recvTask task

	// What came for the two tasks.
	reqPkts, respPkts messageQueue

	stateLock    trace.Mutex // state_lock, over what follows
	attr         core.QPAttr
	valid        bool // between creation and destruction
	priAV, altAV spec.RxeAV
	req          reqInfo
	comp         compInfo
	resp         respInfo

	timers       sync.Mutex  // over what follows
	retrans, rnr *time.Timer // retrans_timer and rnr_nak_timer, nil until first started
	retransRuns  bool
}

func toRqp(qp *core.QP) *rxeQP { return qp.Driver.(*rxeQP) }

// State is the state that the driver takes the queue pair to be in.
func (qp *rxeQP) State(t *trace.Task) uint8 {
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	return qp.attr.State
}

// A struct rxe_create_qp_resp, in bytes, and where its two halves lie.
const (
	createQPRespSize = 32
	createQPRespRQ   = 0
	createQPRespSQ   = 16
)

// createQP models rxe_create_qp in drivers/infiniband/sw/rxe/rxe_verbs.c. The
// response is a struct rxe_create_qp_resp. The capabilities in init become
// those that the QP got.
//
// Errors: rxe/create-qp-udata-in, rxe/create-qp-udata-out,
// rxe/create-qp-flags, those of qpChkInit, of pool.add and of qpFromInit.
func createQP(ibqp *core.QP, init *core.QPInitAttr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_create_qp").Leave()
	d := toRdev(ibqp.Device)
	udataFirst := d.kernel.Has(spec.RxeCreateQPUdataFirst)
	if udata.InLen != 0 && udataFirst {
		return rule.RxeCreateQPUdataIn
	}
	resp, ok := respAddr(udata, createQPRespSize)
	if !ok {
		return rule.RxeCreateQPUdataOut
	}
	if init.CreateFlags != 0 {
		return rule.RxeCreateQPFlags
	}
	if err := d.qpChkInit(t, init); err != nil {
		return err
	}
	if udata.InLen != 0 && !udataFirst {
		return rule.RxeCreateQPUdataIn
	}
	qp := &rxeQP{dev: d, ib: ibqp}
	if err := d.qpPool.add(t, &qp.elem, qp); err != nil {
		return err
	}
	ibqp.Driver = qp
	if err := d.qpFromInit(qp, init, resp, udata); err != nil {
		qp.cleanup(t)
		return err
	}
	qp.finalize(t)
	return nil
}

// qpChkInit models rxe_qp_chk_init in drivers/infiniband/sw/rxe/rxe_qp.c. A
// GSI QP needs a port, which only clients in the kernel name.
//
// Errors: rxe/qp-type, rxe/qp-no-cq, rxe/qp-gsi-port, those of qpChkCap.
func (d *rxeDev) qpChkInit(t *trace.Task, init *core.QPInitAttr) error {
	defer t.Enter(module, "rxe_qp_chk_init").Leave()
	switch init.Type {
	case spec.IB_QPT_GSI, spec.IB_QPT_RC, spec.IB_QPT_UC, spec.IB_QPT_UD:
	default:
		return rule.RxeQPType
	}
	if init.RecvCQ == nil || init.SendCQ == nil {
		return rule.RxeQPNoCQ
	}
	if err := d.qpChkCap(t, &init.Cap, init.SRQ != nil); err != nil {
		return err
	}
	if init.Type == spec.IB_QPT_GSI {
		return rule.RxeQPGSIPort
	}
	return nil
}

// qpChkCap models rxe_qp_chk_cap in drivers/infiniband/sw/rxe/rxe_qp.c.
//
// Errors: rxe/qp-send-wr, rxe/qp-send-sge, rxe/qp-recv-wr, rxe/qp-recv-sge,
// rxe/qp-inline.
func (d *rxeDev) qpChkCap(t *trace.Task, c *core.QPCap, hasSRQ bool) error {
	defer t.Enter(module, "rxe_qp_chk_cap").Leave()
	switch {
	case c.MaxSendWR > d.attr.MaxQPWR:
		return rule.RxeQPSendWR
	case c.MaxSendSGE > d.attr.MaxSendSGE:
		return rule.RxeQPSendSGE
	case !hasSRQ && c.MaxRecvWR > d.attr.MaxQPWR:
		return rule.RxeQPRecvWR
	case !hasSRQ && c.MaxRecvSGE > d.attr.MaxRecvSGE:
		return rule.RxeQPRecvSGE
	case c.MaxInlineData > maxInlineData:
		return rule.RxeQPInline
	}
	return nil
}

// qpFromInit models rxe_qp_from_init in drivers/infiniband/sw/rxe/rxe_qp.c.
//
// Errors: rxe/qp-no-socket, rxe/create-qp-no-memory, those of queue.mmapInfo.
func (d *rxeDev) qpFromInit(qp *rxeQP, init *core.QPInitAttr, resp copyuser.Addr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_qp_from_init").Leave()
	qp.hold(t, init)
	qp.initMisc(t, init)
	if err := qp.initReq(init, resp, udata); err != nil {
		qp.release(t)
		return err
	}
	if err := qp.initResp(init, resp, udata); err != nil {
		qp.sq.queue.cleanup(t)
		qp.sq.queue = nil
		qp.release(t)
		return err
	}
	qp.stateLock.Lock(t)
	qp.attr.State = spec.IB_QPS_RESET
	qp.valid = true
	qp.stateLock.Unlock(t)
	return nil
}

// hold takes references on all that the QP works with.
func (qp *rxeQP) hold(t *trace.Task, init *core.QPInitAttr) {
	qp.pd, qp.rcq, qp.scq = toRpd(qp.ib.PD), toRcq(init.RecvCQ), toRcq(init.SendCQ)
	qp.pd.get(t)
	qp.rcq.get(t)
	qp.scq.get(t)
	if init.SRQ != nil {
		qp.srq = toRsrq(init.SRQ)
		qp.srq.get(t)
	}
	qp.rcq.numWQ.Add(1)
	qp.scq.numWQ.Add(1)
}

// release undoes hold.
func (qp *rxeQP) release(t *trace.Task) {
	qp.rcq.numWQ.Add(-1)
	qp.scq.numWQ.Add(-1)
	if qp.srq != nil {
		qp.srq.put(t)
	}
	qp.scq.put(t)
	qp.rcq.put(t)
	qp.pd.put(t)
	qp.pd, qp.rcq, qp.scq, qp.srq = nil, nil, nil, nil
}

// initMisc models rxe_qp_init_misc in drivers/infiniband/sw/rxe/rxe_qp.c.
func (qp *rxeQP) initMisc(t *trace.Task, init *core.QPInitAttr) {
	defer t.EnterInlined(module, "rxe_qp_init_misc").Leave()
	qp.sqSigType = init.SqSigType
	qp.attr.PathMTU = spec.IB_MTU_256
	qp.ib.QPNum = qp.index
	qp.stateLock.Name = "state_lock"
	qp.rq.initLocks()
}

// initReq models rxe_qp_init_req in drivers/infiniband/sw/rxe/rxe_qp.c: what
// the QP needs to send.
func (qp *rxeQP) initReq(init *core.QPInitAttr, resp copyuser.Addr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.EnterInlined(module, "rxe_qp_init_req").Leave()
	if t.Fail(trace.Alloc, "socket") {
		return rule.RxeQPNoSocket
	}
	if err := qp.initSQ(init, resp, udata); err != nil {
		return err
	}
	qp.req.wqeIndex = qp.sq.queue.producer(fromClient)
	qp.sendTask.init(t, qp, sender)
	return nil
}

// initSQ models rxe_init_sq in drivers/infiniband/sw/rxe/rxe_qp.c. Inline data
// and gather entries lie in the same place, so the larger of both decides.
func (qp *rxeQP) initSQ(init *core.QPInitAttr, resp copyuser.Addr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.EnterInlined(module, "rxe_init_sq").Leave()
	sq := &qp.sq
	sq.maxInline = max(init.Cap.MaxSendSGE*sgeSize, init.Cap.MaxInlineData)
	sq.maxSGE = sq.maxInline / sgeSize
	q, n := qp.dev.newQueue(t, init.Cap.MaxSendWR, sendWQESize+sq.maxInline, fromClient)
	if q == nil {
		return rule.RxeCreateQPNoMemory
	}
	if err := q.mmapInfo(respMember(resp, createQPRespSQ), udata); err != nil {
		return err
	}
	sq.queue, sq.maxWR = q, n
	init.Cap.MaxSendSGE, init.Cap.MaxInlineData = sq.maxSGE, sq.maxInline
	if qp.dev.kernel.Has(spec.RxeGrantedQPSize) {
		init.Cap.MaxSendWR = n
	}
	return nil
}

// initResp models rxe_qp_init_resp in drivers/infiniband/sw/rxe/rxe_qp.c: what
// the QP needs to receive.
func (qp *rxeQP) initResp(init *core.QPInitAttr, resp copyuser.Addr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.EnterInlined(module, "rxe_qp_init_resp").Leave()
	if qp.srq == nil {
		if err := qp.initRQ(init, resp, udata); err != nil {
			return err
		}
	}
	qp.recvTask.init(t, qp, receiver)
	return nil
}

// initRQ models rxe_init_rq in drivers/infiniband/sw/rxe/rxe_qp.c.
func (qp *rxeQP) initRQ(init *core.QPInitAttr, resp copyuser.Addr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.EnterInlined(module, "rxe_init_rq").Leave()
	rq := &qp.rq
	rq.maxSGE = init.Cap.MaxRecvSGE
	q, n := qp.dev.newQueue(t, init.Cap.MaxRecvWR, rq.wqeSize(), fromClient)
	if q == nil {
		return rule.RxeCreateQPNoMemory
	}
	if err := q.mmapInfo(respMember(resp, createQPRespRQ), udata); err != nil {
		return err
	}
	rq.queue, rq.maxWR = q, n
	if qp.dev.kernel.Has(spec.RxeGrantedQPSize) {
		init.Cap.MaxRecvWR = n
	}
	return nil
}

// respMember is where a member of the response goes, 0 if there is none.
func respMember(resp, off copyuser.Addr) copyuser.Addr {
	if resp == 0 {
		return 0
	}
	return resp + off
}

// destroyQP models rxe_destroy_qp in drivers/infiniband/sw/rxe/rxe_verbs.c.
//
// Errors: rxe/qp-in-mcast-group.
func destroyQP(ibqp *core.QP, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_destroy_qp").Leave()
	qp := toRqp(ibqp)
	if err := qp.chkDestroy(t); err != nil {
		return err
	}
	qp.cleanup(t)
	return nil
}

// chkDestroy models rxe_qp_chk_destroy in drivers/infiniband/sw/rxe/rxe_qp.c.
func (qp *rxeQP) chkDestroy(t *trace.Task) error {
	defer t.Enter(module, "rxe_qp_chk_destroy").Leave()
	if qp.mcgNum.Load() != 0 {
		return rule.RxeQPInMcastGroup
	}
	return nil
}

// qpCleanup models rxe_qp_cleanup in drivers/infiniband/sw/rxe/rxe_qp.c.
func qpCleanup(t *trace.Task, obj any) {
	defer t.Enter(module, "rxe_qp_cleanup").Leave()
	obj.(*rxeQP).doCleanup(t)
}

// doCleanup models rxe_qp_do_cleanup in drivers/infiniband/sw/rxe/rxe_qp.c. A
// QP whose creation failed has only a part of what it takes down.
func (qp *rxeQP) doCleanup(t *trace.Task) {
	defer t.Enter(module, "rxe_qp_do_cleanup").Leave()
	qp.stateLock.Lock(t)
	qp.valid = false
	qp.stateLock.Unlock(t)
	qp.stopTimers()
	if qp.recvTask.run != nil {
		qp.recvTask.cleanup(t)
	}
	if qp.sendTask.run != nil {
		qp.sendTask.cleanup(t)
	}
	qp.send(t)
	qp.receive(t)
	if qp.sq.queue != nil {
		qp.sq.queue.cleanup(t)
	}
	if qp.srq != nil {
		qp.srq.put(t)
	}
	if qp.rq.queue != nil {
		qp.rq.queue.cleanup(t)
	}
	if qp.scq != nil {
		qp.scq.numWQ.Add(-1)
		qp.scq.put(t)
	}
	if qp.rcq != nil {
		qp.rcq.numWQ.Add(-1)
		qp.rcq.put(t)
	}
	if qp.pd != nil {
		qp.pd.put(t)
	}
	qp.dropMR(t)
}
