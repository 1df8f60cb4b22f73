package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// flowPrio is a struct mlx5_ib_flow_prio: a flow table that users' rules of a
// priority lie in, and the table before it that its anchors are.
type flowPrio struct {
	tables   *flowTables
	priority uint16
	table    uint32
	refs     int // of table, which is there while it has some

	// The anchors' table has a rule that goes on to the priority's table, while
	// there are anchors, and one behind it that drops. What it consists of stays
	// until the device goes.
	anchor     uint32
	isMade     bool
	groups     [numAnchorRules]uint32
	hasRule    [numAnchorRules]bool
	anchorRefs int
}

// The rules of an anchor's table, by their index there.
const (
	anchorGoto = iota
	anchorDrop
	numAnchorRules
)

// flowDB is a struct mlx5_ib_flow_db.
type flowDB struct {
	lock  trace.Mutex
	prios []*flowPrio
}

// find returns the priority of a type of tables.
func (f *flowDB) find(tables *flowTables, priority uint16) *flowPrio {
	for _, p := range f.prios {
		if p.tables == tables && p.priority == priority {
			return p
		}
	}
	p := &flowPrio{tables: tables, priority: priority}
	f.prios = append(f.prios, p)
	return p
}

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
	p, err := d.getFlowTable(t, le.Uint16(priority[:]), tables)
	if err != nil {
		return err
	}
	p.refs++
	if p.anchorRefs == 0 || !p.isMade {
		if err := d.createAnchorRes(t, p); err != nil {
			d.putFlowTable(t, p)
			return err
		}
	}
	p.anchorRefs++
	if err := b.CopyToUint32(spec.MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID, p.anchor); err != nil {
		p.anchorRefs--
		d.destroyAnchorRes(t, p)
		d.putFlowTable(t, p)
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
	if p.anchorRefs--; p.anchorRefs == 0 {
		d.deleteAnchorRule(t, p, anchorGoto)
	}
	d.putFlowTable(t, p)
	return nil
}

// Priorities that users have in tables of any type (MLX5_BY_PASS_NUM_REGULAR_PRIOS).
const numFlowPrios = 16

// getFlowTable returns a priority with its table. It models _get_flow_table in
// drivers/infiniband/hw/mlx5/fs.c. Where in its chain a table lies
// (drivers/net/ethernet/mellanox/mlx5/core/fs_core.c) is left out.
//
// Errors: mlx5-flow/anchor-no-namespace, mlx5-flow/anchor-priority, mlx5-cmd/….
func (d *Device) getFlowTable(t *trace.Task, priority uint16, tables *flowTables) (*flowPrio, error) {
	defer t.Enter(moduleIB, "_get_flow_table").Leave()
	if tables == nil {
		return nil, rule.MLX5AnchorNoNamespace
	}
	if priority >= numFlowPrios {
		return nil, rule.MLX5AnchorPriority
	}
	p := d.flows.find(tables, priority)
	if p.refs > 0 {
		return p, nil
	}
	const logMaxEntries = 16 // of MLX5_FS_MAX_ENTRIES
	var err error
	p.table, err = d.createFlowTable(t, tables, 0, 0, min(d.caps.get(tables.logMaxSize), logMaxEntries))
	return p, err
}

// putFlowTable models put_flow_table in drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) putFlowTable(t *trace.Task, p *flowPrio) {
	defer t.EnterInlined(moduleIB, "put_flow_table").Leave()
	if p.refs--; p.refs == 0 {
		d.destroyFlowTable(t, p.tables, p.table)
	}
}

// createAnchorRes makes what is missing of an anchor's table. It models
// steering_anchor_create_res in drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-cmd/….
func (d *Device) createAnchorRes(t *trace.Task, p *flowPrio) (err error) {
	defer t.EnterInlined(moduleIB, "steering_anchor_create_res").Leave()
	if p.isMade {
		return d.setAnchorRule(t, p, anchorGoto)
	}
	const level, logSize = 1, 1
	if p.anchor, err = d.createFlowTable(t, p.tables, ifc.MLX5_SHARED_RESOURCE_UID, level, logSize); err != nil {
		return err
	}
	made := 0
	defer func() {
		if err == nil {
			return
		}
		for made--; made >= 0; made-- {
			d.destroyFlowGroup(t, p, anchorOrder[made])
		}
		d.destroyFlowTable(t, p.tables, p.anchor)
	}()
	for _, i := range anchorOrder {
		if err = d.createFlowGroup(t, p, i); err != nil {
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
	p.isMade = true
	return nil
}

// anchorOrder is the order in which an anchor's groups are made.
var anchorOrder = [...]uint32{anchorDrop, anchorGoto}

// destroyAnchorRes models mlx5_steering_anchor_destroy_res in
// drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) destroyAnchorRes(t *trace.Task, p *flowPrio) {
	defer t.EnterInlined(moduleIB, "mlx5_steering_anchor_destroy_res").Leave()
	if !p.isMade {
		return
	}
	p.isMade = false
	for i := range uint32(numAnchorRules) {
		d.deleteAnchorRule(t, p, i)
	}
	for i := range uint32(numAnchorRules) {
		d.destroyFlowGroup(t, p, i)
	}
	d.destroyFlowTable(t, p.tables, p.anchor)
}

// cleanupAnchors models mlx5_ib_fs_cleanup_anchor in
// drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) cleanupAnchors(t *trace.Task) {
	defer t.Enter(moduleIB, "mlx5_ib_fs_cleanup_anchor").Leave()
	for _, p := range d.flows.prios {
		d.destroyAnchorRes(t, p)
	}
}
