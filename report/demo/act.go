package demo

import (
	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Act is one thing that the program or the device did.
type Act struct {
	// Text says what was done: a system call as strace prints it, an access to
	// memory, or what the device did.
	Text string
	// Ioctl is what the call asked for, if it is an RDMA_VERBS_IOCTL.
	Ioctl *Ioctl
	// Events are what the kernel and the device did meanwhile.
	Events []trace.Event
	// Result is what a system call returned, "" for what is none.
	Result string
	// Rule is what refused the call, nil if it succeeded.
	Rule *rule.Rule
	// Quiet: the step is not about this act.
	Quiet bool
}

// Ioctl is the argument of an RDMA_VERBS_IOCTL, before the call and after.
type Ioctl struct {
	Header spec.IoctlHdr
	Object string // the names of the user ABI, "" if they are not known
	Method string
	// Command is the write() command that the method runs, "" if it runs none.
	Command string
	Attrs   []Attr

	call watch.Call
}

// Attr is an attribute with what it says.
type Attr struct {
	Name  string
	Attr  spec.IoctlAttr // as the program sent it
	Value string         // what the program sent

	After  spec.IoctlAttr // as the kernel left it
	Answer string         // what the kernel answered, "" if nothing
}

// path returns the functions that were under way when the function name was
// entered last, that one included; nil if it never was.
func (a *Act) path(name string) (path []string) {
	var stack []string
	for i := range a.Events {
		switch e := &a.Events[i]; e.Kind {
		case trace.Enter:
			stack = append(stack, e.Name)
			if e.Name == name {
				path = append([]string(nil), stack...)
			}
		case trace.Leave:
			stack = stack[:len(stack)-1]
		}
	}
	return path
}

// recorder collects acts. It is the trace.Sink of the machine.
type recorder struct {
	acts   []*Act
	places []place // what lies where in the program's memory
	memory bool    // write down the program's own accesses to memory too
}

// place is a piece of the program's memory that has a name.
type place struct {
	at   copyuser.Addr
	n    uint64
	name string
}

// Event implements trace.Sink.
func (r *recorder) Event(_ *trace.Task, e *trace.Event) {
	if len(r.acts) == 0 {
		return
	}
	last := r.acts[len(r.acts)-1]
	last.Events = append(last.Events, *e)
}

// act begins an act: the events that come now are its own.
func (r *recorder) act(text string) *Act {
	a := &Act{Text: text}
	r.acts = append(r.acts, a)
	return a
}

// take returns the acts since it was called last.
func (r *recorder) take() []*Act {
	acts := r.acts
	r.acts = nil
	return acts
}
