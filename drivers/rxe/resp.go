package rxe

import (
	"uverbsim/core"
	"uverbsim/spec"
	"uverbsim/trace"
)

// receiver is the receive task of a QP.
func receiver(qp *rxeQP) (again bool) {
	qp.receive(nil)
	return false
}

// receive models rxe_receiver in drivers/infiniband/sw/rxe/rxe_resp.c as far as
// no packets come: it flushes the receive queue of a QP that is in error, and
// empties that of one that is reset or gone. The receives of an SRQ stay: its
// user is only told that the QP takes no more of them.
func (qp *rxeQP) receive(t *trace.Task) {
	defer t.Enter(module, "rxe_receiver").Leave()
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	notify, flush := qp.flushes()
	switch {
	case !flush:
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
	}
}
