package hw

import (
	"encoding/binary"
	"time"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// answered takes in a packet that answers requests of this end.
func (d *Device) answered(q *qp, p *packet) {
	r := &q.req
	if !q.isSending() || r.fault.incoming || before(p.psn, r.unacked) || !before(p.psn, r.psn) {
		return
	}
	switch p.verb {
	case verbReadResponse, verbAtomicResponse:
		d.takeData(q, p)
		return
	}
	switch p.syndrome & ackKind {
	case ackPositive:
		d.acked(q, (p.psn+1)&bits24)
	case ackNotReady:
		if d.acked(q, p.psn) {
			d.notReady(q, p)
		}
	case ackNegative:
		if d.acked(q, p.psn) {
			d.refused(q, p)
		}
	}
}

// acked takes all packets before psn as arrived. It is false when data that was
// asked for by them did not come, and is lost then, or when that was the queue
// pair's end.
func (d *Device) acked(q *qp, psn uint32) bool {
	r := &q.req
	for i := 0; i < r.ring.n; i++ {
		w := r.ring.at(i)
		if w.work == workLocal || w.done {
			continue
		}
		if !before(w.psn, psn) {
			break
		}
		if w.work == workRead || w.work == workAtomic {
			if expected := w.nextAnswer(q); before(expected, psn) {
				d.progress(q, expected)
				d.missed(q, expected)
				return false
			}
			break
		}
		if before(w.last, psn) {
			w.done = true
		}
	}
	d.progress(q, psn)
	return q.isSending()
}

// missed asks once more for data from packet psn on that was lost, unless that was
// done already: what follows the lost packet is still on its way.
func (d *Device) missed(q *qp, psn uint32) {
	d.count(q.counters, impliedNakSeqErr)
	if r := &q.req; !r.missing && q.isSending() {
		r.missing = true
		d.again(q, psn)
	}
}

// progress takes psn as the oldest packet that is not acknowledged.
func (d *Device) progress(q *qp, psn uint32) {
	r := &q.req
	if before(r.unacked, psn) {
		r.unacked, r.missing = psn, false
		r.retries, r.rnrRetries = q.maxRetries, q.maxNotReady
		if i := r.find(psn); i >= 0 { // what was to be sent again and has arrived since
			if off := (psn - r.ring.at(i).psn) & bits24 * q.mtu; i > r.next || i == r.next && off > r.off {
				r.next, r.off, r.loaded = i, off, false
			}
		}
		d.startTimer(q)
	}
	d.retire(q)
	d.schedule(q)
}

// nextAnswer is the number of the packet with data that is waited for.
func (w *sendWR) nextAnswer(q *qp) uint32 { return (w.psn + w.answered>>q.mtuShift) & bits24 }

// takeData takes in data that was asked for.
func (d *Device) takeData(q *qp, p *packet) {
	r := &q.req
	i := r.find(p.psn)
	if i < 0 {
		return
	}
	w := r.ring.at(i)
	if w.work != workRead && w.work != workAtomic || w.done {
		return
	}
	if !d.acked(q, w.psn) {
		return
	}
	if i = r.find(p.psn); i < 0 {
		return
	}
	w = r.ring.at(i)
	switch expected := w.nextAnswer(q); {
	case before(p.psn, expected):
		return
	case p.psn != expected:
		d.missed(q, expected)
		return
	}
	data := p.payload()
	var word [atomicSize]byte
	if p.verb == verbAtomicResponse {
		binary.LittleEndian.PutUint64(word[:], p.original)
		data = word[:]
	}
	left := w.length - w.answered
	if (w.work == workAtomic) != (p.verb == verbAtomicResponse) || uint32(len(data)) != min(left, p.packets<<q.mtuShift) {
		d.failWR(q, w, ifc.MLX5_CQE_SYNDROME_BAD_RESP_ERR, reqBadResponse)
		return
	}
	wqe, err := d.fetchSend(q, w.block, &d.wqe)
	var again sendWR
	var list sgl
	if err != nil || !again.parse(q, wqe, &list) {
		d.fatal(q)
		return
	}
	list.skip(uint64(w.answered))
	if e := d.scatter(&list, q.who, data); e != keyOK {
		if d.faultIn(q, w, e, len(data)) {
			return
		}
		d.failWR(q, w, ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, reqLocalProtection)
		return
	}
	w.answered += uint32(len(data))
	if w.answered == w.length {
		w.done = true
		r.reads--
	}
	d.progress(q, (p.psn+p.packets)&bits24)
}

// find returns the work request that a packet number belongs to, -1 if there is
// none.
func (r *requester) find(psn uint32) int {
	for i := 0; i < r.ring.n; i++ {
		w := r.ring.at(i)
		if w.work != workLocal && w.syndrome == 0 && !before(psn, w.psn) && !before(w.last, psn) {
			return i
		}
	}
	return -1
}

// resend goes back to the packet psn.
func (d *Device) resend(q *qp, psn uint32) {
	r := &q.req
	i := r.find(psn)
	if i < 0 {
		return
	}
	w := r.ring.at(i)
	if off := (psn - w.psn) & bits24 * q.mtu; i < r.next || i == r.next && off < r.off {
		r.next, r.off, r.loaded = i, off, false
	}
	d.startTimer(q)
	d.schedule(q)
}

// rnrTimers are how long to wait after a receiver that was not ready, by the 5
// bits that it sends.
var rnrTimers = func() (t [32]time.Duration) {
	for i, hundredths := range [32]int{65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
		1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152} {
		t[i] = time.Duration(hundredths) * 10 * time.Microsecond
	}
	return t
}()

// forever is the number of retries that never run out.
const forever = 7

// notReady waits for the receiver, or gives up.
func (d *Device) notReady(q *qp, p *packet) {
	r := &q.req
	d.count(q.counters, rnrNakRetryErr)
	if r.rnrRetries == 0 {
		d.failAt(q, p.psn, ifc.MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR, reqRNRRetriesExceeded)
		return
	}
	if r.rnrRetries != forever {
		r.rnrRetries--
	}
	r.wakeAt = d.fabric.now.Load() + int64(rnrTimers[p.syndrome&0x1f])
	d.resend(q, p.psn)
	r.deadline = 0
	d.watch(q)
}

// nakErrors are what a negative acknowledgement means for the request.
var nakErrors = map[uint8]struct {
	syndrome uint8
	counter  qCounter
}{
	nakInvalid:     {ifc.MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, reqRemoteInvalidRequest},
	nakAccess:      {ifc.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, reqRemoteAccessErrors},
	nakOperational: {ifc.MLX5_CQE_SYNDROME_REMOTE_OP_ERR, reqRemoteOperationErrors},
}

// refused is a negative acknowledgement.
func (d *Device) refused(q *qp, p *packet) {
	if p.syndrome == nakSequence {
		d.count(q.counters, packetSeqErr)
		d.again(q, p.psn)
		return
	}
	if e, ok := nakErrors[p.syndrome]; ok {
		d.failAt(q, p.psn, e.syndrome, e.counter)
	}
}

// again sends from psn on once more, unless that was done too often.
func (d *Device) again(q *qp, psn uint32) {
	r := &q.req
	if r.retries == 0 {
		d.failAt(q, psn, ifc.MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, reqTransportRetriesExceeded)
		return
	}
	r.retries--
	d.resend(q, psn)
}

// ackTimeoutUnit is what the exponent of a time-out multiplies.
const ackTimeoutUnit = 4096 // ns

// startTimer starts the time-out of the oldest packet anew, or stops it when
// nothing is on its way.
func (d *Device) startTimer(q *qp) {
	r := &q.req
	if r.unacked == r.psn || q.ackTimeout == 0 || !r.isOut() || r.fault.waiting {
		r.deadline = 0
		return
	}
	r.deadline = d.fabric.now.Load() + q.ackTimeout
	d.watch(q)
}

// isOut says whether any packet was sent that is not acknowledged.
func (r *requester) isOut() bool { return r.next > 0 || r.off > 0 }

// timeout sends again what was not acknowledged in time.
func (d *Device) timeout(q *qp) {
	q.req.deadline, q.req.missing = 0, false
	d.count(q.counters, localAckTimeoutErr)
	d.again(q, q.req.unacked)
}

// failAt lets the work request of a packet fail.
func (d *Device) failAt(q *qp, psn uint32, syndrome uint8, c qCounter) {
	if i := q.req.find(psn); i >= 0 {
		d.failWR(q, q.req.ring.at(i), syndrome, c)
	}
}

// failWR lets a work request fail; those before it are done.
func (d *Device) failWR(q *qp, w *sendWR, syndrome uint8, c qCounter) {
	d.count(q.counters, c)
	w.fail(syndrome)
	for i := 0; i < q.req.ring.n && q.req.ring.at(i) != w; i++ {
		q.req.ring.at(i).done = true
	}
	d.retire(q)
}
