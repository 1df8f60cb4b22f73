package hw

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// flood keeps an end's send queue filled with writes of n bytes to a peer. They ask
// for no completion but for every eighth.
func (e *end) flood(to *end, n int) {
	q := e.queuePair()
	for int(e.sq-q.sq.ci) < 1<<endLogSQ/2 && q.req.ring.n < 1<<endLogSQ/2 {
		at := to.data(0x4000, n)
		e.post(wr{op: ifc.MLX5_OPCODE_RDMA_WRITE, remote: &at, quiet: e.sq%8 != 7, sgl: []seg{e.data(0x4000, n)}})
	}
	e.poll()
}

// TestInAndOutTakeTurns: a device that is sent packets all the time sends its own.
func TestInAndOutTakeTurns(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{timeout: 20, retries: 7})
	for range 100 { // the receiver is never done
		a.flood(b, 0x8000)
		a.Step()
	}
	a.receive(a.data(0, 8))
	b.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("b")})
	var got []cqe
	for i := 0; len(got) == 0; i++ {
		require.Less(t, i, 2000)
		a.flood(b, 0x8000)
		a.Step()
		b.Step()
		got = b.poll()
	}
	require.Equal(t, []uint8{0}, results(got))
}

// TestAnswersAndRequestsTakeTurns: a queue pair that is read from all the time
// sends its own requests.
func TestAnswersAndRequestsTakeTurns(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{}, connection{timeout: 20, retries: 7, depth: 2})
	read := func() {
		for a.queuePair().req.ring.n < 4 && a.sq == a.queuePair().sq.ci {
			from := b.data(0, 0x10000)
			a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{a.data(0x1000, 0x10000)}})
			a.Step()
		}
		a.poll()
	}
	read()
	a.receive(a.data(0, 8))
	b.Step()
	b.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("b")})
	for i := 0; len(b.poll()) == 0; i++ {
		require.Less(t, i, 200)
		read()
		a.Step()
		b.Step()
	}
}

// TestTimersAndFlushesHaveTurns: what a device does only when there is nothing else
// is done in the end when there always is.
func TestTimersAndFlushesHaveTurns(t *testing.T) {
	f := NewFabric(Link{})
	r := newRigIn(t, f)
	busy := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_UC, base: 0x10000000, gid: 1})
	waits := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 0x20000000, gid: 1})
	fails := r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 0x30000000, gid: 1})
	nobody := *busy
	nobody.gid = testGID(9)
	busy.connect(&nobody, connection{})
	waits.connect(&nobody, connection{timeout: 1})
	require.Equal(t, MLX5_CMD_STAT_OK, fails.transit(ifc.MLX5_CMD_OP_2ERR_QP, nil))
	waits.post(wr{op: ifc.MLX5_OPCODE_SEND})
	settle(r)
	f.Advance(time.Second)
	fails.receive(fails.data(0, 8))
	var done []uint8
	for i := 0; len(done) < 2; i++ {
		require.Less(t, i, 4000)
		busy.flood(&nobody, 0x8000)
		r.Step()
		done = append(done, results(waits.poll())...)
		done = append(done, results(fails.poll())...)
	}
	require.ElementsMatch(t, []uint8{ifc.MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR}, done)
}

// TestFailedReceiver: packets to a device that has failed are lost, and those that
// wait for room there are not held back any longer. The failed device waits for
// nothing.
func TestFailedReceiver(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_UC, Link{}, connection{})
	for !b.in.full.Load() {
		a.flood(b, 0x8000)
		a.Step()
	}
	a.flood(b, 0x8000)
	settleEnds(a)
	require.True(t, a.queuePair().held)
	drained(a.wake)
	b.Fail()
	require.NotEmpty(t, a.wake, "who is held back is told")
	settleEnds(a)
	require.False(t, a.queuePair().held)
	require.Equal(t, a.sq, a.queuePair().sq.ci)
	_, ok := b.NextDeadline()
	require.False(t, ok)
	require.Zero(t, b.Drain())
}

// drained empties the channel that wakes Run.
func drained(wake chan struct{}) {
	select {
	case <-wake:
	default:
	}
}

// TestHeldBackRests: a device that is held back does nothing until it is told that
// there is room, and it is told.
func TestHeldBackRests(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_UC, Link{}, connection{})
	for !b.in.full.Load() {
		a.flood(b, 0x8000)
		a.Step()
	}
	a.flood(b, 0x8000)
	settleEnds(a)
	require.True(t, a.queuePair().held)
	drained(a.wake)
	require.Zero(t, a.Drain())
	require.Empty(t, a.wake)
	b.stepping(100)
	b.in.push(new(packet), 0) // somebody's who has seen the room before it was gone
	b.in.push(new(packet), 0)
	require.Empty(t, a.wake)
	settleEnds(b)
	require.NotEmpty(t, a.wake)
}

// TestGroupWithoutRoom: a copy for a member that has no room is lost, the others
// are not held up.
func TestGroupWithoutRoom(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_UD, Link{}, connection{})
	group := *b
	group.gid, group.qpn = [16]byte{0: 0xff, 1: 0x0e, 15: 9}, bits24
	for range roomInInbox + 100 {
		a.post(wr{op: ifc.MLX5_OPCODE_SEND, ud: addressVector(&group, 0x1234)})
		settleEnds(a)
		require.Equal(t, []uint8{0}, results(a.poll()))
	}
	require.Equal(t, int32(roomInInbox), b.in.has.Load())
	require.Equal(t, uint64(100), a.fabric.Lost())
}

// TestRunTogether: two devices that run by themselves send to each other on all
// services as fast as they can, while the clock is moved, addresses change, and in
// the end one of them fails.
func TestRunTogether(t *testing.T) {
	f := NewFabric(Link{Delay: 10 * time.Microsecond, Jitter: 30 * time.Microsecond, Reorder: 0.01, Loss: 0.01, Seed: 5})
	ra, rb := newRigIn(t, f), newRigIn(t, f)
	var as, bs []*end
	for i, service := range []uint8{ifc.MLX5_QP_ST_RC, ifc.MLX5_QP_ST_RC, ifc.MLX5_QP_ST_UC, ifc.MLX5_QP_ST_UD} {
		as = append(as, ra.newEnd(endOptions{service: service, base: Addr(i+1) << 28, gid: 1}))
		bs = append(bs, rb.newEnd(endOptions{service: service, base: Addr(i+1) << 28, gid: 2}))
	}
	c := connection{mtu: 1, timeout: 14, retries: 7, rnrRetries: 7, rnrTimer: 1, depth: 2} // 67 ms
	for i := range as {
		as[i].connect(bs[i], c)
		bs[i].connect(as[i], c)
	}
	stop := make(chan struct{})
	var running sync.WaitGroup
	for _, d := range []*Device{ra.Device, rb.Device} {
		running.Go(func() { d.Run(stop) })
	}
	const messages = 200
	var users sync.WaitGroup
	var talking atomic.Int32
	talking.Add(int32(2 * len(as)))
	for i := range as {
		for _, pair := range [][2]*end{{as[i], bs[i]}, {bs[i], as[i]}} {
			users.Go(func() { converse(pair[0], pair[1], messages, &talking) })
		}
	}
	users.Go(func() {
		for range 50 {
			f.Advance(time.Millisecond)
			f.SetLink(Link{Delay: 10 * time.Microsecond, Loss: 0.01, Seed: 6})
			_, _ = ra.NextDeadline()
			ra.Scan()
			time.Sleep(100 * time.Microsecond)
		}
	})
	users.Wait()
	rb.Fail()
	as[0].post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &seg{}})
	last := as[0].await()
	require.Equal(t, uint8(ifc.MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR), last[0].syndrome)
	f.Leave(ra.Device)
	close(stop)
	running.Wait()
}

// serve posts a receive for each that was used, and returns the completions of what
// was sent.
func (e *end) serve() (sent []cqe) {
	for _, c := range e.poll() {
		if c.op == ifc.MLX5_CQE_REQ || c.op == ifc.MLX5_CQE_REQ_ERR {
			sent = append(sent, c)
		} else {
			e.receive(e.data(0, 2048))
		}
	}
	time.Sleep(10 * time.Microsecond)
	return sent
}

// await serves until a request to send is complete.
func (e *end) await() (sent []cqe) {
	for deadline := time.Now().Add(20 * time.Second); len(sent) == 0 && time.Now().Before(deadline); {
		sent = e.serve()
	}
	return sent
}

// converse sends messages, and takes those that come until nobody talks any more.
func converse(e, to *end, messages int, talking *atomic.Int32) {
	defer func() {
		for talking.Add(-1); talking.Load() > 0; {
			e.serve()
		}
	}()
	for range 8 {
		e.receive(e.data(0, 2048))
	}
	for i := range messages {
		w := wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{e.data(0x1000, 200)}}
		if e.kind == ifc.MLX5_QP_ST_UD {
			w.ud = addressVector(to, 0x1234)
		}
		if e.kind == ifc.MLX5_QP_ST_RC {
			at := to.data(0x8000, 8)
			switch i % 4 {
			case 1:
				w = wr{op: ifc.MLX5_OPCODE_RDMA_WRITE, remote: &at, sgl: []seg{e.data(0x1000, 1000)}}
			case 2:
				w = wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &at, sgl: []seg{e.data(0x9000, 1000)}}
			case 3:
				w = wr{op: ifc.MLX5_OPCODE_ATOMIC_FA, remote: &at, atomic: [2]uint64{1}, sgl: []seg{e.data(0xa000, 8)}}
			}
		}
		e.post(w)
		if got := e.await(); len(got) != 1 || got[0].syndrome != 0 {
			e.t.Errorf("message %d of %#x: %v", i, e.qpn, got)
			return
		}
	}
}
