package mlx5

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/spec"
	"uverbsim/trace"
)

// breaker lets all steps succeed but one.
type breaker struct {
	victim int64 // from 1, 0 for none
	count  atomic.Int64
	what   string
}

func (*breaker) Event(*trace.Task, *trace.Event) {}

func (b *breaker) Fail(_ *trace.Task, _ trace.Step, what string) bool {
	if b.count.Add(1) != b.victim {
		return false
	}
	b.what = what
	return true
}

// lives are what a process does with the device until it closes it.
var lives = map[string]func(r *rig) error{
	"a completion queue": func(r *rig) error {
		q, err := r.createCQ(r.cqArgs())
		if err != nil {
			return err
		}
		ucmd := spec.Mlx5ResizeCQ{BufAddr: uint64(r.take(2 * copyuser.PageSize)), CQESize: 64}
		_, err = r.resizeCQ(q.handle, 100, ucmd)
		return err
	},
	"a page of registers": func(r *rig) error {
		_, err := r.mmap(spec.MLX5_IB_MMAP_ALLOC_WC, 0, copyuser.PageSize, protRW)
		if err != nil {
			return err
		}
		_, err = r.allocUARObj(spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return err
	},
	"a queue pair": func(r *rig) error {
		a, err := r.tryQPArgs(spec.IB_QPT_RC)
		if err == nil {
			_, _, err = r.createQP(&a)
		}
		return err
	},
	"a queue pair for raw packets": func(r *rig) error {
		a, err := r.tryQPArgs(spec.IB_QPT_RAW_PACKET)
		if err == nil {
			a.ucmd.SQBufAddr = uint64(r.take(copyuser.PageSize))
			_, _, err = r.createQP(&a)
		}
		return err
	},
	"a DCT": func(r *rig) error {
		a, err := r.tryQPArgs(spec.IB_QPT_DRIVER)
		if err != nil {
			return err
		}
		if a.srq, _, err = r.createSRQ(a.pd, 8, 1, spec.Mlx5CreateSRQ{BufAddr: a.ucmd.BufAddr, DBAddr: a.ucmd.DBAddr}); err != nil {
			return err
		}
		a.ucmd.Flags = spec.MLX5_QP_FLAG_TYPE_DCT
		_, _, err = r.createQP(&a)
		return err
	},
	"firmware objects": func(r *rig) error {
		_, _, err := r.devxObject(cmdOf(0x912, 192, 0), 16)
		return err
	},
}

// TestLivesThatFail lets each step of some lives fail, one at a time. Whatever the
// process was told, nothing of it is left when it has closed the device.
func TestLivesThatFail(t *testing.T) {
	for name, life := range lives {
		for victim := int64(1); ; victim++ {
			b := &breaker{}
			r := newTracedRig(t, Config{}, trace.NewTask(1, b))
			require.NoError(t, r.dev.devResSRQInit(nil)) // what stays: event queues and the like
			before := r.counts()
			b.victim, b.what = b.count.Load()+victim, ""
			req := request()
			req.Flags = spec.MLX5_IB_ALLOC_UCTX_DEVX
			_, err := r.getContext(r.fd, spec.Bytes(&req), 72)
			if err == nil {
				err = life(r)
			}
			at := fmt.Sprintf("%s, step %d (%s)", name, victim, b.what)
			b.victim = 0
			require.NoError(t, r.task.Close(r.fd), at)
			r.task.Exit()
			require.Empty(t, cmp.Diff(before, r.counts()), at)
			if b.what == "" {
				require.NoError(t, err, name)
				require.Greater(t, victim, int64(5), "%s: hardly a step can fail", name)
				break
			}
		}
	}
}

// TestCQLifeAllocates: the life of a completion queue through the whole stack stays
// within 24 allocations of memory.
func TestCQLifeAllocates(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	a := r.cqArgs()
	create := r.prepare(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE,
		handleAttr(spec.UVERBS_ATTR_CREATE_CQ_HANDLE, 0), attr(spec.UVERBS_ATTR_CREATE_CQ_CQE, 4, 16),
		attr(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 1), attr(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0),
		r.out(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4), r.in(spec.UVERBS_ATTR_UHW_IN, spec.Bytes(&a.ucmd)),
		r.out(spec.UVERBS_ATTR_UHW_OUT, 8))
	destroy := r.prepare(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY,
		handleAttr(spec.UVERBS_ATTR_DESTROY_CQ_HANDLE, 0), r.out(spec.UVERBS_ATTR_DESTROY_CQ_RESP, 8))
	handle := make([]byte, 4)
	const dataOf = spec.IoctlHdrSize + spec.IoctlAttrDataOffset // of the first attribute
	n := testing.AllocsPerRun(100, func() {
		_, err := r.task.Ioctl(r.fd, spec.RDMA_VERBS_IOCTL, create)
		if err == nil && r.task.Mem.Load(create+dataOf, handle) && r.task.Mem.Store(destroy+dataOf, handle) {
			_, err = r.task.Ioctl(r.fd, spec.RDMA_VERBS_IOCTL, destroy)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	require.LessOrEqual(t, n, 24.0)
}

// TestVectors: each completion vector has an event queue of its own, which is made
// when it is first asked for. mlx5_comp_eqn_get takes a u16: a number that is too
// large for it is cut.
func TestVectors(t *testing.T) {
	r := newRig(t, Config{CompVectors: 3})
	r.devxContext()
	before := r.counts()["eq"]
	two := r.queryEQN(2)
	require.Equal(t, before+1, r.counts()["eq"])
	require.Equal(t, two, r.queryEQN(2))
	a := r.cqArgs()
	a.vector = 1
	_, err := r.createCQ(a)
	require.NoError(t, err)
	require.Equal(t, before+2, r.counts()["eq"])
	require.NotEqual(t, two, r.queryEQN(1))
	require.Equal(t, two, r.queryEQN(1<<16|2))
}
