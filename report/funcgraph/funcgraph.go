// Package funcgraph prints the events of a trace as ftrace's function_graph
// tracer prints the calls of a real kernel, so that the two can be laid side
// by side.
package funcgraph

import (
	"fmt"
	"io"
	"strings"
	"sync"

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
	err   error
}

// task is what is printed of one task.
type task struct {
	id      int
	depth   int
	pending string // the last function entered, whose line is not yet ended
}

// New returns a printer to w.
func New(w io.Writer, opts Options) *Printer {
	return &Printer{w: w, opts: opts, tasks: map[*trace.Task]*task{}}
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
	defer p.mu.Unlock()
	switch e.Kind {
	case trace.Enter:
		if e.Inlined && !p.opts.Inlined {
			return
		}
		p.turn(t)
		p.open()
		p.cur.pending = label(e)
	case trace.Leave:
		if e.Inlined && !p.opts.Inlined {
			return
		}
		p.turn(t)
		p.leave(label(e))
	default:
		if text := p.note(e); text != "" {
			p.turn(t)
			p.open()
			p.line("/* " + text + " */")
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
}

// Forget forgets all tasks: what comes next is of another machine.
func (p *Printer) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cur != nil {
		p.open()
	}
	p.cur = nil
	clear(p.tasks)
}

// ruler stands around a line that says who goes on.
const ruler = " ------------------------------------------"

// turn makes t the one whose event is printed.
func (p *Printer) turn(t *trace.Task) {
	next := p.tasks[t]
	if next == nil {
		next = new(task)
		if t != nil {
			next.id = t.ID
		}
		p.tasks[t] = next
	}
	if p.cur != nil && p.cur != next {
		p.open()
		p.raw(ruler)
		p.raw(fmt.Sprintf(" 0)   task-%d    =>   task-%d", p.cur.id, next.id))
		p.raw(ruler)
	}
	p.cur = next
}

func label(e *trace.Event) string {
	s := e.Name + " [" + e.Module + "]"
	if e.Inlined {
		return s + " (inlined)"
	}
	return s
}

// open ends the pending line with a brace: the function calls others.
func (p *Printer) open() {
	t := p.cur
	if t.pending == "" {
		return
	}
	p.line(call(t.pending) + " {")
	t.depth++
	t.pending = ""
}

// call puts the parentheses behind a label.
func call(label string) string {
	if s, inlined := strings.CutSuffix(label, " (inlined)"); inlined {
		return s + "() /* inlined */"
	}
	return label + "()"
}

func (p *Printer) leave(label string) {
	t := p.cur
	if t.pending != "" {
		p.line(call(t.pending) + ";")
		t.pending = ""
		return
	}
	t.depth--
	p.line("} /* " + label + " */")
}

// line prints a line at the task's depth.
func (p *Printer) line(s string) { p.raw(strings.Repeat("  ", p.cur.depth) + s) }

func (p *Printer) raw(s string) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, "%s%s\n", p.opts.Indent, s)
	}
}
