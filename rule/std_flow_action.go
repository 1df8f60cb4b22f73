package rule

import "syscall"

// The refusals of uverbs_std_types_flow_action.c.
var FlowActionBusy = add(Rule{"flow-action/busy", syscall.EBUSY, "uverbs_free_flow_action",
	"drivers/infiniband/core/uverbs_std_types_flow_action.c",
	"A flow rule still uses the action.",
	"Destroy the flow rules that use this action first."})
