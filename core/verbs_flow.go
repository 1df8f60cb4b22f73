package core

import "uverbsim/trace"

// FlowResources are the actions and counters that a flow rule uses (struct
// ib_uflow_resources in include/rdma/uverbs_std_types.h).
type FlowResources struct {
	Actions  []*FlowAction
	Counters []*Counters
}

// AddAction counts the rule as a user of the action. It models
// flow_resources_add in drivers/infiniband/core/uverbs_cmd.c.
func (r *FlowResources) AddAction(t *trace.Task, a *FlowAction) {
	defer t.Enter(trace.Uverbs, "flow_resources_add").Leave()
	a.Usecnt.Count(t, "ib_flow_action", 1)
	r.Actions = append(r.Actions, a)
}

// AddCounters counts the rule as a user of the counters. It models
// flow_resources_add in drivers/infiniband/core/uverbs_cmd.c.
func (r *FlowResources) AddCounters(t *trace.Task, c *Counters) {
	defer t.Enter(trace.Uverbs, "flow_resources_add").Leave()
	c.Usecnt.Count(t, "ib_counters", 1)
	r.Counters = append(r.Counters, c)
}

// Free gives back what the rule used; nil has nothing. It models
// ib_uverbs_flow_resources_free in drivers/infiniband/core/uverbs_cmd.c.
func (r *FlowResources) Free(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_flow_resources_free").Leave()
	if r == nil {
		return
	}
	for _, a := range r.Actions {
		a.Usecnt.Count(t, "ib_flow_action", -1)
	}
	for _, c := range r.Counters {
		c.Usecnt.Count(t, "ib_counters", -1)
	}
}

// UFlow is a struct ib_uflow_object (include/rdma/uverbs_std_types.h) without
// its uobject: the Ext of a flow rule.
type UFlow struct{ Resources *FlowResources }

// Reset makes it as new.
func (u *UFlow) Reset() { *u = UFlow{} }
