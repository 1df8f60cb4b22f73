package traffic

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// The tests of this file end something while a message is on its way.

// startWrite has the client begin a write of 32 KiB, in packets of 256 bytes, and lets
// some of them arrive.
func startWrite(t *testing.T, client, server *end) {
	t.Helper()
	client.mem.store(0, bytes.Repeat([]byte{0xaa}, longWrite))
	wr := signaled(1, verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, longWrite))
	wr.RDMA = server.mem.remote(0)
	client.post(wr)
	for range 1000 {
		client.dev.Step(nil)
		server.dev.Step(nil)
		if came := bytes.Count(server.mem.load(0, longWrite), []byte{0xaa}); came > 1000 {
			require.Less(t, came, longWrite)
			return
		}
	}
	require.Fail(t, "nothing arrives")
}

const longWrite = 1 << 15

// midway makes two ends with such a write under way.
func midway(t *testing.T) (client, server *end) {
	t.Helper()
	client, server = pair(t, setup{apart: true, link: func(l *link) { l.mtu, l.retries = verbs.IBV_MTU_256, 2 }})
	startWrite(t, client, server)
	return client, server
}

// TestDeregMidway: no byte arrives after the region is gone, and the writer is
// refused.
func TestDeregMidway(t *testing.T) {
	client, server := midway(t)
	require.NoError(t, server.mem.drop())
	before := server.mem.load(0, longWrite)
	client.exhaust()
	require.Equal(t, forbidden, client.one(client.sent()).Status)
	require.True(t, bytes.Equal(before, server.mem.load(0, longWrite)))
	server.events()
}

// TestSourceDeregMidway: the writer's own region goes: the rest is not sent.
func TestSourceDeregMidway(t *testing.T) {
	client, server := midway(t)
	require.NoError(t, client.mem.drop())
	client.exhaust()
	require.Equal(t, libmlx5.IBV_WC_LOC_PROT_ERR, client.one(client.sent()).Status)
	require.Less(t, bytes.Count(server.mem.load(0, longWrite), []byte{0xaa}), longWrite)
}

// TestReceiverResetMidway: the other end is reset: nobody answers any more.
func TestReceiverResetMidway(t *testing.T) {
	client, server := midway(t)
	server.toState(server.qp, verbs.IBV_QPS_RESET)
	before := server.mem.load(0, longWrite)
	client.exhaust()
	require.Equal(t, libmlx5.IBV_WC_RETRY_EXC_ERR, client.one(client.sent()).Status)
	require.True(t, bytes.Equal(before, server.mem.load(0, longWrite)))
	// What is left of the old connection does not disturb a new one.
	reconnect(client, server)
	server.receive(server.into(2, 0, 8))
	client.post(signaled(2, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	client.succeeded(client.sent(), 2)
	server.succeeded(server.received(), 2)
}

// TestSenderResetMidway: a message that is cut off has no completion, and the
// connection can be made anew.
func TestSenderResetMidway(t *testing.T) {
	client, server := midway(t)
	client.toState(client.qp, verbs.IBV_QPS_RESET)
	client.exhaust()
	require.Empty(t, client.sent())
	require.Less(t, bytes.Count(server.mem.load(0, longWrite), []byte{0xaa}), longWrite)
	reconnect(client, server)
	require.Equal(t, good, client.write(longWrite, server.mem.remote(0)))
	require.Equal(t, longWrite, bytes.Count(server.mem.load(0, longWrite), []byte{0xaa}))
}

// TestRightTakenMidway: the other end forbids what is under way.
func TestRightTakenMidway(t *testing.T) {
	client, server := midway(t)
	server.modify(server.qp, verbs.QPAttr{QPState: rts, QPAccessFlags: verbs.IBV_ACCESS_REMOTE_READ}, verbs.IBV_QP_STATE|access)
	client.exhaust()
	require.Equal(t, good, client.one(client.sent()).Status, "a message is judged when it begins")
	require.Equal(t, forbidden, client.write(1, server.mem.remote(0)))
}

// TestExitMidway: both programs end as they are.
func TestExitMidway(t *testing.T) {
	for name, first := range map[string]func(client, server *end) (*end, *end){
		"sender first":   func(client, server *end) (*end, *end) { return client, server },
		"receiver first": func(client, server *end) (*end, *end) { return server, client },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := first(midway(t))
			a.exit()
			a.settle()
			b.exit()
			a.exhaust()
		})
	}
}

// TestDestroyTakesCompletions: with a queue pair go its completions that nobody
// has polled; those of others stay in the queue.
func TestDestroyTakesCompletions(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	second := server.createQP(&libmlx5.QPInitAttr{PD: server.pd, SendCQ: server.recvCQ, RecvCQ: server.recvCQ, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxRecvWR: 8, MaxRecvSGE: 1}})
	l := typical()
	server.modify(second, l.initAttr(), initMask[rc])
	for i := range uint64(3) {
		server.receive(server.into(i, 0, 8))
		client.post(signaled(i, verbs.IBV_WR_SEND))
		client.succeeded(client.sent(), i)
		_, err := second.PostRecv(&libmlx5.RecvWR{WRID: 100 + i})
		require.NoError(t, err)
	}
	server.toState(second, verbs.IBV_QPS_ERR)
	server.settle()
	require.NoError(t, second.Destroy())
	server.forget()
	server.succeeded(server.received(), 0, 1, 2)
}

// TestResetGivesSharedReceivesBack: receives of a shared queue whose completions
// go with a queue pair that is reset can be posted again.
func TestResetGivesSharedReceivesBack(t *testing.T) {
	client, server := pair(t, setup{srq: true, cqe: 64, cap: verbs.QPCap{MaxSendWR: 64, MaxRecvWR: 8, MaxSendSGE: 1, MaxRecvSGE: 1}})
	room := func() (n int) {
		for {
			wr := server.into(1, 0, 8)
			if _, err := server.srq.PostRecv(&wr); err != nil {
				require.ErrorIs(t, err, libmlx5.ErrSRQFull)
				return n
			}
			n++
		}
	}
	n := room()
	for range n {
		client.post(signaled(1, verbs.IBV_WR_SEND))
	}
	require.Len(t, client.sent(), n)
	server.toState(server.qp, verbs.IBV_QPS_RESET)
	require.Empty(t, server.received())
	require.Equal(t, n, room())
}

// TestReceiveUnderWay: a receive that has taken a part of a message comes back
// with the others when its queue pair ends, that of a shared queue too.
func TestReceiveUnderWay(t *testing.T) {
	for name, s := range map[string]setup{"own": {}, "shared": {srq: true}, "XRC": {typ: verbs.IBV_QPT_XRC_SEND}} {
		t.Run(name, func(t *testing.T) {
			s.apart, s.link = true, func(l *link) { l.mtu, l.retries = verbs.IBV_MTU_256, 1 }
			client, server := pair(t, s)
			server.receive(server.into(1, 0, longWrite), server.into(2, 0, 8))
			client.mem.store(0, bytes.Repeat([]byte{0xaa}, longWrite))
			client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, longWrite)))
			for i := 0; server.mem.load(1000, 1)[0] == 0; i++ {
				require.Less(t, i, 1000, "nothing arrives")
				client.dev.Step(nil)
				server.dev.Step(nil)
			}
			server.toState(server.target, verbs.IBV_QPS_ERR)
			client.exhaust()
			require.Equal(t, libmlx5.IBV_WC_RETRY_EXC_ERR, client.one(client.sent()).Status)
			want := []uint64{1}
			if server.srq == nil {
				want = []uint64{1, 2}
			}
			var got []uint64
			for _, wc := range server.received() {
				require.Equal(t, libmlx5.IBV_WC_WR_FLUSH_ERR, wc.Status)
				got = append(got, wc.WRID)
			}
			require.Equal(t, want, got)
			require.Zero(t, server.mem.load(longWrite-1, 1)[0])
			server.events()
		})
	}
}
