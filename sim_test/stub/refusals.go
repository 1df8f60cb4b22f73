package stub

import (
	"syscall"

	"uverbsim/rule"
)

const source = "sim_test/stub"

// What the stub's own functions refuse. They are no kernel's, so the catalogue
// of package rule does not have them.
var (
	reached = &rule.Rule{ID: "stub/reached", Errno: syscall.ENODATA, Func: "handler", File: source,
		Why: "the framework let the call through to a method that does nothing on this driver",
		Do:  "Nothing: this answer says that the call was well formed."}
	noQueuePairs = &rule.Rule{ID: "stub/no-queue-pairs", Errno: syscall.EOPNOTSUPP, Func: "create_qp", File: source,
		Why: "this device makes no queue pairs unless its configuration names create_qp",
		Do:  "Ask for a device with create_qp."}
	noWorkQueues = &rule.Rule{ID: "stub/no-work-queues", Errno: syscall.EOPNOTSUPP, Func: "create_wq", File: source,
		Why: "this device makes no work queues unless its configuration names create_wq",
		Do:  "Ask for a device with create_wq."}
	refuses = &rule.Rule{ID: "stub/refuses", Errno: syscall.EREMOTEIO, Func: "destroy", File: source,
		Why: "this device's configuration says that the operation fails, once or always",
		Do:  "Call again, or ask for a device without refuse_ and never_."}
	uarType = &rule.Rule{ID: "stub/uar-type", Errno: syscall.EOPNOTSUPP, Func: "uar_obj_alloc", File: source,
		Why: "there is no UAR of that type",
		Do:  "Ask for MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF or MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC."}
	noMapping = &rule.Rule{ID: "stub/no-mapping", Errno: syscall.EINVAL, Func: "mmap", File: source,
		Why: "nothing that can be mapped as asked has this offset",
		Do:  "Map an offset that UAR_OBJ_ALLOC returned, shared and in its whole length."}
	mappingTooLong = &rule.Rule{ID: "stub/mapping-too-long", Errno: syscall.EINVAL, Func: "mmap", File: source,
		Why: "the mapping is longer than the four pages that there are",
		Do:  "Map up to 16384 bytes."}
)
