package interleave

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

// recorded are the cases whose threads a real kernel ran at once, many times.
var recorded = sync.OnceValues(func() ([]*casefile.Case, error) {
	var all []*casefile.Case
	for _, name := range []string{"linux-6.12-par", "linux-6.12-removal-par"} {
		cases, err := casefile.ReadFile("../corpus/" + name + ".jsonl")
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
})

// beyond are outcomes that are possible and that the recordings do not have, with the
// reason why they are.
var beyond = map[string]map[string]string{
	"par/destroy-vs-query": {"EBUSY 0": "the query has the object shared when the destroy wants it exclusively: " +
		"uverbs_try_lock_object takes it only from 0 to -1"},
}

// TestCorpus: of each recorded case the explored outcomes are those that the real
// kernel was seen to have, by the errnos of its
// threads, and those that are beyond.
func TestCorpus(t *testing.T) {
	cases, err := recorded()
	require.NoError(t, err)
	total := 0
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			r := Explore(Case(c, func(e *Ending) (string, error) { return e.Calls(), nil }), Options{})
			require.NoErrorf(t, r.Err, "schedule %q", r.Schedule)
			require.True(t, r.Complete)
			par := slices.IndexFunc(c.Steps, func(s casefile.Step) bool { return s.GotAny != nil })
			want := map[string]bool{}
			for i := range c.Steps[par].GotAny {
				o := &c.Steps[par].GotAny[i].Got
				want[(&Ending{Par: o.Par, Waited: make([]bool, len(o.Par))}).Calls()] = true
			}
			for o := range want {
				require.Containsf(t, r.Outcomes, o, "recorded, and not explored")
			}
			for o, f := range r.Outcomes {
				require.Truef(t, want[o] || beyond[c.Name][o] != "", "%s was not recorded; schedule %q", o, f.Schedule)
			}
			for o := range beyond[c.Name] {
				require.Contains(t, r.Outcomes, o)
				require.False(t, want[o], "it was recorded")
			}
			t.Logf("%d interleavings explored, %d outcomes", r.Executions, len(r.Outcomes))
			total += r.Executions
		})
	}
	t.Logf("%d interleavings explored", total)
}
