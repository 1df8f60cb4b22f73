package interleave

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
	"uverbsim/trace"
)

// The programs of these tests are made of toys: words, a reference count, mutexes and
// a semaphore, with the points that the model has at such things.

// toy is what the tasks of a small program share.
type toy struct {
	words [2]atomic.Int32
	refs  atomic.Int32
	mu    [2]trace.Mutex
	sem   trace.RWSem
}

// step is one operation of a task. It returns what the task saw.
type step struct {
	name string
	do   func(w *toy, t *trace.Task) string
}

func load(i int) step {
	return step{fmt.Sprint("load ", i), func(w *toy, t *trace.Task) string {
		t.Point(trace.Word, "load", "word", trace.Reads, &w.words[i])
		return fmt.Sprint(w.words[i].Load())
	}}
}

func store(i, n int) step {
	return step{fmt.Sprint("store ", i, n), func(w *toy, t *trace.Task) string {
		t.Point(trace.Word, "store", "word", trace.Writes, &w.words[i])
		w.words[i].Store(int32(n))
		return ""
	}}
}

func count(i int) step {
	return step{fmt.Sprint("count ", i), func(w *toy, t *trace.Task) string {
		t.Point(trace.Word, "count", "word", trace.Counts, &w.words[i])
		w.words[i].Add(1)
		return ""
	}}
}

// increment is a load and a store: the bug that a lock is for.
func increment(i int) step {
	return step{fmt.Sprint("increment ", i), func(w *toy, t *trace.Task) string {
		t.Point(trace.Word, "load", "word", trace.Reads, &w.words[i])
		n := w.words[i].Load()
		t.Point(trace.Word, "store", "word", trace.Writes, &w.words[i])
		w.words[i].Store(n + 1)
		return ""
	}}
}

func locked(m int, s step) step {
	return step{fmt.Sprint("locked ", m, " ", s.name), func(w *toy, t *trace.Task) string {
		w.mu[m].Lock(t)
		defer w.mu[m].Unlock(t)
		return s.do(w, t)
	}}
}

func reading(s step) step {
	return step{"reading " + s.name, func(w *toy, t *trace.Task) string {
		w.sem.DownRead(t)
		defer w.sem.UpRead(t)
		return s.do(w, t)
	}}
}

func tryReading(s step) step {
	return step{"try " + s.name, func(w *toy, t *trace.Task) string {
		if !w.sem.TryDownRead(t) {
			return "refused"
		}
		defer w.sem.UpRead(t)
		return s.do(w, t)
	}}
}

func writing(s step) step {
	return step{"writing " + s.name, func(w *toy, t *trace.Task) string {
		w.sem.DownWrite(t)
		defer w.sem.UpWrite(t)
		return s.do(w, t)
	}}
}

func put() step {
	return step{"put", func(w *toy, t *trace.Task) string {
		t.Point(trace.Ref, "put", "refs", trace.Drops, &w.refs)
		if w.refs.Add(-1) == 0 {
			t.Turned(trace.Writes)
			return "last"
		}
		return ""
	}}
}

// use takes a reference unless the last is gone, and gives it back.
func use() step {
	return step{"use", func(w *toy, t *trace.Task) string {
		t.Point(trace.Ref, "get_unless_zero", "refs", trace.Reads, &w.refs)
		if w.refs.Load() == 0 {
			return "gone"
		}
		w.refs.Add(1)
		return "had " + put().do(w, t)
	}}
}

// await waits until a word is not zero.
func await(i int) step {
	return step{fmt.Sprint("await ", i), func(w *toy, t *trace.Task) string {
		t.PointAt(&trace.Point{Kind: trace.Word, Verb: "await", Name: "word", Access: trace.Access{Effect: trace.Reads, On: &w.words[i]},
			Ready: func() bool { return w.words[i].Load() != 0 }})
		return fmt.Sprint(w.words[i].Load())
	}}
}

// program makes one of tasks that do such steps. Its outcome is what each saw and
// what is left. Whoever waits for ever is an outcome too.
func program(tasks ...[]step) Program {
	return func(s trace.Sink) (*World, error) {
		w := new(toy)
		w.mu[0].Name, w.mu[1].Name, w.sem.Name = "mu0", "mu1", "sem"
		for _, steps := range tasks {
			for _, st := range steps {
				if st.name == "put" {
					w.refs.Add(1)
				}
			}
		}
		saw := make([][]string, len(tasks))
		world := &World{
			Leave: true,
			End: func(waited []bool) (string, error) {
				return fmt.Sprint(saw, w.words[0].Load(), w.words[1].Load(), w.refs.Load(), waited), nil
			},
		}
		for i, steps := range tasks {
			task := trace.NewTask(i, s)
			world.Calls = append(world.Calls, func() {
				for _, st := range steps {
					saw[i] = append(saw[i], st.do(w, task))
				}
			})
		}
		return world, nil
	}
}

func outcomes(r *Result) []string { return slices.Sorted(maps.Keys(r.Outcomes)) }

func text(tasks [][]step) string {
	var b strings.Builder
	for i, steps := range tasks {
		fmt.Fprintf(&b, "%s:", name(i))
		for _, s := range steps {
			fmt.Fprintf(&b, " %s;", s.name)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// same holds the reduction to the full enumeration.
func same(t *testing.T, tasks ...[]step) (reduced, every *Result) {
	t.Helper()
	reduced, every = Explore(program(tasks...), Options{}), Explore(program(tasks...), Options{Every: true})
	require.NoError(t, reduced.Err, text(tasks))
	require.NoError(t, every.Err, text(tasks))
	require.True(t, reduced.Complete)
	require.Equal(t, outcomes(every), outcomes(reduced), text(tasks))
	require.LessOrEqual(t, reduced.Executions, every.Executions)
	return reduced, every
}

// TestCounts: how many classes there are is known by hand.
func TestCounts(t *testing.T) {
	for _, tc := range []struct {
		name           string
		tasks          [][]step
		classes, every int
	}{
		{"two loads", [][]step{{load(0)}, {load(0)}}, 1, 2},
		{"a load and a store", [][]step{{load(0)}, {store(0, 1)}}, 2, 2},
		{"two counts", [][]step{{count(0), count(0)}, {count(0)}}, 1, 3},
		{"different words", [][]step{{store(0, 1), store(0, 2)}, {store(1, 1), store(1, 2)}}, 1, 6},
		{"one word, two stores each", [][]step{{store(0, 1), store(0, 2)}, {store(0, 3), store(0, 4)}}, 6, 6},
		{"two sections", [][]step{{locked(0, store(0, 1))}, {locked(0, store(0, 2))}}, 2, 2},
		{"three sections", [][]step{{locked(0, load(0))}, {locked(0, load(0))}, {locked(0, load(0))}}, 6, 6},
		{"last put", [][]step{{put()}, {put()}}, 2, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reduced, every := same(t, tc.tasks...)
			require.Equal(t, tc.classes, reduced.Executions)
			require.Equal(t, tc.every, every.Executions)
		})
	}
}

// TestReduction: on small programs, made at random, the reduction finds the outcomes
// that all interleavings have.
func TestReduction(t *testing.T) {
	atoms := []func(rng *rand.Rand) step{
		func(rng *rand.Rand) step { return load(rng.IntN(2)) },
		func(rng *rand.Rand) step { return store(rng.IntN(2), 1+rng.IntN(3)) },
		func(rng *rand.Rand) step { return count(rng.IntN(2)) },
		func(rng *rand.Rand) step { return increment(0) },
		func(*rand.Rand) step { return put() },
		func(*rand.Rand) step { return put() },
		func(*rand.Rand) step { return use() },
		func(rng *rand.Rand) step { return await(rng.IntN(2)) },
	}
	wraps := []func(rng *rand.Rand, s step) step{
		func(_ *rand.Rand, s step) step { return s },
		func(_ *rand.Rand, s step) step { return s },
		func(rng *rand.Rand, s step) step { return locked(rng.IntN(2), s) },
		func(_ *rand.Rand, s step) step { return reading(s) },
		func(_ *rand.Rand, s step) step { return tryReading(s) },
		func(_ *rand.Rand, s step) step { return writing(s) },
		func(_ *rand.Rand, s step) step { return locked(0, locked(1, s)) },
		func(_ *rand.Rand, s step) step { return locked(1, locked(0, s)) },
	}
	rng := rand.New(rand.NewPCG(7, 11))
	total, all := 0, 0
	for range 1500 / suite.Share(10) {
		var tasks [][]step
		size := 3
		n := 2 + rng.IntN(2)
		if n == 3 {
			size = 1
		}
		for range n {
			var steps []step
			for range 1 + rng.IntN(size) {
				s := atoms[rng.IntN(len(atoms))](rng)
				steps = append(steps, wraps[rng.IntN(len(wraps))](rng, s))
			}
			tasks = append(tasks, steps)
		}
		reduced, every := same(t, tasks...)
		total += reduced.Executions
		all += every.Executions
	}
	t.Logf("%d interleavings explored in place of %d", total, all)
}

// TestPlantedBugs: what a lock is left out for is found, and so is a deadlock.
func TestPlantedBugs(t *testing.T) {
	good := Explore(program([]step{locked(0, increment(0))}, []step{locked(0, increment(0))}), Options{})
	require.Len(t, good.Outcomes, 1)
	bad := Explore(program([]step{locked(0, increment(0))}, []step{increment(0)}), Options{})
	require.Len(t, bad.Outcomes, 2, "an increment is lost")

	p := program([]step{locked(0, locked(1, load(0)))}, []step{locked(1, locked(0, load(0)))})
	deadlock := Explore(func(s trace.Sink) (*World, error) {
		w, err := p(s)
		w.Leave = false
		return w, err
	}, Options{})
	require.ErrorContains(t, deadlock.Err, "a deadlock: a before lock mu1, b before lock mu0")
	require.NotEmpty(t, deadlock.Schedule)

	// A count that is tested and then changed: two tasks may both see a last use.
	check := step{"put twice", func(w *toy, t *trace.Task) string {
		t.Point(trace.Ref, "load", "refs", trace.Reads, &w.refs)
		if w.refs.Load() == 0 {
			return "gone"
		}
		t.Point(trace.Ref, "put", "refs", trace.Writes, &w.refs)
		return fmt.Sprint(w.refs.Add(-1))
	}}
	below := Explore(program([]step{put()}, []step{check}), Options{})
	require.Contains(t, strings.Join(outcomes(below), "\n"), "-1", "the reference that is put twice")
}

// TestReplay: a schedule leads to the outcome that it was printed with.
func TestReplay(t *testing.T) {
	p := program([]step{locked(0, increment(0)), use()}, []step{increment(0), put(), put()})
	r := Explore(p, Options{})
	require.Greater(t, len(r.Outcomes), 3)
	for outcome, f := range r.Outcomes {
		got, lines, err := Replay(p, f.Schedule)
		require.NoError(t, err)
		require.Equal(t, outcome, got, f.Schedule)
		require.NotEmpty(t, lines)
	}
	stores := program([]step{store(0, 1), store(0, 2), store(0, 3)}, []step{store(0, 4)})
	for order, want := range map[string]string{
		"a4 b9":   "operation 4 of the schedule: a cannot go on there",
		"a b2 a":  "operation 3 of the schedule: b cannot go on there",
		"a b a2 ": "",
		"a b a3":  "operation 5 of the schedule: no call goes on there",
	} {
		_, _, err := Replay(stores, order)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, want)
	}
	outcome, lines, err := Replay(p, "a z3 c")
	require.EqualError(t, err, "there is no call z: the calls are a and b")
	require.Empty(t, outcome)
	require.Empty(t, lines)
	_, _, err = Replay(program([]step{put()}, []step{put()}, []step{put()}), "d")
	require.EqualError(t, err, "there is no call d: the calls are a, b and c")
	_, _, err = Replay(p, "a0")
	require.ErrorContains(t, err, "has no number of operations")
}

// TestBounds: a bound is told, and what is within it is explored.
func TestBounds(t *testing.T) {
	tasks := [][]step{{store(0, 1), store(0, 2), store(0, 3)}, {store(0, 4), store(0, 5), store(0, 6)}}
	all := Explore(program(tasks...), Options{})
	require.Equal(t, 20, all.Executions)
	require.True(t, all.Complete)
	one := Explore(program(tasks...), Options{Preemptions: 1})
	require.False(t, one.Complete)
	require.Equal(t, 6, one.Executions, "one task behind the other, or within it, after one or two of its stores")
	few := Explore(program(tasks...), Options{Executions: 3})
	require.False(t, few.Complete)
	require.Equal(t, 3, few.Executions)
}

// TestSchedule: what is written can be read.
func TestSchedule(t *testing.T) {
	events := []event{{task: 0}, {task: 0}, {task: 0}, {task: 1}, {task: 0}, {task: 2}, {task: 2}}
	require.Equal(t, "a3 b a c2", schedule(events))
	order, err := parse("a3 b a c2")
	require.NoError(t, err)
	require.Equal(t, []int{0, 0, 0, 1, 0, 2, 2}, order)
	for s, want := range map[string]string{
		"a3,b":         `"a3,b" has no number of operations, from 1, behind the call`,
		"a3 b-1":       `"b-1" has no number of operations, from 1, behind the call`,
		"a+1":          `"a+1" has no number of operations, from 1, behind the call`,
		"a3 3":         `"3" is no call, a to z, and how often`,
		"A3":           `"A3" is no call, a to z, and how often`,
		"ä3":           `"ä3" is no call, a to z, and how often`,
		"a1048577":     `"a1048577": more than 1048576 operations`,
		"a1048576 b":   `"b": more than 1048576 operations`,
		"a99999999999": `"a99999999999": more than 1048576 operations`,
	} {
		_, err := parse(s)
		require.EqualError(t, err, want)
	}
}
