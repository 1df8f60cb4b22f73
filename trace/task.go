package trace

import "time"

// Sink receives the events of tasks. A Sink shared by several tasks is called
// by several goroutines at once.
type Sink interface {
	Event(t *Task, e *Event)
}

// Batcher is a Sink that takes a task's events several at a time, which costs
// less. A task hands over what it has whenever another task could see that it
// has come so far: when its outermost function is left, before a lock is taken
// or released, before a reference or a use count is changed, and where it says
// so itself (Task.Flush). So what tasks do to one another is told in the order
// in which they did it.
type Batcher interface {
	Sink
	// Events is Event for each of them in turn. The slice is valid only during
	// the call.
	Events(t *Task, events []Event)
}

// Filter is a Sink that does not want all events: those of some kinds, and of
// functions that are inlined, need not be made.
type Filter interface {
	Wants(k Kind, inlined bool) bool
}

// Timer is a Sink that wants to know when an event happened: its clock is read
// for each of them.
type Timer interface {
	Now() time.Duration
}

// Injector is a Sink that also makes steps fail. Fail is asked before each
// step; when it answers true the step fails as the kernel's would.
type Injector interface {
	Fail(t *Task, s Step, what string) bool
}

// Task is one thread of execution as the seam sees it: it serves one goroutine
// at a time. A nil *Task reports nothing and never fails.
type Task struct {
	ID int

	stack []call // functions entered and not yet left

	// The events that a Batcher has yet to be told of; nil for another sink, which
	// is told of event at once.
	batch *[batchSize]Event
	kept  uint
	room  uint // how many are kept in the usual way; 0 where each event takes the long one (next)
	event Event

	wants    uint32 // bit k: events of kind k
	inlined  bool   // inlined functions too
	sink     Sink
	batcher  Batcher
	timer    Timer
	fail     Injector
	sched    Scheduler
	observer Observer
}

// batchSize is how many events a task keeps for a Batcher at most, a power of two.
const batchSize = 64

// call is a function of the kernel.
type call struct {
	module, name string
	inlined      bool
}

// NewTask returns a task that reports to sink. Where sink also implements
// Batcher, Filter, Timer, Injector or Scheduler it is asked for those too.
func NewTask(id int, sink Sink) *Task {
	t := &Task{ID: id, sink: sink, wants: 1<<(Warn+1) - 1, inlined: true}
	if f, ok := sink.(Filter); ok {
		for k := range Warn + 1 {
			if !f.Wants(k, false) {
				t.wants &^= 1 << k
			}
		}
		t.inlined = f.Wants(Enter, true)
	}
	t.batcher, _ = sink.(Batcher)
	t.timer, _ = sink.(Timer)
	t.fail, _ = sink.(Injector)
	t.sched, _ = sink.(Scheduler)
	t.observer, _ = sink.(Observer)
	if t.batcher != nil {
		t.batch = new([batchSize]Event)
		if t.timer == nil {
			t.room = batchSize
		}
	}
	return t
}

// Span is a function that was entered and has yet to be left.
type Span struct{ t *Task }

// Enter reports that the kernel function name of module is entered. Use it as
//
//	defer t.Enter(trace.Uverbs, "alloc_uobj").Leave()
//
// A function that every refused call goes through asks for a task first, which
// spares it the deferred call where there is none:
//
//	if t != nil {
//		defer t.Enter(trace.Uverbs, "ib_uverbs_ioctl").Leave()
//	}
func (t *Task) Enter(module, name string) Span {
	if t != nil {
		t.enter(module, name, false)
	}
	return Span{t}
}

// EnterInlined is Enter for a function that the compiler inlined in the
// recorded kernels, so that it is absent from their traces.
func (t *Task) EnterInlined(module, name string) Span {
	if t != nil && t.inlined {
		t.enter(module, name, true)
		return Span{t}
	}
	return Span{}
}

func (t *Task) enter(module, name string, inlined bool) {
	t.stack = append(t.stack, call{module, name, inlined})
	var e *Event
	if n := t.kept; n < t.room {
		e = &t.batch[n%batchSize]
		t.kept = n + 1
	} else {
		e = t.next()
	}
	e.Kind, e.Inlined, e.Module, e.Name = Enter, inlined, module, name
	if t.batch == nil {
		t.sink.Event(t, e)
	}
}

// Leave reports that the function is left.
func (s Span) Leave() {
	if s.t != nil {
		s.t.leave()
	}
}

func (t *Task) leave() {
	last := len(t.stack) - 1
	c := &t.stack[last]
	t.stack = t.stack[:last]
	var e *Event
	if n := t.kept; n < t.room {
		e = &t.batch[n%batchSize]
		t.kept = n + 1
	} else {
		e = t.next()
	}
	e.Kind, e.Inlined, e.Module, e.Name = Leave, c.inlined, c.module, c.name
	if t.batch == nil {
		t.sink.Event(t, e)
	} else if last == 0 {
		t.Flush()
	}
}

// Note reports an event with its three numbers; see Kind for their meaning.
func (t *Task) Note(k Kind, name string, a, b, c uint64) {
	if t != nil {
		t.note(k, name, a, b, c, nil)
	}
}

// NoteAttr reports an attribute with what the method says of it, a *spec.Attr or nil.
func (t *Task) NoteAttr(name string, spec any, id, length, index uint64) {
	if t != nil {
		t.note(Attr, name, id, length, index, spec)
	}
}

func (t *Task) note(k Kind, name string, a, b, c uint64, spec any) {
	if t.wants>>k&1 == 0 {
		return
	}
	var e *Event
	if n := t.kept; n < t.room {
		e = &t.batch[n%batchSize]
		t.kept = n + 1
	} else {
		e = t.next()
	}
	e.Kind, e.Inlined, e.Module, e.Name = k, false, "", name
	e.A, e.B, e.C = a, b, c
	if k == Attr {
		e.Spec = spec
	}
	if t.batch == nil {
		t.sink.Event(t, e)
	} else if len(t.stack) == 0 {
		t.Flush()
	}
}

// next returns the event that is to be filled in. Where there is room its callers
// take it themselves, which is cheaper than this call.
func (t *Task) next() *Event {
	if t.batch == nil {
		t.event = Event{}
		if t.timer != nil {
			t.event.Time = t.timer.Now()
		}
		return &t.event
	}
	if t.kept == batchSize {
		t.Flush()
	}
	e := &t.batch[t.kept%batchSize]
	t.kept++
	if t.timer != nil {
		e.Time = t.timer.Now()
	}
	return e
}

// Flush hands over the events that the task has kept. Who is going to wait for
// something that is no lock calls it before.
func (t *Task) Flush() {
	if t != nil && t.kept > 0 {
		n := t.kept
		t.kept = 0
		t.batcher.Events(t, t.batch[:n])
	}
}

// Fail asks whether the step shall fail.
func (t *Task) Fail(s Step, what string) bool {
	return t != nil && t.fail != nil && t.fail.Fail(t, s, what)
}

// Cut asks whether a copy of n bytes shall fail, and returns how many of them may
// be copied: none, some, or all. One of no bytes cannot fail.
func (t *Task) Cut(what string, n int) int {
	if t == nil || t.fail == nil || n == 0 {
		return n
	}
	return t.cut(what, n)
}

func (t *Task) cut(what string, n int) int {
	switch {
	case t.fail.Fail(t, Copy, what):
		return 0
	case n > 1 && t.fail.Fail(t, Middle, what):
		return n / 2
	}
	return n
}

// Functions are the names of the functions that are entered and not yet left, the
// outermost first.
func (t *Task) Functions() []string {
	if t == nil {
		return nil
	}
	names := make([]string, len(t.stack))
	for i := range t.stack {
		names[i] = t.stack[i].name
	}
	return names
}

// Warn reports that the function name met a state that the kernel WARNs about.
func (t *Task) Warn(name string) { t.Note(Warn, name, 0, 0, 0) }
