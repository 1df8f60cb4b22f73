package core

import "uverbsim/process"

// PCIFunction is a function of the PCI bus that an RDMA device is (struct
// pci_dev), as far as users are told.
type PCIFunction struct {
	Address          string // domain, bus, device and function: "0001:00:00.0"
	Driver           string // of the function: "mlx5_core"
	Vendor, Device   uint16
	SubsystemVendor  uint16
	SubsystemDevice  uint16
	Class            uint32 // base class, subclass and interface, a byte each
	Revision         uint8
	NUMANode         int // -1 if it is near none
	LinkGen          int // generation of PCI Express that the link runs at, 1 to 6
	LinkWidth        int // lanes
	BARAddr, BARSize uint64
}

// Netdev is the network device of a port (struct net_device), as far as users are
// told of it by way of the RDMA device.
type Netdev struct {
	Name    string // "eth0"
	Index   uint32
	MAC     [6]byte
	MTU     int         // bytes
	Carrier func() bool // says whether it is connected
}

// DeviceAttribute is a file that a driver adds to its device's directory (struct
// device_attribute).
type DeviceAttribute struct {
	Name string
	Show func(task *process.Task) string // without the line's end
}

// PortStat is a counter of a port.
type PortStat struct {
	Name  string
	Value uint64
}

// SysfsInfo is what a driver says of its device for sysfs alone.
type SysfsInfo struct {
	// PCI is the function that the device is (struct ib_device's dev.parent).
	// nil is a device of no bus.
	PCI *PCIFunction
	// Netdevs are the network devices of the ports, that of port 1 first; nil
	// is a port without one.
	Netdevs []*Netdev
	// NodeDesc is the device's own text, FwStr its firmware's version
	// (ib_device_ops.get_dev_fw_str).
	NodeDesc, FwStr string
	// Attributes are the driver's (ib_device_ops.device_group).
	Attributes []DeviceAttribute
	// PortCounters are those of performance management
	// (ib_device_ops.process_mad); nil is a driver without them.
	PortCounters func(task *process.Task, port uint32) []PortStat
}
