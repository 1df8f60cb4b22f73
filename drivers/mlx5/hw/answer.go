package hw

import "uverbsim/drivers/mlx5/hw/ifc"

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
