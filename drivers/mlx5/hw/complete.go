package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// vendorSyndromes are this device's own reasons beside those of the
// specification.
var vendorSyndromes = map[uint8]uint8{
	ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR:        0x6a,
	ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR:         0x68,
	ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR:          0x51,
	ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR:            0xf9,
	ifc.MLX5_CQE_SYNDROME_MW_BIND_ERR:             0x1d,
	ifc.MLX5_CQE_SYNDROME_BAD_RESP_ERR:            0x8b,
	ifc.MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR:        0x52,
	ifc.MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR:    0x8a,
	ifc.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR:       0x88,
	ifc.MLX5_CQE_SYNDROME_REMOTE_OP_ERR:           0x89,
	ifc.MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR: 0x81,
	ifc.MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR:       0x87,
}

// fail gives a work request a reason to fail.
func (w *sendWR) fail(syndrome uint8) { w.syndrome = syndrome }

// failure is the completion of a work request that failed: of a requester's
// (MLX5_CQE_REQ_ERR) or a receiver's (MLX5_CQE_RESP_ERR).
func failure(opcode, syndrome uint8, counter uint16) Completion {
	return Completion{Opcode: opcode, Syndrome: syndrome, VendorSyndrome: vendorSyndromes[syndrome], WQECounter: counter}
}

// retire completes the oldest work requests as far as they are done. It says
// whether one failed, which stops the queue.
func (d *Device) retire(q *qp) bool {
	r := &q.req
	for r.ring.n > 0 {
		w := r.ring.at(0)
		if w.syndrome == 0 && !w.done {
			return false
		}
		failed := w.syndrome != 0
		if failed || w.signalled {
			c := Completion{Opcode: ifc.MLX5_CQE_REQ, WQECounter: w.block}
			if failed {
				c = failure(ifc.MLX5_CQE_REQ_ERR, w.syndrome, w.block)
			}
			c.SendOpcode, c.ByteCount = w.opcode, w.answered
			if !d.completeFor(q, q.scq, q.userIndex, &c) {
				return true
			}
		}
		r.drop()
		if failed {
			state := uint8(ifc.MLX5_QP_STATE_ERR)
			if !q.isReliable() {
				state = ifc.MLX5_QP_STATE_SQER
				r.cancel()
			}
			d.enter(q, state)
			d.schedule(q)
			return true
		}
	}
	d.checkDrained(q)
	return false
}

// drop removes the oldest work request.
func (r *requester) drop() {
	r.ring.pop()
	if r.next > 0 {
		r.next--
	} else {
		r.off, r.loaded = 0, false
	}
}

// cancel forgets what is under way, all but the work requests themselves.
func (r *requester) cancel() {
	r.failed, r.reads, r.next, r.off, r.loaded = false, 0, 0, 0, false
	r.deadline, r.wakeAt = 0, 0
	r.fault = pageFault{}
}

// completeFor puts a completion of a queue pair into a completion queue. A queue
// that takes no more is the queue pair's end: false.
func (d *Device) completeFor(q *qp, to *cq, index uint32, c *Completion) bool {
	c.QPN, c.UserIndex = q.n, index
	if to == nil {
		return true
	}
	if err := d.complete(to, c); err != nil {
		counter := reqCQEError
		if to == q.rcq {
			counter = respCQEError
		}
		d.count(q.counters, counter)
		d.fatal(q)
		return false
	}
	return true
}

// fatal is what the device does when it cannot go on with a queue pair: it stops
// and says so.
func (d *Device) fatal(q *qp) {
	if q.state == ifc.MLX5_QP_STATE_ERR {
		return
	}
	d.raiseQP(q, ifc.MLX5_EVENT_TYPE_WQ_CATAS_ERROR)
	d.enter(q, ifc.MLX5_QP_STATE_ERR)
}

// abandon is what the error state begins with: nothing is sent or awaited any
// more, and all that is posted is to be flushed.
func (d *Device) abandon(q *qp) {
	q.req.cancel()
	q.resp.fault = pageFault{}
	d.failed = append(d.failed, q)
	if q.srq != nil {
		d.flushRecv(q) // the one in use is the last
		d.raiseQP(q, ifc.MLX5_EVENT_TYPE_SRQ_LAST_WQE)
	}
	d.schedule(q)
}

// quiesce takes a queue pair out of all work. What has arrived for it is not for who
// has its number next.
func (d *Device) quiesce(q *qp) {
	q.req.cancel()
	q.req.ring.clear()
	q.resp.out.clear()
	d.forgetQP(q)
	d.discard(func(p *packet) bool { return p.qpn == q.n && !isGroup(&p.to) })
}

// flushSend completes the next work request of a queue that is in error. It says
// whether there was one.
func (d *Device) flushSend(q *qp) bool {
	r := &q.req
	w := sendWR{}
	switch {
	case r.ring.n > 0:
		w = *r.ring.at(0)
		r.drop()
	case q.sq.blocks == 0:
		return false
	default:
		if ok, err := d.posted(q); err != nil || !ok {
			return false
		}
		wqe, err := d.fetchSend(q, q.sq.ci, &r.wqe)
		if err != nil {
			return false
		}
		w.block = q.sq.ci
		if len(wqe) >= ctrlSegment {
			w.opcode = wqe[3]
		}
		q.sq.pass(wqe)
	}
	d.count(q.counters, reqCQEFlushError)
	c := failure(ifc.MLX5_CQE_REQ_ERR, ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR, w.block)
	c.SendOpcode = w.opcode
	d.completeFor(q, q.scq, q.userIndex, &c)
	return true
}

// flushRecv completes the next receive of a queue pair that is in error. It says
// whether there was one.
func (d *Device) flushRecv(q *qp) bool {
	in := &q.resp.recv
	if !in.active {
		if q.rq.entries == 0 {
			return false
		}
		if ok, err := d.receivable(q); err != nil || !ok {
			return false
		}
		*in = receive{to: q.rcq, userIndex: q.receiveIndex(nil), index: q.rq.ci}
		q.rq.ci++
	}
	in.active = false
	d.count(q.counters, respCQEFlushError)
	c := failure(ifc.MLX5_CQE_RESP_ERR, ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR, in.index)
	d.completeFor(q, in.to, in.userIndex, &c)
	return true
}

// raiseQP sends an event about a queue pair (struct mlx5_eqe_qp_srq).
func (d *Device) raiseQP(q *qp, typ uint8) { d.raiseAbout(qpEQE(typ, q.n), pending{qp: q}) }
