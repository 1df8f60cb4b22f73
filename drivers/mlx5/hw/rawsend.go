package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Send queues for raw packets: a work request becomes a frame, or as many as its data
// is cut into.

// rawPath is what the device keeps of the work on raw queues.
type rawPath struct {
	ready ring[*context]   // send queues with something to do
	wqe   [maxSendWQE]byte // the work request or entry that is carried out
	frame [maxTrain]byte   // a frame that is not as it came
	out   [maxTrain]byte   // the frame that is sent
	inner passing          // of a frame that comes in
	outer passing          // of one that goes out
}

// ringRaw is the doorbell of a send queue for raw packets.
func (d *Device) ringRaw(uar, sqn uint32) {
	o, _ := d.objects[kindSQ].live[sqn].as.(*context)
	if o != nil && uint32(o.get(sqWQ.uar)) == uar {
		d.scheduleRaw(o)
	}
}

// scheduleRaw puts a send queue behind those that have something to do.
func (d *Device) scheduleRaw(o *context) {
	if !o.queued {
		o.queued = true
		d.raw.ready.push(o)
		d.kick()
	}
}

// scanRaw is scheduleRaw for who has seen no doorbell.
func (d *Device) scanRaw(o *context) {
	if !o.queued && d.postedTo(o, recordSend) > 0 {
		d.scheduleRaw(o)
	}
}

// sendNextRaw carries out the next work request of a raw send queue. It says
// whether there was one.
func (d *Device) sendNextRaw() bool {
	for n := d.raw.ready.n; n > 0; n-- {
		o := *d.raw.ready.at(0)
		d.raw.ready.pop()
		o.queued = false
		if d.objects[kindSQ].live[o.n].as != any(o) {
			continue // it has gone
		}
		if d.sendRaw(o) {
			o.queued = true
			d.raw.ready.push(o)
			return true
		}
	}
	return false
}

// sendRaw carries out the next work request of a queue and says whether there was
// one. A queue whose completion queue takes no more goes no further.
func (d *Device) sendRaw(o *context) bool {
	n := d.postedTo(o, recordSend)
	if n == 0 {
		return false
	}
	c := Completion{Opcode: ifc.MLX5_CQE_REQ, WQECounter: o.taken, QPN: o.n}
	blocks, signalled, syndrome := uint16(1), true, uint8(ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR)
	if wqe, err := d.fetchRaw(o); err == nil {
		c.SendOpcode, blocks = wqe[3], max(1, blocksOf(wqe))
		signalled = wqe[11]&ifc.MLX5_WQE_CTRL_CE_MASK == ifc.MLX5_WQE_CTRL_CQ_UPDATE
		syndrome = 0
		if o.get(o.of.state) != ifc.MLX5_SQC_STATE_ERR {
			more := false
			if syndrome, more = d.carryOutRaw(o, wqe); more {
				return true
			}
		}
	}
	o.pieces = 0
	if o.get(o.of.state) == ifc.MLX5_SQC_STATE_ERR {
		syndrome = ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR
	}
	if syndrome != 0 {
		c.Opcode, c.Syndrome, c.VendorSyndrome = ifc.MLX5_CQE_REQ_ERR, syndrome, vendorSyndromes[syndrome]
		o.of.state.Set(o.bytes, ifc.MLX5_SQC_STATE_ERR)
	}
	if (signalled || syndrome != 0) && !d.completeRaw(o, sqCQN, &c) {
		return false
	}
	o.taken += uint16(min(n, uint32(blocks)))
	return true
}

// fetchRaw reads the next work request of a queue, which may lie around its end. It
// is one block long at least.
func (d *Device) fetchRaw(o *context) ([]byte, error) {
	b := d.raw.wqe[:wqeBlock]
	for got := 0; got < len(b); got += wqeBlock {
		at := uint64((uint32(o.taken)+uint32(got/wqeBlock))&(o.size()-1)) * wqeBlock
		if err := d.get("send wqe", &o.buf, at, b[got:got+wqeBlock]); err != nil {
			return nil, err
		}
		if got == 0 {
			segments := int(binary.BigEndian.Uint32(b[4:]) & segmentMask)
			b = d.raw.wqe[:max(wqeBlock, (segments*wqeSegment+wqeBlock-1)&^(wqeBlock-1))]
		}
	}
	n := int(binary.BigEndian.Uint32(b[4:])&segmentMask) * wqeSegment
	return b[:max(n, ctrlSegment)], nil
}

// Of the Ethernet segment of a work request (struct mlx5_wqe_eth_seg in
// include/linux/mlx5/qp.h): what it has where, in bytes behind the control segment.
const (
	ethFlags  = 4
	ethMSS    = 6
	ethInline = 12 // the length of the inline header, or that a VLAN tag goes in
	ethHeader = 14 // the inline header, or the tag's number

	ethInlineMask = 0x3ff
	ethInsertVLAN = 1 << 15
	ethSVLAN      = 1 << 0

	ethSumInnerL3 = 1 << 4
	ethSumInnerL4 = 1 << 5
	ethSumL3      = 1 << 6
	ethSumL4      = 1 << 7
)

// ethWork is a work request to send frames.
type ethWork struct {
	flags  uint8
	mss    int
	vlan   tag // that goes in; tpid 0 is none
	header []byte
	list   sgl
}

// carryOutRaw does what a work request says, or a piece of it. It returns why it
// failed, and whether there is more to do.
func (d *Device) carryOutRaw(o *context, wqe []byte) (syndrome uint8, more bool) {
	switch wqe[3] {
	case ifc.MLX5_OPCODE_NOP:
		return 0, false
	case ifc.MLX5_OPCODE_SEND, ifc.MLX5_OPCODE_TSO:
	default:
		return ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, false
	}
	w, ok := readEthWork(wqe[ctrlSegment:])
	if !ok {
		return ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, false
	}
	who := user{pd: uint32(o.get(sqPD)), qpn: o.n}
	if wqe[3] == ifc.MLX5_OPCODE_TSO {
		return d.sendSegment(o, &w, who)
	}
	size := uint64(len(w.header)) + w.list.length()
	if size < etherHeader || size > maxFrame {
		return ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, false
	}
	frame := d.raw.out[:size]
	copy(frame, w.header)
	if d.gather(&w.list, who, frame[len(w.header):]) != keyOK {
		return ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, false
	}
	d.sendFrame(o, &w, frame)
	return 0, false
}

// maxFrame is the longest frame that the device takes, with room for a tag. It is
// longer than what its port lets through.
const maxFrame = maxTrain - 2*vlanTag

var sqPD = ifc.Must("sqc").Field("wq.pd")

// readEthWork reads a work request from its Ethernet segment on.
func readEthWork(b []byte) (w ethWork, ok bool) {
	be := binary.BigEndian
	if len(b) < wqeSegment {
		return w, false
	}
	w.flags, w.mss = b[ethFlags], int(be.Uint16(b[ethMSS:]))
	size := wqeSegment
	if word := be.Uint16(b[ethInline:]); word&ethInsertVLAN != 0 {
		w.vlan = tag{etherVLAN, be.Uint16(b[ethHeader:])}
		if word&ethSVLAN != 0 {
			w.vlan.tpid = etherSVLAN
		}
	} else if n := int(word & ethInlineMask); n > 0 {
		size = max(wqeSegment, (ethHeader+n+wqeSegment-1)&^(wqeSegment-1))
		if size > len(b) {
			return w, false
		}
		w.header = b[ethHeader : ethHeader+n]
	}
	w.list = sgl{segs: b[size:]}
	return w, true
}

// sendFrame finishes a frame and lets it out: the tag goes in and check sums are
// filled in, as the work request wants.
func (d *Device) sendFrame(o *context, w *ethWork, frame []byte) {
	if w.vlan.tpid != 0 {
		frame = frame[:len(frame)+vlanTag]
		copy(frame[2*macSize+vlanTag:], frame[2*macSize:len(frame)-vlanTag])
		binary.BigEndian.PutUint16(frame[2*macSize:], w.vlan.tpid)
		binary.BigEndian.PutUint16(frame[2*macSize+2:], w.vlan.tci)
	}
	p := &d.raw.outer
	*p = passing{bytes: frame, layers: layersOf(frame, 0), own: true, domain: d.domainOf(o), sqn: o.n}
	if w.flags&(ethSumInnerL3|ethSumInnerL4) != 0 {
		t := tunnelOf(frame, &p.layers)
		t.inner.fillSums(frame, w.flags&ethSumInnerL3 != 0, w.flags&ethSumInnerL4 != 0)
	}
	p.layers.fillSums(frame, w.flags&ethSumL3 != 0, w.flags&ethSumL4 != 0)
	if d.steer(tableNICTX, p) != taken {
		d.transmitFrame(p)
	}
}

// fillSums fills in the check sums that are wanted.
func (l *layers) fillSums(b []byte, network, transport bool) {
	if network {
		l.setNetworkSum(b)
	}
	if transport {
		l.setTransportSum(b)
	}
}

// domainOf is the transport domain of a send queue's interface.
func (d *Device) domainOf(o *context) uint32 {
	if o.get(sqTIS.count) == 0 {
		return 0
	}
	tis, _ := d.objects[kindTIS].live[uint32(o.get(sqTIS.first))].as.(*context)
	if tis == nil {
		return 0
	}
	return uint32(tis.get(tisDomain))
}

// flushRaw completes the receives of a queue that has come into error.
func (d *Device) flushRaw(o *context) {
	for n := d.postedTo(o, recordRecv); n > 0; n-- {
		c := failure(ifc.MLX5_CQE_RESP_ERR, ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR, o.taken)
		c.QPN = o.n
		if !d.completeRaw(o, rqCQN, &c) {
			return
		}
		o.taken++
	}
}

// postedTo is how many entries or blocks of a queue wait, by the counter that
// stands at an offset of its doorbell record: none of one in the reset state or
// whose record cannot be read, at most the whole queue.
func (d *Device) postedTo(o *context, at Addr) uint32 {
	if o.get(o.of.state) == ifc.MLX5_SQC_STATE_RST || len(o.buf.pages) == 0 {
		return 0
	}
	pi, err := d.counter(o.record + at)
	if err != nil {
		return 0
	}
	return min(uint32(pi-o.taken), o.size())
}

// completeRaw puts a completion of a queue into the completion queue that its
// context names, and says whether that took it.
func (d *Device) completeRaw(o *context, cqn ifc.Field, c *Completion) bool {
	to, _ := d.objects[kindCQ].live[uint32(o.get(cqn))].as.(*cq)
	if to == nil {
		return false
	}
	c.UserIndex = uint32(o.get(rawUserIndex))
	return d.complete(to, c) == nil
}

// rawUserIndex stands at the same place in the contexts of both kinds of queues.
var rawUserIndex = ifc.Must("sqc").Field("user_index")
