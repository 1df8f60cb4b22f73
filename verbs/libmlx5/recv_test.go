package libmlx5_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// receive has the device complete a receive request.
func (m *machine) receive(cq *libmlx5.CQ, uidx uint32, counter uint16) {
	m.t.Helper()
	require.NoError(m.t, m.dev.HW.Complete(cq.CQN, hw.Completion{
		Opcode: ifc.MLX5_CQE_RESP_SEND, UserIndex: uidx, WQECounter: counter}))
}

// TestRecvWQE: the pieces of a receive request, and how its list ends.
func TestRecvWQE(t *testing.T) {
	const end = "00000000 00000100 0000000000000000"
	for _, tt := range []struct {
		name   string
		maxSGE uint32
		list   []verbs.SGE
		stride int
		want   string
	}{
		{"full", 1, sge(0x1122334455667788, 0x40, 0x99), 16, "00000040 00000099 1122334455667788"},
		{"nothing", 1, nil, 16, end},
		{"an empty piece", 2, append(sge(1, 0, 1), sge(2, 3, 4)...), 32, "00000003 00000004 0000000000000002" + end},
		{"room for more than asked for", 3, append(append(sge(1, 2, 3), sge(4, 5, 6)...), sge(7, 8, 9)...), 64,
			"00000002 00000003 0000000000000001 00000005 00000006 0000000000000004 00000008 00000009 0000000000000007" + end},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := boot(t)
			qp, _ := m.rc(func(a *libmlx5.QPInitAttr) { a.Cap.MaxRecvSGE = tt.maxSGE })
			buf := qp.Buffer()
			for i := range byte(2) {
				bad, err := qp.PostRecv(&libmlx5.RecvWR{SGList: tt.list})
				require.NoError(t, err)
				require.Nil(t, bad)
				want := unhex(t, tt.want)
				require.Equal(t, want, m.load(buf.Addr+copyuser.Addr(int(i)*tt.stride), len(want)))
				require.Equal(t, []byte{0, 0, 0, i + 1}, m.load(buf.Record, 4))
			}
		})
	}
}

// TestRecvList: lists, the end of the queue, and what is refused.
func TestRecvList(t *testing.T) {
	m := boot(t)
	qp, cq := m.rc(nil)
	list := func(ids ...uint64) (*libmlx5.RecvWR, []*libmlx5.RecvWR) {
		var all []*libmlx5.RecvWR
		for _, id := range ids {
			wr := &libmlx5.RecvWR{WRID: id, SGList: sge(copyuser.Addr(id), 8, 1)}
			if len(all) > 0 {
				all[len(all)-1].Next = wr
			}
			all = append(all, wr)
		}
		return all[0], all
	}
	first, all := list(1, 2, 3, 4, 5)
	bad, err := qp.PostRecv(first)
	require.ErrorIs(t, err, libmlx5.ErrRQFull)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Same(t, all[4], bad)
	require.Equal(t, []byte{0, 0, 0, 4}, m.load(qp.Buffer().Record, 4))
	for i := range uint64(3) {
		m.receive(cq, 0, uint16(i))
		require.Equal(t, i+1, m.one(cq).WRID)
	}
	first, all = list(10, 11, 12)
	all[2].SGList = make([]verbs.SGE, 3)
	bad, err = qp.PostRecv(first)
	require.ErrorIs(t, err, libmlx5.ErrRecvSGE)
	require.Same(t, all[2], bad)
	require.Equal(t, []byte{0, 0, 0, 6}, m.load(qp.Buffer().Record, 4))
	for place, id := range []byte{10, 11, 3, 4} {
		require.Equal(t, []byte{id}, m.load(qp.Buffer().Addr+copyuser.Addr(32*place)+15, 1), "place %d", place)
	}
}

// TestRecvLongList: a list that is stored in several parts.
func TestRecvLongList(t *testing.T) {
	m := boot(t)
	qp, _ := m.rc(func(a *libmlx5.QPInitAttr) { a.Cap.MaxRecvWR, a.Cap.MaxRecvSGE = 512, 1 })
	var first *libmlx5.RecvWR
	for i := 511; i >= 0; i-- {
		first = &libmlx5.RecvWR{Next: first, SGList: sge(copyuser.Addr(i), 8, 1)}
	}
	_, err := qp.PostRecv(first)
	require.NoError(t, err)
	for i := range 512 {
		require.Equal(t, unhex(t, fmt.Sprintf("%08x 00000001 %016x", 8, i)), m.load(qp.Buffer().Addr+copyuser.Addr(16*i), 16))
	}
}

// TestSendLongList: the same with a send queue, over its end.
func TestSendLongList(t *testing.T) {
	m := boot(t)
	qp, cq := m.rc(func(a *libmlx5.QPInitAttr) { a.Cap.MaxSendWR, a.Cap.MaxSendSGE = 64, 1 }) // 256 units
	var first, last *libmlx5.SendWR
	for i := 63; i >= 0; i-- {
		first = &libmlx5.SendWR{Next: first, Opcode: verbs.IBV_WR_SEND, SGList: sge(copyuser.Addr(i), 8, 1)}
		if last == nil {
			last = first
		}
	}
	place := 0
	for range 5 {
		_, err := qp.PostSend(first)
		require.NoError(t, err)
		for i := range 64 {
			at := qp.Buffer().SQ + copyuser.Addr((place+i)%256*64)
			require.Equal(t, unhex(t, fmt.Sprintf("%06x0a %06x02", place+i, qp.Num)), m.load(at, 8))
			require.Equal(t, unhex(t, fmt.Sprintf("%08x 00000001 %016x", 8, i)), m.load(at+16, 16))
		}
		place += 64
		m.completeSend(qp, cq, 0, uint16(place-1))
		m.one(cq)
	}
}
