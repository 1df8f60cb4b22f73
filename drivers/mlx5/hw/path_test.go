package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// end is one end of a connection in tests: a queue pair with its queues, a
// completion queue, and a memory key for a page range of its device's bus.
type end struct {
	*rig
	qpn, cqn, pdn uint32
	uar           uint32
	key           uint32
	base          Addr // where its queues and its data lie
	sq, rq        uint16
	ci            uint32
	sqBlocks      uint32
	rqEntries     uint32
	noRQ          bool  // its receives are those of a shared queue
	kind          uint8 // service
	gid           [16]byte
	frame         *[uarPageSize]byte // its register page, if that is polled
}

// Where what lies, from the base on.
const (
	endCQ     = 0x10000
	endQP     = 0x20000
	endRecord = 0x40000 // of the queue pair; of the completion queue 0x40 behind
	endData   = 0x100000
	endSize   = 0x180000

	endLogCQ = 7
	endLogRQ = 4
	endLogSQ = 4
)

// endOptions says what an end is to be.
type endOptions struct {
	service uint8
	base    Addr
	uid     uint16
	srqn    uint32
	gid     byte // the last of its address
	change  func(ctx []byte)
	eqn     uint32
}

func (r *rig) setGID(index uint8, gid [16]byte) {
	r.t.Helper()
	in := Input(ifc.MLX5_CMD_OP_SET_ROCE_ADDRESS, 0, 0, 0)
	l := ifc.Must("set_roce_address_in")
	l.Field("roce_address_index").Set(in, uint64(index))
	copy(l.Field("roce_address.source_l3_address").Bytes(in), gid[:])
	l.Field("roce_address.source_mac_31_0").Set(in, uint64(gid[15]))
	l.Field("roce_address.roce_l3_type").Set(in, 1)
	l.Field("roce_address.roce_version").Set(in, 2)
	_, s := r.exec(in)
	require.Equal(r.t, MLX5_CMD_STAT_OK, s)
}

func testGID(last byte) (gid [16]byte) {
	gid[0], gid[1], gid[15] = 0xfe, 0x80, last
	return gid
}

func (r *rig) newEnd(o endOptions) *end {
	r.t.Helper()
	e := &end{rig: r, base: o.base, kind: o.service, uar: r.uar, sqBlocks: 1 << endLogSQ, rqEntries: 1 << endLogRQ, gid: testGID(o.gid)}
	r.setGID(0, e.gid)
	e.pdn = r.made(Input(ifc.MLX5_CMD_OP_ALLOC_PD, o.uid, 0, 0))
	eqn := o.eqn
	if eqn == 0 {
		eqn = r.createEQ(eqOptions{log: 6, mask: 1<<0x02 | 1<<0x04 | 1<<0x05 | 1<<0x10 | 1<<0x11 | 1<<0x13 | 1<<0x14})
	}
	co := cqOptions{uid: o.uid, log: endLogCQ, eqn: eqn, record: o.base + endRecord + 0x40}
	for i := range (CQESize<<endLogCQ + ramPage - 1) / ramPage {
		co.buffer = append(co.buffer, o.base+endCQ+Addr(i*ramPage))
		r.mem.set(o.base+endCQ+Addr(i*ramPage), invalidCQEs[:])
	}
	e.cqn = r.createCQ(co)
	e.key = r.createKey(e.pdn, o.base+endData, endSize-endData)
	e.qpn = r.made(e.qpInput(o))
	return e
}

// invalidCQEs is a page of entries that are the device's.
var invalidCQEs = func() (b [ramPage]byte) {
	for i := CQESize - 1; i < len(b); i += CQESize {
		b[i] = ifc.MLX5_CQE_INVALID<<4 | 1
	}
	return b
}()

// createKey makes a key for n bytes of the bus, with all rights.
func (r *rig) createKey(pdn uint32, start Addr, n int) uint32 {
	r.t.Helper()
	pages := n / ramPage
	in := Input(ifc.MLX5_CMD_OP_CREATE_MKEY, 0, 0, 8*pages)
	l := ifc.Must("create_mkey_in")
	octwords := uint64(pages+1) / 2
	l.Field("translations_octword_actual_size").Set(in, octwords)
	ctx := l.Field("memory_key_mkey_entry").Bytes(in)
	m := ifc.Must("mkc")
	for _, right := range []string{"a", "rw", "rr", "lw", "lr", "umr_en"} {
		m.Field(right).Set(ctx, 1)
	}
	m.Field("access_mode_1_0").Set(ctx, 1)
	m.Field("qpn").Set(ctx, bits24)
	m.Field("mkey_7_0").Set(ctx, 0x5a)
	m.Field("pd").Set(ctx, uint64(pdn))
	m.Field("start_addr").Set(ctx, start)
	m.Field("len").Set(ctx, uint64(n))
	m.Field("translations_octword_size").Set(ctx, octwords)
	m.Field("log_page_size").Set(ctx, 12)
	list := in[l.Field("klm_pas_mtt").Byte():]
	for i := range pages {
		binary.BigEndian.PutUint64(list[8*i:], start+Addr(i*ramPage))
	}
	return r.made(in)<<8 | 0x5a
}

func (e *end) qpInput(o endOptions) []byte {
	rqBytes := 64 << endLogRQ
	pages := (rqBytes + 64<<endLogSQ + ramPage - 1) / ramPage
	in := Input(ifc.MLX5_CMD_OP_CREATE_QP, o.uid, 0, 8*pages)
	ctx := qpContextIn.Bytes(in)
	qpc.st.Set(ctx, uint64(o.service))
	qpc.pd.Set(ctx, uint64(e.pdn))
	qpc.logRQSize.Set(ctx, endLogRQ)
	qpc.logRQStride.Set(ctx, 2) // 64 bytes
	qpc.logSQSize.Set(ctx, endLogSQ)
	qpc.uarPage.Set(ctx, uint64(e.uar))
	qpc.userIndex.Set(ctx, uint64(o.base>>20))
	qpc.cqnSnd.Set(ctx, uint64(e.cqn))
	qpc.cqnRcv.Set(ctx, uint64(e.cqn))
	qpc.dbrAddr.Set(ctx, e.base+endRecord)
	if o.srqn != 0 {
		qpc.rqType.Set(ctx, ifc.MLX5_SRQ_RQ)
		qpc.srqn.Set(ctx, uint64(o.srqn))
	}
	if o.change != nil {
		o.change(ctx)
	}
	e.noRQ = qpc.rqType.Get(ctx) != ifc.MLX5_NON_ZERO_RQ
	for i := range pages {
		binary.BigEndian.PutUint64(in[qpPas+8*i:], e.base+endQP+Addr(i*ramPage))
	}
	return in
}

// sqStart is where the send queue begins: behind the receive queue, if there is
// one.
func (e *end) sqStart() Addr {
	if e.noRQ {
		return e.base + endQP
	}
	return e.base + endQP + 64*Addr(e.rqEntries)
}

// connection is what two ends agree on.
type connection struct {
	mtu        uint64 // enum ib_mtu; 1024 bytes if 0
	timeout    uint64 // exponent
	retries    uint64
	rnrRetries uint64
	rnrTimer   uint64
	psn        uint64
	noRead     bool
	noWrite    bool
	noAtomic   bool
	depth      uint64 // logarithm of the reads at once
}

// transit sends a command that changes the queue pair's state.
func (e *end) transit(op uint16, fill func(ctx []byte)) Status {
	in := Input(op, 0, 0, stepSize)
	binary.BigEndian.PutUint32(in[8:], e.qpn)
	if fill != nil {
		fill(qpStepIn.Bytes(in))
	}
	_, s := e.exec(in)
	return s
}

// connect brings an end to RTS, towards a peer.
func (e *end) connect(to *end, c connection) {
	e.t.Helper()
	if c.mtu == 0 {
		c.mtu = 3
	}
	require.Equal(e.t, MLX5_CMD_STAT_OK, e.transit(ifc.MLX5_CMD_OP_RST2INIT_QP, func(ctx []byte) {
		for f, not := range map[ifc.Field]bool{qpc.rre: c.noRead, qpc.rwe: c.noWrite, qpc.rae: c.noAtomic} {
			if !not {
				f.Set(ctx, 1)
			}
		}
		qpc.qKey.Set(ctx, 0x1234)
		qpc.path.port.Set(ctx, 1)
	}))
	require.Equal(e.t, MLX5_CMD_STAT_OK, e.transit(ifc.MLX5_CMD_OP_INIT2RTR_QP, func(ctx []byte) {
		qpc.mtu.Set(ctx, c.mtu)
		qpc.remoteQPN.Set(ctx, uint64(to.qpn))
		qpc.nextRcvPSN.Set(ctx, c.psn)
		qpc.logRRAMax.Set(ctx, c.depth)
		qpc.minRNRNak.Set(ctx, c.rnrTimer)
		copy(qpc.path.rgid.Bytes(ctx), to.gid[:])
	}))
	require.Equal(e.t, MLX5_CMD_STAT_OK, e.transit(ifc.MLX5_CMD_OP_RTR2RTS_QP, func(ctx []byte) {
		qpc.nextSendPSN.Set(ctx, c.psn)
		qpc.logSRAMax.Set(ctx, c.depth)
		qpc.retryCount.Set(ctx, c.retries)
		qpc.rnrRetry.Set(ctx, c.rnrRetries)
		qpc.path.ackTimeout.Set(ctx, c.timeout)
	}))
}

// pair is two connected ends of one device.
func pair(t testing.TB, service uint8, c connection) (a, b *end) {
	r := newRig(t, checking)
	a = r.newEnd(endOptions{service: service, base: 0x10000000, gid: 1})
	b = r.newEnd(endOptions{service: service, base: 0x20000000, gid: 1})
	a.connect(b, c)
	b.connect(a, c)
	return a, b
}

// apart is two connected ends of two devices.
func apart(t testing.TB, service uint8, link Link, c connection) (a, b *end) {
	f := NewFabric(link)
	a = newRigIn(t, f).newEnd(endOptions{service: service, base: 0x10000000, gid: 1})
	b = newRigIn(t, f).newEnd(endOptions{service: service, base: 0x20000000, gid: 2})
	a.connect(b, c)
	b.connect(a, c)
	return a, b
}

// seg is a data segment.
type seg struct {
	key  uint32
	addr Addr
	n    uint32
}

func (s seg) bytes() []byte {
	b := binary.BigEndian.AppendUint32(nil, s.n)
	b = binary.BigEndian.AppendUint32(b, s.key)
	return binary.BigEndian.AppendUint64(b, s.addr)
}

// data is a segment of an end's data, from an offset on.
func (e *end) data(off, n int) seg { return seg{e.key, e.base + endData + Addr(off), uint32(n)} }

func (e *end) bytes(off, n int) []byte { return e.mem.get(e.base+endData+Addr(off), n) }

func (e *end) fill(off int, p []byte) { e.mem.set(e.base+endData+Addr(off), p) }

// wr is a work request to be posted.
type wr struct {
	op     uint8
	flags  uint8 // byte 11; 0 asks for a completion
	quiet  bool  // asks for none
	imm    uint32
	remote *seg      // remote address segment
	atomic [2]uint64 // swap or add, compare
	ud     []byte    // address vector
	srqn   uint32
	inline []byte
	sgl    []seg
}

// post writes a work request into the send queue and rings.
func (e *end) post(w wr) uint16 {
	be := binary.BigEndian
	var b []byte
	b = be.AppendUint32(b, uint32(e.sq)<<8|uint32(w.op))
	b = be.AppendUint32(b, e.qpn<<8)
	flags := w.flags
	if !w.quiet {
		flags |= ifc.MLX5_WQE_CTRL_CQ_UPDATE
	}
	b = append(b, 0, 0, 0, flags)
	b = be.AppendUint32(b, w.imm)
	if w.srqn != 0 {
		b = append(be.AppendUint32(b, w.srqn), make([]byte, 12)...)
	}
	b = append(b, w.ud...)
	if w.remote != nil {
		b = be.AppendUint64(b, w.remote.addr)
		b = be.AppendUint32(b, w.remote.key)
		b = append(b, 0, 0, 0, 0)
	}
	if sendOps[w.op].work == workAtomic {
		b = be.AppendUint64(b, w.atomic[0])
		b = be.AppendUint64(b, w.atomic[1])
	}
	if w.inline != nil {
		b = be.AppendUint32(b, uint32(len(w.inline))|ifc.MLX5_INLINE_SEG)
		b = append(b, w.inline...)
		for len(b)%wqeSegment != 0 {
			b = append(b, 0)
		}
	}
	for _, s := range w.sgl {
		b = append(b, s.bytes()...)
	}
	return e.postRaw(b)
}

// postRaw posts the bytes of a work request; its length is filled in.
func (e *end) postRaw(b []byte) uint16 {
	b[7] = uint8(len(b) / wqeSegment)
	first := e.sq
	for done := 0; done < len(b); done += wqeBlock {
		at := uint64(uint32(e.sq)&(e.sqBlocks-1)) * wqeBlock
		e.mem.set(e.sqStart()+at, b[done:min(done+wqeBlock, len(b))])
		e.sq++
	}
	e.ringDoorbell(b)
	return first
}

func (e *end) ringDoorbell(ctrl []byte) {
	e.mem.put32(e.base+endRecord+recordSend, uint32(e.sq))
	if e.frame != nil {
		copy(e.frame[ifc.MLX5_BF_OFFSET:], ctrl[:8])
		return
	}
	e.UARPage(e.uar).Store(ifc.MLX5_BF_OFFSET, ctrl[:8])
}

// receive posts a receive.
func (e *end) receive(segs ...seg) {
	var b []byte
	for _, s := range segs {
		b = append(b, s.bytes()...)
	}
	if len(b) < wqeBlock {
		b = append(b, seg{key: ifc.MLX5_INVALID_LKEY}.bytes()...)
	}
	e.mem.set(e.base+endQP+Addr(uint32(e.rq)&(e.rqEntries-1))*64, b)
	e.rq++
	e.mem.put32(e.base+endRecord+recordRecv, uint32(e.rq))
}

// cqe is a completion as it was read.
type cqe struct {
	op, syndrome, send uint8
	qpn, counter, n    uint32
	imm, index         uint32
	solicited          bool
	flags              uint32
}

// poll takes the completions that are there.
func (e *end) poll() (got []cqe) {
	be := binary.BigEndian
	for {
		b := e.mem.get(e.base+endCQ+Addr(e.ci%(1<<endLogCQ))*CQESize, CQESize)
		if b[63]>>4 == ifc.MLX5_CQE_INVALID || uint32(b[63]&1) != e.ci>>endLogCQ&1 {
			return got
		}
		e.ci++
		e.mem.put32(e.base+endRecord+0x40, e.ci)
		c := cqe{op: b[63] >> 4, solicited: b[63]&2 != 0, index: be.Uint32(b[32:]), imm: be.Uint32(b[36:]), n: be.Uint32(b[44:]),
			send: b[56], qpn: be.Uint32(b[56:]) & bits24, counter: uint32(be.Uint16(b[60:])), flags: be.Uint32(b[24:])}
		if c.op == ifc.MLX5_CQE_REQ_ERR || c.op == ifc.MLX5_CQE_RESP_ERR {
			c.syndrome = b[55]
		}
		got = append(got, c)
	}
}

// settle steps until nothing is left to do, and returns how many steps it took.
func settle(rigs ...*rig) (n int) {
	for again := true; again; {
		again = false
		for _, r := range rigs {
			for r.Step() {
				again = true
				n++
			}
		}
	}
	return n
}

func settleEnds(ends ...*end) int {
	var rigs []*rig
	for _, e := range ends {
		rigs = append(rigs, e.rig)
	}
	return settle(rigs...)
}

// texture is n bytes that differ from their neighbours.
func texture(n int, seed byte) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i)*7 + byte(i>>8) + seed
	}
	return p
}

// checking is the recorded device, but for what that takes unseen.
var checking = func() *Profile {
	p := *Recorded
	p.name, p.rows = "checking", nil
	return &p
}()
