package rxe

import (
	"uverbsim/core"
	"uverbsim/spec"
	"uverbsim/trace"
)

// sender is the send task of a QP.
func sender(qp *rxeQP) (again bool) {
	qp.send(nil)
	return false
}

// send does what the state of the QP asks for of its send queue. It models
// rxe_sender in drivers/infiniband/sw/rxe/rxe_req.c.
func (qp *rxeQP) send(t *trace.Task) {
	defer t.Enter(module, "rxe_sender").Leave()
	qp.requester(t)
	qp.completer(t)
}

// requester models rxe_requester in drivers/infiniband/sw/rxe/rxe_req.c, which
// would send packets: where there is something to be sent, it stays.
func (qp *rxeQP) requester(t *trace.Task) {
	defer t.EnterInlined(module, "rxe_requester").Leave()
	qp.stateLock.Lock(t)
	drained := false
	switch {
	case !qp.valid:
	case qp.attr.State == spec.IB_QPS_RESET:
		qp.reqWQEIndex = qp.sq.queue.consumer(fromClient)
	case qp.attr.State == spec.IB_QPS_SQD:
		drained = qp.checkSQDrained()
	}
	qp.stateLock.Unlock(t)
	if drained && qp.ib.EventHandler != nil {
		qp.ib.EventHandler(t, &core.Event{Type: spec.IB_EVENT_SQ_DRAINED, QP: qp.ib})
	}
}

// sendWQEState is where the state lies in a struct rxe_send_wqe, and
// wqeStatePosted the one that elements begin with (enum wqe_state of
// drivers/infiniband/sw/rxe/rxe_verbs.h).
const (
	sendWQEState   = 148
	wqeStatePosted = 0
)

// checkSQDrained says whether the send queue has just become drained: nothing
// that was begun is left in it. It is the first part of req_check_sq_drain_done
// in drivers/infiniband/sw/rxe/rxe_req.c. The caller holds the state lock.
func (qp *rxeQP) checkSQDrained() bool {
	q := qp.sq.queue
	cons := q.consumer(fromClient)
	if qp.attr.SQDraining == 0 || qp.reqWQEIndex != cons ||
		q.buf.word(q.at(cons)+sendWQEState) != wqeStatePosted {
		return false
	}
	qp.attr.SQDraining = 0
	return true
}

// completer models rxe_completer in drivers/infiniband/sw/rxe/rxe_comp.c as far
// as no packets come: it flushes the send queue of a QP that is in error, and
// empties that of one that is reset or gone.
func (qp *rxeQP) completer(t *trace.Task) {
	defer t.EnterInlined(module, "rxe_completer").Leave()
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	notify, flush := qp.flushes()
	if !flush || qp.sq.queue == nil {
		return
	}
	qp.sq.queue.flush(func(wqe uint64) {
		if notify {
			notify = qp.flushWQE(t, qp.scq, qp.sq.queue, wqe)
		}
	})
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
