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

// shared makes a shared receive queue and a queue pair with it.
func (m *machine) shared(maxWR, maxSGE uint32) (*libmlx5.SRQ, *libmlx5.QP, *libmlx5.CQ) {
	m.t.Helper()
	pd, err := m.ctx.AllocPD()
	require.NoError(m.t, err)
	srq, err := pd.CreateSRQ(&libmlx5.SRQInitAttr{Attr: verbs.SRQAttr{MaxWR: maxWR, MaxSGE: maxSGE}})
	require.NoError(m.t, err)
	cq := m.create(63, nil)
	qp := m.createQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, SRQ: srq, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxSendSGE: 1}})
	m.toInit(qp)
	return srq, qp, cq
}

func (m *machine) postSRQ(srq *libmlx5.SRQ, ids ...uint64) error {
	for _, id := range ids {
		if _, err := srq.PostRecv(&libmlx5.RecvWR{WRID: id, SGList: sge(0x1000, 8, uint32(id))}); err != nil {
			return err
		}
	}
	return nil
}

// chain follows the list of places from one on, as the device does.
func (m *machine) chain(srq *libmlx5.SRQ, from, n int) (places []int) {
	b := srq.Buffer()
	for range n {
		places = append(places, from)
		next := m.load(b.Addr+copyuser.Addr(from<<b.WQEShift), 4)
		from = int(next[2])<<8 | int(next[3])
	}
	return places
}

// TestSRQSize: places are a power of two, with as many again that wait where the
// device has so many, and pieces fill a request's power of two.
func TestSRQSize(t *testing.T) {
	m := boot(t)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	for _, tt := range []struct {
		in, out verbs.SRQAttr
		shift   uint32
		length  uint64
	}{
		{verbs.SRQAttr{MaxWR: 1, MaxSGE: 1}, verbs.SRQAttr{MaxWR: 1, MaxSGE: 1}, 5, 4096},
		{verbs.SRQAttr{MaxWR: 3, MaxSGE: 2}, verbs.SRQAttr{MaxWR: 3, MaxSGE: 3}, 6, 4096},
		{verbs.SRQAttr{MaxWR: 500, MaxSGE: 1}, verbs.SRQAttr{MaxWR: 511, MaxSGE: 1}, 5, 1024 * 32},
		{verbs.SRQAttr{MaxWR: 100, MaxSGE: 4}, verbs.SRQAttr{MaxWR: 127, MaxSGE: 7}, 7, 256 * 128},
		{verbs.SRQAttr{MaxWR: 0x7ffe, MaxSGE: 1}, verbs.SRQAttr{MaxWR: 0x7fff, MaxSGE: 1}, 5, 0x8000 * 32},
	} {
		attr := libmlx5.SRQInitAttr{Attr: tt.in}
		srq, err := pd.CreateSRQ(&attr)
		require.NoError(t, err)
		require.Equal(t, tt.out, attr.Attr)
		require.Equal(t, []uint64{uint64(tt.shift), tt.length}, []uint64{uint64(srq.Buffer().WQEShift), srq.Buffer().Length})
		require.NoError(t, srq.Destroy())
	}
	for name, tt := range map[string]struct {
		attr libmlx5.SRQInitAttr
		want error
	}{
		"requests":     {libmlx5.SRQInitAttr{Attr: verbs.SRQAttr{MaxWR: 0x8001, MaxSGE: 1}}, libmlx5.ErrSRQSize},
		"pieces":       {libmlx5.SRQInitAttr{Attr: verbs.SRQAttr{MaxWR: 1, MaxSGE: 33}}, libmlx5.ErrSRQSize},
		"tag matching": {libmlx5.SRQInitAttr{Type: verbs.IBV_SRQT_TM}, libmlx5.ErrSRQType},
		"no domain":    {libmlx5.SRQInitAttr{Type: verbs.IBV_SRQT_XRC, Attr: verbs.SRQAttr{MaxWR: 1, MaxSGE: 1}}, verbs.ErrSRQParts},
	} {
		t.Run(name, func(t *testing.T) {
			areas := m.proc.Mem.Areas()
			_, err := pd.CreateSRQ(&tt.attr)
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, areas, m.proc.Mem.Areas(), "nothing is left of it")
		})
	}
}

// TestSRQWQE: the bytes of requests, each with the place behind it.
func TestSRQWQE(t *testing.T) {
	m := boot(t)
	srq, _, _ := m.shared(4, 2) // 7 requests of 3 pieces, 64 bytes
	b := srq.Buffer()
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, m.chain(srq, 0, 8))
	second := libmlx5.RecvWR{WRID: 2, SGList: []verbs.SGE{{Addr: 1, Length: 2, LKey: 3}, {}, {Addr: 4, Length: 5, LKey: 6}}}
	bad, err := srq.PostRecv(&libmlx5.RecvWR{WRID: 1, SGList: sge(0x1122334455667788, 0x40, 0x99), Next: &second})
	require.NoError(t, err)
	require.Nil(t, bad)
	require.Equal(t, unhex(t, "00000001 000000000000000000000000", "00000040 00000099 1122334455667788",
		"00000000 00000100 0000000000000000 00000000000000000000000000000000"), m.load(b.Addr, 64))
	require.Equal(t, unhex(t, "00000002 000000000000000000000000", "00000002 00000003 0000000000000001",
		"00000000 00000000 0000000000000000", "00000005 00000006 0000000000000004"), m.load(b.Addr+64, 64),
		"an empty piece stays in the list")
	require.Equal(t, []byte{0, 0, 0, 2}, m.load(b.Record, 4))

	bad, err = srq.PostRecv(&libmlx5.RecvWR{SGList: make([]verbs.SGE, 4)})
	require.ErrorIs(t, err, libmlx5.ErrSRQSGE)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.NotNil(t, bad)
	require.NoError(t, m.postSRQ(srq, 3, 4, 5, 6, 7))
	err = m.postSRQ(srq, 8)
	require.ErrorIs(t, err, libmlx5.ErrSRQFull)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Equal(t, []byte{0, 0, 0, 7}, m.load(b.Record, 4))
}

// TestSRQOrder: places are free in the order in which they are completed, which
// is not that of the queue; lists are followed in memory.
func TestSRQOrder(t *testing.T) {
	m := boot(t)
	srq, _, cq := m.shared(3, 1)
	require.NoError(t, m.postSRQ(srq, 100, 101, 102))
	for _, place := range []uint16{1, 0, 2} {
		m.receive(cq, 0, place)
		require.Equal(t, 100+uint64(place), m.one(cq).WRID)
	}
	require.NoError(t, m.postSRQ(srq, 200, 201, 202))
	require.ErrorIs(t, m.postSRQ(srq, 203), libmlx5.ErrSRQFull)
	require.Equal(t, []int{3, 1, 0, 2}, m.chain(srq, 3, 4))
	for i, place := range []uint16{3, 1, 0} {
		require.Equal(t, unhex(t, "000000"+[]string{"c8", "c9", "ca"}[i]),
			m.load(srq.Buffer().Addr+copyuser.Addr(int(place)<<5)+20, 4))
		m.receive(cq, 0, place)
		require.Equal(t, 200+uint64(i), m.one(cq).WRID)
	}
	require.Equal(t, []byte{0, 0, 0, 6}, m.load(srq.Buffer().Record, 4))
}

// TestSRQPageFault: a request that the device could not take is posted again
// without a word to the program, and its place waits.
func TestSRQPageFault(t *testing.T) {
	m := boot(t)
	srq, _, cq := m.shared(3, 1) // places 0 to 3, and 4 to 7 wait
	require.NoError(t, m.postSRQ(srq, 100, 101))
	fault := hw.Completion{Opcode: ifc.MLX5_CQE_RESP_ERR, Syndrome: 0x22, VendorSyndrome: 0x93}
	require.NoError(t, m.dev.HW.Complete(cq.CQN, fault))
	n, err := cq.Poll(make([]libmlx5.WC, 4))
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, []byte{0, 0, 0, 3}, m.load(srq.Buffer().Record, 4), "it is posted again")
	require.Equal(t, []int{2, 3, 4}, m.chain(srq, 2, 3), "the place that has waited longest is free")
	require.Equal(t, m.load(srq.Buffer().Addr+16, 16), m.load(srq.Buffer().Addr+copyuser.Addr(2<<5)+16, 16))
	m.receive(cq, 0, 1)
	m.receive(cq, 0, 2)
	require.Equal(t, uint64(101), m.one(cq).WRID)
	require.Equal(t, uint64(100), m.one(cq).WRID)

	// The waiting list goes round: a place comes again when the four that waited
	// in front of it have had their turn.
	require.NoError(t, m.postSRQ(srq, 102))
	place := 3
	posted := []int{place}
	for range 20 {
		next := m.chain(srq, place, 2)[1]
		fault.WQECounter = uint16(place)
		require.NoError(t, m.dev.HW.Complete(cq.CQN, fault))
		n, err := cq.Poll(make([]libmlx5.WC, 1))
		require.NoError(t, err)
		require.Zero(t, n)
		require.NotContains(t, posted[max(0, len(posted)-5):], next)
		place = next
		posted = append(posted, place)
	}
	m.receive(cq, 0, uint16(place))
	require.Equal(t, uint64(102), m.one(cq).WRID)
}

// TestSRQModify: what can be changed and asked for, and when it can be destroyed.
func TestSRQModify(t *testing.T) {
	m := boot(t)
	srq, _, _ := m.shared(7, 1)
	require.NoError(t, srq.Modify(&verbs.SRQAttr{SRQLimit: 3}, verbs.IBV_SRQ_LIMIT))
	attr, err := srq.Query()
	require.NoError(t, err)
	require.Equal(t, []uint32{15, 1}, []uint32{attr.MaxWR, attr.MaxSGE}, "the kernel counts the places that wait")
	require.ErrorIs(t, srq.Modify(&verbs.SRQAttr{MaxWR: 3}, verbs.IBV_SRQ_MAX_WR), syscall.EINVAL, "the device cannot resize it")
	require.ErrorIs(t, srq.Destroy(), syscall.EBUSY, "a queue pair has it")
}

// TestXRC: a domain, its shared receive queue with a user index of its own, a
// target without one, and an initiator.
func TestXRC(t *testing.T) {
	m := boot(t)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	xrcd, err := m.ctx.OpenXRCD(-1, syscall.O_CREAT)
	require.NoError(t, err)
	cq := m.create(15, nil)
	attr := libmlx5.SRQInitAttr{Attr: verbs.SRQAttr{MaxWR: 3, MaxSGE: 1}, Type: verbs.IBV_SRQT_XRC, XRCD: xrcd, CQ: cq}
	srq, err := pd.CreateSRQ(&attr)
	require.NoError(t, err)
	require.Equal(t, srq.SRQN, srq.Num)
	tgt := m.createQP(&libmlx5.QPInitAttr{XRCD: xrcd, Type: verbs.IBV_QPT_XRC_RECV})
	iniAttr := libmlx5.QPInitAttr{PD: pd, SendCQ: cq, Type: verbs.IBV_QPT_XRC_SEND,
		Cap: verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 1, MaxRecvWR: 9}}
	_, err = m.ctx.CreateQP(&iniAttr)
	require.ErrorIs(t, err, syscall.EINVAL, "the kernel wants no receive queue, and the library makes one")
	iniAttr.Cap.MaxRecvWR = 0
	ini := m.createQP(&iniAttr)
	m.toRTS(ini, tgt.Num)

	require.NoError(t, m.postSRQ(srq, 55))
	m.receive(cq, 0, 0) // the queue's user index
	require.Equal(t, uint64(55), m.one(cq).WRID)

	_, err = ini.PostSend(&libmlx5.SendWR{WRID: 66, Opcode: verbs.IBV_WR_SEND, XRC: libmlx5.XRCWR{RemoteSRQN: 0x010203},
		SGList: sge(0x1000, 8, 9)})
	require.NoError(t, err)
	require.Equal(t, unhex(t, "00010203 000000000000000000000000 00000008 00000009 0000000000001000"), m.load(ini.Buffer().SQ+16, 32))
	m.completeSend(ini, cq, 1, 0)
	require.Equal(t, uint64(66), m.one(cq).WRID)

	opened, err := m.ctx.OpenQP(&verbs.QPOpenAttr{QPNum: tgt.Num, XRCD: xrcd, Type: verbs.IBV_QPT_XRC_RECV})
	require.NoError(t, err)
	require.Equal(t, verbs.IBV_QPS_UNKNOWN, opened.State)
	_, err = m.ctx.OpenQP(&verbs.QPOpenAttr{QPNum: 0x777777, XRCD: xrcd, Type: verbs.IBV_QPT_XRC_RECV})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.NoError(t, opened.Destroy())
	require.ErrorIs(t, xrcd.Close(), syscall.EBUSY)
	for _, destroy := range []func() error{tgt.Destroy, ini.Destroy, srq.Destroy, xrcd.Close, cq.Destroy, pd.Dealloc} {
		require.NoError(t, destroy())
	}
}
