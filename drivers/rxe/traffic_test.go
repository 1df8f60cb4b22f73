package rxe

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// link is two QPs of one process that talk to each other, or one that talks to
// itself, with registered memory.
type link struct {
	*rig
	cq   *core.CQ
	a, b *core.QP
	mr   *core.MR
	data copyuser.Addr
}

const (
	linkData = 8192
	allRight = spec.IB_ACCESS_LOCAL_WRITE | spec.IB_ACCESS_REMOTE_WRITE | spec.IB_ACCESS_REMOTE_READ | spec.IB_ACCESS_REMOTE_ATOMIC
)

func newLink(t testing.TB, typ uint8, two bool) *link {
	t.Helper()
	r := newRig(t, Config{})
	l := &link{rig: r, cq: r.newCQ(64), data: r.take(linkData)}
	l.mr = r.newMR(l.data, linkData, allRight)
	init := func() *core.QPInitAttr {
		return &core.QPInitAttr{SendCQ: l.cq, RecvCQ: l.cq, Type: typ, Cap: core.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2, MaxRecvSGE: 2}}
	}
	l.a = r.newQP(init())
	l.b = l.a
	if two {
		l.b = r.newQP(init())
	}
	r.connect(l.a, l.b.QPNum)
	if two {
		r.connect(l.b, l.a.QPNum)
	}
	return l
}

// at is a piece of the link's memory.
func (l *link) at(off, n int) spec.RxeSGE {
	return spec.RxeSGE{Addr: uint64(l.data) + uint64(off), Length: uint32(n), Lkey: l.mr.LKey}
}

// put stands for the user, who writes an element into a queue and moves the
// index.
func put(q *queue, wqe []byte, sges []spec.RxeSGE) {
	at := q.at(q.buf.word(bufProducerIndex))
	for i := range sges {
		wqe = append(wqe, spec.Bytes(&sges[i])...)
	}
	q.buf.store(at, wqe)
	q.buf.setWord(bufProducerIndex, (q.buf.word(bufProducerIndex)+1)&q.indexMask)
}

func dma(sges []spec.RxeSGE) (d spec.RxeDMAInfo) {
	for _, s := range sges {
		d.Length += s.Length
	}
	d.Resid, d.NumSGE = d.Length, uint32(len(sges))
	return d
}

func (l *link) postRecv(q *queue, id uint64, sges ...spec.RxeSGE) {
	wqe := spec.RxeRecvWQE{WRID: id, DMA: dma(sges)}
	put(q, append([]byte(nil), spec.Bytes(&wqe)...), sges)
}

// postSend posts to a QP and rings its doorbell.
func (l *link) postSend(qp *core.QP, wr spec.RxeSendWR, sges ...spec.RxeSGE) {
	l.Helper()
	wqe := spec.RxeSendWQE{WR: wr, DMA: dma(sges)}
	put(toRqp(qp).sq.queue, append([]byte(nil), spec.Bytes(&wqe)...), sges)
	_, err := l.dev.Ops.PostSend(l.task, qp, nil)
	require.NoError(l, err)
}

// poll takes n completions out as the user does.
func (l *link) poll(n int) []spec.WC {
	l.Helper()
	q := toRcq(l.cq).queue
	var wcs []spec.WC
	l.eventually("completions", func() bool {
		for len(wcs) < n && q.buf.word(bufProducerIndex) != q.buf.word(bufConsumerIndex) {
			var wc spec.WC
			i := q.buf.word(bufConsumerIndex)
			q.buf.load(q.at(i), spec.Bytes(&wc))
			q.buf.setWord(bufConsumerIndex, (i+1)&q.indexMask)
			wcs = append(wcs, wc)
		}
		return len(wcs) == n
	})
	return wcs
}

func (l *link) write(off int, s string) { l.task.Store(l.data+copyuser.Addr(off), []byte(s)) }

func (l *link) read(off, n int) string { return string(l.bytes(l.data+copyuser.Addr(off), n)) }

func (l *link) remote(opcode uint32, off int) spec.RxeSendWR {
	wr := spec.RxeSendWR{WRID: 2, Opcode: opcode, SendFlags: spec.IB_SEND_SIGNALED}
	wr.WR[0], wr.WR[1] = uint64(l.data)+uint64(off), uint64(l.mr.RKey)
	return wr
}

// TestSend follows the recorded cases ev/init-post-recv and ev/two-cqs-order: a
// send completes after the receive that it went into.
func TestSend(t *testing.T) {
	for _, two := range []bool{false, true} {
		l := newLink(t, spec.IB_QPT_RC, two)
		l.write(0, "abcdefghij")
		l.postRecv(toRqp(l.b).rq.queue, 1, l.at(100, 4), l.at(200, 20))
		l.postSend(l.a, spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND_WITH_IMM, Ex: 0x12345678}, l.at(0, 3), l.at(3, 7))
		require.Equal(t, []spec.WC{
			{WRID: 1, Opcode: spec.IB_WC_RECV, ByteLen: 10, QPNum: l.b.QPNum, WCFlags: spec.IB_WC_GRH | spec.IB_WC_WITH_IMM, Ex: 0x12345678, PortNum: 1},
			{WRID: 2, Opcode: spec.IB_WC_SEND, ByteLen: 10, QPNum: l.a.QPNum, WCFlags: spec.IB_WC_WITH_IMM},
		}, l.poll(2))
		require.Equal(t, "abcd", l.read(100, 4))
		require.Equal(t, "efghij", l.read(200, 6))
		require.Equal(t, uint32(1), l.state(l.a).SqPSN, "one packet was sent")
		require.Equal(t, uint32(1), l.state(l.b).RqPSN)
	}
}

// TestPacketNumbers: a message counts as many packets as the path MTU makes of
// it, none less than one.
func TestPacketNumbers(t *testing.T) {
	l := newLink(t, spec.IB_QPT_RC, true)
	for i, c := range []struct {
		n   int
		psn uint32
	}{{0, 1}, {1024, 2}, {1025, 4}, {4096, 8}} {
		l.postRecv(toRqp(l.b).rq.queue, 1, l.at(4096, 4096))
		l.postSend(l.a, spec.RxeSendWR{Opcode: spec.IB_UVERBS_WR_SEND}, l.at(0, c.n))
		for _, wc := range l.poll(2) {
			require.Equal(t, uint32(c.n), wc.ByteLen, i)
			require.Zero(t, wc.Status)
		}
		require.Equal(t, c.psn, l.state(l.a).SqPSN, c.n)
		require.Equal(t, c.psn, l.state(l.b).RqPSN, c.n)
	}
}

// TestRemote follows the recorded cases ev/rdma-write and ev/rdma-read, and
// does atomic operations.
func TestRemote(t *testing.T) {
	l := newLink(t, spec.IB_QPT_RC, true)
	one := func(want spec.WC) {
		t.Helper()
		want.WRID, want.QPNum = 2, l.a.QPNum
		require.Equal(t, []spec.WC{want}, l.poll(1))
	}
	l.write(0, "written!")
	l.postSend(l.a, l.remote(spec.IB_UVERBS_WR_RDMA_WRITE, 96), l.at(0, 8))
	one(spec.WC{Opcode: spec.IB_WC_RDMA_WRITE, ByteLen: 8})
	require.Equal(t, "written!", l.read(96, 8))

	l.write(300, "read me")
	l.postSend(l.a, l.remote(spec.IB_UVERBS_WR_RDMA_READ, 300), l.at(400, 3), l.at(500, 4))
	one(spec.WC{Opcode: spec.IB_WC_RDMA_READ, ByteLen: 7})
	require.Equal(t, "rea", l.read(400, 3))
	require.Equal(t, "d me", l.read(500, 4))

	l.write(600, "\x05\x00\x00\x00\x00\x00\x00\x00")
	atomic := func(opcode uint32, compareAdd, swap uint64) spec.RxeSendWR {
		wr := l.remote(opcode, 600)
		wr.WR = [15]uint64{wr.WR[0], compareAdd, swap, uint64(l.mr.RKey)}
		return wr
	}
	number := func(off int) uint64 { return binary.LittleEndian.Uint64([]byte(l.read(off, 8))) }
	for _, c := range []struct {
		opcode, wc        uint32
		compareAdd, swap  uint64
		before, afterward uint64
	}{
		{spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, spec.IB_WC_FETCH_ADD, 3, 0, 5, 8},
		{spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, spec.IB_WC_COMP_SWAP, 9, 100, 8, 8},
		{spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, spec.IB_WC_COMP_SWAP, 8, 100, 8, 100},
	} {
		l.postSend(l.a, atomic(c.opcode, c.compareAdd, c.swap), l.at(700, 8))
		one(spec.WC{Opcode: c.wc, ByteLen: 8})
		require.Equal(t, c.before, number(700))
		require.Equal(t, c.afterward, number(600))
	}

	l.write(0, "imm data")
	l.postRecv(toRqp(l.b).rq.queue, 1)
	wr := l.remote(spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, 800)
	wr.Ex = 42
	l.postSend(l.a, wr, l.at(0, 8))
	require.Equal(t, []spec.WC{
		{WRID: 1, Opcode: spec.IB_WC_RECV_RDMA_WITH_IMM, ByteLen: 8, QPNum: l.b.QPNum, WCFlags: spec.IB_WC_GRH | spec.IB_WC_WITH_IMM, Ex: 42, PortNum: 1},
		{WRID: 2, Opcode: spec.IB_WC_RDMA_WRITE, ByteLen: 8, QPNum: l.a.QPNum, WCFlags: spec.IB_WC_WITH_IMM},
	}, l.poll(2))
	require.Equal(t, "imm data", l.read(800, 8))
}

// TestInline: data in the element itself needs no key.
func TestInline(t *testing.T) {
	l := newLink(t, spec.IB_QPT_RC, true)
	l.postRecv(toRqp(l.b).rq.queue, 1, l.at(100, 32))
	wqe := spec.RxeSendWQE{WR: spec.RxeSendWR{Opcode: spec.IB_UVERBS_WR_SEND, SendFlags: spec.IB_SEND_INLINE | spec.IB_SEND_SIGNALED},
		DMA: spec.RxeDMAInfo{Length: 6, Resid: 6}}
	put(toRqp(l.a).sq.queue, append(append([]byte(nil), spec.Bytes(&wqe)...), "inline"...), nil)
	_, err := l.dev.Ops.PostSend(l.task, l.a, nil)
	require.NoError(t, err)
	for _, wc := range l.poll(2) {
		require.Zero(t, wc.Status)
	}
	require.Equal(t, "inline", l.read(100, 6))
}

// TestUnreliable: a UC QP sends and writes; a message without a receive is
// lost, and nobody is told. A UD QP's sends complete.
func TestUnreliable(t *testing.T) {
	l := newLink(t, spec.IB_QPT_UC, true)
	l.write(0, "lost")
	l.postSend(l.a, spec.RxeSendWR{WRID: 1, Opcode: spec.IB_UVERBS_WR_SEND}, l.at(0, 4))
	require.Equal(t, uint64(1), l.poll(1)[0].WRID)
	l.write(0, "came")
	l.postRecv(toRqp(l.b).rq.queue, 7, l.at(100, 32))
	l.postSend(l.a, spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND}, l.at(0, 4))
	wcs := l.poll(2)
	require.ElementsMatch(t, []uint64{2, 7}, []uint64{wcs[0].WRID, wcs[1].WRID})
	require.Equal(t, "came", l.read(100, 4))

	l.write(200, "0000")
	l.postSend(l.a, l.remote(spec.IB_UVERBS_WR_RDMA_WRITE, 200), l.at(0, 4))
	l.poll(1)
	l.eventually("the write", func() bool { return l.read(200, 4) == "came" })
	bad := l.remote(spec.IB_UVERBS_WR_RDMA_WRITE, 200)
	bad.WR[1] ^= 1
	l.postSend(l.a, bad, l.at(100, 4))
	require.Zero(t, l.poll(1)[0].Status, "the sender does not hear of a bad key")
	require.Equal(t, uint8(spec.IB_QPS_RTS), l.state(l.b).State)
	l.postSend(l.a, spec.RxeSendWR{Opcode: spec.IB_UVERBS_WR_RDMA_READ}, l.at(0, 4))
	require.Equal(t, uint32(spec.IB_WC_WR_FLUSH_ERR), l.poll(1)[0].Status, "UC cannot read")
}

// TestErrors follows the recorded cases ev/bad-lkey, ev/bad-rkey,
// ev/recv-too-small and ev/rnr, between two QPs and for one by itself: what
// each end is told, in the order of the ends' ids.
func TestErrors(t *testing.T) {
	const ok, flush = spec.IB_WC_SUCCESS, spec.IB_WC_WR_FLUSH_ERR
	none := func(*link) {}
	for _, c := range []struct {
		name        string
		prepare     func(l *link)
		wr          func(l *link) spec.RxeSendWR
		sges        func(l *link) []spec.RxeSGE
		self, pair  map[uint64]uint32 // status by id: 1 the receive, 2 the send
		peerInError bool
	}{
		{"ev/bad-lkey", func(l *link) { l.postRecv(toRqp(l.b).rq.queue, 1, l.at(100, 32)) },
			func(l *link) spec.RxeSendWR { return spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND} },
			func(l *link) []spec.RxeSGE { s := l.at(0, 8); s.Lkey++; return []spec.RxeSGE{s} },
			map[uint64]uint32{2: flush, 1: flush}, map[uint64]uint32{2: flush}, false},
		{"ev/bad-rkey", none,
			func(l *link) spec.RxeSendWR {
				wr := l.remote(spec.IB_UVERBS_WR_RDMA_WRITE, 96)
				wr.WR[1]++
				return wr
			},
			func(l *link) []spec.RxeSGE { return []spec.RxeSGE{l.at(0, 8)} },
			map[uint64]uint32{2: flush}, map[uint64]uint32{2: spec.IB_WC_REM_ACCESS_ERR}, true},
		{"ev/recv-too-small", func(l *link) { l.postRecv(toRqp(l.b).rq.queue, 1, l.at(100, 4)) },
			func(l *link) spec.RxeSendWR { return spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND} },
			func(l *link) []spec.RxeSGE { return []spec.RxeSGE{l.at(0, 8)} },
			map[uint64]uint32{1: spec.IB_WC_LOC_QP_OP_ERR, 2: flush},
			map[uint64]uint32{1: spec.IB_WC_LOC_QP_OP_ERR, 2: spec.IB_WC_REM_OP_ERR}, true},
		{"ev/rnr", none,
			func(l *link) spec.RxeSendWR { return spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND} },
			func(l *link) []spec.RxeSGE { return []spec.RxeSGE{l.at(0, 8)} },
			map[uint64]uint32{2: spec.IB_WC_RNR_RETRY_EXC_ERR}, map[uint64]uint32{2: spec.IB_WC_RNR_RETRY_EXC_ERR}, false},
		{"a misaligned atomic", none,
			func(l *link) spec.RxeSendWR {
				wr := l.remote(spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 97)
				wr.WR[3] = uint64(l.mr.RKey)
				return wr
			},
			func(l *link) []spec.RxeSGE { return []spec.RxeSGE{l.at(0, 8)} },
			map[uint64]uint32{2: flush}, map[uint64]uint32{2: spec.IB_WC_REM_INV_REQ_ERR}, true},
		{"a read into memory that cannot be written", none,
			func(l *link) spec.RxeSendWR { return l.remote(spec.IB_UVERBS_WR_RDMA_READ, 96) },
			func(l *link) []spec.RxeSGE {
				s := l.at(0, 8)
				s.Lkey = l.newMR(l.data, 64, 0).LKey
				return []spec.RxeSGE{s}
			},
			map[uint64]uint32{2: spec.IB_WC_LOC_PROT_ERR}, map[uint64]uint32{2: spec.IB_WC_LOC_PROT_ERR}, false},
		{"an invalidating send, which is left out", none,
			func(l *link) spec.RxeSendWR { return spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND_WITH_INV} },
			func(l *link) []spec.RxeSGE { return []spec.RxeSGE{l.at(0, 8)} },
			map[uint64]uint32{2: flush}, map[uint64]uint32{2: flush}, false},
	} {
		for _, two := range []bool{false, true} {
			l := newLink(t, spec.IB_QPT_RC, two)
			c.prepare(l)
			l.postSend(l.a, c.wr(l), c.sges(l)...)
			want := c.self
			if two {
				want = c.pair
			}
			got := map[uint64]uint32{}
			for _, wc := range l.poll(len(want)) {
				got[wc.WRID] = wc.Status
				require.NotEqual(t, uint32(ok), wc.Status)
				require.Zero(t, wc.ByteLen, c.name)
			}
			require.Equal(t, want, got, "%s, two ends: %v", c.name, two)
			l.eventually("the error state", func() bool { return l.state(l.a).State == spec.IB_QPS_ERR })
			if two {
				require.Equal(t, c.peerInError, l.state(l.b).State == spec.IB_QPS_ERR, c.name)
			}
			require.Empty(t, l.raised(), "rxe raises no async event for it")
		}
	}
}

// TestRights: what the QP or the region does not let a peer do is refused, and
// so are reads of a QP that answers none.
func TestRights(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(l *link)
		opcode uint32
		want   uint32
	}{
		{"the QP lets nobody write", func(l *link) { toRqp(l.b).attr.AccessFlags = spec.IB_ACCESS_REMOTE_READ },
			spec.IB_UVERBS_WR_RDMA_WRITE, spec.IB_WC_REM_INV_REQ_ERR},
		{"the QP lets nobody read", func(l *link) { toRqp(l.b).attr.AccessFlags = spec.IB_ACCESS_REMOTE_WRITE },
			spec.IB_UVERBS_WR_RDMA_READ, spec.IB_WC_REM_INV_REQ_ERR},
		{"the region lets nobody write", func(l *link) { toRmr(l.mr).access = spec.IB_ACCESS_LOCAL_WRITE },
			spec.IB_UVERBS_WR_RDMA_WRITE, spec.IB_WC_REM_ACCESS_ERR},
		{"no reads are answered", func(l *link) { toRqp(l.b).attr.MaxDestRdAtomic = 0 },
			spec.IB_UVERBS_WR_RDMA_READ, spec.IB_WC_REM_INV_REQ_ERR},
	} {
		l := newLink(t, spec.IB_QPT_RC, true)
		c.change(l)
		l.postSend(l.a, l.remote(c.opcode, 96), l.at(0, 8))
		require.Equal(t, c.want, l.poll(1)[0].Status, c.name)
	}
}

// TestRNRRetry: a send that found no receive is sent again until there is one.
func TestRNRRetry(t *testing.T) {
	l := newLink(t, spec.IB_QPT_RC, true)
	patience := core.QPAttr{RNRRetry: 7, RetryCnt: 7, Timeout: 20}
	require.NoError(t, l.modify(l.a, spec.IB_QP_RNR_RETRY|spec.IB_QP_RETRY_CNT|spec.IB_QP_TIMEOUT, patience))
	l.write(0, "patience")
	l.postSend(l.a, spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND}, l.at(0, 8))
	time.Sleep(3 * rnrNakDelay(12))
	require.Equal(t, uint8(spec.IB_QPS_RTS), l.state(l.a).State)
	l.postRecv(toRqp(l.b).rq.queue, 1, l.at(100, 32))
	for _, wc := range l.poll(2) {
		require.Zero(t, wc.Status)
	}
	require.Equal(t, "patience", l.read(100, 8))
}

// TestNoPeer: a request that nobody answers is sent again as often as it may
// be, and completes in error then.
func TestNoPeer(t *testing.T) {
	l := newLink(t, spec.IB_QPT_RC, true)
	require.NoError(t, l.dev.Ops.DestroyQP(l.b, l.udata(nil, 0)))
	l.postSend(l.a, spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND}, l.at(0, 8))
	l.postSend(l.a, spec.RxeSendWR{WRID: 3, Opcode: spec.IB_UVERBS_WR_SEND}, l.at(0, 8))
	wcs := l.poll(2)
	require.Equal(t, [2]uint32{spec.IB_WC_RETRY_EXC_ERR, spec.IB_WC_WR_FLUSH_ERR}, [2]uint32{wcs[0].Status, wcs[1].Status})
	require.Equal(t, [2]uint64{2, 3}, [2]uint64{wcs[0].WRID, wcs[1].WRID})
}

// TestDepth: no more reads are under way than the QP may have, and all are
// done in the end.
func TestDepth(t *testing.T) {
	l := newLink(t, spec.IB_QPT_RC, true)
	for i := range 6 {
		wr := l.remote(spec.IB_UVERBS_WR_RDMA_READ, 300)
		wr.WRID = uint64(i)
		if i == 3 {
			wr.SendFlags |= spec.IB_SEND_FENCE
		}
		l.postSend(l.a, wr, l.at(400, 8))
	}
	for i, wc := range l.poll(6) {
		require.Equal(t, uint64(i), wc.WRID)
		require.Zero(t, wc.Status)
	}
	require.Equal(t, int32(1), toRqp(l.a).req.rdAtomic)
}

// TestSRQ follows the recorded case ev/srq-destroy-reports: receives come from
// the SRQ, whose owner is told once when few are left; in the error state they
// stay, and the QP's owner is told.
func TestSRQ(t *testing.T) {
	r := newRig(t, Config{})
	l := &link{rig: r, cq: r.newCQ(64), data: r.take(linkData)}
	l.mr = r.newMR(l.data, linkData, allRight)
	srq, _, err := r.srq(core.SRQAttr{MaxWR: 4, MaxSGE: 1}, r.udata(nil, 24))
	require.NoError(t, err)
	init := r.rcInit(l.cq)
	init.SRQ = srq
	l.a = r.newQP(init)
	l.connect(l.a, l.a.QPNum)
	q := toRsrq(srq).rq.queue
	for id := range uint64(4) {
		l.postRecv(q, 30+id, l.at(100, 32))
	}
	require.NoError(t, r.dev.Ops.ModifySRQ(srq, &core.SRQAttr{Limit: 3}, spec.IB_SRQ_LIMIT, r.udata(make([]byte, 8), 0)))
	for i := range uint64(3) {
		l.postSend(l.a, spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND}, l.at(0, 8))
		wcs := l.poll(2)
		require.Equal(t, [2]uint64{30 + i, 2}, [2]uint64{wcs[0].WRID, wcs[1].WRID})
	}
	require.Equal(t, []uint32{spec.IB_EVENT_SRQ_LIMIT_REACHED}, r.raised())
	require.NoError(t, r.modify(l.a, spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_ERR}))
	l.eventually("the event", func() bool { return len(r.raised()) == 2 })
	require.Equal(t, uint32(spec.IB_EVENT_QP_LAST_WQE_REACHED), r.raised()[1])
	require.Equal(t, uint32(1), q.count(fromClient))
}

// TestSRQUnreliable: a receive that a write with a bad key took from an SRQ is gone,
// and completes in error (RESPST_ERR_RKEY_VIOLATION in rxe_resp.c); an unreliable QP
// goes on.
func TestSRQUnreliable(t *testing.T) {
	r := newRig(t, Config{})
	l := &link{rig: r, cq: r.newCQ(64), data: r.take(linkData)}
	l.mr = r.newMR(l.data, linkData, allRight)
	srq, _, err := r.srq(core.SRQAttr{MaxWR: 4, MaxSGE: 1}, r.udata(nil, 24))
	require.NoError(t, err)
	init := r.rcInit(l.cq)
	init.Type, init.SRQ = spec.IB_QPT_UC, srq
	l.a = r.newQP(init)
	l.connect(l.a, l.a.QPNum)
	q := toRsrq(srq).rq.queue
	l.postRecv(q, 30, l.at(100, 32))
	l.postRecv(q, 31, l.at(100, 32))
	for _, c := range []struct {
		wrid   uint64
		badKey uint64
		status uint32
	}{{30, 1, spec.IB_WC_REM_ACCESS_ERR}, {31, 0, spec.IB_WC_SUCCESS}} {
		wr := l.remote(spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, 200)
		wr.WRID = 2
		wr.WR[1] ^= c.badKey
		l.postSend(l.a, wr, l.at(0, 8))
		got := map[uint64]uint32{}
		for _, wc := range l.poll(2) {
			got[wc.WRID] = wc.Status
		}
		require.Equal(t, map[uint64]uint32{2: spec.IB_WC_SUCCESS, c.wrid: c.status}, got)
	}
}

// TestFlush follows the recorded case ev/flush: receives that were posted
// complete in their order. RESET empties the queues in silence.
func TestFlush(t *testing.T) {
	l := newLink(t, spec.IB_QPT_RC, true)
	rq := toRqp(l.a).rq.queue
	l.postRecv(rq, 11, l.at(100, 32))
	l.postRecv(rq, 12, l.at(100, 32))
	require.NoError(t, l.modify(l.a, spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_ERR}))
	require.Equal(t, []spec.WC{
		{WRID: 11, Status: spec.IB_WC_WR_FLUSH_ERR, QPNum: l.a.QPNum},
		{WRID: 12, Status: spec.IB_WC_WR_FLUSH_ERR, QPNum: l.a.QPNum},
	}, l.poll(2))

	rq = toRqp(l.b).rq.queue
	l.postRecv(rq, 13, l.at(100, 32))
	require.NoError(t, l.modify(l.b, spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_RESET}))
	require.True(t, rq.empty(fromClient))
	require.Zero(t, rq.buf.word(rq.at(0)), "the elements are zeroed")
	require.Zero(t, toRcq(l.cq).queue.count(toClient))
}

// TestPostSendState follows the recorded case ev/send-in-init.
func TestPostSendState(t *testing.T) {
	r := newRig(t, Config{})
	qp := r.newQP(r.rcInit(r.newCQ(16)))
	_, err := r.dev.Ops.PostSend(r.task, qp, nil)
	refused(t, rule.RxePostSendState, err, "RESET")
	require.NoError(t, r.modify(qp, toInit, r.peerAttr(spec.IB_QPS_INIT, 0)))
	_, err = r.dev.Ops.PostSend(r.task, qp, nil)
	refused(t, rule.RxePostSendState, err, "INIT")
}

// TestPostRecv: a client in the kernel hands its receives over.
func TestPostRecv(t *testing.T) {
	r := newRig(t, Config{})
	cq := r.newCQ(16)
	qp := r.newQP(r.rcInit(cq))
	post := func(n int, wr core.RecvWR) (int, error) {
		wrs := make([]core.RecvWR, n)
		for i := range wrs {
			wrs[i] = wr
		}
		return r.dev.Ops.PostRecv(r.task, qp, wrs)
	}
	_, err := post(1, core.RecvWR{})
	refused(t, rule.RxePostRecvState, err, "RESET")
	require.NoError(t, r.modify(qp, toInit, r.peerAttr(spec.IB_QPS_INIT, 0)))
	_, err = post(1, core.RecvWR{SGList: make([]core.SGE, 2)})
	refused(t, rule.RxePostRecvSGE, err, "two places of one")
	_, err = post(1, core.RecvWR{SGList: []core.SGE{{Length: 1<<31 + 1}}})
	refused(t, rule.RxePostRecvLength, err, "too long")
	bad, err := post(9, core.RecvWR{SGList: []core.SGE{{Length: 1 << 31}}})
	refused(t, rule.RxePostRecvFull, err, "nine of seven")
	require.Equal(t, 7, bad)

	srq, _, err := r.srq(core.SRQAttr{MaxWR: 4}, r.udata(nil, 24))
	require.NoError(t, err)
	init := r.rcInit(cq)
	init.SRQ = srq
	qp = r.newQP(init)
	require.NoError(t, r.modify(qp, toInit, r.peerAttr(spec.IB_QPS_INIT, 0)))
	_, err = post(1, core.RecvWR{})
	refused(t, rule.RxePostRecvSRQ, err, "SRQ")
}

// TestElsewhere: what is sent to an address that is not the device's own is
// lost, and so is what its receiver expects from another.
func TestElsewhere(t *testing.T) {
	for _, change := range []func(l *link){
		func(l *link) { toRqp(l.a).priAV.GRH.DGID[15] ^= 1 },
		func(l *link) { toRqp(l.b).priAV.GRH.DGID[15] ^= 1 },
	} {
		l := newLink(t, spec.IB_QPT_RC, true)
		change(l)
		l.postRecv(toRqp(l.b).rq.queue, 1, l.at(100, 32))
		l.postSend(l.a, spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND}, l.at(0, 8))
		wc := l.poll(1)[0]
		require.Equal(t, [2]uint64{2, spec.IB_WC_RETRY_EXC_ERR}, [2]uint64{wc.WRID, uint64(wc.Status)})
	}
}

// TestPSNMismatch: ends that do not agree on where to begin do not come
// together if the sender is ahead; what the receiver thinks to know already is
// only acknowledged.
func TestPSNMismatch(t *testing.T) {
	l := newLink(t, spec.IB_QPT_RC, true)
	a := toRqp(l.a)
	a.stateLock.Lock(nil)
	a.req.psn, a.comp.psn = 5, 5
	a.stateLock.Unlock(nil)
	l.postRecv(toRqp(l.b).rq.queue, 1, l.at(100, 32))
	l.postSend(l.a, spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND}, l.at(0, 8))
	require.Equal(t, uint32(spec.IB_WC_RETRY_EXC_ERR), l.poll(1)[0].Status, "ahead")

	l = newLink(t, spec.IB_QPT_RC, true)
	b := toRqp(l.b)
	b.stateLock.Lock(nil)
	b.resp.psn = 5
	b.stateLock.Unlock(nil)
	l.postRecv(b.rq.queue, 1, l.at(100, 32))
	l.postSend(l.a, spec.RxeSendWR{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND}, l.at(0, 8))
	wc := l.poll(1)[0]
	require.Equal(t, [2]uint64{2, spec.IB_WC_SUCCESS}, [2]uint64{wc.WRID, uint64(wc.Status)})
	require.Equal(t, uint32(1), b.rq.queue.count(fromClient), "the receive was not used")
}
