package casefile_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

// answer reads the JSON of an answer.
func answer(t *testing.T, got string) *casefile.Got {
	t.Helper()
	c, err := casefile.Unmarshal([]byte(with(`"a":{"zero":8},"b":{"zero":8}`, `{"op":"close","fd":"f","got":`+got+`}`)))
	require.NoError(t, err)
	return c.Steps[1].Got
}

func TestCompare(t *testing.T) {
	type diff = casefile.Difference
	tests := []struct {
		name, want, got string
		diffs           []diff
	}{
		{"equal", `{"ret":0,"errno":""}`, `{"ret":0,"errno":""}`, nil},
		{"ret", `{"ret":0}`, `{"ret":-1}`, []diff{{"ret", "0", "-1"}}},
		{"any ret", `{"ret":"*"}`, `{"ret":77}`, nil},
		{"any ret on the other side", `{"ret":77}`, `{"ret":"*"}`, nil},
		{"blocked", `{"ret":"blocked"}`, `{"ret":"done"}`, []diff{{"ret", "blocked", "done"}}},
		{"errno", `{"ret":-1,"errno":"EINVAL"}`, `{"ret":-1,"errno":"EFAULT"}`, []diff{{"errno", "EINVAL", "EFAULT"}}},
		{"no errno and none wanted", `{"ret":0}`, `{"ret":0,"errno":""}`, []diff{{"errno", "absent", `""`}}},
		{"errno wanted", `{"ret":0,"errno":"EIO"}`, `{"ret":0}`, []diff{{"errno", "EIO", "absent"}}},
		{"attributes", `{"ret":0,"attrs":[{"flags":1,"data":"0x1"},{"flags":3,"data":"*"}]}`, `{"ret":0,"attrs":[{"flags":3,"data":"0x2"},{"flags":3,"data":"0x7f"}]}`,
			[]diff{{"attrs[0].flags", "1", "3"}, {"attrs[0].data", "0x1", "0x2"}}},
		{"fewer attributes", `{"ret":0,"attrs":[{"flags":1,"data":"0x1"}]}`, `{"ret":0}`, []diff{{"attrs", "length 1", "length 0"}}},
		{"bytes", `{"ret":0,"bufs":{"a":"0011","b":"ff"}}`, `{"ret":0,"bufs":{"a":"0012","b":"ff"}}`, []diff{{"bufs.a", "0011", "0012"}}},
		{"masked bytes", `{"ret":0,"bufs":{"a":"00**22**"}}`, `{"ret":0,"bufs":{"a":"0011**33"}}`, nil},
		{"bytes beside masked ones", `{"ret":0,"bufs":{"a":"00**22"}}`, `{"ret":0,"bufs":{"a":"001123"}}`, []diff{{"bufs.a", "00**22", "001123"}}},
		{"a wildcard is one byte", `{"ret":0,"bufs":{"a":"**"}}`, `{"ret":0,"bufs":{"a":"0011"}}`, []diff{{"bufs.a", "**", "0011"}}},
		{"any bytes", `{"ret":0,"bufs":{"a":"*"}}`, `{"ret":0,"bufs":{"a":"0011"}}`, nil},
		{"masked bytes are not an unmapped buffer", `{"ret":0,"bufs":{"a":"******"}}`, `{"ret":0,"bufs":{"a":"unmapped"}}`, []diff{{"bufs.a", "******", "unmapped"}}},
		{"buffers of one side", `{"ret":0,"bufs":{"b":"00"}}`, `{"ret":0,"bufs":{"a":"11"}}`, []diff{{"bufs.a", "absent", "11"}, {"bufs.b", "00", "absent"}}},
		{"revents", `{"ret":1,"revents":1}`, `{"ret":1,"revents":9}`, []diff{{"revents", "1", "9"}}},
		{"hex", `{"ret":2,"hex":"0011"}`, `{"ret":2,"hex":"0022"}`, []diff{{"hex", "0011", "0022"}}},
		{"text", `{"ret":0,"text":"a b"}`, `{"ret":0,"text":"a"}`, []diff{{"text", "a b", "a"}}},
		{"no text", `{"ret":0,"text":""}`, `{"ret":0}`, []diff{{"text", `""`, "absent"}}},
		{"completion", `{"ret":1,"wc":[{"wr_id":1,"status":0,"opcode":1,"vendor_err":"*","byte_len":3,"ex":4,"wc_flags":5}]}`,
			`{"ret":1,"wc":[{"wr_id":1,"status":5,"opcode":1,"vendor_err":9,"byte_len":3,"ex":4,"wc_flags":6}]}`,
			[]diff{{"wc[0].status", "0", "5"}, {"wc[0].wc_flags", "5", "6"}}},
		{"threads", `{"ret":0,"par":[[{"ret":0}],[{"ret":0},{"ret":-1,"errno":"EBUSY"}]]}`, `{"ret":0,"par":[[{"ret":0}],[{"ret":0},{"ret":-1,"errno":"ENOENT"}]]}`,
			[]diff{{"par[1][1].errno", "EBUSY", "ENOENT"}}},
		{"fewer answers of a thread", `{"ret":0,"par":[[{"ret":0}]]}`, `{"ret":0,"par":[[]]}`, []diff{{"par[0]", "length 1", "length 0"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want, got := answer(t, tt.want), answer(t, tt.got)
			require.Equal(t, tt.diffs, casefile.Compare(want, got))
			require.Equal(t, tt.diffs == nil, casefile.Same(want, got))
			require.Len(t, casefile.Compare(got, want), len(tt.diffs), "the other way round")
		})
	}
}

func TestDifferenceString(t *testing.T) {
	long := strings.Repeat("00", 40)
	tests := []struct {
		diff casefile.Difference
		want string
	}{
		{casefile.Difference{Path: "errno", Want: "", Got: "EINVAL"}, `errno: want "", got EINVAL`},
		{casefile.Difference{Path: "bufs.b", Want: "0011", Got: "0012"}, `bufs.b: want 0011, got 0012`},
		{casefile.Difference{Path: "bufs.b", Want: long + "01ff", Got: "**" + long[2:] + "02ff"}, `bufs.b at byte 40: want 01ff, got 02ff`},
		{casefile.Difference{Path: "bufs.b", Want: "01" + long, Got: "02" + long}, `bufs.b at byte 0: want 01000000000000000000000000000000…, got 02000000000000000000000000000000…`},
		{casefile.Difference{Path: "text", Want: long + "x", Got: long + "y"}, `text at byte 40: want x, got y`},
		{casefile.Difference{Path: "bufs.b", Want: long, Got: long + "00"}, `bufs.b: want ` + long + `, got ` + long + `00`},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.diff.String())
	}
}

func TestCompareAny(t *testing.T) {
	set := func(answers ...string) (l []casefile.Outcome) {
		for _, a := range answers {
			l = append(l, casefile.Outcome{N: 1, Got: *answer(t, a)})
		}
		return l
	}
	l := set(`{"ret":-1,"errno":"EBUSY"}`, `{"ret":0,"errno":"","text":"x"}`, `{"ret":0,"errno":"","bufs":{"a":"**"}}`)
	step := &casefile.Step{GotAny: l}
	for _, a := range []string{`{"ret":-1,"errno":"EBUSY"}`, `{"ret":0,"errno":"","text":"x"}`, `{"ret":0,"errno":"","bufs":{"a":"07"}}`} {
		require.Empty(t, casefile.CompareAny(l, answer(t, a)), a)
		require.Empty(t, step.Compare(answer(t, a)), a)
	}
	require.Equal(t, []casefile.Difference{{Path: "text", Want: "x", Got: "y"}}, casefile.CompareAny(l, answer(t, `{"ret":0,"errno":"","text":"y"}`)), "the nearest")
	require.Equal(t, []casefile.Difference{{Path: "errno", Want: "EBUSY", Got: "ENOENT"}}, step.Compare(answer(t, `{"ret":-1,"errno":"ENOENT"}`)))
	require.Empty(t, (&casefile.Step{}).Compare(answer(t, `{"ret":-1}`)), "not recorded")
	require.Len(t, (&casefile.Step{Got: answer(t, `{"ret":0}`)}).Compare(answer(t, `{"ret":-1}`)), 1)
}

func TestSameAnswers(t *testing.T) {
	got := func(ret string) *casefile.Step { return &casefile.Step{Got: answer(t, `{"ret":`+ret+`}`)} }
	set := func(rets ...string) *casefile.Step {
		s := &casefile.Step{}
		for _, r := range rets {
			s.GotAny = append(s.GotAny, casefile.Outcome{N: 1, Got: *answer(t, `{"ret":`+r+`}`)})
		}
		return s
	}
	tests := []struct {
		name string
		a, b *casefile.Step
		same bool
	}{
		{"one answer", got("0"), got("0"), true},
		{"another answer", got("0"), got("1"), false},
		{"one of a set", got("0"), set("1", "0"), true},
		{"none of a set", got("2"), set("1", "0"), false},
		{"a part of a set", set("0", "1"), set("1", "2", "0"), true},
		{"sets that overlap", set("0", "1"), set("1", "2"), false},
		{"any", set("0", "1"), got(`"*"`), true},
	}
	for _, tt := range tests {
		require.Equal(t, tt.same, casefile.SameAnswers(tt.a, tt.b), tt.name)
		require.Equal(t, tt.same, casefile.SameAnswers(tt.b, tt.a), tt.name)
	}
}

// TestKernelsDiffer compares two kernels' recordings of the same cases. What
// differs in the result is known: the access bits of memory regions,
// protection bits of the memory, and REREG_MR, which rxe learned later.
func TestKernelsDiffer(t *testing.T) {
	read := func(name string) map[string]*casefile.Case {
		cases, err := casefile.ReadFile(filepath.Join("../sim_test/corpus", name))
		require.NoError(t, err)
		m := map[string]*casefile.Case{}
		for _, c := range cases {
			m[c.Name] = c
		}
		return m
	}
	older, newer := read("linux-6.1-rxe.jsonl"), read("linux-6.12-rxe.jsonl")
	require.Len(t, older, len(newer))
	var inResult []string
	differ := 0
	for name, c := range newer {
		o := older[name]
		require.NotNil(t, o, name)
		var result, any bool
		for i := range c.Steps {
			d := c.Steps[i].Compare(o.Steps[i].Got)
			require.Equal(t, len(d) == 0, casefile.SameAnswers(&c.Steps[i], &o.Steps[i]))
			any = any || len(d) > 0
			result = result || slices.ContainsFunc(d, func(d casefile.Difference) bool { return d.Path == "ret" || d.Path == "errno" })
		}
		if any {
			differ++
		}
		if result {
			inResult = append(inResult, name)
		}
	}
	require.ElementsMatch(t, []string{
		"mr/access-80", "mr/access-100", "mr/noaccess", "mr/rereg-2", "mr/rereg-4", "mr/rereg-new-pd",
		"mr/rereg-trans-misaligned", "mr/rereg-bad-access", "mr/rereg-unknown-pd", "mr/rereg-handle-kept",
	}, inResult)
	require.Equal(t, 54, differ)
}
