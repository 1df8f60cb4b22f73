package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// layoutQP is a queue pair whose commands are written byte by byte, at the offsets
// that struct mlx5_ifc_create_qp_in_bits, mlx5_ifc_qpc_bits and mlx5_ifc_ads_bits of
// include/linux/mlx5/mlx5_ifc.h have: the context begins at byte 24 of each command
// and of the answer to QUERY_QP. Its other end is itself.
type layoutQP struct {
	*objectRig
	n        uint64
	rcqn     uint32
	counters uint64
	has      []at // what QUERY_QP answers
}

// Where the queue pair's memory is: two pages of 8 KiB, its record, and its data.
const (
	layoutPages  = 0x40000000
	layoutRecord = 0x48000008
	layoutRQ     = layoutPages + 3*8192/64 // two entries of 64 bytes
	layoutSQ     = layoutRQ + 2*64         // four blocks
)

func newLayoutQP(t testing.TB) *layoutQP {
	q := &layoutQP{objectRig: newObjectRig(t)}
	q.setGID(3, testGID(0x77))
	q.rcqn = q.createCQ(cqOptions{log: 4, eqn: q.eqn, buffer: []Addr{0x4a000000}, record: 0x48000040})
	q.counters = uint64(q.made(cmd(0x771, 0, 0, 0)))
	context := []at{
		{25, 1, 0},            // st: RC
		{28, 1, 0x40},         // block_lb_mc
		{29, 3, uint64(q.pd)}, // pd
		{33, 1, 1<<3 | 2},     // log_rq_size, log_rq_stride (64 bytes)
		{34, 1, 2 << 3},       // log_sq_size
		{37, 3, uint64(q.uar)},
		{41, 3, 0x8765},         // user_index
		{44, 1, 1},              // log_page_size
		{149, 3, uint64(q.cqn)}, // cqn_snd
		{170, 2, 3 << 6},        // page_offset
		{181, 3, uint64(q.rcqn)},
		{184, 8, layoutRecord},
	}
	in := cmd(0x500, 0, 0, 16, context...)
	at{272, 8, layoutPages}.put(in)
	at{280, 8, layoutPages + 8192}.put(in)
	q.n = uint64(q.made(in))
	q.set(context...)
	q.set(at{161, 3, 0xffffff}) // last_acked_psn: the one before next_send_psn
	return q
}

// set says what QUERY_QP answers from now on.
func (q *layoutQP) set(numbers ...at) { q.has = append(q.has, numbers...) }

// move runs a command that changes the queue pair's state, with an opt_param_mask.
func (q *layoutQP) move(op uint16, mask uint64, numbers ...at) {
	q.t.Helper()
	q.answers(cmd(op, 0, 0, 0, append([]at{{8, 4, q.n}, {16, 4, mask}}, numbers...)...))
}

func (q *layoutQP) holds(why string) {
	q.t.Helper()
	q.t.Log(why)
	q.answers(query(0x50b, uint32(q.n)), q.has...)
}

// init, rtr and rts are the three steps of a connection.
func (q *layoutQP) init() {
	context := []at{
		{26, 1, 3 << 3},     // pm_state
		{36, 1, q.counters}, // counter_set_id
		{50, 2, 0},          // pkey_index
		{85, 1, 1},          // vhca_port_num
		{169, 1, 1},         // atomic_mode
		{170, 2, 0xe<<12 | 3<<6},
		{192, 4, 0x11223344}, // q_key
	}
	q.move(0x502, 0, append(context, at{29, 3, 0xabc}, at{41, 3, 0xabc}, at{149, 3, 0xabc})...) // nothing else is taken
	q.set(at{24, 1, 1 << 4}, at{170, 2, 0xe<<12 | 3<<6})
	q.set(context...)
}

func (q *layoutQP) rtr() {
	gid := testGID(0x77)
	context := []at{
		{32, 1, 3<<5 | 30}, // mtu: 1024, log_msg_max
		{45, 3, q.n},       // remote_qpn
		{53, 1, 0x80},      // grh
		{57, 1, 3},         // src_addr_index
		{58, 1, 5},         // stat_rate
		{59, 1, 63},        // hop_limit
		{60, 4, 0x46<<20 | 0x54321},
		{64, 8, binary.BigEndian.Uint64(gid[:])},
		{72, 8, binary.BigEndian.Uint64(gid[8:])},
		{82, 2, 0xc123},         // udp_sport
		{84, 1, 2<<4 | 6},       // eth_prio, sl
		{86, 6, 0x0200deadbeef}, // rmac
		{172, 1, 12},            // min_rnr_nak
		{173, 3, 0xfffffe},      // next_rcv_psn
	}
	q.move(0x503, 0, append(context, at{169, 1, 2<<5 | 7}, at{192, 4, 7})...)
	q.set(context...)
	q.set(at{24, 1, 2 << 4}, at{169, 1, 2<<5 | 1}) // log_rra_max, and not the atomic_mode beside it
}

func (q *layoutQP) rts() {
	context := []at{
		{56, 1, 14 << 3},   // ack_timeout
		{137, 1, 3<<5 | 6}, // log_sra_max, retry_count
		{145, 3, 0xfffffe}, // next_send_psn
	}
	q.move(0x504, 0, append(context, at{138, 1, 5 << 5})...) // rnr_retry
	q.set(context...)
	q.set(at{24, 1, 3 << 4}, at{138, 1, 5<<5 | 5}, // rnr_retry, cur_rnr_retry
		at{139, 1, 6 << 5},   // cur_retry_count
		at{161, 3, 0xfffffd}) // last_acked_psn
}

// send lets the queue pair send itself an empty message.
func (q *layoutQP) send() {
	recv := make([]byte, 64)
	at{4, 4, 0x100}.put(recv) // no data
	q.mem.set(layoutRQ, recv)
	wqe := make([]byte, 64)
	at{0, 4, 0<<8 | 0x0a}.put(wqe) // SEND
	at{4, 4, q.n<<8 | 1}.put(wqe)
	wqe[11] = 8
	q.mem.set(layoutSQ, wqe)
	q.mem.set(layoutRecord, []byte{0, 0, 0, 1, 0, 0, 0, 1})
	q.UARPage(q.uar).Store(0x800, wqe[:8])
	settle(q.rig)
}

// TestQPLayout: each command about queue pairs takes from its context what it is
// there for, and nothing else.
func TestQPLayout(t *testing.T) {
	q := newLayoutQP(t)
	q.holds("CREATE_QP")
	q.init()
	q.holds("RST2INIT_QP")
	q.move(0x50e, 1<<4|1<<5|1<<3|1<<16, at{50, 2, 2}, at{85, 1, 9}, at{170, 1, 0x20}, at{192, 4, 0x55667788}, at{36, 1, 99})
	q.set(at{50, 2, 2}, at{85, 1, 9}, at{170, 2, 0xa<<12 | 3<<6}, at{192, 4, 0x55667788})
	q.holds("INIT2INIT_QP: P_Key index, Q_Key, remote writes, port")
	q.rtr()
	q.holds("INIT2RTR_QP")
	q.rts()
	q.holds("RTR2RTS_QP")
	q.move(0x505, 1<<6|1<<1, at{170, 1, 0x00}, at{172, 1, 31}, at{192, 4, 1}, at{45, 3, 1}, at{145, 3, 1}, at{173, 3, 1})
	q.set(at{170, 2, 0x2<<12 | 3<<6}, at{172, 1, 31})
	q.holds("RTS2RTS_QP: the receiver's timer, remote reads")

	q.send()
	q.set(at{145, 3, 0xffffff}, at{161, 3, 0xfffffe}, at{173, 3, 0xffffff},
		at{204, 2, 1}, at{206, 2, 1}, at{208, 4, 1}, at{212, 4, 1}) // hw_sq, sw_sq, hw_rq and sw_rq counters
	q.holds("a message")
	sent, got := q.mem.get(cqBuffer, CQESize), q.mem.get(0x4a000000, CQESize)
	require.Equal(t, []byte{0x0a, 0, 0, byte(q.n)}, sent[56:60])
	require.Equal(t, byte(0x00), sent[63])
	require.Equal(t, byte(0x20), got[63])
	for _, e := range [][]byte{sent, got} {
		require.Equal(t, uint32(0x8765), binary.BigEndian.Uint32(e[32:]))
	}

	q.answers(query(0x507, uint32(q.n)))
	q.set(at{24, 1, 6 << 4})
	q.holds("2ERR_QP")
	q.refused(cmd(0x506, 0, 0, 0, at{8, 4, q.n}), badQPState)
	q.answers(query(0x50a, uint32(q.n)))
	q.set(at{24, 1, 0}, at{138, 1, 5 << 5}, at{139, 1, 0}, at{145, 3, 0}, at{161, 3, 0xffffff}, at{173, 3, 0},
		at{204, 8, 0}, at{212, 4, 0})
	q.holds("2RST_QP")
	q.answers(query(0x501, uint32(q.n)))
	q.refused(query(0x50b, uint32(q.n)), noSuchObject)
	q.refused(query(0x501, uint32(q.n)), noSuchObject)
}

// TestQPLayoutOfSendError: a datagram queue pair whose send queue stopped goes on
// with SQERR2RTS_QP.
func TestQPLayoutOfSendError(t *testing.T) {
	e := newRig(t, checking).newEnd(endOptions{service: 2, base: 0x10000000, gid: 1})
	e.connect(e, connection{})
	e.post(wr{op: 0x77})
	settleEnds(e)
	e.ends(cmd(0x506, 0, 0, 0, at{8, 4, uint64(e.qpn)}, at{16, 4, 1 << 5}, at{192, 4, 0x99}, at{172, 1, 4}), MLX5_CMD_STAT_OK)
	out, s := e.exec(query(0x50b, e.qpn))
	require.Equal(t, MLX5_CMD_STAT_OK, s)
	require.Equal(t, byte(3<<4), out[24])
	require.Equal(t, uint32(0x99), binary.BigEndian.Uint32(out[192:]))
	require.Zero(t, out[172])
}
