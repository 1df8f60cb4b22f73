package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// Capabilities of a DEVX user (include/linux/mlx5/mlx5_ifc.h).
const (
	uctxCapRawTX       = 1 << 0 // MLX5_UCTX_CAP_RAW_TX
	uctxCapInternalRes = 1 << 1 // MLX5_UCTX_CAP_INTERNAL_DEV_RES
)

// capSysRawIO is CAP_SYS_RAWIO of include/uapi/linux/capability.h.
const capSysRawIO process.Cap = 17

var (
	uctxCaps = ifc.Must("create_uctx_in").Field("uctx.cap")
	uctxUID  = ifc.Must("create_uctx_out").Field("uid")
)

// devxCreate makes a DEVX user of the device and returns its uid. A process
// with the privileges for it may send raw packets and use the device's internal
// resources. It models mlx5_ib_devx_create in drivers/infiniband/hw/mlx5/devx.c;
// task is nil for the driver's own uid.
//
// Errors: mlx5-devx/no-uctx, mlx5-cmd/….
func (d *Device) devxCreate(t *trace.Task, task *process.Task) (uint16, error) {
	defer t.Enter(moduleIB, "mlx5_ib_devx_create").Leave()
	if !d.caps.has(capLogMaxUctx) {
		return 0, rule.MLX5DevxNoUctx
	}
	var wanted uint64
	if task != nil && task.Capable(process.CAP_NET_RAW) {
		wanted |= uctxCapRawTX
	}
	if task != nil && task.Capable(capSysRawIO) {
		wanted |= uctxCapInternalRes
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_UCTX, 0, 0)
	defer d.giveBack(m)
	uctxCaps.Set(m.in, wanted&d.caps.get(capUctxCap))
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return uint16(uctxUID.Get(m.out)), nil
}

// devxDestroy ends a DEVX user. It models mlx5_ib_devx_destroy in
// drivers/infiniband/hw/mlx5/devx.c.
func (d *Device) devxDestroy(t *trace.Task, uid uint16) {
	defer t.Enter(moduleIB, "mlx5_ib_devx_destroy").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_DESTROY_UCTX, 0, 0)
	defer d.giveBack(m)
	be.PutUint16(m.in[uctxUIDAt:], uid)
	d.exec(t, m.in, m.out) // as the kernel does
}

// uctxUIDAt is where DESTROY_UCTX has the uid.
const uctxUIDAt = 10

// devxIsSupported models devx_is_supported in drivers/infiniband/hw/mlx5/devx.c.
func (d *Device) devxIsSupported() bool { return d.caps.has(capLogMaxUctx) }

// devxInit makes the uid under which everyone may send a few commands, and has
// events go to their subscribers. A device without users of its own has neither.
// It models mlx5_ib_devx_init in drivers/infiniband/hw/mlx5/devx.c.
func (d *Device) devxInit(t *trace.Task) error {
	defer t.Enter(moduleIB, "mlx5_ib_devx_init").Leave()
	d.devxEvents.init()
	if uid, err := d.devxCreate(t, nil); err == nil {
		d.whitelistUID = uid
	}
	return nil
}

// devxCleanup models mlx5_ib_devx_cleanup in drivers/infiniband/hw/mlx5/devx.c.
func (d *Device) devxCleanup(t *trace.Task) {
	defer t.Enter(moduleIB, "mlx5_ib_devx_cleanup").Leave()
	if d.whitelistUID != 0 {
		d.devxDestroy(t, d.whitelistUID)
		d.whitelistUID = 0
	}
}
