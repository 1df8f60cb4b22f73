package mlx5

import "uverbsim/core"

// ops returns the operations of the device: those of mlx5_ib_dev_ops, and the
// tables that a capability adds. It models what the stages of
// drivers/infiniband/hw/mlx5/main.c hand to ib_set_device_ops.
func (d *Device) ops() core.DeviceOps {
	ops := d.devOps()
	if d.caps.has(capIMAICL) {
		d.mwOps(&ops)
	}
	if d.odpCaps.General&odpSupport != 0 {
		ops.AdviseMR = d.adviseMR // mlx5_ib_dev_odp_ops
	}
	if d.caps.has(capXRC) {
		d.xrcOps(&ops)
	}
	if d.caps.has(capMemic) || d.caps.get(capGeneralObjTypes)&objTypesSWICM != 0 {
		d.dmOps(&ops)
	}
	if d.IB.LinkLayer == core.LinkLayerEthernet {
		d.commonROCEOps(&ops)
	}
	d.flowOps(&ops)
	d.countersOps(&ops)
	return ops
}

// devOps is mlx5_ib_dev_ops.
func (d *Device) devOps() core.DeviceOps {
	return core.DeviceOps{
		AllocUcontext:        d.allocUcontext,
		DeallocUcontext:      d.deallocUcontext,
		DisassociateUcontext: d.disassociateUcontext,
		QueryUcontext:        d.queryUcontext,
		Mmap:                 d.mmap,
		MmapFree:             d.mmapFree,

		QueryDevice: d.queryDevice,
		QueryPort:   d.queryPort,
		QueryPkey:   d.queryPkey,
		QueryGID:    d.queryGID,

		AllocPD:   d.allocPD,
		DeallocPD: d.deallocPD,

		CreateCQ:    d.ibCreateCQ,
		ModifyCQ:    d.modifyCQ,
		ResizeCQ:    d.resizeCQ,
		DestroyCQ:   d.destroyCQ,
		PollCQ:      pollCQ,
		ReqNotifyCQ: reqNotifyCQ,

		RegUserMR:       d.regUserMR,
		RegUserMRDmabuf: d.regUserMRDmabuf,
		ReregUserMR:     d.reregUserMR,
		DeregMR:         d.deregMR,

		CreateUserAH: d.createUserAH,
		DestroyAH:    destroyAH,

		CreateSRQ:   d.createSRQ,
		ModifySRQ:   d.modifySRQ,
		QuerySRQ:    d.querySRQ,
		DestroySRQ:  d.destroySRQ,
		PostSRQRecv: postSRQRecv,

		CreateQP:    d.createQP,
		ModifyQP:    d.modifyQP,
		QueryQP:     d.queryQP,
		DestroyQP:   d.destroyQP,
		PostSend:    postSend,
		PostRecv:    postRecv,
		AttachMcast: d.attachMcast,
		DetachMcast: d.detachMcast,
	}
}

// mwOps is mlx5_ib_dev_mw_ops.
func (d *Device) mwOps(ops *core.DeviceOps) {
	ops.AllocMW, ops.DeallocMW = d.allocMW, d.deallocMW
}

// xrcOps is mlx5_ib_dev_xrc_ops.
func (d *Device) xrcOps(ops *core.DeviceOps) {
	ops.AllocXRCD, ops.DeallocXRCD = d.allocXRCD, d.deallocXRCD
}

// dmOps is mlx5_ib_dev_dm_ops.
func (d *Device) dmOps(ops *core.DeviceOps) {
	ops.AllocDM, ops.DeallocDM, ops.RegDMMR = d.allocDM, d.deallocDM, d.regDMMR
}

// commonROCEOps is mlx5_ib_dev_common_roce_ops.
func (d *Device) commonROCEOps(ops *core.DeviceOps) {
	ops.CreateWQ, ops.ModifyWQ, ops.DestroyWQ = d.createWQ, d.modifyWQ, d.destroyWQ
	ops.CreateRWQIndTable, ops.DestroyRWQIndTable = d.createRWQIndTable, d.destroyRWQIndTable
}

// flowOps is flow_ops of drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) flowOps(ops *core.DeviceOps) {
	ops.CreateFlow, ops.DestroyFlow, ops.DestroyFlowAction = d.createFlow, d.destroyFlow, destroyFlowAction
}

// countersOps is counters_ops of drivers/infiniband/hw/mlx5/counters.c.
func (d *Device) countersOps(ops *core.DeviceOps) {
	ops.CreateCounters, ops.DestroyCounters, ops.ReadCounters = d.createCounters, d.destroyCounters, d.readCounters
}
