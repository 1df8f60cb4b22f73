// Package funcgraph prints the events of a trace as ftrace's function_graph
// tracer prints the calls of a real kernel, so that the two can be laid side
// by side; and it has the record of an event as JSON.
package funcgraph

import (
	"io"
	"strconv"
	"strings"
	"sync"

	"uverbsim/spec"
	"uverbsim/trace"
)

// Options say what is printed besides the calls. The zero value prints what
// ftrace prints.
type Options struct {
	// Notes adds what happens inside of the functions, as comments: copies,
	// nodes of the tree, attributes, handles, firmware commands, DMA, refusals.
	Notes bool
	// Inlined adds the functions that the compiler inlined in the recorded
	// kernels, marked as such.
	Inlined bool
	// Locks adds locks, references and use counts to the notes.
	Locks bool
	// Indent begins every line.
	Indent string
}

// Printer is a trace.Sink that prints as events come. Events of several tasks
// are printed in the order in which they come, and where another task goes on
// that is said, as ftrace says it for a processor. An error of the writer ends
// the printing and is kept.
type Printer struct {
	w    io.Writer
	opts Options

	mu    sync.Mutex
	tasks map[*trace.Task]*task
	cur   *task // who had the last event
	buf   []byte
	calls Texts
	keys  keyTexts
	specs map[*spec.Attr]string
	err   error
}

var (
	_ trace.Batcher = (*Printer)(nil)
	_ trace.Filter  = (*Printer)(nil)
)

// task is what is printed of one task.
type task struct {
	t       *trace.Task
	open    []function // those whose line is ended by a brace, from the outermost
	pending bool       // last, the last one entered, has a line that is not yet ended
	last    function
}

// function is a function that a task is in.
type function struct {
	call    []byte // "alloc_uobj [ib_uverbs]()"
	inlined bool
}

// New returns a printer to w.
func New(w io.Writer, opts Options) *Printer {
	return &Printer{w: w, opts: opts, tasks: map[*trace.Task]*task{}, specs: map[*spec.Attr]string{}}
}

// Err returns the first error that the writer returned.
func (p *Printer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Wants implements trace.Filter: what the options leave out need not be made.
func (p *Printer) Wants(k trace.Kind, inlined bool) bool {
	switch k {
	case trace.Enter, trace.Leave:
		return !inlined || p.opts.Inlined
	}
	return p.opts.Notes && (p.opts.Locks || !isLock[k])
}

// Event prints one event.
func (p *Printer) Event(t *trace.Task, e *trace.Event) {
	p.mu.Lock()
	p.event(t, e)
	p.write()
	p.mu.Unlock()
}

// Events prints events.
func (p *Printer) Events(t *trace.Task, events []trace.Event) {
	p.mu.Lock()
	for i := range events {
		p.event(t, &events[i])
	}
	p.write()
	p.mu.Unlock()
}

func (p *Printer) event(t *trace.Task, e *trace.Event) {
	if !p.Wants(e.Kind, e.Inlined) {
		return
	}
	switch e.Kind {
	case trace.Enter:
		p.turn(t)
		p.open()
		c := p.cur
		c.pending = true
		c.last = function{p.calls.Get(e.Name, e.Module, callForm), e.Inlined}
	case trace.Leave:
		p.turn(t)
		p.leave()
	default:
		p.note(t, e)
	}
}

// Comment prints a line of its own, behind a #.
func (p *Printer) Comment(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cur != nil {
		p.open()
	}
	p.raw(strings.TrimRight("# "+s, " "))
	p.write()
}

// Forget forgets all tasks: what comes next is of another machine.
func (p *Printer) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cur != nil {
		p.open()
	}
	p.write()
	p.cur = nil
	clear(p.tasks)
}

// ruler stands around a line that says who goes on.
const ruler = " ------------------------------------------"

// turn makes t the one whose event is printed.
func (p *Printer) turn(t *trace.Task) {
	if p.cur == nil || p.cur.t != t {
		p.change(t)
	}
}

func (p *Printer) change(t *trace.Task) {
	next := p.tasks[t]
	if next == nil {
		next = &task{t: t}
		p.tasks[t] = next
	}
	if p.cur != nil {
		p.open()
		p.raw(ruler)
		p.raw(" 0)   task-" + strconv.Itoa(p.cur.id()) + "    =>   task-" + strconv.Itoa(next.id()))
		p.raw(ruler)
	}
	p.cur = next
}

func (c *task) id() int {
	if c.t == nil {
		return 0
	}
	return c.t.ID
}

// open ends the pending line with a brace: the function calls others.
func (p *Printer) open() {
	c := p.cur
	if !c.pending {
		return
	}
	p.begin()
	p.call(" {\n")
	c.open = append(c.open, c.last)
	c.pending = false
}

// callForm makes the call of a function.
func callForm(name, module string) []byte { return []byte(name + " [" + module + "]()") }

// call appends the call of the pending function, and what ends its line.
func (p *Printer) call(end string) {
	b := append(p.buf, p.cur.last.call...)
	if p.cur.last.inlined {
		b = append(b, " /* inlined */"...)
	}
	p.buf = append(b, end...)
}

// leave prints that the last function is left. One that was entered before there was
// a printer is not.
func (p *Printer) leave() {
	c := p.cur
	if c.pending {
		p.begin()
		p.call(";\n")
		c.pending = false
		return
	}
	last := len(c.open) - 1
	if last < 0 {
		return
	}
	f := c.open[last]
	c.open = c.open[:last]
	p.begin()
	b := append(p.buf, "} /* "...)
	b = append(b, f.call[:len(f.call)-len("()")]...)
	if f.inlined {
		b = append(b, " (inlined)"...)
	}
	p.buf = append(b, " */\n"...)
}

// spaces are what a line begins with.
const spaces = "                                                                "

// begin begins a line at the task's depth.
func (p *Printer) begin() {
	b := p.buf
	if p.opts.Indent != "" {
		b = append(b, p.opts.Indent...)
	}
	n := 2 * len(p.cur.open)
	for n > len(spaces) {
		b = append(b, spaces...)
		n -= len(spaces)
	}
	p.buf = append(b, spaces[:n]...)
}

// raw appends a line.
func (p *Printer) raw(s string) {
	b := append(p.buf, p.opts.Indent...)
	b = append(b, s...)
	p.buf = append(b, '\n')
}

// write writes what was appended.
func (p *Printer) write() {
	if len(p.buf) > 0 && p.err == nil {
		_, p.err = p.w.Write(p.buf)
	}
	p.buf = p.buf[:0]
}
