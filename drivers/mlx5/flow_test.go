package mlx5

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
)

// rawQP makes a queue pair for raw packets and returns its handle and its TIR.
func (r *rig) rawQP() (handle, tirn uint32) {
	r.Helper()
	a := r.qpArgs(spec.IB_QPT_RAW_PACKET)
	a.ucmd.SQBufAddr = uint64(r.take(copyuser.PageSize))
	h, resp, err := r.createQP(&a)
	require.NoError(r, err)
	return h, resp.Tirn
}

// invoke calls a write() command through the method that carries one.
func (r *rig) invoke(command uint64, in []byte) ([]byte, error) {
	r.Helper()
	out := r.out(spec.UVERBS_ATTR_CORE_OUT, 8)
	err := r.call(r.fd, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE,
		r.in(spec.UVERBS_ATTR_CORE_IN, in), out, constAttr(spec.UVERBS_ATTR_WRITE_CMD, command|1<<31))
	return r.answer(out, 8), err
}

// flowTo makes a flow to a queue pair, by a source MAC address that ends in a byte.
func (r *rig) flowTo(qp uint32, priority uint16, flags uint32, last byte) (uint32, error) {
	r.Helper()
	const ethSize = 8 + 2*16
	in := make([]byte, 8, 64)
	le.PutUint32(in[4:], qp)
	in = le.AppendUint32(in, spec.IB_FLOW_ATTR_NORMAL)
	in = le.AppendUint16(in, ethSize)
	in = le.AppendUint16(in, priority)
	in = append(in, 1, 0, 0, 1)
	in = le.AppendUint32(in, flags)
	in = le.AppendUint32(in, spec.IB_FLOW_SPEC_ETH)
	in = le.AppendUint16(in, ethSize)
	in = append(in, 0, 0)
	val, mask := make([]byte, 16), make([]byte, 16)
	val[11], mask[11] = last, 0xff
	out, err := r.invoke(spec.IB_USER_VERBS_EX_CMD_CREATE_FLOW, append(append(in, val...), mask...))
	return le.Uint32(out[4:]), err
}

func (r *rig) destroyFlow(h uint32) {
	r.Helper()
	_, err := r.invoke(spec.IB_USER_VERBS_EX_CMD_DESTROY_FLOW, le.AppendUint32(make([]byte, 4), h))
	require.NoError(r, err)
}

// rules returns where each rule of a priority's table leads to, as the device has
// it: kinds and numbers of the destinations.
func (r *rig) rules(p *flowPrio) (to [][]uint32) {
	r.Helper()
	for _, g := range p.table.groups {
		for _, e := range g.ftes {
			in := hw.Input(ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY, 0, 0, 0)
			ftID.Set(in, uint64(p.table.id))
			fteIndex.Set(in, uint64(e.index))
			out := make([]byte, fteDests+8*4)
			require.NoError(r, r.dev.exec(nil, in, out))
			var list []uint32
			for i := range fteNumDest.Get(out) {
				list = append(list, be.Uint32(out[fteDests+8*i:]))
			}
			to = append(to, list)
		}
	}
	return to
}

// miss is where packets go that no rule of a table is for, 0 for nowhere.
func (r *rig) miss(ft *flowTable) uint32 {
	r.Helper()
	in := hw.Input(ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE, 0, 0, 0)
	ftID.Set(in, uint64(ft.id))
	out := make([]byte, 64)
	require.NoError(r, r.dev.exec(nil, in, out))
	if ftMiss.Get(out) != flowMissFwd {
		return 0
	}
	return uint32(ftMissID.Get(out))
}

// Tables stand in the order of their priorities, whatever order they are made in; a
// flow whose packets go on has them go to the next one, whichever that is now.
func TestFlowChain(t *testing.T) {
	r := newRig(t, Config{Profile: hw.ConnectX6Dx})
	r.devxContext()
	qp, tirn := r.rawQP()
	before := r.counts()
	f := &r.dev.flows
	at := func(priority int) *flowPrio { return f.find(&nicRX, priority) }
	flow := func(priority uint16, flags uint32) uint32 {
		h, err := r.flowTo(qp, priority, flags, 1)
		require.NoError(t, err)
		return h
	}
	root := f.root(&nicRX)
	end := root.tables[0].id // of what nobody wants

	late := flow(5, 0)
	trap := flow(1, spec.IB_FLOW_ATTR_FLAGS_DONT_TRAP)
	tir := uint32(flowDestTIR)<<24 | tirn
	table := func(p *flowPrio) uint32 { return flowDestFlowTable<<24 | p.table.id }
	require.Equal(t, at(2).table, root.root, "twice the priority, one less than that of flows that keep packets")
	require.Equal(t, at(11).table.id, r.miss(at(2).table))
	require.Equal(t, end, r.miss(at(11).table))
	require.Equal(t, [][]uint32{{tir, table(at(11))}}, r.rules(at(2)))
	require.Equal(t, [][]uint32{{tir}}, r.rules(at(11)))

	between := flow(3, 0)
	require.Equal(t, at(7).table.id, r.miss(at(2).table))
	require.Equal(t, at(11).table.id, r.miss(at(7).table))
	require.Equal(t, [][]uint32{{tir, table(at(7))}}, r.rules(at(2)), "the rule leads to the new table")
	r.destroyFlow(between)
	require.Equal(t, at(11).table.id, r.miss(at(2).table))
	require.Equal(t, [][]uint32{{tir, table(at(11))}}, r.rules(at(2)), "and back")
	r.destroyFlow(late)
	require.Equal(t, end, r.miss(at(2).table))
	require.Equal(t, [][]uint32{{tir, flowDestFlowTable<<24 | end}}, r.rules(at(2)))
	r.destroyFlow(trap)
	require.Equal(t, end, root.root.id)
	require.Empty(t, cmp.Diff(before, r.counts()))
}

// Flows of one value share a rule, which leads to the queue pairs of all; a flow of
// another value has a rule of its own in the same group.
func TestSharedFlow(t *testing.T) {
	r := newRig(t, Config{Profile: hw.ConnectX6Dx})
	r.devxContext()
	var qps, tirs, flows [3]uint32
	for i := range qps {
		qps[i], tirs[i] = r.rawQP()
		tirs[i] |= flowDestTIR << 24
	}
	before := r.counts()
	for i := range flows {
		var err error
		flows[i], err = r.flowTo(qps[i], 0, 0, 7)
		require.NoError(t, err)
	}
	again, err := r.flowTo(qps[0], 0, 0, 7)
	require.NoError(t, err)
	other, err := r.flowTo(qps[1], 0, 0, 8)
	require.NoError(t, err)
	p := r.dev.flows.find(&nicRX, 1)
	require.Equal(t, [][]uint32{{tirs[2], tirs[1], tirs[0]}, {tirs[1]}}, r.rules(p))
	require.Len(t, p.table.groups, 1)
	r.destroyFlow(flows[1])
	r.destroyFlow(flows[0])
	require.Equal(t, [][]uint32{{tirs[2], tirs[0]}, {tirs[1]}}, r.rules(p), "the first queue pair has another flow of this value")
	r.destroyFlow(again)
	r.destroyFlow(other)
	require.Equal(t, [][]uint32{{tirs[2]}}, r.rules(p))
	require.Error(t, r.destroyQP(qps[2]), "a queue pair with a flow stays")
	r.destroyFlow(flows[2])
	require.Empty(t, cmp.Diff(before, r.counts()))
}

// What a device without some capability is refused.
func TestFlowCapabilities(t *testing.T) {
	const rx, tx = "flow_table_nic_cap.flow_table_properties_nic_receive.", "flow_table_nic_cap.flow_table_properties_nic_transmit."
	for _, tt := range []struct {
		name  string
		caps  map[string]uint64
		flags uint32
		want  []error // of the same flow, time and again
	}{
		{"no order of tables", map[string]uint64{rx + "modify_root": 0}, 0, []error{rule.MLX5FlowNoNamespace}},
		{"none for what is sent", map[string]uint64{tx + "ft_support": 0}, spec.IB_FLOW_ATTR_FLAGS_EGRESS, []error{rule.MLX5FlowNoNamespace}},
		{"no change of rules", map[string]uint64{rx + "flow_modify_en": 0}, spec.IB_FLOW_ATTR_FLAGS_EGRESS, []error{nil, rule.MLX5FlowNoModify}},
		{"tables of one rule", map[string]uint64{rx + "log_max_ft_size": 0}, 0, []error{rule.MLX5FlowTableGroups}},
		{"tables of a size that there is not", map[string]uint64{rx + "log_max_ft_size": 6}, 0, []error{rule.MLX5FlowTableSize}},
		{"tables of 128 rules", map[string]uint64{rx + "log_max_ft_size": 7}, 0, []error{nil, nil}},
		{"packets do not go on", map[string]uint64{"flow_table_nic_cap.nic_rx_multi_path_tirs": 0}, spec.IB_FLOW_ATTR_FLAGS_DONT_TRAP,
			[]error{rule.MLX5FlowNextUnsupported}},
	} {
		p, err := hw.ConnectX6Dx.With(tt.caps)
		require.NoError(t, err)
		r := newRig(t, Config{Profile: p})
		r.devxContext()
		qp, _ := r.rawQP()
		for i, want := range tt.want {
			before := r.counts()
			_, err = r.flowTo(qp, 0, tt.flags, 1)
			require.Equal(t, want, err, "%s: %d", tt.name, i)
			if err != nil {
				require.Empty(t, cmp.Diff(before, r.counts()), tt.name)
			}
		}
	}
}

// A table has six groups of equal size; more sorts of flows get groups of one, behind
// them.
func TestFlowGroups(t *testing.T) {
	p, err := hw.ConnectX6Dx.With(map[string]uint64{"flow_table_nic_cap.flow_table_properties_nic_receive.log_max_ft_size": 7})
	require.NoError(t, err)
	r := newRig(t, Config{Profile: p})
	d := r.dev
	ft, err := d.createAutoGroupedTable(nil, &nicRX, 0, 128, maxFlowTypes)
	require.NoError(t, err)
	add := func(sort, value byte) (*flowHandle, error) {
		m := flowMatch{enable: 1}
		m.criteria[0], m.criteria[1], m.value[1] = sort, 0xff, value
		return d.addFlowRules(nil, ft, &m, &flowAct{action: flowActionDrop}, nil)
	}
	var first *flowHandle
	for sort := range byte(8) {
		h, err := add(sort, 0)
		require.NoError(t, err)
		if sort == 0 {
			first = h
		}
	}
	var starts, sizes []uint32
	for _, g := range ft.groups {
		starts, sizes = append(starts, g.start), append(sizes, g.max)
	}
	require.Equal(t, []uint32{0, 18, 36, 54, 72, 90, 108, 109}, starts, "128 by 7 is 18")
	require.Equal(t, []uint32{18, 18, 18, 18, 18, 18, 1, 1}, sizes)
	for v := range byte(128 - 110) {
		_, err := add(9, v)
		require.NoError(t, err)
	}
	_, err = add(9, 200)
	require.Equal(t, rule.MLX5FlowFull, err)
	d.delFlowRules(nil, first)
	h, err := add(9, 200)
	require.NoError(t, err)
	require.Equal(t, uint32(0), h.fte.index, "the place of the group that has gone")
	require.Equal(t, uint32(18), h.fte.group.max)
}
