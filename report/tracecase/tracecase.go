// Package tracecase prints what the kernel did while a case was played, with the
// cases, their steps and the answers in between: as ftrace's function_graph prints
// calls (Text), as JSON, in the Trace Event Format (Chrome), as a diagram (Sequence).
// Packages funcgraph, chrome and sequence have these forms of the events alone; Only
// and Deferred stand before a printer. It plays nothing itself: whoever plays the
// case tells it what comes.
package tracecase

import (
	"errors"
	"fmt"

	"uverbsim/casefile"
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

// answerText is what a step returned, in a few words.
func answerText(got *casefile.Got, refused error) string {
	if got.Errno != nil && *got.Errno != "" {
		var r *rule.Rule
		if errors.As(refused, &r) {
			return fmt.Sprintf("= -1 %s: %s, %s", *got.Errno, r.ID, r.Why)
		}
		return "= -1 " + *got.Errno
	}
	return "= " + string(got.Ret)
}
