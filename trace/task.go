package trace

// Sink receives the events of tasks. A Sink shared by several tasks is called
// by several goroutines at once.
type Sink interface {
	Event(t *Task, e *Event)
}

// Injector is a Sink that also makes steps fail. Fail is asked before each
// step; when it answers true the step fails as the kernel's would.
type Injector interface {
	Fail(t *Task, s Step, what string) bool
}

// Scheduler is a Sink that also chooses interleavings: Before is called before
// each lock is taken and each reference or use count is changed, and returns
// when the task may go on.
type Scheduler interface {
	Before(t *Task, k Kind, name string)
}

// Task is one thread of execution as the seam sees it: it serves one goroutine
// at a time. A nil *Task reports nothing and never fails.
type Task struct {
	ID int

	stack []call // functions entered and not yet left

	sink  Sink
	fail  Injector
	sched Scheduler
}

// call is a function of the kernel.
type call struct {
	module, name string
	inlined      bool
}

// NewTask returns a task that reports to sink. Where sink also implements
// Injector or Scheduler it is asked for those too.
func NewTask(id int, sink Sink) *Task {
	t := &Task{ID: id, sink: sink}
	t.fail, _ = sink.(Injector)
	t.sched, _ = sink.(Scheduler)
	return t
}

// Span is a function that was entered and has yet to be left.
type Span struct{ t *Task }

// Enter reports that the kernel function name of module is entered. Use it as
//
//	defer t.Enter(trace.Uverbs, "alloc_uobj").Leave()
func (t *Task) Enter(module, name string) Span {
	if t != nil {
		t.enter(call{module, name, false})
	}
	return Span{t}
}

// EnterInlined is Enter for a function that the compiler inlined in the
// recorded kernels, so that it is absent from their traces.
func (t *Task) EnterInlined(module, name string) Span {
	if t != nil {
		t.enter(call{module, name, true})
	}
	return Span{t}
}

func (t *Task) enter(c call) {
	t.stack = append(t.stack, c)
	t.sink.Event(t, &Event{Kind: Enter, Module: c.module, Name: c.name, Inlined: c.inlined})
}

// Leave reports that the function is left.
func (s Span) Leave() {
	if s.t != nil {
		s.t.leave()
	}
}

func (t *Task) leave() {
	last := len(t.stack) - 1
	c := t.stack[last]
	t.stack = t.stack[:last]
	t.sink.Event(t, &Event{Kind: Leave, Module: c.module, Name: c.name, Inlined: c.inlined})
}

// Note reports an event with its three numbers; see Kind for their meaning.
func (t *Task) Note(k Kind, name string, a, b, c uint64) {
	if t != nil {
		t.note(k, name, a, b, c)
	}
}

func (t *Task) note(k Kind, name string, a, b, c uint64) {
	t.sink.Event(t, &Event{Kind: k, Name: name, A: a, B: b, C: c})
}

// Before is a scheduling point: k is about to happen to the thing called name.
func (t *Task) Before(k Kind, name string) {
	if t != nil && t.sched != nil {
		t.sched.Before(t, k, name)
	}
}

// Fail asks whether the step shall fail.
func (t *Task) Fail(s Step, what string) bool {
	return t != nil && t.fail != nil && t.fail.Fail(t, s, what)
}

// Warn reports that the function name met a state that the kernel WARNs about.
func (t *Task) Warn(name string) { t.Note(Warn, name, 0, 0, 0) }
