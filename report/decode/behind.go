package decode

import (
	"reflect"

	"uverbsim/spec"
)

// behind reads what follows a struct in its buffer, by the C struct: further
// fields, and the bytes that are left.
var behind map[string]func(s *Value, b []byte) (more []Field, rest []byte)

// What follows is structs again, which the compiler sees as a cycle.
func init() {
	behind = map[string]func(s *Value, b []byte) (more []Field, rest []byte){
		"struct ib_uverbs_create_flow":             flowSpecs,
		"struct ib_uverbs_ex_create_rwq_ind_table": list("wq_handles", "u32"),
		"struct ib_uverbs_poll_cq_resp":            list("wc", "struct ib_uverbs_wc"),
		"struct ib_uverbs_post_recv":               requests("recv_wr", "struct ib_uverbs_recv_wr"),
		"struct ib_uverbs_post_send":               requests("send_wr", "struct ib_uverbs_send_wr"),
		"struct ib_uverbs_post_srq_recv":           requests("recv", "struct ib_uverbs_recv_wr"),
	}
}

// list is an array of items of a C type, up to the end of the buffer.
func list(name, item string) func(*Value, []byte) ([]Field, []byte) {
	return func(_ *Value, b []byte) ([]Field, []byte) {
		return []Field{{Name: name, Value: items(item, "", b)}}, nil
	}
}

// requests are wr_count work requests of wqe_size bytes each, and the scatter
// lists of all of them behind the last: ib_uverbs_unmarshall_recv,
// drivers/infiniband/core/uverbs_cmd.c.
func requests(name, item string) func(*Value, []byte) ([]Field, []byte) {
	least := int(reflect.TypeOf(spec.NewStruct(item)).Elem().Size())
	return func(s *Value, b []byte) ([]Field, []byte) {
		n, size := s.Field("wr_count").Num, int(s.Field("wqe_size").Num)
		if size < least || n > uint64(len(b)/size) {
			return nil, b
		}
		wrs, sges := b[:int(n)*size], b[int(n)*size:]
		return []Field{
			{Name: name, Value: array(int(n), wrs, func(b []byte) Value { return StructOf(item, b) })},
			{Name: "sge", Value: items("struct ib_uverbs_sge", "", sges)},
		}, nil
	}
}

// flowStructs has the structs of a flow's specifications, by their type.
var flowStructs = map[uint64]string{
	spec.IB_FLOW_SPEC_ETH:           "struct ib_uverbs_flow_spec_eth",
	spec.IB_FLOW_SPEC_IPV4:          "struct ib_uverbs_flow_spec_ipv4",
	spec.IB_FLOW_SPEC_IPV6:          "struct ib_uverbs_flow_spec_ipv6",
	spec.IB_FLOW_SPEC_ESP:           "struct ib_uverbs_flow_spec_esp",
	spec.IB_FLOW_SPEC_TCP:           "struct ib_uverbs_flow_spec_tcp_udp",
	spec.IB_FLOW_SPEC_UDP:           "struct ib_uverbs_flow_spec_tcp_udp",
	spec.IB_FLOW_SPEC_VXLAN_TUNNEL:  "struct ib_uverbs_flow_spec_tunnel",
	spec.IB_FLOW_SPEC_GRE:           "struct ib_uverbs_flow_spec_gre",
	spec.IB_FLOW_SPEC_MPLS:          "struct ib_uverbs_flow_spec_mpls",
	spec.IB_FLOW_SPEC_ACTION_TAG:    "struct ib_uverbs_flow_spec_action_tag",
	spec.IB_FLOW_SPEC_ACTION_DROP:   "struct ib_uverbs_flow_spec_action_drop",
	spec.IB_FLOW_SPEC_ACTION_HANDLE: "struct ib_uverbs_flow_spec_action_handle",
	spec.IB_FLOW_SPEC_ACTION_COUNT:  "struct ib_uverbs_flow_spec_action_count",
}

// flowSpecs are the specifications of a flow, one after the other, each as long
// as it says.
func flowSpecs(_ *Value, b []byte) ([]Field, []byte) {
	v := Value{Kind: Array}
	for len(b) >= spec.FlowSpecHdrSize && len(v.Items) < maxItems {
		size := int(little(b[4:6]))
		if size < spec.FlowSpecHdrSize || size > len(b) {
			break
		}
		c, ok := flowStructs[little(b[:4])&^spec.IB_FLOW_SPEC_INNER]
		if !ok {
			c = "struct ib_uverbs_flow_spec_hdr"
		}
		v.Items = append(v.Items, StructOf(c, b[:size]))
		b = b[size:]
	}
	return []Field{{Name: "flow_specs", Value: v}}, b
}

// flowSpecType is a value of enum ib_flow_spec_type, which may have the bit
// IB_FLOW_SPEC_INNER besides.
func flowSpecType(b []byte) Value {
	n := little(b)
	v := enumerator(spec.Enumerators("enum ib_flow_spec_type"), n&^spec.IB_FLOW_SPEC_INNER)
	if n&spec.IB_FLOW_SPEC_INNER == 0 || v.Text == "" {
		v.Num = n
		return v
	}
	return Value{Kind: Flags, Num: n, Names: []string{v.Text, "IB_FLOW_SPEC_INNER"}}
}
