package hw

import (
	"cmp"
	"encoding/binary"
	"slices"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// What a rule does with a frame (MLX5_FLOW_CONTEXT_ACTION_* in
// include/linux/mlx5/mlx5_ifc.h); others are not carried out by this device.
const (
	actionAllow   = 0x1
	actionDrop    = 0x2
	actionForward = 0x4
	actionCount   = 0x8

	actionsKnown = actionAllow | actionDrop | actionForward | actionCount
)

// Where a rule sends frames to (MLX5_IFC_FLOW_DESTINATION_TYPE_* there).
const (
	destTable = 1
	destTIR   = 2
)

// What SET_FLOW_TABLE_ENTRY modifies of a rule
// (MLX5_SET_FTE_MODIFY_ENABLE_MASK_* there, as bits).
const (
	modifyAction       = 1 << 0
	modifyTag          = 1 << 1
	modifyDestinations = 1 << 2
	modifyCounters     = 1 << 3
)

// The fields of the commands about rules.
var (
	fteTable   = ifc.Must("set_fte_in").Field("table_id").Byte() - 1
	fteIndex   = ifc.Must("set_fte_in").Field("flow_index")
	fteModify  = ifc.Must("set_fte_in").Field("modify_enable_mask")
	fteContext = ifc.Must("set_fte_in").Field("flow_context").Byte()
	fteOut     = ifc.Must("query_fte_out").Field("flow_context").Byte()

	flowGroupID  = ifc.Must("flow_context").Field("group_id")
	flowTag      = ifc.Must("flow_context").Field("flow_tag")
	flowActions  = ifc.Must("flow_context").Field("action")
	flowExtended = ifc.Must("flow_context").Field("extended_destination")
	flowDests    = ifc.Must("flow_context").Field("destination_list_size")
	flowCounters = ifc.Must("flow_context").Field("flow_counter_list_size")
	flowValue    = ifc.Must("flow_context").Field("match_value")
	flowList     = ifc.Must("flow_context").Field("destination").Byte()
)

// destSize is the length of an entry of the list of destinations and counters, and
// extendedDestSize that of one with a header to put on.
const (
	destSize         = 8
	extendedDestSize = 16
)

// flowDest is where a rule sends a frame to.
type flowDest struct {
	table *flowTable
	tir   *context
}

// flowRule is a rule at an index of a table.
type flowRule struct {
	uid      uint16
	index    uint32
	group    *flowGroup
	ctx      []byte // flow_context, as it was given last
	actions  uint16
	tag      uint32
	value    matchParam
	dests    []flowDest
	counters []*traffic

	destRefs, counterRefs []ref
}

// rule finds the rule at the index that a command names.
func (t *flowTable) rule(index uint32) *flowRule {
	for _, g := range t.groups {
		if index < g.start || index > g.end {
			continue
		}
		if i, ok := g.place(index); ok {
			return g.rules[i]
		}
	}
	return nil
}

// place is where in the group's list the rule at an index stands, or would.
func (g *flowGroup) place(index uint32) (int, bool) {
	return slices.BinarySearchFunc(g.rules, index, func(r *flowRule, index uint32) int { return cmp.Compare(r.index, index) })
}

// modifyRule is the operation modifier of SET_FLOW_TABLE_ENTRY for a rule that is
// there.
const modifyRule = 1

// setFlowRule makes a rule, or changes one.
func setFlowRule(d *Device, c *command) *refusal {
	t, ok := lookup[*flowTable](d, c, kindFlowTable, fteTable, toChange)
	if !ok {
		return noSuchObject
	}
	ctx, index := c.in[fteContext:], uint32(fteIndex.Get(c.in))
	old := t.rule(index)
	next := &flowRule{uid: c.uid, index: index}
	switch {
	case c.opMod > modifyRule:
		return badRuleMode
	case c.opMod == modifyRule && old == nil:
		return noSuchObject
	case c.opMod == modifyRule:
		*next = *old
		return d.changeRule(old, next, ctx, uint8(fteModify.Get(c.in)))
	case old != nil:
		return ruleExists
	}
	o, ok := d.find(kindFlowGroup, uint32(flowGroupID.Get(ctx)), c.uid, toName)
	g, _ := o.as.(*flowGroup)
	if !ok || g == nil || g.table != t {
		return noSuchGroup
	}
	if index < g.start || index > g.end {
		return badRuleIndex
	}
	next.group = g
	copy(next.value[:], flowValue.Bytes(ctx))
	if r := d.changeRule(nil, next, ctx, modifyAction|modifyTag|modifyDestinations|modifyCounters); r != nil {
		return r
	}
	i, _ := g.place(index)
	g.rules = slices.Insert(g.rules, i, next)
	return nil
}

// changeRule takes over what of a flow context shall change, and puts next into
// the place of old, if there is one.
func (d *Device) changeRule(old, next *flowRule, ctx []byte, what uint8) *refusal {
	if what&modifyAction != 0 {
		if next.actions = uint16(flowActions.Get(ctx)); next.actions&^actionsKnown != 0 {
			return badRuleAction
		}
	}
	if what&modifyTag != 0 {
		next.tag = uint32(flowTag.Get(ctx))
	}
	if r := d.readLists(next, ctx, what); r != nil {
		return r
	}
	for _, refs := range [][]ref{next.destRefs, next.counterRefs} {
		if r := d.check(refs, next.uid); r != nil {
			return r
		}
	}
	d.hold(next.destRefs)
	d.hold(next.counterRefs)
	next.ctx = append([]byte(nil), ctx...)
	if old != nil {
		d.drop(old.destRefs)
		d.drop(old.counterRefs)
		*old = *next
	}
	return nil
}

// readLists reads a flow context's list: first its destinations, then its
// counters.
func (d *Device) readLists(next *flowRule, ctx []byte, what uint8) *refusal {
	size := uint64(destSize)
	if flowExtended.Get(ctx) != 0 {
		size = extendedDestSize
	}
	dests, counters, list := flowDests.Get(ctx), flowCounters.Get(ctx), ctx[flowList:]
	if (dests+counters)*size > uint64(len(list)) {
		return shortRule
	}
	if what&modifyDestinations != 0 {
		next.dests, next.destRefs = nil, nil
		for i := range dests {
			if r := d.readDest(next, list[i*size:]); r != nil {
				return r
			}
		}
	}
	if what&modifyCounters != 0 {
		next.counters, next.counterRefs = nil, nil
		for i := range counters {
			fc := d.counters[binary.BigEndian.Uint32(list[(dests+i)*size:])]
			if fc == nil {
				return noSuchCounter
			}
			next.counters = append(next.counters, &fc.traffic)
			next.counterRefs = append(next.counterRefs, ref{kindFlowCounter, fc.base})
		}
	}
	return nil
}

// readDest reads one destination (struct dest_format_struct).
func (d *Device) readDest(next *flowRule, dest []byte) *refusal {
	word := binary.BigEndian.Uint32(dest)
	n := word & bits24
	switch word >> 24 {
	case destTable:
		t, _ := d.objects[kindFlowTable].live[n].as.(*flowTable)
		if t == nil {
			return noSuchTable
		}
		next.dests = append(next.dests, flowDest{table: t})
		next.destRefs = append(next.destRefs, ref{kindFlowTable, n})
	case destTIR:
		tir, _ := d.objects[kindTIR].live[n].as.(*context)
		if tir == nil {
			return noSuchTIR
		}
		next.dests = append(next.dests, flowDest{tir: tir})
		next.destRefs = append(next.destRefs, ref{kindTIR, n})
	default:
		return badRuleDest
	}
	return nil
}

func deleteFlowRule(d *Device, c *command) *refusal {
	t, ok := lookup[*flowTable](d, c, kindFlowTable, fteTable, toChange)
	if !ok {
		return noSuchObject
	}
	r := t.rule(uint32(fteIndex.Get(c.in)))
	if r == nil {
		return noSuchObject
	}
	d.drop(r.destRefs)
	d.drop(r.counterRefs)
	i, _ := r.group.place(r.index)
	r.group.rules = slices.Delete(r.group.rules, i, i+1)
	return nil
}

func queryFlowRule(d *Device, c *command) *refusal {
	t, ok := lookup[*flowTable](d, c, kindFlowTable, fteTable, toRead)
	if !ok {
		return noSuchObject
	}
	r := t.rule(uint32(fteIndex.Get(c.in)))
	if r == nil {
		return noSuchObject
	}
	copy(c.out[fteOut:], r.ctx)
	return nil
}
