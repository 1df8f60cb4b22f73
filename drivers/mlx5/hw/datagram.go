package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// unreliable takes in a packet of an unreliable connection. A message that
// misses a packet is dropped as a whole, and nobody is told.
func (d *Device) unreliable(q *qp, p *packet) {
	r := &q.resp
	d.established(q)
	expected := r.psn
	r.psn = (p.psn + 1) & bits24
	if p.first {
		r.inside = true
	} else if !r.inside || p.psn != expected || p.verb != r.verb {
		r.inside = false
		return
	}
	r.verb = p.verb
	fits := p.n <= int(q.mtu) && (p.last || p.n == int(q.mtu))
	if !fits || p.verb != verbSend && p.verb != verbWrite {
		r.inside = false
		return
	}
	switch n := d.perform(q, p); n {
	case performed:
		r.inside = !p.last
	case notReady:
		d.count(q.counters, outOfBuffer)
		r.inside = false
	case tooLong, badMemory, absent:
		syndrome := uint8(ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR)
		if n != tooLong {
			syndrome = ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR
		}
		d.failReceive(q, syndrome)
		d.enter(q, ifc.MLX5_QP_STATE_ERR)
	default:
		r.inside = false
	}
}

// grhSize is the room before a datagram's data.
const grhSize = 40

// datagram takes in a datagram.
func (d *Device) datagram(q *qp, p *packet) {
	if p.qkey != q.qkey || p.verb != verbSend {
		return
	}
	d.established(q)
	switch d.takeReceive(q, p) {
	case performed:
	case notReady:
		d.count(q.counters, outOfBuffer)
		return
	default:
		return
	}
	in := &q.resp.recv
	n := d.scatterReceive(in, q.who, p.routeHeader(d.entry[:grhSize]))
	if n == performed {
		n = d.scatterReceive(in, q.who, p.payload())
	}
	switch n {
	case performed:
	case tooLong:
		d.count(q.counters, respLocalLengthError)
		d.failReceive(q, ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR)
		d.enter(q, ifc.MLX5_QP_STATE_ERR)
		return
	default:
		d.count(q.counters, respLocalProtection)
		d.failReceive(q, ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR)
		d.enter(q, ifc.MLX5_QP_STATE_ERR)
		return
	}
	c := Completion{Opcode: ifc.MLX5_CQE_RESP_SEND, ByteCount: uint32(grhSize + p.n)}
	if p.with == withImmediate {
		c.Opcode, c.Immediate = ifc.MLX5_CQE_RESP_SEND_IMM, p.immediate
	}
	d.completeReceive(q, p, &c)
}

// transport is how long a datagram's base and datagram header are, with the check
// sum at its end.
const transport = 12 + 8 + 4

// routeHeader is what stands before the data of a datagram in its receiver's
// memory: the IPv6 header as it came, or an IPv4 one in the last 20 bytes of the
// room.
func (p *packet) routeHeader(b []byte) []byte {
	be := binary.BigEndian
	clear(b)
	length := udpHeader + transport + p.n
	if isIPv4(&p.to) {
		h := b[grhSize-ipv4Header:]
		h[0], h[1] = 4<<4|ipv4Header/4, p.tclass
		be.PutUint16(h[2:], uint16(ipv4Header+length))
		h[6] = 1 << 6 // do not fragment
		h[8], h[9] = p.hopLimit, protoUDP
		copy(h[12:], p.from[12:])
		copy(h[16:], p.to[12:])
		be.PutUint16(h[10:], ^fold(sum(0, h)))
		return b
	}
	be.PutUint32(b, 6<<28|uint32(p.tclass)<<20|p.flowLabel)
	be.PutUint16(b[4:], uint16(length))
	b[6], b[7] = protoUDP, p.hopLimit
	copy(b[8:], p.from[:])
	copy(b[24:], p.to[:])
	return b
}
