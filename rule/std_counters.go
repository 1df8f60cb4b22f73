package rule

import "syscall"

const stdCounters = "drivers/infiniband/core/uverbs_std_types_counters.c"

// The refusals of uverbs_std_types_counters.c.
var (
	CountersBusy = add(Rule{"counters/busy", syscall.EBUSY, "uverbs_free_counters", stdCounters,
		"A flow rule still counts into these counters.",
		"Destroy the flow rules that count into them first."})
	CountersUnsupported = add(Rule{"counters/unsupported", syscall.EOPNOTSUPP, "ib_uverbs_handler_UVERBS_METHOD_COUNTERS_CREATE", stdCounters,
		"The driver has no create_counters operation.",
		"Use a device that can count flows."})
	CountersNoMemory = add(Rule{"counters/no-memory", syscall.ENOMEM, "ib_uverbs_handler_UVERBS_METHOD_COUNTERS_CREATE", stdCounters,
		"There was no memory for the counters.",
		"Free memory and call again."})
	CountersReadUnsupported = add(Rule{"counters/read-unsupported", syscall.EOPNOTSUPP, "ib_uverbs_handler_UVERBS_METHOD_COUNTERS_READ", stdCounters,
		"The driver has no read_counters operation.",
		"Use a device whose counters can be read."})
	CountersUnbound = add(Rule{"counters/unbound", syscall.EINVAL, "ib_uverbs_handler_UVERBS_METHOD_COUNTERS_READ", stdCounters,
		"No flow rule counts into these counters.",
		"Create a flow rule with these counters first."})
)
