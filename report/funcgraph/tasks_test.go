package funcgraph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/funcgraph"
	"uverbsim/trace"
)

// TestTasks: each task keeps its place, and a switch is told.
func TestTasks(t *testing.T) {
	var b strings.Builder
	p := funcgraph.New(&b, funcgraph.Options{})
	one, two := trace.NewTask(1, p), trace.NewTask(2, p)
	outer := one.Enter(trace.Uverbs, "ib_uverbs_ioctl")
	inner := one.Enter(trace.Uverbs, "ib_uverbs_cmd_verbs")
	one.Flush()
	two.Enter(trace.Uverbs, "ib_uverbs_close").Leave()
	inner.Leave()
	one.Flush()
	p.Comment("step 1")
	outer.Leave()
	require.Equal(t, `ib_uverbs_ioctl [ib_uverbs]() {
  ib_uverbs_cmd_verbs [ib_uverbs]() {
 ------------------------------------------
 0)   task-1    =>   task-2
 ------------------------------------------
ib_uverbs_close [ib_uverbs]();
 ------------------------------------------
 0)   task-2    =>   task-1
 ------------------------------------------
  } /* ib_uverbs_cmd_verbs [ib_uverbs] */
# step 1
} /* ib_uverbs_ioctl [ib_uverbs] */
`, b.String())
}

func TestRecord(t *testing.T) {
	for want, e := range map[string]trace.Event{
		`{"task":7,"kind":"enter","name":"alloc_uobj","module":"ib_uverbs","inlined":true}`:                          {Kind: trace.Enter, Module: trace.Uverbs, Name: "alloc_uobj", Inlined: true},
		`{"task":7,"kind":"copy_in","numbers":{"address":"0x7ffff7fee000","bytes":"24","copied":"0"}}`:               {Kind: trace.CopyIn, A: 0x7ffff7fee000, B: 24},
		`{"task":7,"kind":"usecnt","name":"CQ","numbers":{"id":"3","value":"-1"}}`:                                   {Kind: trace.Usecnt, Name: "CQ", A: 3, B: 1<<64 - 1},
		`{"task":7,"kind":"handle","name":"fd","numbers":{"number":"5","taken":"1"}}`:                                {Kind: trace.Handle, Name: "fd", A: 5, B: 1},
		`{"task":7,"kind":"refuse","name":"attr/duplicate","numbers":{"errno":"22"}}`:                                {Kind: trace.Refuse, Name: "attr/duplicate", A: 22},
		`{"task":7,"kind":"lock","name":"uobjects_lock"}`:                                                            {Kind: trace.Lock, Name: "uobjects_lock"},
		`{"task":7,"kind":"firmware","name":"CREATE_CQ","numbers":{"opcode":"0x400","status":"0","syndrome":"0x0"}}`: {Kind: trace.Firmware, Name: "CREATE_CQ", A: 0x400},
	} {
		got, err := json.Marshal(funcgraph.NewRecord(&trace.Task{ID: 7}, &e))
		require.NoError(t, err)
		require.JSONEq(t, want, string(got))
	}
}

// TestRecordKinds: no kind of event is without a name.
func TestRecordKinds(t *testing.T) {
	for k := trace.Enter; k <= trace.Warn; k++ {
		require.NotEmpty(t, funcgraph.NewRecord(nil, &trace.Event{Kind: k}).Kind, k)
	}
}
