package rxe

import (
	"uverbsim/core"
	"uverbsim/spec"
	"uverbsim/trace"
)

// reqInfo is a struct rxe_req_info: the QP as the one who asks. Unless said
// otherwise its members belong to the send task.
type reqInfo struct {
	wqeIndex uint32 // of the element to be sent next
	psn      uint32 // of the next packet; under the state lock
	rdAtomic int32  // reads and atomics that may still be sent; under the state lock

	// What the requester waits for, and whether it is to look again.
	waitFence, needRdAtomic, again bool

	// Under the state lock: an answer is missing, or came negative, and the
	// requests have to be sent again, now or when the timer fires.
	needRetry, waitForRNRTimer bool
}

// sender is the send task of a QP.
func sender(qp *rxeQP) (again bool) { return qp.send(nil) }

// send does a part of the work in the send queue, and says whether there may
// be more. It models rxe_sender in drivers/infiniband/sw/rxe/rxe_req.c.
func (qp *rxeQP) send(t *trace.Task) (again bool) {
	defer t.Enter(module, "rxe_sender").Leave()
	sent := qp.requester(t)
	completed := qp.completer(t)
	return sent || completed
}

// requester sends the next element of the send queue. It models rxe_requester
// in drivers/infiniband/sw/rxe/rxe_req.c.
func (qp *rxeQP) requester(t *trace.Task) (again bool) {
	defer t.EnterInlined(module, "rxe_requester").Leave()
	if !qp.mayRequest(t) {
		return false
	}
	w := qp.nextWQE(t)
	if w == nil {
		return false
	}
	status, wait := qp.request(t, w)
	if wait {
		return false
	}
	if status != spec.IB_WC_SUCCESS {
		w.setStatus(status)
		qp.req.wqeIndex = w.q.next(qp.req.wqeIndex)
		w.setState(wqeError)
		qp.error(t)
		return false
	}
	return true
}

// mayRequest looks at the state of the QP, and goes back to the first element
// that was not answered where that has to be sent again.
func (qp *rxeQP) mayRequest(t *trace.Task) bool {
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	switch {
	case !qp.valid || qp.attr.State == spec.IB_QPS_ERR:
		return false
	case qp.attr.State == spec.IB_QPS_RESET:
		qp.req = reqInfo{wqeIndex: qp.sq.queue.consumer(fromClient), psn: qp.req.psn, rdAtomic: qp.req.rdAtomic}
		return false
	}
	if qp.req.needRetry && !qp.req.waitForRNRTimer {
		qp.reqRetry()
		qp.req.needRetry = false
	}
	return true
}

// reqRetry makes all that was sent and not answered unsent. It models req_retry
// in drivers/infiniband/sw/rxe/rxe_req.c. The caller holds the state lock.
func (qp *rxeQP) reqRetry() {
	q := qp.sq.queue
	qp.req.wqeIndex = q.consumer(fromClient)
	qp.req.psn = qp.comp.psn
	for i := qp.req.wqeIndex; i != q.producer(fromClient)&q.indexMask; i = q.next(i) {
		w := q.sendWQE(i)
		if w.State == wqePosted {
			return
		}
		if w.State != wqeDone {
			w.setState(wqePosted)
		}
	}
}

// nextWQE returns the element to be sent next, nil if there is none or the send
// queue is being drained. It models req_next_wqe in
// drivers/infiniband/sw/rxe/rxe_req.c.
func (qp *rxeQP) nextWQE(t *trace.Task) *sendWQE {
	defer t.EnterInlined(module, "req_next_wqe").Leave()
	qp.reqCheckSQDrainDone(t)
	q := qp.sq.queue
	if qp.req.wqeIndex == q.producer(fromClient)&q.indexMask {
		return nil
	}
	w := q.sendWQE(qp.req.wqeIndex)
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	if qp.attr.State == spec.IB_QPS_SQD && w.State != wqeProcessing {
		return nil
	}
	return w
}

// reqCheckSQDrainDone tells the QP's owner when nothing that was begun is left
// in the send queue. It models req_check_sq_drain_done in
// drivers/infiniband/sw/rxe/rxe_req.c.
func (qp *rxeQP) reqCheckSQDrainDone(t *trace.Task) {
	defer t.EnterInlined(module, "req_check_sq_drain_done").Leave()
	q := qp.sq.queue
	cons := q.consumer(fromClient)
	idle := qp.req.wqeIndex == cons && q.buf.word(q.at(cons)+sendWQEState) == wqePosted
	qp.drained(t, idle)
}

// drained ends the draining of the send queue if that is done.
func (qp *rxeQP) drained(t *trace.Task, done bool) {
	qp.stateLock.Lock(t)
	done = done && qp.attr.State == spec.IB_QPS_SQD && qp.attr.SQDraining != 0
	if done {
		qp.attr.SQDraining = 0
	}
	qp.stateLock.Unlock(t)
	if done && qp.ib.EventHandler != nil {
		qp.ib.EventHandler(t, &core.Event{Type: spec.IB_EVENT_SQ_DRAINED, QP: qp.ib})
	}
}

// request sends one element. A status other than success is the completion's;
// wait: it cannot be sent yet.
func (qp *rxeQP) request(t *trace.Task, w *sendWQE) (status uint32, wait bool) {
	if w.DMA.NumSGE > qp.sq.maxSGE || w.DMA.Resid != 0 && w.DMA.CurSGE >= qp.sq.maxSGE {
		return spec.IB_WC_LOC_QP_OP_ERR, false
	}
	if qp.isFenced(t, w) {
		qp.req.waitFence = true
		return 0, true
	}
	if w.WR.Opcode == spec.IB_UVERBS_WR_BIND_MW {
		return spec.IB_WC_MW_BIND_ERR, false
	}
	if !qp.carries(w.WR.Opcode) {
		return spec.IB_WC_LOC_QP_OP_ERR, false
	}
	if w.isRead() && !qp.takeRdAtomic(t, w) {
		return 0, true
	}
	m, ok := qp.buildMessage(t, w)
	if !ok {
		return spec.IB_WC_LOC_QP_OP_ERR, false
	}
	qp.sendMessage(t, w, m)
	return spec.IB_WC_SUCCESS, false
}

// isFenced models rxe_wqe_is_fenced in drivers/infiniband/sw/rxe/rxe_req.c.
func (qp *rxeQP) isFenced(t *trace.Task, w *sendWQE) bool {
	if w.WR.Opcode == spec.IB_UVERBS_WR_LOCAL_INV {
		return qp.req.wqeIndex != qp.sq.queue.consumer(fromClient)
	}
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	return w.WR.SendFlags&spec.IB_SEND_FENCE != 0 && qp.req.rdAtomic != int32(qp.attr.MaxRdAtomic)
}

// carries says whether a QP of this type sends such work requests: what
// next_opcode in drivers/infiniband/sw/rxe/rxe_req.c finds a packet for, less
// what this model leaves out.
func (qp *rxeQP) carries(opcode uint32) bool {
	switch opcode {
	case spec.IB_UVERBS_WR_SEND, spec.IB_UVERBS_WR_SEND_WITH_IMM:
		return true
	case spec.IB_UVERBS_WR_RDMA_WRITE, spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		return qp.ib.Type != spec.IB_QPT_UD
	case spec.IB_UVERBS_WR_RDMA_READ, spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		return qp.ib.Type == spec.IB_QPT_RC
	}
	return false
}

// takeRdAtomic takes one of the reads and atomics that the QP may have under
// way. It models check_init_depth in drivers/infiniband/sw/rxe/rxe_req.c.
func (qp *rxeQP) takeRdAtomic(t *trace.Task, w *sendWQE) bool {
	if w.HasRdAtomic != 0 {
		return true
	}
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	if qp.req.rdAtomic <= 0 {
		qp.req.needRdAtomic = true
		return false
	}
	qp.req.rdAtomic--
	w.HasRdAtomic = 1
	w.set(sendWQEHasRdAtomic, 1)
	return true
}

// buildMessage makes the message of an element; false if its data cannot be
// had. It models init_req_packet and finish_packet in
// drivers/infiniband/sw/rxe/rxe_req.c.
func (qp *rxeQP) buildMessage(t *trace.Task, w *sendWQE) (*message, bool) {
	defer t.EnterInlined(module, "init_req_packet").Leave()
	m := &message{isRequest: true, opcode: w.WR.Opcode, imm: w.WR.Ex}
	switch w.WR.Opcode {
	case spec.IB_UVERBS_WR_RDMA_WRITE, spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, spec.IB_UVERBS_WR_RDMA_READ:
		m.addr, m.rkey, m.length = w.WR.WR[0], uint32(w.WR.WR[1]), w.DMA.Length
	case spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		m.addr, m.compareAdd, m.swap, m.rkey = w.WR.WR[0], w.WR.WR[1], w.WR.WR[2], uint32(w.WR.WR[3])
		return m, true
	}
	if w.WR.Opcode == spec.IB_UVERBS_WR_RDMA_READ {
		return m, true
	}
	m.solicited = w.WR.SendFlags&spec.IB_SEND_SOLICITED != 0 && w.WR.Opcode != spec.IB_UVERBS_WR_RDMA_WRITE
	return m, qp.gather(t, w, m)
}

// gather fetches the data of an element.
func (qp *rxeQP) gather(t *trace.Task, w *sendWQE, m *message) bool {
	n := w.DMA.Length
	if w.WR.SendFlags&spec.IB_SEND_INLINE != 0 {
		if n > qp.sq.maxInline {
			return false
		}
		m.data = make([]byte, n)
		w.q.buf.load(w.at+sendWQESGE, m.data)
		return true
	}
	l := qp.gatherList(w)
	if l == nil || !qp.dev.reaches(t, qp.pd, l, n) {
		return false
	}
	m.data = make([]byte, n)
	return qp.dev.copyData(t, qp.pd, 0, l, m.data, false) == copyDone
}

// gatherList is the list of an element from its start; nil if it is longer than
// the queue's elements. The user can change it between two looks.
func (qp *rxeQP) gatherList(w *sendWQE) *sgList {
	if w.DMA.NumSGE > qp.sq.maxSGE {
		return nil
	}
	l := &sgList{dma: w.DMA, sges: w.q.sges(w.at+sendWQESGE, w.DMA.NumSGE)}
	l.dma.Resid, l.dma.CurSGE, l.dma.SGEOffset = w.DMA.Length, 0, 0
	return l
}

// sendMessage sends what was built and notes in the element what was sent. It
// models update_wqe_state, update_wqe_psn and update_state in
// drivers/infiniband/sw/rxe/rxe_req.c.
func (qp *rxeQP) sendMessage(t *trace.Task, w *sendWQE, m *message) {
	qp.stateLock.Lock(t)
	m.packets = 1
	if mtu := mtuBytes(qp.attr.PathMTU); qp.ib.Type != spec.IB_QPT_UD {
		m.packets = numPackets(w.DMA.Length, mtu)
	}
	m.psn = qp.req.psn
	qp.req.psn = (m.psn + m.packets) & psnMask
	timeout := qp.attr.Timeout
	qp.stateLock.Unlock(t)

	w.set(sendWQEFirstPSN, m.psn)
	w.set(sendWQELastPSN, m.lastPSN())
	state := uint32(wqeDone)
	if qp.ib.Type == spec.IB_QPT_RC {
		state = wqePending
	}
	w.setState(state)
	qp.req.wqeIndex = w.q.next(qp.req.wqeIndex)
	if qp.ib.Type != spec.IB_QPT_UD {
		qp.xmit(t, m)
	}
	if qp.ib.Type == spec.IB_QPT_RC {
		qp.startRetransTimer(timeout, false)
	}
}
