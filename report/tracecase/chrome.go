package tracecase

import (
	"fmt"
	"io"

	"uverbsim/casefile"
	"uverbsim/report/chrome"
	"uverbsim/report/replay"
)

// Chrome returns a printer that writes the Trace Event Format: a process for each
// case, a thread for each task, and one for the steps. What has a clock is to be
// Deferred with it.
func Chrome(w io.Writer, opts chrome.Options) BatchPrinter { return spans{chrome.New(w, opts)} }

type spans struct{ *chrome.Writer }

func (s spans) Case(c *casefile.Case) { s.Process("case " + c.Name) }

func (s spans) Step(c *casefile.Case, i int) {
	s.Writer.Step(fmt.Sprintf("step %d: %s", i, replay.Describe(c, i)))
}

func (s spans) Answer(got *casefile.Got, refused error) {
	s.Writer.Answer(answerText(got, refused))
}

func (s spans) End(*casefile.Case) { s.Writer.Step("end: what is still open is closed") }
