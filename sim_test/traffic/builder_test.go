package traffic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// everyOp are the operations that a queue pair of a type can be made for.
var everyOp = map[verbs.QPType]uint64{
	verbs.IBV_QPT_RC:       connectedOps | readingOps,
	verbs.IBV_QPT_UC:       connectedOps,
	verbs.IBV_QPT_UD:       verbs.IBV_QP_EX_WITH_SEND | verbs.IBV_QP_EX_WITH_SEND_WITH_IMM,
	verbs.IBV_QPT_XRC_SEND: connectedOps | readingOps,
}

const (
	connectedOps = verbs.IBV_QP_EX_WITH_SEND | verbs.IBV_QP_EX_WITH_SEND_WITH_IMM | verbs.IBV_QP_EX_WITH_SEND_WITH_INV |
		verbs.IBV_QP_EX_WITH_RDMA_WRITE | verbs.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | verbs.IBV_QP_EX_WITH_LOCAL_INV |
		verbs.IBV_QP_EX_WITH_BIND_MW
	readingOps = verbs.IBV_QP_EX_WITH_RDMA_READ | verbs.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | verbs.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
)

// build posts requests with the functions of struct ibv_qp_ex, as one batch.
func (e *end) build(wrs ...libmlx5.SendWR) {
	e.Helper()
	e.qp.WRStart()
	for i := range wrs {
		e.add(&wrs[i])
	}
	require.NoError(e, e.qp.WRComplete())
}

// add adds a request to the batch.
func (e *end) add(wr *libmlx5.SendWR) {
	qp := e.qp
	qp.WRID, qp.WRFlags = wr.WRID, wr.SendFlags&^verbs.IBV_SEND_INLINE
	switch wr.Opcode {
	case verbs.IBV_WR_SEND:
		qp.WRSend()
	case verbs.IBV_WR_SEND_WITH_IMM:
		qp.WRSendImm(wr.ImmData)
	case verbs.IBV_WR_SEND_WITH_INV:
		qp.WRSendInv(wr.InvalidateRKey)
	case verbs.IBV_WR_RDMA_WRITE:
		qp.WRRDMAWrite(wr.RDMA.RKey, wr.RDMA.RemoteAddr)
	case verbs.IBV_WR_RDMA_WRITE_WITH_IMM:
		qp.WRRDMAWriteImm(wr.RDMA.RKey, wr.RDMA.RemoteAddr, wr.ImmData)
	case verbs.IBV_WR_RDMA_READ:
		qp.WRRDMARead(wr.RDMA.RKey, wr.RDMA.RemoteAddr)
	case verbs.IBV_WR_ATOMIC_CMP_AND_SWP:
		qp.WRAtomicCmpSwp(wr.Atomic.RKey, wr.Atomic.RemoteAddr, wr.Atomic.CompareAdd, wr.Atomic.Swap)
	case verbs.IBV_WR_ATOMIC_FETCH_AND_ADD:
		qp.WRAtomicFetchAdd(wr.Atomic.RKey, wr.Atomic.RemoteAddr, wr.Atomic.CompareAdd)
	case verbs.IBV_WR_BIND_MW:
		qp.WRBindMW(wr.BindMW.MW, wr.BindMW.RKey, &wr.BindMW.BindInfo)
		return
	case verbs.IBV_WR_LOCAL_INV:
		qp.WRLocalInv(wr.InvalidateRKey)
		return
	}
	switch e.typ {
	case verbs.IBV_QPT_UD:
		qp.WRSetUDAddr(e.ah, e.peer.qp.Num, e.qkey())
	case verbs.IBV_QPT_XRC_SEND:
		qp.WRSetXRCSRQN(e.peer.srq.SRQN)
	}
	switch {
	case wr.SendFlags&verbs.IBV_SEND_INLINE != 0:
		qp.WRSetInlineDataList(wr.SGList)
	case len(wr.SGList) == 1:
		qp.WRSetSGE(wr.SGList[0].LKey, wr.SGList[0].Addr, wr.SGList[0].Length)
	default:
		qp.WRSetSGEList(wr.SGList)
	}
}

// TestBuilderBatch: a batch has requests of several kinds and is posted as one.
func TestBuilderBatch(t *testing.T) {
	client, server := pair(t, setup{ops: connectedOps | readingOps, apart: true,
		cap: verbs.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInlineData: 64}})
	client.mem.store(0, []byte("written, then read back"))
	server.receive(server.into(7, 0x100, 64))
	inline := signaled(3, verbs.IBV_WR_SEND, client.mem.sge(0, 7))
	inline.SendFlags |= verbs.IBV_SEND_INLINE
	write := libmlx5.SendWR{WRID: 1, Opcode: verbs.IBV_WR_RDMA_WRITE, SGList: []verbs.SGE{client.mem.sge(0, 9), client.mem.sge(9, 14)}, RDMA: server.mem.remote(0x200)}
	read := signaled(2, verbs.IBV_WR_RDMA_READ, client.mem.sge(0x300, 23))
	read.RDMA = server.mem.remote(0x200)
	client.build(write, read, inline)
	client.succeeded(client.sent(), 2, 3)
	server.succeeded(server.received(), 7)
	require.Equal(t, "written, then read back", string(client.mem.load(0x300, 23)))
	require.Equal(t, "written", string(server.mem.load(0x100, 7)))
}

// TestBuilderAbort: what was built and aborted is never sent, and its places are
// free again.
func TestBuilderAbort(t *testing.T) {
	client, server := pair(t, setup{ops: connectedOps, cap: verbs.QPCap{MaxSendWR: 2, MaxRecvWR: 8, MaxSendSGE: 1, MaxRecvSGE: 1}})
	server.receive(server.into(1, 0, 8))
	for range 10 {
		client.qp.WRStart()
		wr := signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8))
		client.add(&wr)
		client.qp.WRAbort()
	}
	require.Empty(t, client.sent())
	client.build(signaled(2, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	client.succeeded(client.sent(), 2)
	server.succeeded(server.received(), 1)
}

// TestBuilderErrors: the first error of a batch is told when it is completed, and
// nothing of it is posted.
func TestBuilderErrors(t *testing.T) {
	client, server := pair(t, setup{ops: verbs.IBV_QP_EX_WITH_SEND,
		cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 2, MaxRecvSGE: 1, MaxInlineData: 16}})
	server.receive(server.into(1, 0, 64))
	plain := signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8))
	for name, tt := range map[string]struct {
		build func()
		want  error
	}{
		"inline too long": {func() { client.qp.WRSend(); client.qp.WRSetInlineData(client.mem.at, 1000) }, libmlx5.ErrInline},
		"too many pieces": {func() { client.qp.WRSend(); client.qp.WRSetSGEList(make([]verbs.SGE, 100)) }, libmlx5.ErrSendSGE},
		"too many requests": {func() {
			for range 100 {
				client.add(&plain)
			}
		}, libmlx5.ErrSQFull},
	} {
		t.Run(name, func(t *testing.T) {
			client.qp.WRStart()
			client.add(&plain)
			tt.build()
			require.ErrorIs(t, client.qp.WRComplete(), tt.want)
			require.Empty(t, client.sent())
		})
	}
	client.build(plain)
	client.succeeded(client.sent(), 1)
	for _, typ := range []verbs.QPType{verbs.IBV_QPT_UC, verbs.IBV_QPT_UD} {
		_, err := client.ctx.CreateQP(&libmlx5.QPInitAttr{PD: client.pd, SendCQ: client.sendCQ, RecvCQ: client.recvCQ, Type: typ,
			SendOpsFlags: verbs.IBV_QP_EX_WITH_RDMA_READ})
		require.ErrorIs(t, err, libmlx5.ErrSendOps)
	}
}

// TestBuilderNeedsRTS: requests can be built in any state, but not completed
// before RTS.
func TestBuilderNeedsRTS(t *testing.T) {
	client, _ := unconnected(t, setup{ops: connectedOps})
	client.qp.WRStart()
	wr := signaled(1, verbs.IBV_WR_SEND)
	client.add(&wr)
	require.ErrorIs(t, client.qp.WRComplete(), libmlx5.ErrNotRTS)
}

// TestInlineWrites: writes take inline data too, posted and built.
func TestInlineWrites(t *testing.T) {
	for _, typ := range connected {
		client, server := pair(t, setup{typ: typ, ops: everyOp[typ],
			cap: verbs.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2, MaxRecvSGE: 1, MaxInlineData: 128}})
		for i, post := range []func(...libmlx5.SendWR){client.post, client.build} {
			msg := texture(100, byte(i))
			client.mem.store(0, msg)
			server.receive(libmlx5.RecvWR{WRID: 1})
			wr := signaled(1, verbs.IBV_WR_RDMA_WRITE_WITH_IMM, verbs.SGE{Addr: client.mem.at, Length: 60},
				verbs.SGE{Addr: client.mem.at + 60, Length: 40})
			wr.SendFlags |= verbs.IBV_SEND_INLINE
			wr.RDMA = server.mem.remote(target)
			post(wr)
			client.mem.store(0, make([]byte, 100))
			client.succeeded(client.sent(), 1)
			server.succeeded(server.received(), 1)
			require.Equal(t, msg, server.mem.load(target, 100))
		}
	}
}
