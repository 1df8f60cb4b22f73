package rxe

import (
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/spec"
)

// netdevName is the name of the interface that the recorded device was made on.
const netdevName = "dummy0"

// sysfsInfo is what sysfs tells of a device. It models rxe_register_device and
// rxe_dev_attributes in drivers/infiniband/sw/rxe/rxe_verbs.c; the driver's
// hw_counters are left out.
func (d *rxeDev) sysfsInfo(cfg *Config) core.SysfsInfo {
	return core.SysfsInfo{
		NodeDesc: "rxe",
		Netdevs: []*core.Netdev{{
			Name: netdevName, Index: ifindex, MAC: cfg.MAC, MTU: cfg.MTU, Carrier: d.carrier,
		}},
		Attributes: []core.DeviceAttribute{
			{Name: "parent", Show: func(*process.Task) string { return netdevName }},
		},
	}
}

// carrier says whether the interface is connected.
func (d *rxeDev) carrier() bool {
	return d.port.Load().State == spec.IB_PORT_ACTIVE
}
