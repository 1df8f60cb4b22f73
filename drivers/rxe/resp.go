package rxe

import (
	"uverbsim/core"
	"uverbsim/spec"
	"uverbsim/trace"
)

// respInfo is a struct rxe_resp_info: the QP as the one who answers. Its
// members belong to the receive task, except for what is under the state lock.
type respInfo struct {
	psn        uint32 // of the next packet expected; under the state lock
	sentPSNNak bool
	wqe        *recvWQE // the receive that the message is put into
	mr         *rxeMR   // the region that the message is about, with a reference
	status     uint32
	syndrome   syndrome
	gotoError  bool
	orig       uint64 // what an atomic operation found
}

// recvWQE is an element of a receive queue: a copy, since the user can change
// the element itself.
type recvWQE struct {
	wrID uint64
	sgList
}

// respState is an enum resp_states of drivers/infiniband/sw/rxe/rxe_resp.c.
type respState uint8

const (
	respCheckPSN respState = iota
	respCheckOpValid
	respCheckResource
	respCheckLength
	respCheckRkey
	respExecute
	respReadReply
	respAtomicReply
	respComplete
	respAcknowledge
	respCleanup
	respDuplicateRequest
	respErrPSNOutOfSeq
	respErrTooManyRdmaAtmReq
	respErrUnsupportedOpcode
	respErrMisalignedAtomic
	respErrRNR
	respErrRkeyViolation
	respErrLength
	respErrMalformedWQE
	respErrCQOverflow
	respDone
)

// receiver is the receive task of a QP.
func receiver(qp *rxeQP) (again bool) { return qp.receive(nil) }

// receive works on the oldest message that came, and says whether there may be
// more. It models rxe_receiver in drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) receive(t *trace.Task) (again bool) {
	defer t.Enter(module, "rxe_receiver").Leave()
	if qp.flushRecvQueue(t) {
		return false
	}
	qp.resp.syndrome = ack
	m := qp.reqPkts.peek()
	if m == nil {
		return false
	}
	for state := respCheckPSN; state != respDone; {
		if state == respErrCQOverflow {
			qp.dropMR(t)
			qp.error(t)
			return false
		}
		state = qp.step(t, m, state)
	}
	if qp.resp.gotoError {
		qp.resp.gotoError = false
		qp.error(t)
		return false
	}
	return true
}

// flushRecvQueue empties the receive queue of a QP that is in error, reset or
// gone. The receives of an SRQ stay: its user is only told that the QP takes no
// more of them. It models flush_recv_queue in
// drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) flushRecvQueue(t *trace.Task) bool {
	defer t.EnterInlined(module, "flush_recv_queue").Leave()
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	notify, flush := qp.flushes()
	if !flush {
		return false
	}
	qp.reqPkts.drain(t, qp)
	switch {
	case qp.srq != nil:
		if notify && qp.ib.EventHandler != nil {
			qp.ib.EventHandler(t, &core.Event{Type: spec.IB_EVENT_QP_LAST_WQE_REACHED, QP: qp.ib})
		}
	case qp.rq.queue != nil:
		qp.rq.queue.flush(func(wqe uint64) {
			if notify {
				notify = qp.flushWQE(t, qp.rcq, qp.rq.queue, wqe)
			}
		})
		qp.resp.wqe = nil
	}
	return true
}

// step does what a state says and returns the next.
func (qp *rxeQP) step(t *trace.Task, m *message, state respState) respState {
	isRC := m.qpType == spec.IB_QPT_RC
	switch state {
	case respCheckPSN:
		return qp.respCheckPSN(t, m)
	case respCheckOpValid:
		return qp.checkOpValid(t, m)
	case respCheckResource:
		return qp.checkResource(t, m)
	case respCheckLength:
		return qp.checkLength(t, m)
	case respCheckRkey:
		return qp.checkRkey(t, m)
	case respExecute:
		return qp.execute(t, m)
	case respReadReply:
		return qp.readReply(t, m)
	case respAtomicReply:
		return qp.atomicReply(t, m)
	case respComplete:
		return qp.completeRecv(t, m)
	case respAcknowledge:
		return qp.acknowledge(t, m)
	case respCleanup:
		return qp.cleanupRequest(t)
	case respDuplicateRequest:
		return qp.duplicateRequest(t, m)
	case respErrPSNOutOfSeq:
		qp.stateLock.Lock(t)
		expected := qp.resp.psn
		qp.stateLock.Unlock(t)
		qp.sendAck(t, &message{syndrome: nakPSNSeqError, psn: expected})
		return respCleanup
	case respErrRNR:
		if isRC {
			qp.sendAck(t, &message{syndrome: nakRNR, psn: m.psn, timer: qp.minRNRTimer(t)})
		}
		return respCleanup
	case respErrTooManyRdmaAtmReq, respErrUnsupportedOpcode, respErrMisalignedAtomic:
		return qp.classACError(nakInvalidReq, spec.IB_WC_REM_INV_REQ_ERR)
	case respErrMalformedWQE:
		return qp.classACError(nakRemOpErr, spec.IB_WC_LOC_QP_OP_ERR)
	case respErrRkeyViolation:
		if isRC {
			return qp.classACError(nakRemAccErr, spec.IB_WC_REM_ACCESS_ERR)
		}
		return qp.dropMessage(spec.IB_WC_REM_ACCESS_ERR)
	case respErrLength:
		if isRC {
			return qp.classACError(nakInvalidReq, spec.IB_WC_REM_INV_REQ_ERR)
		}
		return qp.dropMessage(spec.IB_WC_REM_INV_REQ_ERR)
	}
	panic("rxe: a message is in no state")
}

// classACError answers negatively, completes the receive in error and moves
// the QP to the error state. It models do_class_ac_error in
// drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) classACError(s syndrome, status uint32) respState {
	qp.resp.syndrome, qp.resp.status, qp.resp.gotoError = s, status, true
	return respComplete
}

// dropMessage is what an unreliable QP does with a message that it cannot take:
// a receive that came from an SRQ is gone and has to be completed.
func (qp *rxeQP) dropMessage(status uint32) respState {
	if qp.srq == nil {
		qp.resp.wqe = nil
		return respCleanup
	}
	qp.resp.status = status
	return respComplete
}

func (qp *rxeQP) minRNRTimer(t *trace.Task) uint8 {
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	return qp.attr.MinRNRTimer
}
