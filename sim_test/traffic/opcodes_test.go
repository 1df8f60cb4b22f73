package traffic

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// operation is a kind of request, with what both ends see of it.
type operation struct {
	only    []verbs.QPType // the types that have it; nil for all
	prepare func(client, server *end)
	request func(client, server *end) libmlx5.SendWR

	client  libmlx5.Opcode
	n       uint32 // bytes, of a client's completion that tells
	server  libmlx5.Opcode
	arrived uint64 // bytes, of the server's completion if it has one
	flags   uint8
	imm     uint32
	check   func(t *testing.T, client, server *end)
}

// Where things lie in the memory of the ends.
const (
	outgoing = 0x0000 // of the client
	incoming = 0x1000
	target   = 0x2000 // of what is written or read by the other end
	number   = 0x3008 // of atomic operations
	message  = 300    // bytes
)

var (
	connected = []verbs.QPType{verbs.IBV_QPT_RC, verbs.IBV_QPT_UC, verbs.IBV_QPT_XRC_SEND}
	reliable  = []verbs.QPType{verbs.IBV_QPT_RC, verbs.IBV_QPT_XRC_SEND}
)

func fillOutgoing(client, _ *end) { client.mem.store(outgoing, texture(message, 1)) }

func wasSent(t *testing.T, _, server *end) {
	require.Equal(t, texture(message, 1), server.mem.load(incoming+server.header(), message))
}

func wasWritten(t *testing.T, _, server *end) {
	require.Equal(t, texture(message, 1), server.mem.load(target, message))
}

// operations are those that move data.
var operations = map[string]operation{
	"SEND": {
		prepare: fillOutgoing,
		request: func(client, _ *end) libmlx5.SendWR {
			return signaled(1, verbs.IBV_WR_SEND, client.mem.sge(outgoing, message))
		},
		client: libmlx5.IBV_WC_SEND, server: libmlx5.IBV_WC_RECV, arrived: message, check: wasSent,
	},
	"SEND_WITH_IMM": {
		prepare: fillOutgoing,
		request: func(client, _ *end) libmlx5.SendWR {
			wr := signaled(1, verbs.IBV_WR_SEND_WITH_IMM, client.mem.sge(outgoing, message))
			wr.ImmData = 0xcafe0001
			return wr
		},
		client: libmlx5.IBV_WC_SEND, server: libmlx5.IBV_WC_RECV, arrived: message, flags: libmlx5.IBV_WC_WITH_IMM, imm: 0xcafe0001,
		check: wasSent,
	},
	"RDMA_WRITE": {
		only:    connected,
		prepare: fillOutgoing,
		request: func(client, server *end) libmlx5.SendWR {
			wr := signaled(1, verbs.IBV_WR_RDMA_WRITE, client.mem.sge(outgoing, message))
			wr.RDMA = server.mem.remote(target)
			return wr
		},
		client: libmlx5.IBV_WC_RDMA_WRITE, check: wasWritten,
	},
	"RDMA_WRITE_WITH_IMM": {
		only:    connected,
		prepare: fillOutgoing,
		request: func(client, server *end) libmlx5.SendWR {
			wr := signaled(1, verbs.IBV_WR_RDMA_WRITE_WITH_IMM, client.mem.sge(outgoing, message))
			wr.RDMA, wr.ImmData = server.mem.remote(target), 0xcafe0002
			return wr
		},
		client: libmlx5.IBV_WC_RDMA_WRITE, server: libmlx5.IBV_WC_RECV_RDMA_WITH_IMM, arrived: message,
		flags: libmlx5.IBV_WC_WITH_IMM, imm: 0xcafe0002, check: wasWritten,
	},
	"RDMA_READ": {
		only:    reliable,
		prepare: func(_, server *end) { server.mem.store(target, texture(message, 2)) },
		request: func(client, server *end) libmlx5.SendWR {
			wr := signaled(1, verbs.IBV_WR_RDMA_READ, client.mem.sge(incoming, message))
			wr.RDMA = server.mem.remote(target)
			return wr
		},
		client: libmlx5.IBV_WC_RDMA_READ, n: message,
		check: func(t *testing.T, client, _ *end) {
			require.Equal(t, texture(message, 2), client.mem.load(incoming, message))
		},
	},
	"ATOMIC_CMP_AND_SWP, equal": {
		only:    reliable,
		prepare: func(_, server *end) { server.mem.setWord(number, 41) },
		request: atomicRequest(verbs.IBV_WR_ATOMIC_CMP_AND_SWP, 41, 1<<60+7),
		client:  libmlx5.IBV_WC_COMP_SWAP, n: 8, check: becomes(41, 1<<60+7),
	},
	"ATOMIC_CMP_AND_SWP, different": {
		only:    reliable,
		prepare: func(_, server *end) { server.mem.setWord(number, 42) },
		request: atomicRequest(verbs.IBV_WR_ATOMIC_CMP_AND_SWP, 41, 1<<60+7),
		client:  libmlx5.IBV_WC_COMP_SWAP, n: 8, check: becomes(42, 42),
	},
	"ATOMIC_FETCH_AND_ADD": {
		only:    reliable,
		prepare: func(_, server *end) { server.mem.setWord(number, 1<<63) },
		request: atomicRequest(verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, 1<<63+5, 0),
		client:  libmlx5.IBV_WC_FETCH_ADD, n: 8, check: becomes(1<<63, 5),
	},
}

func atomicRequest(op verbs.WROpcode, compareAdd, swap uint64) func(client, server *end) libmlx5.SendWR {
	return func(client, server *end) libmlx5.SendWR {
		wr := signaled(1, op, client.mem.sge(incoming, 8))
		wr.Atomic = libmlx5.AtomicWR{RemoteAddr: server.mem.iova + number, RKey: server.mem.RKey, CompareAdd: compareAdd, Swap: swap}
		return wr
	}
}

// becomes checks what an atomic operation has found and left.
func becomes(found, left uint64) func(t *testing.T, client, server *end) {
	return func(t *testing.T, client, server *end) {
		require.Equal(t, found, client.mem.word(incoming))
		require.Equal(t, left, server.mem.word(number))
		require.Zero(t, server.mem.word(number-8))
		require.Zero(t, server.mem.word(number+8))
	}
}

// eachOperation runs a test with each operation of each service, all of a service
// between the same ends.
func eachOperation(t *testing.T, change func(*setup), f func(t *testing.T, client, server *end, o operation)) {
	eachService(t, func(t *testing.T, s setup) {
		s.ops = everyOp[s.typ]
		if change != nil {
			change(&s)
		}
		client, server := pair(t, s)
		for name, o := range operations {
			if o.has(s.typ) {
				t.Run(name, func(t *testing.T) {
					client.within(t)
					f(t, client, server, o)
				})
				reconnect(client, server)
			}
		}
	})
}

// receive posts the receive that the operation takes, if it takes one.
func (o *operation) receive(server *end) {
	if o.server != 0 {
		server.receive(server.into(9, incoming, message))
	}
}

// has says whether queue pairs of a type have the operation.
func (o *operation) has(typ verbs.QPType) bool { return o.only == nil || slices.Contains(o.only, typ) }

// TestOperations: what each operation does to the memory of both ends, and what
// completions tell of it, posted either way.
func TestOperations(t *testing.T) {
	eachOperation(t, nil, func(t *testing.T, client, server *end, o operation) {
		for _, post := range []func(...libmlx5.SendWR){client.post, client.build} {
			o.prepare(client, server)
			o.receive(server)
			post(o.request(client, server))
			wc := client.one(client.sent())
			require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc.Status)
			require.Equal(t, o.client, wc.Opcode)
			if o.n > 0 {
				require.Equal(t, o.n, wc.ByteLen)
			}
			o.check(t, client, server)
			if o.server == 0 {
				require.Empty(t, server.received(), "the server is not told")
				continue
			}
			wc = server.one(server.received())
			require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc.Status)
			require.Equal(t, o.server, wc.Opcode)
			arrived := o.arrived
			if o.server == libmlx5.IBV_WC_RECV {
				arrived += server.header()
			}
			require.EqualValues(t, arrived, wc.ByteLen)
			require.Equal(t, o.flags, wc.Flags&(libmlx5.IBV_WC_WITH_IMM|libmlx5.IBV_WC_WITH_INV))
			if o.flags != 0 {
				require.Equal(t, o.imm, wc.Imm)
			}
		}
	})
}

// reconnect resets both ends and connects them again.
func reconnect(client, server *end) {
	client.Helper()
	for _, e := range []*end{client, server} {
		e.toState(e.qp, verbs.IBV_QPS_RESET)
		if e.target != e.qp {
			e.toState(e.target, verbs.IBV_QPS_RESET)
		}
	}
	connect(client, server)
}

// TestOperationsPolledEx: the same by the extended polling of ibv_start_poll.
func TestOperationsPolledEx(t *testing.T) {
	var now uint64
	clock := func(s *setup) { s.clock = func() uint64 { now += 1000; return now } }
	eachOperation(t, clock, func(t *testing.T, client, server *end, o operation) {
		o.prepare(client, server)
		o.receive(server)
		before := now
		client.post(o.request(client, server))
		client.settle()
		cq := client.sendCQ
		require.NoError(t, cq.StartPoll())
		require.Equal(t, libmlx5.IBV_WC_SUCCESS, cq.Status())
		require.EqualValues(t, 1, cq.WRID())
		require.Equal(t, o.client, cq.ReadOpcode())
		require.Equal(t, client.qp.Num, cq.ReadQPNum())
		if o.n > 0 {
			require.Equal(t, o.n, cq.ReadByteLen())
		}
		require.Greater(t, cq.ReadCompletionTS(), before)
		require.LessOrEqual(t, cq.ReadCompletionTS(), now)
		require.ErrorIs(t, cq.NextPoll(), libmlx5.ErrNoEntry)
		require.NoError(t, cq.EndPoll())
		o.check(t, client, server)

		cq = server.recvCQ
		if o.server == 0 {
			require.ErrorIs(t, cq.StartPoll(), libmlx5.ErrNoEntry)
			return
		}
		require.NoError(t, cq.StartPoll())
		require.Equal(t, libmlx5.IBV_WC_SUCCESS, cq.Status())
		require.EqualValues(t, 9, cq.WRID())
		require.Equal(t, o.server, cq.ReadOpcode())
		require.Equal(t, o.flags, cq.ReadWCFlags()&(libmlx5.IBV_WC_WITH_IMM|libmlx5.IBV_WC_WITH_INV))
		if o.flags != 0 {
			require.Equal(t, o.imm, cq.ReadImm())
		}
		require.Greater(t, cq.ReadCompletionTS(), before)
		require.NoError(t, cq.EndPoll())
	})
}

// TestTimestampsAreInOrder: completions of one queue bear rising times.
func TestTimestampsAreInOrder(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	for i := range uint64(10) {
		server.receive(server.into(i, 0, 1))
		client.post(signaled(i, verbs.IBV_WR_SEND))
	}
	client.settle()
	var last uint64
	n := 0
	require.NoError(t, server.recvCQ.PollEx(func() {
		require.EqualValues(t, n, server.recvCQ.WRID())
		require.Greater(t, server.recvCQ.ReadCompletionTS(), last)
		last = server.recvCQ.ReadCompletionTS()
		n++
	}))
	require.Equal(t, 10, n)
}

// TestReadsAreBounded: more requests for data than may be on their way at a time
// are all answered, in order, with other requests between them.
func TestReadsAreBounded(t *testing.T) {
	for _, depth := range []uint8{1, 2, 16} {
		client, server := pair(t, setup{apart: true, link: func(l *link) { l.reads, l.answers, l.mtu = depth, depth, verbs.IBV_MTU_256 },
			cap: verbs.QPCap{MaxSendWR: 64, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}})
		server.mem.setWord(number, 100)
		var wrs []libmlx5.SendWR
		var ids []uint64
		for i := range uint64(20) {
			read := signaled(3*i, verbs.IBV_WR_RDMA_READ, client.mem.sge(0x4000+1000*i, 1000))
			read.RDMA = server.mem.remote(target)
			add := signaled(3*i+1, verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, client.mem.sge(8*i, 8))
			add.Atomic = libmlx5.AtomicWR{RemoteAddr: server.mem.iova + number, RKey: server.mem.RKey, CompareAdd: 1}
			write := signaled(3*i+2, verbs.IBV_WR_RDMA_WRITE, client.mem.sge(8*i, 8))
			write.RDMA = server.mem.remote(0x8000 + 8*i)
			write.SendFlags |= verbs.IBV_SEND_FENCE // it sends what the atomic operation has brought
			wrs = append(wrs, read, add, write)
			ids = append(ids, 3*i, 3*i+1, 3*i+2)
		}
		server.mem.store(target, texture(1000, 3))
		client.post(wrs...)
		client.succeeded(client.sent(), ids...)
		for i := range uint64(20) {
			require.Equal(t, texture(1000, 3), client.mem.load(0x4000+1000*i, 1000))
			require.Equal(t, 100+i, client.mem.word(8*i))
			require.Equal(t, 100+i, server.mem.word(0x8000+8*i), "depth %d", depth)
		}
	}
}
