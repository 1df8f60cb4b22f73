package sequence

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"uverbsim/report/funcgraph"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Options say what is drawn.
type Options struct {
	Locks bool // also locks, references and use counts
	Rows  int  // how many rows at most; 0 is DefaultRows
}

// DefaultRows is how many rows a diagram has at most by default.
const DefaultRows = 160

// lane is one who takes part.
type lane int

const (
	program lane = iota
	userMemory
	core
	objects
	driver
	device
	hostMemory
	lanes
)

var laneNames = [lanes]string{"program", "user memory", "uverbs core", "objects", "driver", "device", "host memory"}

// class is what a row is about, and how it looks.
type class string

const (
	call     class = "call"
	answer   class = "answer"
	copied   class = "copy"
	tree     class = "tree"
	object   class = "object"
	firmware class = "firmware"
	dma      class = "dma"
	refused  class = "refused"
	step     class = "step"
)

// row is an arrow, or a note where from and to are the same.
type row struct {
	class    class
	from, to lane
	label    string
	times    int
}

// Diagram is a trace.Sink that collects what is to be drawn.
type Diagram struct {
	opts Options

	mu    sync.Mutex
	title string
	about string
	tasks map[*trace.Task]*task
	rows  []row
	last  int    // the row that the last system call returned in, -1 if none has
	node  string // the walk of the tree that the last row is about
}

// task is where a task is.
type task struct{ stack []lane }

// New returns an empty diagram. The title says what it shows.
func New(title, about string, opts Options) *Diagram {
	if opts.Rows == 0 {
		opts.Rows = DefaultRows
	}
	return &Diagram{opts: opts, title: title, about: about, tasks: map[*trace.Task]*task{}, last: -1}
}

// Step begins a part of the diagram.
func (d *Diagram) Step(label string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = -1
	d.add(row{class: step, label: label})
}

// Answer says what the system call that returned last has returned.
func (d *Diagram) Answer(text string, isError bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last < 0 {
		return
	}
	d.rows[d.last].label = text
	if isError {
		d.rows[d.last].class = refused
	}
	d.last = -1
}

// Event takes one event.
func (d *Diagram) Event(t *trace.Task, e *trace.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	tk := d.tasks[t]
	if tk == nil {
		tk = new(task)
		d.tasks[t] = tk
	}
	switch e.Kind {
	case trace.Enter:
		if !e.Inlined {
			d.enter(tk, e)
		}
	case trace.Leave:
		if !e.Inlined {
			d.leave(tk)
		}
	default:
		d.note(tk, e)
	}
}

// laneOf is the lane of a module's functions.
func laneOf(module string) lane {
	if module == trace.Uverbs || module == trace.Core {
		return core
	}
	return driver
}

// where is the lane of the function that a task is in.
func (tk *task) where() lane {
	if n := len(tk.stack); n > 0 {
		return tk.stack[n-1]
	}
	return program
}

func (d *Diagram) enter(tk *task, e *trace.Event) {
	from, to := tk.where(), laneOf(e.Module)
	switch {
	case len(tk.stack) == 0 && to == driver:
		from = device // an interrupt
		fallthrough
	case from != to:
		d.add(row{class: call, from: from, to: to, label: e.Name})
	case strings.HasPrefix(e.Name, "ib_uverbs_handler_"):
		d.add(row{class: call, from: core, to: core, label: "handler: " + e.Name})
	}
	tk.stack = append(tk.stack, to)
}

func (d *Diagram) leave(tk *task) {
	last := len(tk.stack) - 1
	if last < 0 {
		return
	}
	from := tk.stack[last]
	tk.stack = tk.stack[:last]
	to := tk.where()
	if from == to || last == 0 && from == driver {
		return
	}
	d.add(row{class: answer, from: from, to: to, label: "returns"})
	if last == 0 {
		d.last = len(d.rows) - 1
	}
}

func (d *Diagram) note(tk *task, e *trace.Event) {
	at := tk.where()
	switch e.Kind {
	case trace.CopyIn:
		d.add(row{copyClass(e), userMemory, max(at, core), copyLabel(e, "%d bytes from %#x"), 1})
	case trace.CopyOut:
		d.add(row{copyClass(e), max(at, core), userMemory, copyLabel(e, "%d bytes to %#x"), 1})
	case trace.Clear:
		d.add(row{copyClass(e), max(at, core), userMemory, copyLabel(e, "%d zeros to %#x"), 1})
	case trace.Node:
		d.walk(e)
	case trace.Attr:
		label := fmt.Sprintf("attribute %d: %s, %d bytes", e.C, shortName(e.Name), e.B)
		if s := funcgraph.SpecText(e); s != "" {
			label += " (" + s + ")"
		}
		d.add(row{tree, core, core, label, 1})
	case trace.Handle:
		what := "taken"
		if e.B == 0 {
			what = "free"
		}
		d.add(row{object, max(at, core), objects, fmt.Sprintf("%s: number %d %s", shortName(e.Name), e.A, what), 1})
	case trace.Firmware:
		d.command(e)
	case trace.DMA:
		r := row{dma, hostMemory, device, fmt.Sprintf("%s: %d bytes", e.Name, e.B), 1}
		if e.C == 1 {
			r.from, r.to = r.to, r.from
		}
		d.add(r)
	case trace.Refuse:
		label := e.Name
		if r := rule.Find(e.Name); r != nil {
			label = r.ID + ": " + rule.ErrnoName(r.Errno)
		}
		d.add(row{refused, max(at, core), max(at, core), "refused by " + label, 1})
	case trace.Warn:
		d.add(row{refused, max(at, core), max(at, core), "WARN in " + e.Name, 1})
	case trace.Usecnt, trace.Ref:
		if d.opts.Locks {
			d.add(row{object, max(at, core), objects, shortName(string(funcgraph.AppendNote(nil, e))), 1})
		}
	case trace.Lock, trace.Unlock:
		if d.opts.Locks {
			d.add(row{object, max(at, core), max(at, core), string(funcgraph.AppendNote(nil, e)), 1})
		}
	}
}

// shortName is the name of an object or an attribute without what all of them begin
// with.
func shortName(s string) string {
	return strings.TrimPrefix(strings.TrimPrefix(s, "UVERBS_OBJECT_"), "UVERBS_ATTR_")
}

func copyClass(e *trace.Event) class {
	if e.C != e.B {
		return refused
	}
	return copied
}

// copyLabel says what is copied. The kernel also calls for no bytes at all, for the
// attributes of a request that has none.
func copyLabel(e *trace.Event, format string) string {
	if e.B == 0 {
		return "0 bytes: no memory is touched"
	}
	s := fmt.Sprintf(format, e.B, e.A)
	if e.C != e.B {
		s += fmt.Sprintf(": fault after %d", e.C)
	}
	return s
}

// walk adds a node of the tree to the walk that the last row is about, or begins
// a new one. That of an attribute is told with the attribute itself.
func (d *Diagram) walk(e *trace.Event) {
	if e.Name == "attribute" {
		return
	}
	node := fmt.Sprintf("%s key %#x (%s)", e.Name, e.A, spec.FormatKey(uint32(e.A)))
	if d.node == node {
		d.rows[len(d.rows)-1].label += fmt.Sprintf(", %d", e.C)
		return
	}
	d.add(row{tree, core, core, fmt.Sprintf("tree: %s: slots %d", node, e.C), 1})
	d.node = node
}

// command adds a firmware command and its answer, around the DMA that the device
// did for it.
func (d *Diagram) command(e *trace.Event) {
	command := row{firmware, driver, device, fmt.Sprintf("%s (%#x)", e.Name, e.A), 1}
	done := row{firmware, device, driver, "done", 1}
	if e.B != 0 {
		done.class, done.label = refused, fmt.Sprintf("status %d, syndrome %#x", e.B, e.C)
	}
	at := len(d.rows)
	for at > 0 && d.rows[at-1].class == dma {
		at--
	}
	if at == len(d.rows) && at >= 2 && d.rows[at-2].sameAs(&command) && d.rows[at-1].sameAs(&done) {
		d.rows[at-2].times++
		d.rows[at-1].times++
		return
	}
	d.rows = slices.Insert(d.rows, at, command)
	d.add(done)
}

// add adds a row, or counts the last one once more if it is the same.
func (d *Diagram) add(r row) {
	d.node = ""
	r.times = 1
	if n := len(d.rows); n > 0 && d.rows[n-1].sameAs(&r) {
		d.rows[n-1].times++
		return
	}
	d.rows = append(d.rows, r)
}

func (r *row) sameAs(o *row) bool {
	return r.class != call && r.class != answer && r.class == o.class && r.from == o.from && r.to == o.to && r.label == o.label
}
