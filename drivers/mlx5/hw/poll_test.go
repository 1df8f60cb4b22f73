package hw

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/sim_test/watchdog"
)

// poller is a register page as the device's poller knows it.
type poller interface {
	Poll(frame *[uarPageSize]byte) bool
}

// page returns a register page and memory that stands for it from now on.
func (r *rig) page(uar uint32) (poller, *[uarPageSize]byte) {
	p, frame := r.UARPage(uar).(poller), new([uarPageSize]byte)
	require.False(r.t, p.Poll(frame))
	return p, frame
}

// together is n pairs of connected ends of one device, all on one register page
// that is polled.
func together(t testing.TB, n int) (r *rig, ends []*end, p poller, frame *[uarPageSize]byte) {
	r = newRig(t, checking)
	p, frame = r.page(r.uar)
	for i := range 2 * n {
		e := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: Addr(i+1) << 28, gid: 1})
		e.frame = frame
		ends = append(ends, e)
	}
	for i, e := range ends {
		e.connect(ends[i^1], connection{})
	}
	settle(r)
	return r, ends, p, frame
}

// TestPolledSends: two queue pairs ring the same register between two looks, and
// both are served; the other end's receives are found without any doorbell.
func TestPolledSends(t *testing.T) {
	r, ends, p, frame := together(t, 2)
	for _, e := range ends {
		e.fill(0, []byte{byte(e.qpn)})
	}
	for round := range 3 {
		for i := 1; i < len(ends); i += 2 {
			ends[i].receive(ends[i].data(64, 1))
		}
		for i := 0; i < len(ends); i += 2 {
			ends[i].post(wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{ends[i].data(0, 1)}})
		}
		settle(r)
		require.Empty(t, ends[0].poll(), "nobody has told the device")
		require.True(t, p.Poll(frame))
		require.Zero(t, *frame, "the doorbells are taken")
		settle(r)
		for i, e := range ends {
			got := e.poll()
			require.Lenf(t, got, 1, "end %d, round %d", i, round)
			require.Zero(t, got[0].syndrome)
			if i%2 == 1 {
				require.Equal(t, []byte{byte(ends[i^1].qpn)}, e.bytes(64, 1))
			}
		}
		require.False(t, p.Poll(frame))
	}
}

// Every register of send queues is one.
func TestPolledSendRegisters(t *testing.T) {
	r, ends, p, frame := together(t, 1)
	a := ends[0]
	a.frame = new([uarPageSize]byte) // the test rings itself
	for _, at := range []int{0x800, 0x900, 0xa00, 0xb00} {
		a.post(wr{op: ifc.MLX5_OPCODE_NOP})
		copy(frame[at:], bytes.Repeat([]byte{0x11}, 64)) // a request that names nobody
		require.True(t, p.Poll(frame))
		require.Zero(t, binary.BigEndian.Uint64(frame[at:]))
		require.NotZero(t, binary.BigEndian.Uint64(frame[at+8:]), "the rest of the request is nobody's")
		settle(r)
		require.Lenf(t, a.poll(), 1, "%#x", at)
	}
}

// TestPolledReceives: receives need no doorbell, neither when the sender was told
// that there is none, nor where the queue pair is in error.
func TestPolledReceives(t *testing.T) {
	r, ends, p, frame := together(t, 1)
	a, b := ends[0], ends[1]
	for _, e := range ends {
		require.Equal(t, MLX5_CMD_STAT_OK, e.transit(ifc.MLX5_CMD_OP_2RST_QP, nil))
		e.sq = 0
	}
	a.connect(b, connection{rnrRetries: 7, rnrTimer: 1})
	b.connect(a, connection{rnrRetries: 7, rnrTimer: 1})
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{a.data(0, 8)}})
	require.True(t, p.Poll(frame))
	settle(r)
	require.Empty(t, a.poll())
	at, ok := r.NextDeadline()
	require.True(t, ok, "it waits before it sends again")
	b.receive(b.data(0, 8))
	settle(r)
	require.Empty(t, b.poll())
	r.fabric.Advance(at)
	settle(r)
	require.Len(t, a.poll(), 1)
	require.Len(t, b.poll(), 1)

	require.Equal(t, MLX5_CMD_STAT_OK, b.transit(ifc.MLX5_CMD_OP_2ERR_QP, nil))
	settle(r)
	b.receive(b.data(0, 8))
	settle(r)
	got := b.poll()
	require.Len(t, got, 1)
	require.Equal(t, uint8(ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR), got[0].syndrome)
	a.post(wr{op: ifc.MLX5_OPCODE_NOP})
	require.Equal(t, MLX5_CMD_STAT_OK, a.transit(ifc.MLX5_CMD_OP_2ERR_QP, nil))
	settle(r)
	require.Len(t, a.poll(), 1, "what is posted is flushed before it was rung for")
}

// A raw send queue is on the page as a queue pair is.
func TestPolledRawSends(t *testing.T) {
	r := newSendRig(t)
	r.moveSQ(0, 1)
	p, frame := r.page(r.uar)
	r.send(0, 0x00, 8)
	r.mem.put32(srqRecord+4, 1)
	frame[0x800] = 1
	require.True(t, p.Poll(frame))
	require.Equal(t, []rawCQE{{qpn: r.sq}}, r.completed(1))
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_SQ, 0, r.sq), MLX5_CMD_STAT_OK)
	frame[0x800] = 1
	require.True(t, p.Poll(frame))
}

// armed is a completion queue of a polled page.
type armed struct {
	r      *rig
	frame  *[uarPageSize]byte
	n      uint32
	record Addr
	sn     uint32
	seen   uint32 // completions
}

// arm does what a user library does: the record first, then the doorbell.
func (q *armed) arm() {
	word := q.sn<<28 | ifc.MLX5_CQ_DB_REQ_NOT | q.seen
	q.r.mem.put32(q.record+4, word)
	binary.BigEndian.PutUint64(q.frame[ifc.MLX5_CQ_DOORBELL:], uint64(word)<<32|uint64(q.n))
}

// complete puts a completion into the queue, and the user takes it.
func (q *armed) complete() {
	require.NoError(q.r.t, q.r.Complete(q.n, Completion{}))
	q.seen++
	q.r.mem.put32(q.record, q.seen)
}

// fired returns which queues' events there were since it was last called.
func (r *rig) fired() (about []uint32) {
	r.steps()
	for _, e := range r.events {
		about = append(about, e.CompCQN())
	}
	r.events = nil
	return about
}

func armedRig(t testing.TB, n int) (r *rig, p poller, frame *[uarPageSize]byte, cqs []*armed) {
	r = newRig(t, nil)
	p, frame = r.page(r.uar)
	eqn := r.createEQ(eqOptions{})
	for i := range n {
		q := &armed{r: r, frame: frame, record: cqRecord + Addr(i)*64}
		q.n = r.createCQ(cqOptions{log: 4, eqn: eqn, record: q.record,
			buffer: []Addr{cqBuffer + Addr(2*i)*ramPage, cqBuffer + Addr(2*i+1)*ramPage}})
		cqs = append(cqs, q)
	}
	return r, p, frame, cqs
}

// TestPolledArming: queues that are armed between two looks get their events,
// each one, and those that are not armed get none.
func TestPolledArming(t *testing.T) {
	r, p, frame, cqs := armedRig(t, 3)
	a, b, silent := cqs[0], cqs[1], cqs[2]
	for round := range 6 { // more than there are sequence numbers
		a.arm() // for the first time with a word that is 0
		b.arm()
		require.True(t, p.Poll(frame))
		require.Zero(t, *frame)
		require.Empty(t, r.fired())
		for _, q := range cqs {
			q.complete()
		}
		require.Equal(t, []uint32{a.n, b.n}, r.fired(), "round %d", round)
		a.complete()
		require.Empty(t, r.fired(), "one event for an arming")
		// The doorbell of another queue does not arm what has had its event.
		binary.BigEndian.PutUint64(frame[ifc.MLX5_CQ_DOORBELL:], 0x0123456789abcdef)
		require.True(t, p.Poll(frame))
		a.complete()
		silent.complete()
		require.Empty(t, r.fired())
		a.sn, b.sn = (a.sn+1)&3, (b.sn+1)&3
	}
	// What came between the user's last look and the arming counts.
	a.arm()
	require.NoError(t, r.Complete(a.n, Completion{}))
	require.True(t, p.Poll(frame))
	require.Equal(t, []uint32{a.n}, r.fired())
}

// A queue that was made before the page was polled is armed rather too often than
// not: nothing tells its first arming from none.
func TestPolledTooLate(t *testing.T) {
	r := newRig(t, nil)
	eqn := r.createEQ(eqOptions{})
	first := r.createCQ(cqOptions{log: 2, eqn: eqn})
	p, frame := r.page(r.uar)
	q := &armed{r: r, frame: frame, record: cqRecord + 64}
	q.n = r.createCQ(cqOptions{log: 2, eqn: eqn, record: q.record, buffer: []Addr{cqBuffer + 2*ramPage}})
	q.arm()
	require.True(t, p.Poll(frame))
	require.NoError(t, r.Complete(first, Completion{}))
	require.Equal(t, []uint32{first}, r.fired())
}

// Where the record cannot be reached the doorbell still does what it says.
func TestPolledWithoutRecord(t *testing.T) {
	r := newRig(t, nil)
	p, frame := r.page(r.uar)
	eqn := r.createEQ(eqOptions{})
	r.mem.bad[cqRecord/ramPage] = true
	n := r.createCQ(cqOptions{log: 2, eqn: eqn})
	other := r.createCQ(cqOptions{log: 2, eqn: eqn, buffer: []Addr{cqBuffer + 2*ramPage}})
	binary.BigEndian.PutUint64(frame[ifc.MLX5_CQ_DOORBELL:], uint64(n))
	require.True(t, p.Poll(frame))
	for _, n := range []uint32{n, other} {
		require.NoError(t, r.Complete(n, Completion{}))
	}
	require.Equal(t, []uint32{n}, r.fired())
}

// What is rung at a page that is no one's any more, or of a device in error, is
// lost as a store is.
func TestPolledInVain(t *testing.T) {
	r, p, frame, cqs := armedRig(t, 1)
	r.ends(named(ifc.MLX5_CMD_OP_DEALLOC_UAR, 0, r.uar), MLX5_CMD_STAT_OK)
	cqs[0].arm()
	require.True(t, p.Poll(frame))
	require.Zero(t, *frame)
	cqs[0].complete()
	require.Empty(t, r.fired())

	r, p, frame, cqs = armedRig(t, 1)
	cqs[0].complete()
	r.Fail()
	cqs[0].arm()
	require.True(t, p.Poll(frame))
	require.Empty(t, r.fired())
}

// Nothing is left of queues that ended.
func TestPolledUsersGo(t *testing.T) {
	r := newRawRig(t)
	before := len(r.users)
	uar := r.made(Input(ifc.MLX5_CMD_OP_ALLOC_UAR, 0, 0, 0))
	r.uar = uar
	e := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 1 << 28, gid: 1})
	sq := r.made(r.sqInput(at{93, 3, uint64(uar)}))
	require.Len(t, r.users, before+1)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_SQ, 0, sq), MLX5_CMD_STAT_OK)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_QP, 0, e.qpn), MLX5_CMD_STAT_OK)
	require.Len(t, r.users, before+1)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_CQ, 0, e.cqn), MLX5_CMD_STAT_OK)
	require.Len(t, r.users, before)
}

// FuzzPoll looks at whatever bytes. The doorbells are taken, nothing else of the
// memory changes, and queues of another page, which have work waiting and are
// named by some of the bytes, stay as they are.
func FuzzPoll(f *testing.F) {
	f.Add(make([]byte, 48))
	f.Add(bytes.Repeat([]byte{0xff}, 48))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x0a\x00\x00\x40\x04\x00\x00\x00\x0a\x00\x00\x41\x04"))
	f.Fuzz(func(t *testing.T, in []byte) {
		watchdog.On(t)
		r := newRig(t, checking)
		p, frame := r.page(r.uar)
		own := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 1 << 28, gid: 1})
		r.uar = r.made(Input(ifc.MLX5_CMD_OP_ALLOC_UAR, 0, 0, 0))
		foreign := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 2 << 28, gid: 1})
		own.connect(foreign, connection{})
		foreign.connect(own, connection{})
		settle(r)
		r.events = nil
		own.frame, foreign.frame = new([uarPageSize]byte), new([uarPageSize]byte)
		own.post(wr{op: ifc.MLX5_OPCODE_NOP})
		foreign.post(wr{op: ifc.MLX5_OPCODE_NOP})
		require.NoError(t, r.Complete(foreign.cqn, Completion{Opcode: ifc.MLX5_CQE_RESP_SEND}))
		require.Len(t, foreign.poll(), 1)

		for i := range frame {
			frame[i] = byte(i)
		}
		rang, sends := false, false
		for i, at := range []int{0x20, 0x800, 0x900, 0xa00, 0xb00} {
			register := frame[at : at+8]
			clear(register)
			copy(register, in[min(len(in), 8*i):])
			set := !bytes.Equal(register, make([]byte, 8))
			rang, sends = rang || set, sends || set && i > 0
		}
		want := *frame
		for _, at := range []int{0x20, 0x800, 0x900, 0xa00, 0xb00} {
			clear(want[at : at+8])
		}
		require.Equal(t, rang, p.Poll(frame))
		require.Equal(t, want, *frame)
		settle(r)
		require.Empty(t, foreign.poll())
		require.NotContains(t, r.fired(), foreign.cqn)
		if sends {
			require.Len(t, own.poll(), 1)
		} else {
			require.Empty(t, own.poll())
		}
	})
}

// BenchmarkPollNothing is a look at a page where nothing was rung.
func BenchmarkPollNothing(b *testing.B) {
	r := newRig(b, checking)
	p, frame := r.page(r.uar)
	b.ReportAllocs()
	for b.Loop() {
		p.Poll(frame)
	}
}

// BenchmarkPollRing is a look that finds the doorbell of the only queue pair of a
// page, and of one among many.
func BenchmarkPollRing(b *testing.B) {
	for _, n := range []int{1, 32} {
		b.Run(map[int]string{1: "one", 32: "of 64"}[n], func(b *testing.B) {
			r, ends, p, frame := together(b, n)
			b.ReportAllocs()
			for b.Loop() {
				binary.BigEndian.PutUint64(frame[ifc.MLX5_BF_OFFSET:], uint64(ends[0].qpn)<<8)
				p.Poll(frame)
				r.Drain()
			}
		})
	}
}

// BenchmarkTurnIdle is a turn of a device that has nothing to do.
func BenchmarkTurnIdle(b *testing.B) {
	r, _, _, _ := together(b, 1)
	r.Turn()
	b.ReportAllocs()
	for b.Loop() {
		r.Turn()
	}
}
