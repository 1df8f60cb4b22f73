package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// resource is a kind of what the driver finds events' owners among (enum
// mlx5_res_type in include/linux/mlx5/driver.h).
type resource struct {
	create  string // the function that makes one
	destroy uint16 // the command that ends it
}

var (
	resQP = resource{"mlx5_qpc_create_qp", ifc.MLX5_CMD_OP_DESTROY_QP}
	resRQ = resource{"mlx5_core_create_rq_tracked", ifc.MLX5_CMD_OP_DESTROY_RQ}
	resSQ = resource{"mlx5_core_create_sq_tracked", ifc.MLX5_CMD_OP_DESTROY_SQ}
)

// createResource runs the command that makes a resource, gives it its place in the
// driver's table and returns its number. It models mlx5_qpc_create_qp,
// mlx5_core_create_rq_tracked, mlx5_core_create_sq_tracked and
// create_resource_common in drivers/infiniband/hw/mlx5/qpc.c.
//
// Errors: mlx5-qp/table-no-memory, mlx5-cmd/….
func (d *Device) createResource(t *trace.Task, r *resource, m *mailbox) (uint32, error) {
	defer t.Enter(moduleIB, r.create).Leave()
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	n := m.number()
	if t.Fail(trace.Alloc, "qp_table_entry") {
		d.destroy(t, r.destroy, be.Uint16(m.in[2:]), n) // as the kernel does, whatever it answers
		return 0, rule.MLX5QPTableNoMemory
	}
	return n, nil
}

// coreCreateDCT makes the DCT that the command describes, for a caller who looks at
// the command's status. It models mlx5_core_create_dct in
// drivers/infiniband/hw/mlx5/qpc.c.
//
// Errors: mlx5-qp/dct-table-no-memory, mlx5-cmd/status, mlx5-cmd/down,
// mlx5-cmd/no-memory, mlx5-cmd/timeout.
func (d *Device) coreCreateDCT(t *trace.Task, in, out []byte) error {
	defer t.Enter(moduleIB, "mlx5_core_create_dct").Leave()
	if err := d.cmdDo(t, in, out); err != nil {
		return err
	}
	if t.Fail(trace.Alloc, "dct_xa_entry") {
		d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_DCT, be.Uint16(in[2:]), dctNumber(out)) // as the kernel does, whatever it answers
		return rule.MLX5QPDCTTableNoMemory
	}
	return nil
}

// dctNumber is the number of the DCT that CREATE_DCT has answered.
func dctNumber(out []byte) uint32 { return be.Uint32(out[8:]) & 0xffffff }
