package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// What a flow table compares is a frame as a struct fte_match_param: each field of
// its headers at the place where masks and values have it. So a rule is met where
// the frame's bytes under the mask are those of its value.

// matchParam is a struct fte_match_param.
type matchParam [512]byte

// The fields of a layer's headers.
type layerFields struct {
	smac, dmac                              int // bytes
	etherType, prio, cfi, vid, cvlan, svlan ifc.Field
	proto, dscp, ecn, frag, version, ihl    ifc.Field
	tcpFlags, tcpSport, tcpDport, ttl       ifc.Field
	udpSport, udpDport                      ifc.Field
	src, dst                                int // bytes
	secondPrio, secondCFI, secondVID        ifc.Field
	secondCVLAN, secondSVLAN, ipv6FlowLabel ifc.Field
}

func layerFieldsOf(headers, prefix string) layerFields {
	l := ifc.Must("fte_match_param")
	f := func(name string) ifc.Field { return l.Field(headers + "." + name) }
	m := func(name string) ifc.Field { return l.Field("misc_parameters." + prefix + name) }
	return layerFields{
		smac: f("smac_47_16").Byte(), dmac: f("dmac_47_16").Byte(),
		etherType: f("ethertype"), prio: f("first_prio"), cfi: f("first_cfi"), vid: f("first_vid"),
		cvlan: f("cvlan_tag"), svlan: f("svlan_tag"),
		proto: f("ip_protocol"), dscp: f("ip_dscp"), ecn: f("ip_ecn"), frag: f("frag"), version: f("ip_version"), ihl: f("ipv4_ihl"),
		tcpFlags: f("tcp_flags"), tcpSport: f("tcp_sport"), tcpDport: f("tcp_dport"), ttl: f("ttl_hoplimit"),
		udpSport: f("udp_sport"), udpDport: f("udp_dport"),
		src: f("src_ipv4_src_ipv6").Byte(), dst: f("dst_ipv4_dst_ipv6").Byte(),
		secondPrio: m("second_prio"), secondCFI: m("second_cfi"), secondVID: m("second_vid"),
		secondCVLAN: m("second_cvlan_tag"), secondSVLAN: m("second_svlan_tag"), ipv6FlowLabel: m("ipv6_flow_label"),
	}
}

var (
	outerFields = layerFieldsOf("outer_headers", "outer_")
	innerFields = layerFieldsOf("inner_headers", "inner_")

	miscSQN      = ifc.Must("fte_match_param").Field("misc_parameters.source_sqn")
	miscGREC     = ifc.Must("fte_match_param").Field("misc_parameters.gre_c_present")
	miscGREK     = ifc.Must("fte_match_param").Field("misc_parameters.gre_k_present")
	miscGRES     = ifc.Must("fte_match_param").Field("misc_parameters.gre_s_present")
	miscGREProto = ifc.Must("fte_match_param").Field("misc_parameters.gre_protocol")
	miscGREKey   = ifc.Must("fte_match_param").Field("misc_parameters.gre_key").Byte()
	miscVNI      = ifc.Must("fte_match_param").Field("misc_parameters.vxlan_vni")
	misc2MPLS    = map[uint8]int{
		0:        ifc.Must("fte_match_param").Field("misc_parameters_2.outer_first_mpls").Byte(),
		protoGRE: ifc.Must("fte_match_param").Field("misc_parameters_2.outer_first_mpls_over_gre").Byte(),
		protoUDP: ifc.Must("fte_match_param").Field("misc_parameters_2.outer_first_mpls_over_udp").Byte(),
	}
)

// describe fills in what the frame says; sqn is the send queue that it comes from
// on its way out, 0 on its way in.
func (p *matchParam) describe(b []byte, l *layers, sqn uint32) {
	*p = matchParam{}
	outerFields.fill(p, b, l)
	miscSQN.Set(p[:], uint64(sqn))
	t := tunnelOf(b, l)
	innerFields.fill(p, b, &t.inner)
	if t.hasGRE {
		miscGREC.Set(p[:], uint64(t.gre>>15&1))
		miscGREK.Set(p[:], uint64(t.gre>>13&1))
		miscGRES.Set(p[:], uint64(t.gre>>12&1))
		miscGREProto.Set(p[:], uint64(t.greProto))
		binary.BigEndian.PutUint32(p[miscGREKey:], t.greKey)
	}
	if t.hasVXLAN {
		miscVNI.Set(p[:], uint64(t.vni))
	}
	if t.hasMPLS {
		binary.BigEndian.PutUint32(p[misc2MPLS[t.mplsOver]:], t.mpls)
	}
}

// fill puts one layer of headers into its place.
func (f *layerFields) fill(p *matchParam, b []byte, l *layers) {
	be := binary.BigEndian
	if l.ethernet {
		copy(p[f.dmac:f.dmac+macSize], b[l.mac:])
		copy(p[f.smac:f.smac+macSize], b[l.mac+macSize:])
		f.tagFields(p, l)
	}
	f.etherType.Set(p[:], uint64(l.etherType))
	if l.version == 0 {
		return
	}
	f.version.Set(p[:], uint64(l.version))
	f.proto.Set(p[:], uint64(l.proto))
	if l.fragment {
		f.frag.Set(p[:], 1)
	}
	tos := b[l.l3+1]
	if l.is4() {
		f.ttl.Set(p[:], uint64(b[l.l3+8]))
		f.ihl.Set(p[:], uint64(b[l.l3]&0xf))
		copy(p[f.src+12:f.src+16], b[l.l3+12:])
		copy(p[f.dst+12:f.dst+16], b[l.l3+16:])
	} else {
		word := be.Uint32(b[l.l3:])
		tos = byte(word >> 20)
		f.ttl.Set(p[:], uint64(b[l.l3+7]))
		f.ipv6FlowLabel.Set(p[:], uint64(word&(1<<20-1)))
		copy(p[f.src:f.src+16], b[l.l3+8:])
		copy(p[f.dst:f.dst+16], b[l.l3+24:])
	}
	f.dscp.Set(p[:], uint64(tos>>2))
	f.ecn.Set(p[:], uint64(tos&3))
	switch {
	case l.tcp:
		f.tcpSport.Set(p[:], uint64(be.Uint16(b[l.l4:])))
		f.tcpDport.Set(p[:], uint64(be.Uint16(b[l.l4+2:])))
		f.tcpFlags.Set(p[:], uint64(be.Uint16(b[l.l4+12:])&0x1ff))
	case l.udp:
		f.udpSport.Set(p[:], uint64(be.Uint16(b[l.l4:])))
		f.udpDport.Set(p[:], uint64(be.Uint16(b[l.l4+2:])))
	}
}

func (f *layerFields) tagFields(p *matchParam, l *layers) {
	for i, set := range [...]struct{ prio, cfi, vid, cvlan, svlan ifc.Field }{
		{f.prio, f.cfi, f.vid, f.cvlan, f.svlan},
		{f.secondPrio, f.secondCFI, f.secondVID, f.secondCVLAN, f.secondSVLAN},
	} {
		if i >= l.tagged {
			return
		}
		tci := uint64(l.tags[i].tci)
		set.prio.Set(p[:], tci>>13)
		set.cfi.Set(p[:], tci>>12&1)
		set.vid.Set(p[:], tci&0xfff)
		if l.tags[i].tpid == etherSVLAN {
			set.svlan.Set(p[:], 1)
		} else {
			set.cvlan.Set(p[:], 1)
		}
	}
}

// flowMask is which bits of a frame a group compares: the parts that its criteria
// enable.
type flowMask struct {
	bits matchParam
	n    int // no bit is set from there on
}

// The parts of a struct fte_match_param: their length in bytes, and how many there
// are. Bit i of match_criteria_enable stands for part i.
const (
	matchPart  = 64
	matchParts = 7
)

// newFlowMask takes a mask from a command.
func newFlowMask(criteria []byte, enable uint8) (m flowMask) {
	for part := range matchParts {
		if enable>>part&1 != 0 {
			copy(m.bits[part*matchPart:(part+1)*matchPart], criteria[part*matchPart:])
		}
	}
	for i, v := range m.bits {
		if v != 0 {
			m.n = i + 1
		}
	}
	return m
}

// matches says whether a frame is as the value says, as far as the mask goes.
func (m *flowMask) matches(frame, value *matchParam) bool {
	for i := range m.n {
		if (frame[i]^value[i])&m.bits[i] != 0 {
			return false
		}
	}
	return true
}
