package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// cqOwner is told what happens to a completion queue.
type cqOwner interface {
	comp(t *trace.Task)             // a completion that was asked for, from the tasklet
	event(t *trace.Task, typ uint8) // an event of MLX5_EVENT_TYPE_…
}

// coreCQ is a struct mlx5_core_cq: a completion queue as the event queues see
// it.
type coreCQ struct {
	cqn   uint32
	uid   uint16
	armSN uint32
	eq    *compEQ
	owner cqOwner
	// direct takes a completion that was asked for in the interrupt, with its
	// entry; nil leaves it to the tasklet, which tells the owner.
	direct func(t *trace.Task, eqe []byte)

	queued bool // in the event queue's tasklet
}

// cqTable is a struct mlx5_cq_table: the completion queues that an event queue
// reports for, by their number.
type cqTable struct {
	mu  trace.Mutex
	cqs []*coreCQ
}

// get models mlx5_eq_cq_get in drivers/net/ethernet/mellanox/mlx5/core/eq.c.
// The interrupt in which it is called keeps the queue from going.
func (c *cqTable) get(t *trace.Task, cqn uint32) *coreCQ {
	c.mu.Lock(t)
	defer c.mu.Unlock(t)
	if cqn >= uint32(len(c.cqs)) {
		return nil
	}
	return c.cqs[cqn]
}

// add models mlx5_eq_add_cq in drivers/net/ethernet/mellanox/mlx5/core/eq.c.
func (c *cqTable) add(t *trace.Task, cq *coreCQ) {
	defer t.Enter(moduleCore, "mlx5_eq_add_cq").Leave()
	c.mu.Lock(t)
	defer c.mu.Unlock(t)
	for uint32(len(c.cqs)) <= cq.cqn {
		c.cqs = append(c.cqs, nil)
	}
	c.cqs[cq.cqn] = cq
}

// del models mlx5_eq_del_cq in drivers/net/ethernet/mellanox/mlx5/core/eq.c.
func (c *cqTable) del(t *trace.Task, cq *coreCQ) {
	defer t.Enter(moduleCore, "mlx5_eq_del_cq").Leave()
	c.mu.Lock(t)
	defer c.mu.Unlock(t)
	if cq.cqn >= uint32(len(c.cqs)) || c.cqs[cq.cqn] != cq {
		return
	}
	c.cqs[cq.cqn] = nil
}

// addToTasklet models mlx5_add_cq_to_tasklet in
// drivers/net/ethernet/mellanox/mlx5/core/cq.c.
func (cq *coreCQ) addToTasklet(t *trace.Task) {
	defer t.Enter(moduleCore, "mlx5_add_cq_to_tasklet").Leave()
	if !cq.queued {
		cq.queued = true
		cq.eq.tasklet = append(cq.eq.tasklet, cq)
	}
}

var (
	cqcIn        = ifc.Must("create_cq_in").Field("cq_context")
	cqcPas       = ifc.Must("create_cq_in").Field("pas").Byte()
	cqcModify    = ifc.Must("modify_cq_in").Field("cq_context")
	modifyCQPas  = ifc.Must("modify_cq_in").Field("pas").Byte()
	modifySelect = ifc.Must("modify_cq_in").Field("modify_field_select_resize_field_select")
	createCQOut  = ifc.Must("create_cq_out").Field("cqn")

	cqc = struct {
		cqeSize, ignoreOverrun, compEn, miniFormat, logSize, uarPage, period, maxCount, eqn, logPageSize, pageOffset, dbrAddr ifc.Field
	}{
		cqeSize:       ifc.Must("cqc").Field("cqe_sz"),
		ignoreOverrun: ifc.Must("cqc").Field("oi"),
		compEn:        ifc.Must("cqc").Field("cqe_comp_en"),
		miniFormat:    ifc.Must("cqc").Field("mini_cqe_res_format"),
		logSize:       ifc.Must("cqc").Field("log_cq_size"),
		uarPage:       ifc.Must("cqc").Field("uar_page"),
		period:        ifc.Must("cqc").Field("cq_period"),
		maxCount:      ifc.Must("cqc").Field("cq_max_count"),
		eqn:           ifc.Must("cqc").Field("c_eqn_or_apu_element"),
		logPageSize:   ifc.Must("cqc").Field("log_page_size"),
		pageOffset:    ifc.Must("cqc").Field("page_offset"),
		dbrAddr:       ifc.Must("cqc").Field("dbr_addr"),
	}
)

// coreCreateCQ makes the completion queue that the command describes, and hooks
// it to its event queues. It models mlx5_core_create_cq in
// drivers/net/ethernet/mellanox/mlx5/core/cq.c.
//
// Errors: mlx5-cq/no-eq, mlx5-cq/eq-no-memory, mlx5-cmd/….
func (d *Device) coreCreateCQ(t *trace.Task, cq *coreCQ, in, out []byte) error {
	defer t.Enter(moduleCore, "mlx5_core_create_cq").Leave()
	return checked(d.createCQ(t, cq, in, out), in, out)
}

// createCQ is coreCreateCQ for a caller who looks at the command's status. It
// models mlx5_create_cq in drivers/net/ethernet/mellanox/mlx5/core/cq.c.
//
// Errors: mlx5-cq/no-eq, mlx5-cq/eq-no-memory, mlx5-cmd/status, mlx5-cmd/down.
func (d *Device) createCQ(t *trace.Task, cq *coreCQ, in, out []byte) error {
	defer t.Enter(moduleCore, "mlx5_create_cq").Leave()
	if cq.eq = d.compEQOf(uint32(cqc.eqn.Get(cqcIn.Bytes(in)))); cq.eq == nil {
		return rule.MLX5CQNoEQ
	}
	if err := d.cmdDo(t, in, out); err != nil {
		return err
	}
	cq.cqn = uint32(createCQOut.Get(out))
	cq.armSN, cq.queued = 0, false
	cq.uid = be.Uint16(in[2:])
	for _, eq := range []*cqTable{&cq.eq.cqs, &d.asyncEQ.cqs} {
		if t.Fail(trace.Alloc, "cq_table_entry") {
			cq.eq.cqs.del(t, cq)
			d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_CQ, cq.uid, cq.cqn) // as the kernel does, whatever it answers
			return rule.MLX5EQTreeNoMemory
		}
		eq.add(t, cq)
	}
	return nil
}

// coreDestroyCQ ends a completion queue; when it returns no interrupt handler
// uses it any more. It models mlx5_core_destroy_cq in
// drivers/net/ethernet/mellanox/mlx5/core/cq.c.
//
// Errors: mlx5-cmd/….
func (d *Device) coreDestroyCQ(t *trace.Task, cq *coreCQ) error {
	defer t.Enter(moduleCore, "mlx5_core_destroy_cq").Leave()
	d.asyncEQ.cqs.del(t, cq)
	cq.eq.cqs.del(t, cq)
	if err := d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_CQ, cq.uid, cq.cqn); err != nil {
		return err
	}
	cq.synchronize()
	return nil
}

// synchronize waits for the interrupt handlers that may have found the queue in
// their tables (synchronize_irq, and the wait for the last reference).
func (cq *coreCQ) synchronize() {
	for _, e := range [...]*eq{&cq.eq.eq, &cq.eq.dev.asyncEQ} {
		e.irq.Lock()
		e.irq.Unlock() //lint:ignore SA2001 only whoever holds it is waited for
	}
}
