package interleave

import (
	"errors"
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
// kernel was seen to have, by the errnos of its threads, and those that are beyond.
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

// held are the recorded cases in which the driver holds a call until others were made.
var held = sync.OnceValues(func() ([]*casefile.Case, error) {
	return casefile.ReadFile("../corpus/linux-6.12-hold.jsonl")
})

// errRecorded ends an exploration.
var errRecorded = errors.New("this is what was recorded")

// TestHeld: what a real kernel answered while the driver held a call is an outcome of
// the same calls when nobody is held.
func TestHeld(t *testing.T) {
	cases, err := held()
	require.NoError(t, err)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			own, want := released(c)
			r := Explore(Case(own, func(e *Ending) (string, error) {
				if e.Calls() == want {
					return want, errRecorded
				}
				return e.Calls(), nil
			}), Options{Preemptions: 3, Executions: 20000})
			require.ErrorIs(t, r.Err, errRecorded, "%q was recorded, and among %d interleavings there are %v", want, r.Executions, outcomes(r))
			t.Logf("%s: schedule %q, behind %d others", want, r.Schedule, r.Executions)
		})
	}
}

// released is such a case without the driver's help: each call that was held is a
// thread, and so are those that were made meanwhile, together. Their recorded answers
// come with it. A call that goes on only when later ones have come waits.
func released(c *casefile.Case) (own *casefile.Case, want string) {
	at := slices.IndexFunc(c.Steps, func(s casefile.Step) bool { _, ok := s.Do.(*casefile.Hold); return ok })
	answers := map[string]*casefile.Got{} // of those that were held
	var names []string
	var threads [][]casefile.Step
	var meanwhile []casefile.Step
	var got []casefile.Got
	free, later := false, false
	for _, s := range c.Steps[at+1:] {
		switch s.Do.(type) {
		case *casefile.Release:
			free = true
			continue
		case *casefile.Join:
			if !later {
				answers[s.Bg] = s.Got
			}
			continue
		}
		switch {
		case s.Bg != "":
			names = append(names, s.Bg)
			s.Bg = ""
			threads = append(threads, []casefile.Step{s})
		case free:
			later = true
		default:
			meanwhile = append(meanwhile, s)
			got = append(got, *s.Got)
		}
	}
	var e Ending
	for _, name := range names {
		a := answers[name]
		if e.Waited = append(e.Waited, a == nil); a == nil {
			a = new(casefile.Got)
		}
		e.Par = append(e.Par, []casefile.Got{*a})
	}
	if len(meanwhile) > 0 {
		threads, e.Par, e.Waited = append(threads, meanwhile), append(e.Par, got), append(e.Waited, false)
	}
	own = new(*c)
	own.Steps = append(slices.Clone(c.Steps[:at]), casefile.Step{Do: &casefile.Par{Threads: threads}})
	return own, e.Calls()
}
