package tracecase

import (
	"slices"
	"sync/atomic"

	"uverbsim/casefile"
	"uverbsim/trace"
)

// Only returns a printer that hands on to p the steps with these numbers, with the
// events that come while they are played.
func Only(p BatchPrinter, steps ...int) BatchPrinter { return &only{BatchPrinter: p, steps: steps} }

type only struct {
	BatchPrinter
	steps []int
	on    atomic.Bool
}

// Wants implements trace.Filter, as the printer says.
func (o *only) Wants(k trace.Kind, inlined bool) bool {
	f, ok := o.BatchPrinter.(trace.Filter)
	return !ok || f.Wants(k, inlined)
}

func (o *only) Case(c *casefile.Case) {
	o.on.Store(false)
	o.BatchPrinter.Case(c)
}

func (o *only) Step(c *casefile.Case, i int) {
	o.on.Store(slices.Contains(o.steps, i))
	if o.on.Load() {
		o.BatchPrinter.Step(c, i)
	}
}

func (o *only) Event(t *trace.Task, e *trace.Event) {
	if o.on.Load() {
		o.BatchPrinter.Event(t, e)
	}
}

func (o *only) Events(t *trace.Task, events []trace.Event) {
	if o.on.Load() {
		o.BatchPrinter.Events(t, events)
	}
}

func (o *only) Answer(got *casefile.Got, refused error) {
	if o.on.Load() {
		o.BatchPrinter.Answer(got, refused)
	}
}

func (o *only) End(*casefile.Case) { o.on.Store(false) }
