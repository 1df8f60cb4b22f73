package interleave

import (
	"fmt"
	"slices"

	"uverbsim/trace"
)

// Options say how much is explored. The zero value is everything, by one
// representative of each class of equivalent interleavings.
type Options struct {
	// Every runs every interleaving, not one of each class.
	Every bool
	// Preemptions, when not 0, bounds how often a task that could go on is
	// interrupted.
	Preemptions int
	// Executions, when not 0, bounds how many there are.
	Executions int
}

// Found is an outcome.
type Found struct {
	N        int    // in how many executions
	Schedule string // of the first of them
}

// Result is what an exploration found.
type Result struct {
	Executions int // that ran to their end
	Abandoned  int // that turned out to be equivalent to an earlier one
	Operations int // of the longest
	Outcomes   map[string]*Found
	// Complete says that no bound was met.
	Complete bool
	// Err is what must never be, and Schedule the execution that it came in. The
	// exploration ends with it.
	Err      error
	Schedule string
}

// node is a state on the way of the execution at hand, and what is known of the
// ways on from there.
type node struct {
	enabled     []bool
	sleep       map[int]event // what was explored from an earlier state, and is the same from here
	done        map[int]event // what was explored from here
	backtrack   []bool        // what is to be explored from here
	chosen      int
	prev        int // who ran before, -1 at the start
	preemptions int // up to this state
}

// explorer goes through the interleavings in depth-first order.
type explorer struct {
	opts    Options
	path    []*node
	fixed   int // how many of the path are given
	abandon bool
	bounded bool // a choice was left out for the bound
	wrong   error
}

// Explore runs the interleavings of a program.
func Explore(p Program, opts Options) *Result {
	res := &Result{Outcomes: map[string]*Found{}}
	x := &explorer{opts: opts}
	for {
		x.abandon = false
		r := &run{choose: x.choose}
		got := r.execute(p)
		if got.err == nil {
			got.err = x.wrong
		}
		if got.err != nil {
			res.Err, res.Schedule = got.err, schedule(r.events)
			return res
		}
		if x.abandon {
			res.Abandoned++
		} else {
			res.Executions++
			res.Operations = max(res.Operations, len(r.events))
			res.note(got.outcome, r.events)
		}
		x.learn(r)
		if !x.advance() {
			res.Complete = !x.bounded
			return res
		}
		if opts.Executions > 0 && res.Executions+res.Abandoned >= opts.Executions {
			return res
		}
	}
}

func (res *Result) note(outcome string, events []event) {
	if f := res.Outcomes[outcome]; f != nil {
		f.N++
		return
	}
	res.Outcomes[outcome] = &Found{1, schedule(events)}
}

// choose follows the path and makes it longer.
func (x *explorer) choose(r *run, enabled []bool) int {
	at := len(r.events)
	if at > 0 && at <= len(x.path) && !x.abandon {
		x.path[at-1].done[x.path[at-1].chosen] = r.events[at-1]
	}
	if x.abandon {
		return keepOn(r, enabled)
	}
	if at < x.fixed {
		n := x.path[at]
		if !enabled[n.chosen] {
			x.wrong = fmt.Errorf("the same choices did not lead to the same state: operation %d, task %s", at+1, name(n.chosen))
			x.abandon = true
			return keepOn(r, enabled)
		}
		return n.chosen
	}
	n := x.extend(r, enabled)
	if n == nil {
		x.abandon = true
		return keepOn(r, enabled)
	}
	return n.chosen
}

// extend adds the state that the execution is in to the path; nil if all ways on
// from there were explored from elsewhere.
func (x *explorer) extend(r *run, enabled []bool) *node {
	n := &node{enabled: slices.Clone(enabled), sleep: map[int]event{}, done: map[int]event{}, backtrack: make([]bool, len(enabled)), prev: -1}
	if at := len(r.events); at > 0 {
		parent := x.path[at-1]
		e := &r.events[at-1]
		n.prev = e.task
		n.preemptions = parent.preemptions + parent.preempts(e.task)
		for _, from := range []map[int]event{parent.sleep, parent.done} {
			for t, other := range from {
				if t != e.task && !dependent(&other, e) {
					n.sleep[t] = other
				}
			}
		}
	}
	n.chosen = -1
	for i := range enabled {
		t := i
		if n.prev >= 0 { // who ran last goes on if it can
			t = (n.prev + i) % len(enabled)
		}
		if x.may(n, t) {
			n.chosen = t
			break
		}
	}
	if n.chosen < 0 {
		return nil
	}
	n.backtrack[n.chosen] = true
	if x.opts.Every {
		copy(n.backtrack, enabled)
	}
	x.path = append(x.path, n)
	return n
}

// preempts is 1 if a switch to t interrupts a task that could go on.
func (n *node) preempts(t int) int {
	if n.prev >= 0 && n.prev != t && n.enabled[n.prev] {
		return 1
	}
	return 0
}

// may says whether t can be chosen in a state.
func (x *explorer) may(n *node, t int) bool {
	if !n.enabled[t] {
		return false
	}
	if !x.opts.Every {
		if _, asleep := n.sleep[t]; asleep {
			return false
		}
	}
	if x.opts.Preemptions > 0 && n.preemptions+n.preempts(t) > x.opts.Preemptions {
		x.bounded = true
		return false
	}
	return true
}

// advance sets the path for the next execution; false when there is none.
func (x *explorer) advance() bool {
	for len(x.path) > 0 {
		n := x.path[len(x.path)-1]
		for t, wanted := range n.backtrack {
			if _, done := n.done[t]; wanted && !done && x.may(n, t) {
				n.chosen = t
				x.fixed = len(x.path)
				return true
			}
		}
		x.path = x.path[:len(x.path)-1]
	}
	return false
}

// dependent says whether a, which was possible in a state too, is another thing
// behind b. Of two references that are dropped the second can be the last, though
// either would not be if it came first.
func dependent(a, b *event) bool {
	for i := range a.acc {
		for j := range b.acc {
			x, y := a.acc[i].effect, b.acc[j].effect
			if a.acc[i].thing == b.acc[j].thing && (x.Matters(y) || x == trace.Drops && y == trace.Drops) {
				return true
			}
		}
	}
	return false
}

// history is an execution with the order that matters in it: clock[i][t] is how many
// events of task t happen before event i or are it.
type history struct {
	events []event
	clock  [][]int
	seq    []int           // of each event among those of its task
	last   []int           // of each task its last event so far, -1 for none
	users  map[int][]useOf // of each thing, in order
	tasks  int
}

// useOf is access number acc of an event.
type useOf struct{ event, acc int }

// learn finds the pairs of events that came in one order and could have come in
// the other, and notes where to try that.
func (x *explorer) learn(r *run) {
	if n := len(r.events); n > 0 && n <= len(x.path) && !x.abandon {
		x.path[n-1].done[x.path[n-1].chosen] = r.events[n-1]
	}
	if x.opts.Every {
		return
	}
	events := r.events
	if x.abandon { // behind the path nothing is to be learnt
		events = events[:min(len(events), len(x.path))]
	}
	h := &history{tasks: len(r.tasks), users: map[int][]useOf{}}
	for range r.tasks {
		h.last = append(h.last, -1)
	}
	for i := range events {
		e := &events[i]
		if i >= x.fixed-1 {
			x.races(h, e)
		}
		h.add(e)
	}
	if x.abandon {
		return
	}
	for _, k := range r.tasks { // what those that wait for ever were about to do
		if k.waited {
			x.races(h, &k.next.event)
		}
	}
}

// before says whether event i happens before one with that clock, or is it.
func (h *history) before(i int, clock []int) bool {
	return clock != nil && clock[h.events[i].task] >= h.seq[i]
}

// add appends an event.
func (h *history) add(e *event) {
	i := len(h.events)
	clock := h.clockOf(e)
	h.events = append(h.events, *e)
	seq := 1
	if p := h.last[e.task]; p >= 0 {
		seq = h.seq[p] + 1
	}
	clock[e.task] = seq
	h.seq = append(h.seq, seq)
	h.clock = append(h.clock, clock)
	h.last[e.task] = i
	for a := range e.acc {
		h.users[e.acc[a].thing] = append(h.users[e.acc[a].thing], useOf{i, a})
	}
}

// clockOf is what happens before an event that comes next.
func (h *history) clockOf(e *event) []int {
	clock := make([]int, h.tasks)
	join := func(i int) {
		for t, n := range h.clock[i] {
			clock[t] = max(clock[t], n)
		}
	}
	if p := h.last[e.task]; p >= 0 {
		join(p)
	}
	for _, a := range e.acc {
		for _, u := range h.users[a.thing] {
			if a.effect.Matters(h.events[u.event].acc[u.acc].effect) {
				join(u.event)
			}
		}
	}
	return clock
}

// races looks for events that could have come behind e, which comes next, though
// they came before it.
func (x *explorer) races(h *history, e *event) {
	var own []int // what happens before e whatever comes of its own accesses
	if p := h.last[e.task]; p >= 0 {
		own = h.clock[p]
	}
	for _, a := range e.acc[:e.own] {
		users := h.users[a.thing]
		for u := len(users) - 1; u >= 0; u-- {
			i := users[u].event
			other := &h.events[i]
			b := other.acc[users[u].acc]
			if other.task == e.task || !a.effect.Matters(b.effect) {
				continue
			}
			if e.waits && b.frees { // it could not have gone on before this
				continue
			}
			if !h.before(i, own) {
				x.reverse(h, i, e)
			}
			if b.effect == trace.Writes && users[u].acc < other.own {
				break // the order of those before that one and e follows from it
			}
		}
	}
}

// reverse has e tried before event i: from the state before i, one of the tasks goes
// first that have to for that.
func (x *explorer) reverse(h *history, i int, e *event) {
	n := x.path[i]
	first := make([]int, h.tasks) // of each task its first event that does not come behind i; -1 for none
	for t := range first {
		first[t] = -1
	}
	var rest []int
	for k := i + 1; k < len(h.events); k++ {
		if !h.before(i, h.clock[k]) {
			rest = append(rest, k)
			if t := h.events[k].task; first[t] < 0 {
				first[t] = k
			}
		}
	}
	initial := make([]bool, h.tasks)
	for t, k := range first {
		if k >= 0 {
			initial[t] = !slices.ContainsFunc(rest, func(o int) bool { return o < k && h.before(o, h.clock[k]) })
		}
	}
	if first[e.task] < 0 {
		clock := h.clockOf(e)
		initial[e.task] = !slices.ContainsFunc(rest, func(o int) bool { return h.before(o, clock) })
	}
	want := -1
	for t, ok := range initial {
		if !ok {
			continue
		}
		if n.backtrack[t] {
			return
		}
		if n.enabled[t] && (want < 0 || t == e.task) {
			want = t
		}
	}
	if want >= 0 {
		n.backtrack[want] = true
		return
	}
	copy(n.backtrack, n.enabled)
}
