package tracecase

import (
	"fmt"
	"io"
	"sync/atomic"

	"uverbsim/casefile"
	"uverbsim/report/replay"
	"uverbsim/report/sequence"
	"uverbsim/trace"
)

// Sequence returns a printer that draws the last case as a sequence diagram, an SVG,
// when it is closed. What comes before the first step is not drawn.
func Sequence(w io.Writer, opts sequence.Options) BatchPrinter { return &diagram{w: w, opts: opts} }

type diagram struct {
	w    io.Writer
	opts sequence.Options
	d    *sequence.Diagram
	on   atomic.Bool // a step has begun
	err  error
}

func (p *diagram) Case(c *casefile.Case) {
	p.on.Store(false)
	p.d = sequence.New(c.Name, c.Why, p.opts)
}

func (p *diagram) Step(c *casefile.Case, i int) {
	p.on.Store(true)
	p.d.Step(fmt.Sprintf("step %d: %s", i, replay.Describe(c, i)))
}

func (p *diagram) Event(t *trace.Task, e *trace.Event) {
	if p.on.Load() {
		p.d.Event(t, e)
	}
}

func (p *diagram) Events(t *trace.Task, events []trace.Event) {
	for i := range events {
		p.Event(t, &events[i])
	}
}

func (p *diagram) Answer(got *casefile.Got, refused error) {
	p.d.Answer(answerText(got, refused), got.Errno != nil && *got.Errno != "")
}

func (p *diagram) End(*casefile.Case) { p.d.Step("end: what is still open is closed") }

func (p *diagram) Err() error { return p.err }

func (p *diagram) Close() error {
	if p.d != nil && p.err == nil {
		_, p.err = p.d.WriteTo(p.w)
	}
	return p.err
}
