package interleave

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"uverbsim/trace"
)

// World is what one execution happens in.
type World struct {
	// Calls run against each other, each in a task of its own. What they share they
	// reach through points of the Sink that the world was made with.
	Calls []func()
	// Skip are names of locks behind which nothing happens that counts: what is done
	// under one of them is part of what was done before.
	Skip []string
	// Release lets calls go on that wait for what no other call brings: it
	// interrupts a read, or closes a file that a removal waits for. Without it a
	// state in which all that are left wait is a deadlock.
	Release func()
	// Leave has calls that wait for ever end where they are.
	Leave bool
	// End is called when all calls have returned, with those that had to be
	// released. It closes what is open and says what came of the execution. An
	// error is something that must never be.
	End func(waited []bool) (outcome string, err error)
}

// Program makes a fresh world whose tasks report to s.
type Program func(s trace.Sink) (*World, error)

// thing is something that tasks share.
type thing struct {
	on any
	n  uint64
}

// access is what an event does to a thing, which has a number in the order in
// which the things of an execution were first met.
type access struct {
	effect trace.Effect
	thing  int
	frees  bool
}

// event is one operation, with all that its task did up to the next one.
type event struct {
	task  int
	waits bool     // it was one that could have had to wait
	own   int      // how many of the accesses are its own; the others are releases behind it
	acc   []access // none is shared with another event
}

// pending is what a task is about to do.
type pending struct {
	event
	ready func() bool
	what  string
	where string
}

func (p *pending) enabled() bool { return p.ready == nil || p.ready() }

// task is one of the calls.
type task struct {
	wake   chan struct{}
	next   pending
	over   bool
	waited bool
	panics error
}

// chooser says which of the tasks that can go on does. At least one can.
type chooser func(r *run, enabled []bool) int

// run is one execution. It is the Sink of the world's tasks. Only one task runs
// at a time, and whatever it reports, it is the one.
type run struct {
	choose chooser
	skip   []string

	tasks   []*task
	cur     int
	active  bool // tasks stop at their points
	opening bool // each runs to its first point
	leave   bool // who is woken ends
	stopped chan struct{}
	things  map[thing]int
	events  []event

	warned  string // the function that met what the kernel WARNs about
	verbose bool
	lines   []string
}

var (
	_ trace.Scheduler = (*run)(nil)
	_ trace.Observer  = (*run)(nil)
)

// Event implements trace.Sink.
func (r *run) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind == trace.Warn {
		r.warned = e.Name
	}
}

// Wants implements trace.Filter: nothing is looked at but the points, and what the
// kernel WARNs about.
func (r *run) Wants(k trace.Kind, _ bool) bool { return k == trace.Warn }

// Before implements trace.Scheduler.
func (r *run) Before(t *trace.Task, p *trace.Point) {
	if !r.active || slices.Contains(r.skip, p.Name) {
		return
	}
	switch {
	case p.Quiet:
		r.note(t, p)
		if n := len(r.events); n > 0 && !r.opening {
			e := &r.events[n-1]
			e.acc = append(e.acc, r.access(p.Access, p.Frees))
		}
	case p.Effect == trace.Nothing && p.Ready == nil:
		r.note(t, p)
	default:
		me := r.tasks[r.cur]
		me.next = r.pending(t, p)
		r.pass(me)
	}
}

// Turned implements trace.Observer.
func (r *run) Turned(_ *trace.Task, e trace.Effect) {
	if !r.active || len(r.events) == 0 {
		return
	}
	r.events[len(r.events)-1].acc[0].effect = e
	if r.verbose {
		r.lines[len(r.lines)-1] += map[trace.Effect]string{trace.Reads: "   in vain", trace.Writes: "   the last"}[e]
	}
}

func (r *run) access(a trace.Access, frees bool) access {
	k := thing{a.On, a.N}
	n, ok := r.things[k]
	if !ok {
		n = len(r.things)
		r.things[k] = n
	}
	return access{a.Effect, n, frees}
}

func (r *run) pending(t *trace.Task, p *trace.Point) pending {
	n := pending{event: event{task: r.cur, waits: p.Ready != nil, own: 1}, ready: p.Ready, what: p.Verb + " " + p.Name}
	n.acc = append(make([]access, 0, 2), r.access(p.Access, p.Frees))
	if p.Also.On != nil {
		n.acc = append(n.acc, r.access(p.Also, false))
		n.own = 2
	}
	if r.verbose {
		n.where = where(t)
	}
	return n
}

// where names the function that a task is in.
func where(t *trace.Task) string {
	f := t.Functions()
	if len(f) == 0 {
		return ""
	}
	return f[len(f)-1]
}

func name(task int) string { return string(rune('a' + task)) }

// note writes down an operation that is no choice.
func (r *run) note(t *trace.Task, p *trace.Point) {
	if r.verbose {
		n := r.access(p.Access, false).thing
		r.lines = append(r.lines, fmt.Sprintf("      %s  %-34s #%-4d %s", name(r.cur), p.Verb+" "+p.Name, n, where(t)))
	}
}

// grant begins the operation that a task is about to do.
func (r *run) grant(i int) *task {
	k := r.tasks[i]
	r.cur = i
	r.events = append(r.events, k.next.event)
	if r.verbose {
		r.lines = append(r.lines, fmt.Sprintf("%4d  %s  %-34s #%-4d %s", len(r.events), name(i), k.next.what, k.next.acc[0].thing, k.next.where))
	}
	return k
}

// next chooses who goes on; nil ends the execution.
func (r *run) next() *task {
	enabled, some := make([]bool, len(r.tasks)), false
	for i, k := range r.tasks {
		enabled[i] = !k.over && k.next.enabled()
		some = some || enabled[i]
	}
	if some {
		return r.grant(r.choose(r, enabled))
	}
	r.active = false
	close(r.stopped)
	return nil
}

// pass lets the scheduler choose before the running task does what it is about to
// do, and returns when it is to do it.
func (r *run) pass(me *task) {
	if r.opening {
		r.stopped <- struct{}{}
	} else if next := r.next(); next == me {
		return
	} else if next != nil {
		next.wake <- struct{}{}
	}
	if <-me.wake; r.leave {
		runtime.Goexit()
	}
}

func (r *run) play(me *task, call func(), all *sync.WaitGroup) {
	defer all.Done()
	<-me.wake
	defer func() {
		if v := recover(); v != nil {
			me.panics = fmt.Errorf("a panic: %v\n%s", v, debug.Stack())
		}
		me.over = true
		if !r.active {
			return
		}
		if r.opening {
			r.stopped <- struct{}{}
		} else if next := r.next(); next != nil {
			next.wake <- struct{}{}
		}
	}()
	call()
}

// watchdog is how long a task may be away from the scheduler.
const watchdog = 20 * time.Second

// execution is what came of a run.
type execution struct {
	outcome string
	err     error // what must never be
}

// execute runs the world's calls to their end.
func (r *run) execute(p Program) (x execution) {
	r.things = map[thing]int{}
	w, err := p(r)
	if err != nil {
		return execution{err: err}
	}
	r.skip = w.Skip
	var all sync.WaitGroup
	for range w.Calls {
		r.tasks = append(r.tasks, &task{wake: make(chan struct{}, 1)})
	}
	r.active, r.opening = true, true
	r.stopped = make(chan struct{})
	timer := time.NewTimer(watchdog)
	defer timer.Stop()
	for i, call := range w.Calls {
		r.cur = i
		all.Add(1)
		go r.play(r.tasks[i], call, &all)
		r.tasks[i].wake <- struct{}{}
		if !within(r.stopped, timer) {
			return execution{err: r.away()}
		}
	}
	r.opening, r.stopped = false, make(chan struct{})
	if k := r.next(); k != nil {
		k.wake <- struct{}{}
	}
	if !within(r.stopped, timer) {
		return execution{err: r.away()}
	}
	var waiting []string
	waited := make([]bool, len(r.tasks))
	for i, k := range r.tasks {
		if !k.over {
			waited[i], k.waited = true, true
			waiting = append(waiting, name(i)+" before "+k.next.what)
		}
	}
	if len(waiting) > 0 {
		if w.Release == nil && !w.Leave {
			return execution{err: fmt.Errorf("a deadlock: %s", strings.Join(waiting, ", "))}
		}
		r.leave = w.Leave
		for _, k := range r.tasks {
			if !k.over {
				k.wake <- struct{}{}
			}
		}
	}
	done := make(chan struct{})
	go func() {
		if len(waiting) > 0 && !w.Leave {
			w.Release() // may itself wait for a lock that a call has left held
		}
		all.Wait()
		close(done)
	}()
	if !within(done, timer) {
		return execution{err: fmt.Errorf("released, a call does not return: %s\n%s", strings.Join(waiting, ", "), stacks())}
	}
	for i, k := range r.tasks {
		if k.panics != nil {
			return execution{err: fmt.Errorf("%s: %w", name(i), k.panics)}
		}
	}
	x.outcome, x.err = w.End(waited)
	if x.err == nil && r.warned != "" {
		x.err = fmt.Errorf("%s: %s WARNs", x.outcome, r.warned)
	}
	return x
}

func within(done <-chan struct{}, timer *time.Timer) bool {
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

func (r *run) away() error {
	return fmt.Errorf("task %s does not come back to the scheduler: it waits for something that is no point\n%s", name(r.cur), stacks())
}

func stacks() string {
	b := make([]byte, 1<<16)
	return string(b[:runtime.Stack(b, true)])
}
