package mlx5

import (
	"slices"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Filters and actions of a flow, and what they are to the device. The offsets in
// filters are those of struct ib_flow_*_filter in include/rdma/ib_verbs.h.

// Types and protocols that a filter stands for (include/uapi/linux/if_ether.h and
// in.h).
const (
	ethPIP      = 0x0800
	ethPIPv6    = 0x86dd
	ethPMPLSUC  = 0x8847
	ethPMPLSMC  = 0x8848
	protoTCP    = 6
	protoUDP    = 17
	protoGRE    = 47
	ipVersion4  = 4
	ipVersion6  = 6
	allOnes16   = 0xffff
	wholeProto  = 0xff
	mcastBit    = 1 // of the first byte of a MAC address
	matchOuter  = 0
	matchMisc   = 64
	matchInner  = 128
	matchMisc2  = 192
	matchPart   = 64
	maxFlowTag  = 1 << 24
	ipv6Label   = 32
	ipv6NextHdr = 36
	ipv6TClass  = 37
)

// The fields of a layer's headers in a struct fte_match_param.
var hdr = func() (f struct {
	smac, dmac, src4, dst4, src6, dst6                                                int
	etherType, cvlan, vid, cfi, prio, ipVersion, proto, ecn, dscp, tcpSport, tcpDport ifc.Field
	udpSport, udpDport                                                                ifc.Field
}) {
	l := ifc.Must("fte_match_set_lyr_2_4")
	f.smac, f.dmac = l.Field("smac_47_16").Byte(), l.Field("dmac_47_16").Byte()
	f.src6, f.dst6 = l.Field("src_ipv4_src_ipv6").Byte(), l.Field("dst_ipv4_dst_ipv6").Byte()
	f.src4, f.dst4 = f.src6+12, f.dst6+12
	f.etherType, f.cvlan, f.vid = l.Field("ethertype"), l.Field("cvlan_tag"), l.Field("first_vid")
	f.cfi, f.prio, f.ipVersion = l.Field("first_cfi"), l.Field("first_prio"), l.Field("ip_version")
	f.proto, f.ecn, f.dscp = l.Field("ip_protocol"), l.Field("ip_ecn"), l.Field("ip_dscp")
	f.tcpSport, f.tcpDport = l.Field("tcp_sport"), l.Field("tcp_dport")
	f.udpSport, f.udpDport = l.Field("udp_sport"), l.Field("udp_dport")
	return f
}()

// And those of the tunnels.
var misc = struct {
	outerLabel, innerLabel, greProto, vni           ifc.Field
	greKey                                          int
	mpls, innerMPLS, mplsOverGRE, mplsOverUDP       int
	mplsLabel, mplsExp, mplsBottom, mplsTTL         ifc.Field
	capMPLS, capInnerMPLS, capMPLSoGRE, capMPLSoUDP capability
}{
	outerLabel: ifc.Must("fte_match_set_misc").Field("outer_ipv6_flow_label"),
	innerLabel: ifc.Must("fte_match_set_misc").Field("inner_ipv6_flow_label"),
	greProto:   ifc.Must("fte_match_set_misc").Field("gre_protocol"),
	greKey:     ifc.Must("fte_match_set_misc").Field("gre_key").Byte(),
	vni:        ifc.Must("fte_match_set_misc").Field("vxlan_vni"),

	mpls:        ifc.Must("fte_match_set_misc2").Field("outer_first_mpls").Byte(),
	innerMPLS:   ifc.Must("fte_match_set_misc2").Field("inner_first_mpls").Byte(),
	mplsOverGRE: ifc.Must("fte_match_set_misc2").Field("outer_first_mpls_over_gre").Byte(),
	mplsOverUDP: ifc.Must("fte_match_set_misc2").Field("outer_first_mpls_over_udp").Byte(),
	mplsLabel:   ifc.Must("fte_match_mpls").Field("mpls_label"),
	mplsExp:     ifc.Must("fte_match_mpls").Field("mpls_exp"),
	mplsBottom:  ifc.Must("fte_match_mpls").Field("mpls_s_bos"),
	mplsTTL:     ifc.Must("fte_match_mpls").Field("mpls_ttl"),

	capMPLS: fieldSupport("outer_first_mpls"), capInnerMPLS: fieldSupport("inner_first_mpls"),
	capMPLSoGRE: fieldSupport("outer_first_mpls_over_gre"), capMPLSoUDP: fieldSupport("outer_first_mpls_over_udp"),
}

// fieldSupport is the capability to compare a field of received packets.
func fieldSupport(name string) capability { return flow(nicRX.props + ".ft_field_support." + name) }

var (
	capOuterIPVersion = fieldSupport("outer_ip_version")
	capInnerIPVersion = fieldSupport("inner_ip_version")
)

// pair sets a field of a mask and of the value that belongs to it.
func pair(f ifc.Field, c, v []byte, mask, val uint64) {
	f.Set(c, mask)
	f.Set(v, val)
}

// ipVersionMatters is the capability to tell the version of IP of a layer.
func (d *Device) ipVersionMatters(inner bool) bool {
	if inner {
		return d.caps.has(capInnerIPVersion)
	}
	return d.caps.has(capOuterIPVersion)
}

// parseFlowAttr adds one filter or action to what a flow compares and does; prev is
// the type of the one before. It models parse_flow_attr in
// drivers/infiniband/hw/mlx5/fs.c. Filters and actions have no bytes beyond what is
// known of theirs, but for IP.
//
// Errors: mlx5-flow/ip-fields, mlx5-flow/esp, mlx5-flow/gre-flags,
// mlx5-flow/mpls-fields, mlx5-flow/protocol, mlx5-flow/tag, mlx5-flow/action-twice,
// mlx5-flow/counters-twice, mlx5-flow/spec-type.
func (d *Device) parseFlowAttr(t *trace.Task, m *flowMatch, s *core.FlowSpec, act *flowAct, counters **core.Counters, prev uint32) error {
	defer t.EnterInlined(moduleIB, "parse_flow_attr").Leave()
	inner := s.Type&spec.IB_FLOW_SPEC_INNER != 0
	at := matchOuter
	if inner {
		at = matchInner
	}
	c, v := m.criteria[at:at+matchPart], m.value[at:at+matchPart]
	miscC, miscV := m.criteria[matchMisc:matchMisc+matchPart], m.value[matchMisc:matchMisc+matchPart]
	switch s.Type &^ spec.IB_FLOW_SPEC_INNER {
	case spec.IB_FLOW_SPEC_ETH:
		matchEth(c, v, s)
	case spec.IB_FLOW_SPEC_IPV4:
		return d.matchIPv4(c, v, s, inner)
	case spec.IB_FLOW_SPEC_IPV6:
		label := misc.outerLabel
		if inner {
			label = misc.innerLabel
		}
		if err := d.matchIPv6(c, v, s, inner); err != nil {
			return err
		}
		pair(label, miscC, miscV, uint64(be.Uint32(s.Mask[ipv6Label:])), uint64(be.Uint32(s.Value[ipv6Label:])))
	case spec.IB_FLOW_SPEC_ESP:
		return rule.MLX5FlowESP
	case spec.IB_FLOW_SPEC_TCP:
		return matchPorts(c, v, s, protoTCP, hdr.tcpSport, hdr.tcpDport)
	case spec.IB_FLOW_SPEC_UDP:
		return matchPorts(c, v, s, protoUDP, hdr.udpSport, hdr.udpDport)
	case spec.IB_FLOW_SPEC_GRE:
		if be.Uint16(s.Mask) != 0 {
			return rule.MLX5FlowGREFlags
		}
		if err := setProto(c, v, wholeProto, protoGRE); err != nil {
			return err
		}
		pair(misc.greProto, miscC, miscV, uint64(be.Uint16(s.Mask[2:])), uint64(be.Uint16(s.Value[2:])))
		copy(miscC[misc.greKey:], s.Mask[4:8])
		copy(miscV[misc.greKey:], s.Value[4:8])
	case spec.IB_FLOW_SPEC_MPLS:
		return d.matchMPLS(m, s, prev, inner)
	case spec.IB_FLOW_SPEC_VXLAN_TUNNEL:
		pair(misc.vni, miscC, miscV, uint64(be.Uint32(s.Mask)), uint64(be.Uint32(s.Value)))
	case spec.IB_FLOW_SPEC_ACTION_TAG:
		if s.TagID >= maxFlowTag {
			return rule.MLX5FlowTag
		}
		m.tag, m.hasTag = s.TagID, true
	case spec.IB_FLOW_SPEC_ACTION_DROP:
		act.action |= flowActionDrop
	case spec.IB_FLOW_SPEC_ACTION_HANDLE:
		return s.Action.Driver.(*flowAction).addTo(act)
	case spec.IB_FLOW_SPEC_ACTION_COUNT:
		if act.action&flowActionCount != 0 {
			return rule.MLX5FlowCountersTwice
		}
		*counters = s.Counters
		act.action |= flowActionCount
	default:
		return rule.MLX5FlowSpecType
	}
	return nil
}

// matchEth: addresses, then type and VLAN.
func matchEth(c, v []byte, s *core.FlowSpec) {
	copy(c[hdr.dmac:hdr.dmac+6], s.Mask)
	copy(v[hdr.dmac:hdr.dmac+6], s.Value)
	copy(c[hdr.smac:hdr.smac+6], s.Mask[6:])
	copy(v[hdr.smac:hdr.smac+6], s.Value[6:])
	if mask, val := uint64(be.Uint16(s.Mask[14:])), uint64(be.Uint16(s.Value[14:])); mask != 0 {
		pair(hdr.cvlan, c, v, 1, 1)
		pair(hdr.vid, c, v, mask, val)
		pair(hdr.cfi, c, v, mask>>12, val>>12)
		pair(hdr.prio, c, v, mask>>13, val>>13)
	}
	pair(hdr.etherType, c, v, uint64(be.Uint16(s.Mask[12:])), uint64(be.Uint16(s.Value[12:])))
}

// matchVersion has the packet be of that version of IP, by the version where the
// device can tell it, else by the type of what the frame carries.
func (d *Device) matchVersion(c, v []byte, inner bool, version, etherType uint64) {
	if d.ipVersionMatters(inner) {
		pair(hdr.ipVersion, c, v, 0xf, version)
	} else {
		pair(hdr.etherType, c, v, allOnes16, etherType)
	}
}

func (d *Device) matchIPv4(c, v []byte, s *core.FlowSpec, inner bool) error {
	if !isZero(s.Mask[10:]) { // ttl and flags
		return rule.MLX5FlowIPFields
	}
	d.matchVersion(c, v, inner, ipVersion4, ethPIP)
	copy(c[hdr.src4:hdr.src4+4], s.Mask)
	copy(v[hdr.src4:hdr.src4+4], s.Value)
	copy(c[hdr.dst4:hdr.dst4+4], s.Mask[4:])
	copy(v[hdr.dst4:hdr.dst4+4], s.Value[4:])
	setTOS(c, v, s.Mask[9], s.Value[9])
	return setProto(c, v, s.Mask[8], s.Value[8])
}

func (d *Device) matchIPv6(c, v []byte, s *core.FlowSpec, inner bool) error {
	if !isZero(s.Mask[ipv6TClass+1:]) { // hop_limit
		return rule.MLX5FlowIPFields
	}
	d.matchVersion(c, v, inner, ipVersion6, ethPIPv6)
	copy(c[hdr.src6:hdr.src6+16], s.Mask)
	copy(v[hdr.src6:hdr.src6+16], s.Value)
	copy(c[hdr.dst6:hdr.dst6+16], s.Mask[16:])
	copy(v[hdr.dst6:hdr.dst6+16], s.Value[16:])
	setTOS(c, v, s.Mask[ipv6TClass], s.Value[ipv6TClass])
	return setProto(c, v, s.Mask[ipv6NextHdr], s.Value[ipv6NextHdr])
}

// matchPorts: the destination's, then the source's.
func matchPorts(c, v []byte, s *core.FlowSpec, proto uint8, sport, dport ifc.Field) error {
	if err := setProto(c, v, wholeProto, proto); err != nil {
		return err
	}
	pair(sport, c, v, uint64(be.Uint16(s.Mask[2:])), uint64(be.Uint16(s.Value[2:])))
	pair(dport, c, v, uint64(be.Uint16(s.Mask)), uint64(be.Uint16(s.Value)))
	return nil
}

// setTOS models set_tos.
func setTOS(c, v []byte, mask, val uint8) {
	pair(hdr.ecn, c, v, uint64(mask), uint64(val))
	pair(hdr.dscp, c, v, uint64(mask>>2), uint64(val>>2))
}

// setProto has the packet be of a protocol, if it is not of another one already. It
// models set_proto.
//
// Errors: mlx5-flow/protocol.
func setProto(c, v []byte, mask, val uint8) error {
	if mask == 0 {
		return nil
	}
	wasMask, was := uint8(hdr.proto.Get(c)), uint8(hdr.proto.Get(v))
	switch {
	case wasMask == 0:
		pair(hdr.proto, c, v, uint64(mask), uint64(val))
	case mask != wasMask || val != was:
		return rule.MLX5FlowProtocol
	}
	return nil
}

// matchMPLS: the label's place depends on what it comes behind.
//
// Errors: mlx5-flow/mpls-fields.
func (d *Device) matchMPLS(m *flowMatch, s *core.FlowSpec, prev uint32, inner bool) error {
	at, supported := misc.mpls, misc.capMPLS
	switch {
	case prev == spec.IB_FLOW_SPEC_UDP:
		at, supported = misc.mplsOverUDP, misc.capMPLSoUDP
	case prev == spec.IB_FLOW_SPEC_GRE:
		at, supported = misc.mplsOverGRE, misc.capMPLSoGRE
	case inner:
		at, supported = misc.innerMPLS, misc.capInnerMPLS
	}
	// check_mpls_supp_fields: bits of the capability (MLX5_FIELD_SUPPORT_MPLS_* in
	// drivers/infiniband/hw/mlx5/mlx5_ib.h).
	can := d.caps.get(supported)
	for i, f := range [...]ifc.Field{misc.mplsLabel, misc.mplsExp, misc.mplsBottom, misc.mplsTTL} {
		if f.Get(s.Mask) != 0 && can>>i&1 == 0 {
			return rule.MLX5FlowMPLSFields
		}
	}
	copy(m.criteria[matchMisc2+at:], s.Mask[:4])
	copy(m.value[matchMisc2+at:], s.Value[:4])
	return nil
}

// addTo has a flow do an action of an object. It models parse_flow_flow_action in
// drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/action-twice.
func (a *flowAction) addTo(act *flowAct) error {
	bit := uint32(flowActionDecap)
	switch a.end {
	case ifc.MLX5_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT:
		bit = flowActionModHdr
	case ifc.MLX5_CMD_OP_DEALLOC_PACKET_REFORMAT_CONTEXT:
		bit = flowActionReformat
	}
	if act.action&bit != 0 {
		return rule.MLX5FlowActionTwice
	}
	act.action |= bit
	switch bit {
	case flowActionModHdr:
		act.modifyHdr = a
	case flowActionReformat:
		act.reformat = a
	}
	return nil
}

// criteriaEnable says which parts of a mask have bits: outer headers, the rest of
// the outer ones, inner headers, and the second rest. It models
// get_match_criteria_enable.
func (m *flowMatch) criteriaEnable() (enable uint8) {
	for i := range 4 {
		if !isZero(m.criteria[i*matchPart : (i+1)*matchPart]) {
			enable |= 1 << i
		}
	}
	return enable
}

func isZero(b []byte) bool { return !slices.ContainsFunc(b, func(v byte) bool { return v != 0 }) }

// isMulticastOnly models flow_is_multicast_only: the first filter decides.
func isMulticastOnly(attr *core.FlowAttr) bool {
	if attr.Type != spec.IB_FLOW_ATTR_NORMAL || len(attr.Specs) == 0 {
		return false
	}
	switch s := &attr.Specs[0]; s.Type {
	case spec.IB_FLOW_SPEC_IPV4:
		return isMulticastIPv4(s.Value[4:])
	case spec.IB_FLOW_SPEC_ETH:
		return s.Mask[0]&mcastBit != 0 && s.Value[0]&mcastBit != 0
	}
	return false
}

// isMulticastIPv4 models ipv4_is_multicast.
func isMulticastIPv4(addr []byte) bool { return addr[0]>>4 == 0xe }

// isValidEthertype says whether a layer's filters for the type of what a frame
// carries and for IP agree. It models is_valid_ethertype.
func (d *Device) isValidEthertype(attr *core.FlowAttr, inner bool) bool {
	bit := uint32(0)
	if inner {
		bit = spec.IB_FLOW_SPEC_INNER
	}
	var ip uint32
	hasType, wholeMask, typ := false, true, uint16(0)
	for i := range attr.Specs {
		switch s := &attr.Specs[i]; s.Type {
		case spec.IB_FLOW_SPEC_ETH | bit:
			if mask := be.Uint16(s.Mask[12:]); mask != 0 {
				hasType, wholeMask, typ = true, mask == allOnes16, be.Uint16(s.Value[12:])
			}
		case spec.IB_FLOW_SPEC_IPV4 | bit, spec.IB_FLOW_SPEC_IPV6 | bit:
			ip = s.Type
		}
	}
	if !hasType || ip == 0 {
		return true
	}
	return wholeMask && (typ == ethPIP && ip == spec.IB_FLOW_SPEC_IPV4|bit || typ == ethPIPv6 && ip == spec.IB_FLOW_SPEC_IPV6|bit ||
		(typ == ethPMPLSUC || typ == ethPMPLSMC) && d.ipVersionMatters(inner))
}
