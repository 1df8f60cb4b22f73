package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/explain"
)

const (
	rxeCorpus  = "linux-6.12-rxe.jsonl"
	mlx5Corpus = "linux-6.12-mlx5.jsonl"
	mistakes   = "../mistakes/"
)

// refusalsOf explains a case of the corpus, or a file beside it, and returns its refusals
// with the steps that they are of.
func refusalsOf(t *testing.T, file, only string) (steps []explain.Step, out []*explain.Refusal) {
	t.Helper()
	args := []string{"--json", filepath.Join("../../sim_test/corpus", file)}
	if only != "" {
		args = append(args, "--only", only)
	}
	text, err := execute(newExplainCmd(), "", args...)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(text, "\n"), "one case")
	var c explain.Case
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	for _, s := range c.Steps {
		out = append(out, s.Refusals...)
	}
	require.NotEmpty(t, out)
	return c.Steps, out
}

func valueOf(r *explain.Refusal, name string) string {
	for _, v := range r.Values {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// TestExplainBusy: ib_uverbs_reg_mr counts the MR in its PD, ib_qp_usecnt_inc a QP in its
// PD and once in each of its CQs; uverbs_finalize_object and idr hand out the handles from
// 0 on.
func TestExplainBusy(t *testing.T) {
	tests := []struct {
		only   string
		n      int
		rule   string
		handle string
		count  string
		by     string
		member string // or the attribute
	}{
		{"busy/pd-with-mr", 0, "pd/busy", "0", "1", "1 UVERBS_OBJECT_MR (pd)", "UVERBS_ATTR_DESTROY_PD_HANDLE"},
		{"busy/pd-by-write", 0, "pd/busy", "0", "1", "1 UVERBS_OBJECT_MR (pd)", "pd_handle"},
		{"busy/pd-cq-with-qp", 0, "pd/busy", "0", "1", "2 UVERBS_OBJECT_QP (pd)", "UVERBS_ATTR_DESTROY_PD_HANDLE"},
		{"busy/pd-cq-with-qp", 1, "cq/busy", "1", "2", "2 UVERBS_OBJECT_QP (send_cq, recv_cq)", "UVERBS_ATTR_DESTROY_CQ_HANDLE"},
	}
	for _, tt := range tests {
		_, rs := refusalsOf(t, rxeCorpus, tt.only)
		r := rs[tt.n]
		require.Equal(t, tt.rule, r.Decided.Rule)
		require.Equal(t, tt.handle, valueOf(r, tt.member), tt.only)
		require.Equal(t, tt.count, valueOf(r, "use count"), tt.only)
		require.Equal(t, tt.by, valueOf(r, "used by"), tt.only)
	}
}

// TestExplainHandles: what a handle is, what was wanted, and who else has it.
func TestExplainHandles(t *testing.T) {
	_, rs := refusalsOf(t, rxeCorpus, "write/dealloc-pd-is-cq")
	r := rs[0]
	require.Equal(t, "object/wrong-type", r.Decided.Rule)
	require.Contains(t, valueOf(r, "pd_handle"), "which is of type UVERBS_OBJECT_CQ")
	require.Equal(t, "UVERBS_OBJECT_PD", valueOf(r, "wanted"))
	require.Contains(t, valueOf(r, "objects of the file"), "UVERBS_OBJECT_CQ")
	require.Equal(t, []string{"pd_handle"}, decided(r))

	_, rs = refusalsOf(t, rxeCorpus, "write/dealloc-pd-unknown")
	require.Equal(t, "object/not-found", rs[0].Decided.Rule)
	require.Contains(t, valueOf(rs[0], "pd_handle"), "which no object of this file has")

	_, rs = refusalsOf(t, mistakes+"other-file.json", "")
	require.Equal(t, "0 UVERBS_OBJECT_PD", valueOf(rs[0], "in the other open file f"))
	require.Equal(t, "none", valueOf(rs[0], "objects of the file"))
}

// decided are the members that are marked.
func decided(r *explain.Refusal) (out []string) {
	for _, m := range r.Members {
		if m.Decided {
			out = append(out, m.Name)
		}
	}
	return out
}

// TestExplainVerifyHdr: the order of the checks is verify_hdr's in
// drivers/infiniband/core/uverbs_main.c, and the guilty member is the header's.
func TestExplainVerifyHdr(t *testing.T) {
	_, rs := refusalsOf(t, rxeCorpus, "write/ex-reserved")
	r := rs[0]
	of := func(list []explain.Check) (out []string) {
		for _, c := range list {
			if c.Func == "verify_hdr" {
				out = append(out, c.Rule)
			}
		}
		return out
	}
	require.Equal(t, []string{"write/ex-words", "write/request-short"}, of(r.Passed))
	next := of(r.Next)
	for _, id := range []string{"write/ex-no-response", "write/ex-no-out-words", "write/response-short", "write/ex-response-fault"} {
		require.Contains(t, next, id)
	}
	require.Less(t, slices.Index(next, "write/ex-no-out-words"), slices.Index(next, "write/response-short"))
	require.Less(t, slices.Index(next, "write/response-short"), slices.Index(next, "write/ex-response-fault"))
	require.Equal(t, []string{"cmd_hdr_reserved"}, decided(r))
}

// TestExplainUnreachable: behind a method that the device lacks there are no checks, and
// nothing is missing.
func TestExplainUnreachable(t *testing.T) {
	_, rs := refusalsOf(t, mistakes+"pruned.json", "")
	require.Equal(t, "method/unknown", rs[0].Decided.Rule)
	require.Empty(t, rs[0].Next)
	for _, a := range rs[0].Attributes {
		require.NotContains(t, []string{explain.Missing, explain.NotSent}, a.State)
	}
}

// TestExplainContents: the attribute whose contents were refused is refused.
func TestExplainContents(t *testing.T) {
	for _, file := range []string{"reserved-field", "buffer-address", "tail"} {
		_, rs := refusalsOf(t, mistakes+file+".json", "")
		for _, a := range rs[0].Attributes {
			if a.Index < 0 {
				continue
			}
			want := explain.Consumed
			if a.Name == "UVERBS_ATTR_UHW_IN" {
				want = explain.Refused
			}
			require.Equalf(t, want, a.State, "%s: %s", file, a.Name)
		}
	}
	_, rs := refusalsOf(t, mistakes+"reserved-field.json", "")
	require.Equal(t, []string{"reserved1"}, decided(rs[0]))
}

// TestExplainBuffer: create_cq_user pins entries * cqe_size bytes at buf_addr, with entries
// the power of two at or above cqe + 1, and the doorbell record's page after that.
func TestExplainBuffer(t *testing.T) {
	_, rs := refusalsOf(t, mistakes+"buffer-address.json", "")
	r := rs[0]
	require.Equal(t, "buf_addr", r.Decided.Of)
	require.Equal(t, []string{"buf_addr"}, decided(r))
	require.Equal(t, "an address that is not mapped (recorded as bad)", valueOf(r, "buf_addr"))
	require.Equal(t, "268435456 bytes", valueOf(r, "its length")) // 4194304 of 64
	at := map[string]bool{}
	for _, c := range r.Next {
		if c.Rule == "pin/unmapped" {
			at[c.Of] = true
		}
	}
	require.Equal(t, map[string]bool{"db_addr": true}, at)
}

// TestExplainWriteRemedy: a write() command has the driver's part behind the core's, and
// in_words counts both and the header in words of 4.
func TestExplainWriteRemedy(t *testing.T) {
	_, rs := refusalsOf(t, mistakes+"uhw-short.json", "")
	require.Equal(t, []string{
		"Pass struct mlx5_ib_create_cq, 32 bytes, behind the 32 bytes of struct ib_uverbs_create_cq.",
		"in_words = 18, which is 72 bytes: 8 of the header, 32 and 32.",
	}, rs[0].Accepted)
	_, rs = refusalsOf(t, rxeCorpus, "write/in-words-long")
	require.Equal(t, "write/words", rs[0].Decided.Rule)
	// ALLOC_PD: 8 bytes of header and 8 of struct ib_uverbs_alloc_pd.
	require.Contains(t, rs[0].Accepted, "in_words 4 goes with 16 bytes.")
}

// TestExplainLookups: create_qp looks up the indirection table if comp_mask says so, the queue for the
// receives if it is another one, the one for the sends, and the PD. CREATE_QP has no comp_mask, and an
// EX_CREATE_QP of 48 bytes ends before it: the kernel takes it for 0 (uverbs_request).
func TestExplainLookups(t *testing.T) {
	_, plain := refusalsOf(t, rxeCorpus, "qp/write-unknown-pd")
	f, err := os.Open(filepath.Join("../../sim_test/corpus", rxeCorpus))
	require.NoError(t, err)
	defer f.Close()
	var short *casefile.Case
	for c, err := range casefile.Read(f, rxeCorpus) {
		require.NoError(t, err)
		if c.Name == "qp/ex-create" {
			short = c
		}
	}
	require.NotNil(t, short)
	call := &short.Steps[len(short.Steps)-1]
	w := call.Do.(*casefile.Write)
	w.Data = w.Data[:24+48]
	w.Data[4] = 48 / 8 // in_words
	w.Reloc = slices.DeleteFunc(w.Reloc, func(r casefile.Reloc) bool { return r.At == 32 })
	w.Data[32] = 99 // pd_handle
	call.Got = nil
	told, _ := explainCase(nil, short)
	require.Empty(t, told.Error)

	for name, r := range map[string]*explain.Refusal{"plain": plain[0], "short": told.Steps[len(told.Steps)-1].Refusals[0]} {
		require.Equal(t, "object/not-found", r.Decided.Rule, name)
		require.Equal(t, "99, which no object of this file has", valueOf(r, "pd_handle"), name)
		require.Equal(t, "UVERBS_OBJECT_PD", valueOf(r, "wanted"), name)
		lookups := 0
		for _, c := range r.Passed {
			if c.Rule == "object/not-found" {
				require.Empty(t, c.Where, name)
				lookups++
			}
		}
		require.Equal(t, 1, lookups, "%s: one queue for both", name)
		for _, c := range slices.Concat(r.Passed, r.Next) {
			require.NotEqual(t, "cmd-qp/ind-table", c.Rule, name)
		}
	}
}

// TestExplainQuestion: libibverbs asks by QUERY_DEVICE without buffers whether the kernel
// has INVOKE_WRITE. That is told in the line of the step, which names the command.
func TestExplainQuestion(t *testing.T) {
	const probe = `{"v":1,"name":"ask","driver":"mlx5","steps":[{"op":"open","fd":"f"},{"op":"ioctl","fd":"f",` +
		`"hdr":{"object_id":0,"method_id":0},"attrs":[{"id":2,"len":8,"flags":1,"data":1}]}]}`
	out, err := execute(newExplainCmd(), probe, "-")
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(out), " "),
		"step 1: ioctl f UVERBS_METHOD_INVOKE_WRITE IB_USER_VERBS_CMD_QUERY_DEVICE: ENOSPC: a question of libibverbs")
	require.NotContains(t, out, "refused by")
}

// TestExplainBrief: what refused each call and what would be accepted, and no more.
func TestExplainBrief(t *testing.T) {
	out, err := execute(newExplainCmd(), "", "--brief", filepath.Join("../../sim_test/corpus", mistakes, "reserved-field.json"))
	require.NoError(t, err)
	for _, s := range []string{"refused by", "values", "accepted"} {
		require.Contains(t, out, s)
	}
	for _, s := range []string{"passed before", "not reached", "attributes", "step 0", "<-", "?"} {
		require.NotContains(t, out, s)
	}
}

// TestExplainLegend: what the marks mean is said once, at the end.
func TestExplainLegend(t *testing.T) {
	out, err := execute(newExplainCmd(), "", "--only", "write/dealloc-pd", filepath.Join("../../sim_test/corpus", rxeCorpus))
	require.NoError(t, err)
	require.Greater(t, strings.Count(out, "\ncase "), 0, "several cases")
	require.Equal(t, 1, strings.Count(out, "\n<- "))
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 110, line)
	}
}
