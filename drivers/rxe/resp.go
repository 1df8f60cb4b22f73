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
	mr := qp.dev.lookupMR(t, qp.pd, m.access(), m.rkey)
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

// execute does what a message says. It models execute in
// drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) execute(t *trace.Task, m *message) respState {
	defer t.EnterInlined(module, "execute").Leave()
	switch m.opcode {
	case spec.IB_UVERBS_WR_RDMA_READ:
		return respReadReply
	case spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		return respAtomicReply
	case spec.IB_UVERBS_WR_SEND, spec.IB_UVERBS_WR_SEND_WITH_IMM:
		if state := qp.sendDataIn(t, m); state != respComplete {
			return state
		}
	default:
		if m.length != 0 && !qp.resp.mr.copy(t, m.addr, m.data, true) {
			return respErrRkeyViolation
		}
	}
	qp.advancePSN(t, m)
	qp.resp.status = spec.IB_WC_SUCCESS
	switch {
	case m.opcode != spec.IB_UVERBS_WR_RDMA_WRITE:
		return respComplete
	case m.qpType == spec.IB_QPT_RC:
		return respAcknowledge
	}
	return respCleanup
}

// sendDataIn puts the data of a send into the receive, a packet at a time. It
// models send_data_in in drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) sendDataIn(t *trace.Task, m *message) respState {
	for data := m.data; len(data) > 0; {
		n := min(len(data), m.mtu)
		switch qp.dev.copyData(t, qp.pd, spec.IB_ACCESS_LOCAL_WRITE, &qp.resp.wqe.sgList, data[:n], true) {
		case copyNoSpace:
			return respErrLength
		case copyInvalid:
			return respErrMalformedWQE
		}
		data = data[n:]
	}
	return respComplete
}

// advancePSN expects the message after this one.
func (qp *rxeQP) advancePSN(t *trace.Task, m *message) {
	qp.stateLock.Lock(t)
	qp.resp.psn = (m.lastPSN() + 1) & psnMask
	qp.stateLock.Unlock(t)
}

// readReply answers a read. It models read_reply in
// drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) readReply(t *trace.Task, m *message) respState {
	defer t.EnterInlined(module, "read_reply").Leave()
	data := make([]byte, m.length)
	if m.length != 0 && !qp.resp.mr.copy(t, m.addr, data, false) {
		return respErrRkeyViolation
	}
	qp.sendAck(t, &message{syndrome: ack, psn: m.psn, packets: m.packets, data: data})
	qp.advancePSN(t, m)
	return respCleanup
}

// atomicReply does an atomic operation. It models atomic_reply in
// drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) atomicReply(t *trace.Task, m *message) respState {
	defer t.EnterInlined(module, "atomic_reply").Leave()
	orig, state := qp.dev.atomic(t, qp.resp.mr, m)
	if state != respAcknowledge {
		return state
	}
	qp.resp.orig = orig
	qp.advancePSN(t, m)
	qp.resp.status = spec.IB_WC_SUCCESS
	return respAcknowledge
}

// completeRecv completes the receive that the message took, if it took one. It
// models do_complete in drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) completeRecv(t *trace.Task, m *message) respState {
	defer t.EnterInlined(module, "do_complete").Leave()
	if qp.resp.wqe != nil {
		wc := qp.recvWC(t, m)
		if qp.srq == nil {
			qp.rq.queue.advanceConsumer(fromClient)
		}
		qp.resp.wqe = nil
		if !qp.rcq.post(t, wc, m.solicited) {
			return respErrCQOverflow
		}
	}
	qp.stateLock.Lock(t)
	isErr := qp.attr.State == spec.IB_QPS_ERR
	qp.stateLock.Unlock(t)
	if isErr || m.qpType != spec.IB_QPT_RC {
		return respCleanup
	}
	return respAcknowledge
}

// recvWC is the completion of a receive.
func (qp *rxeQP) recvWC(t *trace.Task, m *message) *spec.WC {
	wqe := qp.resp.wqe
	wc := &spec.WC{WRID: wqe.wrID, Status: qp.resp.status, QPNum: qp.ib.QPNum}
	if wc.Status != spec.IB_WC_SUCCESS {
		return wc
	}
	wc.Opcode, wc.ByteLen = spec.IB_WC_RECV, wqe.dma.Length-wqe.dma.Resid
	if m.opcode == spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM {
		wc.Opcode, wc.ByteLen = spec.IB_WC_RECV_RDMA_WITH_IMM, m.length
	}
	wc.WCFlags = spec.IB_WC_GRH
	if m.opcode == spec.IB_UVERBS_WR_SEND_WITH_IMM || m.opcode == spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM {
		wc.WCFlags |= spec.IB_WC_WITH_IMM
		wc.Ex = m.imm
	}
	qp.stateLock.Lock(t)
	wc.PortNum = uint8(qp.attr.PortNum)
	qp.stateLock.Unlock(t)
	return wc
}

// acknowledge models acknowledge in drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) acknowledge(t *trace.Task, m *message) respState {
	answer := &message{syndrome: qp.resp.syndrome, psn: m.lastPSN()}
	switch {
	case qp.resp.syndrome != ack:
		answer.psn = m.psn
	case m.access() == spec.IB_ACCESS_REMOTE_ATOMIC:
		answer.data = word64(qp.resp.orig)
	}
	qp.sendAck(t, answer)
	return respCleanup
}

// sendAck sends an answer, of one packet unless it says more. It models
// send_common_ack in drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) sendAck(t *trace.Task, m *message) {
	defer t.EnterInlined(module, "send_common_ack").Leave()
	m.packets = max(m.packets, 1)
	qp.xmit(t, m)
}

// cleanupRequest is done with the message. It models cleanup in
// drivers/infiniband/sw/rxe/rxe_resp.c.
func (qp *rxeQP) cleanupRequest(t *trace.Task) respState {
	if qp.reqPkts.pop() != nil {
		qp.put(t)
	}
	qp.dropMR(t)
	return respDone
}

// dropMR is done with the region that a message was about.
func (qp *rxeQP) dropMR(t *trace.Task) {
	if qp.resp.mr != nil {
		qp.resp.mr.put(t)
		qp.resp.mr = nil
	}
}

// duplicateRequest answers a message that came before. It models
// duplicate_request in drivers/infiniband/sw/rxe/rxe_resp.c for a QP that
// remembers no answers: a read or an atomic operation that is not remembered is
// dropped.
func (qp *rxeQP) duplicateRequest(t *trace.Task, m *message) respState {
	switch m.access() {
	case 0, spec.IB_ACCESS_REMOTE_WRITE:
		qp.stateLock.Lock(t)
		prev := (qp.resp.psn - 1) & psnMask
		qp.stateLock.Unlock(t)
		qp.sendAck(t, &message{syndrome: ack, psn: prev})
	}
	return respCleanup
}
