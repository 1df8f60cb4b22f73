// Package tracecase prints what the kernel did while a case was played: the
// calls of its functions as ftrace's function_graph prints them, with a line of
// comment in front of each case and each step. It plays nothing itself: whoever
// plays the case tells it what comes.
package tracecase

import (
	"fmt"
	"io"

	"uverbsim/casefile"
	"uverbsim/report/funcgraph"
	"uverbsim/report/replay"
	"uverbsim/rule"
	"uverbsim/trace"
)

// Printer prints cases. It is the sink of the machine that plays them; events
// may come from several tasks at once.
type Printer interface {
	trace.Sink
	// Case begins a case, Step a step of it, counted from 0.
	Case(c *casefile.Case)
	Step(c *casefile.Case, i int)
	// Answer is what came of the step; refused is the error behind its errno.
	Answer(got *casefile.Got, refused error)
	// End ends the steps of a case: what comes now is the closing of what it
	// has left open.
	End(c *casefile.Case)
	// Err returns the first error of the writer.
	Err() error
	// Close writes what is left, when no case is to come any more.
	Close() error
}

// Text returns a printer that writes as ftrace does.
func Text(w io.Writer, opts funcgraph.Options) BatchPrinter { return &text{funcgraph.New(w, opts)} }

type text struct{ *funcgraph.Printer }

func (p *text) Case(c *casefile.Case) {
	p.Forget()
	p.Comment("case " + c.Name)
	if c.Why != "" {
		p.Comment(c.Why)
	}
	p.Comment("tracer: function_graph")
	p.Comment("")
	p.Comment("              FUNCTION CALLS")
	p.Comment("              |   |   |   |")
}

func (p *text) Step(c *casefile.Case, i int) {
	p.Comment(fmt.Sprintf("step %d: %s", i, replay.Describe(c, i)))
}

func (p *text) Answer(got *casefile.Got, refused error) { p.Comment("  " + answerText(got, refused)) }

func (p *text) Close() error { return p.Err() }

func (p *text) End(*casefile.Case) { p.Comment("end: what is still open is closed") }

// answerText is what a step returned, in a few words.
func answerText(got *casefile.Got, refused error) string {
	if got.Errno != nil && *got.Errno != "" {
		if r, ok := refused.(*rule.Rule); ok {
			return fmt.Sprintf("= -1 %s: %s, %s", *got.Errno, r.ID, r.Why)
		}
		return "= -1 " + *got.Errno
	}
	return "= " + string(got.Ret)
}
