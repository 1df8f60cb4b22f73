package traffic

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// entries are the forms that a completion queue's entries can have.
var entries = map[string]func(*libmlx5.CQInitAttr){
	"64 bytes":         func(a *libmlx5.CQInitAttr) { a.CQESize = 64 },
	"128 bytes":        func(a *libmlx5.CQInitAttr) { a.CQESize = 128 },
	"128 bytes padded": func(a *libmlx5.CQInitAttr) { a.CQESize, a.Pad = 128, true },
}

// TestResizeUnderLoad: a queue that is resized while completions wait in it and
// more come loses none and keeps their order.
func TestResizeUnderLoad(t *testing.T) {
	for form, change := range entries {
		t.Run(form, func(t *testing.T) {
			client, server := pair(t, setup{cq: change, cqe: 100, srq: true,
				cap: verbs.QPCap{MaxSendWR: 200, MaxRecvWR: 200, MaxSendSGE: 1, MaxRecvSGE: 1}})
			next, seen := uint64(0), uint64(0)
			send := func(n int) {
				for range n {
					server.receive(server.into(next, 0, 8))
					client.post(signaled(next, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
					next++
				}
				client.settle()
			}
			take := func(n int) {
				wcs := make([]libmlx5.WC, n)
				for _, q := range []*libmlx5.CQ{client.sendCQ, server.recvCQ} {
					got, err := q.Poll(wcs)
					require.NoError(t, err)
					require.Equal(t, n, got)
					for i, wc := range wcs {
						require.EqualValues(t, seen+uint64(i), wc.WRID)
						require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc.Status)
					}
				}
				seen += uint64(n)
			}
			for _, size := range []uint32{127, 255, 30, 1000, 31, 63, 15, 300} {
				send(9)
				take(4)
				for _, q := range []*libmlx5.CQ{client.sendCQ, server.recvCQ} {
					require.NoError(t, q.Resize(size), "to %d with %d waiting", size, next-seen)
					require.GreaterOrEqual(t, q.CQE, size)
				}
				send(3)
				take(int(next - seen))
				send(int(min(size, 60))) // as many as fit, around its end
				take(int(next - seen))
			}
		})
	}
}

// TestResizeTooSmall: a queue is not made shorter than what waits in it, and goes
// on as it was.
func TestResizeTooSmall(t *testing.T) {
	client, server := pair(t, setup{cqe: 63, options: options{profile: shortQueues(t)}})
	for i := range uint64(12) {
		server.receive(server.into(i, 0, 8))
		client.post(signaled(i, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	}
	client.settle()
	require.Error(t, client.sendCQ.Resize(7))
	require.EqualValues(t, 63, client.sendCQ.CQE)
	require.Len(t, client.sent(), 12)
	require.Error(t, client.sendCQ.Resize(client.ctx.Device.Base.MaxCQE+1))
	require.NoError(t, client.sendCQ.Resize(7))
	require.Len(t, server.received(), 12)
}

// TestResizeKeepsArm: a queue that was armed before it was resized still tells.
func TestResizeKeepsArm(t *testing.T) {
	client, server := pair(t, setup{channel: true})
	require.NoError(t, server.recvCQ.ReqNotify(false))
	require.NoError(t, server.recvCQ.Resize(500))
	server.quiet()
	server.receive(server.into(1, 0, 8))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	require.Same(t, server.recvCQ, server.awaitCQ())
	server.recvCQ.AckEvents(1)
	server.succeeded(server.received(), 1)
}

// TestOverrun: a queue that has no room breaks: the program is told, the queue
// pair ends, and what was there before can be polled.
func TestOverrun(t *testing.T) {
	for form, change := range entries {
		t.Run(form, func(t *testing.T) {
			client, server := pair(t, setup{cq: change, cqe: 7, cap: verbs.QPCap{MaxSendWR: 32, MaxRecvWR: 32, MaxSendSGE: 1, MaxRecvSGE: 1}})
			room := server.recvCQ.CQE + 1 // one place more than a program may count on
			for i := range uint64(room) + 1 {
				server.receive(server.into(i, 0, 8))
				client.post(libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND})
			}
			client.settle()
			events := map[verbs.EventType]*verbs.AsyncEvent{}
			for server.readable(server.ctx.AsyncFD) {
				ev := server.nextEvent()
				events[ev.Type] = ev
			}
			require.Contains(t, events, verbs.IBV_EVENT_CQ_ERR)
			require.Same(t, &server.recvCQ.CQ, events[verbs.IBV_EVENT_CQ_ERR].CQ)
			require.Contains(t, events, verbs.IBV_EVENT_QP_FATAL)
			require.Same(t, &server.qp.QP, events[verbs.IBV_EVENT_QP_FATAL].QP)
			require.Equal(t, verbs.IBV_QPS_ERR, server.state(server.qp))
			require.Len(t, server.received(), int(room))
			require.Empty(t, server.received())
		})
	}
}

// TestIgnoredOverrun: a queue that was made to ignore overruns writes over what
// was not polled, and nobody is told.
func TestIgnoredOverrun(t *testing.T) {
	ignore := func(a *libmlx5.CQInitAttr) { a.Flags = spec.IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN }
	client, server := pair(t, setup{cq: ignore, cqe: 3, cap: verbs.QPCap{MaxSendWR: 32, MaxRecvWR: 32, MaxSendSGE: 1, MaxRecvSGE: 1}})
	for i := range uint64(9) {
		server.receive(server.into(i, 0, 8))
		client.post(libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND})
	}
	client.settle()
	require.Empty(t, server.events())
	require.Equal(t, verbs.IBV_QPS_RTS, server.state(server.qp))
}

// TestPollByPortions: however many completions a program takes at once, it gets
// all of them in order.
func TestPollByPortions(t *testing.T) {
	for form, change := range entries {
		for _, portion := range []int{1, 2, 7, 64} {
			t.Run(fmt.Sprintf("%s/%d", form, portion), func(t *testing.T) {
				client, server := pair(t, setup{cq: change, cqe: 31})
				var got []uint64
				wc := make([]libmlx5.WC, portion)
				for round := range uint64(4) {
					for i := range uint64(10) {
						server.receive(server.into(10*round+i, 0, 8))
						client.post(signaled(i, verbs.IBV_WR_SEND))
					}
					require.Len(t, client.sent(), 10)
					for n := portion; n == portion; {
						var err error
						n, err = server.recvCQ.Poll(wc)
						require.NoError(t, err)
						for _, w := range wc[:n] {
							got = append(got, w.WRID)
						}
					}
				}
				require.Len(t, got, 40)
				for i, id := range got {
					require.EqualValues(t, i, id)
				}
			})
		}
	}
}

// TestOneQueueForAll: one completion queue can serve several queue pairs, both
// ways.
func TestOneQueueForAll(t *testing.T) {
	p := boot(t, options{}).start(0)
	cq := p.createCQ(64, nil)
	mem := p.register(4096, everything)
	l := typical()
	byNumber := map[uint32][]libmlx5.Opcode{}
	for range 3 {
		qp := p.createQP(&libmlx5.QPInitAttr{PD: p.pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
			Cap: verbs.QPCap{MaxSendWR: 2, MaxRecvWR: 2, MaxSendSGE: 1, MaxRecvSGE: 1}})
		p.modify(qp, l.initAttr(), initMask[qp.Type])
		p.modify(qp, l.rtrAttr(qp, p.gid, 7), rtrMask[qp.Type])
		p.modify(qp, l.rtsAttr(7), rtsMask[qp.Type])
		_, err := qp.PostRecv(&libmlx5.RecvWR{SGList: []verbs.SGE{mem.sge(0, 8)}})
		require.NoError(t, err)
		wr := signaled(1, verbs.IBV_WR_SEND, mem.sge(8, 8))
		_, err = qp.PostSend(&wr)
		require.NoError(t, err)
		byNumber[qp.Num] = nil
	}
	p.settle()
	for _, wc := range p.poll(cq) {
		require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc.Status)
		require.Contains(t, byNumber, wc.QPNum)
		byNumber[wc.QPNum] = append(byNumber[wc.QPNum], wc.Opcode)
	}
	for _, ops := range byNumber {
		require.ElementsMatch(t, []libmlx5.Opcode{libmlx5.IBV_WC_SEND, libmlx5.IBV_WC_RECV}, ops)
	}
}
