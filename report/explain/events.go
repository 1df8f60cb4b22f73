package explain

import (
	"iter"
	"sync"

	"uverbsim/trace"
)

// Visit is a kernel function that was entered during a call, and what happened
// in it.
type Visit struct {
	Name     string
	Children []*Visit

	// User is the index of the user's attribute that it dealt with, in the
	// user's order; -1 if it dealt with none.
	User int
	// Known says that the method has that attribute.
	Known bool
	// Fault is the last copy from or to the user's memory in it, not in its Children,
	// that did not come to its end; nil if there was none.
	Fault *Copy

	parent *Visit
}

// all are a visit and those in it, in the order in which they began.
func (v *Visit) all() iter.Seq[*Visit] {
	return func(yield func(*Visit) bool) { v.each(yield) }
}

func (v *Visit) each(yield func(*Visit) bool) bool {
	if v == nil {
		return true
	}
	if !yield(v) {
		return false
	}
	for _, c := range v.Children {
		if !c.each(yield) {
			return false
		}
	}
	return true
}

// Copy is one from or to the user's memory: at which address, of how many bytes, and
// how many of them were copied.
type Copy struct{ Addr, Size, Done uint64 }

// Recorder is a sink that keeps, for each task that it is told of, the functions
// that were entered.
type Recorder struct {
	mu    sync.Mutex
	tasks map[*trace.Task]*Visit // where each task is
}

// NewRecorder returns a recorder that listens to no task yet.
func NewRecorder() *Recorder { return &Recorder{tasks: map[*trace.Task]*Visit{}} }

// Begin begins to listen to a task.
func (r *Recorder) Begin(t *trace.Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tasks[t] = &Visit{User: -1}
}

// End returns what the task has done since Begin, as the children of a Visit
// without a name.
func (r *Recorder) End(t *trace.Task) *Visit {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.tasks[t]
	delete(r.tasks, t)
	for v != nil && v.parent != nil {
		v = v.parent
	}
	return v
}

// Event implements trace.Sink.
func (r *Recorder) Event(t *trace.Task, e *trace.Event) {
	switch e.Kind {
	case trace.Enter, trace.Leave, trace.Attr, trace.CopyIn, trace.CopyOut, trace.Clear:
	default:
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.tasks[t]
	if at == nil {
		return
	}
	switch e.Kind {
	case trace.Enter:
		v := &Visit{Name: e.Name, User: -1, parent: at}
		at.Children = append(at.Children, v)
		r.tasks[t] = v
	case trace.Leave:
		if at.parent != nil {
			r.tasks[t] = at.parent
		}
	case trace.Attr:
		at.User, at.Known = int(e.C), e.Name != "unknown"
	default:
		if e.C < e.B {
			at.Fault = &Copy{e.A, e.B, e.C}
		}
	}
}
