package libmlx5

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/verbs"
)

// memorySystem is a process that has memory and no kernel.
type memorySystem struct{ *copyuser.AddressSpace }

func (memorySystem) Open(string, int) (int, error)                   { panic("no kernel") }
func (memorySystem) Close(int) error                                 { panic("no kernel") }
func (memorySystem) Ioctl(int, uint32, copyuser.Addr) (int64, error) { panic("no kernel") }
func (memorySystem) Read(int, copyuser.Addr, uint64) (int64, error)  { panic("no kernel") }
func (memorySystem) Write(int, copyuser.Addr, uint64) (int64, error) { panic("no kernel") }
func (memorySystem) Poll(int, time.Duration) (uint16, error)         { panic("no kernel") }
func (m memorySystem) Munmap(at copyuser.Addr, n uint64) error {
	return m.AddressSpace.Munmap(nil, at, n)
}
func (m memorySystem) Mmap(_ int, n uint64, prot, flags int, _ uint64) (copyuser.Addr, error) {
	return m.AddressSpace.Mmap(nil, copyuser.MmapRequest{Length: n, Prot: prot, Flags: flags})
}

// bare makes a queue pair that sends, and its completion queue, without a kernel
// and a device: its register is memory, and nobody completes what it posts.
func bare(tb testing.TB, typ verbs.QPType, wr uint32) (*QP, *CQ) {
	sys := memorySystem{copyuser.NewAddressSpace()}
	c := &Context{sys: sys}
	c.Resp.CQEVersion, c.Resp.CacheLineSize, c.Resp.BfRegSize = 1, 64, 512
	c.Resp.MaxSQDescSz, c.Resp.MaxRQDescSz, c.Resp.MaxSendWqebb, c.Resp.MaxRecvWR = 512, 512, 32768, 32768
	var err error
	qp := &QP{ctx: c}
	qp.rsc.qp = qp
	qp.Type, qp.Num = typ, 0x42
	qp.SendOpsFlags = sendOpsRC
	attr := QPInitAttr{Type: typ, Cap: verbs.QPCap{MaxSendWR: wr, MaxRecvWR: wr, MaxSendSGE: 1, MaxRecvSGE: 1}}
	qp.size, err = c.calcWQSize(&attr, sendOpsOf(typ))
	require.NoError(tb, err)
	require.NoError(tb, qp.allocBuf())
	require.NoError(tb, c.uidx.store(&qp.rsc))
	reg, err := verbs.Alloc(sys, pageSize)
	require.NoError(tb, err)
	qp.bf = &bf{reg: reg + bfOffset, bufSize: 256}
	qp.sq.init(qp, false)
	qp.rq.init(qp)
	qp.setOperationalState(verbs.IBV_QPS_INIT)
	qp.setOperationalState(verbs.IBV_QPS_RTS)
	cq := &CQ{ctx: c}
	cq.buf, err = c.allocCQBuf(uint32(alignQueueSize(uint64(wr))), 64)
	require.NoError(tb, err)
	cq.record, err = c.allocRecord()
	require.NoError(tb, err)
	return qp, cq
}

// batch is how many requests are posted, and polled, at once.
const batch = 32

// must fails the test with an error of a hot path.
func must(tb testing.TB, err error) {
	if err != nil {
		tb.Fatal(err)
	}
}

// hotPaths are what a program does all the time, with how many requests it deals
// with at once. Nobody completes what is posted, so the queues' tails move on by
// themselves.
var hotPaths = []struct {
	name string
	n    int
	make func(tb testing.TB) func()
}{
	{"PostSend", batch, func(tb testing.TB) func() { return postSends(tb, batch) }},
	{"PostSendOne", 1, func(tb testing.TB) func() { return postSends(tb, 1) }},
	{"BuildSend", batch, buildSends},
	{"PostRecv", batch, postRecvs},
	{"Poll", batch, pollSends},
	{"PollEmpty", 1, pollEmpty},
}

// postSends posts SENDs of 64 bytes; one alone goes by BlueFlame.
func postSends(tb testing.TB, n int) func() {
	qp, _ := bare(tb, verbs.IBV_QPT_RC, 64)
	var list *SendWR
	for range n {
		list = &SendWR{Next: list, Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_SIGNALED,
			SGList: []verbs.SGE{{Addr: 0x1000, Length: 64, LKey: 7}}}
	}
	return func() {
		_, err := qp.PostSend(list)
		must(tb, err)
		qp.sq.tail.Store(qp.sq.head)
	}
}

func buildSends(tb testing.TB) func() {
	qp, _ := bare(tb, verbs.IBV_QPT_RC, 64)
	qp.WRFlags = verbs.IBV_SEND_SIGNALED
	return func() {
		qp.WRStart()
		for range batch {
			qp.WRSend()
			qp.WRSetSGE(7, 0x1000, 64)
		}
		must(tb, qp.WRComplete())
		qp.sq.tail.Store(qp.sq.head)
	}
}

func postRecvs(tb testing.TB) func() {
	qp, _ := bare(tb, verbs.IBV_QPT_RC, 64)
	var list *RecvWR
	for range batch {
		list = &RecvWR{Next: list, SGList: []verbs.SGE{{Addr: 0x1000, Length: 64, LKey: 7}}}
	}
	return func() {
		_, err := qp.PostRecv(list)
		must(tb, err)
		qp.rq.tail.Store(qp.rq.head)
	}
}

// pollSends polls completions of SENDs; the time has in it that of storing them
// as a device does.
func pollSends(tb testing.TB) func() {
	_, cq := bare(tb, verbs.IBV_QPT_RC, 64)
	wc := make([]WC, batch)
	pi, cqe := uint32(0), make([]byte, cqe64Size)
	binary.BigEndian.PutUint32(cqe[cqeSopDropQPN:], opcodeSend<<24|0x42)
	return func() {
		for range batch {
			cqe[cqeOpOwn] = cq.buf.owner(pi)
			cq.ctx.sys.Store(cq.buf.cqe64(pi), cqe)
			pi++
		}
		if n, err := cq.Poll(wc); n != batch || err != nil {
			tb.Fatal(n, err)
		}
	}
}

func pollEmpty(tb testing.TB) func() {
	_, cq := bare(tb, verbs.IBV_QPT_RC, 64)
	wc := make([]WC, batch)
	return func() {
		if n, err := cq.Poll(wc); n != 0 || err != nil {
			tb.Fatal(n, err)
		}
	}
}

func BenchmarkHotPaths(b *testing.B) {
	for _, p := range hotPaths {
		b.Run(p.name, func(b *testing.B) {
			f := p.make(b)
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.n), "ns/request")
		})
	}
}

// TestHotPathsAllocateNothing: posting, building and polling.
func TestHotPathsAllocateNothing(t *testing.T) {
	for _, p := range hotPaths {
		t.Run(p.name, func(t *testing.T) { require.Zero(t, testing.AllocsPerRun(100, p.make(t))) })
	}
}
