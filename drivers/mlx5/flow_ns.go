package mlx5

import (
	"uverbsim/rule"
	"uverbsim/spec"
)

// flowTables is a namespace of flow tables: their type, as far as the capabilities
// go, and where in the chain of those they begin.
type flowTables struct {
	props      string // their flow_table_prop_layout in the page
	support    capability
	flowModify capability
	modifyRoot capability
	chaining   []capability // FS_CHAINING_CAPS…: what it takes to put one table behind another
	maxActions capability   // max_modify_header_actions
	logMaxSize capability   // log_max_ft_size
	fsType     uint64       // enum fs_flow_table_type of mlx5_core
	level      uint64       // of the first priority

	logMaxCounters capability // log_max_flow_counter
}

func newFlowTables(props string, fsType, level uint64) flowTables {
	f := flowTables{props: props, support: flow(props + ".ft_support"), maxActions: flow(props + ".max_modify_header_actions"),
		flowModify: flow(props + ".flow_modify_en"), modifyRoot: flow(props + ".modify_root"),
		logMaxSize: flow(props + ".log_max_ft_size"), logMaxCounters: flow(props + ".log_max_flow_counter"), fsType: fsType, level: level}
	f.chaining = []capability{f.flowModify, f.modifyRoot, flow(props + ".identified_miss_table_mode"), flow(props + ".flow_table_modify")}
	return f
}

// Tables for packets that the NIC receives and sends, and for RDMA packets that
// it sends; and for packets that it receives, behind all others those that nobody
// else wanted, and the table where it ends.
var (
	nicRX     = newFlowTables("flow_table_properties_nic_receive", 0, 0)
	nicTX     = newFlowTables("flow_table_properties_nic_transmit", 1, 0)
	rdmaTX    = newFlowTables("flow_table_properties_nic_transmit_rdma", 8, 0)
	leftovers = newFlowTables(nicRX.props, nicRX.fsType, leftoversLevel)
	nicAnchor = newFlowTables(nicRX.props, nicRX.fsType, leftoversLevel+1)

	snifferRX = newFlowTables("flow_table_properties_nic_receive_sniffer", 5, 0)
	snifferTX = newFlowTables("flow_table_properties_nic_transmit_sniffer", 6, 0)
)

// leftoversLevel is how many levels the namespaces of received packets before the
// leftovers have: the users' 33, and 33 of the kernel (macsec, offloads, ethtool and
// the Ethernet driver). Those of bonding are not there with fewer than 119 levels in
// the device.
const leftoversLevel = 33 + 3 + 4 + 11 + 14

// has says whether users can add tables.
func (d *Device) has(f *flowTables) bool {
	c := &d.caps
	if !c.has(f.support) {
		return false
	}
	for _, cap := range f.chaining {
		if !c.has(cap) {
			return false
		}
	}
	return true
}

// hasBypassNamespace says whether the device can steer received packets by its
// users' rules. It models mlx5_get_flow_namespace for MLX5_FLOW_NAMESPACE_BYPASS
// and what mlx5_fs_core_init needs to make that, in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
func (d *Device) hasBypassNamespace() bool {
	return d.caps.get(capPortType) == portTypeEth && d.caps.has(capNICFlowTable) && d.has(&nicRX)
}

// flowNamespace returns the tables of a type that users name, nil if the device
// has none of that type. It models mlx5_ib_ft_type_to_namespace in
// drivers/infiniband/hw/mlx5/fs.c and mlx5_get_flow_namespace in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c. There is no switch in the
// device, and none of its tables are for received RDMA packets.
//
// Errors: mlx5-flow/table-type.
func (d *Device) flowNamespace(typ uint64) (*flowTables, error) {
	switch {
	case typ > spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX:
		return nil, rule.MLX5FlowTableType
	case typ == spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX && d.hasBypassNamespace():
		return &nicRX, nil
	case typ == spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX && d.has(&nicTX):
		return &nicTX, nil
	case typ == spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX && d.has(&rdmaTX):
		return &rdmaTX, nil
	}
	return nil, nil
}
