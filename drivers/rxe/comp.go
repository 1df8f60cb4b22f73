package rxe

import (
	"uverbsim/spec"
	"uverbsim/trace"
)

// compInfo is a struct rxe_comp_info: the QP as the one who hears answers. Its
// members are under the state lock, except for what belongs to the send task.
type compInfo struct {
	psn                uint32 // of the next packet to be answered
	timeout            bool   // the timer fired
	retryCnt, rnrRetry uint8  // how often requests may still be sent again
	startedRetry       bool   // of the send task
	timeoutRetry       bool   // of the send task: what it does is because of the timer
}

// signalAllWR is IB_SIGNAL_ALL_WR of enum ib_sig_type, include/rdma/ib_verbs.h.
const signalAllWR = 0

// compState is an enum comp_state of drivers/infiniband/sw/rxe/rxe_comp.c; the
// states that are only passed through have no name here.
type compState uint8

const (
	compGetWQE compState = iota
	compAck
	compUpdate
	compErrorRetry
	compRNRRetry
	compError
	compExit
	compQuit
	compDone
)

// completer takes one answer, and completes the elements that it or nothing
// has to answer. It models rxe_completer in
// drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) completer(t *trace.Task) (again bool) {
	defer t.EnterInlined(module, "rxe_completer").Leave()
	qp.req.again = false
	if qp.flushSendQueue(t) || qp.beginCompletion(t) {
		return false
	}
	m := qp.respPkts.pop()
	if m != nil {
		defer qp.put(t)
		qp.comp.timeoutRetry = false
	}
	state := compGetWQE
	var w *sendWQE
	for {
		switch state {
		case compGetWQE:
			w, state = qp.getWQE(t, m)
		case compAck:
			state = qp.completeAck(t, w, m)
		case compUpdate:
			qp.updateComp(t, m)
			state = compDone
		case compErrorRetry:
			state = qp.errorRetry(t, w)
		case compRNRRetry:
			state = qp.rnrRetry(t, w, m)
		case compError:
			qp.completeSend(t, w)
			qp.error(t)
			return qp.req.again
		case compExit:
			if qp.comp.timeoutRetry && w != nil {
				state = compErrorRetry
				break
			}
			qp.resetRetryTimer()
			return qp.req.again
		case compQuit:
			return qp.req.again
		case compDone:
			return true
		}
	}
}

// flushSendQueue empties the send queue of a QP that is in error, reset or
// gone. It models flush_send_queue in drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) flushSendQueue(t *trace.Task) bool {
	defer t.EnterInlined(module, "flush_send_queue").Leave()
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	notify, flush := qp.flushes()
	if !flush {
		return false
	}
	qp.respPkts.drain(t, qp)
	if qp.sq.queue != nil {
		qp.sq.queue.flush(func(wqe uint64) {
			if notify {
				notify = qp.flushWQE(t, qp.scq, qp.sq.queue, wqe)
			}
		})
	}
	return true
}

// flushes says whether the state of the QP asks for its queues to be emptied,
// and whether the user is to be told of each element. The caller holds the
// state lock.
func (qp *rxeQP) flushes() (notify, flush bool) {
	if !qp.valid || qp.attr.State == spec.IB_QPS_RESET {
		return false, true
	}
	isErr := qp.attr.State == spec.IB_QPS_ERR
	return isErr, isErr
}

// flush takes all elements out of a queue that the user fills.
func (q *queue) flush(each func(wqe uint64)) {
	for !q.empty(fromClient) {
		each(q.at(q.consumer(fromClient)))
		q.advanceConsumer(fromClient)
	}
}

// flushWQE completes an element that will not be worked on; both kinds of
// elements begin with the user's id. False: the CQ is full. It models
// flush_send_wqe in drivers/infiniband/sw/rxe/rxe_comp.c and flush_recv_wqe in
// drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) flushWQE(t *trace.Task, cq *rxeCQ, q *queue, wqe uint64) bool {
	wc := spec.WC{Status: spec.IB_WC_WR_FLUSH_ERR, QPNum: qp.ib.QPNum}
	q.buf.load(wqe, spec.Bytes(&wc.WRID))
	return cq.post(t, &wc, false)
}

// beginCompletion notes whether a timer fired; true: nothing is completed
// before the requests were sent again.
func (qp *rxeQP) beginCompletion(t *trace.Task) bool {
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	qp.comp.timeoutRetry = qp.comp.timeout
	qp.comp.timeout = false
	return qp.req.needRetry
}

// getWQE looks at the oldest element and what the answer, if there is one, says
// about it. It models get_wqe and check_psn in
// drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) getWQE(t *trace.Task, m *message) (*sendWQE, compState) {
	defer t.EnterInlined(module, "get_wqe").Leave()
	q := qp.sq.queue
	none := compExit
	if m != nil {
		none = compDone
	}
	if q.empty(fromClient) {
		return nil, none
	}
	w := q.sendWQE(q.consumer(fromClient))
	switch w.State {
	case wqePosted:
		return w, none
	case wqeDone:
		qp.completeSend(t, w)
		return w, compGetWQE
	case wqeError:
		return w, compError
	}
	if m == nil {
		return w, compExit
	}
	return w, qp.checkPSN(t, w, m)
}

// checkPSN models check_psn in drivers/infiniband/sw/rxe/rxe_comp.c: an answer
// to a later request stands for this one's too, unless that wants data.
func (qp *rxeQP) checkPSN(t *trace.Task, w *sendWQE, m *message) compState {
	qp.stateLock.Lock(t)
	expected := qp.comp.psn
	qp.stateLock.Unlock(t)
	if psnCompare(m.psn, w.LastPSN) > 0 {
		switch {
		case w.State != wqePending:
			return compDone
		case w.isRead():
			return compErrorRetry
		}
		qp.resetRetryCounters(t)
		qp.completePending(t, w)
		return compGetWQE
	}
	diff := psnCompare(m.psn, expected)
	switch {
	case diff < 0 && m.lastPSN() == w.LastPSN:
		return compAck
	case diff < 0, diff > 0 && w.isRead():
		return compDone
	}
	return qp.checkAck(t, w, m)
}

// completePending completes a request that a later one's answer stands for. It
// models complete_wqe in drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) completePending(t *trace.Task, w *sendWQE) {
	qp.stateLock.Lock(t)
	if psnCompare(w.LastPSN, qp.comp.psn) >= 0 {
		qp.comp.psn = (w.LastPSN + 1) & psnMask
	}
	qp.stateLock.Unlock(t)
	qp.completeSend(t, w)
}

// checkAck models check_ack in drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) checkAck(t *trace.Task, w *sendWQE, m *message) compState {
	defer t.EnterInlined(module, "check_ack").Leave()
	switch m.syndrome {
	case nakRNR:
		return compRNRRetry
	case nakPSNSeqError:
		qp.stateLock.Lock(t)
		if psnCompare(m.psn, qp.comp.psn) > 0 {
			qp.comp.psn = m.psn
		}
		qp.stateLock.Unlock(t)
		return compErrorRetry
	case nakInvalidReq:
		w.setStatus(spec.IB_WC_REM_INV_REQ_ERR)
		return compError
	case nakRemAccErr:
		w.setStatus(spec.IB_WC_REM_ACCESS_ERR)
		return compError
	case nakRemOpErr:
		w.setStatus(spec.IB_WC_REM_OP_ERR)
		return compError
	}
	qp.resetRetryCounters(t)
	if w.isRead() {
		return qp.takeData(t, w, m)
	}
	if w.State == wqePending && w.LastPSN == m.lastPSN() {
		return compAck
	}
	return compUpdate
}

// takeData puts the data of an answer where the element wants it. It models
// do_read and do_atomic in drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) takeData(t *trace.Task, w *sendWQE, m *message) compState {
	l := qp.gatherList(w)
	if l == nil || qp.dev.copyData(t, qp.pd, spec.IB_ACCESS_LOCAL_WRITE, l, m.data, true) != copyDone {
		w.setStatus(spec.IB_WC_LOC_PROT_ERR)
		return compError
	}
	return compAck
}

// resetRetryCounters models reset_retry_counters in
// drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) resetRetryCounters(t *trace.Task) {
	qp.stateLock.Lock(t)
	qp.comp.retryCnt, qp.comp.rnrRetry = qp.attr.RetryCnt, qp.attr.RNRRetry
	qp.stateLock.Unlock(t)
	qp.comp.startedRetry = false
}

// completeAck completes the request that was answered. It models complete_ack
// in drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) completeAck(t *trace.Task, w *sendWQE, m *message) compState {
	defer t.EnterInlined(module, "complete_ack").Leave()
	qp.stateLock.Lock(t)
	if w.HasRdAtomic != 0 {
		w.set(sendWQEHasRdAtomic, 0)
		qp.req.rdAtomic++
		if qp.req.needRdAtomic {
			qp.req.needRdAtomic, qp.req.again = false, true
			qp.comp.timeoutRetry = false
		}
	}
	isLast := qp.comp.psn == qp.req.psn
	after := psnCompare(m.psn, qp.comp.psn) >= 0
	qp.stateLock.Unlock(t)
	qp.drained(t, isLast) // comp_check_sq_drain_done
	qp.completeSend(t, w)
	if after {
		return compUpdate
	}
	return compDone
}

// updateComp notes how far requests were answered.
func (qp *rxeQP) updateComp(t *trace.Task, m *message) {
	qp.stateLock.Lock(t)
	if psnCompare(m.psn, qp.comp.psn) >= 0 {
		qp.comp.psn = (m.lastPSN() + 1) & psnMask
	}
	qp.stateLock.Unlock(t)
}

// errorRetry has the requests sent again, as often as they may be. It is the
// state COMPST_ERROR_RETRY of drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) errorRetry(t *trace.Task, w *sendWQE) compState {
	if w == nil || w.State == wqePosted {
		return compQuit
	}
	if qp.comp.startedRetry && !qp.comp.timeoutRetry {
		return compDone
	}
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	if qp.comp.retryCnt == 0 {
		w.setStatus(spec.IB_WC_RETRY_EXC_ERR)
		return compError
	}
	if qp.comp.retryCnt != 7 {
		qp.comp.retryCnt--
	}
	if psnCompare(qp.req.psn, qp.comp.psn) > 0 {
		qp.req.needRetry, qp.req.again = true, true
		qp.comp.startedRetry = true
	}
	return compDone
}

// rnrRetry waits before the requests are sent again to a peer that had no
// receive, as often as they may be. It is the state COMPST_RNR_RETRY of
// drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) rnrRetry(t *trace.Task, w *sendWQE, m *message) compState {
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	if qp.comp.rnrRetry == 0 {
		w.setStatus(spec.IB_WC_RNR_RETRY_EXC_ERR)
		return compError
	}
	if qp.comp.rnrRetry != 7 {
		qp.comp.rnrRetry--
	}
	qp.req.waitForRNRTimer = true
	qp.startRNRTimer(m.timer)
	return compQuit
}
