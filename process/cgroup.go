package process

import (
	"fmt"
	"math"
	"strings"

	"uverbsim/rule"
	"uverbsim/trace"
)

// CgroupResource is what an RDMA control group counts: enum
// rdmacg_resource_type of include/linux/cgroup_rdma.h.
type CgroupResource uint8

// The resources, in the order of the enum.
const (
	RDMACG_RESOURCE_HCA_HANDLE CgroupResource = iota
	RDMACG_RESOURCE_HCA_OBJECT

	rdmacgResourceMax
)

// rdmacgResourceNames are the names in the files of a group.
var rdmacgResourceNames = [rdmacgResourceMax]string{"hca_handle", "hca_object"}

// noLimit is the limit that reads "max" (S32_MAX).
const noLimit = math.MaxInt32

// hierarchy is what all groups of a tree share.
type hierarchy struct {
	mu     trace.Mutex // rdmacg_mutex
	groups []*Cgroup
}

// Cgroup is an RDMA control group: struct rdma_cgroup of
// include/linux/cgroup_rdma.h. Its limits count for each device by itself.
type Cgroup struct {
	parent *Cgroup
	tree   *hierarchy
	pools  []*rdmacgPool
}

// rdmacgPool are a group's counts for one device: struct rdmacg_resource_pool
// of kernel/cgroup/rdma.c.
type rdmacgPool struct {
	dev   string
	max   [rdmacgResourceMax]int
	usage [rdmacgResourceMax]int
}

// NewCgroup returns a group below parent; below nil it is a root group.
func NewCgroup(parent *Cgroup) *Cgroup {
	g := &Cgroup{parent: parent}
	if parent == nil {
		g.tree = &hierarchy{mu: trace.Mutex{Name: "rdmacg_mutex"}}
	} else {
		g.tree = parent.tree
	}
	g.tree.mu.Lock(nil)
	defer g.tree.mu.Unlock(nil)
	g.tree.groups = append(g.tree.groups, g)
	return g
}

// Parent returns the group above, nil for a root group.
func (g *Cgroup) Parent() *Cgroup { return g.parent }

// find models find_cg_rpool_locked in kernel/cgroup/rdma.c.
func (g *Cgroup) find(dev string) *rdmacgPool {
	for _, p := range g.pools {
		if p.dev == dev {
			return p
		}
	}
	return nil
}

// get models get_cg_rpool_locked: it makes the pool if there is none. It
// returns nil if there is no memory for it.
func (g *Cgroup) get(t *trace.Task, dev string) *rdmacgPool {
	if p := g.find(dev); p != nil {
		return p
	}
	if t.Fail(trace.Alloc, "rdmacg_resource_pool") {
		return nil
	}
	p := &rdmacgPool{dev: dev, max: [rdmacgResourceMax]int{noLimit, noLimit}}
	g.pools = append(g.pools, p)
	return p
}

// Charge is one unit of a resource that is charged to a group and all groups
// above it. The zero value is no charge.
type Charge struct {
	group *Cgroup
	dev   string
	r     CgroupResource
}

// TryCharge models rdmacg_try_charge in kernel/cgroup/rdma.c: it charges the
// group, and each above it, one unit of the resource on that device. If one of
// them has no more, none is charged. Its errors are the rules cgroup/exceeded
// and cgroup/no-memory.
func (g *Cgroup) TryCharge(t *Task, dev string, r CgroupResource) (Charge, error) {
	g.tree.mu.Lock(t.Trace)
	defer g.tree.mu.Unlock(t.Trace)
	for at := g; at != nil; at = at.parent {
		pool := at.get(t.Trace, dev)
		if pool == nil {
			g.uncharge(at, dev, r)
			return Charge{}, rule.CgroupAlloc
		}
		if pool.usage[r] >= pool.max[r] {
			g.uncharge(at, dev, r)
			return Charge{}, rule.CgroupExceeded
		}
		pool.usage[r]++
	}
	return Charge{g, dev, r}, nil
}

// uncharge models rdmacg_uncharge_hierarchy up to, and without, the group stop.
// The caller holds the lock.
func (g *Cgroup) uncharge(stop *Cgroup, dev string, r CgroupResource) {
	for at := g; at != stop; at = at.parent {
		pool := at.find(dev)
		if pool == nil { // the device is gone
			continue
		}
		if pool.usage[r]--; pool.usage[r] < 0 {
			panic("process: a charge was given back twice")
		}
	}
}

// Uncharge models rdmacg_uncharge in kernel/cgroup/rdma.c.
func (c Charge) Uncharge(t *Task) {
	if c.group == nil {
		return
	}
	var tr *trace.Task
	if t != nil {
		tr = t.Trace
	}
	c.group.tree.mu.Lock(tr)
	defer c.group.tree.mu.Unlock(tr)
	c.group.uncharge(nil, c.dev, c.r)
}

// UnregisterDevice models rdmacg_unregister_device in kernel/cgroup/rdma.c: all
// groups of the tree forget the device's counts and limits.
func (g *Cgroup) UnregisterDevice(dev string) {
	g.tree.mu.Lock(nil)
	defer g.tree.mu.Unlock(nil)
	for _, group := range g.tree.groups {
		kept := group.pools[:0]
		for _, p := range group.pools {
			if p.dev != dev {
				kept = append(kept, p)
			}
		}
		group.pools = kept
	}
}

// SetMax models a write to rdma.max (rdmacg_resource_set_max in
// kernel/cgroup/rdma.c) of what follows the device's name: words like
// hca_handle=2 and hca_object=max, with one space between them. What is not named
// keeps its limit; no word at all names nothing. Its error is the rule
// cgroup/syntax.
func (g *Cgroup) SetMax(dev, limits string) error {
	max, named, ok := parseLimits(strip(limits))
	if !ok {
		return rule.CgroupSyntax
	}
	g.tree.mu.Lock(nil)
	defer g.tree.mu.Unlock(nil)
	pool := g.get(nil, dev)
	for r := range max {
		if named[r] {
			pool.max[r] = max[r]
		}
	}
	return nil
}

// Max returns the device's part of rdma.max, as the file has it behind the
// device's name: "hca_handle=2 hca_object=max ".
func (g *Cgroup) Max(dev string) string {
	return g.print(dev, func(p *rdmacgPool, r int) int { return p.max[r] })
}

// Current returns the device's part of rdma.current, as the file has it behind
// the device's name: "hca_handle=1 hca_object=20 ".
func (g *Cgroup) Current(dev string) string {
	return g.print(dev, func(p *rdmacgPool, r int) int { return p.usage[r] })
}

// print models print_rpool_values in kernel/cgroup/rdma.c.
func (g *Cgroup) print(dev string, value func(*rdmacgPool, int) int) string {
	g.tree.mu.Lock(nil)
	defer g.tree.mu.Unlock(nil)
	pool := g.find(dev)
	if pool == nil {
		pool = &rdmacgPool{max: [rdmacgResourceMax]int{noLimit, noLimit}}
	}
	var b strings.Builder
	for r, name := range rdmacgResourceNames {
		if n := value(pool, r); n == noLimit {
			fmt.Fprintf(&b, "%s=max ", name)
		} else {
			fmt.Fprintf(&b, "%s=%d ", name, n)
		}
	}
	return b.String()
}
