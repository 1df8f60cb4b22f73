package rxe

import (
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// deviceOps is rxe_dev_ops in drivers/infiniband/sw/rxe/rxe_verbs.c.
var deviceOps = core.DeviceOps{
	AllocMW:         allocMW,
	AllocPD:         allocPD,
	AllocUcontext:   allocUcontext,
	AttachMcast:     attachMcast,
	CreateCQ:        createCQ,
	CreateQP:        createQP,
	CreateSRQ:       createSRQ,
	CreateUserAH:    createUserAH,
	DeallocMW:       deallocMW,
	DeallocPD:       deallocPD,
	DeallocUcontext: deallocUcontext,
	DeregMR:         deregMR,
	DestroyAH:       destroyAH,
	DestroyCQ:       destroyCQ,
	DestroyQP:       destroyQP,
	DestroySRQ:      destroySRQ,
	DetachMcast:     detachMcast,
	Mmap:            mmap,
	ModifyQP:        modifyQP,
	ModifySRQ:       modifySRQ,
	PollCQ:          pollCQ,
	PostRecv:        postRecv,
	PostSend:        postSend,
	PostSRQRecv:     postSRQRecv,
	QueryDevice:     queryDevice,
	QueryPkey:       queryPkey,
	QueryPort:       queryPort,
	QueryQP:         queryQP,
	QuerySRQ:        querySRQ,
	RegUserMR:       regUserMR,
	ReqNotifyCQ:     reqNotifyCQ,
	ReregUserMR:     reregUserMR,
	ResizeCQ:        resizeCQ,
}

// ops returns the operations that the driver has in its kernel.
func (d *rxeDev) ops() core.DeviceOps {
	ops := deviceOps
	if !d.kernel.Has(spec.RxeReregMR) {
		ops.ReregUserMR = nil
	}
	return ops
}

// queryDevice models rxe_query_device in
// drivers/infiniband/sw/rxe/rxe_verbs.c. udata is nil when the kernel itself
// asks.
//
// Errors: rxe/query-device-udata.
func queryDevice(task *process.Task, dev *core.Device, attr *core.DeviceAttr, udata *core.Udata) error {
	defer task.Trace.Enter(module, "rxe_query_device").Leave()
	if udata != nil && (udata.InLen != 0 || udata.OutLen != 0) {
		return rule.RxeQueryDeviceUdata
	}
	*attr = toRdev(dev).attr
	return nil
}

// queryPort models rxe_query_port in drivers/infiniband/sw/rxe/rxe_verbs.c. Of
// an interface that does not tell its speed, such as a dummy, 1 Gb/s is assumed
// (ib_get_eth_speed in drivers/infiniband/core/verbs.c), which is one lane at
// the least rate.
//
// Errors: rxe/query-port.
func queryPort(task *process.Task, dev *core.Device, port uint32, attr *core.PortAttr) error {
	t := task.Trace
	defer t.Enter(module, "rxe_query_port").Leave()
	if port != numPorts {
		return rule.RxeQueryPort
	}
	d := toRdev(dev)
	if t != nil { // otherwise nobody sees the lock: the port is replaced as a whole
		d.usdevLock.Lock(t)
		defer d.usdevLock.Unlock(t)
	}
	*attr = *d.port.Load()
	attr.ActiveSpeed, attr.ActiveWidth = spec.IB_SPEED_SDR, spec.IB_WIDTH_1X
	attr.PhysState = spec.IB_PORT_PHYS_STATE_POLLING
	if attr.State == spec.IB_PORT_ACTIVE {
		attr.PhysState = spec.IB_PORT_PHYS_STATE_LINK_UP
	}
	return nil
}

// queryPkey models rxe_query_pkey in drivers/infiniband/sw/rxe/rxe_verbs.c: the
// table has the default key alone.
//
// Errors: rxe/query-pkey.
func queryPkey(task *process.Task, _ *core.Device, _ uint32, index uint16) (uint16, error) {
	defer task.Trace.Enter(module, "rxe_query_pkey").Leave()
	if index != 0 {
		return 0, rule.RxeQueryPkey
	}
	return defaultPkeyFull, nil
}
