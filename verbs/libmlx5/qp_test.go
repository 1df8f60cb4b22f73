package libmlx5_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// TestQPSize: what a queue pair can hold, and where its queues lie. The figures
// are those of mlx5_calc_wq_size with 1024 bytes for a send request, 512 for a
// receive request: a request of a reliable connection is 192 bytes without its
// data, a datagram 64 and 80 of XRC's 208.
func TestQPSize(t *testing.T) {
	m := boot(t)
	cq := m.create(63, nil)
	for _, tt := range []struct {
		name     string
		typ      verbs.QPType
		ops      uint64
		in, out  verbs.QPCap
		sqOffset copyuser.Addr
		length   uint64
	}{
		{"smallest", verbs.IBV_QPT_RC, 0, verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
			verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: 60}, 64, 64 + 256},
		{"powers of two", verbs.IBV_QPT_RC, 0, verbs.QPCap{MaxSendWR: 5, MaxRecvWR: 5, MaxSendSGE: 3, MaxRecvSGE: 3},
			verbs.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 3, MaxRecvSGE: 4, MaxInlineData: 60}, 8 * 64, 8*64 + 8*256},
		{"not a power of two", verbs.IBV_QPT_RC, 0, verbs.QPCap{MaxSendWR: 3, MaxSendSGE: 8},
			verbs.QPCap{MaxSendWR: 3, MaxSendSGE: 8, MaxInlineData: 124}, 0, 1024},
		{"inline", verbs.IBV_QPT_RC, 0, verbs.QPCap{MaxSendWR: 2, MaxSendSGE: 1, MaxInlineData: 61},
			verbs.QPCap{MaxSendWR: 3, MaxSendSGE: 1, MaxInlineData: 124}, 0, 1024},
		{"datagrams", verbs.IBV_QPT_UD, 0, verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 3, MaxSendSGE: 1, MaxRecvSGE: 2},
			verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 2, MaxInlineData: 60}, 128, 128 + 4*128},
		{"unreliable", verbs.IBV_QPT_UC, 0, verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 4},
			verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 4, MaxInlineData: 60}, 0, 1024},
		{"XRC", verbs.IBV_QPT_XRC_SEND, 0, verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 3},
			verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 3, MaxInlineData: 44}, 0, 1024},
		{"SEND only", verbs.IBV_QPT_RC, verbs.IBV_QP_EX_WITH_SEND, verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 3},
			verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 3, MaxInlineData: 44}, 0, 256},
		{"RDMA", verbs.IBV_QPT_RC, verbs.IBV_QP_EX_WITH_RDMA_READ, verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 3},
			verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 3, MaxInlineData: 92}, 0, 512},
		{"atomic", verbs.IBV_QPT_RC, verbs.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 1},
			verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 1, MaxInlineData: 12}, 0, 256},
		{"largest request", verbs.IBV_QPT_RC, 0, verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 52, MaxRecvSGE: 32},
			verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 52, MaxRecvSGE: 32, MaxInlineData: 828}, 512, 512 + 1024},
	} {
		t.Run(tt.name, func(t *testing.T) {
			attr := libmlx5.QPInitAttr{SendCQ: cq, RecvCQ: cq, Type: tt.typ, Cap: tt.in, SendOpsFlags: tt.ops}
			areas := m.proc.Mem.Areas()
			qp := m.createQP(&attr)
			require.Equal(t, tt.out, attr.Cap)
			b := qp.Buffer()
			require.Equal(t, tt.sqOffset, b.SQ-b.Addr)
			require.Equal(t, tt.length, b.Length)
			queried, _, err := qp.Query(verbs.IBV_QP_CAP)
			require.NoError(t, err)
			require.Equal(t, tt.out, queried.Cap)
			require.NoError(t, qp.Destroy())
			require.GreaterOrEqual(t, areas+2, m.proc.Mem.Areas(), "a page of records and one of registers can stay")
		})
	}
}

// TestCreateQPRefused: by the library and by the kernel. Nothing is left, and the
// next queue pair gets what the refused one had.
func TestCreateQPRefused(t *testing.T) {
	m := boot(t)
	cq := m.create(63, nil)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	ok := verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}
	with := func(change func(*verbs.QPCap)) verbs.QPCap {
		c := ok
		change(&c)
		return c
	}
	qp := m.createQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC, Cap: ok})
	register := qp.Buffer().Register
	require.NoError(t, qp.Destroy())
	for name, tt := range map[string]struct {
		attr  libmlx5.QPInitAttr
		want  error
		errno syscall.Errno
	}{
		"type":         {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_RAW_PACKET, Cap: ok}, libmlx5.ErrQPType, syscall.EOPNOTSUPP},
		"send pieces":  {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_RC, Cap: with(func(c *verbs.QPCap) { c.MaxSendSGE = 53 })}, libmlx5.ErrSendSize, syscall.EINVAL},
		"inline":       {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_RC, Cap: with(func(c *verbs.QPCap) { c.MaxInlineData = 829 })}, libmlx5.ErrSendSize, syscall.EINVAL},
		"sends":        {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_RC, Cap: with(func(c *verbs.QPCap) { c.MaxSendWR = 8193 })}, libmlx5.ErrSendWR, syscall.EINVAL},
		"many sends":   {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_RC, Cap: with(func(c *verbs.QPCap) { c.MaxSendWR = 0x80000000 })}, libmlx5.ErrSendWR, syscall.EINVAL},
		"receives":     {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_RC, Cap: with(func(c *verbs.QPCap) { c.MaxRecvWR = 32769 })}, libmlx5.ErrRecvWR, syscall.EINVAL},
		"recv pieces":  {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_RC, Cap: with(func(c *verbs.QPCap) { c.MaxRecvSGE = 33 })}, libmlx5.ErrRecvSize, syscall.EINVAL},
		"operations":   {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_UD, Cap: ok, SendOpsFlags: verbs.IBV_QP_EX_WITH_RDMA_READ}, libmlx5.ErrSendOps, syscall.EOPNOTSUPP},
		"of UC":        {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_UC, Cap: ok, SendOpsFlags: verbs.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP}, libmlx5.ErrSendOps, syscall.EOPNOTSUPP},
		"no XRC":       {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_XRC_RECV}, verbs.ErrQPParent, syscall.EINVAL},
		"create flags": {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_RC, Cap: ok, CreateFlags: 1 << 30}, verbs.ErrQPCreateFlags, syscall.EINVAL},
		"by the kernel": {libmlx5.QPInitAttr{Type: verbs.IBV_QPT_RC, Cap: ok,
			CreateFlags: verbs.IBV_QP_CREATE_CVLAN_STRIPPING}, syscall.EINVAL, syscall.EINVAL},
	} {
		t.Run(name, func(t *testing.T) {
			areas := m.proc.Mem.Areas()
			tt.attr.SendCQ, tt.attr.RecvCQ = cq, cq
			if tt.attr.Type != verbs.IBV_QPT_XRC_RECV {
				tt.attr.PD = pd
			}
			_, err := m.ctx.CreateQP(&tt.attr)
			require.ErrorIs(t, err, tt.want)
			require.ErrorIs(t, err, tt.errno)
			require.Equal(t, areas, m.proc.Mem.Areas())
		})
	}
	seen := map[copyuser.Addr]bool{}
	for range 4 {
		seen[m.createQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC, Cap: ok}).Buffer().Register] = true
	}
	require.Len(t, seen, 4, "dedicated registers")
	require.True(t, seen[register])
}

// TestRegisters: four queue pairs have a register each; the others share twelve,
// and a freed one is given out again.
func TestRegisters(t *testing.T) {
	m := boot(t)
	cq := m.create(63, nil)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	create := func() *libmlx5.QP {
		return m.createQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
			Cap: verbs.QPCap{MaxSendWR: 1, MaxSendSGE: 1}})
	}
	users := map[copyuser.Addr]int{}
	var qps []*libmlx5.QP
	for range 4 + 24 {
		qps = append(qps, create())
		users[qps[len(qps)-1].Buffer().Register]++
	}
	require.Len(t, users, 16)
	for i, qp := range qps {
		n := 2
		if i < 4 {
			n = 1
		}
		require.Equal(t, n, users[qp.Buffer().Register], "queue pair %d", i)
	}
	for _, i := range []int{2, 7} {
		register := qps[i].Buffer().Register
		require.NoError(t, qps[i].Destroy())
		require.Equal(t, register, create().Buffer().Register)
	}
}

// TestQPAttributes: what Modify sets, Query tells.
func TestQPAttributes(t *testing.T) {
	m := bootWith(t, hw.ConnectX6Dx)
	cq := m.create(63, nil)
	qp := m.createQP(&libmlx5.QPInitAttr{SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC, SQSigAll: true,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}})
	m.toRTS(qp, 0x123456)
	attr, sigAll, err := qp.Query(verbs.IBV_QP_STATE | verbs.IBV_QP_DEST_QPN | verbs.IBV_QP_AV)
	require.NoError(t, err)
	require.True(t, sigAll)
	require.Equal(t, verbs.IBV_QPS_RTS, attr.QPState)
	require.Equal(t, verbs.IBV_MTU_1024, attr.PathMTU)
	require.Equal(t, uint32(0x123456), attr.DestQPNum)
	require.Equal(t, uint8(7), attr.RetryCnt)
	require.Equal(t, m.gid(), attr.AHAttr.GRH.DGID)
	require.Equal(t, verbs.IBV_QPS_RTS, qp.State)

	err = qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_INIT}, verbs.IBV_QP_STATE)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.Equal(t, verbs.IBV_QPS_RTS, qp.State, "the transition is refused")
	_, _, err = qp.Query(verbs.IBV_QP_RATE_LIMIT)
	require.ErrorIs(t, err, verbs.ErrQPAttrMask)
	require.ErrorIs(t, qp.Modify(&verbs.QPAttr{RateLimit: 1}, verbs.IBV_QP_RATE_LIMIT), syscall.EINVAL, "the kernel has no such attribute of this type")
}

// TestCloseWithQueues: a program that ends without destroying anything leaves
// nothing in the kernel.
func TestCloseWithQueues(t *testing.T) {
	m := boot(t)
	_, _ = m.rc(nil)
	m.shared(3, 1)
	m.ctx.Close()
	require.Zero(t, m.proc.FDCount())
	require.Zero(t, m.dev.Uverbs.OpenFiles())
}

// TestMulticast: attach and detach, as the kernel takes them.
func TestMulticast(t *testing.T) {
	m := boot(t)
	qp, _ := m.rc(func(a *libmlx5.QPInitAttr) { a.Type = verbs.IBV_QPT_UD })
	group := [16]byte{0: 0xff, 1: 0x0e, 15: 1}
	require.NoError(t, qp.AttachMcast(group, 0xc001))
	require.NoError(t, qp.DetachMcast(group, 0xc001))
	require.ErrorIs(t, qp.DetachMcast(group, 0xc001), syscall.EINVAL)
}
