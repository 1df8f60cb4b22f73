package mlx5

import (
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// flowPrio is a struct mlx5_ib_flow_prio: the flow table that users' rules of a
// priority lie in, and the table before it that its anchors are.
type flowPrio struct {
	ns       *flowTables
	priority int // of mlx5_core
	table    *flowTable
	refs     int // of table, which is there while it has some
	anchor   anchorTable
}

// flowDB is a struct mlx5_ib_flow_db, with what mlx5_core keeps about the tables.
type flowDB struct {
	lock  trace.Mutex
	prios []*flowPrio
	roots map[uint64]*flowRoot // by type
	pool  ftPool
}

// find returns the priority of a namespace.
func (f *flowDB) find(ns *flowTables, priority int) *flowPrio {
	for _, p := range f.prios {
		if p.ns == ns && p.priority == priority {
			return p
		}
	}
	p := &flowPrio{ns: ns, priority: priority}
	f.prios = append(f.prios, p)
	return p
}

// Priorities that users have in tables of any type (MLX5_BY_PASS_NUM_REGULAR_PRIOS),
// and the one of mlx5_core where rules for groups alone lie
// (MLX5_IB_FLOW_MCAST_PRIO).
const (
	numFlowPrios  = 16
	mcastFlowPrio = 2 * numFlowPrios
)

// Of a priority's table: how many rules it has room for, and how many sorts of them
// (MLX5_FS_MAX_ENTRIES and MLX5_FS_MAX_TYPES in drivers/infiniband/hw/mlx5/fs.c).
// The leftovers have two of each (LEFTOVERS_RULE_NUM), a sniffer one.
const (
	maxFlowEntries   = 1 << 16
	maxFlowTypes     = 6
	leftoversEntries = 2
	snifferEntries   = 1
)

// corePrio models ib_prio_to_core_prio.
func corePrio(priority uint16, dontTrap bool) int {
	if dontTrap {
		return 2 * int(priority)
	}
	return 2*int(priority) + 1
}

// capSnifferShared says that what a sniffer gets others get too.
var capSnifferShared = flow("allow_sniffer_and_nic_rx_shared_tir")

// getFlowTable returns the priority that a flow lies in, with its table. Tx is the
// direction of a sniffer or of packets that are sent. It models get_flow_table in
// drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/no-namespace, mlx5-flow/sniffer, mlx5-flow/table-…,
// mlx5-cmd/….
func (d *Device) getFlowTable(t *trace.Task, attr *core.FlowAttr, tx bool) (*flowPrio, error) {
	defer t.EnterInlined(moduleIB, "get_flow_table").Leave()
	f := &d.flows
	var p *flowPrio
	entries, types := uint32(maxFlowEntries), uint32(maxFlowTypes)
	switch attr.Type {
	case spec.IB_FLOW_ATTR_NORMAL:
		dontTrap := attr.Flags&spec.IB_FLOW_ATTR_FLAGS_DONT_TRAP != 0
		priority := corePrio(attr.Priority, dontTrap)
		if isMulticastOnly(attr) && !dontTrap {
			priority = mcastFlowPrio
		}
		typ := uint64(spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX)
		if tx {
			typ = spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX
		}
		ns, _ := d.flowNamespace(typ)
		if ns == nil {
			return nil, rule.MLX5FlowNoNamespace
		}
		p = f.find(ns, priority)
	case spec.IB_FLOW_ATTR_ALL_DEFAULT, spec.IB_FLOW_ATTR_MC_DEFAULT:
		if !d.hasBypassNamespace() {
			return nil, rule.MLX5FlowNoNamespace
		}
		p, entries, types = f.find(&leftovers, 0), leftoversEntries, leftoversEntries
	case spec.IB_FLOW_ATTR_SNIFFER:
		if !d.caps.has(capSnifferShared) {
			return nil, rule.MLX5FlowSniffer
		}
		ns := &snifferRX
		if tx {
			ns = &snifferTX
		}
		if !d.caps.has(ns.support) {
			return nil, rule.MLX5FlowNoNamespace
		}
		p, entries, types = f.find(ns, 0), snifferEntries, snifferEntries
	default:
		return nil, rule.MLX5FlowNoNamespace
	}
	return p, d.prioTable(t, p, entries, types)
}

// getFlowTableNS is the same for a matcher or an anchor. It models _get_flow_table in
// drivers/infiniband/hw/mlx5/fs.c. A namespace that is nil the device has not.
//
// Errors: mlx5-flow/anchor-no-namespace, mlx5-flow/anchor-priority,
// mlx5-flow/table-…, mlx5-cmd/….
func (d *Device) getFlowTableNS(t *trace.Task, priority uint16, ns *flowTables, mcast bool) (*flowPrio, error) {
	defer t.Enter(moduleIB, "_get_flow_table").Leave()
	if ns == nil {
		return nil, rule.MLX5AnchorNoNamespace
	}
	if priority >= numFlowPrios {
		return nil, rule.MLX5AnchorPriority
	}
	n := corePrio(priority, false)
	if mcast {
		n = mcastFlowPrio
	}
	if ns == &rdmaTX {
		n = int(priority)
	}
	p := d.flows.find(ns, n)
	return p, d.prioTable(t, p, maxFlowEntries, maxFlowTypes)
}

// prioTable makes a priority's table if it is not there. It models _get_prio in
// drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/table-…, mlx5-cmd/….
func (d *Device) prioTable(t *trace.Task, p *flowPrio, entries, types uint32) (err error) {
	if p.table != nil {
		return nil
	}
	defer t.EnterInlined(moduleIB, "_get_prio").Leave()
	entries = min(entries, d.caps.pow2(p.ns.logMaxSize))
	p.table, err = d.createAutoGroupedTable(t, p.ns, p.priority, entries, types)
	return err
}

// putFlowTable takes back a use of a priority's table, if it was one. The last one
// ends the table. It models put_flow_table in drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) putFlowTable(t *trace.Task, p *flowPrio, used bool) {
	defer t.EnterInlined(moduleIB, "put_flow_table").Leave()
	if used {
		p.refs--
	}
	if p.refs == 0 {
		d.destroyChainedTable(t, p.table)
		p.table = nil
	}
}
