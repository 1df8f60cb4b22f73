package traffic

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// TestCommEst: a queue pair in RTR that a message reaches says so once, and none
// that is in RTS already.
func TestCommEst(t *testing.T) {
	eachService(t, func(t *testing.T, s setup) {
		client, server := unconnected(t, s)
		l := typical()
		client.toRTR(l, l.serverPSN)
		server.toRTR(l, l.clientPSN)
		client.toRTS(l, l.clientPSN)
		server.receive(server.into(1, 0, 8), server.into(2, 0, 8))
		client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)), signaled(2, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
		client.succeeded(client.sent(), 1, 2)
		ev := server.nextEvent()
		require.Equal(t, verbs.IBV_EVENT_COMM_EST, ev.Type)
		require.Same(t, &server.target.QP, ev.QP)
		require.Empty(t, server.events())
		server.succeeded(server.received(), 1, 2)
		server.toRTS(l, l.serverPSN)
		client.receive(client.into(3, 0, 8))
		server.post(signaled(3, verbs.IBV_WR_SEND, server.mem.sge(0, 8)))
		server.succeeded(server.sent(), 3)
		require.Empty(t, client.events())
	})
}

// TestLastWQE: a queue pair with a shared receive queue says when it takes no more
// from that.
func TestLastWQE(t *testing.T) {
	client, server := pair(t, setup{srq: true})
	server.receive(server.into(1, 0, 8), server.into(2, 0, 8))
	server.toState(server.qp, verbs.IBV_QPS_ERR)
	server.settle()
	ev := server.nextEvent()
	require.Equal(t, verbs.IBV_EVENT_QP_LAST_WQE_REACHED, ev.Type)
	require.Same(t, &server.qp.QP, ev.QP)
	require.Empty(t, server.received(), "what is posted stays for others")
	server.toState(server.qp, verbs.IBV_QPS_RESET)
	client.toState(client.qp, verbs.IBV_QPS_RESET)
	connect(client, server)
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	server.succeeded(server.received(), 1)
}

// TestEventsGoToTheirContext: an event about an object reaches the program that
// made it, and no other.
func TestEventsGoToTheirContext(t *testing.T) {
	client, server := pair(t, setup{})
	bystander := server.start(0)
	wr := signaled(1, verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 8))
	wr.RDMA = server.mem.remote(server.mem.size)
	client.post(wr)
	require.Equal(t, libmlx5.IBV_WC_REM_ACCESS_ERR, client.one(client.sent()).Status)
	require.Equal(t, accessEvent, server.events())
	require.Empty(t, client.events())
	require.Empty(t, bystander.events())
}

// TestDestroyWaitsForAsyncAcks: a queue pair of which an event was read is
// destroyed once that is acknowledged.
func TestDestroyWaitsForAsyncAcks(t *testing.T) {
	p := boot(t, options{}).start(0)
	cq := p.createCQ(4, nil)
	srq := p.createSRQ(&libmlx5.SRQInitAttr{Type: verbs.IBV_SRQT_BASIC, Attr: verbs.SRQAttr{MaxWR: 1, MaxSGE: 1}})
	qp := p.createQP(&libmlx5.QPInitAttr{PD: p.pd, SendCQ: cq, RecvCQ: cq, SRQ: srq, Type: verbs.IBV_QPT_RC})
	l := typical()
	p.modify(qp, l.initAttr(), initMask[qp.Type])
	p.toState(qp, verbs.IBV_QPS_ERR)
	p.settle()
	ev, err := p.ctx.GetAsyncEvent()
	require.NoError(t, err)
	require.Equal(t, verbs.IBV_EVENT_QP_LAST_WQE_REACHED, ev.Type)
	p.forget()
	destroyed := make(chan error, 1)
	go func() { destroyed <- qp.Destroy() }()
	select {
	case <-destroyed:
		require.Fail(t, "the event is not acknowledged")
	case <-time.After(20 * time.Millisecond):
	}
	ev.Ack()
	require.NoError(t, <-destroyed)
}

// TestPortGoesDownAndUp: every program hears of the port, the port's state changes,
// and what was on its way then arrives when the link is back.
func TestPortGoesDownAndUp(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	other := client.start(0)
	state := func(p *program) uint8 {
		resp, err := p.ctx.QueryPort(port)
		require.NoError(t, err)
		return resp.LegacyResp.State
	}
	require.EqualValues(t, spec.IB_PORT_ACTIVE, state(client.program))
	client.dev.HW.PortUp(false)
	client.settle()
	for _, p := range []*program{client.program, other} {
		ev := p.nextEvent()
		require.Equal(t, verbs.IBV_EVENT_PORT_ERR, ev.Type)
		require.EqualValues(t, port, ev.PortNum)
	}
	require.Empty(t, server.events(), "it has another port")
	require.EqualValues(t, spec.IB_PORT_DOWN, state(client.program))

	server.receive(server.into(1, 0, 8))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	require.Empty(t, client.sent())
	require.Empty(t, server.received())
	client.dev.HW.PortUp(true)
	client.settle()
	require.Equal(t, verbs.IBV_EVENT_PORT_ACTIVE, client.nextEvent().Type)
	require.Equal(t, verbs.IBV_EVENT_PORT_ACTIVE, other.nextEvent().Type)
	require.EqualValues(t, spec.IB_PORT_ACTIVE, state(client.program))
	client.await("the message", func() bool { return len(client.poll(client.sendCQ)) > 0 })
	server.succeeded(server.received(), 1)
}

// TestPortStaysDown: a connection whose link stays down ends when its retries have
// run out; one within the device does not notice.
func TestPortStaysDown(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	loop := client.newEnd(setup{})
	loop.connectToItself()
	client.dev.HW.PortUp(false)
	server.receive(server.into(1, 0, 8))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	loop.receive(loop.into(2, 0, 8))
	loop.post(signaled(2, verbs.IBV_WR_SEND, loop.mem.sge(0, 8)))
	loop.succeeded(loop.sent(), 2)
	client.exhaust()
	require.Equal(t, libmlx5.IBV_WC_RETRY_EXC_ERR, client.one(client.sent()).Status)
	require.Equal(t, []verbs.EventType{verbs.IBV_EVENT_PORT_ERR}, client.events())
}

// TestDeviceFails: every program hears of it, and can still destroy what it has.
func TestDeviceFails(t *testing.T) {
	client, server := pair(t, setup{channel: true})
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	client.dev.Fail(nil)
	for _, e := range []*end{client, server} {
		require.Equal(t, []verbs.EventType{verbs.IBV_EVENT_DEVICE_FATAL}, e.events())
		require.Empty(t, e.sent())
	}
	_, err := client.ctx.AllocPD()
	require.Error(t, err)
	client.end()
	server.end()
	require.Equal(t, client.probed[0]["dma_page"], booksOf(client.dev)["dma_page"], "no memory of theirs is mapped any more")
	client.machine.devices, client.machine.programs = nil, nil // the adapter itself answers nothing more
}

// TestDeviceRemoved: a device that is taken out from under its programs leaves
// nothing of theirs, which they are told; their calls fail, and they can end.
func TestDeviceRemoved(t *testing.T) {
	client, server := pair(t, setup{apart: true, channel: true})
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	require.NoError(t, client.dev.Remove(client.proc.MainTask()))
	require.Contains(t, client.events(), verbs.IBV_EVENT_DEVICE_FATAL)
	_, err := client.ctx.AllocPD()
	require.ErrorIs(t, err, syscall.EIO)
	require.Empty(t, client.dev.HW.Counts())
	require.Zero(t, client.dev.Bus.Mapped())
	require.Empty(t, server.events())
	server.post(signaled(2, verbs.IBV_WR_SEND, server.mem.sge(0, 8)))
	server.exhaust()
	require.Equal(t, libmlx5.IBV_WC_RETRY_EXC_ERR, server.one(server.sent()).Status)
	client.exit()
	server.end()
	client.machine.devices, client.machine.probed = client.machine.devices[1:], client.probed[1:]
}
