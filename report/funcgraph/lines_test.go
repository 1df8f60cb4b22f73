package funcgraph_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/funcgraph"
	"uverbsim/spec"
	"uverbsim/trace"
)

// specs are of attributes of each sort.
var specs = []any{
	nil,
	&spec.Attr{ID: 1, Name: "UVERBS_ATTR_CREATE_CQ_CQE", Type: spec.TypePtrIn, CType: "u32", Len: 4, MinLen: 4, Mandatory: true},
	&spec.Attr{ID: 0, Name: "UVERBS_ATTR_CREATE_CQ_HANDLE", Type: spec.TypeIDR, Object: spec.UVERBS_OBJECT_CQ, Access: spec.AccessNew},
	&spec.Attr{ID: 0x1003, Name: "MLX5_IB_ATTR_FLOW", Type: spec.TypeIDRsArray, Object: spec.UVERBS_OBJECT_CQ, MinItems: 1, MaxItems: 4, ZeroTrailing: true},
}

// TestLines: a line of JSON is the event's Record, whatever the event.
func TestLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"", "alloc_uobj", "uverbs_uobject_put", `"quoted" \ `, "a\nb\x01", "größer", "write/too-short"}
	var l funcgraph.Lines
	for range 5000 {
		e := trace.Event{Kind: trace.Kind(rng.IntN(int(trace.Warn) + 1)), Name: names[rng.IntN(len(names))]}
		if e.Kind <= trace.Leave {
			e.Module, e.Inlined = trace.Uverbs, rng.IntN(2) == 0
		} else {
			e.A, e.B, e.C = rng.Uint64()>>rng.IntN(64), rng.Uint64()>>rng.IntN(64), rng.Uint64()>>rng.IntN(64)
		}
		if e.Kind == trace.Attr {
			e.Spec = specs[rng.IntN(len(specs))]
		}
		var task *trace.Task
		if rng.IntN(5) > 0 {
			task = &trace.Task{ID: rng.IntN(3)}
		}
		want, err := json.Marshal(struct {
			Event funcgraph.Record `json:"event"`
		}{funcgraph.NewRecord(task, &e)})
		require.NoError(t, err)
		got := l.Append(nil, task, &e)
		require.Equal(t, byte('\n'), got[len(got)-1])
		require.JSONEq(t, string(want), string(got))
	}
}

func TestAppendHex(t *testing.T) {
	for _, v := range []uint64{0, 1, 15, 16, 0xff, 0x7ffff7fed000, 1<<63 - 1, 1<<64 - 1} {
		require.Equal(t, "x"+strconv.FormatUint(v, 16), string(funcgraph.AppendHex([]byte("x"), v)))
	}
}

// TestTexts: names that fall on the same places have their own texts.
func TestTexts(t *testing.T) {
	var texts funcgraph.Texts
	form := func(name, other string) []byte { return []byte(name + "/" + other) }
	for range 3 {
		for i := range 3000 {
			name, other := fmt.Sprint("name", i), fmt.Sprint(i%7)
			require.Equal(t, name+"/"+other, string(texts.Get(name, other, form)))
		}
	}
	require.Equal(t, "/", string(texts.Get("", "", form)))
}

// TestNotes has each kind of note as it is printed.
func TestNotes(t *testing.T) {
	for want, e := range map[string]trace.Event{
		"24 bytes from the user at 0x7ffff7fee000":                                {Kind: trace.CopyIn, A: 0x7ffff7fee000, B: 24, C: 24},
		"24 bytes from the user at 0x1000: fault after 8":                         {Kind: trace.CopyIn, A: 0x1000, B: 24, C: 8},
		"4 bytes to the user at 0x1000":                                           {Kind: trace.CopyOut, A: 0x1000, B: 4, C: 4},
		"40 bytes cleared for the user at 0x1000":                                 {Kind: trace.Clear, A: 0x1000, B: 40, C: 40},
		"tree: method key 0x001840 (obj 3 method 0), shift 6: slot 33":            {Kind: trace.Node, Name: "method", A: 0x1840, B: 6, C: 33},
		"attribute 2: unknown, id 0x77, 8 bytes":                                  {Kind: trace.Attr, Name: "unknown", A: 0x77, B: 8, C: 2},
		"attribute 1: CQE, id 0x1, 4 bytes; spec: PTR_IN u32, 4 bytes, mandatory": {Kind: trace.Attr, Name: "CQE", A: 1, B: 4, C: 1, Spec: specs[1]},
		"lock lists_mutex":    {Kind: trace.Lock, Name: "lists_mutex"},
		"unlock lists_mutex":  {Kind: trace.Unlock, Name: "lists_mutex"},
		"CQ 3: references +1": {Kind: trace.Ref, Name: "CQ", A: 3, B: 1},
		"CQ 3: references -1": {Kind: trace.Ref, Name: "CQ", A: 3, B: 1<<64 - 1},
		"ib_pd: use count 2":  {Kind: trace.Usecnt, Name: "ib_pd", B: 2},
		"CQ 3: use count -1":  {Kind: trace.Usecnt, Name: "CQ", A: 3, B: 1<<64 - 1},
		"CQ: number 3 taken":  {Kind: trace.Handle, Name: "CQ", A: 3, B: 1},
		"CQ: number 3 free":   {Kind: trace.Handle, Name: "CQ", A: 3},
		"firmware: CREATE_CQ (0x400): status 3, syndrome 0x9": {Kind: trace.Firmware, Name: "CREATE_CQ", A: 0x400, B: 3, C: 9},
		"DMA: cqe, 64 bytes written at 0x2000":                {Kind: trace.DMA, Name: "cqe", A: 0x2000, B: 64, C: 1},
		"DMA: qp doorbell record, 4 bytes read at 0x2000":     {Kind: trace.DMA, Name: "qp doorbell record", A: 0x2000, B: 4},
		"refused: attr/duplicate, EINVAL":                     {Kind: trace.Refuse, Name: "attr/duplicate", A: 22},
		"refused: no rule of ours":                            {Kind: trace.Refuse, Name: "no rule of ours"},
		"WARN in alloc_commit_idr_uobject":                    {Kind: trace.Warn, Name: "alloc_commit_idr_uobject"},
	} {
		require.Equal(t, want, string(funcgraph.AppendNote(nil, &e)))
	}
}
