package rxe

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/trace"
)

// TestPoolLimits holds each pool against rxe_param.h: the numbers of objects,
// how many there can be, and that every element finds a number.
func TestPoolLimits(t *testing.T) {
	for typ, want := range map[elemType]struct{ min, max, maxElem uint32 }{
		typeUC:  {1, 1 << 20, 1 << 20},
		typePD:  {1, 1 << 20, 1 << 20},
		typeAH:  {1, 32767, 32767},
		typeSRQ: {131073, 1 << 20, 1<<20 - 131073},
		typeQP:  {16, 1 << 20, 1<<20 - 16},
		typeCQ:  {1, 1 << 20, 1 << 20},
		typeMR:  {1, 1 << 19, 1<<19 - 1},
		typeMW:  {1<<19 + 1, 1 << 20, 1<<19 - 1},
	} {
		info := typeInfos[typ]
		require.Equal(t, want.min, info.min, info.name)
		require.Equal(t, want.max, info.max, info.name)
		require.Equal(t, int32(want.maxElem), info.maxElem, info.name)
		require.LessOrEqual(t, uint32(info.maxElem), info.max-info.min+1, info.name)
	}
}

// TestPoolNumbers: a number that became free is given out again only after all
// others.
func TestPoolNumbers(t *testing.T) {
	info := typeInfo{"test", 5, 8, 4, nil}
	p := pool{info: &info, xa: map[uint32]*elem{}}
	add := func() *elem {
		e := new(elem)
		require.NoError(t, p.add(nil, e, e))
		return e
	}
	a, b := add(), add()
	require.Equal(t, []uint32{5, 6}, []uint32{a.index, b.index})
	a.cleanup(nil)
	c, d := add(), add()
	require.Equal(t, []uint32{7, 8}, []uint32{c.index, d.index})
	e := add()
	require.Equal(t, uint32(5), e.index, "the numbers start again")
	refused(t, rule.RxePoolFull, p.add(nil, new(elem), nil), "five of four")
	c.cleanup(nil)
	require.Equal(t, uint32(7), add().index, "the next free one")
}

// TestPoolFull: the device has no more contexts than it can have, and a refused
// one does not count.
func TestPoolFull(t *testing.T) {
	r := newRig(t, Config{})
	p := &r.d.ucPool
	p.numElem.Store(p.info.maxElem - 1)
	ctx := &core.Ucontext{Device: r.dev}
	require.NoError(t, r.dev.Ops.AllocUcontext(ctx, r.udata(nil, 0)))
	for range 2 {
		refused(t, rule.RxePoolFull, r.dev.Ops.AllocUcontext(&core.Ucontext{Device: r.dev}, r.udata(nil, 0)), "full")
	}
	r.dev.Ops.DeallocUcontext(r.task, ctx)
	require.NoError(t, r.dev.Ops.AllocUcontext(&core.Ucontext{Device: r.dev}, r.udata(nil, 0)))
}

// TestFirstNumbers: a user's first objects come after those that the kernel's
// own client has.
func TestFirstNumbers(t *testing.T) {
	r := newRig(t, Config{})
	require.Equal(t, uint32(2), toRpd(r.pd).index)
	require.Equal(t, uint32(2), toRcq(r.newCQ(1)).index)
	require.Equal(t, uint32(17), r.newQP(r.rcInit(r.newCQ(1))).QPNum)
	require.Equal(t, uint32(2), r.newMR(r.take(8), 8, 0).LKey>>8)
}

// TestPoolLookup: an object is found by its number once it is finalized, until
// it is destroyed; whoever found it holds the destruction up.
func TestPoolLookup(t *testing.T) {
	var p pool
	p.init(typePD)
	e := new(elem)
	require.NoError(t, p.add(nil, e, "the object"))
	require.Nil(t, p.get(nil, e.index))
	e.finalize(nil)
	require.Equal(t, "the object", p.get(nil, e.index))

	destroyed := make(chan struct{})
	go func() {
		e.cleanup(nil)
		close(destroyed)
	}()
	for p.get(nil, e.index) != nil {
		e.put(nil)
	}
	select {
	case <-destroyed:
		t.Fatal("destroyed while it was held")
	default:
	}
	e.put(nil)
	<-destroyed
	require.Zero(t, p.numElem.Load())
}

// failing is a sink that makes one kind of step fail.
type failing struct{ what string }

func (failing) Event(*trace.Task, *trace.Event) {}

func (f *failing) Fail(_ *trace.Task, _ trace.Step, what string) bool { return what == f.what }

// TestNoMemory makes every step of the driver fail that can, and wants its rule
// and nothing left behind.
func TestNoMemory(t *testing.T) {
	for _, c := range []struct {
		what string
		do   func(r *rig) error
		want error
	}{
		{"cq", func(r *rig) error { _, err := r.cq(1, r.udata(nil, 16)); return err }, rule.RxePoolNoMemory},
		{"rxe_queue", func(r *rig) error { _, err := r.cq(1, r.udata(nil, 16)); return err }, rule.RxeCreateCQNoMemory},
		{"rxe_mmap_info", func(r *rig) error { _, err := r.cq(1, r.udata(nil, 16)); return err }, rule.RxeMmapInfoNoMemory},
		{"rxe_mr", func(r *rig) error { _, err := r.mr(r.pd, r.take(8), 8, 0); return err }, rule.RxeMRNoMemory},
		{"mr", func(r *rig) error { _, err := r.mr(r.pd, r.take(8), 8, 0); return err }, rule.RxePoolNoMemory},
		{"rxe_mr_page", func(r *rig) error { _, err := r.mr(r.pd, r.take(8), 8, 0); return err }, rule.RxeMRPagesNoMemory},
		{"rxe_queue", func(r *rig) error {
			_, _, err := r.srq(core.SRQAttr{MaxWR: 4}, r.udata(nil, 24))
			return err
		}, rule.RxeCreateSRQNoMemory},
		{"mw", func(r *rig) error {
			return r.dev.Ops.AllocMW(&core.MW{Device: r.dev, PD: r.pd}, r.udata(nil, 0))
		}, rule.RxePoolNoMemory},
		{"ah", func(r *rig) error {
			return r.dev.Ops.CreateUserAH(&core.AH{Device: r.dev, PD: r.pd}, new(core.AHAttr), r.udata(nil, 0))
		}, rule.RxePoolNoMemory},
	} {
		f := new(failing)
		r := newTracedRig(t, Config{}, trace.NewTask(1, f))
		before := r.counts()
		f.what = c.what
		refused(t, c.want, c.do(r), c.what)
		require.Equal(t, before, r.counts(), c.what)
		require.Zero(t, r.task.Mem.PinnedPages(), c.what)
	}
}

// TestQPNoMemory: a QP that fails at any step gives everything back, and its
// PD, CQ and SRQ can be destroyed at once.
func TestQPNoMemory(t *testing.T) {
	for what, want := range map[string]error{
		"qp": rule.RxePoolNoMemory, "socket": rule.RxeQPNoSocket, "rxe_queue": rule.RxeCreateQPNoMemory, "rxe_mmap_info": rule.RxeMmapInfoNoMemory,
	} {
		f := new(failing)
		r := newTracedRig(t, Config{}, trace.NewTask(1, f))
		cq := r.newCQ(4)
		srq, _, err := r.srq(core.SRQAttr{MaxWR: 4}, r.udata(nil, 24))
		require.NoError(t, err)
		init := r.rcInit(cq)
		init.SRQ = srq
		f.what = what
		_, err = r.qp(init, r.udata(nil, 32))
		refused(t, want, err, what)
		f.what = ""
		require.NoError(t, r.dev.Ops.DestroyCQ(cq, r.udata(nil, 0)), what)
		require.NoError(t, r.dev.Ops.DestroySRQ(srq, r.udata(nil, 0)), what)
		require.NoError(t, r.dev.Ops.DeallocPD(r.pd, r.udata(nil, 0)), what)
		require.Equal(t, map[string]int{"uc": 1}, r.counts(), what)
	}
}

// TestParallelLives has several threads make and destroy objects at once.
func TestParallelLives(t *testing.T) {
	r := newRig(t, Config{})
	var uds [4][2]*core.Udata
	for i := range uds {
		uds[i] = [2]*core.Udata{r.udata(nil, 16), r.udata(nil, 32)}
	}
	var wg sync.WaitGroup
	for i := range uds {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				cq, err := r.cq(16, uds[i][0])
				if err != nil {
					t.Error(err)
					return
				}
				qp, err := r.qp(r.rcInit(cq), uds[i][1])
				if err != nil {
					t.Error(err)
					return
				}
				for _, err := range []error{r.dev.Ops.DestroyQP(qp, uds[i][0]), r.dev.Ops.DestroyCQ(cq, uds[i][0])} {
					if err != nil {
						t.Error(err)
					}
				}
			}
		}()
	}
	wg.Wait()
	require.Equal(t, map[string]int{"uc": 1, "pd": 1}, r.counts())
}

// TestCleanupGivesUp: what goes waits 50 seconds for who holds it, warns, and goes.
func TestCleanupGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := 0
		info := typeInfo{"test", 1, 8, 4, func(*trace.Task, any) { gone++ }}
		p := pool{info: &info, xa: map[uint32]*elem{}}
		warned := new(warnings)
		began := time.Now()
		for _, held := range []bool{false, true} {
			e := new(elem)
			require.NoError(t, p.add(nil, e, e))
			if held {
				e.get(nil)
			}
			e.cleanup(trace.NewTask(1, warned))
			if held {
				e.put(nil) // which nobody waits for any more
			}
		}
		require.Equal(t, 2, gone)
		require.Equal(t, 50*time.Second, time.Since(began))
		require.Equal(t, []string{"__rxe_cleanup"}, warned.names)
	})
}

// warnings is a sink that notes who warned.
type warnings struct{ names []string }

func (w *warnings) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind == trace.Warn {
		w.names = append(w.names, e.Name)
	}
}
