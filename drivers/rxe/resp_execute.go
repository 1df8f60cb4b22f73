package rxe

import (
	"encoding/binary"

	"uverbsim/spec"
	"uverbsim/trace"
)

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
		answer.data = binary.LittleEndian.AppendUint64(nil, qp.resp.orig)
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
