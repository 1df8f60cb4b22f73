package rxe

import (
	"uverbsim/spec"
)

// The states of an element of a send queue: enum wqe_state of
// drivers/infiniband/sw/rxe/rxe_verbs.h.
const (
	wqePosted = iota
	wqeProcessing
	wqePending // sent, and waits for its answer
	wqeDone
	wqeError
)

// Where members lie in a struct rxe_send_wqe, and in a struct rxe_recv_wqe the
// scatter list.
const (
	sendWQEStatus      = 144
	sendWQEState       = 148
	sendWQEFirstPSN    = 164
	sendWQELastPSN     = 168
	sendWQEHasRdAtomic = 180
	sendWQESGE         = sendWQESize
	recvWQESGE         = recvWQESize
)

// sendWQE is an element of a send queue, and where it lies.
type sendWQE struct {
	spec.RxeSendWQE
	q  *queue
	at uint64
}

// sendWQE reads element i.
func (q *queue) sendWQE(i uint32) *sendWQE {
	w := &sendWQE{q: q, at: q.at(i)}
	q.buf.load(w.at, spec.Bytes(&w.RxeSendWQE))
	return w
}

// set changes a member of the element in the shared memory.
func (w *sendWQE) set(member uint64, v uint32) { w.q.buf.setWord(w.at+member, v) }

func (w *sendWQE) setState(state uint32) {
	w.State = state
	w.set(sendWQEState, state)
}

func (w *sendWQE) setStatus(status uint32) {
	w.Status = status
	w.set(sendWQEStatus, status)
}

// isRead says whether data comes back: WR_ATOMIC_OR_READ_MASK of
// drivers/infiniband/sw/rxe/rxe_opcode.h.
func (w *sendWQE) isRead() bool {
	switch w.WR.Opcode {
	case spec.IB_UVERBS_WR_RDMA_READ, spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		return true
	}
	return false
}

// sges reads the scatter or gather list of an element, whose length was
// checked.
func (q *queue) sges(at uint64, n uint32) []spec.RxeSGE {
	list := make([]spec.RxeSGE, n)
	for i := range list {
		q.buf.load(at+uint64(i)*sgeSize, spec.Bytes(&list[i]))
	}
	return list
}
