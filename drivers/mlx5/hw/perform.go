package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

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
