package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/explain"
	"uverbsim/rule"
)

// spokenOtherwise are the beginnings of the rules whose values are called otherwise than the rule and its
// condition speak of them, with the reason.
var spokenOtherwise = map[string]string{
	"attr/":                      "the values are the fields of the attribute in question, and its name",
	"object/":                    "the values are the attribute that names the object, and its fields",
	"context/":                   "the value is ucontext, and the rule says context",
	"event/":                     "a read has a descriptor and a count, and the rule speaks of the queue",
	"mlx5-devx/cmd-read":         "a read has a descriptor and a count, and the rule speaks of the queue",
	"mlx5-devx/event-read":       "a read has a descriptor and a count, and the rule speaks of the queue",
	"read/":                      "a read has a descriptor and a count, and the rule speaks of the file",
	"fd/":                        "the value is the descriptor, fd, and the rule speaks of a file",
	"mmap/":                      "an mmap has its arguments, and the rule speaks of the file",
	"mlx5-mmap/":                 "an mmap has its arguments, and the rule speaks of the command in the offset",
	"mprotect/":                  "an mprotect has its arguments, and the rule speaks of what is mapped",
	"pin/":                       "the value is the member that has the address, and the rule speaks of memory",
	"umem/empty":                 "the value is the member that has the address, and the rule speaks of memory",
	"mlx5-mr/page-size":          "the value is the member that has the address, and the rule speaks of pages",
	"cmd-post/send-wr-fault":     "the work requests lie behind the request, as far apart as wqe_size says",
	"mlx5-net/":                  "the value is the address, dgid, and the rule speaks of routes and neighbours",
	"mlx5-rl/":                   "the value is what the rate stands in",
	"mlx5-modify-qp/table":       "the value is the handle of the queue pair",
	"mlx5-query-qp/table":        "the value is the handle of the queue pair",
	"qp/open-unknown":            "the value is qpn, and the rule says number",
	"rxe/post-send-state":        "the value is the handle of the queue pair",
	"rxe/queue-resize-too-small": "the value is max_wr, and the rule speaks of what is in the queue",
	"stub/refuses":               "the driver refuses by itself",
	"mlx5-dm/full":               "the value is the length, and the rule speaks of what is left of the memory",
	"mlx5-dm/icm-full":           "the value is the length, and the rule speaks of what is left of the memory",
}

// partNames are what rules call the parts of a request that have names of their own.
var partNames = map[string][]string{
	"uhw":      {"driver's part", "udata", "outbuf", "request", "response"},
	"core":     {"request", "u.in"},
	"request":  {"struct"},
	"response": {"written", "copy_to"},
	"resp":     {"response", "output", "dest", "a->data", "src"},
}

func isSpokenOtherwise(rule string) bool {
	for prefix := range spokenOtherwise {
		if strings.HasPrefix(rule, prefix) {
			return true
		}
	}
	return false
}

// checkSpokenOf: of a refusal's values at least one is what the rule, or its condition, speaks of.
func checkSpokenOf(t *testing.T, where string, r *explain.Refusal) {
	t.Helper()
	if len(r.Values) == 0 || isSpokenOtherwise(r.Decided.Rule) {
		return
	}
	said := r.Decided.Condition + " " + r.Decided.Why
	if known := rule.Find(r.Decided.Rule); known != nil {
		said += " " + known.Do
	}
	said = strings.ToLower(said)
	var names []string
	for _, v := range r.Values {
		if speaksOf(said, v.Name) {
			return
		}
		names = append(names, v.Name)
	}
	require.Failf(t, "values", "%s: none of %s is spoken of: %s", where, strings.Join(names, ", "), said)
}

var nameParts = regexp.MustCompile(`[a-z0-9]+`)

// filler are the parts of names that nothing is told by.
var filler = map[string]bool{
	"uverbs": true, "attr": true, "mlx5": true, "ib": true, "create": true, "the": true, "of": true, "query": true, "alloc": true,
	"obj": true, "reg": true, "in": true, "is": true,
}

// speaksOf says whether a text has a value's name, or a word of it that tells anything.
func speaksOf(said, name string) bool {
	name = strings.ToLower(name)
	if strings.Contains(said, name) {
		return true
	}
	words := nameParts.FindAllString(name, -1)
	for i := len(words) - 1; i >= 0; i-- {
		if !filler[words[i]] && len(words[i]) > 1 {
			for _, word := range append(partNames[words[i]], words[i]) {
				if strings.Contains(said, word) {
					return true
				}
			}
		}
	}
	return false
}

// told are cases with what is to be said of them: the condition is the kernel's, of the branch that it took, and
// the values are those that it looks at there.
var told = []struct {
	corpus, name, rule, condition string
	values                        []string // each of these is among them
	never                         []string // names that are not
}{
	// mlx5_ib_modify_qp asks ib_modify_qp_is_ok of every type but the driver's own; an RC QP has to be given the
	// partition key's index, the port and the access flags on its way to INIT.
	{
		"mlx5", "mlx5/modify-qp/mask-1", "mlx5-modify-qp/step", "!ib_modify_qp_is_ok(cur_state, new_state, qp_type, attr_mask)",
		[]string{
			"cur_state = IB_QPS_RESET", "new_state = IB_QPS_INIT", "qp_type = IB_QPT_RC", "attr_mask = IB_QP_STATE",
			"the step wants = IB_QP_STATE|IB_QP_ACCESS_FLAGS|IB_QP_PKEY_INDEX|IB_QP_PORT",
			"attr_mask lacks = IB_QP_ACCESS_FLAGS|IB_QP_PKEY_INDEX|IB_QP_PORT",
		},
		[]string{"UVERBS_ATTR_WRITE_CMD"},
	},
	// Without a table of work queues the handler goes on; without a queue for the receives it does not.
	{
		"rxe", "qp/no-recv-cq", "attr/absent", "IS_ERR(attr)",
		[]string{"UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE = not sent"}, []string{"UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE"},
	},
	// create_qp looks the PD up last: its queues are there.
	{
		"rxe", "qp/write-unknown-pd", "object/not-found", "o == NULL || !o->get_unless_zero()",
		[]string{"pd_handle = 99, which no object of this file has"}, []string{"send_cq_handle", "recv_cq_handle"},
	},
	{
		"rxe", "qp/write-unknown-cq", "object/not-found", "o == NULL || !o->get_unless_zero()",
		[]string{"send_cq_handle = 99, which no object of this file has"}, []string{"recv_cq_handle"},
	},
	// uverbs_copy_to of the output that is not mapped, not of one of the inputs.
	{
		"mlx5", "mlx5/devx-obj/out-unmapped", "attr/output-fault", "copy_to_user(a.data, src)",
		[]string{"MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT = 16 bytes at an address that is not mapped (recorded as bad)"},
		[]string{"MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE"},
	},
	// From RESET there is no step but to INIT, and to RESET again.
	{
		"mlx5", "mlx5/modify-qp/state-3", "mlx5-modify-qp/step", "!ib_modify_qp_is_ok(cur_state, new_state, qp_type, attr_mask)",
		[]string{
			"cur_state = IB_QPS_RESET", "new_state = IB_QPS_RTS",
			"next steps = from IB_QPS_RESET to IB_QPS_RESET; to IB_QPS_INIT with IB_QP_STATE|IB_QP_ACCESS_FLAGS|IB_QP_PKEY_INDEX|IB_QP_PORT",
		},
		nil,
	},
	{
		"rxe", "qp/modify-init-missing-port", "rxe/qp-transition", "!ib_modify_qp_is_ok(cur_state, new_state, qp_type, attr_mask)",
		[]string{"cur_state = IB_QPS_RESET", "new_state = IB_QPS_INIT", "qp_type = IB_QPT_RC", "attr_mask lacks = IB_QP_PORT"},
		nil,
	},
	// optab of __mlx5_ib_modify_qp has no way into SQD.
	{
		"mlx5", "mlx5/modify-qp/rc-rts", "mlx5-modify-qp/transition", "!optab[cur_state][new_state]",
		[]string{
			"cur_state = IB_QPS_RTS", "new_state = IB_QPS_SQD",
			"the firmware has commands = from IB_QPS_RTS to IB_QPS_RESET, IB_QPS_ERR, IB_QPS_RTS",
		},
		[]string{"UVERBS_ATTR_WRITE_CMD"},
	},
	{
		"mlx5", "mlx5/modify-qp/rtr-av-rate-255", "mlx5-ah/rate", "rate < RATE2_5_GBPS || rate > RATE800_GBPS",
		[]string{"static_rate = 255"}, []string{"UVERBS_ATTR_WRITE_CMD"},
	},
	{"mlx5", "mlx5/modify-qp/rtr-av-dgid-0", "mlx5-net/no-route", "", []string{"dgid = ::"}, []string{"UVERBS_ATTR_WRITE_CMD"}},
	{
		"mlx5", "mlx5/modify-qp/rtr-av-sgid-255", "gid/index", "index < 0 || index >= dev.gid_tbl_len",
		[]string{"sgid_index = 255", "gid_tbl_len = 16"}, nil,
	},
	{
		"mlx5", "mlx5/qp/flags-40000000", "mlx5-qp/flags", "flags != 0, when process_vendor_flags has cleared those that it accepts",
		[]string{"flags = 0x40000000", "refused = 0x40000000: the driver has no such flag"},
		[]string{"UVERBS_ATTR_CREATE_QP_PD_HANDLE"},
	},
	{
		"mlx5", "mlx5/qp/flags-4", "mlx5-qp/flags", "flags != 0, when process_vendor_flags has cleared those that it accepts",
		[]string{
			"flags = MLX5_QP_FLAG_TUNNEL_OFFLOADS", "UVERBS_ATTR_CREATE_QP_TYPE = IB_UVERBS_QPT_RC",
			"refused = MLX5_QP_FLAG_TUNNEL_OFFLOADS (0x4) needs an IB_QPT_RAW_PACKET queue pair, and a device that takes tunnels apart",
		},
		nil,
	},
	{
		"mlx5", "mlx5/qp/type-255", "mlx5-qp/subtype",
		"qp_type == IB_QPT_DRIVER && !(ucmd.flags & (MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT))",
		[]string{"UVERBS_ATTR_CREATE_QP_TYPE = IB_UVERBS_QPT_DRIVER", "flags = 0x0"},
		[]string{"UVERBS_ATTR_CREATE_QP_PD_HANDLE"},
	},
	// get_qp_user_index: with version 0 an index is refused that is not the default one.
	{
		"mlx5", "mlx5/qp/v0-uidx-0", "mlx5-qp/user-index", "!cqe_version && ucmd.uidx != MLX5_IB_DEFAULT_UIDX",
		[]string{"uidx = 0"}, nil,
	},
	{
		"rxe", "qp/caps-too-many-sge", "rxe/qp-send-sge", "cap->max_send_sge > device_attr.max_send_sge",
		[]string{"max_send_sge = 33", "the device's max_send_sge = 32"}, nil,
	},
	{
		"mlx5", "mlx5/qp/sq-32769", "mlx5-qp/send-size", "ucmd.sq_wqe_count > caps.pow2(log_max_qp_sz)",
		[]string{"sq_wqe_count = 32769", "log_max_qp_sz = 15"}, nil,
	},
	{
		"mlx5", "mlx5/resize/buf-off-4", "mlx5-resize/buffer-alignment", "!mlx5_umem_find_best_quantized_pgoff(umem)",
		nil, []string{"cqe"},
	},
	{"mlx5", "mlx5/dm/len-0", "mlx5-dm/length", "m.size == 0", []string{"UVERBS_ATTR_ALLOC_DM_LENGTH = 0"}, []string{"UVERBS_ATTR_ALLOC_DM_ALIGNMENT"}},
	{
		"mlx5", "mlx5/umem/nodevx", "mlx5-devx/umem-no-uid", "c.devx_uid == 0",
		[]string{"devx_uid = 0: the context was made without MLX5_IB_ALLOC_UCTX_DEVX"},
		[]string{"MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE"},
	},
	{
		"mlx5", "mlx5/cq/flags-1", "mlx5-cq/padding",
		"(ucmd.flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD) != 0 && (c.cqe_size != 128 || !caps.has(cqe_128_always))",
		[]string{"flags = MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD", "cqe_size = 64", "cqe_128_always = 1"}, nil,
	},
	{
		"mlx5", "mlx5/cq/in-null", "mlx5-cq/request-fault", "ib_copy_from_udata(ucmd, udata)",
		[]string{"UVERBS_ATTR_UHW_IN = 32 bytes at 0x0"}, nil,
	},
	{
		"rxe", "flags/cq-8-bytes-high", "flags/unknown", "(flags & ~allowed) != 0",
		[]string{
			"UVERBS_ATTR_CREATE_CQ_FLAGS = 0x100000000",
			"allowed = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION|IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN (0x3)",
		},
		nil,
	},
	{
		"rxe", "mr/access-80", "rxe/mr-access", "(access & ~ACCESS_SUPPORTED_MR) != 0 && kernel.has(RXE_MR_ACCESS)",
		[]string{"access_flags = IB_UVERBS_ACCESS_HUGETLB", "refused = IB_UVERBS_ACCESS_HUGETLB (0x80)"}, []string{"RXE_MR_ACCESS"},
	},
	{
		"rxe", "write/on-event-fd", "write/mode", "!(filp->f_mode & FMODE_WRITE)",
		[]string{"f_mode = the descriptor is not open for writing"}, []string{"command", "in_words"},
	},
}

func TestExplainValues(t *testing.T) {
	for _, tt := range told {
		t.Run(tt.name, func(t *testing.T) {
			file := "../../sim_test/corpus/linux-6.12-" + tt.corpus + ".jsonl"
			f, err := os.Open(file)
			require.NoError(t, err)
			defer f.Close()
			var refusals []*explain.Refusal
			for c, err := range casefile.Read(f, file) {
				require.NoError(t, err)
				if c.Name != tt.name {
					continue
				}
				told, _ := explainCase(nil, c)
				for _, s := range told.Steps {
					for _, r := range s.Refusals {
						if r.Decided.Rule == tt.rule {
							refusals = append(refusals, r)
						}
					}
				}
			}
			require.NotEmptyf(t, refusals, "%s is refused by %s", tt.name, tt.rule)
			r := refusals[0]
			require.Equal(t, tt.condition, r.Decided.Condition)
			var values, names []string
			for _, v := range r.Values {
				values, names = append(values, v.Name+" = "+v.Value), append(names, v.Name)
			}
			require.Subset(t, values, tt.values)
			for _, name := range tt.never {
				require.NotContains(t, names, name)
			}
		})
	}
}
