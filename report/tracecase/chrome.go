package tracecase

import (
	"fmt"
	"io"
	"time"

	"uverbsim/casefile"
	"uverbsim/report/chrome"
	"uverbsim/report/replay"
)

// Chrome returns a printer that writes the Trace Event Format: a process for each
// case, a thread for each task, and one for the steps.
func Chrome(w io.Writer, opts chrome.Options) Printer {
	s := spans{chrome.New(w, opts)}
	if opts.Clock != nil {
		return timedSpans{s, opts.Clock}
	}
	return s
}

type spans struct{ *chrome.Writer }

// timedSpans is spans that wants to know when events happened.
type timedSpans struct {
	spans
	clock func() time.Duration
}

// Now implements trace.Timer.
func (s timedSpans) Now() time.Duration { return s.clock() }

func (s spans) Case(c *casefile.Case) { s.Process("case " + c.Name) }

func (s spans) Step(c *casefile.Case, i int) {
	s.Writer.Step(fmt.Sprintf("step %d: %s", i, replay.Describe(c, i)))
}

func (s spans) Answer(got *casefile.Got, refused error) {
	s.Writer.Answer(answerText(got, refused))
}

func (s spans) End(*casefile.Case) { s.Writer.Step("end: what is still open is closed") }
