package rxe

import (
	"uverbsim/core"
	"uverbsim/spec"
	"uverbsim/trace"
)

// respCheckPSN models check_psn in drivers/infiniband/sw/rxe/rxe_resp.c. The
// start of a message is always good for an unreliable QP.
func (qp *rxeQP) respCheckPSN(t *trace.Task, m *message) respState {
	if m.qpType != spec.IB_QPT_RC {
		return respCheckOpValid
	}
	qp.stateLock.Lock(t)
	diff := psnCompare(m.psn, qp.resp.psn)
	qp.stateLock.Unlock(t)
	switch {
	case diff > 0 && qp.resp.sentPSNNak:
		return respCleanup
	case diff > 0:
		qp.resp.sentPSNNak = true
		return respErrPSNOutOfSeq
	case diff < 0:
		return respDuplicateRequest
	}
	qp.resp.sentPSNNak = false
	return respCheckOpValid
}

// checkOpValid models check_op_valid in drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) checkOpValid(t *trace.Task, m *message) respState {
	qp.stateLock.Lock(t)
	flags := qp.attr.AccessFlags
	qp.stateLock.Unlock(t)
	need := m.access()
	switch {
	case flags&need == need:
		return respCheckResource
	case m.qpType == spec.IB_QPT_RC:
		return respErrUnsupportedOpcode
	}
	return respCleanup
}

// access is the right that a message needs to what it names.
func (m *message) access() uint32 {
	switch m.opcode {
	case spec.IB_UVERBS_WR_RDMA_READ:
		return spec.IB_ACCESS_REMOTE_READ
	case spec.IB_UVERBS_WR_RDMA_WRITE, spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		return spec.IB_ACCESS_REMOTE_WRITE
	case spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		return spec.IB_ACCESS_REMOTE_ATOMIC
	}
	return 0
}

// checkResource gets what the message needs to be worked on. It models
// check_resource in drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) checkResource(t *trace.Task, m *message) respState {
	defer t.EnterInlined(module, "check_resource").Leave()
	switch m.opcode {
	case spec.IB_UVERBS_WR_RDMA_READ, spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		qp.stateLock.Lock(t)
		n := qp.attr.MaxDestRdAtomic
		qp.stateLock.Unlock(t)
		if n == 0 {
			return respErrTooManyRdmaAtmReq
		}
	case spec.IB_UVERBS_WR_SEND, spec.IB_UVERBS_WR_SEND_WITH_IMM, spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		if qp.srq != nil {
			return qp.getSRQWQE(t)
		}
		return qp.getRecvWQE(&qp.rq)
	}
	return respCheckLength
}

// getRecvWQE reads the oldest receive, which stays in the queue. It models
// rxe_get_recv_wqe in drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) getRecvWQE(rq *recvQueue) respState {
	q := rq.queue
	if q.empty(fromClient) {
		return respErrRNR
	}
	at := q.at(q.consumer(fromClient))
	var wqe spec.RxeRecvWQE
	q.buf.load(at, spec.Bytes(&wqe))
	if wqe.DMA.NumSGE > rq.maxSGE {
		return respErrMalformedWQE
	}
	qp.resp.wqe = &recvWQE{wqe.WRID, sgList{wqe.DMA, q.sges(at+recvWQESGE, wqe.DMA.NumSGE)}}
	return respCheckLength
}

// getSRQWQE takes the oldest receive out of the SRQ and tells its owner when
// few are left. It models get_srq_wqe in drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) getSRQWQE(t *trace.Task) respState {
	defer t.EnterInlined(module, "get_srq_wqe").Leave()
	state, limit := qp.takeSRQWQE(t)
	if limit && qp.srq.ib.EventHandler != nil {
		qp.srq.ib.EventHandler(t, &core.Event{Type: spec.IB_EVENT_SRQ_LIMIT_REACHED, SRQ: qp.srq.ib})
	}
	return state
}

func (qp *rxeQP) takeSRQWQE(t *trace.Task) (state respState, limit bool) {
	srq := qp.srq
	srq.rq.consumerLock.Lock(t)
	defer srq.rq.consumerLock.Unlock(t)
	if state := qp.getRecvWQE(&srq.rq); state != respCheckLength {
		return state, false
	}
	q := srq.rq.queue
	q.advanceConsumer(fromClient)
	if srq.limit == 0 || q.count(fromClient) >= srq.limit {
		return respCheckLength, false
	}
	srq.limit = 0
	return respCheckLength, true
}

// checkLength models rxe_resp_check_length in
// drivers/infiniband/sw/rxe/rxe_resp.c: the packets must be as long as this
// end's path MTU makes them.
func (qp *rxeQP) checkLength(t *trace.Task, m *message) respState {
	qp.stateLock.Lock(t)
	mtu := mtuBytes(qp.attr.PathMTU)
	qp.stateLock.Unlock(t)
	if m.data != nil && (m.packets == 1 && len(m.data) > mtu || m.packets > 1 && m.mtu != mtu) {
		return respErrLength
	}
	if m.length > portMaxMsgSz {
		return respErrLength
	}
	if m.access() != 0 {
		return respCheckRkey
	}
	return respExecute
}

// checkRkey finds the region that the message is about. It models check_rkey in
// drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) checkRkey(t *trace.Task, m *message) respState {
	defer t.EnterInlined(module, "check_rkey").Leave()
	length := uint64(m.length)
	switch m.opcode {
	case spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		length = 8
	default:
		if m.length == 0 {
			return respExecute
		}
	}
	mr := qp.dev.lookupMR(t, qp.pd, m.access(), m.rkey, lookupRemote)
	if mr == nil {
		return respErrRkeyViolation
	}
	if !mr.inRange(m.addr, length) {
		mr.put(t)
		return respErrRkeyViolation
	}
	qp.resp.mr = mr
	return respExecute
}
