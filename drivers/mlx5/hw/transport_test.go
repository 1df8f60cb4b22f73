package hw

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// TestSend: messages of all lengths around the MTU arrive whole, on a connection
// of each kind that has them, within one device and between two.
func TestSend(t *testing.T) {
	for name, service := range map[string]uint8{"RC": ifc.MLX5_QP_ST_RC, "UC": ifc.MLX5_QP_ST_UC} {
		for _, n := range []int{0, 1, 64, 255, 256, 257, 512, 1000, 70000} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				a, b := pair(t, service, connection{mtu: 1})
				want := texture(n, 3)
				a.fill(0, want)
				b.receive(b.data(4096, max(n, 1)))
				w := wr{op: ifc.MLX5_OPCODE_SEND}
				if n > 0 {
					w.sgl = []seg{a.data(0, n/2+1), a.data(n/2+1, n-n/2-1)}[:min(n, 2)]
				}
				if n == 1 {
					w.sgl = []seg{a.data(0, 1)}
				}
				a.post(w)
				settleEnds(a)
				require.Equal(t, []cqe{{op: ifc.MLX5_CQE_REQ, send: ifc.MLX5_OPCODE_SEND, qpn: a.qpn, index: 0x100}}, a.poll())
				require.Equal(t, []cqe{{op: ifc.MLX5_CQE_RESP_SEND, qpn: b.qpn, n: uint32(n), index: 0x200}}, b.poll())
				require.Equal(t, want, b.bytes(4096, n))
			})
		}
	}
}

// TestSendForms: what a receiver is told beside the data.
func TestSendForms(t *testing.T) {
	for name, tt := range map[string]struct {
		op, flags uint8
		want      cqe
	}{
		"immediate": {op: ifc.MLX5_OPCODE_SEND_IMM, want: cqe{op: ifc.MLX5_CQE_RESP_SEND_IMM, imm: 0xabcdef01}},
		"solicited": {op: ifc.MLX5_OPCODE_SEND, flags: ifc.MLX5_WQE_CTRL_SOLICITED,
			want: cqe{op: ifc.MLX5_CQE_RESP_SEND, solicited: true}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t, ifc.MLX5_QP_ST_RC, connection{})
			b.receive(b.data(0, 100))
			a.post(wr{op: tt.op, flags: tt.flags, imm: 0xabcdef01, inline: []byte("twelve bytes")})
			settleEnds(a)
			tt.want.qpn, tt.want.n, tt.want.index = b.qpn, 12, 0x200
			require.Equal(t, []cqe{tt.want}, b.poll())
			require.Equal(t, "twelve bytes", string(b.bytes(0, 12)))
		})
	}
}

// TestWrite: RDMA WRITE, with immediate data and without.
func TestWrite(t *testing.T) {
	a, b := pair(t, ifc.MLX5_QP_ST_RC, connection{mtu: 2})
	want := texture(5000, 9)
	a.fill(100, want)
	to := b.data(0x3001, 5000)
	a.post(wr{op: ifc.MLX5_OPCODE_RDMA_WRITE, remote: &to, sgl: []seg{a.data(100, 5000)}})
	settleEnds(a)
	require.Equal(t, []cqe{{op: ifc.MLX5_CQE_REQ, send: ifc.MLX5_OPCODE_RDMA_WRITE, qpn: a.qpn, index: 0x100}}, a.poll())
	require.Empty(t, b.poll(), "the other end is not told")
	require.Equal(t, want, b.bytes(0x3001, 5000))

	b.receive(b.data(0, 1))
	a.post(wr{op: ifc.MLX5_OPCODE_RDMA_WRITE_IMM, remote: &to, imm: 7, sgl: []seg{a.data(101, 4999)}})
	settleEnds(a)
	require.Len(t, a.poll(), 1)
	require.Equal(t, []cqe{{op: ifc.MLX5_CQE_RESP_WR_IMM, qpn: b.qpn, n: 4999, imm: 7, index: 0x200}}, b.poll())
	require.Equal(t, want[1:], b.bytes(0x3001, 4999))
}

// TestRead: RDMA READ into several segments.
func TestRead(t *testing.T) {
	a, b := pair(t, ifc.MLX5_QP_ST_RC, connection{mtu: 1})
	want := texture(3000, 5)
	b.fill(0x10, want)
	from := b.data(0x10, 3000)
	a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{a.data(0, 700), a.data(0x2000, 2300)}})
	settleEnds(a)
	require.Equal(t, []cqe{{op: ifc.MLX5_CQE_REQ, send: ifc.MLX5_OPCODE_RDMA_READ, qpn: a.qpn, n: 3000, index: 0x100}}, a.poll())
	require.Equal(t, want[:700], a.bytes(0, 700))
	require.Equal(t, want[700:], a.bytes(0x2000, 2300))
}

// TestAtomic: what was there comes back, and what is there afterwards. Memory is
// little-endian as the host is.
func TestAtomic(t *testing.T) {
	for name, tt := range map[string]struct {
		op       uint8
		before   uint64
		operands [2]uint64
		after    uint64
	}{
		"swap, equal":     {ifc.MLX5_OPCODE_ATOMIC_CS, 5, [2]uint64{77, 5}, 77},
		"swap, different": {ifc.MLX5_OPCODE_ATOMIC_CS, 6, [2]uint64{77, 5}, 6},
		"add":             {ifc.MLX5_OPCODE_ATOMIC_FA, 6, [2]uint64{1<<40 + 3, 0}, 1<<40 + 9},
		"add, wrapping":   {ifc.MLX5_OPCODE_ATOMIC_FA, 6, [2]uint64{^uint64(0), 0}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t, ifc.MLX5_QP_ST_RC, connection{})
			b.fill(0x88, binary.LittleEndian.AppendUint64(nil, tt.before))
			at := b.data(0x88, 8)
			a.post(wr{op: tt.op, remote: &at, atomic: tt.operands, sgl: []seg{a.data(0, 8)}})
			settleEnds(a)
			require.Equal(t, []cqe{{op: ifc.MLX5_CQE_REQ, send: tt.op, qpn: a.qpn, n: 8, index: 0x100}}, a.poll())
			require.Equal(t, tt.before, binary.LittleEndian.Uint64(a.bytes(0, 8)))
			require.Equal(t, tt.after, binary.LittleEndian.Uint64(b.bytes(0x88, 8)))
		})
	}
}

// TestErrors: each way in which a request can fail, with what both ends are told.
func TestErrors(t *testing.T) {
	type events []uint8
	for name, tt := range map[string]struct {
		c       connection
		recv    func(b *end)
		post    func(a, b *end) wr
		syn     uint8 // at the sender
		atRecv  uint8 // at the receiver, 0 for no completion
		events  events
		bothErr bool
	}{
		"local key": {
			post: func(a, b *end) wr {
				return wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{{key: a.key + 1, addr: a.base + endData, n: 8}}}
			},
			syn: ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
		},
		"local bounds": {
			post: func(a, b *end) wr {
				return wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{a.data(endSize-endData-4, 8)}}
			},
			syn: ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
		},
		"unknown opcode": {
			post: func(a, b *end) wr { return wr{op: 0x77} },
			syn:  ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR,
		},
		"remote key": {
			post: func(a, b *end) wr {
				return wr{op: ifc.MLX5_OPCODE_RDMA_WRITE, remote: &seg{key: b.key ^ 1, addr: b.base + endData}, sgl: []seg{a.data(0, 8)}}
			},
			syn: ifc.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, events: events{ifc.MLX5_EVENT_TYPE_WQ_ACCESS_ERROR}, bothErr: true,
		},
		"remote bounds": {
			post: func(a, b *end) wr {
				at := b.data(endSize-endData-4, 0)
				return wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &at, sgl: []seg{a.data(0, 8)}}
			},
			syn: ifc.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, events: events{ifc.MLX5_EVENT_TYPE_WQ_ACCESS_ERROR}, bothErr: true,
		},
		"writes not allowed": {
			c: connection{noWrite: true},
			post: func(a, b *end) wr {
				at := b.data(0, 0)
				return wr{op: ifc.MLX5_OPCODE_RDMA_WRITE, remote: &at, sgl: []seg{a.data(0, 8)}}
			},
			syn: ifc.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, events: events{ifc.MLX5_EVENT_TYPE_WQ_ACCESS_ERROR}, bothErr: true,
		},
		"reads not allowed": {
			c: connection{noRead: true},
			post: func(a, b *end) wr {
				at := b.data(0, 0)
				return wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &at, sgl: []seg{a.data(0, 8)}}
			},
			syn: ifc.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, events: events{ifc.MLX5_EVENT_TYPE_WQ_ACCESS_ERROR}, bothErr: true,
		},
		"atomic not aligned": {
			post: func(a, b *end) wr {
				at := b.data(4, 0)
				return wr{op: ifc.MLX5_OPCODE_ATOMIC_FA, remote: &at, sgl: []seg{a.data(0, 8)}}
			},
			syn: ifc.MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, events: events{ifc.MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR}, bothErr: true,
		},
		"receive too small": {
			recv:   func(b *end) { b.receive(b.data(0, 7)) },
			post:   func(a, b *end) wr { return wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{a.data(0, 8)}} },
			syn:    ifc.MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
			atRecv: ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, bothErr: true,
		},
		"receive's key": {
			recv:   func(b *end) { b.receive(seg{key: b.key ^ 2, addr: b.base + endData, n: 8}) },
			post:   func(a, b *end) wr { return wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{a.data(0, 8)}} },
			syn:    ifc.MLX5_CQE_SYNDROME_REMOTE_OP_ERR,
			atRecv: ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, bothErr: true,
		},
		"key to invalidate": {
			recv:   func(b *end) { b.receive(b.data(0, 8)) },
			post:   func(a, b *end) wr { return wr{op: ifc.MLX5_OPCODE_SEND_INVAL, imm: 0x123456, sgl: []seg{a.data(0, 8)}} },
			syn:    ifc.MLX5_CQE_SYNDROME_REMOTE_OP_ERR,
			atRecv: ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, bothErr: true,
		},
		"no receive": {
			post: func(a, b *end) wr { return wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{a.data(0, 8)}} },
			syn:  ifc.MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR,
		},
		"nobody there": {
			c: connection{timeout: 1, retries: 0},
			post: func(a, b *end) wr {
				require.Equal(a.t, MLX5_CMD_STAT_OK, b.transit(ifc.MLX5_CMD_OP_2RST_QP, nil))
				return wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{a.data(0, 8)}}
			},
			syn: ifc.MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t, ifc.MLX5_QP_ST_RC, tt.c)
			if tt.recv != nil {
				tt.recv(b)
			}
			w := tt.post(a, b)
			w.quiet = true // an error is told in any case
			a.post(w)
			a.post(wr{op: ifc.MLX5_OPCODE_NOP, quiet: true})
			settleEnds(a)
			a.fabric.Advance(time.Second)
			settleEnds(a)
			got := a.poll()
			require.Len(t, got, 2)
			require.Equal(t, cqe{op: ifc.MLX5_CQE_REQ_ERR, syndrome: tt.syn, send: w.op, qpn: a.qpn, index: 0x100}, got[0])
			require.Equal(t, uint8(ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR), got[1].syndrome)
			require.Equal(t, uint8(ifc.MLX5_QP_STATE_ERR), a.state(a.qpn))
			require.Equal(t, tt.bothErr, b.state(b.qpn) == ifc.MLX5_QP_STATE_ERR)
			var at []uint8
			for _, c := range b.poll() {
				require.Equal(t, uint8(ifc.MLX5_CQE_RESP_ERR), c.op)
				at = append(at, c.syndrome)
			}
			if tt.atRecv == 0 {
				require.Empty(t, at)
			} else {
				require.Equal(t, []uint8{tt.atRecv}, at)
			}
			var raised events
			for _, e := range a.events {
				if qpn, typ := e.QP(); qpn == b.qpn && typ == 0 {
					raised = append(raised, e.Type)
				}
			}
			// Both ends' event queues are asked for every type.
			var want events
			for _, typ := range tt.events {
				want = append(want, typ, typ)
			}
			require.Equal(t, want, raised)
		})
	}
}

// state asks for a queue pair's state.
func (e *end) state(qpn uint32) uint8 {
	out, s := e.exec(named(ifc.MLX5_CMD_OP_QUERY_QP, 0, qpn))
	require.Equal(e.t, MLX5_CMD_STAT_OK, s)
	return uint8(qpc.state.Get(qpContextOut.Bytes(out)))
}

// TestNotReady: a sender waits for the receiver for as long as that says, and as
// often as it may.
func TestNotReady(t *testing.T) {
	const timer = 12 // 640 us
	a, b := pair(t, ifc.MLX5_QP_ST_RC, connection{rnrRetries: 2, rnrTimer: timer})
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("late")})
	settleEnds(a)
	a.fabric.Advance(639 * time.Microsecond)
	require.Zero(t, settleEnds(a))
	b.receive(b.data(0, 4))
	a.fabric.Advance(time.Microsecond)
	settleEnds(a)
	require.Equal(t, uint8(ifc.MLX5_CQE_REQ), a.poll()[0].op)
	require.Equal(t, "late", string(b.bytes(0, 4)))

	a.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("never")})
	for range 2 {
		settleEnds(a)
		require.Empty(t, a.poll())
		a.fabric.Advance(640 * time.Microsecond)
	}
	settleEnds(a)
	require.Equal(t, uint8(ifc.MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR), a.poll()[0].syndrome)
}

// TestFlush: what is posted to a queue pair in error comes back, whether it was
// posted before or after, in order.
func TestFlush(t *testing.T) {
	a, _ := pair(t, ifc.MLX5_QP_ST_RC, connection{})
	for range 3 {
		a.receive(a.data(0, 8))
	}
	require.Equal(t, MLX5_CMD_STAT_OK, a.transit(ifc.MLX5_CMD_OP_2ERR_QP, nil))
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, quiet: true, inline: []byte("x")})
	settleEnds(a)
	a.receive(a.data(0, 8))
	settleEnds(a)
	var send, recv []uint32
	for _, c := range a.poll() {
		require.Equal(t, uint8(ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR), c.syndrome)
		if c.op == ifc.MLX5_CQE_REQ_ERR {
			send = append(send, c.counter)
		} else {
			recv = append(recv, c.counter)
		}
	}
	require.Equal(t, []uint32{0}, send)
	require.Equal(t, []uint32{0, 1, 2, 3}, recv)
}

// TestLossyLink: whatever the link loses, delays and reorders, everything comes
// once and in order.
func TestLossyLink(t *testing.T) {
	for name, link := range map[string]Link{
		"loss":    {Loss: 0.2, Delay: 10 * time.Microsecond, Seed: 1},
		"reorder": {Reorder: 0.1, Delay: 10 * time.Microsecond, Jitter: 35 * time.Microsecond, Seed: 2},
		"both":    {Loss: 0.1, Reorder: 0.1, Delay: 5 * time.Microsecond, Jitter: 50 * time.Microsecond, Seed: 3},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := apart(t, ifc.MLX5_QP_ST_RC, link, connection{mtu: 1, timeout: 5, retries: 7, rnrRetries: 7, rnrTimer: 1, depth: 2})
			const rounds, size = 60, 1000
			counter := b.data(0x9000, 8)
			var sum uint64
			for i := range rounds {
				msg := texture(size, byte(i))
				a.fill(0, msg)
				b.receive(b.data(0, size))
				a.post(wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{a.data(0, size)}})
				at := b.data(0x4000, size)
				a.post(wr{op: ifc.MLX5_OPCODE_RDMA_WRITE, remote: &at, sgl: []seg{a.data(0, size)}})
				a.post(wr{op: ifc.MLX5_OPCODE_ATOMIC_FA, remote: &counter, atomic: [2]uint64{uint64(i), 0}, sgl: []seg{a.data(0x8000, 8)}})
				a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &at, sgl: []seg{a.data(0x6000, size)}})
				var got []cqe
				for tries := 0; len(got) < 4; tries++ {
					require.Less(t, tries, 10000, "it comes to an end")
					settleEnds(a, b)
					got = append(got, a.poll()...)
					a.fabric.Advance(7 * time.Microsecond)
				}
				for j, op := range []uint8{ifc.MLX5_OPCODE_SEND, ifc.MLX5_OPCODE_RDMA_WRITE, ifc.MLX5_OPCODE_ATOMIC_FA, ifc.MLX5_OPCODE_RDMA_READ} {
					require.Equal(t, uint8(ifc.MLX5_CQE_REQ), got[j].op, "syndrome %#x", got[j].syndrome)
					require.Equal(t, op, got[j].send)
				}
				require.Equal(t, msg, b.bytes(0, size))
				require.Equal(t, msg, b.bytes(0x4000, size))
				require.Equal(t, msg, a.bytes(0x6000, size))
				require.Len(t, b.poll(), 1)
				require.Equal(t, sum, binary.LittleEndian.Uint64(a.bytes(0x8000, 8)))
				sum += uint64(i)
			}
			if link.Loss > 0 {
				require.NotZero(t, a.fabric.Lost())
			}
		})
	}
}

// TestRetriesRunOut: a link that loses everything ends the connection after the
// time-outs that it may have.
func TestRetriesRunOut(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{Loss: 1}, connection{timeout: 3, retries: 2})
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("x")})
	for range 3 {
		settleEnds(a, b)
		require.Empty(t, a.poll())
		at, ok := a.NextDeadline()
		require.True(t, ok)
		require.Equal(t, 4096*8*time.Nanosecond, at-a.fabric.Now())
		a.fabric.Advance(at - a.fabric.Now())
	}
	settleEnds(a, b)
	require.Equal(t, uint8(ifc.MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR), a.poll()[0].syndrome)
	require.Equal(t, uint64(3), a.fabric.Lost())
}

// TestFence: a fenced request waits for the reads before it, others do not.
func TestFence(t *testing.T) {
	for _, fenced := range []bool{false, true} {
		t.Run(fmt.Sprint(fenced), func(t *testing.T) {
			a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{Delay: time.Millisecond}, connection{timeout: 20})
			b.fill(0, []byte("new!"))
			from := b.data(0, 4)
			to := b.data(0x100, 4)
			a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{a.data(0, 4)}})
			w := wr{op: ifc.MLX5_OPCODE_RDMA_WRITE, remote: &to, sgl: []seg{a.data(0, 4)}}
			if fenced {
				w.flags = ifc.MLX5_FENCE_MODE_FENCE
			}
			a.post(w)
			for range 8 {
				settleEnds(a, b)
				a.fabric.Advance(time.Millisecond)
			}
			require.Len(t, a.poll(), 2)
			require.Equal(t, fenced, string(b.bytes(0x100, 4)) == "new!")
		})
	}
}

// TestDatagram: a datagram needs the right key, has the route header before its
// data, and says where it comes from.
func TestDatagram(t *testing.T) {
	a, b := pair(t, ifc.MLX5_QP_ST_UD, connection{mtu: 5})
	b.receive(b.data(0, 100))
	a.post(wr{op: ifc.MLX5_OPCODE_SEND_IMM, imm: 9, ud: addressVector(b, 0x9999), inline: []byte("wrong key")})
	a.post(wr{op: ifc.MLX5_OPCODE_SEND_IMM, imm: 9, ud: addressVector(b, 0x1234), inline: []byte("hello")})
	settleEnds(a)
	require.Len(t, a.poll(), 2, "a datagram's sender is not told")
	require.Equal(t, []cqe{{op: ifc.MLX5_CQE_RESP_SEND_IMM, imm: 9, n: 45, qpn: b.qpn, index: 0x200, flags: 1<<28 | 1<<24 | a.qpn}}, b.poll())
	grh := b.bytes(0, 40)
	require.Equal(t, byte(6), grh[0]>>4)
	require.Equal(t, a.gid[:], grh[8:24])
	require.Equal(t, b.gid[:], grh[24:40])
	require.Equal(t, "hello", string(b.bytes(40, 5)))

	b.receive(b.data(0, 100))
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, ud: addressVector(b, privilegedQKey|0x9999), inline: []byte("own key")})
	settleEnds(a)
	require.Len(t, a.poll(), 1)
	require.Equal(t, uint32(47), b.poll()[0].n, "a privileged key stands for the queue pair's own")

	b.receive(b.data(0, 41))
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, ud: addressVector(b, 0x1234), sgl: []seg{a.data(0, 4097)}})
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, ud: addressVector(b, 0x1234)})
	settleEnds(a)
	got := a.poll()
	require.Equal(t, uint8(ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR), got[0].syndrome)
	require.Equal(t, uint8(ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR), got[1].syndrome)
	require.Equal(t, uint8(ifc.MLX5_QP_STATE_SQER), a.state(a.qpn))
	require.Equal(t, MLX5_CMD_STAT_OK, a.transit(ifc.MLX5_CMD_OP_SQERR2RTS_QP, nil))
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, ud: addressVector(b, 0x1234), inline: []byte("z")})
	settleEnds(a)
	require.Equal(t, uint8(ifc.MLX5_CQE_REQ), a.poll()[0].op)
	require.Equal(t, uint32(41), b.poll()[0].n)
}

// addressVector is that of a datagram to an end.
func addressVector(to *end, qkey uint32) []byte {
	be := binary.BigEndian
	av := make([]byte, datagramSegment)
	be.PutUint32(av, qkey)
	be.PutUint32(av[8:], 1<<31|to.qpn)
	av[27] = 64
	be.PutUint32(av[28:], 1<<30)
	copy(av[32:], to.gid[:])
	return av
}

// TestManyAtOnce: more work than any window, both ways, wraps every counter.
func TestManyAtOnce(t *testing.T) {
	a, b := pair(t, ifc.MLX5_QP_ST_RC, connection{mtu: 1, psn: bits24 - 5, rnrRetries: 7, rnrTimer: 1})
	sent, received := 0, 0
	for i := 0; received < 2000; i++ {
		for ; sent < received+8; sent++ {
			b.receive(b.data(0, 64))
			a.post(wr{op: ifc.MLX5_OPCODE_SEND, quiet: sent%4 != 3, inline: binary.BigEndian.AppendUint32(nil, uint32(sent))})
		}
		settleEnds(a)
		for _, c := range b.poll() {
			require.Equal(t, uint8(ifc.MLX5_CQE_RESP_SEND), c.op)
			require.Equal(t, uint32(received)&0xffff, c.counter)
			received++
		}
		for _, c := range a.poll() {
			require.Equal(t, uint8(ifc.MLX5_CQE_REQ), c.op)
		}
		require.Less(t, i, 5000)
	}
}

// TestTransitions: every command in every state.
func TestTransitions(t *testing.T) {
	reach := map[uint8][]uint16{
		ifc.MLX5_QP_STATE_RST:  nil,
		ifc.MLX5_QP_STATE_INIT: {ifc.MLX5_CMD_OP_RST2INIT_QP},
		ifc.MLX5_QP_STATE_RTR:  {ifc.MLX5_CMD_OP_RST2INIT_QP, ifc.MLX5_CMD_OP_INIT2RTR_QP},
		ifc.MLX5_QP_STATE_RTS:  {ifc.MLX5_CMD_OP_RST2INIT_QP, ifc.MLX5_CMD_OP_INIT2RTR_QP, ifc.MLX5_CMD_OP_RTR2RTS_QP},
		ifc.MLX5_QP_STATE_ERR:  {ifc.MLX5_CMD_OP_2ERR_QP},
	}
	leads := map[uint8]map[uint16]uint8{
		ifc.MLX5_QP_STATE_RST:  {ifc.MLX5_CMD_OP_RST2INIT_QP: ifc.MLX5_QP_STATE_INIT},
		ifc.MLX5_QP_STATE_INIT: {ifc.MLX5_CMD_OP_INIT2INIT_QP: ifc.MLX5_QP_STATE_INIT, ifc.MLX5_CMD_OP_INIT2RTR_QP: ifc.MLX5_QP_STATE_RTR},
		ifc.MLX5_QP_STATE_RTR:  {ifc.MLX5_CMD_OP_RTR2RTS_QP: ifc.MLX5_QP_STATE_RTS},
		ifc.MLX5_QP_STATE_RTS:  {ifc.MLX5_CMD_OP_RTS2RTS_QP: ifc.MLX5_QP_STATE_RTS},
	}
	fill := func(ctx []byte) { qpc.mtu.Set(ctx, 3) }
	for from, way := range reach {
		for _, op := range append(slices.Collect(maps.Keys(transitions)), ifc.MLX5_CMD_OP_2ERR_QP, ifc.MLX5_CMD_OP_2RST_QP) {
			t.Run(fmt.Sprintf("%d/%#x", from, op), func(t *testing.T) {
				e := newRig(t, checking).newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 0x10000000, gid: 1})
				for _, step := range way {
					require.Equal(t, MLX5_CMD_STAT_OK, e.transit(step, fill))
				}
				want, ok := leads[from][op]
				switch op {
				case ifc.MLX5_CMD_OP_2ERR_QP:
					want, ok = ifc.MLX5_QP_STATE_ERR, true
				case ifc.MLX5_CMD_OP_2RST_QP:
					want, ok = ifc.MLX5_QP_STATE_RST, true
				}
				s := e.transit(op, fill)
				if !ok {
					require.Equal(t, MLX5_CMD_STAT_BAD_QP_STATE_ERR, s)
					want = from
				} else {
					require.Equal(t, MLX5_CMD_STAT_OK, s)
				}
				require.Equal(t, want, e.state(e.qpn))
			})
		}
	}
}
