package traffic

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// TestPostLimits: a request that is too large is refused when it is posted; those
// in front of it in its list are posted.
func TestPostLimits(t *testing.T) {
	client, server := pair(t, setup{cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInlineData: 16}})
	attr, _, err := client.qp.Query(verbs.IBV_QP_CAP)
	require.NoError(t, err)
	require.GreaterOrEqual(t, attr.Cap.MaxInlineData, uint32(16))
	piece := client.mem.sge(0, 1)
	inline := signaled(2, verbs.IBV_WR_SEND, verbs.SGE{Addr: client.mem.at, Length: attr.Cap.MaxInlineData + 1})
	inline.SendFlags |= verbs.IBV_SEND_INLINE
	for name, tt := range map[string]struct {
		wr   libmlx5.SendWR
		want error
	}{
		"pieces": {signaled(2, verbs.IBV_WR_SEND, piece, piece, piece), libmlx5.ErrSendSGE},
		"inline": {inline, libmlx5.ErrInline},
		"opcode": {signaled(2, 40), libmlx5.ErrOpcode},
	} {
		t.Run(name, func(t *testing.T) {
			server.receive(server.into(1, 0, 8))
			third := signaled(3, verbs.IBV_WR_SEND, piece)
			tt.wr.Next = &third
			first := signaled(1, verbs.IBV_WR_SEND, piece)
			first.Next = &tt.wr
			bad, err := client.qp.PostSend(&first)
			require.ErrorIs(t, err, tt.want)
			require.Same(t, &tt.wr, bad)
			client.succeeded(client.sent(), 1)
			server.succeeded(server.received(), 1)
		})
	}
	largest := inline
	largest.SGList = []verbs.SGE{{Addr: client.mem.at, Length: attr.Cap.MaxInlineData}}
	server.receive(server.into(1, 0, 1000))
	client.post(largest)
	client.succeeded(client.sent(), 2)
	require.Equal(t, attr.Cap.MaxInlineData, server.one(server.received()).ByteLen)

	long := server.into(2, 0, 8)
	for range attr.Cap.MaxRecvSGE {
		long.SGList = append(long.SGList, server.mem.sge(0, 1))
	}
	first := server.into(1, 0, 8)
	first.Next = &long
	bad, err := server.qp.PostRecv(&first)
	require.ErrorIs(t, err, libmlx5.ErrRecvSGE)
	require.Same(t, &long, bad)
	client.post(signaled(1, verbs.IBV_WR_SEND))
	client.succeeded(client.sent(), 1)
	server.succeeded(server.received(), 1)
}

// TestSendQueueFull: a send queue takes as many requests as it says, and more when
// the completions were polled: of a request without one, when a later one was.
func TestSendQueueFull(t *testing.T) {
	for _, n := range []uint32{1, 4, 100} {
		client, server := pair(t, setup{srq: true, cqe: 1024, cap: verbs.QPCap{MaxSendWR: n, MaxRecvWR: 1000, MaxSendSGE: 1, MaxRecvSGE: 1}})
		attr, _, err := client.qp.Query(verbs.IBV_QP_CAP)
		require.NoError(t, err)
		room := int(attr.Cap.MaxSendWR)
		require.GreaterOrEqual(t, room, int(n))
		for round := range uint64(3) {
			for range room {
				server.receive(server.into(0, 0, 1))
			}
			for i := range room - 1 {
				client.post(libmlx5.SendWR{WRID: uint64(i), Opcode: verbs.IBV_WR_SEND})
			}
			client.post(signaled(round, verbs.IBV_WR_SEND))
			wr := signaled(99, verbs.IBV_WR_SEND)
			_, err = client.qp.PostSend(&wr)
			require.ErrorIs(t, err, libmlx5.ErrSQFull)
			client.settle()
			_, err = client.qp.PostSend(&wr)
			require.ErrorIs(t, err, libmlx5.ErrSQFull, "they are done, but the program does not know")
			client.succeeded(client.sent(), round)
			require.Len(t, server.received(), room)
		}
	}
}

// TestReceiveQueueFull is the same for receives, of a queue pair's own and of a
// shared queue.
func TestReceiveQueueFull(t *testing.T) {
	for name, shared := range map[string]bool{"own": false, "shared": true} {
		t.Run(name, func(t *testing.T) {
			client, server := pair(t, setup{srq: shared, cqe: 256, cap: verbs.QPCap{MaxSendWR: 100, MaxRecvWR: 30, MaxSendSGE: 1, MaxRecvSGE: 1}})
			postRecv, full := server.qp.PostRecv, libmlx5.ErrRQFull
			if shared {
				postRecv, full = server.srq.PostRecv, libmlx5.ErrSRQFull
			}
			for range 3 {
				room := 0
				for ; ; room++ {
					wr := server.into(uint64(room), 0, 1)
					if _, err := postRecv(&wr); err != nil {
						require.ErrorIs(t, err, full)
						require.ErrorIs(t, err, syscall.ENOMEM)
						break
					}
				}
				require.GreaterOrEqual(t, room, 30)
				for range room {
					client.post(libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_SIGNALED})
				}
				require.Len(t, client.sent(), room)
				for i, wc := range server.received() {
					require.EqualValues(t, i, wc.WRID)
				}
			}
		})
	}
}

// shortQueues is a device whose completion queues have 4095 entries at most, so
// that a test can try longer ones.
func shortQueues(t *testing.T) *hw.Profile {
	t.Helper()
	profile, err := hw.ConnectX6Dx.With(map[string]uint64{"log_max_cq_sz": 12})
	require.NoError(t, err)
	return profile
}

// TestCreateLimits: queues as large as the device says can be made, and none that
// are larger.
func TestCreateLimits(t *testing.T) {
	p := boot(t, options{profile: shortQueues(t)}).start(0)
	limit := &p.ctx.Device.Base
	cq := p.createCQ(1, nil)
	qp := func(change func(*libmlx5.QPInitAttr)) error {
		attr := libmlx5.QPInitAttr{PD: p.pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
			Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}}
		change(&attr)
		qp, err := p.ctx.CreateQP(&attr)
		if err == nil {
			require.NoError(t, qp.Destroy())
		}
		return err
	}
	makeCQ := func(n uint32) error {
		cq, err := p.ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: n}})
		if err == nil {
			require.GreaterOrEqual(t, cq.CQE, n)
			require.NoError(t, cq.Destroy())
		}
		return err
	}
	srq := func(wr, sge uint32) error {
		srq, err := p.pd.CreateSRQ(&libmlx5.SRQInitAttr{Type: verbs.IBV_SRQT_BASIC, Attr: verbs.SRQAttr{MaxWR: wr, MaxSGE: sge}})
		if err == nil {
			require.NoError(t, srq.Destroy())
		}
		return err
	}
	recvs := func(n uint32) func(*libmlx5.QPInitAttr) {
		return func(a *libmlx5.QPInitAttr) { a.Cap.MaxRecvWR = n }
	}
	sends := func(n uint32) func(*libmlx5.QPInitAttr) {
		return func(a *libmlx5.QPInitAttr) { a.Cap.MaxSendWR = n }
	}
	require.NoError(t, qp(recvs(limit.MaxQPWR)))
	require.NoError(t, qp(sends(limit.MaxQPWR)))
	require.ErrorIs(t, qp(recvs(p.ctx.Resp.MaxRecvWR+1)), syscall.EINVAL)
	require.ErrorIs(t, qp(sends(p.ctx.Resp.MaxSendWqebb)), syscall.EINVAL, "a request has more than one block")
	require.NoError(t, qp(func(a *libmlx5.QPInitAttr) { a.Cap.MaxRecvSGE = 32 }))
	require.ErrorIs(t, qp(func(a *libmlx5.QPInitAttr) { a.Cap.MaxRecvSGE = 33 }), syscall.EINVAL, "512 bytes have 32 pieces")
	require.ErrorIs(t, qp(func(a *libmlx5.QPInitAttr) { a.Cap.MaxSendSGE = 64 }), syscall.EINVAL, "1024 bytes have fewer than 64 pieces")
	require.ErrorIs(t, qp(func(a *libmlx5.QPInitAttr) { a.Cap.MaxInlineData = 1024 }), syscall.EINVAL)
	require.EqualValues(t, 4095, limit.MaxCQE)
	require.NoError(t, makeCQ(limit.MaxCQE))
	require.ErrorIs(t, makeCQ(0), syscall.EINVAL)
	require.ErrorIs(t, makeCQ(limit.MaxCQE+1), syscall.EINVAL)
	require.NoError(t, srq(limit.MaxSRQWR, 1))
	require.ErrorIs(t, srq(limit.MaxSRQWR+1, 1), syscall.EINVAL)
	require.ErrorIs(t, srq(1, limit.MaxSRQSGE+1), syscall.EINVAL)
	require.EqualValues(t, 16, limit.MaxQPRdAtom)
	portAttr, err := p.ctx.QueryPort(port)
	require.NoError(t, err)
	require.EqualValues(t, 1<<30, portAttr.LegacyResp.MaxMsgSz)
}

// TestMissingParts: queue pairs lack none of the objects that their type needs.
func TestMissingParts(t *testing.T) {
	p := boot(t, options{}).start(0)
	cq := p.createCQ(1, nil)
	for name, attr := range map[string]libmlx5.QPInitAttr{
		"no domain":            {SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC},
		"target without XRCD":  {PD: p.pd, Type: verbs.IBV_QPT_XRC_RECV},
		"unknown type":         {PD: p.pd, SendCQ: cq, RecvCQ: cq, Type: 77},
		"unknown create flags": {PD: p.pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC, CreateFlags: 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.ctx.CreateQP(&attr)
			require.Error(t, err)
		})
	}
}

// TestDestroyOrder: an object that others use is not destroyed.
func TestDestroyOrder(t *testing.T) {
	client, _ := pair(t, setup{srq: true})
	require.ErrorIs(t, client.sendCQ.CmdDestroyCQ(), syscall.EBUSY)
	require.ErrorIs(t, client.srq.CmdDestroySRQ(), syscall.EBUSY)
	require.ErrorIs(t, client.pd.Dealloc(), syscall.EBUSY)
	xrc := client.newEnd(setup{typ: verbs.IBV_QPT_XRC_SEND})
	require.ErrorIs(t, xrc.xrcd.Close(), syscall.EBUSY)
}
