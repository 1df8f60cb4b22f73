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

var _ trace.Batcher = (*Printer)(nil)

// task is what is printed of one task.
type task struct {
	t     *trace.Task
	depth int
	// The last function entered, while its line is not yet ended.
	pending         bool
	name, module    string
	inlinedFunction bool
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
	switch e.Kind {
	case trace.Enter:
		if e.Inlined && !p.opts.Inlined {
			return
		}
		p.turn(t)
		p.open()
		c := p.cur
		c.pending, c.name, c.module, c.inlinedFunction = true, e.Name, e.Module, e.Inlined
	case trace.Leave:
		if e.Inlined && !p.opts.Inlined {
			return
		}
		p.turn(t)
		p.leave(e)
	default:
		if p.opts.Notes && (p.opts.Locks || !isLock[e.Kind]) {
			p.note(t, e)
		}
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
	if c := p.cur; c.pending {
		p.begin()
		p.call()
		p.buf = append(p.buf, " {\n"...)
		c.depth++
		c.pending = false
	}
}

// callForm makes the call of a function.
func callForm(name, module string) []byte { return []byte(name + " [" + module + "]()") }

// call appends the call of the pending function.
func (p *Printer) call() {
	c := p.cur
	p.buf = append(p.buf, p.calls.Get(c.name, c.module, callForm)...)
	if c.inlinedFunction {
		p.buf = append(p.buf, " /* inlined */"...)
	}
}

func (p *Printer) leave(e *trace.Event) {
	c := p.cur
	if c.pending {
		p.begin()
		p.call()
		p.buf = append(p.buf, ";\n"...)
		c.pending = false
		return
	}
	c.depth--
	p.begin()
	b := append(p.buf, "} /* "...)
	label := p.calls.Get(e.Name, e.Module, callForm)
	b = append(b, label[:len(label)-len("()")]...)
	if e.Inlined {
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
	n := 2 * p.cur.depth
	for n > len(spaces) {
		b = append(b, spaces...)
		n -= len(spaces)
	}
	p.buf = append(b, spaces[:max(n, 0)]...)
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
