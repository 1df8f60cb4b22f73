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
	MLX5MatcherNoMemory = add(Rule{"mlx5-flow/matcher-no-memory", syscall.ENOMEM, "mlx5_ib_handler_MLX5_IB_METHOD_FLOW_MATCHER_CREATE", mlx5FS,
		"There was no memory for the matcher.",
		"Free memory and call again."})
	MLX5MatcherBoth = add(Rule{"mlx5-flow/matcher-type-and-flags", syscall.EINVAL, "mlx5_ib_matcher_ns", mlx5FS,
		"Both the type of flow tables and flow flags were given.",
		"Pass the type alone."})
	MLX5MatcherFDB = add(Rule{"mlx5-flow/matcher-fdb", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_FLOW_MATCHER_CREATE", mlx5FS,
		"The device's switch is not in the mode in which users may steer in it.",
		"Put the switch into switchdev mode, or steer in a NIC's tables."})
	MLX5MatcherBusy = add(Rule{"mlx5-flow/matcher-busy", syscall.EBUSY, "flow_matcher_cleanup", mlx5FS,
		"Flows use the matcher.",
		"Destroy the flows first."})
	MLX5FlowPrivilege = add(Rule{"mlx5-flow/privilege", syscall.EPERM, "mlx5_ib_handler_MLX5_IB_METHOD_CREATE_FLOW", mlx5FS,
		"The caller lacks CAP_NET_RAW.",
		"Run the program with that capability."})
	MLX5AnchorPrivilege = add(Rule{"mlx5-flow/anchor-privilege", syscall.EPERM, "mlx5_ib_handler_MLX5_IB_METHOD_STEERING_ANCHOR_CREATE", mlx5FS,
		"The caller lacks CAP_NET_RAW.",
		"Run the program with that capability."})
	MLX5AnchorNoMemory = add(Rule{"mlx5-flow/anchor-no-memory", syscall.ENOMEM, "mlx5_ib_handler_MLX5_IB_METHOD_STEERING_ANCHOR_CREATE", mlx5FS,
		"There was no memory for the anchor.",
		"Free memory and call again."})
	MLX5AnchorNoNamespace = add(Rule{"mlx5-flow/anchor-no-namespace", syscall.EOPNOTSUPP, "_get_flow_table", mlx5FS,
		"The device has no flow tables of that type.",
		"Use a type of tables that the device has."})
	MLX5AnchorPriority = add(Rule{"mlx5-flow/anchor-priority", syscall.EINVAL, "__mlx5_create_flow_table", mlx5FSCore,
		"The priority is above 15.",
		"Pass a priority between 0 and 15."})
	MLX5ModHdrUnsupported = add(Rule{"mlx5-flow/modify-header-unsupported", syscall.EOPNOTSUPP,
		"mlx5_ib_handler_MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER", mlx5FS,
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
		"mlx5_ib_handler_MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT", mlx5FS,
		"Packets are not reformatted that way in flow tables of that type.",
		"Take tunnels off in the tables for received packets, and put them on in those for sent ones."})
	MLX5ReformatNoMemory = add(Rule{"mlx5-flow/reformat-no-memory", syscall.ENOMEM,
		"mlx5_ib_handler_MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT", mlx5FS,
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
	MLX5FlowNoNamespace = add(Rule{"mlx5-flow/no-namespace", syscall.EOPNOTSUPP, "get_flow_table", mlx5FS,
		"The device has no flow tables of that kind, or the type of flow is unknown.",
		"Pass a type of IB_FLOW_ATTR_…, on a device that users may steer on."})
	MLX5FlowSniffer = add(Rule{"mlx5-flow/sniffer", syscall.EOPNOTSUPP, "get_flow_table", mlx5FS,
		"The device shows packets to a sniffer or to who receives them, not to both (capability allow_sniffer_and_nic_rx_shared_tir).",
		"Use a flow of another type."})
	MLX5FlowRequestSize = add(Rule{"mlx5-flow/request-size", syscall.EOPNOTSUPP, "mlx5_ib_create_flow", mlx5FS,
		"The driver's part of the request is shorter than its fixed fields.",
		"Pass struct mlx5_ib_create_flow, or nothing."})
	MLX5FlowRequestFault = add(Rule{"mlx5-flow/request-fault", syscall.EFAULT, "mlx5_ib_create_flow", mlx5FS,
		"The driver's part of the request cannot be read.",
		"Pass memory that is mapped."})
	MLX5FlowRequestCounters = add(Rule{"mlx5-flow/request-counters", syscall.EINVAL, "mlx5_ib_create_flow", mlx5FS,
		"More than one set of counters is described.",
		"Describe one set, or none."})
	MLX5FlowRequestTail = add(Rule{"mlx5-flow/request-tail", syscall.EOPNOTSUPP, "mlx5_ib_create_flow", mlx5FS,
		"The driver's part of the request has bytes that are not 0 behind what the driver knows.",
		"Clear them."})
	MLX5FlowNoMemory = add(Rule{"mlx5-flow/no-memory", syscall.ENOMEM, "mlx5_ib_create_flow", mlx5FS,
		"There was no memory for the flow.",
		"Free memory and call again."})
	MLX5FlowCoreNoMemory = add(Rule{"mlx5-flow/core-no-memory", syscall.ENOMEM, "_mlx5_add_flow_rules", mlx5FSCore,
		"There is no memory for a table, a group, an entry or a rule of the flow.",
		"Free memory and try again."})
	MLX5FlowPriority = add(Rule{"mlx5-flow/priority", syscall.ENOMEM, "mlx5_ib_create_flow", mlx5FS,
		"The priority is above 15.",
		"Pass a priority between 0 and 15."})
	MLX5FlowFlags = add(Rule{"mlx5-flow/flags", syscall.EINVAL, "mlx5_ib_create_flow", mlx5FS,
		"The flow has flags that the driver does not know.",
		"Pass IB_FLOW_ATTR_FLAGS_DONT_TRAP and IB_FLOW_ATTR_FLAGS_EGRESS alone."})
	MLX5FlowEgressDefault = add(Rule{"mlx5-flow/egress-default", syscall.EINVAL, "mlx5_ib_create_flow", mlx5FS,
		"A flow for what nobody else wants cannot be about packets that are sent.",
		"Leave out the flag, or pass a flow of the normal type."})
	MLX5FlowEtherType = add(Rule{"mlx5-flow/ether-type", syscall.EINVAL, "_create_flow_rule", mlx5FS,
		"The filters for the Ethernet type and for IP contradict each other, or the mask of the type is not whole.",
		"Let the type be that of the version of IP."})
	MLX5FlowIPFields = add(Rule{"mlx5-flow/ip-fields", syscall.EOPNOTSUPP, "parse_flow_attr", mlx5FS,
		"The filter for IP compares fields that the driver does not steer by: the time to live, the flags or the hop limit.",
		"Clear them in the mask."})
	MLX5FlowESP = add(Rule{"mlx5-flow/esp", syscall.EOPNOTSUPP, "parse_flow_attr", mlx5FS,
		"The driver does not steer by ESP.",
		"Leave out the filter."})
	MLX5FlowGREFlags = add(Rule{"mlx5-flow/gre-flags", syscall.EOPNOTSUPP, "parse_flow_attr", mlx5FS,
		"The filter for GRE compares the flags and the version.",
		"Clear them in the mask."})
	MLX5FlowMPLSFields = add(Rule{"mlx5-flow/mpls-fields", syscall.EOPNOTSUPP, "check_mpls_supp_fields", mlx5FS,
		"The device does not compare these fields of a label at this place.",
		"Leave them out of the mask."})
	MLX5FlowProtocol = add(Rule{"mlx5-flow/protocol", syscall.EINVAL, "set_proto", mlx5FS,
		"Two filters ask for different protocols inside of IP.",
		"Let the protocol be that of the filter behind."})
	MLX5FlowTag = add(Rule{"mlx5-flow/tag", syscall.EINVAL, "parse_flow_attr", mlx5FS,
		"The tag has more than 24 bits.",
		"Pass a smaller tag."})
	MLX5FlowActionTwice = add(Rule{"mlx5-flow/action-twice", syscall.EINVAL, "parse_flow_flow_action", mlx5FS,
		"The flow has two actions of one kind.",
		"Pass one of each kind."})
	MLX5FlowCountersTwice = add(Rule{"mlx5-flow/counters-twice", syscall.EINVAL, "parse_flow_attr", mlx5FS,
		"The flow has two sets of counters.",
		"Pass one."})
	MLX5FlowSpecType = add(Rule{"mlx5-flow/spec-type", syscall.EINVAL, "parse_flow_attr", mlx5FS,
		"The driver knows no filter or action of this type.",
		"Pass one of IB_FLOW_SPEC_…."})
	MLX5FlowRawFlags = add(Rule{"mlx5-flow/raw-flags", syscall.EINVAL, "get_dests", mlx5FS,
		"The flow shall both drop packets and let them go on.",
		"Pass one of the flags."})
	MLX5FlowRawManyDests = add(Rule{"mlx5-flow/raw-many-destinations", syscall.EINVAL, "get_dests", mlx5FS,
		"The flow has more than one of a queue pair, an object of the user's own, and a flag.",
		"Pass one of them."})
	MLX5FlowRawRDMADest = add(Rule{"mlx5-flow/raw-rdma-destination", syscall.EINVAL, "get_dests", mlx5FS,
		"A flow of received RDMA packets goes to one of a queue pair and a table of the user's own.",
		"Pass one of them."})
	MLX5FlowRawDevxDest = add(Rule{"mlx5-flow/raw-devx-destination", syscall.EINVAL, "get_dests", mlx5FS,
		"The object is nothing that packets can go to.",
		"Pass a transport interface receive (TIR) or a flow table."})
	MLX5FlowRawRDMATable = add(Rule{"mlx5-flow/raw-rdma-table", syscall.EINVAL, "get_dests", mlx5FS,
		"Received RDMA packets go to no object of the user's own but a flow table.",
		"Pass a flow table."})
	MLX5FlowRawQPType = add(Rule{"mlx5-flow/raw-qp-type", syscall.EINVAL, "get_dests", mlx5FS,
		"The queue pair is none for raw packets.",
		"Pass a queue pair of type IB_QPT_RAW_PACKET."})
	MLX5FlowRawSendDest = add(Rule{"mlx5-flow/raw-send-destination", syscall.EINVAL, "get_dests", mlx5FS,
		"Packets that are sent cannot go to a receiver.",
		"Leave out the destination."})
	MLX5FlowRawCounterOffsets = add(Rule{"mlx5-flow/raw-counter-offsets", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_CREATE_FLOW", mlx5FS,
		"There is not one offset for the one counter.",
		"Pass one number of 4 bytes."})
	MLX5FlowRawCounter = add(Rule{"mlx5-flow/raw-counter", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_CREATE_FLOW", mlx5FS,
		"The object is no flow counter, or it stands for fewer counters than the offset says.",
		"Pass a flow counter, and an offset inside of its bulk."})
	MLX5FlowRawTag = add(Rule{"mlx5-flow/raw-tag", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_CREATE_FLOW", mlx5FS,
		"The tag has more than 24 bits.",
		"Pass a smaller tag."})
	MLX5FlowRawType = add(Rule{"mlx5-flow/raw-type", syscall.EOPNOTSUPP, "raw_fs_rule_add", mlx5FS,
		"The matcher is not for flows of the normal type.",
		"Make a matcher of type MLX5_IB_FLOW_TYPE_NORMAL."})
	MLX5FlowRawPriority = add(Rule{"mlx5-flow/raw-priority", syscall.ENOMEM, "raw_fs_rule_add", mlx5FS,
		"The matcher's priority is above 15.",
		"Make a matcher with a priority between 0 and 15."})
	MLX5FlowRawNoMemory = add(Rule{"mlx5-flow/raw-no-memory", syscall.ENOMEM, "mlx5_ib_handler_MLX5_IB_METHOD_CREATE_FLOW", mlx5FS,
		"There was no memory for the flow.",
		"Free memory and call again."})
	MLX5FlowTableSize = add(Rule{"mlx5-flow/table-size", syscall.ENOSPC, "mlx5_cmd_create_flow_table", mlx5FSCmd,
		"The device has no more tables of this size (capability log_max_ft_size).",
		"Use priorities that have a table already."})
	MLX5FlowTableGroups = add(Rule{"mlx5-flow/table-groups", syscall.ENOSPC, "mlx5_create_auto_grouped_flow_table", mlx5FSCore,
		"The device's tables are too small for as many sorts of flows as a priority has.",
		"Use a device with larger tables."})
	MLX5FlowValue = add(Rule{"mlx5-flow/value", syscall.EINVAL, "_mlx5_add_flow_rules", mlx5FSCore,
		"The value has bits that the mask does not compare.",
		"Clear them in the value."})
	MLX5FlowDest = add(Rule{"mlx5-flow/destination", syscall.EINVAL, "_mlx5_add_flow_rules", mlx5FSCore,
		"A flow counts packets that it neither drops nor sends anywhere, or leads back to a table before its own.",
		"Give the flow a destination, or let it drop."})
	MLX5FlowFull = add(Rule{"mlx5-flow/full", syscall.ENOSPC, "alloc_auto_flow_group", mlx5FSCore,
		"The table has no room for another sort of flows.",
		"Use another priority."})
	MLX5FlowConflictingActions = add(Rule{"mlx5-flow/conflicting-actions", syscall.EEXIST, "check_conflicting_ftes", mlx5FSCore,
		"Another flow for the same packets does something else with them.",
		"Destroy the other flow first, or use another priority."})
	MLX5FlowConflictingTag = add(Rule{"mlx5-flow/conflicting-tag", syscall.EEXIST, "check_conflicting_ftes", mlx5FSCore,
		"Another flow for the same packets gives them another tag.",
		"Use the same tag, or another priority."})
	MLX5FlowNextUnsupported = add(Rule{"mlx5-flow/next-unsupported", syscall.EOPNOTSUPP, "mlx5_add_flow_rules", mlx5FSCore,
		"Packets cannot both be received and go on in these tables (capability nic_rx_multi_path_tirs).",
		"Leave out the flag."})
	MLX5FlowNoNext = add(Rule{"mlx5-flow/no-next", syscall.EOPNOTSUPP, "mlx5_add_flow_rules", mlx5FSCore,
		"There is no table that packets could go on to.",
		"Leave out the flag."})
	MLX5FlowNoModify = add(Rule{"mlx5-flow/no-modify", syscall.EOPNOTSUPP, "mlx5_cmd_update_fte", mlx5FSCmd,
		"The device cannot change a flow that is there (capability flow_modify_en of received packets).",
		"Use packets that no other flow is for."})
	MLX5FlowManyCounters = add(Rule{"mlx5-flow/many-counters", syscall.EINVAL, "mlx5_cmd_set_fte", mlx5FSCmd,
		"The packets are counted by more counters than the device has for a flow (capability log_max_flow_counter).",
		"Destroy another flow for the same packets first."})
)

const mlx5Counters = "drivers/infiniband/hw/mlx5/counters.c"

// The refusals of counters.c of mlx5_ib: counters of flows.
var (
	MLX5CountersReadSize = add(Rule{"mlx5-counters/read-size", syscall.EINVAL, "mlx5_ib_read_counters", mlx5Counters,
		"The buffer has fewer places than the counters were given when they were bound.",
		"Pass a larger buffer."})
	MLX5CountersReadNoMemory = add(Rule{"mlx5-counters/read-no-memory", syscall.ENOMEM, "mlx5_ib_read_counters", mlx5Counters,
		"There was no memory for the values.",
		"Free memory and call again."})
	MLX5CountersMany = add(Rule{"mlx5-counters/many", syscall.EINVAL, "mlx5_ib_flow_counters_set_data", mlx5Counters,
		"More than 8191 counters are described.",
		"Describe each value once."})
	MLX5CountersNoMemory = add(Rule{"mlx5-counters/no-memory", syscall.ENOMEM, "mlx5_ib_flow_counters_set_data", mlx5Counters,
		"There was no memory for the description.",
		"Free memory and call again."})
	MLX5CountersFault = add(Rule{"mlx5-counters/fault", syscall.EFAULT, "mlx5_ib_flow_counters_set_data", mlx5Counters,
		"The description of the counters cannot be read.",
		"Pass memory that is mapped."})
	MLX5CountersBound = add(Rule{"mlx5-counters/bound", syscall.EINVAL, "mlx5_ib_flow_counters_set_data", mlx5Counters,
		"The counters are described already, by an earlier flow that has them.",
		"Describe them with the first flow alone."})
	MLX5CountersUndescribed = add(Rule{"mlx5-counters/undescribed", syscall.EINVAL, "mlx5_ib_flow_counters_set_data", mlx5Counters,
		"Nothing says which value of the counters stands where.",
		"Describe them with the first flow that has them."})
	MLX5CountersDescription = add(Rule{"mlx5-counters/description", syscall.EINVAL, "counters_set_description", mlx5Counters,
		"A flow has no such value.",
		"Ask for IB_COUNTER_PACKETS or IB_COUNTER_BYTES."})
)
