package core

import (
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// QueryPort asks the driver for a port's attributes. It models ib_query_port
// in drivers/infiniband/core/device.c, for devices other than iWARP; the
// subnet prefix, which no user is told, is left as the driver has it.
//
// Errors: port/invalid, and those of the driver.
func QueryPort(task *process.Task, dev *Device, port uint32, attr *PortAttr) error {
	defer task.Trace.Enter(trace.Core, "ib_query_port").Leave()
	if !dev.IsPort(port) {
		return rule.PortInvalid
	}
	*attr = PortAttr{}
	return dev.Ops.QueryPort(task, dev, port, attr)
}

// IsRoCE says whether the device's ports speak RDMA over Ethernet
// (rdma_protocol_roce in include/rdma/ib_verbs.h).
func (d *Device) IsRoCE() bool { return d.LinkLayer == LinkLayerEthernet && !d.RawPacket }

// IsGRHRequired says whether packets of the device's ports always carry a
// global route header (rdma_is_grh_required in include/rdma/ib_verbs.h): those
// of RoCE do.
func (d *Device) IsGRHRequired() bool { return d.IsRoCE() }
