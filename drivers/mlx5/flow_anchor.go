package mlx5

import (
	"math/bits"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// anchorTable is the table of a priority's anchors. It has a rule that goes on to
// the priority's table, while there are anchors, and one behind it that drops. What
// it consists of stays until the device goes.
type anchorTable struct {
	table  flowTable
	isMade bool
	groups [numAnchorRules]*flowGroup
	rules  [numAnchorRules]*fte // nil where there is none
	refs   int
}

// The rules of an anchor's table, by their index there.
const (
	anchorGoto = iota
	anchorDrop
	numAnchorRules
)

// steeringAnchor is a struct mlx5_ib_steering_anchor: a flow table that DEVX users
// can send packets to, which go on to their owner's rules from there.
type steeringAnchor struct {
	dev  *Device
	prio *flowPrio
}

// steeringAnchorType says how anchors go.
var steeringAnchorType = uobject.TypeAttrs{Destroy: steeringAnchorCleanup}

// steeringAnchorCreate is the handler of MLX5_IB_METHOD_STEERING_ANCHOR_CREATE. It
// models UVERBS_HANDLER(MLX5_IB_METHOD_STEERING_ANCHOR_CREATE) in
// drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/anchor-…, mlx5-flow/table-type, mlx5-cmd/…, const/range,
// attr/….
func steeringAnchorCreate(b *kernel.Bundle) error {
	t := b.Trace()
	o, err := b.Object(spec.MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE)
	if err != nil {
		return err
	}
	if !b.Task().Capable(process.CAP_NET_RAW) {
		return rule.MLX5AnchorPrivilege
	}
	typ, err := b.Const(spec.MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE, 1<<32-1)
	if err != nil {
		return err
	}
	d := toUcontext(b.Ucontext()).dev
	tables, err := d.flowNamespace(typ)
	if err != nil {
		return err
	}
	var priority [2]byte
	if err := b.CopyFrom(priority[:], spec.MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY); err != nil {
		return err
	}
	if t.Fail(trace.Alloc, "mlx5_ib_steering_anchor") {
		return rule.MLX5AnchorNoMemory
	}
	f := &d.flows
	f.lock.Lock(t)
	defer f.lock.Unlock(t)
	p, err := d.getFlowTableNS(t, le.Uint16(priority[:]), tables, false)
	if err != nil {
		return err
	}
	p.refs++
	if p.anchor.refs == 0 || !p.anchor.isMade {
		if err := d.createAnchorRes(t, p); err != nil {
			d.putFlowTable(t, p, true)
			return err
		}
	}
	p.anchor.refs++
	if err := b.CopyToUint32(spec.MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID, p.anchor.table.id); err != nil {
		p.anchor.refs--
		d.destroyAnchorRes(t, p)
		d.putFlowTable(t, p, true)
		return err
	}
	o.HW = &steeringAnchor{d, p}
	return nil
}

// steeringAnchorCleanup models steering_anchor_cleanup in
// drivers/infiniband/hw/mlx5/fs.c.
func steeringAnchorCleanup(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "steering_anchor_cleanup").Leave()
	a := o.HW.(*steeringAnchor)
	d, p := a.dev, a.prio
	d.flows.lock.Lock(t)
	defer d.flows.lock.Unlock(t)
	if p.anchor.refs--; p.anchor.refs == 0 {
		d.deleteAnchorRule(t, p, anchorGoto)
	}
	d.putFlowTable(t, p, true)
	return nil
}

// createAnchorRes makes what is missing of an anchor's table. It models
// steering_anchor_create_res in drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-cmd/….
func (d *Device) createAnchorRes(t *trace.Task, p *flowPrio) (err error) {
	defer t.EnterInlined(moduleIB, "steering_anchor_create_res").Leave()
	a := &p.anchor
	if a.isMade {
		return d.setAnchorRule(t, p, anchorGoto)
	}
	a.table = flowTable{ns: p.ns, level: anchorLevel}
	size := d.flows.pool.get(d.caps.pow2(p.ns.logMaxSize), numAnchorRules)
	if size == 0 {
		return rule.MLX5FlowTableSize
	}
	a.table.maxFTE = size
	a.table.id, err = d.createFlowTable(t, p.ns, ifc.MLX5_SHARED_RESOURCE_UID, anchorLevel, uint64(bits.Len32(size)-1), nil)
	if err != nil {
		d.flows.pool.put(size)
		return err
	}
	made := 0
	defer func() {
		if err == nil {
			return
		}
		for made--; made >= 0; made-- {
			d.destroyFlowGroup(t, p.ns, a.table.id, a.groups[anchorOrder[made]].id)
		}
		d.destroyFlowTable(t, p.ns, a.table.id)
		d.flows.pool.put(size)
	}()
	for _, i := range anchorOrder {
		a.groups[i] = &flowGroup{table: &a.table, start: i, max: 1}
		if err = d.createFlowGroup(t, a.groups[i]); err != nil {
			return err
		}
		made++
	}
	if err = d.setAnchorRule(t, p, anchorDrop); err != nil {
		return err
	}
	if err = d.setAnchorRule(t, p, anchorGoto); err != nil {
		d.deleteAnchorRule(t, p, anchorDrop)
		return err
	}
	a.isMade = true
	return nil
}

// anchorLevel is the level of an anchor's table, which is outside of the chain.
const anchorLevel = 1

// anchorOrder is the order in which an anchor's groups are made.
var anchorOrder = [...]uint32{anchorDrop, anchorGoto}

// setAnchorRule makes a rule of an anchor's table.
//
// Errors: mlx5-cmd/….
func (d *Device) setAnchorRule(t *trace.Task, p *flowPrio, i uint32) error {
	e := &fte{group: p.anchor.groups[i], index: i, act: flowAct{action: flowActionDrop}}
	if i == anchorGoto {
		e.act = flowAct{action: flowActionFwdDest, ignoreLevel: true}
		e.dests = []*flowDest{{flowDestination: flowDestination{typ: destFlowTable, table: p.table}}}
	}
	if err := d.setFTE(t, e, 0, 0); err != nil {
		return err
	}
	p.anchor.rules[i] = e
	return nil
}

// deleteAnchorRule ends a rule of an anchor's table, if it is there.
func (d *Device) deleteAnchorRule(t *trace.Task, p *flowPrio, i uint32) {
	if e := p.anchor.rules[i]; e != nil {
		p.anchor.rules[i] = nil
		d.deleteFTE(t, e)
	}
}

// destroyAnchorRes models mlx5_steering_anchor_destroy_res in
// drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) destroyAnchorRes(t *trace.Task, p *flowPrio) {
	defer t.EnterInlined(moduleIB, "mlx5_steering_anchor_destroy_res").Leave()
	a := &p.anchor
	if !a.isMade {
		return
	}
	a.isMade = false
	for i := range uint32(numAnchorRules) {
		d.deleteAnchorRule(t, p, i)
	}
	for _, g := range a.groups {
		d.destroyFlowGroup(t, p.ns, a.table.id, g.id)
	}
	d.destroyFlowTable(t, p.ns, a.table.id)
	d.flows.pool.put(a.table.maxFTE)
}

// cleanupAnchors models mlx5_ib_fs_cleanup_anchor in
// drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) cleanupAnchors(t *trace.Task) {
	defer t.Enter(moduleIB, "mlx5_ib_fs_cleanup_anchor").Leave()
	for _, p := range d.flows.prios {
		d.destroyAnchorRes(t, p)
	}
}
