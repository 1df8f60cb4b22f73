package mlx5

import (
	"cmp"
	"math/bits"
	"slices"

	"uverbsim/rule"
	"uverbsim/trace"
)

// How mlx5_core keeps flow tables in their order
// (drivers/net/ethernet/mellanox/mlx5/core/fs_core.c). Of the tree of namespaces
// there is what the RDMA driver reaches; each of its priorities has room for one
// table.

// flowRoot is a struct mlx5_flow_root_namespace: the tables of one type that
// packets go through one after the other, by their level.
type flowRoot struct {
	tables []*flowTable
	root   *flowTable // where packets begin
}

// flowTable is a struct mlx5_flow_table whose groups are made as rules need them.
type flowTable struct {
	ns     *flowTables
	id     uint32
	level  uint64
	maxFTE uint32
	groups []*flowGroup // by their first index
	fwd    []*flowDest  // of rules that lead here because this is the next table

	groupSize      uint32 // autogroup.group_size
	requiredGroups uint32 // autogroup.required_groups
	numGroups      uint32 // autogroup.num_groups: those of that size
}

// flowGroup is a struct mlx5_flow_group: rules that compare the same fields.
type flowGroup struct {
	table      *flowTable
	id         uint32
	enable     uint8
	criteria   matchParams
	start, max uint32
	ftes       []*fte // by index
}

// fte is a struct fs_fte: what becomes of packets of one value.
type fte struct {
	group    *flowGroup
	index    uint32
	value    matchParams
	act      flowAct
	tag      uint32
	dests    []*flowDest
	existing bool
	modify   uint8
}

// matchParams is a struct fte_match_param.
type matchParams [512]byte

// flowMatch is a struct mlx5_flow_spec.
type flowMatch struct {
	enable          uint8
	criteria, value matchParams
	tag             uint32
	hasTag          bool
}

// flowAct is a struct mlx5_flow_act.
type flowAct struct {
	action    uint32
	modifyHdr *flowAction
	reformat  *flowAction

	ignoreLevel bool // FLOW_ACT_IGNORE_FLOW_LEVEL
}

// Actions that are not the device's (include/linux/mlx5/fs.h): packets go on to the
// next priority, or the next namespace.
const (
	flowActionFwdNextPrio = 1 << 16
	flowActionFwdNextNS   = 1 << 19
	flowActionFwdNext     = flowActionFwdNextPrio | flowActionFwdNextNS
)

// flowDestType is an enum mlx5_flow_destination_type.
type flowDestType uint8

const (
	destNone flowDestType = iota
	destFlowTable
	destFlowTableNum // of a table that a user has made
	destTIR
	destPort
	destCounter
)

// isFwd models is_fwd_dest_type.
func (t flowDestType) isFwd() bool {
	return t == destFlowTable || t == destFlowTableNum || t == destTIR
}

// flowDestination is a struct mlx5_flow_destination.
type flowDestination struct {
	typ   flowDestType
	id    uint32
	table *flowTable
}

// flowDest is a struct mlx5_flow_rule: one destination of a fte, which several
// flows may have.
type flowDest struct {
	flowDestination
	refs     int
	fte      *fte
	swAction uint32
}

// flowHandle is a struct mlx5_flow_handle: what a flow has of a fte.
type flowHandle struct {
	fte   *fte
	dests []*flowDest
}

// What SET_FLOW_TABLE_ENTRY changes of an entry
// (MLX5_SET_FTE_MODIFY_ENABLE_MASK_* as bits).
const (
	fteModifyAction   = 1 << 0
	fteModifyDests    = 1 << 2
	fteModifyCounters = 1 << 3
)

// ftPools are the sizes of tables that the firmware has, and how many of each it
// has (drivers/net/ethernet/mellanox/mlx5/core/fs_ft_pool.c).
var ftPools = [...]uint32{1, 128, 64 << 10, 1 << 20, 4 << 20}

const ftPoolSize = 16 << 20

// ftPool says how many tables of each size are in use (struct mlx5_ft_pool).
type ftPool [len(ftPools)]uint32

// get models mlx5_ft_pool_get_avail_sz; 0 is none.
func (p *ftPool) get(most, wanted uint32) uint32 {
	for i, size := range ftPools {
		if p[i] < ftPoolSize/size && size >= wanted && size <= most {
			p[i]++
			return size
		}
	}
	return 0
}

// put models mlx5_ft_pool_put_sz.
func (p *ftPool) put(size uint32) {
	if i := slices.Index(ftPools[:], size); i >= 0 {
		p[i]--
	}
}

// initFlowTables makes the table where all that is received ends up that nobody
// wants. It models create_anchor_flow_table as part of init_root_ns in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c. The tables of the Ethernet
// driver are left out: it takes no packets here.
//
// Errors: mlx5-cmd/….
func (d *Device) initFlowTables(t *trace.Task) error {
	if !d.caps.has(capNICFlowTable) || !d.hasBypassNamespace() {
		return nil
	}
	defer t.Enter(moduleCore, "create_anchor_flow_table").Leave()
	_, err := d.createChainedTable(t, &nicAnchor, 0, 1)
	return err
}

// root returns the tables of a namespace's type.
func (f *flowDB) root(ns *flowTables) *flowRoot {
	if f.roots == nil {
		f.roots = map[uint64]*flowRoot{}
	}
	r := f.roots[ns.fsType]
	if r == nil {
		r = new(flowRoot)
		f.roots[ns.fsType] = r
	}
	return r
}

// place is where a table of that level stands in the chain.
func (r *flowRoot) place(level uint64) int {
	i, _ := slices.BinarySearchFunc(r.tables, level, func(t *flowTable, level uint64) int { return cmp.Compare(t.level, level) })
	return i
}

// next models find_next_chained_ft; nil is none.
func (r *flowRoot) next(level uint64) *flowTable {
	if i := r.place(level + 1); i < len(r.tables) {
		return r.tables[i]
	}
	return nil
}

// prev models find_prev_chained_ft.
func (r *flowRoot) prev(level uint64) *flowTable {
	if i := r.place(level); i > 0 {
		return r.tables[i-1]
	}
	return nil
}

// nextNS is the first table behind those of a namespace.
func (r *flowRoot) nextNS(ns *flowTables) *flowTable {
	for _, t := range r.tables {
		if t.level >= ns.level && t.ns != ns {
			return t
		}
	}
	return nil
}

// createChainedTable makes a table and puts it into the chain: packets that no rule
// of it is for go on to the next one, and those of the one before come to it. It
// models __mlx5_create_flow_table and connect_flow_table in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
//
// Errors: mlx5-flow/table-size, mlx5-flow/core-no-memory, mlx5-cmd/….
func (d *Device) createChainedTable(t *trace.Task, ns *flowTables, priority int, maxFTE uint32) (*flowTable, error) {
	defer t.Enter(moduleCore, "__mlx5_create_flow_table").Leave()
	r := d.flows.root(ns)
	ft := &flowTable{ns: ns, level: ns.level + uint64(priority)}
	if t.Fail(trace.Alloc, "mlx5_flow_table") {
		return nil, rule.MLX5FlowCoreNoMemory
	}
	size := d.flows.pool.get(d.caps.pow2(ns.logMaxSize), maxFTE)
	if size == 0 {
		return nil, rule.MLX5FlowTableSize
	}
	ft.maxFTE = size
	next := r.next(ft.level)
	var err error
	if ft.id, err = d.createFlowTable(t, ns, 0, ft.level, uint64(bits.Len32(size)-1), next); err != nil {
		d.flows.pool.put(size)
		return nil, err
	}
	if err := d.connect(t, r, ft, next); err != nil {
		d.destroyFlowTable(t, ns, ft.id)
		d.flows.pool.put(size)
		return nil, err
	}
	r.tables = slices.Insert(r.tables, r.place(ft.level), ft)
	return ft, nil
}

// connect models connect_flow_table in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
func (d *Device) connect(t *trace.Task, r *flowRoot, ft, next *flowTable) error {
	defer t.EnterInlined(moduleCore, "connect_flow_table").Leave()
	if prev := r.prev(ft.level); prev != nil {
		if err := d.modifyFlowTable(t, prev, ft); err != nil {
			return err
		}
	}
	d.connectFwdRules(t, ft, next)
	if !d.caps.has(nicRX.modifyRoot) || r.root != nil && ft.level >= r.root.level {
		return nil
	}
	if err := d.setFlowTableRoot(t, ft); err != nil {
		return err
	}
	r.root = ft
	return nil
}

// connectFwdRules has rules that lead to the next table lead to another one. It
// models connect_fwd_rules in drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
func (d *Device) connectFwdRules(t *trace.Task, to, from *flowTable) {
	if to == nil || from == nil {
		return
	}
	to.fwd, from.fwd = append(to.fwd, from.fwd...), nil
	for _, dest := range to.fwd {
		if dest.swAction&flowActionFwdNextNS != 0 && dest.fte.group.table.ns == to.ns {
			continue
		}
		dest.table = to
		d.updateFTE(t, dest.fte, fteModifyDests) // as the kernel does
	}
}

// destroyChainedTable takes a table out of the chain and ends it. It models
// mlx5_destroy_flow_table in drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
func (d *Device) destroyChainedTable(t *trace.Task, ft *flowTable) {
	defer t.Enter(moduleCore, "mlx5_destroy_flow_table").Leave()
	r := d.flows.root(ft.ns)
	next := r.next(ft.level)
	if r.root == ft {
		if r.root = next; next != nil {
			d.setFlowTableRoot(t, next) // as the kernel does
		}
	}
	d.connectFwdRules(t, next, ft)
	if prev := r.prev(ft.level); prev != nil {
		d.modifyFlowTable(t, prev, next) // as the kernel does
	}
	r.tables = slices.DeleteFunc(r.tables, func(other *flowTable) bool { return other == ft })
	d.destroyFlowTable(t, ft.ns, ft.id)
	d.flows.pool.put(ft.maxFTE)
}

// createAutoGroupedTable makes a table whose groups are made as rules need them. It
// models mlx5_create_auto_grouped_flow_table in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c.
//
// Errors: mlx5-flow/table-groups, mlx5-flow/table-size, mlx5-cmd/….
func (d *Device) createAutoGroupedTable(t *trace.Task, ns *flowTables, priority int, maxFTE, groups uint32) (*flowTable, error) {
	defer t.Enter(moduleCore, "mlx5_create_auto_grouped_flow_table").Leave()
	ft, err := d.createChainedTable(t, ns, priority, maxFTE)
	if err != nil {
		return nil, err
	}
	if groups > ft.maxFTE {
		d.destroyChainedTable(t, ft)
		return nil, rule.MLX5FlowTableGroups
	}
	ft.requiredGroups, ft.groupSize = groups, ft.maxFTE/(groups+1)
	return ft, nil
}
