package hw

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// crossed is a connection of XRC: an initiator, a target, and a shared queue of the
// target's domain with a completion queue.
type crossed struct {
	a, b      *end
	srqn, cqn uint32
	posted    uint32
}

// Where the shared queue of a crossed lies, from the target's base on.
const (
	crossedSRQ    = 0x50000
	crossedCQ     = 0x60000
	crossedRecord = 0x70000 // of the shared queue; of the completion queue 0x40 behind
)

func newCrossed(t testing.TB, c connection) *crossed {
	r := newRig(t, checking)
	x := &crossed{}
	xrcd := r.made(Input(ifc.MLX5_CMD_OP_ALLOC_XRCD, 0, 0, 0))
	x.a = r.newEnd(endOptions{service: ifc.MLX5_QP_ST_XRC, base: 0x10000000, gid: 1, change: func(ctx []byte) {
		qpc.rqType.Set(ctx, ifc.MLX5_ZERO_LEN_RQ)
		qpc.xrcd.Set(ctx, uint64(xrcd))
	}})
	x.b = r.newEnd(endOptions{service: ifc.MLX5_QP_ST_XRC, base: 0x20000000, gid: 1, change: func(ctx []byte) {
		qpc.rqType.Set(ctx, ifc.MLX5_SRQ_RQ)
		qpc.noSQ.Set(ctx, 1)
		qpc.xrcd.Set(ctx, uint64(xrcd))
	}})
	base := x.b.base
	eqn := r.createEQ(eqOptions{log: 6, mask: 1<<ifc.MLX5_EVENT_TYPE_WQ_CATAS_ERROR | 1<<ifc.MLX5_EVENT_TYPE_CQ_ERROR})
	x.cqn = r.createCQ(cqOptions{log: 4, eqn: eqn, buffer: []Addr{base + crossedCQ}, record: base + crossedRecord + 0x40})
	r.mem.set(base+crossedCQ, invalidCQEs[:])
	in := cmd(ifc.MLX5_CMD_OP_CREATE_XRC_SRQ, 0, 0, 8, at{16, 1, 2}, at{20, 1, 1}, at{21, 3, uint64(xrcd)}, at{25, 3, uint64(x.cqn)},
		at{33, 3, 0x1234}, at{41, 3, uint64(x.b.pdn)}, at{56, 8, base + crossedRecord}) // 4 entries of 32 bytes
	binary.BigEndian.PutUint64(in[272:], base+crossedSRQ)
	x.srqn = r.made(in)
	x.a.connect(x.b, c)
	x.b.connect(x.a, c)
	return x
}

// receive posts a receive to the shared queue, in the order of its entries.
func (x *crossed) receive(s seg) {
	b := make([]byte, 16, 32)
	binary.BigEndian.PutUint16(b[2:], uint16(x.posted+1)&3)
	x.b.mem.set(x.b.base+crossedSRQ+Addr(x.posted&3)*32, append(b, s.bytes()...))
	x.posted++
	x.b.mem.put32(x.b.base+crossedRecord, x.posted)
}

// post posts a request for the shared queue to the initiator, whose send queue lies
// where its buffer begins.
func (x *crossed) post(w wr) {
	w.srqn = x.srqn
	x.a.post(w)
}

// TestXRC: a message arrives in the queue that it names, on that one's completion
// queue.
func TestXRC(t *testing.T) {
	x := newCrossed(t, connection{})
	x.receive(x.b.data(0, 64))
	x.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("hello")})
	settleEnds(x.a)
	require.Equal(t, []uint8{0}, results(x.a.poll()))
	require.Equal(t, "hello", string(x.b.bytes(0, 5)))
	e := x.a.mem.get(x.b.base+crossedCQ, CQESize)
	require.Equal(t, byte(ifc.MLX5_CQE_RESP_SEND<<4), e[63])
	require.Equal(t, uint32(0x1234), binary.BigEndian.Uint32(e[32:])&bits24)
}

// TestSharedQueueGoes: a shared queue is destroyed while one of its receives is
// being filled. Neither this nor its completion queue is touched any more.
func TestSharedQueueGoes(t *testing.T) {
	x := newCrossed(t, connection{mtu: 1})
	x.b.queuePair().near, x.a.queuePair().near = false, false // packets go one by one
	x.receive(x.b.data(0, 1024))
	x.post(wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{x.a.data(0, 1024)}})
	for x.b.queuePair().resp.bytes == 0 {
		require.True(t, x.a.Step())
	}
	x.a.ends(named(ifc.MLX5_CMD_OP_DESTROY_XRC_SRQ, 0, x.srqn), MLX5_CMD_STAT_OK)
	x.a.ends(named(ifc.MLX5_CMD_OP_DESTROY_CQ, 0, x.cqn), MLX5_CMD_STAT_OK)
	settleEnds(x.a)
	require.Equal(t, []uint8{ifc.MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR}, results(x.a.poll()))
	require.Equal(t, invalidCQEs[:CQESize], x.a.mem.get(x.b.base+crossedCQ, CQESize))
}

// TestNothingLeavesInError: a queue pair that is put into error answers no more.
func TestNothingLeavesInError(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{mtu: 1, timeout: 10})
	from := b.data(0, 2560)
	a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{a.data(0, 2560)}})
	settleEnds(a)
	b.stepping(4)
	sent := a.in.has.Load()
	require.NotZero(t, sent)
	require.Equal(t, MLX5_CMD_STAT_OK, b.transit(ifc.MLX5_CMD_OP_2ERR_QP, nil))
	settleEnds(b)
	require.Equal(t, sent, a.in.has.Load())
}

// TestLastReceive: the event that tells of the last receive of a shared queue comes
// when that is complete.
func TestLastReceive(t *testing.T) {
	r := newObjectRig(t)
	srqn := r.made(srqTests[2].input(r))
	b := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 0x20000000, gid: 1, srqn: srqn})
	a := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 0x10000000, gid: 1})
	a.connect(b, connection{mtu: 1})
	b.connect(a, connection{mtu: 1})
	a.queuePair().near = false
	s := r.srqOf(srqn)
	s.pd = b.pdn
	e := make([]byte, 16, 32)
	r.mem.set(srqBuffer, append(e, b.data(0, 1024).bytes()...))
	r.mem.put32(srqRecord, 1)
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{a.data(0, 1024)}})
	for b.queuePair().resp.bytes == 0 {
		require.True(t, a.Step())
	}
	a.transit(ifc.MLX5_CMD_OP_2RST_QP, nil)
	b.transit(ifc.MLX5_CMD_OP_2ERR_QP, nil)
	isLast := func(e EQE) bool { return e.Type == ifc.MLX5_EVENT_TYPE_SRQ_LAST_WQE }
	for !slices.ContainsFunc(r.events, isLast) {
		require.True(t, r.Step())
	}
	require.Equal(t, []uint8{ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR}, results(b.poll()))
	settleEnds(b)
	require.Empty(t, b.poll())
}

// TestOldPackets: what was on its way to a queue pair that was reset or destroyed
// is not for the next connection.
func TestOldPackets(t *testing.T) {
	for name, again := range map[string]func(a, b *end){
		"reset": func(a, b *end) {
			for _, e := range []*end{a, b} {
				require.Equal(t, MLX5_CMD_STAT_OK, e.transit(ifc.MLX5_CMD_OP_2RST_QP, nil))
				e.sq, e.rq = 0, 0
				e.mem.set(e.base+endRecord, make([]byte, 8))
			}
		},
		"destroyed": func(a, b *end) {
			for _, e := range []*end{a, b} {
				e.ends(named(ifc.MLX5_CMD_OP_DESTROY_QP, 0, e.qpn), MLX5_CMD_STAT_OK)
				e.sq, e.rq = 0, 0
				e.mem.set(e.base+endRecord, make([]byte, 8))
			}
			for _, e := range []*end{a, b} {
				was := e.qpn
				e.qpn = e.made(e.qpInput(endOptions{service: ifc.MLX5_QP_ST_RC, base: e.base}))
				require.Equal(t, was, e.qpn, "the same number")
			}
		},
	} {
		for where, near := range map[string]bool{"near": true, "apart": false} {
			t.Run(name+", "+where, func(t *testing.T) {
				var a, b *end
				if near {
					a, b = pair(t, ifc.MLX5_QP_ST_RC, connection{})
				} else {
					a, b = apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{})
				}
				b.receive(b.data(0, 8))
				a.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("old")})
				require.True(t, a.Step())
				again(a, b)
				a.connect(b, connection{})
				b.connect(a, connection{})
				b.receive(b.data(0, 8))
				settleEnds(a, b)
				require.Empty(t, b.poll())
				a.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("new")})
				settleEnds(a, b)
				require.Equal(t, []uint8{0}, results(a.poll()))
				require.Equal(t, []uint8{0}, results(b.poll()))
				require.Equal(t, "new", string(b.bytes(0, 3)))
			})
		}
	}
}

// TestStrangers: a connection takes packets only from where it leads to.
func TestStrangers(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{timeout: 10})
	c := newRigIn(t, a.fabric).newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 0x10000000, gid: 3})
	c.connect(b, connection{timeout: 10})
	b.receive(b.data(0, 8))
	c.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("c")})
	settleEnds(b, c)
	require.Empty(t, b.poll())
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("a")})
	settleEnds(a, b, c)
	require.Equal(t, []uint8{0}, results(a.poll()))
	require.Equal(t, []uint8{0}, results(b.poll()))
}

// TestConnectionsInGroups: what is sent to a group reaches only queue pairs for
// datagrams.
func TestConnectionsInGroups(t *testing.T) {
	r := newRig(t, checking)
	a := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_UC, base: 0x10000000, gid: 1})
	b := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_UC, base: 0x20000000, gid: 1})
	group := *b
	group.gid = [16]byte{0: 0xff, 1: 0x0e, 15: 9}
	in := Input(ifc.MLX5_CMD_OP_ATTACH_TO_MCG, 0, 0, 0)
	binary.BigEndian.PutUint32(in[8:], b.qpn)
	copy(mcgGID.Bytes(in), group.gid[:])
	r.ends(in, MLX5_CMD_STAT_OK)
	a.connect(&group, connection{})
	b.connect(a, connection{})
	b.queuePair().qkey = 0
	b.receive(b.data(0, 100))
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("x")})
	settleEnds(a)
	require.Equal(t, []uint8{0}, results(a.poll()))
	require.Empty(t, b.poll())
}

// TestInvalidateNeedsAConnection: only what is acknowledged can end a key of the
// other end.
func TestInvalidateNeedsAConnection(t *testing.T) {
	for _, service := range []uint8{ifc.MLX5_QP_ST_UC, ifc.MLX5_QP_ST_UD} {
		a, b := pair(t, service, connection{})
		b.receive(b.data(0, 100))
		w := wr{op: ifc.MLX5_OPCODE_SEND_INVAL, imm: b.key}
		if service == ifc.MLX5_QP_ST_UD {
			w.ud = addressVector(b, 0x1234)
		}
		a.post(w)
		settleEnds(a)
		require.Equal(t, []uint8{ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR}, results(a.poll()))
	}
}
