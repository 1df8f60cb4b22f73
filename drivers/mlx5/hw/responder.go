package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

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

// perform does what a packet in sequence asks for.
func (d *Device) perform(q *qp, p *packet) result {
	if !d.onBehalf(q, p) {
		return invalid
	}
	switch p.verb {
	case verbSend:
		return d.performSend(q, p)
	case verbWrite:
		return d.performWrite(q, p)
	case verbRead:
		return d.performRead(q, p)
	default:
		return d.performAtomic(q, p)
	}
}

func (d *Device) performSend(q *qp, p *packet) result {
	in := &q.resp.recv
	if p.first {
		if n := d.takeReceive(q, p); n != performed {
			return n
		}
		q.resp.bytes = 0
	}
	if n := d.scatterReceive(in, q.resp.who, p.payload()); n != performed {
		return n
	}
	q.resp.bytes += uint32(p.n)
	if !p.last {
		return performed
	}
	c := Completion{Opcode: ifc.MLX5_CQE_RESP_SEND, ByteCount: q.resp.bytes}
	switch p.with {
	case withImmediate:
		c.Opcode, c.Immediate = ifc.MLX5_CQE_RESP_SEND_IMM, p.immediate
	case withInvalidate:
		if d.invalidate(p.immediate, q.resp.who, true) != keyOK {
			d.failReceive(q, ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR)
			return inoperative
		}
		c.Opcode, c.Immediate = ifc.MLX5_CQE_RESP_SEND_INV, p.immediate
	}
	return d.completeReceive(q, p, &c)
}

func (d *Device) performWrite(q *qp, p *packet) result {
	r := &q.resp
	if p.first {
		if !q.canWrite {
			return denied
		}
		r.addr, r.key, r.left, r.bytes = p.addr, p.key, p.length, 0
	}
	if uint32(p.n) > r.left || p.last && uint32(p.n) != r.left {
		return invalid
	}
	if p.last && p.with == withImmediate {
		if n := d.takeReceive(q, p); n != performed {
			return n
		}
	}
	if p.n > 0 {
		// The first packet is held against all of the range.
		ahead := uint64(p.n)
		if p.first {
			ahead = uint64(p.length)
		}
		m, e := d.reach(r.key, r.who, remoteWrite, r.addr, ahead)
		if e == keyOK {
			e = d.writeKey(m, r.addr, p.payload())
		}
		if e != keyOK {
			return refusedBy(e)
		}
	}
	r.addr, r.left, r.bytes = r.addr+uint64(p.n), r.left-uint32(p.n), r.bytes+uint32(p.n)
	if !p.last {
		return performed
	}
	d.count(q.counters, rxWriteRequests)
	if p.with != withImmediate {
		return performed
	}
	return d.completeReceive(q, p, &Completion{Opcode: ifc.MLX5_CQE_RESP_WR_IMM, ByteCount: r.bytes, Immediate: p.immediate})
}

func (d *Device) performRead(q *qp, p *packet) result {
	switch {
	case !q.canRead:
		return denied
	case q.resp.reads() >= q.maxAnswers:
		return invalid
	}
	if p.length > 0 {
		if _, e := d.reach(p.key, q.resp.who, remoteRead, p.addr, uint64(p.length)); e != keyOK {
			return refusedBy(e)
		}
	}
	d.count(q.counters, rxReadRequests)
	d.answer(q, response{verb: verbReadResponse, psn: p.psn, msn: q.resp.msn + 1, addr: p.addr, key: p.key, left: p.length,
		pd: q.resp.who.pd})
	return performed
}

// reads is how many requests for data are still to be answered.
func (r *responder) reads() (n int) {
	for i := range r.out.n {
		if a := r.out.at(i); a.verb != verbAck && !a.again {
			n++
		}
	}
	return n
}

func (d *Device) performAtomic(q *qp, p *packet) result {
	switch {
	case !q.canAtomic:
		return denied
	case p.addr%atomicSize != 0:
		return invalid
	}
	m, e := d.reach(p.key, q.resp.who, remoteAtomic, p.addr, atomicSize)
	if e != keyOK {
		return refusedBy(e)
	}
	word := d.word[:]
	var original uint64
	e = d.atomicKey(m, p.addr, word, func(b []byte) {
		original = binary.LittleEndian.Uint64(b)
		binary.LittleEndian.PutUint64(b, p.operate(original))
	})
	if e != keyOK {
		return denied
	}
	d.count(q.counters, rxAtomicRequests)
	done := &q.resp.atomics
	if done.n >= q.maxAnswers {
		done.pop()
	}
	done.push(doneAtomic{p.psn, original})
	d.answer(q, response{verb: verbAtomicResponse, psn: p.psn, msn: q.resp.msn + 1, original: original})
	return performed
}

// refusedBy is what a key error means for a request about remote memory.
func refusedBy(e keyError) result {
	if e == keyNotPresent {
		return absent
	}
	return denied
}

// operate is what an atomic operation makes of a number.
func (p *packet) operate(n uint64) uint64 {
	switch {
	case p.verb == verbFetchAdd:
		return n + p.swapAdd
	case n == p.compare:
		return p.swapAdd
	}
	return n
}

// repeat answers a request that came before once more. Nothing is done twice.
func (d *Device) repeat(q *qp, p *packet) {
	r := &q.resp
	switch {
	case p.verb == verbRead:
		if !d.onBehalf(q, p) {
			return
		}
		if p.length > 0 {
			if _, e := d.reach(p.key, r.who, remoteRead, p.addr, uint64(p.length)); e != keyOK && (e != keyNotPresent || !d.pageable) {
				return
			}
		}
		d.answer(q, response{verb: verbReadResponse, psn: p.psn, msn: r.msn, addr: p.addr, key: p.key, left: p.length,
			pd: r.who.pd, again: true})
	case p.verb.isAtomic():
		for i := r.atomics.n - 1; i >= 0; i-- { // the last one of that number, as numbers come again
			if a := r.atomics.at(i); a.psn == p.psn {
				d.answer(q, response{verb: verbAtomicResponse, psn: p.psn, msn: r.msn, original: a.original, again: true})
				return
			}
		}
	case p.ackRequest:
		d.answer(q, response{verb: verbAck, psn: (r.psn - 1) & bits24, msn: r.msn, syndrome: ackPositive | ackNoCredits})
	}
}

// answer sends an answer behind those that are still to be sent.
func (d *Device) answer(q *qp, a response) {
	out := &q.resp.out
	if a.verb == verbAck && a.syndrome&ackKind == ackPositive && out.n > 0 {
		if last := out.at(out.n - 1); last.verb == verbAck && last.syndrome == a.syndrome {
			*last = a
			return
		}
	}
	out.push(a)
	if out.n == 1 && a.verb == verbAck {
		d.respond(q)
	}
	if out.n > 0 {
		d.schedule(q)
	}
}

// respond sends the next packet with an answer. It says whether there was one.
func (d *Device) respond(q *qp) bool {
	out := &q.resp.out
	if out.n == 0 || q.resp.fault.answering && q.resp.fault.waiting {
		return false
	}
	a := out.at(0)
	p := d.packetFor(q, a.left)
	d.address(p, q, &q.peer)
	p.verb, p.qpn, p.psn, p.msn = a.verb, q.remote, a.psn, a.msn
	p.first, p.last = true, true
	n := uint32(0)
	switch a.verb {
	case verbAck:
		p.syndrome = a.syndrome
	case verbAtomicResponse:
		p.original = a.original
	case verbReadResponse:
		n = min(a.left, q.burst())
		p.packets = q.packetsOf(n)
		p.first, p.last, p.n = !a.begun, n == a.left, int(n)
		if why := d.readAnswer(q, a, p); why != performed {
			d.givePacket(p)
			if why != absent {
				*a = response{verb: verbAck, psn: a.psn, msn: a.msn, syndrome: nakAccess}
			}
			return true
		}
	}
	packets := p.packets // the packet is the receiver's once it is sent
	if d.send(p, q.near) == congested {
		d.givePacket(p)
		q.held = true
		return false
	}
	a.addr, a.left, a.psn, a.begun = a.addr+uint64(n), a.left-n, (a.psn+packets)&bits24, true
	if a.left == 0 {
		out.pop()
	}
	return true
}

// readAnswer reads the data that a packet is to bring back. The memory was there
// when it was asked for; it need not be any more. It is absent where the answer
// has to wait.
func (d *Device) readAnswer(q *qp, a *response, p *packet) result {
	if p.n == 0 {
		return performed
	}
	who := q.who
	who.pd = a.pd
	m, e := d.reach(a.key, who, remoteRead, a.addr, uint64(p.n))
	if e == keyOK {
		e = d.readKey(m, a.addr, p.payload())
	}
	switch {
	case e == keyOK:
		return performed
	case e == keyNotPresent && d.faultAnswer(q, a, p.n):
		return absent
	}
	d.count(q.counters, respRemoteAccessErrors)
	if q.state != ifc.MLX5_QP_STATE_ERR {
		d.raiseQP(q, ifc.MLX5_EVENT_TYPE_WQ_ACCESS_ERROR)
		d.enter(q, ifc.MLX5_QP_STATE_ERR)
	}
	return denied
}
