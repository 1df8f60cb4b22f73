package rule

import "syscall"

const (
	mlx5FS     = "drivers/infiniband/hw/mlx5/fs.c"
	mlx5FSCore = "drivers/net/ethernet/mellanox/mlx5/core/fs_core.c"
	mlx5FSCmd  = "drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c"
)

// The refusals of fs.c of mlx5_ib and of fs_core.c and fs_cmd.c of mlx5_core:
// steering.
var (
	MLX5FlowTableType = add(Rule{"mlx5-flow/table-type", syscall.EINVAL, "mlx5_ib_ft_type_to_namespace", mlx5FS,
		"The driver knows no such type of flow tables.",
		"Pass one of MLX5_IB_UAPI_FLOW_TABLE_TYPE_…."})
	MLX5MatcherNoMemory = add(Rule{"mlx5-flow/matcher-no-memory", syscall.ENOMEM, "MLX5_IB_METHOD_FLOW_MATCHER_CREATE", mlx5FS,
		"There was no memory for the matcher.",
		"Free memory and call again."})
	MLX5MatcherBoth = add(Rule{"mlx5-flow/matcher-type-and-flags", syscall.EINVAL, "mlx5_ib_matcher_ns", mlx5FS,
		"Both the type of flow tables and flow flags were given.",
		"Pass the type alone."})
	MLX5MatcherFDB = add(Rule{"mlx5-flow/matcher-fdb", syscall.EINVAL, "MLX5_IB_METHOD_FLOW_MATCHER_CREATE", mlx5FS,
		"The device's switch is not in the mode in which users may steer in it.",
		"Put the switch into switchdev mode, or steer in a NIC's tables."})
	MLX5MatcherBusy = add(Rule{"mlx5-flow/matcher-busy", syscall.EBUSY, "flow_matcher_cleanup", mlx5FS,
		"Flows use the matcher.",
		"Destroy the flows first."})
	MLX5FlowPrivilege = add(Rule{"mlx5-flow/privilege", syscall.EPERM, "MLX5_IB_METHOD_CREATE_FLOW", mlx5FS,
		"The caller lacks CAP_NET_RAW.",
		"Run the program with that capability."})
	MLX5AnchorPrivilege = add(Rule{"mlx5-flow/anchor-privilege", syscall.EPERM, "MLX5_IB_METHOD_STEERING_ANCHOR_CREATE", mlx5FS,
		"The caller lacks CAP_NET_RAW.",
		"Run the program with that capability."})
	MLX5AnchorNoMemory = add(Rule{"mlx5-flow/anchor-no-memory", syscall.ENOMEM, "MLX5_IB_METHOD_STEERING_ANCHOR_CREATE", mlx5FS,
		"There was no memory for the anchor.",
		"Free memory and call again."})
	MLX5AnchorNoNamespace = add(Rule{"mlx5-flow/anchor-no-namespace", syscall.EOPNOTSUPP, "_get_flow_table", mlx5FS,
		"The device has no flow tables of that type.",
		"Use a type of tables that the device has."})
	MLX5AnchorPriority = add(Rule{"mlx5-flow/anchor-priority", syscall.EINVAL, "__mlx5_create_flow_table", mlx5FSCore,
		"The priority is above 15.",
		"Pass a priority between 0 and 15."})
	MLX5ModHdrUnsupported = add(Rule{"mlx5-flow/modify-header-unsupported", syscall.EOPNOTSUPP,
		"MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER", mlx5FS,
		"The device modifies no headers (capability max_modify_header_actions).",
		"Steer without modifications."})
	MLX5ModHdrTableType = add(Rule{"mlx5-flow/modify-header-table-type", syscall.EINVAL, "mlx5_ib_create_modify_header", mlx5FS,
		"The driver knows no such type of flow tables.",
		"Pass one of MLX5_IB_UAPI_FLOW_TABLE_TYPE_…."})
	MLX5ModHdrNoMemory = add(Rule{"mlx5-flow/modify-header-no-memory", syscall.ENOMEM, "mlx5_ib_create_modify_header", mlx5FS,
		"There was no memory for the action.",
		"Free memory and call again."})
	MLX5ModHdrNoNamespace = add(Rule{"mlx5-flow/modify-header-no-namespace", syscall.EOPNOTSUPP, "mlx5_modify_header_alloc", mlx5FSCore,
		"The device has no flow tables of that type.",
		"Use a type of tables that the device has."})
	MLX5ModHdrActions = add(Rule{"mlx5-flow/modify-header-actions", syscall.EOPNOTSUPP, "mlx5_cmd_modify_header_alloc", mlx5FSCmd,
		"There are more modifications than the device does at once (capability max_modify_header_actions).",
		"Pass fewer actions of 8 bytes."})
	MLX5ReformatUnsupported = add(Rule{"mlx5-flow/reformat-unsupported", syscall.EOPNOTSUPP,
		"MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT", mlx5FS,
		"Packets are not reformatted that way in flow tables of that type.",
		"Take tunnels off in the tables for received packets, and put them on in those for sent ones."})
	MLX5ReformatNoMemory = add(Rule{"mlx5-flow/reformat-no-memory", syscall.ENOMEM,
		"MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT", mlx5FS,
		"There was no memory for the action.",
		"Free memory and call again."})
	MLX5ReformatType = add(Rule{"mlx5-flow/reformat-type", syscall.EINVAL, "mlx5_ib_dv_to_prm_packet_reforamt_type", mlx5FS,
		"The way to reformat packets has bits above the eighth.",
		"Pass one of MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_…."})
	MLX5ReformatNoNamespace = add(Rule{"mlx5-flow/reformat-no-namespace", syscall.EOPNOTSUPP, "mlx5_packet_reformat_alloc", mlx5FSCore,
		"The device has no flow tables of that type.",
		"Use a type of tables that the device has."})
	MLX5ReformatSize = add(Rule{"mlx5-flow/reformat-size", syscall.EINVAL, "mlx5_cmd_packet_reformat_alloc", mlx5FSCmd,
		"The header is longer than the device puts on (capability max_encap_header_size).",
		"Pass a shorter header."})
)
