package traffic

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// TestSmallDevice: messages go on a device whose completions have no user index
// and whose queues are short.
func TestSmallDevice(t *testing.T) {
	for name, s := range map[string]setup{
		"RC": {typ: verbs.IBV_QPT_RC}, "UC": {typ: verbs.IBV_QPT_UC}, "UD": {typ: verbs.IBV_QPT_UD}, "SRQ": {typ: verbs.IBV_QPT_RC, srq: true}, "XRC": {typ: verbs.IBV_QPT_XRC_SEND},
	} {
		t.Run(name, func(t *testing.T) {
			s.profile, s.apart = hw.Small, true
			s.cap = verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}
			s.access = verbs.IBV_ACCESS_LOCAL_WRITE | verbs.IBV_ACCESS_REMOTE_WRITE | verbs.IBV_ACCESS_REMOTE_READ
			s.link = func(l *link) { l.allows, l.reads, l.answers = s.access, 1, 1 }
			client, server := pair(t, s)
			require.Zero(t, client.ctx.Resp.CQEVersion)
			for n := range uint64(30) {
				msg := texture(300, byte(n))
				client.mem.store(0, msg)
				server.receive(server.into(n, incoming, 300))
				client.post(signaled(n, verbs.IBV_WR_SEND, client.mem.sge(0, 300)))
				client.succeeded(client.sent(), n)
				server.succeeded(server.received(), n)
				require.Equal(t, msg, server.mem.load(incoming+server.header(), 300))
			}
			if s.typ == verbs.IBV_QPT_RC {
				require.Equal(t, good, client.write(300, server.mem.remote(target)))
				require.Equal(t, good, client.read(300, server.mem.remote(target)))
				require.Equal(t, forbidden, client.write(300, server.mem.remote(server.mem.size)))
			}
		})
	}
}

// TestSmallDeviceRefuses: what the device says that it has not, its programs do
// not get.
func TestSmallDeviceRefuses(t *testing.T) {
	client, _ := pair(t, setup{options: options{profile: hw.Small}, access: verbs.IBV_ACCESS_LOCAL_WRITE,
		cap:  verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
		link: func(l *link) { l.allows, l.reads, l.answers = verbs.IBV_ACCESS_REMOTE_WRITE, 1, 1 }})
	require.Zero(t, client.ctx.Device.Base.AtomicCap)
	for _, op := range []verbs.WROpcode{verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, verbs.IBV_WR_ATOMIC_CMP_AND_SWP} {
		wr := signaled(1, op, client.mem.sge(0, 8))
		_, err := client.qp.PostSend(&wr)
		require.ErrorIs(t, err, libmlx5.ErrNoAtomics)
	}
	_, err := client.ctx.CreateQP(&libmlx5.QPInitAttr{PD: client.pd, SendCQ: client.sendCQ, RecvCQ: client.recvCQ, Type: verbs.IBV_QPT_RC,
		SendOpsFlags: verbs.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD})
	require.ErrorIs(t, err, libmlx5.ErrSendOps)
	require.Error(t, client.sendCQ.Resize(200))
	_, err = client.pd.AllocMW(verbs.IBV_MW_TYPE_2)
	require.Error(t, err)
	_, err = client.ctx.AllocDM(&verbs.DMAttr{Length: 64})
	require.ErrorIs(t, err, syscall.EINVAL)
	var attr libmlx5.CQInitAttr
	attr.CQE, attr.CQESize, attr.Pad = 4, 128, true
	_, err = client.ctx.CreateCQ(&attr)
	require.Error(t, err, "entries of 128 bytes with padding")
}
