package hw

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// queuePair is the queue pair of an end as the device has it.
func (e *end) queuePair() *qp { return e.objects[kindQP].live[e.qpn].as.(*qp) }

// stepping does n steps, or as many as there are.
func (e *end) stepping(n int) {
	for range n {
		e.Step()
	}
}

// results are the syndromes of completions, 0 for those of work that is done.
func results(got []cqe) (syndromes []uint8) {
	for _, c := range got {
		syndromes = append(syndromes, c.syndrome)
	}
	return syndromes
}

// TestMissingAnswer: an acknowledgement that comes without an answer which was due
// before it acknowledges what lies before that, and asks for the answer again.
// This takes one of the retries.
func TestMissingAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		retries     uint64
		first, then []uint8
	}{
		"no retry left": {0, []uint8{0, ifc.MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR}, nil},
		"a retry":       {1, []uint8{0}, []uint8{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{timeout: 20, retries: tt.retries})
			b.receive(b.data(0, 8))
			b.receive(b.data(8, 8))
			b.fill(0x100, []byte("answer"))
			from := b.data(0x100, 6)
			a.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("1st")})
			a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{a.data(0, 6)}})
			a.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("2nd")})
			settleEnds(a)
			a.fabric.SetLink(Link{Loss: 1})
			for a.fabric.Lost() < 2 {
				require.True(t, b.Step(), "the first acknowledgement is lost, and the answer")
			}
			a.fabric.SetLink(Link{})
			settleEnds(b)
			a.Step()
			got := a.poll()
			for a.in.has.Load() == 0 && a.Step() {
				got = append(got, a.poll()...)
			}
			require.Equal(t, tt.first, results(got))
			settleEnds(a, b)
			require.Equal(t, tt.then, results(a.poll()))
			if tt.then != nil {
				require.Equal(t, "answer", string(a.bytes(0, 6)))
			}
		})
	}
}

// TestAnswerBreaksOff: the memory goes while it is read. The reader is told why,
// whichever packet it is.
func TestAnswerBreaksOff(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{mtu: 1, timeout: 10, retries: 7})
	from := b.data(0, 2560)
	a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{a.data(0, 2560)}})
	settleEnds(a)
	b.stepping(5)
	require.Equal(t, MLX5_CMD_STAT_OK, second(b.exec(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, 0, b.key>>8))))
	settleEnds(a, b)
	require.Equal(t, []uint8{ifc.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR}, results(a.poll()))
	require.Equal(t, uint8(ifc.MLX5_QP_STATE_ERR), b.state(b.qpn))
}

func second[A, B any](_ A, b B) B { return b }

// TestMissingAnswerIsAskedForOnce: what was sent behind a lost packet of an answer
// does not ask for it over and over again.
func TestMissingAnswerIsAskedForOnce(t *testing.T) {
	const packets = 64
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{mtu: 1, timeout: 20, retries: 7})
	want := texture(packets*256, 1)
	b.fill(0, want)
	from := b.data(0, len(want))
	a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{a.data(0, len(want))}})
	settleEnds(a)
	b.stepping(4)
	a.fabric.SetLink(Link{Loss: 1})
	b.stepping(1)
	a.fabric.SetLink(Link{})
	n := 0
	for busy := true; busy; n++ {
		busy = b.Step() // both at once: what comes is taken in before more is sent
		busy = a.Step() || busy
	}
	require.Less(t, n, 3*packets)
	require.Equal(t, []uint8{0}, results(a.poll()))
	require.Equal(t, want, a.bytes(0, len(want)))
}

// TestManyPacketsOut: reads are held back before their packet numbers reach half
// way around, from where on those of answers would seem to be old.
func TestManyPacketsOut(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{mtu: 1, depth: 3, timeout: 10, retries: 7})
	key := b.createWholeKey()
	const long = 1 << 30 // 2^22 packets
	for range 3 {
		from := seg{key: key, addr: b.base + endData}
		a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{{a.createWholeKey(), a.base + endData, long}}})
	}
	for range 50 {
		a.stepping(20)
		b.stepping(20)
	}
	require.Less(t, uint32(100), a.queuePair().req.unacked, "answers are taken")
	require.Less(t, (a.queuePair().req.psn-a.queuePair().req.unacked)&bits24, uint32(1<<23))
}

// createWholeKey makes a key of all bus addresses.
func (e *end) createWholeKey() uint32 {
	in := Input(ifc.MLX5_CMD_OP_CREATE_MKEY, 0, 0, 0)
	ctx := ifc.Must("create_mkey_in").Field("memory_key_mkey_entry").Bytes(in)
	m := ifc.Must("mkc")
	for _, one := range []string{"rr", "rw", "lr", "lw", "length64"} {
		m.Field(one).Set(ctx, 1)
	}
	m.Field("qpn").Set(ctx, bits24)
	m.Field("mkey_7_0").Set(ctx, 0x77)
	m.Field("pd").Set(ctx, uint64(e.pdn))
	return e.made(in)<<8 | 0x77
}

// TestAnswerOfOtherSize: the ends do not agree on the MTU. An answer in packets of
// another size is none.
func TestAnswerOfOtherSize(t *testing.T) {
	r := newRig(t, checking)
	a := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 0x10000000, gid: 1})
	b := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 0x20000000, gid: 1})
	a.connect(b, connection{mtu: 3, timeout: 10})
	b.connect(a, connection{mtu: 1, timeout: 10})
	b.queuePair().near = false // so that packets go one by one
	from := b.data(0, 1024)
	a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{a.data(0, 1024)}})
	settleEnds(a)
	require.Equal(t, []uint8{ifc.MLX5_CQE_SYNDROME_BAD_RESP_ERR}, results(a.poll()))
}

// TestRepeated: requests whose answer is lost are answered once more, and done
// once.
func TestRepeated(t *testing.T) {
	for name, post := range map[string]func(a, b *end) wr{
		"nothing read": func(a, b *end) wr { return wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &seg{}} },
		"read": func(a, b *end) wr {
			from := b.data(0, 8)
			return wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{a.data(0, 8)}}
		},
		"nothing written": func(a, b *end) wr { return wr{op: ifc.MLX5_OPCODE_RDMA_WRITE, remote: &seg{}} },
		"nothing sent":    func(a, b *end) wr { return wr{op: ifc.MLX5_OPCODE_SEND} },
		"nothing written, immediate": func(a, b *end) wr {
			return wr{op: ifc.MLX5_OPCODE_RDMA_WRITE_IMM, remote: &seg{}}
		},
		"added": func(a, b *end) wr {
			to := b.data(0, 8)
			return wr{op: ifc.MLX5_OPCODE_ATOMIC_FA, remote: &to, atomic: [2]uint64{1}, sgl: []seg{a.data(0, 8)}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{timeout: 10, retries: 1})
			b.receive(b.data(0x100, 8))
			w := post(a, b)
			a.post(w)
			settleEnds(a)
			a.fabric.SetLink(Link{Loss: 1})
			settleEnds(b)
			a.fabric.SetLink(Link{})
			a.fabric.Advance(time.Second)
			settleEnds(a, b)
			require.Equal(t, []uint8{0}, results(a.poll()))
			require.LessOrEqual(t, len(b.poll()), 1)
			if w.op == ifc.MLX5_OPCODE_ATOMIC_FA {
				require.Equal(t, uint64(1), binary.LittleEndian.Uint64(b.bytes(0, 8)))
				require.Zero(t, binary.LittleEndian.Uint64(a.bytes(0, 8)))
			}
		})
	}
}

// TestRepeatedAtomicOfAnEarlierRound: packet numbers come again after 2^24
// packets. What an operation of an earlier round found is not given out.
func TestRepeatedAtomicOfAnEarlierRound(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{timeout: 10, retries: 1, depth: 2})
	to := b.data(0, 8)
	add := wr{op: ifc.MLX5_OPCODE_ATOMIC_FA, remote: &to, atomic: [2]uint64{5}, sgl: []seg{a.data(0, 8)}}
	a.post(add)
	settleEnds(a, b)
	a.queuePair().req.psn, a.queuePair().req.unacked, b.queuePair().resp.psn = 0, 0, 0 // 2^24-1 packets later
	a.post(add)
	settleEnds(a)
	a.fabric.SetLink(Link{Loss: 1})
	settleEnds(b)
	a.fabric.SetLink(Link{})
	a.fabric.Advance(time.Second)
	settleEnds(a, b)
	require.Equal(t, []uint8{0, 0}, results(a.poll()))
	require.Equal(t, uint64(5), binary.LittleEndian.Uint64(a.bytes(0, 8)))
	require.Equal(t, uint64(10), binary.LittleEndian.Uint64(b.bytes(0, 8)))
}

// TestRepeatedReadsDoNotCount: a request that came again is none of the requests
// that a sender may have open.
func TestRepeatedReadsDoNotCount(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{timeout: 10, retries: 7})
	from := b.data(0, 8)
	for range 2 { // of which one may be open
		a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{a.data(0, 8)}})
	}
	settleEnds(a)
	a.fabric.Advance(5 * time.Millisecond)
	settleEnds(a)
	for b.queuePair().resp.out.n < 2 {
		require.True(t, b.Step())
	}
	b.Step() // sends one answer
	settleEnds(a, b)
	require.Equal(t, []uint8{0, 0}, results(a.poll()))
}
