package core

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/spec"
)

// caller is a call of which only the task is asked for.
type caller struct {
	Attrs
	task *process.Task
}

func (c caller) Task() *process.Task { return c.task }

// TestXRCTargetsAtOnce: threads make, open and destroy XRC targets of one domain at
// once, which holds no common lock for that; in the end nothing is left of them.
func TestXRCTargetsAtOnce(t *testing.T) {
	const threads, rounds = 4, 200
	var numbers atomic.Uint32
	dev := &Device{Ops: DeviceOps{
		CreateQP:    func(qp *QP, _ *QPInitAttr, _ *Udata) error { qp.QPNum = numbers.Add(1); return nil },
		DestroyQP:   func(*QP, *Udata) error { return nil },
		AllocXRCD:   func(*XRCD, *Udata) error { return nil },
		DeallocXRCD: func(*XRCD, *Udata) error { return nil },
	}}
	p := process.New(nil, process.Options{})
	udata := func() *Udata { return &Udata{Attrs: caller{task: p.NewTask(nil)}} }
	xrcd, err := AllocXRCDUser(dev, nil, udata())
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			u := udata()
			for range rounds {
				qp, err := CreateQPUser(dev, nil, &QPInitAttr{Type: spec.IB_QPT_XRC_TGT, XRCD: xrcd}, u, nil)
				if err != nil {
					t.Error(err)
					return
				}
				again, err := OpenQP(u.Task(), xrcd, qp.QPNum, spec.IB_QPT_XRC_TGT, nil)
				if err != nil {
					t.Error(err)
					return
				}
				for _, handle := range []*QP{qp, again} {
					if err := DestroyQPUser(handle, u); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	require.True(t, xrcd.tgtQPs.empty(nil))
	require.NoError(t, DeallocXRCDUser(xrcd, udata()))
}
