package libmlx5_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// every is all that queue pairs of a type can send.
func every(t verbs.QPType) uint64 {
	ud := uint64(verbs.IBV_QP_EX_WITH_SEND | verbs.IBV_QP_EX_WITH_SEND_WITH_IMM)
	uc := ud | verbs.IBV_QP_EX_WITH_SEND_WITH_INV | verbs.IBV_QP_EX_WITH_RDMA_WRITE |
		verbs.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | verbs.IBV_QP_EX_WITH_LOCAL_INV | verbs.IBV_QP_EX_WITH_BIND_MW
	switch t {
	case verbs.IBV_QPT_UD:
		return ud
	case verbs.IBV_QPT_UC:
		return uc
	}
	return uc | verbs.IBV_QP_EX_WITH_RDMA_READ | verbs.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | verbs.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
}

// TestBuiltAsPosted: a request that is built has the bytes of one that is
// posted.
func TestBuiltAsPosted(t *testing.T) {
	m := boot(t)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	at, err := verbs.Alloc(m.proc, 4096)
	require.NoError(t, err)
	require.True(t, m.proc.Store(at, []byte("some inline data")))
	ah, err := pd.CreateAH(&verbs.AHAttr{IsGlobal: true, PortNum: 1, GRH: verbs.GlobalRoute{DGID: m.gid()}})
	require.NoError(t, err)
	mw := &verbs.MW{RKey: 0x4400, Type: verbs.IBV_MW_TYPE_2}
	info := libmlx5.BindInfo{MR: &verbs.MR{LKey: 8}, Addr: 0x1000, Length: 0x2000, MWAccessFlags: verbs.IBV_ACCESS_REMOTE_READ}
	rdma := libmlx5.RDMAWR{RemoteAddr: 0x5000, RKey: 0x66}
	two := []verbs.SGE{{Addr: 0x1000, Length: 4, LKey: 5}, {Addr: 0x2000, Length: 6, LKey: 7}}
	for _, tt := range []struct {
		name   string
		typ    verbs.QPType
		posted libmlx5.SendWR
		built  func(qp *libmlx5.QP)
	}{
		{"send", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SGList: two[:1]},
			func(qp *libmlx5.QP) { qp.WRSend(); qp.WRSetSGE(5, 0x1000, 4) }},
		{"send of nothing", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND},
			func(qp *libmlx5.QP) { qp.WRSend(); qp.WRSetSGE(5, 0x1000, 0) }},
		{"send with immediate", verbs.IBV_QPT_UC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND_WITH_IMM, ImmData: 9, SGList: two},
			func(qp *libmlx5.QP) { qp.WRSendImm(9); qp.WRSetSGEList(two) }},
		{"send with invalidation", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND_WITH_INV, InvalidateRKey: 9, SGList: two},
			func(qp *libmlx5.QP) { qp.WRSendInv(9); qp.WRSetSGEList(two) }},
		{"write, inline", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_WRITE, RDMA: rdma, SendFlags: verbs.IBV_SEND_INLINE, SGList: sge(at, 16, 0)},
			func(qp *libmlx5.QP) { qp.WRRDMAWrite(0x66, 0x5000); qp.WRSetInlineData(at, 16) }},
		{"write with immediate, inline list", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_WRITE_WITH_IMM, ImmData: 3, RDMA: rdma,
			SendFlags: verbs.IBV_SEND_INLINE, SGList: append(sge(at, 4, 0), sge(at+5, 6, 0)...)},
			func(qp *libmlx5.QP) {
				qp.WRRDMAWriteImm(0x66, 0x5000, 3)
				qp.WRSetInlineDataList(append(sge(at, 4, 0), sge(at+5, 6, 0)...))
			}},
		{"read", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_READ, RDMA: rdma, SGList: two},
			func(qp *libmlx5.QP) { qp.WRRDMARead(0x66, 0x5000); qp.WRSetSGEList(two) }},
		{"compare and swap", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_ATOMIC_CMP_AND_SWP,
			Atomic: libmlx5.AtomicWR{RemoteAddr: 0x5000, RKey: 0x66, CompareAdd: 1, Swap: 2}, SGList: sge(0x1000, 8, 5)},
			func(qp *libmlx5.QP) { qp.WRAtomicCmpSwp(0x66, 0x5000, 1, 2); qp.WRSetSGE(5, 0x1000, 8) }},
		{"fetch and add", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_ATOMIC_FETCH_AND_ADD,
			Atomic: libmlx5.AtomicWR{RemoteAddr: 0x5000, RKey: 0x66, CompareAdd: 1}, SGList: sge(0x1000, 8, 5)},
			func(qp *libmlx5.QP) { qp.WRAtomicFetchAdd(0x66, 0x5000, 1); qp.WRSetSGE(5, 0x1000, 8) }},
		{"bind", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_BIND_MW, BindMW: libmlx5.BindMWWR{MW: mw, RKey: 0x4401, BindInfo: info}},
			func(qp *libmlx5.QP) { qp.WRBindMW(mw, 0x4401, &info) }},
		{"local invalidation", verbs.IBV_QPT_UC, libmlx5.SendWR{Opcode: verbs.IBV_WR_LOCAL_INV, InvalidateRKey: 0x4401},
			func(qp *libmlx5.QP) { qp.WRLocalInv(0x4401) }},
		{"datagram", verbs.IBV_QPT_UD, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, UD: libmlx5.UDWR{AH: ah, RemoteQPN: 5, RemoteQKey: 6}, SGList: two},
			func(qp *libmlx5.QP) { qp.WRSend(); qp.WRSetUDAddr(ah, 5, 6); qp.WRSetSGEList(two) }},
		{"datagram, the other way round", verbs.IBV_QPT_UD, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND_WITH_IMM, ImmData: 1, UD: libmlx5.UDWR{AH: ah, RemoteQPN: 5, RemoteQKey: 6}, SGList: two},
			func(qp *libmlx5.QP) { qp.WRSendImm(1); qp.WRSetSGEList(two); qp.WRSetUDAddr(ah, 5, 6) }},
		{"XRC", verbs.IBV_QPT_XRC_SEND, libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_WRITE, XRC: libmlx5.XRCWR{RemoteSRQN: 7}, RDMA: rdma, SGList: two},
			func(qp *libmlx5.QP) { qp.WRRDMAWrite(0x66, 0x5000); qp.WRSetXRCSRQN(7); qp.WRSetSGEList(two) }},
		{"XRC, invalidation", verbs.IBV_QPT_XRC_SEND, libmlx5.SendWR{Opcode: verbs.IBV_WR_LOCAL_INV, InvalidateRKey: 0x4401},
			func(qp *libmlx5.QP) { qp.WRLocalInv(0x4401) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			make := func() *libmlx5.QP {
				qp, _ := m.rc(func(a *libmlx5.QPInitAttr) {
					a.PD, a.Type, a.SendOpsFlags, a.Cap.MaxInlineData = pd, tt.typ, every(tt.typ), 32
					if tt.typ == verbs.IBV_QPT_XRC_SEND {
						a.RecvCQ, a.Cap.MaxRecvWR = nil, 0
					}
				})
				return qp
			}
			posts, builds := make(), make()
			tt.posted.SendFlags |= verbs.IBV_SEND_SIGNALED
			tt.posted.WRID = 5
			_, err := posts.PostSend(&tt.posted)
			require.NoError(t, err)
			builds.WRID, builds.WRFlags = 5, verbs.IBV_SEND_SIGNALED
			builds.WRStart()
			tt.built(builds)
			require.NoError(t, builds.WRComplete())
			want, got := m.load(posts.Buffer().SQ, 256), m.load(builds.Buffer().SQ, 256)
			number := []byte{byte(builds.Num >> 16), byte(builds.Num >> 8), byte(builds.Num)}
			copy(want[4:], number)
			if want[3] == 0x25 && want[69] != 0xff {
				copy(want[68:], number) // the window is the queue pair's
			}
			require.Equal(t, want, got)
			require.Equal(t, m.load(posts.Buffer().Record, 8), m.load(builds.Buffer().Record, 8))
		})
	}
}

// TestBuildBatch: a batch is rung once, nothing of it is posted after an error or
// an abort, and an unfinished request is dropped.
func TestBuildBatch(t *testing.T) {
	m := boot(t)
	qp, cq := m.rc(func(a *libmlx5.QPInitAttr) { a.SendOpsFlags = every(a.Type) })
	record := func() byte { return m.load(qp.Buffer().Record+7, 1)[0] }
	send := func(id uint64) { qp.WRID = id; qp.WRSend(); qp.WRSetSGE(1, 0x1000, 8) }

	qp.WRStart()
	send(1)
	send(2)
	require.Zero(t, record())
	require.NoError(t, qp.WRComplete())
	require.Equal(t, byte(2), record())

	qp.WRStart()
	send(3)
	qp.WRAbort()
	require.Equal(t, byte(2), record())

	qp.WRStart()
	qp.WRSend() // is given no data
	send(4)
	require.NoError(t, qp.WRComplete())
	require.Equal(t, byte(3), record())

	m.completeSend(qp, cq, 0, 1)
	m.completeSend(qp, cq, 0, 2)
	require.Equal(t, uint64(2), m.one(cq).WRID)
	require.Equal(t, uint64(4), m.one(cq).WRID)

	for name, tt := range map[string]struct {
		build func()
		want  error
		errno syscall.Errno
	}{
		"full":   {func() { send(5); send(6); send(7); send(8); send(9) }, libmlx5.ErrSQFull, syscall.ENOMEM},
		"pieces": {func() { send(5); qp.WRSend(); qp.WRSetSGEList(make([]verbs.SGE, 3)) }, libmlx5.ErrSendSGE, syscall.ENOMEM},
		"inline": {func() { qp.WRSend(); qp.WRSetInlineData(0x1000, 61); send(5) }, libmlx5.ErrInline, syscall.ENOMEM},
		"window": {func() { qp.WRBindMW(&verbs.MW{}, 1, &libmlx5.BindInfo{Length: 1<<31 + 1}) }, libmlx5.ErrBindLength, syscall.EOPNOTSUPP},
		"none":   {func() { qp.WRBindMW(nil, 1, &libmlx5.BindInfo{}) }, libmlx5.ErrWRPart, syscall.EINVAL},
		"path":   {func() { qp.WRSend(); qp.WRSetUDAddr(&libmlx5.AH{}, 1, 2) }, libmlx5.ErrNoSendOps, syscall.EOPNOTSUPP},
		"first":  {func() { qp.WRSend(); qp.WRSetXRCSRQN(1); qp.WRSend(); qp.WRSetInlineData(0x1000, 61) }, libmlx5.ErrNoSendOps, syscall.EOPNOTSUPP},
	} {
		qp.WRStart()
		tt.build()
		err := qp.WRComplete()
		require.ErrorIs(t, err, tt.want, name)
		require.ErrorIs(t, err, tt.errno, name)
		require.Equal(t, byte(3), record(), name)
	}
	qp.WRStart()
	send(10)
	require.NoError(t, qp.WRComplete())
	require.Equal(t, []byte{0, 0, 3, 0x0a}, m.load(qp.Buffer().SQ+3*64, 4), "in the place of what was rolled back")
}

// TestBuildFences: what follows an invalidation waits for it, and an aborted batch
// leaves no fence behind.
func TestBuildFences(t *testing.T) {
	m := boot(t)
	qp, cq := m.rc(func(a *libmlx5.QPInitAttr) { a.SendOpsFlags, a.Cap.MaxSendWR = every(a.Type), 16 })
	fence := func(place int) byte { return m.load(qp.Buffer().SQ+copyuser.Addr(place*64)+11, 1)[0] }
	send := func() { qp.WRSend(); qp.WRSetSGE(1, 0x1000, 8) }
	qp.WRStart()
	qp.WRLocalInv(1)
	qp.WRAbort()
	qp.WRStart()
	send()
	qp.WRLocalInv(1)
	require.NoError(t, qp.WRComplete())
	qp.WRStart()
	send()
	send()
	qp.WRFlags = verbs.IBV_SEND_FENCE
	send()
	require.NoError(t, qp.WRComplete())
	require.Equal(t, []byte{0, 0, 0x20, 0, 0x80}, []byte{fence(0), fence(1), fence(3), fence(4), fence(5)})
	require.NoError(t, m.dev.HW.Complete(cq.CQN, hw.Completion{Opcode: ifc.MLX5_CQE_REQ, SendOpcode: 0x25, WQECounter: 1}))
	require.Equal(t, libmlx5.IBV_WC_LOCAL_INV, m.one(cq).Opcode)
}

// TestBuildRefused: on a queue pair that was not made for it, or in a state that
// sends nothing.
func TestBuildRefused(t *testing.T) {
	m := boot(t)
	qp, _ := m.rc(nil)
	qp.WRStart()
	qp.WRSend()
	require.ErrorIs(t, qp.WRComplete(), libmlx5.ErrNoSendOps)

	cq := m.create(3, nil)
	qp = m.createQP(&libmlx5.QPInitAttr{SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_UC, SendOpsFlags: verbs.IBV_QP_EX_WITH_SEND,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxSendSGE: 1}})
	qp.WRStart()
	require.ErrorIs(t, qp.WRComplete(), libmlx5.ErrNotRTS)
	m.toRTS(qp, qp.Num)
	qp.WRStart()
	qp.WRRDMARead(1, 2)
	require.ErrorIs(t, qp.WRComplete(), libmlx5.ErrNoSendOps, "UC does not read")
	qp.WRStart()
	require.NoError(t, qp.WRComplete(), "an empty batch")
}
