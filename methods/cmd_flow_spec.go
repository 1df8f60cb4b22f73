package methods

import (
	"encoding/binary"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// The specifications of a flow rule: filters, each a value and a mask of the
// same length behind a header, and actions.

// flowFilterSizes has the sizes of the kernel's filters, in bytes: what a
// driver gets. A user's filter may be shorter, or longer if the rest of its
// mask is zero.
var flowFilterSizes = map[uint32]int{
	spec.IB_FLOW_SPEC_ETH:          16,
	spec.IB_FLOW_SPEC_IPV4:         12,
	spec.IB_FLOW_SPEC_IPV6:         39,
	spec.IB_FLOW_SPEC_TCP:          4,
	spec.IB_FLOW_SPEC_UDP:          4,
	spec.IB_FLOW_SPEC_VXLAN_TUNNEL: 4,
	spec.IB_FLOW_SPEC_ESP:          8,
	spec.IB_FLOW_SPEC_GRE:          8,
	spec.IB_FLOW_SPEC_MPLS:         4,
}

// flowSpec reads one specification, header included. It models
// kern_spec_to_ib_spec in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-flow/spec-reserved, and those of flowAction and flowFilter.
func flowSpec(b *kernel.Bundle, hdr *spec.FlowSpecHdr, raw []byte, resources *core.FlowResources) (core.FlowSpec, error) {
	defer b.Trace().EnterInlined(trace.Uverbs, "kern_spec_to_ib_spec").Leave()
	if hdr.Reserved != 0 {
		return core.FlowSpec{}, rule.CmdFlowSpecReserved
	}
	if hdr.Type >= spec.IB_FLOW_SPEC_ACTION_TAG {
		return flowAction(b, hdr.Type, raw, resources)
	}
	return flowFilter(b, hdr.Type, raw)
}

// flowAction reads an action. It models kern_spec_to_ib_spec_action in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-flow/tag-size, cmd-flow/drop-size, cmd-flow/action-size,
// cmd-flow/count-size, cmd-flow/action-type, and those of the lookups.
func flowAction(b *kernel.Bundle, typ uint32, raw []byte, resources *core.FlowResources) (core.FlowSpec, error) {
	t := b.Trace()
	defer t.EnterInlined(trace.Uverbs, "kern_spec_to_ib_spec_action").Leave()
	s := core.FlowSpec{Type: typ}
	switch typ {
	case spec.IB_FLOW_SPEC_ACTION_TAG:
		if len(raw) != spec.FlowSpecActionTagSize {
			return s, rule.CmdFlowTagSize
		}
		s.TagID = binary.LittleEndian.Uint32(raw[spec.FlowSpecHdrSize:])
	case spec.IB_FLOW_SPEC_ACTION_DROP:
		if len(raw) != spec.FlowSpecActionDropSize {
			return s, rule.CmdFlowDropSize
		}
	case spec.IB_FLOW_SPEC_ACTION_HANDLE:
		if len(raw) != spec.FlowSpecActionHandleSize {
			return s, rule.CmdFlowActionSize
		}
		handle := binary.LittleEndian.Uint32(raw[spec.FlowSpecHdrSize:])
		action, o, err := uobjGetObjRead[*core.FlowAction](b, spec.UVERBS_OBJECT_FLOW_ACTION, handle)
		if err != nil {
			return s, err
		}
		resources.AddAction(t, action)
		uobjPutRead(o, b)
		s.Action = action
	case spec.IB_FLOW_SPEC_ACTION_COUNT:
		if len(raw) != spec.FlowSpecActionCountSize {
			return s, rule.CmdFlowCountSize
		}
		handle := binary.LittleEndian.Uint32(raw[spec.FlowSpecHdrSize:])
		counters, o, err := uobjGetObjRead[*core.Counters](b, spec.UVERBS_OBJECT_COUNTERS, handle)
		if err != nil {
			return s, err
		}
		resources.AddCounters(t, counters)
		uobjPutRead(o, b)
		s.Counters = counters
	default:
		return s, rule.CmdFlowActionType
	}
	return s, nil
}

// flowFilter reads a filter. It models kern_spec_to_ib_spec_filter in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-flow/filter-short, and those of flowFilterOf.
func flowFilter(b *kernel.Bundle, typ uint32, raw []byte) (core.FlowSpec, error) {
	defer b.Trace().EnterInlined(trace.Uverbs, "kern_spec_to_ib_spec_filter").Leave()
	if len(raw) < spec.FlowSpecHdrSize {
		return core.FlowSpec{}, rule.CmdFlowFilterShort
	}
	raw = raw[spec.FlowSpecHdrSize:]
	n := len(raw) / 2
	return flowFilterOf(b, typ, raw[n:2*n], raw[:n])
}

// flowFilterOf makes the kernel's filter of a user's mask and value. It models
// ib_uverbs_kern_spec_to_ib_spec_filter in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-flow/filter-alignment, cmd-flow/filter-inner-tunnel,
// cmd-flow/filter-type, cmd-flow/filter-size, cmd-flow/flow-label,
// cmd-flow/tunnel-id.
func flowFilterOf(b *kernel.Bundle, typ uint32, mask, value []byte) (core.FlowSpec, error) {
	defer b.Trace().Enter(trace.Uverbs, "ib_uverbs_kern_spec_to_ib_spec_filter").Leave()
	s := core.FlowSpec{Type: typ}
	if len(mask)%4 != 0 {
		return s, rule.CmdFlowFilterAlignment
	}
	if typ == spec.IB_FLOW_SPEC_INNER|spec.IB_FLOW_SPEC_VXLAN_TUNNEL {
		return s, rule.CmdFlowFilterInnerTunnel
	}
	size, known := flowFilterSizes[typ&^spec.IB_FLOW_SPEC_INNER]
	if !known {
		return s, rule.CmdFlowFilterType
	}
	n, ok := specFilterSize(b, mask, size)
	if !ok {
		return s, rule.CmdFlowFilterSize
	}
	s.Value, s.Mask = make([]byte, size), make([]byte, size)
	copy(s.Value, value[:n])
	copy(s.Mask, mask[:n])
	switch typ &^ spec.IB_FLOW_SPEC_INNER {
	case spec.IB_FLOW_SPEC_IPV6:
		if wide(s.Mask[ipv6FlowLabel:], 20) || wide(s.Value[ipv6FlowLabel:], 20) {
			return s, rule.CmdFlowLabel
		}
	case spec.IB_FLOW_SPEC_VXLAN_TUNNEL:
		if wide(s.Mask, 24) || wide(s.Value, 24) {
			return s, rule.CmdFlowTunnelID
		}
	}
	return s, nil
}

// ipv6FlowLabel is where a struct ib_flow_ipv6_filter has its flow_label.
const ipv6FlowLabel = 32

// wide says whether the big-endian number at the start of raw needs more than
// that many bits.
func wide(raw []byte, bits int) bool { return binary.BigEndian.Uint32(raw)>>bits != 0 }

// specFilterSize returns how much of a user's filter the kernel takes; false
// is nothing at all, or a mask that has bits beyond what the kernel knows. It
// models spec_filter_size in drivers/infiniband/core/uverbs_cmd.c.
func specFilterSize(b *kernel.Bundle, mask []byte, real int) (int, bool) {
	defer b.Trace().EnterInlined(trace.Uverbs, "spec_filter_size").Leave()
	if len(mask) <= real {
		return len(mask), len(mask) > 0
	}
	for _, v := range mask[real:] {
		if v != 0 {
			return 0, false
		}
	}
	return real, true
}
