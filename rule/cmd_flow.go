package rule

import "syscall"

// The refusals of the write() commands of flow rules.
var (
	CmdFlowCompMask = add(Rule{"cmd-flow/comp-mask", syscall.EINVAL, "ib_uverbs_ex_create_flow", uverbsCmd,
		"The member comp_mask is not zero.",
		"Set comp_mask to 0."})
	CmdFlowCap = add(Rule{"cmd-flow/cap", syscall.EPERM, "ib_uverbs_ex_create_flow", uverbsCmd,
		"A flow rule was asked for without CAP_NET_RAW.",
		"Give the process CAP_NET_RAW."})
	CmdFlowFlags = add(Rule{"cmd-flow/flags", syscall.EINVAL, "ib_uverbs_ex_create_flow", uverbsCmd,
		"A flag of the rule is set that the kernel does not know.",
		"Use IB_FLOW_ATTR_FLAGS_DONT_TRAP and IB_FLOW_ATTR_FLAGS_EGRESS only."})
	CmdFlowDontTrap = add(Rule{"cmd-flow/dont-trap", syscall.EINVAL, "ib_uverbs_ex_create_flow", uverbsCmd,
		"A default rule cannot let packets pass to further rules.",
		"Leave IB_FLOW_ATTR_FLAGS_DONT_TRAP out, or make a normal rule."})
	CmdFlowManySpecs = add(Rule{"cmd-flow/many-specs", syscall.EINVAL, "ib_uverbs_ex_create_flow", uverbsCmd,
		"The rule has more than 10 specifications.",
		"Use at most 10."})
	CmdFlowSize = add(Rule{"cmd-flow/size", syscall.EINVAL, "ib_uverbs_ex_create_flow", uverbsCmd,
		"The specifications are longer than that many can be.",
		"Set size to the sum of the sizes of the specifications, and num_of_specs to their number."})
	CmdFlowReserved = add(Rule{"cmd-flow/reserved", syscall.EINVAL, "ib_uverbs_ex_create_flow", uverbsCmd,
		"The reserved bytes of the rule are not zero.",
		"Clear the struct before filling it in."})
	CmdFlowSpecsNoMemory = add(Rule{"cmd-flow/specs-no-memory", syscall.ENOMEM, "ib_uverbs_ex_create_flow", uverbsCmd,
		"There was no memory for the user's specifications.",
		"Free memory and call again."})
	CmdFlowPort = add(Rule{"cmd-flow/port", syscall.EINVAL, "ib_uverbs_ex_create_flow", uverbsCmd,
		"The device has no port of that number.",
		"Pass a port from 1 to the device's phys_port_cnt."})
	CmdFlowQPType = add(Rule{"cmd-flow/qp-type", syscall.EINVAL, "ib_uverbs_ex_create_flow", uverbsCmd,
		"Packets can be steered to UD and raw packet QPs only.",
		"Pass a QP of type UD or RAW_PACKET."})
	CmdFlowNoMemory = add(Rule{"cmd-flow/no-memory", syscall.ENOMEM, "ib_uverbs_ex_create_flow", uverbsCmd,
		"There was no memory for the rule.",
		"Free memory and call again."})
	CmdFlowResourcesNoMemory = add(Rule{"cmd-flow/resources-no-memory", syscall.ENOMEM, "ib_uverbs_ex_create_flow", uverbsCmd,
		"There was no memory for the lists of the rule's actions and counters.",
		"Free memory and call again."})
	CmdFlowLeftover = add(Rule{"cmd-flow/leftover", syscall.EINVAL, "ib_uverbs_ex_create_flow", uverbsCmd,
		"The specifications do not fill size exactly, or there are fewer than num_of_specs.",
		"Set size to the sum of the sizes of the specifications, and num_of_specs to their number."})
	CmdFlowDestroyCompMask = add(Rule{"cmd-flow/destroy-comp-mask", syscall.EINVAL, "ib_uverbs_ex_destroy_flow", uverbsCmd,
		"The member comp_mask is not zero.",
		"Set comp_mask to 0."})

	CmdFlowSpecReserved = add(Rule{"cmd-flow/spec-reserved", syscall.EINVAL, "kern_spec_to_ib_spec", uverbsCmd,
		"The reserved member of a specification is not zero.",
		"Clear the specification before filling it in."})
	CmdFlowTagSize = add(Rule{"cmd-flow/tag-size", syscall.EINVAL, "kern_spec_to_ib_spec_action", uverbsCmd,
		"The size of a tag action is not 16.",
		"Set size to the size of struct ib_uverbs_flow_spec_action_tag."})
	CmdFlowDropSize = add(Rule{"cmd-flow/drop-size", syscall.EINVAL, "kern_spec_to_ib_spec_action", uverbsCmd,
		"The size of a drop action is not 8.",
		"Set size to the size of struct ib_uverbs_flow_spec_action_drop."})
	CmdFlowActionSize = add(Rule{"cmd-flow/action-size", syscall.EOPNOTSUPP, "kern_spec_to_ib_spec_action", uverbsCmd,
		"The size of an action that names a flow action is not 16.",
		"Set size to the size of struct ib_uverbs_flow_spec_action_handle."})
	CmdFlowCountSize = add(Rule{"cmd-flow/count-size", syscall.EINVAL, "kern_spec_to_ib_spec_action", uverbsCmd,
		"The size of an action that names counters is not 16.",
		"Set size to the size of struct ib_uverbs_flow_spec_action_count."})
	CmdFlowActionType = add(Rule{"cmd-flow/action-type", syscall.EINVAL, "kern_spec_to_ib_spec_action", uverbsCmd,
		"The type of a specification is none that the kernel knows.",
		"Use a type of enum ib_flow_spec_type."})
	CmdFlowFilterShort = add(Rule{"cmd-flow/filter-short", syscall.EINVAL, "kern_spec_to_ib_spec_filter", uverbsCmd,
		"The size of a filter is smaller than its header.",
		"Set size to the header, the value and the mask together."})
	CmdFlowFilterAlignment = add(Rule{"cmd-flow/filter-alignment", syscall.EINVAL, "ib_uverbs_kern_spec_to_ib_spec_filter", uverbsCmd,
		"The value of a filter is no multiple of 4 bytes.",
		"Send value and mask in multiples of 4 bytes each."})
	CmdFlowFilterInnerTunnel = add(Rule{"cmd-flow/filter-inner-tunnel", syscall.EINVAL, "ib_uverbs_kern_spec_to_ib_spec_filter", uverbsCmd,
		"A tunnel inside a tunnel cannot be matched.",
		"Leave IB_FLOW_SPEC_INNER out."})
	CmdFlowFilterType = add(Rule{"cmd-flow/filter-type", syscall.EINVAL, "ib_uverbs_kern_spec_to_ib_spec_filter", uverbsCmd,
		"The type of a filter is none that the kernel knows.",
		"Use a type of enum ib_flow_spec_type."})
	CmdFlowFilterSize = add(Rule{"cmd-flow/filter-size", syscall.EINVAL, "ib_uverbs_kern_spec_to_ib_spec_filter", uverbsCmd,
		"A filter is empty, or longer than the kernel knows it with bits in the rest of its mask.",
		"Send the filter as long as the kernel knows it."})
	CmdFlowLabel = add(Rule{"cmd-flow/flow-label", syscall.EINVAL, "ib_uverbs_kern_spec_to_ib_spec_filter", uverbsCmd,
		"An IPv6 flow label has more than 20 bits.",
		"Set the low 20 bits of flow_label only, in value and mask."})
	CmdFlowTunnelID = add(Rule{"cmd-flow/tunnel-id", syscall.EINVAL, "ib_uverbs_kern_spec_to_ib_spec_filter", uverbsCmd,
		"A tunnel's number has more than 24 bits.",
		"Set the low 24 bits of tunnel_id only, in value and mask."})
)
