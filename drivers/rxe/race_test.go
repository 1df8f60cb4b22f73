package rxe

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/sim_test/meeting"
	"uverbsim/spec"
	"uverbsim/trace"
)

// TestResizedAtOnce: calls that give one queue another size hold no common lock, as in
// the kernel, and are made by two threads at once. It is for the race detector, which
// reports each field that they share and that is not guarded.
func TestResizedAtOnce(t *testing.T) {
	r := newRig(t, Config{})
	cq := r.newCQ(16)
	srq, _, err := r.srq(core.SRQAttr{MaxWR: 16, MaxSGE: 1}, r.udata(nil, createSRQRespSize))
	require.NoError(t, err)
	cmd := spec.RxeModifySRQCmd{MmapInfoAddr: uint64(r.take(16))}
	m := meeting.New(t, "rxe_queue_resize")
	m.On(true)
	for name, resize := range map[string]func(u *core.Udata, n uint32) error{
		"a CQ": func(u *core.Udata, n uint32) error { return r.dev.Ops.ResizeCQ(cq, int32(n), u) },
		"an SRQ": func(u *core.Udata, n uint32) error {
			return r.dev.Ops.ModifySRQ(srq, &core.SRQAttr{MaxWR: n}, spec.IB_SRQ_MAX_WR, u)
		},
	} {
		for range 20 {
			var both sync.WaitGroup
			for _, n := range []uint32{31, 63} {
				u := r.udata(spec.Bytes(&cmd), resizeCQRespSize)
				u.Attrs.(*call).task = r.task.Process.NewTask(trace.NewTask(int(n), m))
				both.Go(func() {
					if err := resize(u, n); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			both.Wait()
		}
	}
	require.Contains(t, []uint32{31, 63}, cq.CQE.Load())
}
