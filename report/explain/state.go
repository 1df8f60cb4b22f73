package explain

import "strings"

// states say of conditions that are on more than the request what they are on: a
// word of the condition or the beginning of the rule's id, and the text. The first
// that fits is taken.
var states = []struct{ cond, rule, text string }{
	{".fail(", "", "memory, or another thing that the machine ran out of"},
	{"usecnt", "", "how many others use the object"},
	{"", "object/busy", "who uses the object at this moment"},
	{"", "object/device-gone", "whether the device was removed"},
	{"", "object/file-destroyed", "whether the file's objects were destroyed by a removal"},
	{"", "method/disassociated", "whether the device was removed"},
	{"", "context/", "the context of the open file"},
	{"", "ucontext/", "the context of the open file"},
	{"", "object/", "the objects of the open file"},
	{"", "event/", "the queue of events, and whether the device was removed"},
	{"", "mlx5-devx/event-read", "the queue of events"},
	{"", "mlx5-devx/cmd-read", "the queue of completed commands"},
	{"", "cmd-flow/", "the filters and actions of the flow, which lie behind the request's members"},
	{"", "mlx5-flow/", "the filters and actions of the flow"},
	{"", "mlx5-counters/", "the counters, and which of them are bound"},
	{"", "cmd-post/", "the work requests, which lie behind the request's members"},
	{"", "mlx5-var/", "the doorbell pages that the device hands out to users, all of which are taken"},
	{"", "mlx5-cmd/", "what the device's firmware answered"},
	{"", "cgroup/", "the limits of the control group"},
	{"", "open/", "the device node, and who opens it"},
	{"", "fd/", "the descriptors of the process"},
	{"", "read/", "how the descriptor was opened"},
	{"", "write/mode", "how the descriptor was opened"},
	{"", "write/no-operation", "what the descriptor is of"},
	{"", "ioctl/", "what the descriptor is of"},
	{"capable", "", "the capabilities of the caller"},
	{"cap_net", "", "the capabilities of the caller"},
	{"copy_from_user", "", "whether the user's memory can be read"},
	{"copy_to_user", "", "whether the user's memory can be written"},
	{"copy_from", "", "whether the user's memory can be read"},
	{"copy_to", "", "whether the user's memory can be written"},
	{"put_user", "", "whether the user's memory can be written"},
	{"clear_user", "", "whether the user's memory can be written"},
	{"is_cleared", "", "what lies in the user's memory"},
	{"", "pin/", "what is mapped in the process"},
	{"", "umem", "what is mapped in the process, and what it may lock"},
	{"", "mmap/", "what is mapped in the process"},
	{"", "munmap/", "what is mapped in the process"},
	{"", "mremap/", "what is mapped in the process"},
	{"", "mprotect/", "what is mapped in the process"},
	{"", "vma/", "what is mapped in the process"},
	{"", "umap/", "what the driver has for mapping"},
	{"", "dmabuf/", "the dma-buf behind the descriptor"},
	{"", "eventfd/", "the descriptors of the process"},
	{"caps.", "", "what the device can do"},
	{"kernel.has", "", "the version of the kernel"},
	{"access_ok", "", "whether the range lies in the user's half of memory"},
	{"", "mlx5-net/", "the routes and neighbours of the network"},
	{"", "rxe/addr", "the routes of the network"},
	{"", "cred/", "who the caller is"},
	{"", "rlimit/", "the limits of the caller"},
	{"devx_uid", "", "whether the context was made with DEVX"},
	{"is_rdma", "", "the object"},
	{"", "write/response-fault", "whether the user's memory can be read"},
	{"", "cmd-", "the members of the request"},
	{"", "stub/", "the driver, which has no device behind it"},
}

// stateOf says what a condition is on that no value was found for.
func stateOf(c *Check, values []Value) string {
	if len(values) > 0 {
		return ""
	}
	for _, s := range states {
		if strings.Contains(c.Condition, s.cond) && strings.HasPrefix(c.Rule, s.rule) {
			return s.text
		}
	}
	return ""
}
