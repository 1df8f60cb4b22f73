package libmlx5_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// TestCompletions: from an entry to the request that it is about, by user index,
// for queue pairs that share a completion queue.
func TestCompletions(t *testing.T) {
	m := boot(t)
	cq := m.create(63, nil)
	with := func(a *libmlx5.QPInitAttr) { a.SendCQ, a.RecvCQ = cq, cq }
	first, _ := m.rc(with)
	second, _ := m.rc(with)
	for id, qp := range map[uint64]*libmlx5.QP{10: first, 20: second} {
		for i := range uint64(2) {
			_, err := qp.PostSend(&libmlx5.SendWR{WRID: id + i, Opcode: verbs.IBV_WR_SEND})
			require.NoError(t, err)
			_, err = qp.PostRecv(&libmlx5.RecvWR{WRID: 100 + id + i})
			require.NoError(t, err)
		}
	}
	for _, c := range []struct {
		name string
		hw.Completion
		want libmlx5.WC
	}{
		{"a send of the second", hw.Completion{Opcode: ifc.MLX5_CQE_REQ, SendOpcode: 0x0a, UserIndex: 1, WQECounter: 0},
			libmlx5.WC{WRID: 20, Opcode: libmlx5.IBV_WC_SEND}},
		{"a receive of the first", hw.Completion{Opcode: ifc.MLX5_CQE_RESP_SEND_IMM, UserIndex: 0, Immediate: 5, ByteCount: 9, FlagsRQPN: 0x99},
			libmlx5.WC{WRID: 110, Opcode: libmlx5.IBV_WC_RECV, Flags: libmlx5.IBV_WC_WITH_IMM, Imm: 5, PKeyIndex: 5, ByteLen: 9, SrcQP: 0x99}},
		{"a failed send", hw.Completion{Opcode: ifc.MLX5_CQE_REQ_ERR, SendOpcode: 0x0a, UserIndex: 0, WQECounter: 1, Syndrome: 0x13, VendorSyndrome: 0x88},
			libmlx5.WC{WRID: 11, Status: libmlx5.IBV_WC_REM_ACCESS_ERR, VendorErr: 0x88, WQECounter: 1}},
		{"a flushed receive", hw.Completion{Opcode: ifc.MLX5_CQE_RESP_ERR, UserIndex: 1, Syndrome: 0x05, VendorSyndrome: 0xf9},
			libmlx5.WC{WRID: 120, Status: libmlx5.IBV_WC_WR_FLUSH_ERR, VendorErr: 0xf9}},
		{"a receive of the second", hw.Completion{Opcode: ifc.MLX5_CQE_RESP_WR_IMM, UserIndex: 1, Immediate: 6},
			libmlx5.WC{WRID: 121, Opcode: libmlx5.IBV_WC_RECV_RDMA_WITH_IMM, Flags: libmlx5.IBV_WC_WITH_IMM, Imm: 6, PKeyIndex: 6}},
	} {
		require.NoError(t, m.dev.HW.Complete(cq.CQN, c.Completion))
		got := m.one(cq)
		got.Timestamp = 0
		require.Equal(t, c.want, got, c.name)
	}
}

// TestUnknownQueue: an entry about a queue that the context does not have is an
// error, and is taken.
func TestUnknownQueue(t *testing.T) {
	m := boot(t)
	cq := m.create(15, nil)
	for name, c := range map[string]hw.Completion{
		"no queue, send":    {Opcode: ifc.MLX5_CQE_REQ, UserIndex: 5},
		"no queue, receive": {Opcode: ifc.MLX5_CQE_RESP_SEND, UserIndex: 5},
		"no queue, failed":  {Opcode: ifc.MLX5_CQE_REQ_ERR, UserIndex: 0xffffff},
		"far away":          {Opcode: ifc.MLX5_CQE_RESP_ERR, UserIndex: 0xfff000},
	} {
		require.NoError(t, m.dev.HW.Complete(cq.CQN, c), name)
		n, err := cq.Poll(make([]libmlx5.WC, 4))
		require.Zero(t, n, name)
		require.ErrorIs(t, err, libmlx5.ErrPoll, name)
	}
	n, err := cq.Poll(make([]libmlx5.WC, 4))
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, []byte{0, 0, 0, 4}, m.load(cq.Record(), 4))
}

// TestUserIndices: the lowest free one is given out; an XRC target has none.
func TestUserIndices(t *testing.T) {
	m := boot(t)
	cq := m.create(63, nil)
	with := func(a *libmlx5.QPInitAttr) { a.SendCQ, a.RecvCQ = cq, cq }
	var qps []*libmlx5.QP
	for range 4 {
		qp, _ := m.rc(with)
		qps = append(qps, qp)
	}
	require.NoError(t, qps[1].Destroy())
	require.NoError(t, qps[2].Destroy())
	qp, _ := m.rc(with)
	_, err := qp.PostRecv(&libmlx5.RecvWR{WRID: 9})
	require.NoError(t, err)
	m.receive(cq, 1, 0)
	require.Equal(t, uint64(9), m.one(cq).WRID)
}

// TestDestroyedWithCompletions: what a destroyed queue pair leaves in its
// completion queue is gone; the rest stays, in order, for each form of entry and
// over the queue's end.
func TestDestroyedWithCompletions(t *testing.T) {
	for name, change := range map[string]func(*libmlx5.CQInitAttr){
		"64 bytes":  nil,
		"128 bytes": func(a *libmlx5.CQInitAttr) { a.CQESize = 128 },
	} {
		t.Run(name, func(t *testing.T) {
			m := boot(t)
			cq := m.create(15, change)
			with := func(a *libmlx5.QPInitAttr) { a.SendCQ, a.RecvCQ, a.Cap.MaxRecvWR = cq, cq, 32 }
			gone, _ := m.rc(with)
			stays, _ := m.rc(with)
			for i := range uint64(16) {
				_, err := stays.PostRecv(&libmlx5.RecvWR{WRID: 100 + i})
				require.NoError(t, err)
				_, err = gone.PostRecv(&libmlx5.RecvWR{})
				require.NoError(t, err)
			}
			for range 11 {
				m.receive(cq, 0, 0)
				m.one(cq)
			}
			for i, uidx := range []uint32{0, 1, 0, 0, 1, 1, 0, 1} {
				require.NoError(t, m.dev.HW.Complete(cq.CQN, hw.Completion{
					Opcode: ifc.MLX5_CQE_RESP_SEND, UserIndex: uidx, ByteCount: uint32(i)}))
			}
			require.NoError(t, gone.Destroy())
			wc := make([]libmlx5.WC, 16)
			n, err := cq.Poll(wc)
			require.NoError(t, err)
			require.Equal(t, 4, n)
			for i, length := range []uint32{1, 4, 5, 7} {
				require.Equal(t, 100+uint64(i), wc[i].WRID)
				require.Equal(t, length, wc[i].ByteLen)
			}
			for range 12 { // on into the next rounds
				m.receive(cq, 1, 0)
				m.one(cq)
			}
		})
	}
}

// TestDestroyedWithSharedRequests: its requests on a shared receive queue are
// free again.
func TestDestroyedWithSharedRequests(t *testing.T) {
	m := boot(t)
	srq, qp, cq := m.shared(3, 1)
	require.NoError(t, m.postSRQ(srq, 1, 2, 3))
	require.ErrorIs(t, m.postSRQ(srq, 4), libmlx5.ErrSRQFull)
	m.receive(cq, 0, 0)
	m.receive(cq, 0, 1)
	require.NoError(t, qp.Destroy())
	require.NoError(t, m.postSRQ(srq, 4, 5))
	require.ErrorIs(t, m.postSRQ(srq, 6), libmlx5.ErrSRQFull)
	n, err := cq.Poll(make([]libmlx5.WC, 1))
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, srq.Destroy())
}

// TestReset: a queue pair that is reset loses its completions.
func TestReset(t *testing.T) {
	m := boot(t)
	qp, cq := m.rc(nil)
	_, err := qp.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND})
	require.NoError(t, err)
	m.completeSend(qp, cq, 0, 0)
	require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_RESET}, verbs.IBV_QP_STATE))
	n, err := cq.Poll(make([]libmlx5.WC, 1))
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, make([]byte, 8), m.load(qp.Buffer().Record, 8))
}

// put writes an entry into the queue as a device does, with the data of a short
// message in it. scatter is 4 for up to 32 bytes and 8 for up to 64.
func (m *machine) put(cq *libmlx5.CQ, index int, op, scatter byte, change func(cqe []byte), data []byte) {
	b := cq.Buffer()
	entry := make([]byte, b.CQESize)
	cqe := entry[b.CQESize-64:]
	cqe[63] = op<<4 | scatter
	binary.BigEndian.PutUint32(cqe[44:], uint32(len(data)))
	if change != nil {
		change(cqe)
	}
	copy(entry[map[byte]int{4: int(b.CQESize) - 64, 8: 0}[scatter]:], data)
	require.True(m.t, m.proc.Store(b.Addr+copyuser.Addr(index*int(b.CQESize)), entry))
}

// TestScatterToCQE: a short message can be in its entry; the library copies it to
// where the request wants it.
func TestScatterToCQE(t *testing.T) {
	m := boot(t)
	at, err := verbs.Alloc(m.proc, 4096)
	require.NoError(t, err)
	data := []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789")
	pieces := []verbs.SGE{{Addr: at, Length: 10, LKey: 1}, {Addr: at + 100, Length: 50, LKey: 1}}
	big := func(a *libmlx5.CQInitAttr) { a.CQESize = 128 }
	check := func(t *testing.T, n int) {
		require.Equal(t, string(data[:10]), string(m.load(at, 10)))
		require.Equal(t, string(data[10:n]), string(m.load(at+100, n-10)))
		require.Equal(t, make([]byte, 8), m.load(at+100+copyuser.Addr(n-10), 8))
		require.True(t, m.proc.Store(at, make([]byte, 4096)))
	}
	t.Run("receive, 32", func(t *testing.T) {
		qp, cq := m.rc(nil)
		_, err := qp.PostRecv(&libmlx5.RecvWR{SGList: pieces})
		require.NoError(t, err)
		m.put(cq, 0, 2, 4, nil, data[:20])
		require.Equal(t, libmlx5.IBV_WC_SUCCESS, m.one(cq).Status)
		check(t, 20)
		require.NoError(t, qp.Destroy())
	})
	t.Run("receive, 64", func(t *testing.T) {
		cq := m.create(15, big)
		qp, _ := m.rc(func(a *libmlx5.QPInitAttr) { a.RecvCQ = cq })
		_, err := qp.PostRecv(&libmlx5.RecvWR{SGList: pieces})
		require.NoError(t, err)
		m.put(cq, 0, 2, 8, nil, data[:46])
		require.Equal(t, uint32(46), m.one(cq).ByteLen)
		check(t, 46)
		require.NoError(t, qp.Destroy())
	})
	t.Run("shared queue", func(t *testing.T) {
		srq, qp, cq := m.shared(3, 3)
		_, err := srq.PostRecv(&libmlx5.RecvWR{SGList: pieces})
		require.NoError(t, err)
		m.put(cq, 0, 2, 4, nil, data[:30])
		m.one(cq)
		check(t, 30)
		require.NoError(t, qp.Destroy())
		require.NoError(t, srq.Destroy())
	})
	t.Run("too long for the pieces", func(t *testing.T) {
		qp, cq := m.rc(nil)
		_, err := qp.PostRecv(&libmlx5.RecvWR{SGList: pieces[:1]})
		require.NoError(t, err)
		m.put(cq, 0, 2, 4, nil, data[:20])
		require.Equal(t, libmlx5.IBV_WC_LOC_LEN_ERR, m.one(cq).Status)
		require.True(t, m.proc.Store(at, make([]byte, 4096)))
		require.NoError(t, qp.Destroy())
	})
	t.Run("read, over the queue's end", func(t *testing.T) {
		qp, cq := m.rc(func(a *libmlx5.QPInitAttr) { a.Cap.MaxSendSGE = 3 })
		for i := range uint16(15) {
			_, err := qp.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND})
			require.NoError(t, err)
			m.completeSend(qp, cq, 0, i)
			m.one(cq)
		}
		three := append(sge(at, 10, 1), sge(at+100, 5, 1)...)
		_, err := qp.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_READ, SGList: append(three, sge(at+105, 50, 1)...)})
		require.NoError(t, err)
		m.put(cq, 15, 0, 4, func(cqe []byte) {
			cqe[56] = 0x10
			binary.BigEndian.PutUint16(cqe[60:], 15)
		}, data[:25])
		require.Equal(t, libmlx5.IBV_WC_RDMA_READ, m.one(cq).Opcode)
		check(t, 25)
		require.NoError(t, qp.Destroy())
	})
	t.Run("atomic", func(t *testing.T) {
		qp, cq := m.rc(nil)
		_, err := qp.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, SGList: sge(at, 8, 1),
			Atomic: libmlx5.AtomicWR{CompareAdd: 8 << 32}})
		require.NoError(t, err)
		m.put(cq, 0, 0, 4, func(cqe []byte) { cqe[56] = 0x12 }, data[:8])
		require.Equal(t, uint32(8), m.one(cq).ByteLen)
		require.Equal(t, "01234567", string(m.load(at, 8)))
		require.NoError(t, qp.Destroy())
	})
}

// TestExtendedPolling: the same completions by the functions of ibv_cq_ex.
func TestExtendedPolling(t *testing.T) {
	m := boot(t)
	qp, cq := m.rc(nil)
	require.ErrorIs(t, cq.StartPoll(), libmlx5.ErrNoEntry)
	for i := range uint64(3) {
		_, err := qp.PostRecv(&libmlx5.RecvWR{WRID: 30 + i})
		require.NoError(t, err)
	}
	_, err := qp.PostSend(&libmlx5.SendWR{WRID: 40, Opcode: verbs.IBV_WR_SEND})
	require.NoError(t, err)
	for _, c := range []hw.Completion{
		{Opcode: ifc.MLX5_CQE_RESP_SEND_IMM, QPN: qp.Num, Immediate: 0x0a0b0c0d, ByteCount: 77, MLPath: 0x85, SLID: 0x1234, FlagsRQPN: 0x15000099, VLANInfo: 0x55},
		{Opcode: ifc.MLX5_CQE_RESP_SEND_INV, QPN: qp.Num, Immediate: 0x11223344},
		{Opcode: ifc.MLX5_CQE_REQ, SendOpcode: 0x0a, QPN: qp.Num},
		{Opcode: ifc.MLX5_CQE_RESP_ERR, QPN: qp.Num, Syndrome: 1, VendorSyndrome: 0x68},
	} {
		require.NoError(t, m.dev.HW.Complete(cq.CQN, c))
	}
	require.NoError(t, cq.StartPoll())
	require.Equal(t, uint64(30), cq.WRID())
	require.Equal(t, libmlx5.IBV_WC_SUCCESS, cq.Status())
	require.Equal(t, libmlx5.IBV_WC_RECV, cq.ReadOpcode())
	require.Equal(t, uint8(libmlx5.IBV_WC_WITH_IMM|libmlx5.IBV_WC_GRH), cq.ReadWCFlags())
	require.Equal(t, []uint32{77, 0x0a0b0c0d, qp.Num, 0x99}, []uint32{cq.ReadByteLen(), cq.ReadImm(), cq.ReadQPNum(), cq.ReadSrcQP()})
	require.Equal(t, []uint16{0x1234, 0x55}, []uint16{cq.ReadSLID(), cq.ReadCVLAN()})
	require.Equal(t, []uint8{5, 5}, []uint8{cq.ReadSL(), cq.ReadDLIDPathBits()})
	require.NotZero(t, cq.ReadCompletionTS())
	require.NoError(t, cq.NextPoll())
	require.Equal(t, uint64(31), cq.WRID())
	require.Equal(t, uint8(libmlx5.IBV_WC_WITH_INV), cq.ReadWCFlags())
	require.Equal(t, uint32(0x11223344), cq.ReadImm())
	require.Equal(t, make([]byte, 4), m.load(cq.Record(), 4), "the device is told at the end")
	require.NoError(t, cq.NextPoll())
	require.Equal(t, uint64(40), cq.WRID())
	require.Equal(t, libmlx5.IBV_WC_SEND, cq.ReadOpcode())
	require.NoError(t, cq.NextPoll())
	require.Equal(t, libmlx5.IBV_WC_LOC_LEN_ERR, cq.Status())
	require.Equal(t, uint8(0x68), cq.ReadVendorErr())
	require.ErrorIs(t, cq.NextPoll(), libmlx5.ErrNoEntry)
	require.NoError(t, cq.EndPoll())
	require.Equal(t, []byte{0, 0, 0, 4}, m.load(cq.Record(), 4))

	_, err = qp.PostRecv(&libmlx5.RecvWR{WRID: 45, Next: &libmlx5.RecvWR{WRID: 46}})
	require.NoError(t, err)
	m.receive(cq, 0, 0)
	require.NoError(t, cq.StartPoll())
	require.ErrorIs(t, cq.NextPoll(), libmlx5.ErrNoEntry)
	m.receive(cq, 0, 0)
	require.NoError(t, cq.NextPoll(), "it came during the series")
	require.Equal(t, uint64(46), cq.WRID())
	require.NoError(t, cq.EndPoll())

	for i := range uint64(2) {
		_, err := qp.PostRecv(&libmlx5.RecvWR{WRID: 50 + i})
		require.NoError(t, err)
		m.receive(cq, 0, 0)
	}
	var ids []uint64
	require.NoError(t, cq.PollEx(func() { ids = append(ids, cq.WRID()) }))
	require.Equal(t, []uint64{50, 51}, ids)
	require.NoError(t, cq.PollEx(func() { t.Error("there is nothing") }))
}

// TestOldCompletions: a device that knows no user indices names queues by their
// numbers.
func TestOldCompletions(t *testing.T) {
	old, err := hw.Recorded.With(map[string]uint64{"cqe_version": 0})
	require.NoError(t, err)
	m := bootWith(t, old)
	require.Zero(t, m.ctx.Resp.CQEVersion)
	qp, cq := m.rc(nil)
	srq, shared, sharedCQ := m.shared(3, 1)
	_, err = qp.PostSend(&libmlx5.SendWR{WRID: 1, Opcode: verbs.IBV_WR_SEND})
	require.NoError(t, err)
	_, err = qp.PostRecv(&libmlx5.RecvWR{WRID: 2})
	require.NoError(t, err)
	require.NoError(t, m.postSRQ(srq, 3, 4, 5))
	complete := func(cq *libmlx5.CQ, op uint8, qpn, srqn uint32, counter uint16) {
		require.NoError(t, m.dev.HW.Complete(cq.CQN, hw.Completion{Opcode: op, QPN: qpn, UserIndex: srqn, WQECounter: counter}))
	}
	complete(cq, ifc.MLX5_CQE_REQ, qp.Num, 0, 0)
	complete(cq, ifc.MLX5_CQE_RESP_SEND, qp.Num, 0, 0)
	complete(sharedCQ, ifc.MLX5_CQE_RESP_SEND, shared.Num, srq.SRQN, 1)
	require.Equal(t, uint64(1), m.one(cq).WRID)
	require.Equal(t, uint64(2), m.one(cq).WRID)
	require.Equal(t, uint64(4), m.one(sharedCQ).WRID)

	complete(sharedCQ, ifc.MLX5_CQE_RESP_SEND, shared.Num, srq.SRQN, 0)
	require.NoError(t, shared.Destroy())
	n, err := sharedCQ.Poll(make([]libmlx5.WC, 1))
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, m.postSRQ(srq, 6, 7), "both places are free")
	require.NoError(t, srq.Destroy())
	complete(sharedCQ, ifc.MLX5_CQE_RESP_SEND, 0, srq.SRQN, 0)
	_, err = sharedCQ.Poll(make([]libmlx5.WC, 1))
	require.ErrorIs(t, err, libmlx5.ErrPoll)
	require.NoError(t, qp.Destroy())
	complete(cq, ifc.MLX5_CQE_REQ, qp.Num, 0, 0)
	_, err = cq.Poll(make([]libmlx5.WC, 1))
	require.ErrorIs(t, err, libmlx5.ErrPoll)
}
