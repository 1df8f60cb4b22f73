package mlx5

import (
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// flowHandler is a struct mlx5_ib_flow_handler: a flow of a user, and the others
// that it consists of.
type flowHandler struct {
	ib       core.Flow
	dev      *Device
	rule     *flowHandle
	prio     *flowPrio
	counters *core.Counters
	matcher  *flowMatcher
	more     []*flowHandler
}

// createFlow steers packets to a queue pair. It models mlx5_ib_create_flow in
// drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/…, mlx5-cmd/….
func (d *Device) createFlow(ib *core.QP, attr *core.FlowAttr, udata *core.Udata) (*core.Flow, error) {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_create_flow").Leave()
	ucmd, err := readCreateFlow(udata)
	if err != nil {
		return nil, err
	}
	egress := attr.Flags&spec.IB_FLOW_ATTR_FLAGS_EGRESS != 0
	switch {
	case attr.Priority >= numFlowPrios:
		return nil, rule.MLX5FlowPriority
	case attr.Flags&^(spec.IB_FLOW_ATTR_FLAGS_DONT_TRAP|spec.IB_FLOW_ATTR_FLAGS_EGRESS) != 0:
		return nil, rule.MLX5FlowFlags
	case egress && (attr.Type == spec.IB_FLOW_ATTR_ALL_DEFAULT || attr.Type == spec.IB_FLOW_ATTR_MC_DEFAULT):
		return nil, rule.MLX5FlowEgressDefault
	case t.Fail(trace.Alloc, "mlx5_flow_destination"):
		return nil, rule.MLX5FlowNoMemory
	}
	f := &d.flows
	f.lock.Lock(t)
	defer f.lock.Unlock(t)
	prio, err := d.getFlowTable(t, attr, egress)
	if err != nil {
		return nil, err
	}
	var tx *flowPrio
	if attr.Type == spec.IB_FLOW_ATTR_SNIFFER {
		if tx, err = d.getFlowTable(t, attr, true); err != nil {
			d.putFlowTable(t, prio, false)
			return nil, err
		}
	}
	h, err := d.createFlowOf(udata, toQP(ib), prio, tx, attr, ucmd)
	if err != nil {
		d.putFlowTable(t, prio, false)
		if tx != nil {
			d.putFlowTable(t, tx, false)
		}
		return nil, err
	}
	h.ib.Driver = h
	return &h.ib, nil
}

// createFlowOf makes the rules that a type of flow consists of.
func (d *Device) createFlowOf(udata *core.Udata, q *qp, prio, tx *flowPrio, attr *core.FlowAttr, ucmd *createFlowCmd) (*flowHandler, error) {
	dst := flowDestination{typ: destTIR, id: q.raw.tirn}
	if attr.Flags&spec.IB_FLOW_ATTR_FLAGS_EGRESS != 0 {
		dst = flowDestination{typ: destPort}
	}
	switch attr.Type {
	case spec.IB_FLOW_ATTR_NORMAL:
		return d.createFlowRule(udata, prio, attr, dst, ucmd)
	case spec.IB_FLOW_ATTR_SNIFFER:
		return d.createSnifferRule(udata, prio, tx, dst)
	}
	return d.createLeftoversRule(udata, prio, attr.Type, dst)
}

// createFlowCmd is a struct mlx5_ib_create_flow with its array.
type createFlowCmd struct {
	hasData bool
	data    spec.Mlx5FlowCountersData
}

// readCreateFlow reads the driver's part of the request; nil is none.
//
// Errors: mlx5-flow/request-….
func readCreateFlow(udata *core.Udata) (*createFlowCmd, error) {
	if udata.InLen == 0 {
		return nil, nil
	}
	var hdr spec.Mlx5CreateFlow
	size := uint64(len(spec.Bytes(&hdr)))
	if udata.InLen < size {
		return nil, rule.MLX5FlowRequestSize
	}
	if !udata.CopyFrom(spec.Bytes(&hdr)) {
		return nil, rule.MLX5FlowRequestFault
	}
	if hdr.NcountersData > 1 {
		return nil, rule.MLX5FlowRequestCounters
	}
	c := &createFlowCmd{hasData: hdr.NcountersData != 0}
	var data []byte
	if c.hasData {
		data = spec.Bytes(&c.data)
	}
	required := size + uint64(len(data))
	if udata.InLen > required && !udata.IsCleared(required, udata.InLen-required) {
		return nil, rule.MLX5FlowRequestTail
	}
	if udata.Trace().Fail(trace.Alloc, "mlx5_ib_create_flow") {
		return nil, rule.MLX5FlowNoMemory
	}
	whole := make([]byte, required)
	if !udata.CopyFrom(whole) {
		return nil, rule.MLX5FlowRequestFault
	}
	copy(data, whole[size:])
	return c, nil
}

// createFlowRule makes one rule of a flow. It models _create_flow_rule in
// drivers/infiniband/hw/mlx5/fs.c. The number that packets of an underlay are told by
// is left out: no queue pair of 6.12 has one (set_underlay_qp gets 0).
//
// Errors: mlx5-flow/ether-type, mlx5-flow/no-memory, and those of parseFlowAttr,
// flowCountersSetData and addFlowRules.
func (d *Device) createFlowRule(udata *core.Udata, prio *flowPrio, attr *core.FlowAttr, dst flowDestination, ucmd *createFlowCmd) (h *flowHandler, err error) {
	t := udata.Trace()
	defer t.Enter(moduleIB, "_create_flow_rule").Leave()
	if !d.isValidEthertype(attr, false) || !d.isValidEthertype(attr, true) {
		return nil, rule.MLX5FlowEtherType
	}
	if t.Fail(trace.Alloc, "mlx5_flow_spec") || t.Fail(trace.Alloc, "mlx5_ib_flow_handler") {
		return nil, rule.MLX5FlowNoMemory
	}
	h = &flowHandler{dev: d, prio: prio}
	var m flowMatch
	var act flowAct
	var counters *core.Counters
	prev := uint32(0)
	for i := range attr.Specs {
		if err := d.parseFlowAttr(t, &m, &attr.Specs[i], &act, &counters, prev); err != nil {
			return nil, err
		}
		prev = attr.Specs[i].Type
	}
	var dests []flowDestination
	if act.action&flowActionDrop == 0 {
		dests = append(dests, dst)
	}
	m.enable = m.criteriaEnable()
	if act.action&flowActionCount != 0 {
		if err := d.flowCountersSetData(udata, counters, ucmd); err != nil {
			return nil, err
		}
		h.counters = counters
		dests = append(dests, flowDestination{typ: destCounter, id: toMcounters(counters).id})
	}
	if act.action&flowActionDrop == 0 {
		if attr.Flags&spec.IB_FLOW_ATTR_FLAGS_DONT_TRAP != 0 {
			act.action |= flowActionFwdNextPrio
		}
		if attr.Flags&spec.IB_FLOW_ATTR_FLAGS_EGRESS != 0 {
			act.action |= flowActionAllow
		} else {
			act.action |= flowActionFwdDest
		}
	}
	if h.rule, err = d.addFlowRules(t, prio.table, &m, &act, dests); err != nil {
		clearDescription(t, h.counters)
		return nil, err
	}
	prio.refs++
	return h, nil
}

// leftoverFlow is a flow for what goes to groups, or what does not: the lowest bit of
// the first byte of the address.
func leftoverFlow(group byte) *core.FlowAttr {
	const size = 16 // of struct ib_flow_eth_filter
	s := core.FlowSpec{Type: spec.IB_FLOW_SPEC_ETH, Mask: make([]byte, size), Value: make([]byte, size)}
	s.Mask[0], s.Value[0] = mcastBit, group
	return &core.FlowAttr{Specs: []core.FlowSpec{s}}
}

// createLeftoversRule makes the rules for what nobody else wanted: of groups, and for
// a flow of all the rest too. What the user's filters say does not matter. It models
// create_leftovers_rule in drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) createLeftoversRule(udata *core.Udata, prio *flowPrio, typ uint32, dst flowDestination) (*flowHandler, error) {
	t := udata.Trace()
	defer t.EnterInlined(moduleIB, "create_leftovers_rule").Leave()
	h, err := d.createFlowRule(udata, prio, leftoverFlow(mcastBit), dst, nil)
	if err != nil || typ != spec.IB_FLOW_ATTR_ALL_DEFAULT {
		return h, err
	}
	unicast, err := d.createFlowRule(udata, prio, leftoverFlow(0), dst, nil)
	if err != nil {
		d.delFlowRules(t, h.rule)
		prio.refs--
		return nil, err
	}
	h.more = append(h.more, unicast)
	return h, nil
}

// createSnifferRule models create_sniffer_rule in drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) createSnifferRule(udata *core.Udata, rx, tx *flowPrio, dst flowDestination) (*flowHandler, error) {
	t := udata.Trace()
	defer t.EnterInlined(moduleIB, "create_sniffer_rule").Leave()
	all := &core.FlowAttr{Type: spec.IB_FLOW_ATTR_SNIFFER}
	h, err := d.createFlowRule(udata, rx, all, dst, nil)
	if err != nil {
		return nil, err
	}
	sent, err := d.createFlowRule(udata, tx, all, dst, nil)
	if err != nil {
		d.delFlowRules(t, h.rule)
		rx.refs--
		return nil, err
	}
	h.more = append(h.more, sent)
	return h, nil
}

// destroyFlow models mlx5_ib_destroy_flow in drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) destroyFlow(task *process.Task, ib *core.Flow) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_destroy_flow").Leave()
	h := ib.Driver.(*flowHandler)
	d.flows.lock.Lock(t)
	for _, part := range append(h.more, h) {
		d.delFlowRules(t, part.rule)
		d.putFlowTable(t, part.prio, true)
	}
	clearDescription(t, h.counters)
	d.flows.lock.Unlock(t)
	if h.matcher != nil {
		h.matcher.usecnt.Add(-1)
	}
	return nil
}
