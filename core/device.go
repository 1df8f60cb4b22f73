package core

import (
	"slices"
	"sync/atomic"

	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Device is a struct ib_device: what a driver registers.
type Device struct {
	Name           string // "mlx5_0"
	Ops            DeviceOps
	DriverID       uint32 // enum rdma_driver_id
	UverbsABI      uint32 // ib_device_ops.uverbs_abi_ver
	NumCompVectors uint32
	PhysPorts      uint32 // ports, numbered from 1
	NodeType       uint8  // enum rdma_node_type
	UverbsCmdMask  uint64 // bit N: the write() command N
	LinkLayer      uint8  // IB_LINK_LAYER_…, of every port
	RawPacket      bool   // the ports carry Ethernet frames and nothing else (RDMA_CORE_PORT_RAW_PACKET)
	Attr           DeviceAttr
	GIDTblLen      int32     // entries of each port's GID table
	GIDs           []GIDAttr // the valid ones, in the order of port and index

	// ResolveAddr finds what the network knows of an IP address: the MAC
	// address behind it and the hop limit of the route (rdma_resolve_ip in
	// drivers/infiniband/core/addr.c). nil is a network without ARP, which
	// reaches every address.
	ResolveAddr func(task *process.Task, sgid *GIDAttr, dgid [16]byte) (mac [6]byte, hopLimit uint8, err error)

	// NetNS is the network namespace that the device is in (coredev.rdma_net);
	// nil is process.InitNet.
	NetNS *process.NetNS

	// Kernel is the version of the kernel that the device is part of. A driver
	// for which that makes no difference leaves it nil, and the machine that the
	// device is registered on sets it.
	Kernel *spec.Kernel

	// Sysfs is what sysfs tells beside the above.
	Sysfs SysfsInfo

	Driver any // the driver's own struct around it

	handlersLock trace.RWSem // event_handler_rwsem
	handlers     []*EventHandler

	umems atomic.Int64
}

// InitLocks gives the device's locks the names by which they pass through the
// seam. A machine does so when the device is registered.
func (d *Device) InitLocks() { d.handlersLock.Name = "event_handler_rwsem" }

// IsPort says whether the device has that port (rdma_is_port_valid).
func (d *Device) IsPort(port uint32) bool { return port >= 1 && port <= d.PhysPorts }

// AccessNetNS says whether a process of a network namespace may use the device:
// always, where namespaces share the devices. It models rdma_dev_access_netns
// in drivers/infiniband/core/device.c.
func (d *Device) AccessNetNS(t *trace.Task, shared bool, ns *process.NetNS) bool {
	defer t.Enter(trace.Core, "rdma_dev_access_netns").Leave()
	own := d.NetNS
	if own == nil {
		own = process.InitNet
	}
	return shared || own == ns
}

// Event is a struct ib_event: something that happened to the device, a port
// or an object, outside of any call.
type Event struct {
	Type uint32 // enum ib_event_type
	Port uint32 // of a port event
	CQ   *CQ    // of a CQ event; QP, SRQ and WQ likewise
	QP   *QP
	SRQ  *SRQ
	WQ   *WQ
}

// EventHandler is a struct ib_event_handler: who wants the device's and its
// ports' events.
type EventHandler struct {
	Handle func(t *trace.Task, e *Event)
}

// RegisterEventHandler adds h at the end. It models ib_register_event_handler
// in drivers/infiniband/core/device.c.
func (d *Device) RegisterEventHandler(task *process.Task, h *EventHandler) {
	t := task.Trace
	defer t.Enter(trace.Core, "ib_register_event_handler").Leave()
	d.handlersLock.DownWrite(t)
	d.handlers = append(d.handlers, h)
	d.handlersLock.UpWrite(t)
}

// UnregisterEventHandler takes h out. It models ib_unregister_event_handler in
// drivers/infiniband/core/device.c.
func (d *Device) UnregisterEventHandler(task *process.Task, h *EventHandler) {
	t := task.Trace
	defer t.Enter(trace.Core, "ib_unregister_event_handler").Leave()
	d.handlersLock.DownWrite(t)
	if i := slices.Index(d.handlers, h); i >= 0 {
		d.handlers = slices.Delete(d.handlers, i, i+1)
	}
	d.handlersLock.UpWrite(t)
}

// DispatchEvent hands a device or port event to all handlers. It models
// ib_dispatch_event_clients in drivers/infiniband/core/device.c; the kernel
// runs it from a work queue, here the caller decides when. A change of the GID
// table never gets this far when a driver raises it: the cache keeps it.
func (d *Device) DispatchEvent(t *trace.Task, e *Event) {
	defer t.Enter(trace.Core, "ib_dispatch_event_clients").Leave()
	if e.Type == EventGIDChange {
		return
	}
	d.handlersLock.DownRead(t)
	for _, h := range d.handlers {
		h.Handle(t, e)
	}
	d.handlersLock.UpRead(t)
}

// EventGIDChange is IB_EVENT_GID_CHANGE of enum ib_event_type.
const EventGIDChange = 18

// Umems returns how many pieces of users' memory there are for the device that were
// made (ib_umem_get and its like) and not released.
func (d *Device) Umems() int { return int(d.umems.Load()) }

// EventHandlers returns how many handlers are registered.
func (d *Device) EventHandlers() int {
	d.handlersLock.DownRead(nil)
	defer d.handlersLock.UpRead(nil)
	return len(d.handlers)
}
