package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// mcgGID is where ATTACH_TO_MCG and DETACH_FROM_MCG have the group.
const mcgGID = 16

// attachMcast lets a queue pair receive what is sent to a group. It models
// mlx5_ib_mcg_attach in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-mcg/underlay, mlx5-cmd/….
func (d *Device) attachMcast(task *process.Task, ib *core.QP, gid [16]byte, _ uint16) error {
	defer task.Trace.Enter(moduleIB, "mlx5_ib_mcg_attach").Leave()
	if toQP(ib).flags&spec.IB_QP_CREATE_SOURCE_QPN != 0 {
		return rule.MLX5McgUnderlay
	}
	return d.cmdMcg(task.Trace, ifc.MLX5_CMD_OP_ATTACH_TO_MCG, ib, &gid)
}

// detachMcast models mlx5_ib_mcg_detach in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-cmd/….
func (d *Device) detachMcast(task *process.Task, ib *core.QP, gid [16]byte, _ uint16) error {
	defer task.Trace.Enter(moduleIB, "mlx5_ib_mcg_detach").Leave()
	return d.cmdMcg(task.Trace, ifc.MLX5_CMD_OP_DETACH_FROM_MCG, ib, &gid)
}

// cmdMcg models mlx5_cmd_attach_mcg and mlx5_cmd_detach_mcg in
// drivers/infiniband/hw/mlx5/cmd.c.
//
// Errors: mlx5-cmd/….
func (d *Device) cmdMcg(t *trace.Task, op uint16, ib *core.QP, gid *[16]byte) error {
	m := d.mailbox(op, toPD(ib.PD).uid, 0)
	defer d.giveBack(m)
	m.setNumber(ib.QPNum)
	copy(m.in[mcgGID:], gid[:])
	return d.exec(t, m.in, m.out)
}
