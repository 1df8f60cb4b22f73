package hw

import (
	"encoding/binary"
	"hash/crc32"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// The fields of a receive queue's context that say how frames come into it.
var (
	rqKeepVLAN   = ifc.Must("rqc").Field("vsd")
	rqScatterFCS = ifc.Must("rqc").Field("scatter_fcs")
	rqCounters   = ifc.Must("rqc").Field("counter_set_id")
	rqSignature  = ifc.Must("rqc").Field("wq.wq_signature")
	rqType       = ifc.Must("rqc").Field("wq.wq_type")
	rqPD         = ifc.Must("rqc").Field("wq.pd")
)

// signatureSegment is the length of what stands before the data segments of an
// entry with a signature (struct mlx5_rwqe_sig in
// drivers/infiniband/hw/mlx5/mlx5_ib.h).
const signatureSegment = 16

// receiveRaw puts a frame into the next entry of a receive queue. Without one, or
// into a queue that is not ready, the frame is dropped. One that the entry's memory
// has no room for, or that cannot be reached, ends the queue.
func (d *Device) receiveRaw(rq *context, p *passing, h hashed) {
	if rq.get(rq.of.state) != ifc.MLX5_RQC_STATE_RDY {
		return
	}
	segs, from, ok := d.nextRaw(rq)
	if !ok {
		d.count(uint8(rq.get(rqCounters)), outOfBuffer)
		return
	}
	c := Completion{Opcode: ifc.MLX5_CQE_RESP_SEND, WQECounter: from.index, RSSHash: h.value, RSSHashType: h.typ}
	describeFrame(&c, p)
	data := p.bytes
	if rq.get(rqKeepVLAN) == 0 && p.layers.tagged > 0 {
		data = d.stripTag(&c, p)
	}
	list := sgl{segs: segs}
	syndrome, n := d.scatterFrame(rq, &list, from.pd, data)
	if syndrome != 0 {
		c = failure(ifc.MLX5_CQE_RESP_ERR, syndrome, from.index)
	}
	c.ByteCount, c.QPN = uint32(n), rq.n
	if syndrome == 0 && d.cap(capCQEVersion) != 0 {
		c.QPN = p.tag // who has the user's index needs no number
	}
	if d.completeRaw(rq, rqCQN, &c) && syndrome != 0 {
		rq.of.state.Set(rq.bytes, ifc.MLX5_RQC_STATE_ERR)
		d.flushRaw(rq)
	}
}

// rawEntry is where an entry for a frame was taken from: its number, and the
// domain of the memory that it leads to.
type rawEntry struct {
	index uint16
	pd    uint32
}

// nextRaw takes the next entry of a receive queue or of its pool. A queue of
// strides has none for this device, which does not fill those.
func (d *Device) nextRaw(rq *context) (segs []byte, from rawEntry, ok bool) {
	if rq.get(rqMemType) == ifc.MLX5_RQC_MEM_RQ_TYPE_MEMORY_RQ_RMP {
		s := d.srqOf(uint32(rq.get(rqRMP)))
		if s == nil {
			return nil, from, false
		}
		segs, index, ok, err := d.srqNext(s, d.raw.wqe[:])
		switch {
		case err != nil:
			d.srqError(s)
		case ok:
			d.srqTake(s)
		}
		return segs, rawEntry{index, s.pd}, ok
	}
	if rq.get(rqType) > ifc.MLX5_WQ_TYPE_CYCLIC || d.postedTo(rq, recordRecv) == 0 {
		return nil, from, false
	}
	from = rawEntry{rq.taken, uint32(rq.get(rqPD))}
	segs = d.raw.wqe[:min(rq.stride(), uint64(len(d.raw.wqe)))]
	if d.get("receive wqe", &rq.buf, uint64(uint32(rq.taken)&(rq.size()-1))*rq.stride(), segs) != nil {
		segs = nil
	}
	rq.taken++
	if rq.get(rqSignature) != 0 && len(segs) >= signatureSegment {
		segs = segs[signatureSegment:]
	}
	return segs, from, true
}

// scatterFrame writes a frame to an entry's memory, with the check sum of the wire
// behind it if the queue wants that. It returns how many bytes that are, and why it
// failed.
func (d *Device) scatterFrame(rq *context, list *sgl, pd uint32, data []byte) (syndrome uint8, n int) {
	who := user{pd: pd, qpn: rq.n}
	e := d.scatter(list, who, data)
	n = len(data)
	if e == keyOK && rq.get(rqScatterFCS) != 0 {
		binary.LittleEndian.PutUint32(d.entry[:4], crc32.ChecksumIEEE(data))
		e = d.scatter(list, who, d.entry[:4])
		n += 4
	}
	switch e {
	case keyOK:
		return 0, n
	case keyBounds:
		if _, left := list.next(1); !left {
			return ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, n
		}
	}
	return ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, n
}

// What a completion says of a frame's headers (hds_ip_ext and l4_l3_hdr_type,
// include/linux/mlx5/device.h and drivers/net/ethernet/mellanox/mlx5/core/en_rx.c).
const (
	cqeL2OK = 1 << 0
	cqeL3OK = 1 << 1
	cqeL4OK = 1 << 2

	cqeHasVLAN   = 1 << 0
	cqeL3Type    = 2
	cqeIPv6      = 1
	cqeIPv4      = 2
	cqeL4Type    = 4
	cqeTCPNoAck  = 1
	cqeUDP       = 2
	cqeTCPAck    = 3
	cqeTCPAckAnd = 4

	tcpAck = 1 << 4
)

// describeFrame fills in what a completion says of a frame: its headers, whether
// their check sums are right, and the sum over all behind the Ethernet header.
func describeFrame(c *Completion, p *passing) {
	l := &p.layers
	c.HDSIPExt = cqeL2OK
	switch {
	case l.is4():
		c.L4L3HdrType |= cqeIPv4 << cqeL3Type
	case l.is6():
		c.L4L3HdrType |= cqeIPv6 << cqeL3Type
	}
	switch {
	case l.udp:
		c.L4L3HdrType |= cqeUDP << cqeL4Type
	case l.tcp && p.bytes[l.l4+13]&tcpAck == 0:
		c.L4L3HdrType |= cqeTCPNoAck << cqeL4Type
	case l.tcp && l.end > l.payload:
		c.L4L3HdrType |= cqeTCPAckAnd << cqeL4Type
	case l.tcp:
		c.L4L3HdrType |= cqeTCPAck << cqeL4Type
	}
	if l.networkSumOK(p.bytes) {
		c.HDSIPExt |= cqeL3OK
	}
	if l.transportSumOK(p.bytes) {
		c.HDSIPExt |= cqeL4OK
	}
	if len(p.bytes) > etherHeader {
		c.Checksum = fold(sum(0, p.bytes[etherHeader:]))
	}
}

// stripTag takes the outer VLAN tag out of a frame and tells the completion of it.
func (d *Device) stripTag(c *Completion, p *passing) []byte {
	c.VLANInfo = p.layers.tags[0].tci
	c.L4L3HdrType |= cqeHasVLAN
	out := append(d.raw.frame[:0], p.bytes[:2*macSize]...)
	return append(out, p.bytes[2*macSize+vlanTag:]...)
}

// isMulticastMAC says whether a frame is for a group.
func isMulticastMAC(frame []byte) bool { return len(frame) > 0 && frame[0]&1 != 0 }
