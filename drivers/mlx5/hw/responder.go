package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// responder is the receiving end of a queue pair.
type responder struct {
	psn    uint32 // expected next
	msn    uint32 // messages that are complete
	nakked bool   // the sender was told to begin again; nothing more is said until it does
	told   bool   // that communication is established

	// The message that is coming in.
	inside bool
	verb   verb
	addr   uint64 // where a write goes on
	key    uint32
	left   uint32 // of a write
	bytes  uint32 // that came
	who    user   // whose memory it is about

	fault   pageFault
	recv    receive
	out     ring[response]
	atomics ring[doneAtomic] // the last ones, for requests that come again
}

// receive is a posted receive that is in use.
type receive struct {
	active    bool
	to        *cq
	userIndex uint32
	srq       *srq
	index     uint16
	segs      []byte // its data segments
	list      sgl    // what is left of them
	wqe       [maxRecvWQE]byte
}

// response is an answer that is to be sent.
type response struct {
	verb     verb
	psn      uint32 // of its next packet
	msn      uint32
	syndrome uint8
	addr     uint64
	key      uint32
	left     uint32
	pd       uint32 // of the memory that is read
	begun    bool
	again    bool // of a request that came before
	original uint64
}

// doneAtomic is what an atomic operation found.
type doneAtomic struct {
	psn      uint32
	original uint64
}

// receive takes in a packet.
func (d *Device) receive(p *packet) {
	if p.verb == verbFrame {
		d.receiveFrame(p)
		return
	}
	group := isGroup(&p.to)
	d.countPort(false, group, int(p.packets), p.n)
	if group {
		d.mcgQPs(p.to, func(qpn uint32) {
			if q := d.receiver(p, qpn); q != nil && q.isDatagram() &&
				!(q.n == p.source && d.ownsGID(p.from) && qpc.blockLBMC.Get(q.ctx) != 0) {
				d.datagram(q, p)
			}
		})
		return
	}
	q := d.receiver(p, p.qpn)
	switch {
	case q == nil:
	case !q.isDatagram() && p.from != q.peer.remote: // not where the connection leads to
	case p.verb.isResponse():
		d.answered(q, p)
	case q.isDatagram():
		d.datagram(q, p)
	case q.isReliable():
		d.reliable(q, p)
	default:
		d.unreliable(q, p)
	}
}

// receiver finds the queue pair that a packet is for, nil if it takes none.
func (d *Device) receiver(p *packet, qpn uint32) *qp {
	o, ok := d.objects[kindQP].live[qpn]
	if !ok {
		return nil
	}
	q := o.as.(*qp)
	switch q.state {
	case ifc.MLX5_QP_STATE_RST, ifc.MLX5_QP_STATE_INIT, ifc.MLX5_QP_STATE_ERR:
		return nil
	}
	if q.service != p.service || !carried[q.service&0xf] {
		return nil
	}
	return q
}

// reliable takes in a request on a reliable connection.
func (d *Device) reliable(q *qp, p *packet) {
	r := &q.resp
	switch {
	case before(p.psn, r.psn):
		d.count(q.counters, duplicateRequest)
		d.repeat(q, p)
		return
	case p.psn != r.psn:
		d.count(q.counters, outOfSequence)
		if !r.nakked {
			r.nakked = true
			d.answer(q, response{verb: verbAck, psn: r.psn, msn: r.msn, syndrome: nakSequence})
		}
		return
	}
	d.established(q)
	if p.first == r.inside || r.inside && p.verb != r.verb || !q.fits(p) {
		d.nak(q, p, nakInvalid)
		return
	}
	if r.fault.waiting {
		d.notNow(q, p)
		return
	}
	if n := d.perform(q, p); n != performed {
		d.unperformed(q, p, n)
		return
	}
	r.nakked, r.fault = false, pageFault{}
	r.inside, r.verb = !p.last, p.verb
	packets := p.packets
	if p.verb == verbRead && p.length > q.mtu {
		packets = (p.length + q.mtu - 1) >> q.mtuShift
	}
	r.psn = (r.psn + packets) & bits24
	if p.last {
		r.msn = (r.msn + 1) & bits24
	}
	if p.ackRequest && p.verb != verbRead && !p.verb.isAtomic() {
		d.answer(q, response{verb: verbAck, psn: (r.psn - 1) & bits24, msn: r.msn, syndrome: ackPositive | ackNoCredits})
	}
}

// fits says whether a packet of a message has the right size: all but the last
// are as large as the path allows.
func (q *qp) fits(p *packet) bool {
	room := int(p.packets) << q.mtuShift
	return p.n == room || p.last && p.n < room
}

// onBehalf finds out whose memory a request is about: the queue pair's user's, or
// with XRC that of the shared queue which the packet names, as a target has no
// protection domain. It is false if there is no such queue.
func (d *Device) onBehalf(q *qp, p *packet) bool {
	q.resp.who = q.who
	if q.service != ifc.MLX5_QP_ST_XRC {
		return true
	}
	s := d.xrcSRQ(q, p)
	if s == nil {
		return false
	}
	q.resp.who.pd = s.pd
	return true
}

// established says once that the other end has begun to send before this end
// was made ready for sending.
func (d *Device) established(q *qp) {
	if !q.resp.told && q.state == ifc.MLX5_QP_STATE_RTR {
		d.raiseQP(q, ifc.MLX5_EVENT_TYPE_COMM_EST)
	}
	q.resp.told = true
}

// result is how a request ended.
type result uint8

const (
	performed     result = iota
	notReady             // no receive is posted
	invalid              // the request makes no sense, or is longer than what it is for
	denied               // the memory must not be accessed so
	inoperative          // this end cannot do it
	tooLong              // the receive is too small
	badMemory            // a receive's memory cannot be written
	badCompletion        // its completion has no room
	absent               // the memory has no page
)

// unperformed tells the sender why a request was not done, and ends the
// connection unless the sender may try again.
func (d *Device) unperformed(q *qp, p *packet, why result) {
	r := &q.resp
	if why == absent {
		if why = d.faultReceive(q, p); why == performed {
			d.notNow(q, p)
			return
		}
	}
	switch why {
	case notReady:
		d.count(q.counters, outOfBuffer)
		r.nakked = true // the packets behind this one are on their way and are not missed
		timer := uint8(qpc.minRNRNak.Get(q.ctx))
		d.answer(q, response{verb: verbAck, psn: p.psn, msn: r.msn, syndrome: ackNotReady | timer})
	case invalid:
		d.count(q.counters, respRemoteInvalidRequest)
		d.nak(q, p, nakInvalid)
	case denied:
		d.count(q.counters, respRemoteAccessErrors)
		d.nak(q, p, nakAccess)
	case inoperative:
		d.nak(q, p, nakOperational)
	case tooLong:
		d.count(q.counters, respLocalLengthError)
		d.failReceive(q, ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR)
		d.refuse(q, p, nakInvalid) // its completion tells, without an event
	case badMemory:
		d.count(q.counters, respLocalProtection)
		d.failReceive(q, ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR)
		d.refuse(q, p, nakOperational)
	}
}

// nakEvents are the events of a connection that ends because of what the other
// end asked for.
var nakEvents = map[uint8]uint8{
	nakInvalid: ifc.MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR,
	nakAccess:  ifc.MLX5_EVENT_TYPE_WQ_ACCESS_ERROR,
}

// nak refuses a request for good, and says so by an event.
func (d *Device) nak(q *qp, p *packet, syndrome uint8) {
	if typ, ok := nakEvents[syndrome]; ok && q.state != ifc.MLX5_QP_STATE_ERR {
		d.raiseQP(q, typ)
	}
	d.refuse(q, p, syndrome)
}

// refuse answers a request with a negative acknowledgement, which is the
// connection's end.
func (d *Device) refuse(q *qp, p *packet, syndrome uint8) {
	d.answer(q, response{verb: verbAck, psn: p.psn, msn: q.resp.msn, syndrome: syndrome})
	if q.state != ifc.MLX5_QP_STATE_ERR {
		d.enter(q, ifc.MLX5_QP_STATE_ERR)
	}
}
