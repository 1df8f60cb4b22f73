package mlx5

// hasBypassNamespace says whether the device can steer packets by its users'
// rules. It models mlx5_get_flow_namespace for MLX5_FLOW_NAMESPACE_BYPASS and
// what mlx5_fs_core_init needs to make that, in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
func (d *Device) hasBypassNamespace() bool {
	c := &d.caps
	if c.get(capPortType) != portTypeEth || !c.has(capNICFlowTable) || !c.has(capNICRxFTSupport) {
		return false
	}
	for _, f := range chainingCaps {
		if !c.has(f) {
			return false
		}
	}
	return true
}

// chainingCaps is FS_CHAINING_CAPS: what it takes to put one table behind
// another.
var chainingCaps = []capability{
	flow("flow_table_properties_nic_receive.flow_modify_en"),
	flow("flow_table_properties_nic_receive.modify_root"),
	flow("flow_table_properties_nic_receive.identified_miss_table_mode"),
	flow("flow_table_properties_nic_receive.flow_table_modify"),
}
