package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// Where CREATE_RQT has its fields.
var (
	rqtMaxSize    = num(32+22, 2)
	rqtActualSize = num(32+26, 2)
)

const rqtNumbers = 32 + 240

// createRWQIndTable makes a table of receive work queues. It models
// mlx5_ib_create_rwq_ind_table in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-rqt/…, mlx5-cmd/….
func (d *Device) createRWQIndTable(table *core.RWQIndTable, attr *core.RWQIndTableInitAttr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_create_rwq_ind_table").Leave()
	if udata.InLen > 0 && !udata.IsCleared(0, udata.InLen) {
		return rule.MLX5RQTRequest
	}
	if uint64(attr.LogSize) > d.caps.get(capLogMaxRQTSize) {
		return rule.MLX5RQTSize
	}
	if udata.OutLen != 0 && udata.OutLen < wqRespSize {
		return rule.MLX5RQTResponseSize
	}
	if t.Fail(trace.Alloc, "create_rqt_in") {
		return rule.MLX5RQTNoMemory
	}
	size := 1 << attr.LogSize
	uid := toPD(attr.Table[0].PD).uid
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_RQT, uid, 4*size)
	defer d.giveBack(m)
	rqtActualSize.Set(m.in, uint64(size))
	rqtMaxSize.Set(m.in, uint64(size))
	for i := range size {
		be.PutUint32(m.in[rqtNumbers+4*i:], attr.Table[i].WQNum)
	}
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	table.TblNum, table.Driver = m.number(), uid
	if !answerLength(udata) {
		d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_RQT, uid, table.TblNum) // as the kernel does
		return rule.MLX5RQTResponseFault
	}
	return nil
}

// destroyRWQIndTable models mlx5_ib_destroy_rwq_ind_table in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-cmd/….
func (d *Device) destroyRWQIndTable(task *process.Task, table *core.RWQIndTable) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_destroy_rwq_ind_table").Leave()
	return d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_RQT, table.Driver.(uint16), table.TblNum)
}
