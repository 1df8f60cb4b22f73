package libmlx5_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// batch is how many work requests the benchmarks post at a time.
const batch = 32

// loop is a queue pair that is connected to another one of its device, and
// memory for both.
type loop struct {
	*machine
	a, b *libmlx5.QP
	cq   [2]*libmlx5.CQ
	mr   *verbs.MR
	buf  copyuser.Addr
	wc   [batch]libmlx5.WC
}

func newLoop(b testing.TB, size uint64) *loop {
	m := kernel.NewMachine(methods.Core())
	dev, err := mlx5.New(m, mlx5.Config{Profile: hw.ConnectX6Dx, MTU: 9000})
	require.NoError(b, err)
	p := m.NewProcess(process.Options{})
	ctx, err := libmlx5.OpenDevice(p, node)
	require.NoError(b, err)
	l := &loop{machine: &machine{t: b, dev: dev, proc: p, ctx: ctx, mtu: verbs.IBV_MTU_4096}}
	pd, err := ctx.AllocPD()
	require.NoError(b, err)
	l.buf, err = verbs.Alloc(p, 2*size)
	require.NoError(b, err)
	l.mr, err = pd.RegMR(l.buf, 2*size, uint64(l.buf), verbs.IBV_ACCESS_LOCAL_WRITE|verbs.IBV_ACCESS_REMOTE_WRITE)
	require.NoError(b, err)
	for i, qp := range []**libmlx5.QP{&l.a, &l.b} {
		l.cq[i] = l.create(4*batch, nil)
		*qp = l.createQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: l.cq[i], RecvCQ: l.cq[i], Type: verbs.IBV_QPT_RC,
			Cap: verbs.QPCap{MaxSendWR: 2 * batch, MaxRecvWR: 2 * batch, MaxSendSGE: 1, MaxRecvSGE: 1}})
	}
	l.toRTS(l.a, l.b.Num)
	l.toRTS(l.b, l.a.Num)
	return l
}

// take polls a queue until n completions are there.
func (l *loop) take(cq *libmlx5.CQ, n int) {
	for n > 0 {
		got, err := cq.Poll(l.wc[:])
		if err != nil || got == 0 {
			l.t.Fatalf("%d completions are missing: %v", n, err)
		}
		for i := range l.wc[:got] {
			if l.wc[i].Status != libmlx5.IBV_WC_SUCCESS {
				l.t.Fatalf("status %d", l.wc[i].Status)
			}
		}
		n -= got
	}
}

// small is a batch of SENDs of 64 bytes, of which the last is signalled, and the
// receives for them.
type small struct {
	*loop
	sends [batch]libmlx5.SendWR
	recvs [batch]libmlx5.RecvWR
	sges  [2 * batch]verbs.SGE
}

func newSmall(tb testing.TB) *small {
	const size = 64
	s := &small{loop: newLoop(tb, batch*size)}
	for i := range batch {
		at := s.buf + copyuser.Addr(i*size)
		s.sges[i] = verbs.SGE{Addr: at, Length: size, LKey: s.mr.LKey}
		s.sges[batch+i] = verbs.SGE{Addr: at + batch*size, Length: size, LKey: s.mr.LKey}
		s.sends[i] = libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SGList: s.sges[i : i+1]}
		s.recvs[i] = libmlx5.RecvWR{SGList: s.sges[batch+i : batch+i+1]}
		if i > 0 {
			s.sends[i-1].Next, s.recvs[i-1].Next = &s.sends[i], &s.recvs[i]
		}
	}
	s.sends[batch-1].SendFlags = verbs.IBV_SEND_SIGNALED
	return s
}

// exchange brings the batch from one end to the other.
func (s *small) exchange() {
	if _, err := s.b.PostRecv(&s.recvs[0]); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.a.PostSend(&s.sends[0]); err != nil {
		s.t.Fatal(err)
	}
	s.dev.Drain(nil)
	s.take(s.cq[1], batch)
	s.take(s.cq[0], 1)
}

// TestMessagesAllocateNothing: posting, carrying out and polling are for nothing
// as far as the garbage collector sees.
func TestMessagesAllocateNothing(t *testing.T) {
	s := newSmall(t)
	s.exchange()
	require.Zero(t, testing.AllocsPerRun(50, s.exchange))
}

// BenchmarkSend64 is RC SENDs of 64 bytes, posted in batches of 32 of which the
// last is signalled, and polled at both ends.
func BenchmarkSend64(b *testing.B) {
	s := newSmall(b)
	b.ReportAllocs()
	for n := 0; n < b.N; n += batch {
		s.exchange()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkWrite64K is RDMA WRITEs of 64 KiB. BenchmarkCopy64K is what copy()
// takes for the same bytes.
func BenchmarkWrite64K(b *testing.B) {
	const size = 64 << 10
	l := newLoop(b, size)
	wr := libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_WRITE, SendFlags: verbs.IBV_SEND_SIGNALED,
		SGList: []verbs.SGE{{Addr: l.buf, Length: size, LKey: l.mr.LKey}},
		RDMA:   libmlx5.RDMAWR{RemoteAddr: uint64(l.buf) + size, RKey: l.mr.RKey}}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.a.PostSend(&wr); err != nil {
			b.Fatal(err)
		}
		l.dev.Drain(nil)
		l.take(l.cq[0], 1)
	}
}

// BenchmarkCopy64K is the measure of BenchmarkWrite64K.
func BenchmarkCopy64K(b *testing.B) {
	from, to := make([]byte, 64<<10), make([]byte, 64<<10)
	b.SetBytes(64 << 10)
	for b.Loop() {
		copy(to, from)
	}
}

// BenchmarkDoorbellToCQE is one signalled request without data, from the store
// that rings until its completion is polled.
func BenchmarkDoorbellToCQE(b *testing.B) {
	l := newLoop(b, 4096)
	wr := libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_WRITE, SendFlags: verbs.IBV_SEND_SIGNALED}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.a.PostSend(&wr); err != nil {
			b.Fatal(err)
		}
		l.dev.Drain(nil)
		l.take(l.cq[0], 1)
	}
}

// BenchmarkCQE is completions that the device writes and nobody reads.
func BenchmarkCQE(b *testing.B) {
	l := newLoop(b, 4096)
	cq := l.create(255, nil)
	c := hw.Completion{Opcode: ifc.MLX5_CQE_RESP_SEND, QPN: l.a.Num}
	record := make([]byte, 4)
	b.ReportAllocs()
	for n := range b.N {
		if n%128 == 0 { // as if the queue had been read
			for i := range record {
				record[i] = byte(uint32(n) >> (24 - 8*i))
			}
			record[0] = 0
			l.proc.Store(cq.Record(), record)
		}
		if err := l.dev.HW.Complete(cq.CQN, c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "CQEs/s")
}
