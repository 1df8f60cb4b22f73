package traffic

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// awaitCQ gets the next event of the end's channel, which must be there.
func (e *end) awaitCQ() *libmlx5.CQ {
	e.Helper()
	e.settle()
	require.True(e, e.readable(e.channel.FD), "an event waits in the channel")
	cq, err := e.ctx.GetCQEvent(e.channel)
	require.NoError(e, err)
	return cq
}

// quiet expects that no event comes.
func (e *end) quiet() {
	e.Helper()
	e.settle()
	require.False(e, e.readable(e.channel.FD), "no event waits in the channel")
}

// TestSleepingPingPong: both ends arm their queues, sleep until an event comes,
// and poll then.
func TestSleepingPingPong(t *testing.T) {
	eachService(t, func(t *testing.T, s setup) {
		s.channel = true
		client, server := pair(t, s)
		const size = 64
		rounds := uint32(6) // the sequence number of an arm command has 2 bits
		for n := range uint64(rounds) {
			for _, e := range [][2]*end{{client, server}, {server, client}} {
				from, to := e[0], e[1]
				require.NoError(t, to.recvCQ.ReqNotify(false))
				require.NoError(t, from.sendCQ.ReqNotify(false))
				to.receive(to.into(n, 0, size))
				from.post(signaled(n, verbs.IBV_WR_SEND, from.mem.sge(0x1000, size)))
				require.Same(t, from.sendCQ, from.awaitCQ())
				from.succeeded(from.poll(from.sendCQ), n)
				require.Same(t, to.recvCQ, to.awaitCQ())
				to.succeeded(to.poll(to.recvCQ), n)
				from.quiet()
				to.quiet()
			}
		}
		for _, e := range []*end{client, server} {
			e.sendCQ.AckEvents(rounds)
			e.recvCQ.AckEvents(rounds)
		}
	})
}

// TestOneEventForOneRequest: a queue that is armed once tells once, and one that
// is not armed does not tell.
func TestOneEventForOneRequest(t *testing.T) {
	client, server := pair(t, setup{channel: true})
	for i := range uint64(6) {
		server.receive(server.into(i, 0, 1))
	}
	send := func() { client.post(signaled(1, verbs.IBV_WR_SEND)) }
	send()
	server.quiet()
	require.NoError(t, server.recvCQ.ReqNotify(false))
	require.Same(t, server.recvCQ, server.awaitCQ(), "a completion that the program has not seen counts at once")
	send()
	send()
	server.quiet()
	require.Len(t, server.received(), 3)
	require.NoError(t, server.recvCQ.ReqNotify(false))
	server.quiet()
	send()
	send()
	require.Same(t, server.recvCQ, server.awaitCQ())
	server.quiet()
	server.recvCQ.AckEvents(2)
	require.Len(t, server.received(), 2)
	require.Len(t, client.sent(), 5)
}

// TestSolicitedOnly: a queue that is armed for solicited completions tells of
// messages whose sender asks for that, and of errors.
func TestSolicitedOnly(t *testing.T) {
	to := func(server *end) libmlx5.RDMAWR { return server.mem.remote(0x100) }
	for name, tt := range map[string]struct {
		wr   func(server *end) libmlx5.SendWR
		want bool
	}{
		"send":                    {func(*end) libmlx5.SendWR { return libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND} }, false},
		"solicited send":          {func(*end) libmlx5.SendWR { return solicited(verbs.IBV_WR_SEND) }, true},
		"solicited send with imm": {func(*end) libmlx5.SendWR { return solicited(verbs.IBV_WR_SEND_WITH_IMM) }, true},
		"write with imm": {func(s *end) libmlx5.SendWR {
			return libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_WRITE_WITH_IMM, RDMA: to(s)}
		}, false},
		"solicited write with imm": {func(s *end) libmlx5.SendWR {
			w := solicited(verbs.IBV_WR_RDMA_WRITE_WITH_IMM)
			w.RDMA = to(s)
			return w
		}, true},
		"solicited write has no event": {func(s *end) libmlx5.SendWR { w := solicited(verbs.IBV_WR_RDMA_WRITE); w.RDMA = to(s); return w }, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := pair(t, setup{channel: true, apart: true})
			server.receive(server.into(1, 0, 8))
			require.NoError(t, server.recvCQ.ReqNotify(true))
			client.post(tt.wr(server))
			if !tt.want {
				server.quiet()
				return
			}
			require.Same(t, server.recvCQ, server.awaitCQ())
			server.recvCQ.AckEvents(1)
		})
	}
	t.Run("error", func(t *testing.T) {
		_, server := pair(t, setup{channel: true})
		server.receive(server.into(1, 0, 8))
		require.NoError(t, server.recvCQ.ReqNotify(true))
		server.toState(server.qp, verbs.IBV_QPS_ERR)
		require.Same(t, server.recvCQ, server.awaitCQ())
		server.recvCQ.AckEvents(1)
		require.Equal(t, libmlx5.IBV_WC_WR_FLUSH_ERR, server.one(server.received()).Status)
	})
	t.Run("sender's side", func(t *testing.T) {
		client, server := pair(t, setup{channel: true})
		server.receive(server.into(1, 0, 8))
		require.NoError(t, client.sendCQ.ReqNotify(true))
		wr := solicited(verbs.IBV_WR_SEND)
		wr.SendFlags |= verbs.IBV_SEND_SIGNALED
		client.post(wr)
		client.quiet() // the sender's own completion is not what is solicited
		require.Len(t, client.sent(), 1)
	})
}

func solicited(op verbs.WROpcode) libmlx5.SendWR {
	return libmlx5.SendWR{Opcode: op, SendFlags: verbs.IBV_SEND_SOLICITED}
}

// TestDestroyWaitsForAcks: a queue of which events were read is destroyed once
// they are acknowledged, and not before.
func TestDestroyWaitsForAcks(t *testing.T) {
	m := boot(t, options{})
	p := m.start(0)
	e := p.newEnd(setup{channel: true})
	cq := p.createCQ(8, func(a *libmlx5.CQInitAttr) { a.Channel = e.channel })
	qp := p.createQP(&libmlx5.QPInitAttr{PD: p.pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC, Cap: verbs.QPCap{MaxRecvWR: 2, MaxRecvSGE: 1}})
	l := typical()
	p.modify(qp, l.initAttr(), initMask[qp.Type])
	for range 2 {
		require.NoError(t, cq.ReqNotify(false))
		_, err := qp.PostRecv(&libmlx5.RecvWR{})
		require.NoError(t, err)
		p.toState(qp, verbs.IBV_QPS_ERR)
		require.Same(t, cq, e.awaitCQ())
		require.Len(t, p.poll(cq), 1)
		p.toState(qp, verbs.IBV_QPS_RESET)
		p.modify(qp, l.initAttr(), initMask[qp.Type])
	}
	require.NoError(t, qp.Destroy())
	p.forget()
	destroyed := make(chan error, 1)
	go func() { destroyed <- cq.Destroy() }()
	p.forget()
	cq.AckEvents(1)
	select {
	case <-destroyed:
		require.Fail(t, "one event is not acknowledged")
	case <-time.After(20 * time.Millisecond):
	}
	cq.AckEvents(1)
	require.NoError(t, <-destroyed)
}

// TestQueuesShareAChannel: events of several queues come in the order of the
// completions, and a channel is destroyed after its queues.
func TestQueuesShareAChannel(t *testing.T) {
	client, server := pair(t, setup{channel: true})
	require.ErrorIs(t, server.channel.Destroy(), syscall.EBUSY)
	for _, cq := range []*libmlx5.CQ{server.sendCQ, server.recvCQ} {
		require.NoError(t, cq.ReqNotify(false))
	}
	server.receive(server.into(1, 0, 1))
	client.post(signaled(1, verbs.IBV_WR_SEND))
	server.settle()
	client.receive(client.into(2, 0, 1))
	server.post(signaled(3, verbs.IBV_WR_SEND))
	require.Same(t, server.recvCQ, server.awaitCQ())
	require.Same(t, server.sendCQ, server.awaitCQ())
	server.recvCQ.AckEvents(1)
	server.sendCQ.AckEvents(1)
}

// TestVectors: queues of all completion vectors tell.
func TestVectors(t *testing.T) {
	m := boot(t, options{vectors: 3})
	p := m.start(0)
	require.EqualValues(t, 3, p.ctx.NumCompVectors)
	for v := range uint32(3) {
		e := p.newEnd(setup{channel: true, cq: func(a *libmlx5.CQInitAttr) { a.CompVector = v }})
		e.connectToItself()
		require.NoError(t, e.recvCQ.ReqNotify(false))
		e.receive(e.into(1, 0, 1))
		e.post(signaled(1, verbs.IBV_WR_SEND))
		require.Same(t, e.recvCQ, e.awaitCQ())
		e.recvCQ.AckEvents(1)
	}
	_, err := p.ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 1, CompVector: 3}})
	require.ErrorIs(t, err, syscall.EINVAL)
}
