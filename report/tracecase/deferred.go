package tracecase

import (
	"time"

	"uverbsim/casefile"
	"uverbsim/trace"
)

// BatchPrinter is a Printer that takes events several at a time.
type BatchPrinter interface {
	Printer
	Events(t *trace.Task, events []trace.Event)
}

// Deferred returns a printer that hands the events of a step on to p when the step
// is over, so that what p does with them does not slow the step down. The clock,
// when there is one, is read for each event.
func Deferred(p BatchPrinter, clock func() time.Duration) Printer {
	d := deferred{p, trace.NewRecorder(p)}
	if clock != nil {
		return timed{d, clock}
	}
	return d
}

type deferred struct {
	BatchPrinter
	recorder *trace.Recorder
}

// timed is deferred that wants to know when events happened.
type timed struct {
	deferred
	clock func() time.Duration
}

var _ trace.Timer = timed{}

// Now implements trace.Timer.
func (t timed) Now() time.Duration { return t.clock() }

// Wants implements trace.Filter, as the printer says.
func (d deferred) Wants(k trace.Kind, inlined bool) bool { return d.recorder.Wants(k, inlined) }

func (d deferred) Event(t *trace.Task, e *trace.Event) { d.recorder.Event(t, e) }

func (d deferred) Events(t *trace.Task, events []trace.Event) { d.recorder.Events(t, events) }

func (d deferred) Case(c *casefile.Case) {
	d.recorder.Drain()
	d.BatchPrinter.Case(c)
}

func (d deferred) Step(c *casefile.Case, i int) {
	d.recorder.Drain()
	d.BatchPrinter.Step(c, i)
}

func (d deferred) Answer(got *casefile.Got, refused error) {
	d.recorder.Drain()
	d.BatchPrinter.Answer(got, refused)
}

func (d deferred) End(c *casefile.Case) {
	d.recorder.Drain()
	d.BatchPrinter.End(c)
}

func (d deferred) Close() error {
	d.recorder.Drain()
	return d.BatchPrinter.Close()
}
