package sim_test

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// How times are compared. Other work on the machine only ever makes a run
// slower, so each thing is run many times for a short time, all things in turn,
// and its least time counts; for two threads pair.cores says what does. A test that
// does not hold yet goes on for a while before it fails: a virtual processor may
// share its units with another one for tens of seconds.
const (
	runTime     = 200 * time.Microsecond // about
	firstRounds = 50
	longest     = 45 * time.Second
	nap         = time.Millisecond
)

// calls is something to measure: it makes n calls.
type calls func(n int)

// fit returns how many calls take about the time of a run.
func (c calls) fit() int {
	for n := 1; ; n *= 2 {
		var took least
		for range 10 {
			took.take(c.time(n))
		}
		if took >= least(runTime/2) {
			return n
		}
	}
}

func (c calls) time(n int) time.Duration {
	start := time.Now()
	c(n)
	return time.Since(start)
}

// both is how long it takes two threads to make n calls each, from when the
// first of them starts until the second one is ready. They start when both are
// on a processor; false is that this did not happen for a while.
func both(one, two calls, n int) (time.Duration, bool) {
	type span struct{ start, end time.Time }
	var g gate
	run := func(c calls, who int32) (s span, met bool) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer g.ball.Store(gateClosed) // where a call fails nobody waits for its thread
		time.Sleep(nap)                // who has slept is given a processor at once
		c(n/4 + 1)                     // and finds its cache full of others' things
		if !g.meet(who) {
			return s, false
		}
		s.start = time.Now()
		c(n)
		s.end = time.Now()
		return s, true
	}
	done := make(chan span, 1)
	go func() {
		var s span
		defer func() { done <- s }()
		s, _ = run(two, 1)
	}()
	a, met := run(one, 0)
	b := <-done
	if b.start.Before(a.start) {
		a.start = b.start
	}
	if b.end.After(a.end) {
		a.end = b.end
	}
	return a.end.Sub(a.start), met
}

// gate is where two threads meet: they hand a ball to and fro, and when that
// went fast for a while both are on a processor.
type gate struct {
	ball atomic.Int32 // whose turn it is; closed for nobody's any more
	open bool         // both may go on; who closes says so
}

const (
	gateClosed = 2
	fastPass   = 2 * time.Microsecond
	fastPasses = 8
)

// meet is thread who's part, 0 or 1. Both get the same answer.
func (g *gate) meet(who int32) bool {
	const patience = 5 * time.Millisecond
	begin := time.Now()
	last := begin
	for fast := 0; ; {
		switch g.ball.Load() {
		case gateClosed:
			return g.open
		case who:
		default:
			continue
		}
		now := time.Now()
		if fast++; now.Sub(last) > fastPass {
			fast = 0
		}
		last = now
		if who == 0 && (fast == fastPasses || now.Sub(begin) > patience) {
			g.open = fast == fastPasses
			g.ball.Store(gateClosed)
			return g.open
		}
		g.ball.Store(1 - who)
	}
}

// rounds runs round until enough says that the least times will do, or for the
// longest time that a test may take, and returns whether they did.
func rounds(round func(), enough func() bool) bool {
	begin := time.Now()
	for i := 0; i < firstRounds || time.Since(begin) < longest; i++ {
		round()
		if i >= firstRounds && enough() {
			return true
		}
	}
	return enough()
}

// least is the least of several times.
type least time.Duration

func (l *least) take(d time.Duration) {
	if *l == 0 || least(d) < *l {
		*l = least(d)
	}
}

func over(a, b least) float64 { return float64(a) / float64(b) }

// pair has the times of one thread and of two that make n calls each.
type pair struct {
	one, two       calls
	n              int
	single, double times
}

func newPair(one, two calls) *pair {
	p := &pair{one: one, two: two, n: one.fit()}
	two(p.n)
	return p
}

func (p *pair) round() {
	p.one(p.n/4 + 1) // as before the gate
	p.single.add(p.one.time(p.n))
	if d, met := both(p.one, p.two, p.n); met {
		p.double.add(d)
	}
}

// cores is how many times the calls of one thread the two make in the same time;
// 0 where they never ran together.
//
// The units of a processor may be another's in most of the rounds, and that both
// processors have theirs is rarer still than that one has. So the least times of two
// are not to be had of as many rounds as those of one, while the usual ones agree, or
// the other way about. What the two do to each other they do in every round: times are
// compared at several of their quantiles, and the best comparison counts.
func (p *pair) cores() (most float64) {
	if len(p.double) == 0 {
		return 0
	}
	for tenth := range 6 {
		most = max(most, 2*float64(p.single.at(tenth))/float64(p.double.at(tenth)))
	}
	return most
}

// times are in order.
type times []time.Duration

func (t *times) add(d time.Duration) {
	i, _ := slices.BinarySearch(*t, d)
	*t = slices.Insert(*t, i, d)
}

// at is the time that so many tenths of all are less than.
func (t times) at(tenth int) time.Duration { return t[len(t)*tenth/10] }

// report lists what a benchmark found beside its time, sorted by name.
func report(b *testing.B, metrics map[string]float64) {
	names := make([]string, 0, len(metrics))
	for name := range metrics {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.ReportMetric(metrics[name], name)
	}
}
