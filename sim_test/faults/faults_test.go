package faults_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/faults"
	"uverbsim/sim_test/suite"
	"uverbsim/trace"
)

var (
	shard  = flag.String("shard", "1/1", "i/n: play the i-th of n parts of what there is")
	update = flag.Bool("update", false, "choose the cases that stand for all, and write their names")
)

// sampleFile has the names of cases that come to every step in every way that any
// case does.
const sampleFile = "testdata/sample.txt"

// files are those of all cases: the recorded ones, and what programs ask for.
func files(t *testing.T) []string {
	t.Helper()
	corpus, err := filepath.Glob("../corpus/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, corpus)
	return append(corpus, "testdata/clients.jsonl", "../testdata/ftrace/cases.jsonl")
}

// named is a case with a name that is its own.
type named struct {
	name string
	*casefile.Case
}

// everyCase reads all cases.
func everyCase(t *testing.T) (list []named) {
	t.Helper()
	for _, f := range files(t) {
		read, err := casefile.ReadFile(f)
		require.NoError(t, err)
		for _, c := range read {
			list = append(list, named{strings.TrimSuffix(filepath.Base(f), ".jsonl") + ":" + c.Name, c})
		}
	}
	return list
}

// cases are this shard's of all cases, or of those that stand for them.
func cases(t *testing.T) (list []named) {
	t.Helper()
	every := everyCase(t)
	if !suite.All() {
		text, err := os.ReadFile(sampleFile)
		require.NoError(t, err)
		names := strings.Fields(string(text))
		every = slices.DeleteFunc(every, func(c named) bool { _, found := slices.BinarySearch(names, c.name); return !found })
		require.Len(t, every, len(names), "cases of %s", sampleFile)
	}
	mine := suite.InShard(t, *shard)
	for at, c := range every {
		if mine(at) {
			list = append(list, c)
		}
	}
	return list
}

// whole says whether nothing is left out.
func whole() bool { return *shard == "1/1" }

// way is a way in which a case comes to a step: the functions that it is in, the
// method, whether the call does its work without the fault, and whether others may be
// made at the same time or the device is an odd one, of which less can be said.
func way(run *faults.Run, p faults.Point) string {
	c, s := run.Calls[p.Call], run.Step(p)
	return fmt.Sprint(s.Kind, " ", s.What, " ", c.Name, " ", faults.Method(run.Case, c.Step), " ",
		strings.Join(s.Stack, " "), " ", c.Answer.Errno == 0, " ", run.Chance(), " ", run.Case.Device != nil)
}

// shown is an exception, or what it says of one of the functions that it is in either of.
type shown struct {
	*faults.Exception
	in string // that function; "" for the exception
}

// tally counts.
type tally struct {
	mu      sync.Mutex
	kinds   [trace.NumSteps]int
	goesOn  [trace.NumSteps]int
	ways    map[string]bool
	met     map[shown]bool
	effects map[*faults.Effect]bool
	lost    int
	told    map[string]int // by place
}

func newTally() *tally {
	return &tally{ways: map[string]bool{}, met: map[shown]bool{}, effects: map[*faults.Effect]bool{}, told: map[string]int{}}
}

// first says whether a way is new.
func (y *tally) first(way string) bool {
	known := y.ways[way]
	y.ways[way] = true
	return !known
}

func (y *tally) count(t *testing.T, name string, o *faults.Outcome) {
	t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, s := range o.Hits {
		y.kinds[s.Kind]++
		if o.Answer.Errno == o.Call.Answer.Errno {
			y.goesOn[s.Kind]++
		}
	}
	if e := o.Expected.Exception; e != nil {
		y.met[shown{e, ""}] = true
		for _, in := range e.Either {
			if slices.ContainsFunc(o.Hits, func(s faults.Step) bool { return s.In(in) }) {
				y.met[shown{e, in}] = true
			}
		}
	}
	for _, e := range o.Effects {
		y.effects[e] = true
	}
	if !o.Lost() {
		return
	}
	y.lost++
	place := ""
	if len(o.Hits) > 0 {
		place = o.Hits[len(o.Hits)-1].String()
	}
	if y.told[place]++; y.told[place] <= mostTold {
		t.Errorf("%s: %s", name, text(o))
	}
}

// mostTold is how many faults of one place are told of.
const mostTold = 2

func text(o *faults.Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "call %d (%s of step %d), faults", o.Points[0].Call, o.Call.Name, o.Call.Step)
	for i, s := range o.Hits {
		fmt.Fprintf(&b, " %d: %s %s in %s;", o.Points[i].N, s.Kind, s.What, strings.Join(s.Stack, " > "))
	}
	for _, line := range o.Trouble() {
		fmt.Fprintf(&b, "\n   %s", line)
	}
	return b.String()
}

func (y *tally) log(t *testing.T) {
	t.Helper()
	var b strings.Builder
	sum, on := 0, 0
	fmt.Fprintf(&b, "faults injected by kind:\n%-10s %9s %9s\n", "kind", "injected", "ignored")
	for k := range trace.NumSteps {
		fmt.Fprintf(&b, "%-10s %9d %9d\n", k, y.kinds[k], y.goesOn[k])
		sum, on = sum+y.kinds[k], on+y.goesOn[k]
	}
	fmt.Fprintf(&b, "%-10s %9d %9d\n", "all", sum, on)
	fmt.Fprintf(&b, "%d playings with something lost", y.lost)
	t.Log(b.String())
}

// runner plays the cases. A call that waits does so for a fraction of a second.
var runner = faults.Runner{Timeout: 30 * time.Second}

// atOnce is how many cases are played at once: some of them wait for time to pass.
func atOnce() int { return 4 * runtime.NumCPU() }

// TestFaults plays cases with one step failing: those that stand for all with each way
// to a step once, and with -all every case with each step.
func TestFaults(t *testing.T) {
	list := cases(t)
	runs := make([]*faults.Run, len(list))
	faults.Each(len(list), atOnce(), func(i int) { runs[i] = baseline(t, list[i]) })
	y := newTally()
	type job struct {
		of int
		faults.Point
	}
	var jobs []job
	for i, run := range runs {
		if run == nil {
			continue
		}
		for p := range run.Singles() {
			if y.first(way(run, p)) || suite.All() {
				jobs = append(jobs, job{i, p})
			}
		}
	}
	faults.Each(len(jobs), atOnce(), func(i int) {
		j := jobs[i]
		run, name := runs[j.of], list[j.of].name
		o := runner.Play(run, j.Point)
		switch {
		case o != nil:
			y.count(t, name, o)
		case !run.Chance():
			t.Errorf("%s: call %d does not come to its step %d again", name, j.Call, j.N)
		}
	})
	y.log(t)
	if whole() {
		checkTables(t, y)
	}
}

// baseline plays a case without faults. Nothing may be lost then.
func baseline(t *testing.T, c named) *faults.Run {
	t.Helper()
	run, err := runner.Baseline(c.Case)
	if err != nil {
		t.Errorf("%s: %v", c.name, err)
		return nil
	}
	if len(run.Unrest) > 0 {
		t.Errorf("%s: without a fault: %s", c.name, strings.Join(run.Unrest, "; "))
		return nil
	}
	if len(run.Lost) > 0 && !run.Refuses() {
		t.Errorf("%s: without a fault, when everything is closed: %s", c.name, strings.Join(run.Lost, "; "))
		return nil
	}
	return run
}

// checkTables looks for exceptions, and where every case was played for effects, that
// no case shows.
func checkTables(t *testing.T, y *tally) {
	t.Helper()
	for i := range faults.Exceptions {
		e := &faults.Exceptions[i]
		if !y.met[shown{e, ""}] {
			t.Errorf("no case shows this exception: %v in %v: %s", e.What, e.In, e.Why)
		}
		for _, in := range e.Either {
			if !y.met[shown{e, in}] {
				t.Errorf("no case shows this exception: %v in %s: %s", e.What, in, e.Why)
			}
		}
	}
	for i := range faults.Effects {
		if e := &faults.Effects[i]; suite.All() && !y.effects[e] && !e.Pair && !e.Chance {
			t.Errorf("no case shows this effect: %s", e.Why)
		}
	}
}

// TestSample looks whether the cases of the sample come to every step in every way that
// any case does, and with -update chooses them.
func TestSample(t *testing.T) {
	if !*update {
		suite.Long(t)
	}
	old, err := os.ReadFile(sampleFile)
	require.True(t, err == nil || *update, err)
	in := map[string]bool{}
	for _, name := range strings.Fields(string(old)) {
		in[name] = true
	}
	list := everyCase(t)
	ways, chance := make([]map[string]bool, len(list)), make([]bool, len(list))
	faults.Each(len(list), atOnce(), func(i int) { ways[i], chance[i] = waysOf(t, list[i].Case) })
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(ways[b]) - len(ways[a]) })
	seen := map[string]bool{}
	for i := range list {
		if in[list[i].name] && !*update {
			maps.Copy(seen, ways[i])
		}
	}
	var chosen, missing []string
	for _, i := range order {
		if chance[i] && !*update {
			continue // another run may come to other ways
		}
		n := len(seen)
		maps.Copy(seen, ways[i])
		if len(seen) > n {
			chosen = append(chosen, list[i].name)
			missing = append(missing, list[i].name)
		}
	}
	if *update {
		slices.Sort(chosen)
		require.NoError(t, os.WriteFile(sampleFile, []byte(strings.Join(chosen, "\n")+"\n"), 0o666))
		return
	}
	require.Emptyf(t, missing, "these cases come to steps in ways that no case of %s does: go test ./sim_test/faults -run TestSample -update", sampleFile)
}

// waysOf returns the ways in which a case comes to steps, and whether they are a
// matter of chance.
func waysOf(t *testing.T, c *casefile.Case) (ways map[string]bool, chance bool) {
	run, err := runner.Baseline(c)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return nil, false
	}
	ways = map[string]bool{}
	for p := range run.Singles() {
		ways[way(run, p)] = true
	}
	return ways, run.Chance()
}

// pairShare is which of the pairs are played unless all are: one in so many.
const pairShare = 11

// TestPairs plays, for each creating and destroying method and driver, cases that
// between them come to all of its steps, with each two steps failing in the same call.
// The second is one that the call comes to after the first has failed.
func TestPairs(t *testing.T) {
	type job struct {
		named
		run  *faults.Run
		call int
	}
	steps := func(j *job) []faults.Step { return j.run.Calls[j.call].Steps }
	var mu sync.Mutex
	found := map[string][]*job{}
	list := cases(t)
	faults.Each(len(list), atOnce(), func(i int) {
		c := list[i]
		run, err := runner.Baseline(c.Case)
		if err != nil || run.Chance() || len(run.Unrest) > 0 {
			return // TestFaults says so
		}
		for n, call := range run.Calls {
			if call.Answer.Errno != 0 || !faults.Creates(c.Case, call.Step) {
				continue
			}
			key := fmt.Sprint(c.Driver, " ", call.Name, " ", faults.Method(c.Case, call.Step))
			mu.Lock()
			found[key] = append(found[key], &job{c, run, n})
			mu.Unlock()
		}
	})
	require.NotEmpty(t, found)
	var jobs []*job
	for _, key := range slices.Sorted(maps.Keys(found)) {
		slices.SortFunc(found[key], func(a, b *job) int {
			return cmp.Or(len(steps(b))-len(steps(a)), strings.Compare(a.name, b.name), a.call-b.call)
		})
		seen := map[string]bool{}
		for _, j := range found[key] {
			before := len(seen)
			for _, s := range steps(j) {
				seen[fmt.Sprint(s.Kind, s.What, s.Where())] = true
			}
			if len(seen) > before {
				jobs = append(jobs, j)
			}
		}
	}
	y := newTally()
	share := suite.Share(pairShare)
	faults.Each(len(jobs), atOnce(), func(i int) {
		j := jobs[i]
		n := i
		for p, q := range runner.PairsOf(j.run, j.call) {
			if n++; n%share != 0 {
				continue
			}
			if o := runner.Play(j.run, p, q); o != nil {
				y.count(t, j.name, o)
			} else {
				t.Errorf("%s: call %d does not come to its steps %d and %d again", j.name, j.call, p.N, q.N)
			}
		}
	})
	for i := range faults.Effects {
		if e := &faults.Effects[i]; e.Pair && suite.All() && whole() && !y.effects[e] {
			t.Errorf("no pair shows this effect: %s", e.Why)
		}
	}
	t.Logf("%d methods and commands of the drivers, %d cases", len(found), len(jobs))
	y.log(t)
}
