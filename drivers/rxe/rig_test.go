package rxe

import (
	"encoding/binary"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
)

// rig is a device with a process that has a context and a PD, and calls the
// driver's operations as the core does.
type rig struct {
	testing.TB
	dev  *core.Device
	d    *rxeDev
	task *process.Task
	ctx  *core.Ucontext
	pd   *core.PD
	mem  copyuser.Addr // memory that nobody has taken yet
	none copyuser.Addr // nothing is mapped here

	mu     sync.Mutex
	events []core.Event // that the driver raised
}

const rigMemory = 64 * copyuser.PageSize

func newRig(t testing.TB, cfg Config) *rig { return newTracedRig(t, cfg, nil) }

func newTracedRig(t testing.TB, cfg Config, tr *trace.Task) *rig {
	t.Helper()
	r := &rig{TB: t}
	r.dev, _ = New(cfg)
	r.d = toRdev(r.dev)
	r.task = process.New(nil, process.Options{Trace: tr}).MainTask()
	var err error
	r.mem, err = r.task.Mmap(-1, rigMemory, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(t, err)
	r.none = r.mem + rigMemory
	r.ctx = &core.Ucontext{Device: r.dev}
	require.NoError(t, r.dev.Ops.AllocUcontext(r.ctx, r.udata(nil, 0)))
	r.pd = r.newPD()
	return r
}

// call is a call as the driver sees it: who makes it, and with what.
type call struct {
	core.Attrs
	task  *process.Task
	ctx   *core.Ucontext
	udata core.Udata
}

func (c *call) Task() *process.Task      { return c.task }
func (c *call) Ucontext() *core.Ucontext { return c.ctx }
func (c *call) Udata() *core.Udata       { return &c.udata }

// take returns n bytes of the process's memory, filled with 0xa5.
func (r *rig) take(n int) copyuser.Addr {
	at := r.mem
	r.mem += copyuser.Addr(n+63) &^ 63
	require.Less(r, r.mem, r.none)
	fill := make([]byte, n)
	for i := range fill {
		fill[i] = 0xa5
	}
	r.task.Store(at, fill)
	return at
}

// udata makes a driver's part of a call: a request, and room for a response.
func (r *rig) udata(in []byte, out int) *core.Udata {
	c := &call{task: r.task, ctx: r.ctx}
	c.udata.Attrs = c
	if len(in) > 0 {
		c.udata.In, c.udata.InLen = r.take(len(in)), uint64(len(in))
		r.task.Store(c.udata.In, in)
	}
	if out > 0 {
		c.udata.Out, c.udata.OutLen = r.take(out), uint64(out)
	}
	return &c.udata
}

// outAt is udata with a response at an address of the caller's choice.
func (r *rig) outAt(at copyuser.Addr, n uint64) *core.Udata {
	u := r.udata(nil, 0)
	u.Out, u.OutLen = at, n
	return u
}

func (r *rig) bytes(at copyuser.Addr, n int) []byte {
	b := make([]byte, n)
	require.True(r, r.task.Load(at, b))
	return b
}

func (r *rig) word(at copyuser.Addr) uint32 { return binary.LittleEndian.Uint32(r.bytes(at, 4)) }

// mminfo reads what the driver said about where to map a queue.
func (r *rig) mminfo(at copyuser.Addr) spec.RxeMminfo {
	var mi spec.RxeMminfo
	copy(spec.Bytes(&mi), r.bytes(at, 16))
	return mi
}

func (r *rig) newPD() *core.PD {
	pd := &core.PD{Device: r.dev}
	require.NoError(r, r.dev.Ops.AllocPD(pd, r.udata(nil, 0)))
	return pd
}

func (r *rig) cq(cqe uint32, u *core.Udata) (*core.CQ, error) {
	cq := &core.CQ{Device: r.dev, EventHandler: r.event, CompHandler: func(*trace.Task, *core.CQ) {
		r.event(nil, &core.Event{Type: compEvent})
	}}
	return cq, r.dev.Ops.CreateCQ(cq, &core.CQInitAttr{CQE: cqe}, u.Attrs)
}

func (r *rig) newCQ(cqe uint32) *core.CQ {
	cq, err := r.cq(cqe, r.udata(nil, createCQRespSize))
	require.NoError(r, err)
	return cq
}

// compEvent stands for a call of a CQ's completion handler.
const compEvent = 1000

func (r *rig) event(_ *trace.Task, e *core.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, *e)
}

// raised returns the types of the events that the driver raised so far.
func (r *rig) raised() []uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	types := []uint32{}
	for _, e := range r.events {
		types = append(types, e.Type)
	}
	return types
}

func (r *rig) mr(pd *core.PD, at copyuser.Addr, n uint64, access uint32) (*core.MR, error) {
	mr, err := r.dev.Ops.RegUserMR(pd, uint64(at), n, uint64(at), access, r.udata(nil, 0))
	if err == nil {
		mr.IOVA, mr.Length = uint64(at), n // the core does that
	}
	return mr, err
}

func (r *rig) newMR(at copyuser.Addr, n uint64, access uint32) *core.MR {
	mr, err := r.mr(r.pd, at, n, access)
	require.NoError(r, err)
	return mr
}

func (r *rig) srq(attr core.SRQAttr, u *core.Udata) (*core.SRQ, core.SRQAttr, error) {
	srq := &core.SRQ{Device: r.dev, PD: r.pd, EventHandler: r.event}
	init := core.SRQInitAttr{Attr: attr}
	err := r.dev.Ops.CreateSRQ(srq, &init, u)
	return srq, init.Attr, err
}

func (r *rig) qp(init *core.QPInitAttr, u *core.Udata) (*core.QP, error) {
	qp := &core.QP{Device: r.dev, PD: r.pd, Type: init.Type, SRQ: init.SRQ, SendCQ: init.SendCQ, RecvCQ: init.RecvCQ, EventHandler: r.event}
	qp.RealQP = qp
	return qp, r.dev.Ops.CreateQP(qp, init, u)
}

// rcInit asks for an RC QP as the recorded cases do.
func (r *rig) rcInit(cq *core.CQ) *core.QPInitAttr {
	return &core.QPInitAttr{SendCQ: cq, RecvCQ: cq, Type: spec.IB_QPT_RC,
		Cap: core.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}}
}

func (r *rig) newQP(init *core.QPInitAttr) *core.QP {
	qp, err := r.qp(init, r.udata(nil, createQPRespSize))
	require.NoError(r, err)
	return qp
}

func (r *rig) modify(qp *core.QP, mask uint32, attr core.QPAttr) error {
	return r.dev.Ops.ModifyQP(qp, &attr, mask, r.udata(nil, 0))
}

// eventually waits for what the driver's own thread does.
func (r *rig) eventually(what string, done func() bool) {
	r.Helper()
	require.Eventually(r, done, 5*time.Second, time.Millisecond, what)
}

// counts are the objects beyond those that every device has.
func (r *rig) counts() map[string]int {
	fresh, _ := New(Config{})
	counts := map[string]int{}
	for name, n := range Counts(r.dev) {
		if n -= Counts(fresh)[name]; n != 0 {
			counts[name] = n
		}
	}
	return counts
}

// refused wants an error to be that rule, and not another with its errno.
func refused(t testing.TB, want, got error, what string) {
	t.Helper()
	if want == nil {
		require.NoError(t, got, what)
		return
	}
	require.Error(t, got, what)
	require.Samef(t, want, got, "%s: want %v, got %v", what, want, got)
}
