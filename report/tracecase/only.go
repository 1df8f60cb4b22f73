package tracecase

import (
	"slices"
	"sync/atomic"

	"uverbsim/casefile"
	"uverbsim/trace"
)

// Only returns a printer that hands on to p the steps with these numbers, with the
// events that come while they are played.
func Only(p Printer, steps ...int) Printer { return &only{Printer: p, steps: steps} }

type only struct {
	Printer
	steps []int
	on    atomic.Bool
}

func (o *only) Case(c *casefile.Case) {
	o.on.Store(false)
	o.Printer.Case(c)
}

func (o *only) Step(c *casefile.Case, i int) {
	o.on.Store(slices.Contains(o.steps, i))
	if o.on.Load() {
		o.Printer.Step(c, i)
	}
}

func (o *only) Event(t *trace.Task, e *trace.Event) {
	if o.on.Load() {
		o.Printer.Event(t, e)
	}
}

func (o *only) Answer(got *casefile.Got, refused error) {
	if o.on.Load() {
		o.Printer.Answer(got, refused)
	}
}

func (o *only) End(*casefile.Case) { o.on.Store(false) }
