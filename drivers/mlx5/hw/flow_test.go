package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// steered sends a frame and says which interfaces got it, and with which tag.
func (r *etherRig) steered(frame []byte) (got [2]bool, tag uint32) {
	r.t.Helper()
	first := [2]int{int(r.received[0]), int(r.received[1])}
	for i := range first {
		r.post(i, 0x800)
	}
	r.send(ethWQE{data: frame})
	for i := range first {
		_, cqe := r.arrived(i, first[i])
		if cqe == nil {
			r.received[i]--
			continue
		}
		got[i], tag = true, binary.BigEndian.Uint32(cqe[56:])&bits24
	}
	return got, tag
}

var (
	toNone   = [2]bool{}
	toFirst  = [2]bool{true, false}
	toSecond = [2]bool{false, true}
	toBoth   = [2]bool{true, true}
)

// Each field that rules compare, with a frame that has the value; another value, or
// the same field of another layer, is another frame's.
func TestMatchFields(t *testing.T) {
	data := []byte("0123456789")
	v4 := frameOf(macGroup, macA, be16(etherIPv4), func() []byte { b := ip4(protoUDP, 18, "192.0.2.1", "198.51.100.2"); b[1] = 0xb9; return b }(), udp(1234, 5678, data))
	v6 := frameOf(macGroup, macA, be16(etherIPv6), func() []byte {
		b := ip6(protoTCP, 30, "2001:db8::1:2", "2001:db8::3:4")
		binary.BigEndian.PutUint32(b, 0x6<<28|0xb9<<20|0x12345)
		return b
	}(), tcp(80, 443, 1, 0x12, data))
	options := frameOf(macGroup, macA, be16(etherIPv4), func() []byte {
		b := ip4(protoUDP, 22, "192.0.2.1", "198.51.100.2")
		b[0] = 0x46
		return append(b, 1, 1, 1, 0)
	}(), udp(1234, 5678, data))
	extended := frameOf(macGroup, macA, be16(etherIPv6), ip6(protoHopOpts, 38, "::1", "::2"), []byte{protoUDP, 0, 0, 0, 0, 0, 0, 0}, udp(7, 8, data))
	vlan := frameOf(macGroup, macA, be16(etherSVLAN, 0x3005, etherVLAN, 0xb123, 0x88b5), data)
	inner := frameOf(macB, macA, be16(etherIPv4), ip4(protoTCP, 20, "10.0.0.1", "10.0.0.2"), tcp(5, 6, 0, 0, nil))
	vxlan := frameOf(macGroup, macA, be16(etherIPv4), ip4(protoUDP, 8+8+len(inner), "192.0.2.1", "192.0.2.2"),
		udp(1, portVXLAN, append([]byte{8, 0, 0, 0, 0x76, 0xad, 0xf1, 0}, inner...)))
	gre := frameOf(macGroup, macA, be16(etherIPv4), ip4(protoGRE, 8+len(inner), "192.0.2.1", "192.0.2.2"),
		be16(0x2000, etherTEB), []byte{0x11, 0x22, 0x33, 0x44}, inner)
	greIP := frameOf(macGroup, macA, be16(etherIPv4), ip4(protoGRE, 4+40, "192.0.2.1", "192.0.2.2"), be16(0, etherIPv6), ip6(59, 0, "::5", "::6"))
	mpls := frameOf(macGroup, macA, be16(etherMPLS), []byte{0x12, 0x34, 0x5a, 0xbc}, data)
	mplsUDP := frameOf(macGroup, macA, be16(etherIPv4), ip4(protoUDP, 12, "192.0.2.1", "192.0.2.2"), udp(1, portMPLS, []byte{0x12, 0x34, 0x5a, 0xbc}))
	const o, i, m, m2 = "outer_headers.", "inner_headers.", "misc_parameters.", "misc_parameters_2."
	src4, dst4 := "src_ipv4_src_ipv6.ipv4_layout.ipv4", "dst_ipv4_dst_ipv6.ipv4_layout.ipv4"
	for _, tt := range []struct {
		frame []byte
		field string
		value uint64
	}{
		{v4, o + "dmac_47_16", 0x01005e01}, {v4, o + "dmac_15_0", 0x0203}, {v4, o + "smac_47_16", 0x02005e00}, {v4, o + "smac_15_0", 0x5310},
		{v4, o + "ethertype", 0x0800}, {v4, o + "ip_version", 4}, {v4, o + "ip_protocol", 17}, {v4, o + "ip_dscp", 0xb9 >> 2}, {v4, o + "ip_ecn", 1},
		{v4, o + "frag", 0}, {v4, o + "ttl_hoplimit", 64}, {v4, o + "ipv4_ihl", 5}, {v4, o + src4, 0xc0000201}, {v4, o + dst4, 0xc6336402},
		{v4, o + "udp_sport", 1234}, {v4, o + "udp_dport", 5678}, {v4, o + "tcp_sport", 0}, {v4, o + "cvlan_tag", 0}, {v4, i + "ip_version", 0},
		{v6, o + "ethertype", 0x86dd}, {v6, o + "ip_version", 6}, {v6, o + "ip_protocol", 6}, {v6, o + "ip_dscp", 0xb9 >> 2}, {v6, o + "ip_ecn", 1},
		{v6, o + "tcp_sport", 80}, {v6, o + "tcp_dport", 443}, {v6, o + "tcp_flags", 0x12}, {v6, o + "udp_sport", 0}, {v6, m + "outer_ipv6_flow_label", 0x12345},
		{v6, o + "src_ipv4_src_ipv6.ipv6_simple_layout.ipv6_127_96", 0x20010db8}, {v6, o + "src_ipv4_src_ipv6.ipv6_simple_layout.ipv6_31_0", 0x10002},
		{v6, o + "dst_ipv4_dst_ipv6.ipv6_simple_layout.ipv6_31_0", 0x30004}, {v6, o + "ttl_hoplimit", 64},
		{options, o + "ipv4_ihl", 6}, {options, o + "udp_dport", 5678},
		{extended, o + "ip_protocol", 17}, {extended, o + "udp_sport", 7},
		{vlan, o + "ethertype", 0x88b5}, {vlan, o + "svlan_tag", 1}, {vlan, o + "cvlan_tag", 0}, {vlan, o + "first_vid", 5}, {vlan, o + "first_prio", 1},
		{vlan, o + "first_cfi", 1}, {vlan, m + "outer_second_vid", 0x123}, {vlan, m + "outer_second_prio", 5}, {vlan, m + "outer_second_cfi", 1},
		{vlan, m + "outer_second_cvlan_tag", 1}, {vlan, m + "outer_second_svlan_tag", 0},
		{vxlan, m + "vxlan_vni", 0x76adf1}, {vxlan, i + "dmac_15_0", 0x5311}, {vxlan, i + src4, 0x0a000001}, {vxlan, i + "tcp_dport", 6}, {vxlan, o + "udp_dport", 4789},
		{gre, m + "gre_protocol", 0x6558}, {gre, m + "gre_key.key", 0x11223344}, {gre, m + "gre_k_present", 1}, {gre, m + "gre_c_present", 0},
		{gre, i + dst4, 0x0a000002}, {gre, i + "tcp_sport", 5}, {greIP, i + "ip_version", 6}, {greIP, i + "ethertype", 0x86dd},
		{mpls, m2 + "outer_first_mpls.mpls_label", 0x12345}, {mpls, m2 + "outer_first_mpls.mpls_exp", 5}, {mpls, m2 + "outer_first_mpls.mpls_s_bos", 0},
		{mpls, m2 + "outer_first_mpls.mpls_ttl", 0xbc}, {mplsUDP, m2 + "outer_first_mpls_over_udp.mpls_label", 0x12345},
		{mplsUDP, m2 + "outer_first_mpls.mpls_label", 0},
	} {
		f := ifc.Must("fte_match_param").Field(tt.field)
		var p, value matchParam
		l := layersOf(tt.frame, 0)
		p.describe(tt.frame, &l, 0)
		require.Equal(t, tt.value, f.Get(p[:]), tt.field)
		criteria := make([]byte, len(p))
		f.Set(criteria, 1<<f.Width-1)
		mask := newFlowMask(criteria, 0xf)
		f.Set(value[:], tt.value)
		require.True(t, mask.matches(&p, &value), tt.field)
		f.Set(value[:], ^tt.value)
		require.False(t, mask.matches(&p, &value), tt.field)
		unasked := newFlowMask(criteria, 0)
		require.True(t, unasked.matches(&p, &value), "criteria that are not enabled do not count")
	}
}

// The rule with the lowest index decides; one may lead to several interfaces, mark
// the frame, drop it, count it, or lead on to a table, and a table may.
func TestSteering(t *testing.T) {
	r := newEtherRig(t)
	udpTo := func(port uint16) []byte {
		return frameOf(macGroup, macA, be16(etherIPv4), ip4(protoUDP, 30, "192.0.2.1", "192.0.2.2"), udp(1, port, make([]byte, 22)))
	}
	got, _ := r.steered(udpTo(1))
	require.Equal(t, toNone, got, "there is no table")
	table := r.newTable(tableNICRX)
	got, _ = r.steered(udpTo(1))
	require.Equal(t, toNone, got, "there is no rule")

	port := func(v uint64) []match { return []match{{"outer_headers.udp_dport", 0xffff, v}} }
	ports := r.group(table, 10, 19, port(0)...)
	bulk := r.made(r.build(ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER, 0, "alloc_flow_counter_in", "flow_counter_bulk", 1))
	single := r.made(Input(ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER, 0, 0, 0))
	require.Equal(t, bulk+128, single)
	second := r.made(r.build(ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, 0, "create_flow_table_in", "flow_table_context.log_size", 6, "flow_table_context.level", 9))
	r.setRule(ruleIn{table: table, group: ports, index: 10, actions: actionForward, tirs: r.tir[:1], match: port(1), tag: 0xabcdef})
	r.setRule(ruleIn{table: table, group: ports, index: 11, actions: actionForward, tirs: r.tir[:], match: port(2)})
	r.setRule(ruleIn{table: table, group: ports, index: 12, actions: actionDrop | actionCount, counters: []uint32{bulk + 5, single}, match: port(3)})
	r.setRule(ruleIn{table: table, group: ports, index: 13, actions: actionForward, tables: []uint32{second}, match: port(4), tag: 7})
	all := r.group(table, 20, 20)
	r.setRule(ruleIn{table: table, group: all, index: 20, actions: actionForward | actionCount, tirs: r.tir[1:], counters: []uint32{bulk + 127}})
	for p, want := range map[uint16]struct {
		to  [2]bool
		tag uint32
	}{1: {toFirst, 0xabcdef}, 2: {toBoth, 0}, 3: {toNone, 0}, 4: {toNone, 0}, 5: {toSecond, 0}} {
		got, tag := r.steered(udpTo(p))
		require.Equal(t, want.to, got, "port %d", p)
		require.Equal(t, want.tag, tag, "port %d", p)
	}
	counters := func(first uint32, n int, clear int) (list []uint64) {
		in := r.build(ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER, 0, "query_flow_counter_in", "flow_counter_id", first, "num_of_counters", n, "clear", clear)
		out := Output(ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER, 16*n)
		require.NoError(t, r.Exec(nil, in, out))
		require.Zero(t, out[0])
		for i := range 2 * n {
			list = append(list, binary.BigEndian.Uint64(out[16+8*i:]))
		}
		return list
	}
	require.Equal(t, []uint64{0, 0, 1, 64, 0, 0}, counters(bulk+4, 3, 0))
	require.Equal(t, []uint64{1, 64, 1, 64}, counters(bulk+127, 2, 1), "the last of many, and the one behind")
	require.Equal(t, []uint64{0, 0}, counters(single, 1, 0), "set to 0")

	// What no rule of the second table is for goes on from there.
	g := r.group(second, 0, 0, match{"outer_headers.ip_version", 0xf, 4})
	r.setRule(ruleIn{table: second, group: g, actions: actionForward, tirs: r.tir[1:], match: []match{{"outer_headers.ip_version", 0xf, 6}}})
	got, _ = r.steered(udpTo(4))
	require.Equal(t, toNone, got)
	third := r.made(r.build(ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, 0, "create_flow_table_in", "flow_table_context.log_size", 0))
	r.setRule(ruleIn{table: third, group: r.group(third, 0, 0), actions: actionForward, tirs: r.tir[:1]})
	_, s := r.exec(r.build(ifc.MLX5_CMD_OP_MODIFY_FLOW_TABLE, 0, "modify_flow_table_in", "table_id", second, "modify_field_select", 1,
		"flow_table_context.table_miss_action", 1, "flow_table_context.table_miss_id", third))
	require.Equal(t, MLX5_CMD_STAT_OK, s)
	got, tag := r.steered(udpTo(4))
	require.Equal(t, toFirst, got)
	require.Equal(t, uint32(7), tag)

	// A rule changes while it is there, as far as the mask says.
	r.setRule(ruleIn{table: table, group: ports, index: 10, actions: actionForward, tirs: r.tir[1:], match: port(1), modify: modifyDestinations})
	got, tag = r.steered(udpTo(1))
	require.Equal(t, toSecond, got)
	require.Equal(t, uint32(0xabcdef), tag)
	r.setRule(ruleIn{table: table, index: 10, actions: actionDrop, modify: modifyAction | modifyTag})
	got, _ = r.steered(udpTo(1))
	require.Equal(t, toNone, got)

	// Rules that lead in a circle end some time, and so does what multiplies there.
	r.setRule(ruleIn{table: table, index: 13, actions: actionForward, tables: []uint32{table, table}, modify: modifyDestinations})
	got, _ = r.steered(udpTo(4))
	require.Equal(t, toNone, got)

	_, s = r.exec(r.build(ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY, 0, "delete_fte_in", "table_id", table, "flow_index", 10))
	require.Equal(t, MLX5_CMD_STAT_OK, s)
	got, _ = r.steered(udpTo(1))
	require.Equal(t, toSecond, got, "the rule for the rest")
	in := r.build(ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ROOT, 0, "set_flow_table_root_in")
	in[7] = 1
	_, s = r.exec(in)
	require.Equal(t, MLX5_CMD_STAT_OK, s)
	got, _ = r.steered(udpTo(5))
	require.Equal(t, toNone, got, "there is no first table")
}

// What is sent goes through tables of its own, which know the queue that it is from.
func TestSendSteering(t *testing.T) {
	r := newEtherRig(t)
	r.everything()
	f := frameOf(macGroup, macA, be16(0x88b5), make([]byte, 50))
	table := r.newTable(tableNICTX)
	got, _ := r.steered(f)
	require.Equal(t, toFirst, got, "no rule is for it")
	sqn := func(v uint32) []match { return []match{{"misc_parameters.source_sqn", bits24, uint64(v)}} }
	g := r.group(table, 0, 3, sqn(0)...)
	r.setRule(ruleIn{table: table, group: g, actions: actionDrop, match: sqn(r.sq + 1)})
	r.setRule(ruleIn{table: table, group: g, index: 1, actions: actionAllow, match: sqn(r.sq)})
	got, _ = r.steered(f)
	require.Equal(t, toFirst, got)
	r.setRule(ruleIn{table: table, index: 1, actions: actionDrop, modify: modifyAction})
	got, _ = r.steered(f)
	require.Equal(t, toNone, got)
}

func TestFlowCommands(t *testing.T) {
	r := newEtherRig(t)
	table := r.newTable(tableNICRX)
	g := r.group(table, 8, 15, match{"outer_headers.ethertype", 0xffff, 0})
	other := r.made(r.build(ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, 0, "create_flow_table_in", "table_type", 1, "flow_table_context.log_size", 3))
	group := func(start, end int) []byte {
		return r.build(ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP, 0, "create_flow_group_in", "table_id", table, "start_flow_index", start, "end_flow_index", end)
	}
	good := ruleIn{table: table, group: g, index: 8, actions: actionForward, tirs: r.tir[:1], tables: []uint32{other}}
	change := func(f func(o *ruleIn)) []byte {
		o := good
		f(&o)
		return r.ruleInput(o)
	}
	extended := r.ruleInput(good)
	flowExtended.Set(extended[fteContext:], 1)
	many := r.ruleInput(good)
	flowDests.Set(many[fteContext:], 3)
	mode := r.ruleInput(good)
	mode[7] = 2
	vport := r.ruleInput(good)
	vport[fteContext+flowList] = 0
	for name, tt := range map[string]struct {
		in  []byte
		why *refusal
	}{
		"a table that is too large":  {r.build(ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, 0, "create_flow_table_in", "flow_table_context.log_size", 21), badTableSize},
		"a root of another type":     {r.build(ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ROOT, 0, "set_flow_table_root_in", "table_type", 0, "table_id", other), badTableType},
		"no root there":              {r.build(ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ROOT, 0, "set_flow_table_root_in", "table_id", noObject), noSuchObject},
		"a group that begins later":  {group(5, 4), badGroupRange},
		"a group beyond the table":   {group(60, 64), badGroupRange},
		"a group in another":         {group(15, 20), groupsOverlap},
		"a group over another":       {group(0, 8), groupsOverlap},
		"no table for the group":     {r.build(ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP, 0, "create_flow_group_in", "table_id", noObject), noSuchObject},
		"a group of another table":   {change(func(o *ruleIn) { o.table = other }), noSuchGroup},
		"no such group":              {change(func(o *ruleIn) { o.group = 99 }), noSuchGroup},
		"an index before the group":  {change(func(o *ruleIn) { o.index = 7 }), badRuleIndex},
		"an index behind the group":  {change(func(o *ruleIn) { o.index = 16 }), badRuleIndex},
		"no such table":              {change(func(o *ruleIn) { o.table = noObject }), noSuchObject},
		"an action beyond":           {change(func(o *ruleIn) { o.actions = 0x44 }), badRuleAction},
		"no such interface":          {change(func(o *ruleIn) { o.tirs = []uint32{noObject} }), noSuchTIR},
		"no table to go to":          {change(func(o *ruleIn) { o.tables = []uint32{noObject} }), noSuchTable},
		"no such counter":            {change(func(o *ruleIn) { o.counters = []uint32{99} }), noSuchCounter},
		"another kind of places":     {vport, badRuleDest},
		"more places than there are": {many, shortRule},
		"places that are longer":     {extended, shortRule},
		"nothing to modify":          {change(func(o *ruleIn) { o.modify = modifyTag }), noSuchObject},
		"an operation beyond":        {mode, badRuleMode},
		"nothing to delete":          {r.build(ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY, 0, "delete_fte_in", "table_id", table, "flow_index", 8), noSuchObject},
		"no counter to query":        {r.build(ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER, 0, "query_flow_counter_in", "flow_counter_id", 99), noSuchObject},
	} {
		t.Run(name, func(t *testing.T) {
			before := r.Counts()
			r.refused(tt.in, tt.why)
			require.Equal(t, before, r.Counts())
		})
	}
	in := r.ruleInput(good)
	r.setRule(good)
	r.refused(in, ruleExists)
	out, _ := r.exec(r.build(ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY, 0, "query_fte_in", "table_id", table, "flow_index", 8))
	require.Equal(t, in[fteContext:fteContext+flowList], out[fteOut:fteOut+flowList])
	out, _ = r.exec(r.build(ifc.MLX5_CMD_OP_QUERY_FLOW_GROUP, 0, "query_flow_group_in", "table_id", table, "group_id", g))
	require.Equal(t, uint64(8), ifc.Must("query_flow_group_out").Field("start_flow_index").Get(out))
	require.Equal(t, uint64(0xffff), ifc.Must("query_flow_group_out").Field("match_criteria.outer_headers.ethertype").Get(out))
	out, _ = r.exec(r.build(ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE, 0, "query_flow_table_in", "table_id", table))
	require.Equal(t, uint64(6), ifc.Must("query_flow_table_out").Field("flow_table_context.log_size").Get(out))

	// Nothing goes that something else needs.
	r.refused(query(ifc.MLX5_CMD_OP_DESTROY_TIR, r.tir[0]), objectBusy)
	destroyTable := func(n uint32) []byte {
		return r.build(ifc.MLX5_CMD_OP_DESTROY_FLOW_TABLE, 0, "destroy_flow_table_in", "table_id", n)
	}
	destroyGroup := r.build(ifc.MLX5_CMD_OP_DESTROY_FLOW_GROUP, 0, "destroy_flow_group_in", "table_id", table, "group_id", g)
	r.refused(destroyTable(other), objectBusy)
	r.refused(destroyTable(table), objectBusy)
	r.refused(destroyGroup, objectBusy)
	r.answers(r.build(ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY, 0, "delete_fte_in", "table_id", table, "flow_index", 8))
	r.refused(r.build(ifc.MLX5_CMD_OP_DESTROY_FLOW_GROUP, 0, "destroy_flow_group_in", "table_id", other, "group_id", g), noSuchObject)
	r.answers(destroyGroup)
	r.answers(destroyTable(other))
	r.answers(destroyTable(table))
	r.answers(query(ifc.MLX5_CMD_OP_DESTROY_TIR, r.tir[0]))
	got, _ := r.steered(frameOf(macGroup, macA, be16(0x88b5), make([]byte, 50)))
	require.Equal(t, toNone, got, "the root has gone")
}

// Counters that are made together go together, and their numbers are not reused one
// by one.
func TestFlowCounterNumbers(t *testing.T) {
	r := newEtherRig(t)
	one := Input(ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER, 0, 0, 0)
	a := r.made(one)
	b := r.made(r.build(ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER, 0, "alloc_flow_counter_in", "flow_counter_bulk_log_size", 3))
	c := r.made(one)
	require.Equal(t, []uint32{a + 1, a + 9}, []uint32{b, c})
	r.refused(query(ifc.MLX5_CMD_OP_DEALLOC_FLOW_COUNTER, b+1), noSuchObject)
	r.answers(query(ifc.MLX5_CMD_OP_DEALLOC_FLOW_COUNTER, b))
	r.refused(r.build(ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER, 0, "query_flow_counter_in", "flow_counter_id", b+7), noSuchObject)
	require.Equal(t, c+1, r.made(r.build(ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER, 0, "alloc_flow_counter_in", "flow_counter_bulk", 2)))
	require.Equal(t, b, r.made(one))
	require.Equal(t, c+1+256, r.made(one))
}

// Rules of users lead to what is theirs.
func TestFlowsOfUsers(t *testing.T) {
	r := newEtherRig(t)
	uid := uint16(r.made(Input(ifc.MLX5_CMD_OP_CREATE_UCTX, 0, 0, 0)))
	mine := func(in []byte) []byte {
		binary.BigEndian.PutUint16(in[2:], uid)
		return in
	}
	table := r.made(mine(r.build(ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, 0, "create_flow_table_in", "flow_table_context.log_size", 1)))
	in := r.build(ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP, 0, "create_flow_group_in", "table_id", table, "end_flow_index", 1)
	r.refused(append([]byte(nil), in...), noSuchObject) // the driver changes nothing that is a user's
	g := r.made(mine(in))
	to := ruleIn{table: table, group: g, actions: actionForward, tirs: r.tir[:1]}
	r.refused(mine(r.ruleInput(to)), noSuchTIR)
	to.actions, to.tirs = actionDrop, nil
	r.answers(mine(r.ruleInput(to)))
	r.refused(r.build(ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY, 0, "delete_fte_in", "table_id", table), noSuchObject)
}
