package mlx5

import (
	"slices"

	"uverbsim/rule"
	"uverbsim/trace"
)

// How mlx5_core keeps rules in their tables
// (drivers/net/ethernet/mellanox/mlx5/core/fs_core.c).

// addFlowRules puts a rule into a table. It models mlx5_add_flow_rules in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
//
// Errors: mlx5-flow/next-unsupported, mlx5-flow/no-next, and those of addRules.
func (d *Device) addFlowRules(t *trace.Task, ft *flowTable, m *flowMatch, act *flowAct, dests []flowDestination) (*flowHandle, error) {
	defer t.Enter(moduleCore, "mlx5_add_flow_rules").Leave()
	asked := act.action
	if asked&flowActionFwdNext == 0 {
		return d.addRules(t, ft, m, act, dests)
	}
	if ft.ns.fsType != nicRX.fsType || !d.caps.has(capMultiPathTIRs) {
		return nil, rule.MLX5FlowNextUnsupported
	}
	r := d.flows.root(ft.ns)
	next := r.next(ft.level)
	if asked&flowActionFwdNextNS != 0 {
		next = r.nextNS(ft.ns)
	}
	if next == nil {
		return nil, rule.MLX5FlowNoNext
	}
	dests = append(slices.Clone(dests), flowDestination{typ: destFlowTable, table: next})
	act.action = asked&^flowActionFwdNext | flowActionFwdDest
	h, err := d.addRules(t, ft, m, act, dests)
	if err != nil {
		return nil, err
	}
	last := h.dests[len(dests)-1]
	if last.swAction == 0 {
		next.fwd = append(next.fwd, last)
		last.swAction = asked
	}
	return h, nil
}

// capMultiPathTIRs says that a rule may lead to interfaces and tables at once.
var capMultiPathTIRs = flow("nic_rx_multi_path_tirs")

// isValidDest models dest_is_valid and counter_is_valid in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
func (dest *flowDestination) isValid(action uint32, ft *flowTable) bool {
	if dest.typ == destCounter {
		return action&(flowActionDrop|flowActionAllow|flowActionFwdDest) != 0
	}
	return action&flowActionFwdDest == 0 || dest.typ != destFlowTable || dest.table.level > ft.level
}

// addRules models _mlx5_add_flow_rules and try_add_to_existing_fg in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c: a rule of a value that is
// there already adds its destinations to that.
//
// Errors: mlx5-flow/value, mlx5-flow/destination, mlx5-flow/full,
// mlx5-flow/conflicting-actions, mlx5-flow/conflicting-tag, mlx5-flow/no-modify,
// mlx5-flow/many-counters, mlx5-flow/core-no-memory, mlx5-cmd/….
func (d *Device) addRules(t *trace.Task, ft *flowTable, m *flowMatch, act *flowAct, dests []flowDestination) (*flowHandle, error) {
	defer t.Enter(moduleCore, "_mlx5_add_flow_rules").Leave()
	for i, v := range m.value {
		if v&^m.criteria[i] != 0 {
			return nil, rule.MLX5FlowValue
		}
	}
	for i := range dests {
		if !dests[i].isValid(act.action, ft) {
			return nil, rule.MLX5FlowDest
		}
	}
	var room *flowGroup
	for _, g := range ft.groups {
		if g.enable != m.enable || g.criteria != m.criteria {
			continue
		}
		for _, e := range g.ftes {
			if e.value == m.value {
				return d.addRuleFG(t, e, m, act, dests)
			}
		}
		if room == nil && uint32(len(g.ftes)) < g.max {
			room = g
		}
	}
	if room == nil {
		var err error
		if room, err = d.createAutoGroup(t, ft, m); err != nil {
			return nil, err
		}
	}
	e := room.insert(m, act)
	if t.Fail(trace.Alloc, "fs_fte") {
		d.putFTE(t, e)
		return nil, rule.MLX5FlowCoreNoMemory
	}
	h, err := d.addRuleFG(t, e, m, act, dests)
	if err != nil {
		d.putFTE(t, e)
		return nil, err
	}
	return h, nil
}

// insert models alloc_fte and insert_fte: the lowest index that is free.
func (g *flowGroup) insert(m *flowMatch, act *flowAct) *fte {
	e := &fte{group: g, index: g.start, value: m.value, act: *act, tag: m.tag}
	at := 0
	for at < len(g.ftes) && g.ftes[at].index == e.index {
		at++
		e.index++
	}
	g.ftes = slices.Insert(g.ftes, at, e)
	return e
}

// createAutoGroup makes a group for rules that compare these fields. It models
// alloc_auto_flow_group and create_auto_flow_group in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
//
// Errors: mlx5-flow/full, mlx5-flow/core-no-memory, mlx5-cmd/….
func (d *Device) createAutoGroup(t *trace.Task, ft *flowTable, m *flowMatch) (*flowGroup, error) {
	defer t.EnterInlined(moduleCore, "alloc_auto_flow_group").Leave()
	size := uint32(0)
	if ft.numGroups < ft.requiredGroups {
		size = ft.groupSize
	}
	size = max(size, 1)
	at, start := 0, uint32(0)
	for _, g := range ft.groups {
		if start+size <= g.start {
			break
		}
		start = g.start + g.max
		at++
	}
	if start+size > ft.maxFTE {
		return nil, rule.MLX5FlowFull
	}
	if t.Fail(trace.Alloc, "mlx5_flow_group") {
		return nil, rule.MLX5FlowCoreNoMemory
	}
	g := &flowGroup{table: ft, enable: m.enable, criteria: m.criteria, start: start, max: size}
	if err := d.createFlowGroup(t, g); err != nil {
		return nil, err
	}
	ft.groups = slices.Insert(ft.groups, at, g)
	if size == ft.groupSize {
		ft.numGroups++
	}
	return g, nil
}

// conflictingActions are those that all flows of one value must agree on.
const conflictingActions = flowActionDrop | flowActionReformat | flowActionDecap | flowActionModHdr

// addRuleFG models add_rule_fg, check_conflicting_ftes and add_rule_fte in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
//
// Errors: mlx5-flow/conflicting-actions, mlx5-flow/conflicting-tag,
// mlx5-flow/no-modify, mlx5-flow/many-counters, mlx5-cmd/….
func (d *Device) addRuleFG(t *trace.Task, e *fte, m *flowMatch, act *flowAct, dests []flowDestination) (*flowHandle, error) {
	defer t.Enter(moduleCore, "add_rule_fg").Leave()
	if act.conflicts(&e.act) {
		return nil, rule.MLX5FlowConflictingActions
	}
	if m.hasTag && e.tag != m.tag {
		return nil, rule.MLX5FlowConflictingTag
	}
	if t.Fail(trace.Alloc, "mlx5_flow_handle") {
		return nil, rule.MLX5FlowCoreNoMemory
	}
	old := e.act.action
	e.act.action |= act.action
	h, mask, isNew := e.createHandle(dests)
	if !isNew {
		return h, nil
	}
	if old != act.action {
		mask |= fteModifyAction
	}
	var err error
	if e.existing {
		err = d.updateFTE(t, e, mask)
	} else {
		err = d.setFTE(t, e, 0, 0)
	}
	if err != nil {
		for _, dest := range h.dests {
			e.release(dest)
		}
		e.modify, e.act.action = 0, old
		return nil, err
	}
	e.existing = true
	return h, nil
}

// conflicts models check_conflicting_actions. A rule that only counts is in nobody's
// way.
func (a *flowAct) conflicts(b *flowAct) bool {
	switch {
	case a.action == flowActionCount || b.action == flowActionCount:
		return false
	case (a.action^b.action)&conflictingActions != 0:
		return true
	}
	return a.action&flowActionReformat != 0 && a.reformat != b.reformat ||
		a.action&flowActionModHdr != 0 && a.modifyHdr != b.modifyHdr
}

// createHandle adds destinations to a fte, those that it lacks. It says what that
// changes, and whether it lacked any. It models create_flow_handle.
func (e *fte) createHandle(dests []flowDestination) (h *flowHandle, mask uint8, isNew bool) {
	h = &flowHandle{fte: e}
	if len(dests) == 0 {
		dest := &flowDest{fte: e, refs: 1}
		e.dests = append(e.dests, dest)
		h.dests = append(h.dests, dest)
		return h, 0, true
	}
	for _, to := range dests {
		if dest := e.find(to); dest != nil {
			dest.refs++
			h.dests = append(h.dests, dest)
			continue
		}
		isNew = true
		dest := &flowDest{flowDestination: to, fte: e, refs: 1}
		if to.typ == destFlowTable { // those come last
			e.dests = append(e.dests, dest)
		} else {
			e.dests = slices.Insert(e.dests, 0, dest)
		}
		if to.typ == destCounter {
			mask |= fteModifyCounters
		} else {
			mask |= fteModifyDests
		}
		h.dests = append(h.dests, dest)
	}
	return h, mask, isNew
}

// find models find_flow_rule and mlx5_flow_dests_cmp: counters and ports are never
// the same.
func (e *fte) find(to flowDestination) *flowDest {
	for _, dest := range e.dests {
		if dest.flowDestination == to && to.typ.isFwd() {
			return dest
		}
	}
	return nil
}

// release takes back one use of a destination. With the last one it goes, and what
// the fte does changes. It models tree_remove_node and del_sw_hw_rule in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
func (e *fte) release(dest *flowDest) {
	if dest.refs--; dest.refs > 0 {
		return
	}
	e.dests = slices.DeleteFunc(e.dests, func(other *flowDest) bool { return other == dest })
	if dest.swAction != 0 {
		dest.table.fwd = slices.DeleteFunc(dest.table.fwd, func(other *flowDest) bool { return other == dest })
	}
	switch {
	case dest.typ == destCounter:
		e.modify |= fteModifyAction | fteModifyCounters
		e.act.action &^= flowActionCount
	case dest.typ == destPort:
		e.modify |= fteModifyAction
		e.act.action &^= flowActionAllow
	case dest.typ.isFwd():
		if !slices.ContainsFunc(e.dests, func(other *flowDest) bool { return other.typ.isFwd() }) {
			e.act.action &^= flowActionFwdDest
		}
		e.modify |= fteModifyDests
	}
}

// delFlowRules takes a rule out of its table again. It models mlx5_del_flow_rules in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
func (d *Device) delFlowRules(t *trace.Task, h *flowHandle) {
	defer t.Enter(moduleCore, "mlx5_del_flow_rules").Leave()
	e := h.fte
	for _, dest := range slices.Backward(h.dests) {
		e.release(dest)
	}
	switch {
	case len(e.dests) == 0:
		d.deleteFTE(t, e)
		d.putFTE(t, e)
	case e.modify != 0 && slices.ContainsFunc(e.dests, func(dest *flowDest) bool { return dest.typ != destNone }):
		d.updateFTE(t, e, e.modify) // as the kernel does
		e.modify = 0
	}
}

// putFTE forgets a fte, and its group with the last one.
func (d *Device) putFTE(t *trace.Task, e *fte) {
	g := e.group
	g.ftes = slices.DeleteFunc(g.ftes, func(other *fte) bool { return other == e })
	if len(g.ftes) > 0 {
		return
	}
	ft := g.table
	d.destroyFlowGroup(t, ft.ns, ft.id, g.id)
	ft.groups = slices.DeleteFunc(ft.groups, func(other *flowGroup) bool { return other == g })
	if g.max == ft.groupSize {
		ft.numGroups--
	}
}
