package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
)

// toXRCDN returns the number of an XRC domain.
func toXRCDN(x *core.XRCD) uint32 { return x.Driver.(uint32) }

// allocXRCD makes an XRC domain. It models mlx5_ib_alloc_xrcd in
// drivers/infiniband/hw/mlx5/qp.c; a device without XRC has no such operation.
//
// Errors: mlx5-cmd/….
func (d *Device) allocXRCD(x *core.XRCD, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_alloc_xrcd").Leave()
	n, err := d.create(t, ifc.MLX5_CMD_OP_ALLOC_XRCD, 0)
	if err != nil {
		return err
	}
	x.Driver = n
	return nil
}

// deallocXRCD models mlx5_ib_dealloc_xrcd in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-cmd/….
func (d *Device) deallocXRCD(x *core.XRCD, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_dealloc_xrcd").Leave()
	return d.destroy(t, ifc.MLX5_CMD_OP_DEALLOC_XRCD, 0, toXRCDN(x))
}
