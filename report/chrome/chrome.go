package chrome

import (
	"io"
	"strconv"
	"sync"
	"time"

	"uverbsim/report/funcgraph"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Options say what is written.
type Options struct {
	// Clock, when set, is what steps get their times from, and events have those of
	// trace.Timed with the same clock. Nil is the logical clock: one microsecond for
	// each event.
	Clock func() time.Duration
	// NoInlined leaves out the functions that the compiler inlined in the recorded
	// kernels, NoNotes all that is no function.
	NoInlined, NoNotes bool
}

// The threads that are no thread of a program: the one of the steps, and those of
// the tasks without an ID, which are the device and the kernel's own work. They are
// numbers that no task has.
const (
	stepThread = 1<<22 + iota
	machineThread
)

// Writer is a trace.Sink that writes events as they come. An error of the writer
// ends the writing and is kept.
type Writer struct {
	w    io.Writer
	opts Options

	mu      sync.Mutex
	buf     []byte
	err     error
	begun   bool // an event was written
	closed  bool
	pid     int
	process string
	now     ticks
	threads []*thread
	cur     *thread // who had the last event
	calls   funcgraph.Texts
	notes   funcgraph.Texts
	specs   map[*spec.Attr][]byte
}

// thread is a task in one process.
type thread struct {
	t     *trace.Task
	id    int
	depth int
	last  time.Duration
	tail  []byte // `,"pid":1,"tid":1,"ts":`
}

// ticks is the logical clock, as decimal digits: to count on is cheaper than to
// convert.
type ticks []byte

func (t *ticks) next() {
	d := *t
	for i := len(d) - 1; i >= 0; i-- {
		if d[i] < '9' {
			d[i]++
			return
		}
		d[i] = '0'
	}
	*t = append([]byte{'1'}, d...)
}

var _ trace.Batcher = (*Writer)(nil)

// New returns a writer to w. Close ends what it writes.
func New(w io.Writer, opts Options) *Writer {
	return &Writer{w: w, opts: opts, pid: 1, specs: map[*spec.Attr][]byte{}}
}

// Process begins another process: what comes now is of another machine.
func (w *Writer) Process(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaveAll()
	if w.process != "" || w.threads != nil {
		w.pid++
	}
	w.threads, w.cur, w.process = nil, nil, name
	w.metadata("process_name", 0, name)
	w.write()
}

// Step begins a step, End ends it: a span in a thread of its own.
func (w *Writer) Step(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	th := w.steps()
	w.leave(th)
	w.begin(`{"ph":"B"`, th, w.time())
	w.buf = append(w.buf, `,"cat":"step","name":"`...)
	w.buf = append(funcgraph.AppendText(w.buf, name), `"}`...)
	th.depth++
	w.write()
}

// Answer ends the step that was begun last, with what came of it.
func (w *Writer) Answer(answer string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	th := w.steps()
	if th.depth == 0 {
		return
	}
	w.begin(`{"ph":"E"`, th, w.time())
	w.buf = append(w.buf, `,"args":{"answer":"`...)
	w.buf = append(funcgraph.AppendText(w.buf, answer), `"}}`...)
	th.depth--
	w.write()
}

// Wants implements trace.Filter: what the options leave out need not be made.
func (w *Writer) Wants(k trace.Kind, inlined bool) bool {
	switch k {
	case trace.Enter, trace.Leave:
		return !inlined || !w.opts.NoInlined
	}
	return !w.opts.NoNotes
}

// Event writes one event.
func (w *Writer) Event(t *trace.Task, e *trace.Event) {
	w.mu.Lock()
	w.event(t, e)
	w.write()
	w.mu.Unlock()
}

// Events writes events.
func (w *Writer) Events(t *trace.Task, events []trace.Event) {
	w.mu.Lock()
	for i := range events {
		w.event(t, &events[i])
	}
	w.write()
	w.mu.Unlock()
}

// Err returns the first error of the writer.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close ends the array. Functions that were not left are left now.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.leaveAll()
		if !w.begun {
			w.buf = append(w.buf, '[')
		}
		w.buf = append(w.buf, "\n]\n"...)
		w.write()
		w.closed = true
	}
	return w.err
}

func (w *Writer) event(t *trace.Task, e *trace.Event) {
	th := w.cur
	if th == nil || th.t != t {
		th = w.task(t)
		w.cur = th
	}
	at := e.Time
	switch e.Kind {
	case trace.Enter:
		if e.Inlined && w.opts.NoInlined {
			return
		}
		th.depth++
		w.begin(`{"ph":"B"`, th, at)
		b := append(w.buf, w.calls.Get(e.Name, e.Module, callForm)...)
		if e.Inlined {
			b = append(b, `,"args":{"inlined":"yes"}`...)
		}
		w.buf = append(b, '}')
	case trace.Leave:
		if th.depth == 0 || e.Inlined && w.opts.NoInlined {
			return
		}
		th.depth--
		w.begin(`{"ph":"E"`, th, at)
		w.buf = append(w.buf, '}')
	default:
		if !w.opts.NoNotes {
			w.note(th, e, at)
		}
	}
}

// callForm makes what a function's event says of it.
func callForm(name, module string) []byte {
	b := append([]byte(`,"cat":"`), module...)
	b = append(b, `","name":"`...)
	return append(funcgraph.AppendText(b, name), '"')
}

// noteForm makes what another event says, up to its arguments.
func noteForm(name, kind string) []byte {
	b := append([]byte(`,"cat":"`), kind...)
	b = append(b, `","name":"`...)
	b = append(b, kind...)
	if name != "" {
		b = funcgraph.AppendText(append(b, ' '), name)
	}
	return append(b, `","args":{`...)
}

// note writes an event that is none of a function.
func (w *Writer) note(th *thread, e *trace.Event, at time.Duration) {
	w.begin(`{"ph":"i","s":"t"`, th, at)
	b := append(w.buf, w.notes.Get(e.Name, funcgraph.KindName(e.Kind), noteForm)...)
	b = funcgraph.AppendNumbers(b, e)
	if a, ok := e.Spec.(*spec.Attr); ok && e.Kind == trace.Attr {
		b = append(b, ',')
		b = append(b, w.spec(a, e)...)
	}
	w.buf = append(b, "}}"...)
}

// spec returns the argument that is an attribute's spec, made once for each.
func (w *Writer) spec(a *spec.Attr, e *trace.Event) []byte {
	b := w.specs[a]
	if b == nil {
		b = append(funcgraph.AppendText([]byte(`"spec":"`), funcgraph.SpecText(e)), '"')
		w.specs[a] = b
	}
	return b
}

// begin begins an event, after the one before it. A thread's times do not go back.
func (w *Writer) begin(what string, th *thread, at time.Duration) {
	w.next()
	b := append(w.buf, what...)
	b = append(b, th.tail...)
	if w.opts.Clock == nil {
		w.now.next()
		w.buf = append(b, w.now...)
		return
	}
	th.last = max(at, th.last)
	us := th.last / time.Microsecond
	b = strconv.AppendInt(b, int64(us), 10)
	if ns := th.last % time.Microsecond; ns != 0 {
		b = append(b, '.', byte('0'+ns/100), byte('0'+ns/10%10), byte('0'+ns%10))
	}
	w.buf = b
}

func (w *Writer) next() {
	if w.begun {
		w.buf = append(w.buf, ",\n"...)
		return
	}
	w.buf = append(w.buf, "[\n"...)
	w.begun = true
}

// task returns the thread of a task.
func (w *Writer) task(t *trace.Task) *thread {
	machine := machineThread
	for _, th := range w.threads {
		if th.t == t && th.id != stepThread {
			return th
		}
		if th.id >= machineThread {
			machine = th.id + 1
		}
	}
	if t == nil || t.ID == 0 {
		return w.newThread(t, machine, "device and kernel")
	}
	return w.newThread(t, t.ID, "task "+strconv.Itoa(t.ID))
}

// steps returns the thread of the steps.
func (w *Writer) steps() *thread {
	for _, th := range w.threads {
		if th.id == stepThread {
			return th
		}
	}
	return w.newThread(nil, stepThread, "steps")
}

// newThread adds a thread, with its name.
func (w *Writer) newThread(t *trace.Task, id int, name string) *thread {
	th := &thread{t: t, id: id}
	th.tail = []byte(`,"pid":` + strconv.Itoa(w.pid) + `,"tid":` + strconv.Itoa(id) + `,"ts":`)
	w.threads = append(w.threads, th)
	w.metadata("thread_name", id, name)
	return th
}

// metadata writes a name. A process has no thread.
func (w *Writer) metadata(what string, tid int, name string) {
	w.next()
	b := append(w.buf, `{"ph":"M","pid":`...)
	b = strconv.AppendInt(b, int64(w.pid), 10)
	if tid != 0 {
		b = append(b, `,"tid":`...)
		b = strconv.AppendInt(b, int64(tid), 10)
	}
	b = append(b, `,"name":"`...)
	b = append(b, what...)
	b = append(b, `","args":{"name":"`...)
	w.buf = append(funcgraph.AppendText(b, name), `"}}`...)
}

// time is the time of an event that is none of a task.
func (w *Writer) time() time.Duration {
	if w.opts.Clock != nil {
		return w.opts.Clock()
	}
	return 0
}

// leave ends what a thread has not ended.
func (w *Writer) leave(th *thread) {
	for ; th.depth > 0; th.depth-- {
		w.begin(`{"ph":"E"`, th, w.time())
		w.buf = append(w.buf, '}')
	}
}

func (w *Writer) leaveAll() {
	for _, th := range w.threads {
		w.leave(th)
	}
}

func (w *Writer) write() {
	if len(w.buf) > 0 && w.err == nil && !w.closed {
		_, w.err = w.w.Write(w.buf)
	}
	w.buf = w.buf[:0]
}
