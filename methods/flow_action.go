package methods

import (
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// objectFlowAction is UVERBS_OBJECT_FLOW_ACTION
// (drivers/infiniband/core/uverbs_std_types_flow_action.c). Drivers have the
// methods that make one.
var objectFlowAction = object{
	id:  spec.UVERBS_OBJECT_FLOW_ACTION,
	typ: &uobject.TypeAttrs{Destroy: freeFlowAction},
}

// freeFlowAction destroys an action that no flow rule uses any more. It models
// uverbs_free_flow_action.
//
// Errors: flow-action/busy, and those of the driver.
func freeFlowAction(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "uverbs_free_flow_action").Leave()
	a := o.HW.(*core.FlowAction)
	if a.Usecnt.Read(attrs.Task().Trace, "ib_flow_action") != 0 {
		return rule.FlowActionBusy
	}
	return a.Device.Ops.DestroyFlowAction(attrs.Task(), a)
}
