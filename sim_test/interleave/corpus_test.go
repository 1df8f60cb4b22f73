package interleave

import (
	"fmt"
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

func TestCorpus(t *testing.T) {
	cases, err := recorded()
	require.NoError(t, err)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			r := Explore(Case(c, func(e *Ending) (string, error) { return e.Calls(), nil }), Options{Executions: 3000})
			t.Log(r.Executions, r.Abandoned, r.Operations, r.Complete, r.Err, r.Schedule)
			for o, f := range r.Outcomes {
				t.Log(o, f.N, f.Schedule)
			}
			par := slices.IndexFunc(c.Steps, func(s casefile.Step) bool { return s.GotAny != nil })
			for _, o := range c.Steps[par].GotAny {
				fmt.Println(o.N)
			}
		})
	}
}
