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

// Printer is a trace.Sink that prints as events come. An error of the writer
// ends the printing and is kept.
type Printer struct {
	w    io.Writer
	opts Options

	mu      sync.Mutex
	depth   int
	pending string // the last function entered, whose line is not yet ended
	err     error
}

// New returns a printer to w.
func New(w io.Writer, opts Options) *Printer { return &Printer{w: w, opts: opts} }

// Err returns the first error that the writer returned.
func (p *Printer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Event prints one event.
func (p *Printer) Event(_ *trace.Task, e *trace.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case trace.Enter:
		if e.Inlined && !p.opts.Inlined {
			return
		}
		p.open()
		p.pending = label(e)
	case trace.Leave:
		if e.Inlined && !p.opts.Inlined {
			return
		}
		p.leave(label(e))
	default:
		if text := p.note(e); text != "" {
			p.open()
			p.line("/* " + text + " */")
		}
	}
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
	if p.pending == "" {
		return
	}
	p.line(call(p.pending) + " {")
	p.depth++
	p.pending = ""
}

// call puts the parentheses behind a label.
func call(label string) string {
	if s, inlined := strings.CutSuffix(label, " (inlined)"); inlined {
		return s + "() /* inlined */"
	}
	return label + "()"
}

func (p *Printer) leave(label string) {
	if p.pending != "" {
		p.line(call(p.pending) + ";")
		p.pending = ""
		return
	}
	p.depth--
	p.line("} /* " + label + " */")
}

func (p *Printer) line(s string) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, "%s%s%s\n", p.opts.Indent, strings.Repeat("  ", p.depth), s)
	}
}
