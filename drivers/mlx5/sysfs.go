package mlx5

import (
	"bytes"
	"fmt"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/trace"
)

// What the recorded device's function says of itself on the bus.
const (
	pciVendorMellanox  = 0x15b3
	pciSubsystemDevice = 0x0016
	pciClassEthernet   = 0x020000
	pciBARAddr         = 0x30000000
	pciBARSize         = 32 << 20
	pcieGen            = 4
	pcieLanes          = 16
)

// newPCIFunction is the recorded device's function, in the first domain that the
// machine has no function in.
func newPCIFunction(m *kernel.Machine) *core.PCIFunction {
	taken := map[string]bool{}
	for _, o := range m.Devices() {
		if ib := o.IBDevice(); ib != nil && ib.Sysfs.PCI != nil {
			taken[ib.Sysfs.PCI.Address] = true
		}
	}
	domain := 1
	address := func() string { return fmt.Sprintf("%04x:00:00.0", domain) }
	for taken[address()] {
		domain++
	}
	return &core.PCIFunction{
		Address: address(), Driver: moduleCore,
		Vendor: pciVendorMellanox, Device: pciDeviceID,
		SubsystemVendor: pciVendorMellanox, SubsystemDevice: pciSubsystemDevice,
		Class: pciClassEthernet, Revision: pciRevision, NUMANode: -1,
		LinkGen: pcieGen, LinkWidth: pcieLanes,
		BARAddr: pciBARAddr + uint64(domain-1)*pciBARSize, BARSize: pciBARSize,
	}
}

// initSysfs says what sysfs tells of the device.
//
// Errors: mlx5-cmd/….
func (d *Device) initSysfs(t *trace.Task) error {
	s := &d.IB.Sysfs
	s.PCI = d.cfg.PCI
	s.FwStr = fmt.Sprintf("%d.%d.%04d", fwRevMajor, fwRevMinor, fwRevSubminor)
	var err error
	if s.NodeDesc, err = d.queryNodeDesc(t); err != nil {
		return err
	}
	board, err := d.queryBoardID(t)
	if err != nil {
		return err
	}
	text := func(s string) func(*process.Task) string { return func(*process.Task) string { return s } }
	s.Attributes = []core.DeviceAttribute{
		{Name: "hw_rev", Show: text(fmt.Sprintf("%x", s.PCI.Revision))},
		{Name: "hca_type", Show: text(fmt.Sprintf("MT%d", s.PCI.Device))},
		{Name: "board_id", Show: text(board)},
		{Name: "fw_pages", Show: text(fmt.Sprint(d.fwPages))},
		{Name: "reg_pages", Show: text("0")}, // the firmware gives no page back that it was given
	}
	s.PortCounters = portCounters
	if d.hasNetdev() {
		s.Netdevs = []*core.Netdev{{
			Name: d.cfg.Netdev, Index: netdevIndex, MAC: d.mac, MTU: d.cfg.MTU, Carrier: d.carrier.Load,
		}}
	}
	return nil
}

// queryNodeDesc asks for the text that the device says of itself. It models
// mlx5_query_node_desc in drivers/infiniband/hw/mlx5/main.c for a link of
// Ethernet.
//
// Errors: mlx5-cmd/….
func (d *Device) queryNodeDesc(t *trace.Task) (string, error) {
	defer t.Enter(moduleIB, "mlx5_query_node_desc").Leave()
	const size = 64 // IB_DEVICE_NODE_DESC_MAX
	m := d.mailbox(ifc.MLX5_CMD_OP_ACCESS_REG, 0, size)
	defer d.giveBack(m)
	desc, err := d.accessReg(t, 0, m, size, hw.MLX5_REG_NODE_DESC, nil)
	if err != nil {
		return "", err
	}
	return cString(desc), nil
}

var adapterPSID = ifc.Must("query_adapter_out").Field("query_adapter_struct.vsd_contd_psid")

// queryBoardID models mlx5_query_board_id in
// drivers/net/ethernet/mellanox/mlx5/core/fw.c.
//
// Errors: mlx5-cmd/….
func (d *Device) queryBoardID(t *trace.Task) (string, error) {
	defer t.Enter(moduleCore, "mlx5_query_board_id").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_QUERY_ADAPTER, 0, 0)
	defer d.giveBack(m)
	if err := d.exec(t, m.in, m.out); err != nil {
		return "", err
	}
	return cString(adapterPSID.Bytes(m.out)), nil
}

// cString is the text before the first zero.
func cString(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}

// portCounterNames are the counters of a port whose hardware does not tell
// multicast from unicast (pma_attrs_noietf in
// drivers/infiniband/core/sysfs.c).
var portCounterNames = []string{
	"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors", "port_rcv_remote_physical_errors",
	"port_rcv_switch_relay_errors", "port_xmit_discards", "port_xmit_constraint_errors", "port_rcv_constraint_errors",
	"local_link_integrity_errors", "excessive_buffer_overrun_errors", "VL15_dropped", "port_xmit_data", "port_rcv_data",
	"port_xmit_packets", "port_rcv_packets", "port_xmit_wait",
}

// portCounters says what the port has counted: nothing, for the adapter does not
// count.
func portCounters(_ *process.Task, _ uint32) []core.PortStat {
	stats := make([]core.PortStat, len(portCounterNames))
	for i, name := range portCounterNames {
		stats[i].Name = name
	}
	return stats
}
