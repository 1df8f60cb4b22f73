package mlx5

import (
	"sync/atomic"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// numPFEQE is MLX5_IB_NUM_PF_EQE: how many page faults may be outstanding.
const numPFEQE = 0x1000

// odpPFEQ is a struct mlx5_ib_pf_eq: the event queue of page faults, which is made
// when memory is first registered that is paged on demand.
type odpPFEQ struct {
	mutex trace.Mutex // odp_eq_mutex
	eq    atomic.Pointer[eq]
}

// odpCreateEQ models mlx5r_odp_create_eq in drivers/infiniband/hw/mlx5/odp.c.
//
// Errors: mlx5-odp/unsupported, mlx5-eq/no-memory, mlx5-cmd/….
func (d *Device) odpCreateEQ(t *trace.Task) error {
	defer t.Enter(moduleIB, "mlx5r_odp_create_eq").Leave()
	if d.odpCaps.General&odpSupport == 0 {
		return rule.MLX5ODPUnsupported
	}
	d.odpEQ.mutex.Lock(t)
	defer d.odpEQ.mutex.Unlock(t)
	if d.odpEQ.eq.Load() != nil {
		return nil
	}
	e := new(eq)
	if err := d.createMapEQ(t, e, numPFEQE, irqCtrl, eqMask{1 << ifc.MLX5_EVENT_TYPE_PAGE_FAULT}); err != nil {
		return err
	}
	d.odpEQ.eq.Store(e)
	return nil
}

// odpDestroyEQ models mlx5_ib_odp_destroy_eq in drivers/infiniband/hw/mlx5/odp.c.
func (d *Device) odpDestroyEQ(t *trace.Task) {
	if e := d.odpEQ.eq.Swap(nil); e != nil {
		d.destroyUnmapEQ(t, e)
	}
}

// pfInt takes page faults and handles them. It models mlx5_ib_eq_pf_int and
// mlx5_ib_eq_pf_process in drivers/infiniband/hw/mlx5/odp.c; what the kernel leaves
// to a work queue is done at once.
func (d *Device) pfInt(t *trace.Task, e *eq) {
	defer t.Enter(moduleIB, "mlx5_ib_eq_pf_int").Leave()
	e.irq.Lock()
	defer e.irq.Unlock()
	for {
		eqe, ok := e.nextEQE()
		if !ok {
			break
		}
		e.consIndex++
		f := eqe.PageFault()
		d.pfault(t, &f)
	}
	e.updateCI()
}
