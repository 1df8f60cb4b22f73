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

// completeSend has the device complete the send request at a place of the queue.
func (m *machine) completeSend(qp *libmlx5.QP, cq *libmlx5.CQ, uidx uint32, place uint16) {
	m.t.Helper()
	require.NoError(m.t, m.dev.HW.Complete(cq.CQN, hw.Completion{
		Opcode: ifc.MLX5_CQE_REQ, SendOpcode: 0x0a, QPN: qp.Num, UserIndex: uidx, WQECounter: place}))
}

// one polls a completion.
func (m *machine) one(cq *libmlx5.CQ) libmlx5.WC {
	m.t.Helper()
	wc := make([]libmlx5.WC, 1)
	n, err := cq.Poll(wc)
	require.NoError(m.t, err)
	require.Equal(m.t, 1, n)
	return wc[0]
}

// TestPostSendRefused: the errors and their errnos are those of the library.
func TestPostSendRefused(t *testing.T) {
	m := boot(t)
	at, err := verbs.Alloc(m.proc, 4096)
	require.NoError(t, err)
	three := []verbs.SGE{{Length: 1}, {Length: 1}, {Length: 1}}
	for name, tt := range map[string]struct {
		typ   verbs.QPType
		wr    libmlx5.SendWR
		want  error
		errno syscall.Errno
	}{
		"opcode":       {verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: 12}, libmlx5.ErrOpcode, syscall.EINVAL},
		"pieces":       {verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SGList: three}, libmlx5.ErrSendSGE, syscall.ENOMEM},
		"inline":       {verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_INLINE, SGList: sge(at, 61, 0)}, libmlx5.ErrInline, syscall.ENOMEM},
		"inline, sum":  {verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_INLINE, SGList: append(sge(at, 40, 0), sge(at, 21, 0)...)}, libmlx5.ErrInline, syscall.ENOMEM},
		"inline, gone": {verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_INLINE, SGList: sge(1, 8, 0)}, &verbs.Fault{Addr: 1}, syscall.EFAULT},
		"no path":      {verbs.IBV_QPT_UD, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND}, libmlx5.ErrWRPart, syscall.EINVAL},
		"no window":    {verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_BIND_MW}, libmlx5.ErrWRPart, syscall.EINVAL},
		"no region": {verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_BIND_MW, BindMW: libmlx5.BindMWWR{MW: &verbs.MW{},
			BindInfo: libmlx5.BindInfo{Length: 1}}}, libmlx5.ErrWRPart, syscall.EINVAL},
		"too large a window": {verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_BIND_MW, BindMW: libmlx5.BindMWWR{MW: &verbs.MW{},
			BindInfo: libmlx5.BindInfo{MR: &verbs.MR{}, Length: 1<<31 + 1}}}, libmlx5.ErrBindLength, syscall.EOPNOTSUPP},
	} {
		t.Run(name, func(t *testing.T) {
			qp, _ := m.rc(func(a *libmlx5.QPInitAttr) { a.Type = tt.typ })
			bad, err := qp.PostSend(&tt.wr)
			require.Same(t, &tt.wr, bad)
			var fault *verbs.Fault
			if wantFault, ok := tt.want.(*verbs.Fault); ok {
				require.ErrorAs(t, err, &fault)
				require.Equal(t, wantFault, fault)
			} else {
				require.ErrorIs(t, err, tt.want)
			}
			require.ErrorIs(t, err, tt.errno)
			require.Equal(t, make([]byte, 8), m.load(qp.Buffer().Record, 8), "nothing is posted")
			if tt.typ == verbs.IBV_QPT_UD {
				return
			}
			_, err = qp.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND})
			require.NoError(t, err)
			require.Equal(t, []byte{0, 0, 0, 0x0a}, m.load(qp.Buffer().SQ, 4), "the next one has its place")
		})
	}
}

// TestPostInState: a send request needs IBV_QPS_RTS once, a receive request
// IBV_QPS_INIT, until the queue pair is reset.
func TestPostInState(t *testing.T) {
	m := boot(t)
	cq := m.create(15, nil)
	qp := m.createQP(&libmlx5.QPInitAttr{SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}})
	send := func() error {
		_, err := qp.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND})
		return err
	}
	recv := func() error {
		_, err := qp.PostRecv(&libmlx5.RecvWR{})
		return err
	}
	require.ErrorIs(t, send(), libmlx5.ErrSendSGE)
	require.ErrorIs(t, recv(), libmlx5.ErrRecvSGE)
	require.ErrorIs(t, recv(), syscall.EINVAL)
	m.toInit(qp)
	require.ErrorIs(t, send(), libmlx5.ErrSendSGE)
	require.NoError(t, recv())
	require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_RESET}, verbs.IBV_QP_STATE))
	require.ErrorIs(t, recv(), libmlx5.ErrRecvSGE)
	m.toRTS(qp, qp.Num)
	require.NoError(t, send())
	require.NoError(t, recv())
	require.Equal(t, []byte{0, 0, 0, 1, 0, 0, 0, 1}, m.load(qp.Buffer().Record, 8), "both queues began anew")
	require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_ERR}, verbs.IBV_QP_STATE))
	require.NoError(t, send(), "a queue pair in error takes requests, and flushes them")
	require.NoError(t, recv())
}

// TestQueueFull: a place is free when a completion of it, or of a later request,
// was polled; a queue's end is no boundary for its requests.
func TestQueueFull(t *testing.T) {
	m := boot(t)
	qp, cq := m.rc(nil)
	send := func(id uint64) error {
		wr := libmlx5.SendWR{WRID: id, Opcode: verbs.IBV_WR_SEND, SGList: sge(0x1000, 1, 1)}
		bad, err := qp.PostSend(&wr)
		require.Equal(t, err != nil, bad == &wr)
		return err
	}
	// The queue has 4 requests of 256 bytes, which is 16 units; a SEND takes one.
	posted, place := uint64(0), uint16(0)
	for range 30 {
		for range 3 {
			require.NoError(t, send(posted))
			posted++
		}
		require.NoError(t, send(posted))
		posted++
		err := send(999)
		require.ErrorIs(t, err, libmlx5.ErrSQFull)
		require.ErrorIs(t, err, syscall.ENOMEM)
		place += 4
		m.completeSend(qp, cq, 0, place-1)
		require.Equal(t, posted-1, m.one(cq).WRID, "one completion is for all in front of it")
	}
	require.Equal(t, []byte{0, 0, 0, 120}, m.load(qp.Buffer().Record+4, 4))
}

// TestSendWraps: a request over the end of the queue goes on at its beginning.
func TestSendWraps(t *testing.T) {
	m := boot(t)
	qp, cq := m.rc(nil) // 16 units
	for i := range uint16(15) {
		_, err := qp.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND})
		require.NoError(t, err)
		m.completeSend(qp, cq, 0, i)
		m.one(cq)
	}
	wr := libmlx5.SendWR{WRID: 77, Opcode: verbs.IBV_WR_LOCAL_INV, InvalidateRKey: 0x12345678, SendFlags: verbs.IBV_SEND_SIGNALED}
	_, err := qp.PostSend(&wr)
	require.NoError(t, err)
	sq := qp.Buffer().SQ
	require.Equal(t, unhex(t, "000f25"), m.load(sq+15*64+1, 3))
	require.Equal(t, unhex(t, "40000000 ffffff00"), m.load(sq, 8), "the context of the key is the second unit")
	require.Equal(t, []byte{0, 0, 0, 17}, m.load(qp.Buffer().Record+4, 4))
	require.NoError(t, m.dev.HW.Complete(cq.CQN, hw.Completion{Opcode: ifc.MLX5_CQE_REQ, SendOpcode: 0x25, QPN: qp.Num, WQECounter: 15}))
	wc := m.one(cq)
	require.Equal(t, libmlx5.IBV_WC_LOCAL_INV, wc.Opcode)
	require.Equal(t, uint64(77), wc.WRID)
}

// TestFences: what follows a bind or an invalidation waits for it, unless it
// brings a fence of its own.
func TestFences(t *testing.T) {
	m := boot(t)
	qp, _ := m.rc(func(a *libmlx5.QPInitAttr) { a.Cap.MaxSendWR, a.SQSigAll = 16, true })
	inv := libmlx5.SendWR{Opcode: verbs.IBV_WR_LOCAL_INV}
	send := func(flags verbs.SendFlags, next *libmlx5.SendWR) *libmlx5.SendWR {
		return &libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: flags, Next: next}
	}
	_, err := qp.PostSend(&inv)
	require.NoError(t, err)
	_, err = qp.PostSend(send(0, send(0, nil)))
	require.NoError(t, err)
	inv.Next = send(verbs.IBV_SEND_FENCE, send(0, nil))
	_, err = qp.PostSend(&inv)
	require.NoError(t, err)
	sq := qp.Buffer().SQ
	for place, want := range map[int]byte{0: 0x08, 2: 0x28, 3: 0x08, 4: 0x08, 6: 0x88, 7: 0x08} {
		require.Equal(t, []byte{want}, m.load(sq+64*copyuser.Addr(place)+11, 1), "place %d; 8 is of SQSigAll", place)
	}
}

// TestNoAtomics: on a device without them, whether they are posted or built.
func TestNoAtomics(t *testing.T) {
	without, err := hw.Recorded.With(map[string]uint64{"atomic": 0})
	require.NoError(t, err)
	m := bootWith(t, without)
	qp, _ := m.rc(nil)
	for _, op := range []verbs.WROpcode{verbs.IBV_WR_ATOMIC_CMP_AND_SWP, verbs.IBV_WR_ATOMIC_FETCH_AND_ADD} {
		wr := libmlx5.SendWR{Opcode: op}
		bad, err := qp.PostSend(&wr)
		require.Same(t, &wr, bad)
		require.ErrorIs(t, err, libmlx5.ErrNoAtomics)
		require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	}
	_, err = m.ctx.CreateQP(&libmlx5.QPInitAttr{Type: verbs.IBV_QPT_RC, SendOpsFlags: verbs.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD})
	require.ErrorIs(t, err, libmlx5.ErrSendOps)
}
