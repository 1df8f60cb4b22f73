package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// rawDest is where a flow of a matcher sends packets to.
type rawDest struct {
	typ   flowDestType // destNone for none
	id    uint32
	qp    *core.QP
	flags uint32
}

// flowDestOf returns what an object that a user made is as a destination. It models
// is_flow_dest in drivers/infiniband/hw/mlx5/fs.c.
func flowDestOf(o *devxObj) (rawDest, bool) {
	switch be.Uint16(o.dinbox) {
	case ifc.MLX5_CMD_OP_DESTROY_TIR:
		return rawDest{typ: destTIR, id: be.Uint32(o.dinbox[8:])}, true
	case ifc.MLX5_CMD_OP_DESTROY_FLOW_TABLE:
		return rawDest{typ: destFlowTableNum, id: uint32(ftID.Get(o.dinbox))}, true
	}
	return rawDest{}, false
}

// getDests finds out where a flow goes. It models get_dests in
// drivers/infiniband/hw/mlx5/fs.c. The caller makes EINVAL of every error, as all of
// them are. Matchers for the switch do not exist.
//
// Errors: mlx5-flow/raw-…, flags/….
func getDests(b *kernel.Bundle, m *flowMatcher) (to rawDest, err error) {
	defer b.Trace().EnterInlined(moduleIB, "get_dests").Leave()
	devx := b.IsValid(spec.MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX)
	qp := b.IsValid(spec.MLX5_IB_ATTR_CREATE_FLOW_DEST_QP)
	const defaultMiss, drop = spec.MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS, spec.MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP
	flags, err := b.Flags32(spec.MLX5_IB_ATTR_CREATE_FLOW_FLAGS, defaultMiss|drop)
	if err != nil {
		return to, err
	}
	receives := m.tables == spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX
	sends := m.tables == spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX || m.tables == spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX
	rdma := m.tables == spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX
	switch {
	case flags == defaultMiss|drop:
		return to, rule.MLX5FlowRawFlags
	case receives && (devx && (qp || flags != 0) || qp && flags != 0):
		return to, rule.MLX5FlowRawManyDests
	case rdma && devx == qp:
		return to, rule.MLX5FlowRawRDMADest
	}
	switch {
	case devx:
		o, err := b.Object(spec.MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX)
		if err != nil {
			return to, err
		}
		var ok bool
		if to, ok = flowDestOf(o.HW.(*devxObj)); !ok {
			return to, rule.MLX5FlowRawDevxDest
		}
		if rdma && to.typ != destFlowTableNum {
			return to, rule.MLX5FlowRawRDMATable
		}
	case qp:
		o, err := b.Object(spec.MLX5_IB_ATTR_CREATE_FLOW_DEST_QP)
		if err != nil {
			return to, err
		}
		to.qp = o.HW.(*core.QP)
		if to.qp.Type != spec.IB_QPT_RAW_PACKET {
			return to, rule.MLX5FlowRawQPType
		}
		to.typ, to.id = destTIR, toQP(to.qp).raw.tirn
	case sends && flags&drop == 0:
		to.typ = destPort
	}
	to.flags = flags
	if to.typ == destTIR && sends {
		return to, rule.MLX5FlowRawSendDest
	}
	return to, nil
}

// flowCounterOf returns a counter of those that a user made. It models
// is_flow_counter in drivers/infiniband/hw/mlx5/fs.c.
func flowCounterOf(o *devxObj, offset uint32) (uint32, bool) {
	if be.Uint16(o.dinbox) != ifc.MLX5_CMD_OP_DEALLOC_FLOW_COUNTER || offset != 0 && uint64(offset) >= o.bulk {
		return 0, false
	}
	return be.Uint32(o.dinbox[8:]) + offset, true
}

// rawCounter returns the counter that a flow counts into; ok is false if it has
// none.
//
// Errors: mlx5-flow/raw-counter-offsets, mlx5-flow/raw-counter, attr/….
func rawCounter(b *kernel.Bundle) (id uint32, ok bool, err error) {
	const offsets = spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET
	list, err := b.Objects(spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX)
	if err != nil || len(list) == 0 {
		return 0, false, nil
	}
	offset := uint32(0)
	if b.IsValid(offsets) {
		if n, err := b.ArraySize(offsets, 4); err != nil || n != 1 {
			return 0, false, rule.MLX5FlowRawCounterOffsets
		}
		raw, err := b.Bytes(offsets)
		if err != nil {
			return 0, false, err
		}
		offset = le.Uint32(raw)
	}
	if id, ok = flowCounterOf(list[0].HW.(*devxObj), offset); !ok {
		return 0, false, rule.MLX5FlowRawCounter
	}
	return id, true, nil
}

// createRawFlow is the handler of MLX5_IB_METHOD_CREATE_FLOW: a flow of a matcher. It
// models UVERBS_HANDLER(MLX5_IB_METHOD_CREATE_FLOW) in
// drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/…, mlx5-cmd/…, flags/…, attr/….
func createRawFlow(b *kernel.Bundle) error {
	t := b.Trace()
	if !b.Task().Capable(process.CAP_NET_RAW) {
		return rule.MLX5FlowPrivilege
	}
	mo, err := b.Object(spec.MLX5_IB_ATTR_CREATE_FLOW_MATCHER)
	if err != nil {
		return err
	}
	m := mo.HW.(*flowMatcher)
	o, err := b.Object(spec.MLX5_IB_ATTR_CREATE_FLOW_HANDLE)
	if err != nil {
		return err
	}
	d := toUcontext(b.Ucontext()).dev
	to, err := getDests(b, m)
	if err != nil {
		return err
	}
	var act flowAct
	if to.flags&spec.MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS != 0 {
		act.action |= flowActionFwdNextNS
	}
	if to.flags&spec.MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP != 0 {
		act.action |= flowActionDrop
	}
	counter, counts, err := rawCounter(b)
	if err != nil {
		return err
	}
	if counts {
		act.action |= flowActionCount
	}
	value, err := b.Bytes(spec.MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE)
	if err != nil {
		return err
	}
	if t.Fail(trace.Alloc, "ib_uflow_resources") || t.Fail(trace.Alloc, "counters") || t.Fail(trace.Alloc, "collection") {
		return rule.MLX5FlowRawNoMemory
	}
	resources := new(core.FlowResources)
	h, err := d.rawFlow(b, m, to, &act, counter, value, resources)
	if err != nil {
		resources.Free(t)
		return err
	}
	h.ib.Driver, h.ib.QP, h.ib.Device = h, to.qp, d.IB
	if to.qp != nil {
		to.qp.Usecnt.Count(t, "ib_qp", 1)
	}
	o.HW = &h.ib
	o.Ext.(*core.UFlow).Resources = resources
	return nil
}

// rawFlow adds the actions and the tag to a flow and makes its rule.
func (d *Device) rawFlow(b *kernel.Bundle, m *flowMatcher, to rawDest, act *flowAct, counter uint32, value []byte, resources *core.FlowResources) (*flowHandler, error) {
	t := b.Trace()
	actions, err := b.Objects(spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS)
	if err != nil {
		actions = nil
	}
	for _, o := range actions {
		a := o.HW.(*core.FlowAction)
		if err := a.Driver.(*flowAction).addTo(act); err != nil {
			return nil, err
		}
		resources.AddAction(t, a)
	}
	match := flowMatch{enable: m.criteria}
	var tag [4]byte
	if b.CopyFrom(tag[:], spec.MLX5_IB_ATTR_CREATE_FLOW_TAG) == nil {
		if match.tag = le.Uint32(tag[:]); match.tag >= maxFlowTag {
			return nil, rule.MLX5FlowRawTag
		}
		match.hasTag = true
	}
	copy(match.value[:], value)
	copy(match.criteria[:], m.mask)
	return d.rawRuleAdd(t, m, &match, act, counter, to)
}

// rawRuleAdd models raw_fs_rule_add in drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/raw-type, mlx5-flow/raw-priority, mlx5-flow/raw-no-memory, and
// those of getFlowTableNS and addFlowRules.
func (d *Device) rawRuleAdd(t *trace.Task, m *flowMatcher, match *flowMatch, act *flowAct, counter uint32, to rawDest) (*flowHandler, error) {
	defer t.Enter(moduleIB, "raw_fs_rule_add").Leave()
	switch {
	case m.flowType != spec.MLX5_IB_FLOW_TYPE_NORMAL:
		return nil, rule.MLX5FlowRawType
	case m.priority >= numFlowPrios:
		return nil, rule.MLX5FlowRawPriority
	case t.Fail(trace.Alloc, "mlx5_flow_destination"):
		return nil, rule.MLX5FlowRawNoMemory
	}
	mcast := match.isRawMulticast()
	d.flows.lock.Lock(t)
	defer d.flows.lock.Unlock(t)
	ns, err := d.flowNamespace(m.tables)
	if err != nil {
		return nil, err
	}
	prio, err := d.getFlowTableNS(t, m.priority, ns, mcast)
	if err != nil {
		return nil, err
	}
	var dests []flowDestination
	switch to.typ {
	case destTIR, destFlowTableNum:
		dests = append(dests, flowDestination{typ: to.typ, id: to.id})
		act.action |= flowActionFwdDest
	case destPort:
		dests = append(dests, flowDestination{typ: destPort})
		act.action |= flowActionAllow
	}
	if act.action&flowActionCount != 0 {
		dests = append(dests, flowDestination{typ: destCounter, id: counter})
	}
	h, err := d.createRawFlowRule(t, prio, match, act, dests)
	if err != nil {
		d.putFlowTable(t, prio, false)
		return nil, err
	}
	m.usecnt.Add(1)
	h.matcher = m
	return h, nil
}

// createRawFlowRule models _create_raw_flow_rule in drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) createRawFlowRule(t *trace.Task, prio *flowPrio, match *flowMatch, act *flowAct, dests []flowDestination) (h *flowHandler, err error) {
	defer t.Enter(moduleIB, "_create_raw_flow_rule").Leave()
	if t.Fail(trace.Alloc, "mlx5_flow_spec") || t.Fail(trace.Alloc, "mlx5_ib_flow_handler") {
		return nil, rule.MLX5FlowRawNoMemory
	}
	h = &flowHandler{dev: d, prio: prio}
	if h.rule, err = d.addFlowRules(t, prio.table, match, act, dests); err != nil {
		return nil, err
	}
	prio.refs++
	return h, nil
}

// isRawMulticast says that a flow of a matcher is for groups alone. It models
// raw_fs_is_multicast in drivers/infiniband/hw/mlx5/fs.c.
func (m *flowMatch) isRawMulticast() bool {
	const outer = 1 << 0 // MATCH_CRITERIA_ENABLE_OUTER_BIT
	if m.enable&outer == 0 {
		return false
	}
	return m.value[hdr.dmac]&mcastBit != 0 && m.criteria[hdr.dmac]&mcastBit != 0 ||
		isMulticastIPv4(m.value[hdr.dst4:]) && isMulticastIPv4(m.criteria[hdr.dst4:])
}
