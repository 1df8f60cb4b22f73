package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// requester is the sending end of a queue pair.
type requester struct {
	psn     uint32 // of the next packet that is new
	unacked uint32 // the oldest that is not acknowledged

	// The work requests that are fetched and not complete, oldest first. The one
	// at index next is being cut into packets; off bytes of it are sent.
	ring ring[sendWR]
	next int
	off  uint32

	// What is being cut: its bytes, and where in its data it is. Another must be
	// loaded after next was moved.
	loaded bool
	wqe    [maxSendWQE]byte
	list   sgl

	reads      int   // requests on their way that take an answer with data
	missing    bool  // the answer that is the next was lost, and asked for again
	failed     bool  // the last of the ring is one that fails
	retries    uint8 // left
	rnrRetries uint8 // left; 7 is without end
	deadline   int64 // when the acknowledgement is overdue; 0 for none
	wakeAt     int64 // not to send before; 0 for at once
	fault      pageFault
}

// work is what a work request takes.
type work uint8

const (
	workLocal   work = iota // is done when it is fetched
	workRequest             // packets
	workRead                // a packet, and packets with data back
	workAtomic              // a packet and one back
)

// sendWR is a work request on its way.
type sendWR struct {
	block     uint16 // where it lies in the queue
	opcode    uint8  // MLX5_OPCODE_*
	work      work
	verb      verb
	with      with
	signalled bool
	solicited bool
	counted   bool // among requester.reads
	done      bool
	immediate uint32
	srqn      uint32
	addr      uint64
	key       uint32
	length    uint32
	swapAdd   uint64
	compare   uint64
	psn, last uint32 // of its first and its last packet
	answered  uint32 // bytes of data that came back
	to        path   // of a datagram
	toQPN     uint32
	toQKey    uint32
	syndrome  uint8 // why it fails; 0 if it does not
}

// path is the way to another queue pair.
type path struct {
	remote    [16]byte // GID
	source    uint8    // index of our own
	sl        uint8
	hopLimit  uint8
	tclass    uint8
	flowLabel uint32
}

// sendOps are the work requests that packets carry, and what they need beside
// their data: which segments stand between the control segment and it.
var sendOps = [256]struct {
	known  bool
	work   work
	verb   verb
	with   with
	remote bool // a remote address segment
}{
	ifc.MLX5_OPCODE_SEND:           {known: true, work: workRequest, verb: verbSend},
	ifc.MLX5_OPCODE_SEND_IMM:       {known: true, work: workRequest, verb: verbSend, with: withImmediate},
	ifc.MLX5_OPCODE_SEND_INVAL:     {known: true, work: workRequest, verb: verbSend, with: withInvalidate},
	ifc.MLX5_OPCODE_RDMA_WRITE:     {known: true, work: workRequest, verb: verbWrite, remote: true},
	ifc.MLX5_OPCODE_RDMA_WRITE_IMM: {known: true, work: workRequest, verb: verbWrite, with: withImmediate, remote: true},
	ifc.MLX5_OPCODE_RDMA_READ:      {known: true, work: workRead, verb: verbRead, remote: true},
	ifc.MLX5_OPCODE_ATOMIC_CS:      {known: true, work: workAtomic, verb: verbCompareSwap, remote: true},
	ifc.MLX5_OPCODE_ATOMIC_FA:      {known: true, work: workAtomic, verb: verbFetchAdd, remote: true},
	ifc.MLX5_OPCODE_NOP:            {known: true, work: workLocal},
	ifc.MLX5_OPCODE_UMR:            {known: true, work: workLocal},
}

// carries says whether a service has a verb.
func carries(service uint8, v verb, with with) bool {
	switch service {
	case ifc.MLX5_QP_ST_UD, ifc.MLX5_QP_ST_QP1:
		return v == verbSend && with != withInvalidate
	case ifc.MLX5_QP_ST_UC:
		return (v == verbSend || v == verbWrite) && with != withInvalidate
	}
	return true
}

// Lengths of the segments that stand before the data.
const (
	ctrlSegment     = 16
	xrcSegment      = 16
	remoteSegment   = 16
	atomicSegment   = 16
	datagramSegment = 48
	atomicSize      = 8
)

// window is how many packets may be on their way without an acknowledgement, and
// how often in a long message one is asked for.
const (
	window   = 256
	ackEvery = 64
)

// mostPackets is as many as the longest message has: 2^30 bytes by 256. If no
// message is begun while more are under way, all numbers that are lie within half
// of their range, where it can be told which of two is the later one.
const mostPackets = 1 << 22

// request sends the next packet of a queue pair. It says whether it did anything.
func (d *Device) request(q *qp) bool {
	r := &q.req
	if r.wakeAt != 0 || r.fault.waiting || q.sq.blocks == 0 {
		return false
	}
	if r.next == r.ring.n && !d.start(q) {
		return false
	}
	w := r.ring.at(r.next)
	switch {
	case w.syndrome != 0:
		return d.retire(q)
	case w.work == workLocal:
		r.next++
		r.off, r.loaded = 0, false
		d.retire(q)
		return true
	case q.isReliable() && w.work == workRequest && (w.psn+r.off>>q.mtuShift-r.unacked)&bits24 >= window:
		return false
	}
	return d.sendPacket(q, w)
}

// start fetches the next work request. It says whether there is one that can go
// on: it may have to wait for those before it.
func (d *Device) start(q *qp) bool {
	r := &q.req
	if r.failed || q.state != ifc.MLX5_QP_STATE_RTS {
		return false
	}
	ok, err := d.posted(q)
	if err != nil {
		d.fatal(q)
		return false
	}
	if !ok {
		return false
	}
	wqe, err := d.fetchSend(q, q.sq.ci, &r.wqe)
	if err != nil {
		d.fatal(q)
		return false
	}
	w := sendWR{block: q.sq.ci, psn: r.psn}
	if !w.parse(q, wqe, &r.list) || blocksOf(wqe) > q.sq.pi-q.sq.ci {
		w.fail(ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR)
	} else if !r.mayStart(q, &w, wqe) {
		return false
	}
	r.off, r.loaded = 0, true
	q.sq.pass(wqe)
	switch {
	case w.syndrome != 0:
		r.failed = true
	case w.opcode == ifc.MLX5_OPCODE_UMR:
		if e := d.umr(wqe, q.who); e != keyOK {
			w.fail(ifc.MLX5_CQE_SYNDROME_MW_BIND_ERR)
			r.failed = true
			d.count(q.counters, reqMWBinding)
		}
	case w.work != workLocal:
		w.checkLength(q)
		r.failed = w.syndrome != 0
		packets := uint32(1)
		if w.work != workAtomic {
			packets = q.packetsOf(w.length)
		}
		w.last = (w.psn + packets - 1) & bits24
		if !r.failed {
			r.psn = (w.last + 1) & bits24
		}
	}
	w.done = w.work == workLocal
	r.ring.push(w)
	return true
}

// mayStart says whether a work request may begin: those that it has to wait for
// are done, and the other end may be asked for more.
func (r *requester) mayStart(q *qp, w *sendWR, wqe []byte) bool {
	switch wqe[11] & ifc.MLX5_FENCE_MODE_MASK {
	case ifc.MLX5_FENCE_MODE_STRONG_ORDERING:
		if r.ring.n > 0 {
			return false
		}
	case ifc.MLX5_FENCE_MODE_FENCE, ifc.MLX5_FENCE_MODE_SMALL_AND_FENCE:
		if r.reads > 0 {
			return false
		}
	}
	if q.isReliable() && (r.psn-r.unacked)&bits24 >= mostPackets {
		return false
	}
	if w.work == workRead || w.work == workAtomic {
		return r.reads < q.maxReads
	}
	return true
}

// parse reads a work request; false if it makes no sense on this queue pair.
func (w *sendWR) parse(q *qp, wqe []byte, list *sgl) bool {
	be := binary.BigEndian
	if len(wqe) < ctrlSegment || be.Uint32(wqe[4:])>>8 != q.n {
		return false
	}
	w.opcode = wqe[3]
	w.signalled = wqe[11]&ifc.MLX5_WQE_CTRL_CE_MASK >= ifc.MLX5_WQE_CTRL_CQ_UPDATE
	w.solicited = wqe[11]&ifc.MLX5_WQE_CTRL_SOLICITED != 0
	w.immediate = be.Uint32(wqe[12:])
	op := &sendOps[w.opcode]
	w.work, w.verb, w.with = op.work, op.verb, op.with
	if !op.known || !carried[q.service&0xf] || w.work != workLocal && !carries(q.service, w.verb, w.with) {
		return false
	}
	rest := wqe[ctrlSegment:]
	if w.work == workLocal {
		return true
	}
	// cut takes the next segment.
	cut := func(n int) []byte {
		if rest == nil || len(rest) < n {
			rest = nil
			return nil
		}
		seg := rest[:n]
		rest = rest[n:]
		return seg
	}
	if q.service == ifc.MLX5_QP_ST_XRC {
		if seg := cut(xrcSegment); seg != nil {
			w.srqn = be.Uint32(seg) & bits24
		}
	}
	if q.isDatagram() {
		if seg := cut(datagramSegment); seg != nil {
			w.parseAddress(seg)
		}
	} else {
		w.to, w.toQPN = q.peer, q.remote
	}
	if op.remote {
		if seg := cut(remoteSegment); seg != nil {
			w.addr, w.key = be.Uint64(seg), be.Uint32(seg[8:])
		}
	}
	if w.work == workAtomic {
		if seg := cut(atomicSegment); seg != nil {
			w.swapAdd, w.compare = be.Uint64(seg), be.Uint64(seg[8:])
		}
	}
	list.segs, list.done = rest, 0
	return rest != nil
}

// parseAddress reads the address vector of a datagram (struct mlx5_av in
// include/linux/mlx5/qp.h).
func (w *sendWR) parseAddress(av []byte) {
	be := binary.BigEndian
	w.toQKey = be.Uint32(av)
	w.toQPN = be.Uint32(av[8:]) & bits24
	w.to.sl = av[12] & 0xf
	w.to.tclass, w.to.hopLimit = av[26], av[27]
	grh := be.Uint32(av[28:])
	w.to.source, w.to.flowLabel = uint8(grh>>20), grh&(1<<20-1)
	copy(w.to.remote[:], av[32:])
}

// checkLength finds out how long the message is, and refuses it if it is too
// long.
func (w *sendWR) checkLength(q *qp) {
	n := q.req.list.length()
	if w.work == workAtomic {
		if n < atomicSize {
			w.fail(ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR)
		}
		n = atomicSize
	}
	if n > q.maxMessage {
		w.fail(ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR)
		return
	}
	w.length = uint32(n)
}

var capLogMaxMsg = ifc.Must("cmd_hca_cap").Field("log_max_msg")

// reload makes the work request at next the one that is cut, from off on.
func (d *Device) reload(q *qp, w *sendWR) bool {
	r := &q.req
	wqe, err := d.fetchSend(q, w.block, &r.wqe)
	var again sendWR
	if err != nil || !again.parse(q, wqe, &r.list) {
		return false
	}
	r.list.skip(uint64(r.off))
	r.loaded = true
	return true
}

// sendPacket sends the next packet of the work request at next. It says whether it
// did anything.
func (d *Device) sendPacket(q *qp, w *sendWR) bool {
	r := &q.req
	if !r.loaded && !d.reload(q, w) {
		d.fatal(q)
		return false
	}
	send := d.sendData
	if w.work != workRequest {
		send = d.sendQuestion
	}
	n, how := send(q, w)
	switch how {
	case congested:
		q.held = true
		return false
	case unsent:
		return true
	}
	if r.off += n; r.off == w.length {
		r.next++
		r.off, r.loaded = 0, false
		if !q.isReliable() {
			w.done = true
			d.retire(q)
		}
	}
	if q.isReliable() && r.deadline == 0 {
		d.startTimer(q)
	}
	return true
}

// packetOf begins a packet of a work request, with room for the next of so many
// bytes.
func (d *Device) packetOf(q *qp, w *sendWR, left uint32) *packet {
	p := d.packetFor(q, left)
	d.address(p, q, &w.to)
	p.verb, p.qpn, p.srqn = w.verb, w.toQPN, w.srqn
	p.psn = (w.psn + q.req.off>>q.mtuShift) & bits24
	return p
}

// sendData sends the next part of a message, and returns how long that is. It is
// unsent if the data cannot be read.
func (d *Device) sendData(q *qp, w *sendWR) (n uint32, how outcome) {
	r := &q.req
	left := w.length - r.off
	p := d.packetOf(q, w, left)
	n = min(left, q.burst())
	p.n, p.packets = int(n), q.packetsOf(n)
	p.first, p.last = r.off == 0, n == left
	p.addr, p.key, p.length = w.addr, w.key, w.length
	if p.last {
		p.solicited, p.with, p.immediate = w.solicited, w.with, w.immediate
	}
	p.ackRequest = p.last || p.psn%ackEvery+p.packets >= ackEvery
	if q.isDatagram() {
		p.source, p.qkey = q.n, w.toQKey
		if w.toQKey&privilegedQKey != 0 {
			p.qkey = q.qkey
		}
	}
	list := r.list
	if e := d.gather(&r.list, q.who, p.payload()); e != keyOK {
		d.givePacket(p)
		r.list = list
		if !d.faultOut(q, w, e, int(n)) {
			w.fail(ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR)
			d.count(q.counters, reqLocalProtection)
			r.failed = true
		}
		return 0, unsent
	}
	if how = d.send(p, q.near && !q.isDatagram()); how == congested {
		d.givePacket(p)
		r.list = list
	}
	return n, how
}

// sendQuestion sends a request for data, and returns how much it asks for.
func (d *Device) sendQuestion(q *qp, w *sendWR) (n uint32, how outcome) {
	r := &q.req
	p := d.packetOf(q, w, 0)
	n = w.length - r.off
	p.first, p.last, p.ackRequest = true, true, true
	p.addr, p.key, p.length = w.addr+uint64(r.off), w.key, n
	p.swapAdd, p.compare = w.swapAdd, w.compare
	if how = d.send(p, q.near); how == congested {
		d.givePacket(p)
		return 0, how
	}
	if !w.counted {
		w.counted = true
		r.reads++
	}
	return n, how
}

// burst is how many bytes of a message are sent at a time.
func (q *qp) burst() uint32 {
	if q.near && q.isReliable() {
		return maxTrain
	}
	return q.mtu
}

// packetsOf is how many packets that many bytes of a message are.
func (q *qp) packetsOf(n uint32) uint32 { return max((n+q.mtu-1)>>q.mtuShift, 1) }

// packetFor takes a packet for the next of so many bytes of a message.
func (d *Device) packetFor(q *qp, left uint32) *packet {
	if min(left, q.burst()) > maxPayload {
		return d.takeTrain()
	}
	return d.takePacket()
}

// privilegedQKey is the bit of a Q_Key that stands for the sender's own.
const privilegedQKey = 1 << 31

// address fills in what all packets of a queue pair have.
func (d *Device) address(p *packet, q *qp, to *path) {
	p.from, _, _ = d.gid(to.source)
	p.to = to.remote
	p.service = q.service
	p.sl, p.hopLimit, p.tclass, p.flowLabel = to.sl, to.hopLimit, to.tclass, to.flowLabel
}
