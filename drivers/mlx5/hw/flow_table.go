package hw

import (
	"cmp"
	"slices"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Types of flow tables (enum fs_flow_table_type in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.h). Frames go through those of
// the first two; others can be made and filled.
const (
	tableNICRX = 0
	tableNICTX = 1
)

// The fields of the commands about flow tables and groups.
var (
	ftContextIn  = ifc.Must("create_flow_table_in").Field("flow_table_context")
	ftContextOut = ifc.Must("query_flow_table_out").Field("flow_table_context")
	ftModify     = ifc.Must("modify_flow_table_in").Field("flow_table_context")
	ftSelect     = ifc.Must("modify_flow_table_in").Field("modify_field_select")
	ftType       = ifc.Must("create_flow_table_in").Field("table_type")
	ftModifyID   = ifc.Must("modify_flow_table_in").Field("table_id").Byte() - 1
	ftDestroyID  = ifc.Must("destroy_flow_table_in").Field("table_id").Byte() - 1
	ftRootID     = ifc.Must("set_flow_table_root_in").Field("table_id").Byte() - 1
	ftRootType   = ifc.Must("set_flow_table_root_in").Field("table_type")
	ftLogSize    = ifc.Must("flow_table_context").Field("log_size")
	ftMissAction = ifc.Must("flow_table_context").Field("table_miss_action")
	ftMissID     = ifc.Must("flow_table_context").Field("table_miss_id")

	fgStart    = ifc.Must("create_flow_group_in").Field("start_flow_index")
	fgEnd      = ifc.Must("create_flow_group_in").Field("end_flow_index")
	fgEnable   = ifc.Must("create_flow_group_in").Field("match_criteria_enable")
	fgCriteria = ifc.Must("create_flow_group_in").Field("match_criteria")
	fgTable    = ifc.Must("create_flow_group_in").Field("table_id").Byte() - 1
	fgID       = ifc.Must("destroy_flow_group_in").Field("group_id").Byte()

	capFTLogMaxSize = map[uint8]ifc.Field{
		tableNICRX: ifc.Must("flow_table_nic_cap").Field("flow_table_properties_nic_receive.log_max_ft_size"),
		tableNICTX: ifc.Must("flow_table_nic_cap").Field("flow_table_properties_nic_transmit.log_max_ft_size"),
	}
)

// modifyMiss is the bit of modify_field_select for what becomes of frames that no
// rule of a table is for (MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID in
// include/linux/mlx5/mlx5_ifc.h), and missForward the action that leads to
// another table (MLX5_FLOW_TABLE_MISS_ACTION_FWD).
const (
	modifyMiss  = 1 << 0
	missForward = 1
)

// flowTable is a table of rules, in groups that compare the same fields each.
type flowTable struct {
	n      uint32
	typ    uint8
	ctx    []byte       // flow_table_context
	groups []*flowGroup // by their first index
}

// flowGroup is a range of a table's indices and what its rules compare.
type flowGroup struct {
	n          uint32
	table      *flowTable
	in         []byte // the command that made it
	start, end uint32
	mask       flowMask
	rules      []*flowRule // by index
}

func createFlowTable(d *Device, c *command) *refusal {
	t := &flowTable{typ: uint8(ftType.Get(c.in)), ctx: append([]byte(nil), ftContextIn.Bytes(c.in)...)}
	if f, ok := capFTLogMaxSize[t.typ]; ok && ftLogSize.Get(t.ctx) > f.Get(d.caps[ifc.MLX5_CAP_FLOW_TABLE]) {
		return badTableSize
	}
	n, r := d.add(kindFlowTable, c.uid, t)
	if r == nil {
		t.n = n
		putNumber(c.out, n)
	}
	return r
}

// destroyFlowTable ends a table that has no groups and that no rule leads to. A
// table that leads to it has none to lead to from then on, and a root is none.
func destroyFlowTable(d *Device, c *command) *refusal {
	n := c.number(kindFlowTable, ftDestroyID)
	o, ok := d.find(kindFlowTable, n, c.uid, toChange)
	t, _ := o.as.(*flowTable)
	switch {
	case !ok:
		return noSuchObject
	case o.users > 0, t != nil && len(t.groups) > 0:
		return objectBusy
	}
	d.remove(kindFlowTable, n)
	for typ, root := range d.roots {
		if root == t {
			d.roots[typ] = nil
		}
	}
	return nil
}

func queryFlowTable(d *Device, c *command) *refusal {
	t, ok := lookup[*flowTable](d, c, kindFlowTable, ftDestroyID, toRead)
	if !ok {
		return noSuchObject
	}
	copy(ftContextOut.Bytes(c.out), t.ctx)
	return nil
}

// modifyFlowTable says where frames go that no rule of a table is for.
func modifyFlowTable(d *Device, c *command) *refusal {
	t, ok := lookup[*flowTable](d, c, kindFlowTable, ftModifyID, toChange)
	if !ok {
		return noSuchObject
	}
	if ftSelect.Get(c.in)&modifyMiss != 0 {
		from := ftModify.Bytes(c.in)
		ftMissAction.Set(t.ctx, ftMissAction.Get(from))
		ftMissID.Set(t.ctx, ftMissID.Get(from))
	}
	return nil
}

// disconnectRoot is the operation modifier of SET_FLOW_TABLE_ROOT that leaves no
// table to begin with.
const disconnectRoot = 1

// setFlowTableRoot says which table frames come to first.
func setFlowTableRoot(d *Device, c *command) *refusal {
	typ := uint8(ftRootType.Get(c.in))
	if c.opMod == disconnectRoot {
		d.setRoot(typ, nil)
		return nil
	}
	t, ok := lookup[*flowTable](d, c, kindFlowTable, ftRootID, toChange)
	switch {
	case !ok:
		return noSuchObject
	case t.typ != typ:
		return badTableType
	}
	d.setRoot(typ, t)
	return nil
}

func (d *Device) setRoot(typ uint8, t *flowTable) {
	if int(typ) < len(d.roots) {
		d.roots[typ] = t
	}
}

// createFlowGroup makes a group of indices that no other group of the table has.
func createFlowGroup(d *Device, c *command) *refusal {
	t, ok := lookup[*flowTable](d, c, kindFlowTable, fgTable, toChange)
	if !ok {
		return noSuchObject
	}
	g := &flowGroup{
		table: t, in: append([]byte(nil), c.in[:ifc.Must("create_flow_group_in").Size()]...),
		start: uint32(fgStart.Get(c.in)), end: uint32(fgEnd.Get(c.in)),
		mask: newFlowMask(fgCriteria.Bytes(c.in), uint8(fgEnable.Get(c.in))),
	}
	if g.end < g.start || uint64(g.end) >= 1<<min(ftLogSize.Get(t.ctx), 32) {
		return badGroupRange
	}
	at, _ := slices.BinarySearchFunc(t.groups, g.start, func(g *flowGroup, start uint32) int { return cmp.Compare(g.start, start) })
	if at > 0 && t.groups[at-1].end >= g.start || at < len(t.groups) && t.groups[at].start <= g.end {
		return groupsOverlap
	}
	n, r := d.add(kindFlowGroup, c.uid, g)
	if r != nil {
		return r
	}
	g.n = n
	t.groups = slices.Insert(t.groups, at, g)
	putNumber(c.out, n)
	return nil
}

// destroyFlowGroup ends a group without rules.
func destroyFlowGroup(d *Device, c *command) *refusal {
	g, ok := lookup[*flowGroup](d, c, kindFlowGroup, fgID, toChange)
	switch {
	case !ok || g.table.n != c.number(kindFlowTable, ftDestroyID):
		return noSuchObject
	case len(g.rules) > 0:
		return objectBusy
	}
	d.remove(kindFlowGroup, g.n)
	g.table.groups = slices.DeleteFunc(g.table.groups, func(other *flowGroup) bool { return other == g })
	return nil
}

// queryFlowGroup answers with the group as it was made: from the indices on the
// answer is laid out as the command was.
func queryFlowGroup(d *Device, c *command) *refusal {
	g, ok := lookup[*flowGroup](d, c, kindFlowGroup, fgID, toRead)
	if !ok {
		return noSuchObject
	}
	at := fgStart.Byte()
	copy(c.out[at:], g.in[at:])
	return nil
}
