package public

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/trace"
)

// completionQueues are section D: how they are made, destroyed and resized.
var completionQueues = []problem{
	{
		id: "D1", name: "comp-vector-range",
		met: "A virtual function has fewer completion vectors than the machine has CPUs, and a program that took a CPU's number " +
			"for a vector got an EINVAL that nothing explained (ofiwg/libfabric pull request 6841).",
		answer: "A vector at or above num_comp_vectors is EINVAL from the core, before the driver. The ioctl's handler looks after it " +
			"has taken its references on the channel and the asynchronous descriptor, and gives them back; `create_cq` of the " +
			"write() commands looks before there is an object.",
		shown: []shown{
			{"linux-6.12-rxe/cq/vector-1", "cq/comp-vector"},
			{"linux-6.12-mlx5/mlx5/cq/vector-1", "cq/comp-vector"},
			{"linux-6.12-stub/stub/ns/vectors", "cq/comp-vector"},
			{"linux-6.12-rxe/fd/comp-order-before-vector", "object/fd-bad"},
			{"linux-6.12-rules/rule/cmd-cq-comp-vector", "cmd-cq/comp-vector"},
			{"linux-6.12-public-stub/public/D1-vector-references", "cq/comp-vector"},
		},
		test: func(t *testing.T) { leavesNothing(t, "linux-6.12-public-stub", "public/D1-vector-references") },
	},
	{
		id: "D3", name: "cqe-zero",
		met: "Users got EINVAL for a completion queue of no entries and argued whose rule that is (pmem/rpma pull request 923); " +
			"a change of February 2026 makes it the core's (linux-rdma, 18f7142bd).",
		answer: "In 6.12 the core has no such rule. `rxe_cq_chk_attr` refuses 0 with EINVAL; `mlx5_ib_create_cq` makes a queue of one " +
			"entry and answers 0, and it is the library that says no. Kernels with that change refuse 0 for every driver.",
		shown: []shown{
			{"linux-6.12-rxe/cq/cqe-0", "rxe/cq-empty"},
			{"linux-6.12-public-mlx5/public/D3-zero-entries", ""},
		},
	},
	{
		id: "D4", name: "cqe-limit",
		met: "A queue of 8192 entries was refused under a hypervisor, whose card had a lower limit (Mellanox/libvma pull request " +
			"725).",
		answer: "`mlx5_ib_create_cq` refuses a count above 2^log_max_cq_sz, and one that is above it when one is added and the sum is " +
			"rounded up to a power of two, both with EINVAL: the limit less one is the largest that fits, and is what the " +
			"answer says. A count with the top bit set is negative and EINVAL. rxe refuses what is above its max_cqe.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/D4-size-limit", "mlx5-cq/entries-rounded"},
			{"linux-6.12-public-mlx5/public/D4-size-limit", "mlx5-cq/entries"},
			{"linux-6.12-mlx5/mlx5/cq/cqe-4194303-nobuf", "pin/unmapped"},
			{"linux-6.12-mlx5/mlx5/cq/cqe-4194304-nobuf", "mlx5-cq/entries-rounded"},
			{"linux-6.12-mlx5/mlx5/cq/cqe-2147483648-nobuf", "mlx5-cq/entries"},
			{"linux-6.12-public/public/D4-rxe-limit", "rxe/cq-too-large"},
			{"linux-6.12-rxe/cq/cqe-2147483648", "rxe/cq-empty"},
		},
	},
	{
		id: "D5", name: "memlock-on-cq",
		met: "With the usual limit of 64 KiB locked memory programs failed to make a completion queue, and took it for a fault of " +
			"the queue (openucx/ucx issue 8229, open-mpi/ompi issue 6468, NVIDIA/cudf-spark pull request 7632).",
		answer: "`ib_umem_get`, called by `create_cq_user`, is ENOMEM when the buffer's pages are more than RLIMIT_MEMLOCK leaves and " +
			"the process has no CAP_IPC_LOCK. The object is undone and no page stays pinned; with a higher limit the same call " +
			"works. rxe allocates the buffer itself, so there the limit does not count.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/D5-memlock", "umem/memlock-limit"},
			{"linux-6.12-more/cred/memlock-cq-not-counted", ""},
		},
		test: func(t *testing.T) { leavesNothing(t, "linux-6.12-public-mlx5", "public/D5-memlock") },
	},
	{
		id: "D6", name: "cq-flags-by-path",
		met: "The same unknown flag of a completion queue gave one error by ioctl and another by the extended write() command " +
			"(read in the kernel's source).",
		answer: "By ioctl `uverbs_get_flags32` refuses a flag that the core does not know: EINVAL. EX CREATE_CQ hands every flag to " +
			"the driver: EOPNOTSUPP from `mlx5_ib_create_cq` and from rxe, which takes no flag at all, not even one that the " +
			"core knows.",
		shown: []shown{
			{"linux-6.12-mlx5/mlx5/cq/core-flags-4", "flags/unknown"},
			{"linux-6.12-rules-mlx5/rule/mlx5-cq-create-flags", "mlx5-cq/create-flags"},
			{"linux-6.12-rxe/flags/cq-8-bytes-high", "flags/unknown"},
			{"linux-6.12-rxe/flags/cq-timestamp", "rxe/create-cq-flags"},
			{"linux-6.12-rxe/write/ex-create-cq-flags", "rxe/create-cq-flags"},
		},
	},
	{
		id: "D8", name: "uar-missing",
		met: "In a context that allocates its doorbell pages one by one, a completion queue has to name one; the library says it in a " +
			"flag and later in an attribute of the ioctl, and then must not fall back to write() (rdma-core 9c4e72640, c5cded70b, " +
			"af1ae7613; linux-rdma, 9257c9978 of June 2024).",
		answer: "`create_cq_user` takes the attribute if it is there, else the index in the request if its flag is set, else the " +
			"context's first page; in a context made for dynamic pages that last is EINVAL. The attribute goes before the flag, " +
			"and also works in an ordinary context. 6.12 has both.",
		shown: []shown{
			{"linux-6.12-mlx5/mlx5/cq/uar-dyn-none", "mlx5-cq/no-uar"},
			{"linux-6.12-mlx5/mlx5/cq/uar-dyn-flag-1", ""},
			{"linux-6.12-mlx5/mlx5/cq/uar-attr-4-1", ""},
			{"linux-6.12-mlx5/mlx5/cq/uar-attr-over-flag", ""},
			{"linux-6.12-mlx5/mlx5/cq/uar-attr-static", ""},
			{"linux-6.12-mlx5/mlx5/cq/uar-attr-2-1", "attr/too-short"},
			{"linux-6.12-mlx5/mlx5/cq/order-dyn-db", "pin/unmapped"},
		},
	},
	{
		id: "D10", name: "umem-leak-on-fail",
		met: "Where the core pins the buffer that a program hands to CQ CREATE, it lost the pages when the driver then refused the " +
			"queue (linux-rdma, fix 460a5981b of October 2025).",
		answer: "6.12 has none of the attributes for such a buffer: EPROTONOSUPPORT where they must be understood, and without that " +
			"flag they are ignored. There the driver pins the buffer and releases it itself, in `create_cq_user` and at the end of " +
			"`mlx5_ib_create_cq`, whatever step fails.",
		shown: []shown{
			{"linux-6.12-public/public/D10-buffer-attributes", "attr/unknown-mandatory"},
			{"linux-6.12-mlx5/mlx5/cq/out-none", "mlx5-cq/response-fault"},
		},
		newer: []newer{
			{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, 8, "UVERBS_ATTR_CREATE_CQ_BUFFER_VA"},
			{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, 9, "UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH"},
			{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, 10, "UVERBS_ATTR_CREATE_CQ_BUFFER_FD"},
			{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, 11, "UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET"},
		},
		test: testNothingPinnedAfterFailure,
	},
	{
		id: "D11", name: "user-cq-only-driver",
		met: "When drivers got an operation of their own for users' completion queues, a test that was left over refused those " +
			"without the old one with EINVAL, and a return for a bad size forgot to free the queue (linux-rdma, fixes 5820140b2 " +
			"of April 2026, seen with EFA, and f8f835542 of June 2026).",
		answer: "6.12 has one operation, create_cq. Without it CQ CREATE stays in the tree, and its handler is EOPNOTSUPP, while " +
			"CREATE_CQ by write() is gone: EOPNOTSUPP from the stand-in. A size that the driver refuses leaves neither " +
			"queue nor handle nor a reference on the channel (`err_free` in the handler, `err_file` in `create_cq`).",
		shown: []shown{
			{"linux-6.12-public-stub/public/D11-no-create-cq", "cq/unsupported"},
			{"linux-6.12-public-stub/public/D11-no-create-cq", "write/not-supported"},
			{"linux-6.12-public/public/D11-invalid-size-frees", "rxe/cq-empty"},
		},
		test: func(t *testing.T) { leavesNothing(t, "linux-6.12-public", "public/D11-invalid-size-frees") },
	},
	{
		id: "D12", name: "resize-only-by-write",
		met: "The resize of a completion queue got its ioctl in June 2026 (linux-rdma, 12867cf2b); before that a library that knows " +
			"only ioctls cannot resize.",
		answer: "6.12 resizes by RESIZE_CQ alone, through write() or INVOKE_WRITE (`ib_uverbs_resize_cq`). Method 2 of CQ is " +
			"EPROTONOSUPPORT. On a driver without resize_cq the command is a stand-in that answers EOPNOTSUPP to a request of the " +
			"right length, whatever it says.",
		shown: []shown{
			{"linux-6.12-public/public/D12-no-ioctl", "method/unknown"},
			{"linux-6.12-rxe/write/resize-cq", "rxe/cq-empty"},
			{"linux-6.12-public-stub/public/D12-no-resize-op", "write/not-supported"},
		},
	},
	{
		id: "D13", name: "devx-cq-no-eq",
		met: "A program that made its completion queue through DEVX before the event queue was known was refused by the driver, " +
			"though the card would have taken it (linux-rdma, c5e19b156 of February 2021).",
		answer: "`mlx5_create_cq` is ENOENT for an event queue that the driver does not have, before the card is asked. The way " +
			"around it is `is_apu_cq`: on a card with that capability, a queue with the apu_cq bit names no event queue " +
			"and goes to the card as it is; on any other card the bit does not help.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/D13-devx-unknown-eq", "mlx5-cq/no-eq"},
			{"linux-6.12-public-mlx5/public/D13-devx-apu-cq", "mlx5-cq/no-eq"},
			{"linux-6.12-mlx5/mlx5/devx-eqn/1", "mlx5-cq/vector"},
		},
	},
	{
		id: "D14", name: "udata-response-size",
		met: "A driver answered the creation of an SRQ with another structure than that of the user ABI, and a create went on when " +
			"its answer could not be copied (linux-rdma, fixes 39f7fda82 and 221dcfc01 of 2020).",
		answer: "What is copied is the structure of the ABI, cut to the room there is where the driver says so " +
			"(`mlx5_ib_create_srq` does, `mlx5_ib_create_cq` does not). A copy that faults fails the call with EFAULT, and " +
			"the hardware object, the pages and the handle go again.",
		shown: []shown{
			{"linux-6.12-mlx5/mlx5/srq/out-3", ""},
			{"linux-6.12-mlx5/mlx5/cq/out-len-2", ""},
			{"linux-6.12-rules-mlx5/rule/mlx5-srq-response-fault", "mlx5-srq/response-fault"},
			{"linux-6.12-mlx5/mlx5/cq/out-none", "mlx5-cq/response-fault"},
			{"linux-6.12-rules-mlx5/rule/mlx5-qp-response-fault", "mlx5-qp/response-fault"},
			{"linux-6.12-rxe/srq/uhw-out-23", "rxe/create-srq-udata"},
		},
		test: func(t *testing.T) {
			leavesNothing(t, "linux-6.12-rules-mlx5", "rule/mlx5-srq-response-fault")
			leavesNothing(t, "linux-6.12-rules-mlx5", "rule/mlx5-qp-response-fault")
			leavesNothing(t, "linux-6.12-mlx5", "mlx5/cq/out-none")
		},
	},
}

// eachStep is a sink that makes the victim of the steps that can fail fail.
type eachStep struct {
	victim, seen int
	armed        bool
}

func (*eachStep) Event(*trace.Task, *trace.Event) {}

// Fail implements trace.Injector.
func (n *eachStep) Fail(_ *trace.Task, _ trace.Step, what string) bool {
	if !n.armed || what == "vm_area_alloc" { // that is the memory in which the call's attributes lie
		return false
	}
	n.seen++
	return n.seen == n.victim
}

// testNothingPinnedAfterFailure makes CQ CREATE of mlx5 fail at each step in turn:
// no page stays pinned, no handle taken, and the card has no queue.
func testNothingPinnedAfterFailure(t *testing.T) {
	const create = 2 // the step of mlx5/cq/create that makes the queue
	refusals := 0
	for victim := 1; ; victim++ {
		n := &eachStep{victim: victim}
		c := clone(t, "linux-6.12-mlx5", "mlx5/cq/create")
		c.Steps = c.Steps[:create+1]
		c.Steps[create].Got = nil
		var refused *rule.Rule
		var before, after *model.Books
		r := player.Play(&model.Model{Trace: func(*casefile.Case) trace.Sink { return n }}, c, player.Options{
			Before: func(m player.Machine, i int) {
				if i == create {
					before, n.armed = m.(*model.Machine).Books(), true
				}
			},
			After: func(m player.Machine, i int, s *player.StepResult) {
				if i == create {
					n.armed = false
					refused, after = refusedAs(s), m.(*model.Machine).Books()
				}
			},
		})
		if n.seen < victim { // there are no more steps
			require.NoError(t, r.Err)
			require.Nil(t, refused)
			require.Positive(t, after.Processes[0].PinnedPages)
			break
		}
		require.NotNilf(t, refused, "with step %d failing", victim)
		require.Equalf(t, before, after, "refused by %s", refused.ID)
		refusals++
	}
	require.Greater(t, refusals, 3, "allocations, pages, the command")
}
