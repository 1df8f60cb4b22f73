package tracecase

import (
	"fmt"
	"io"

	"uverbsim/casefile"
	"uverbsim/report/funcgraph"
	"uverbsim/report/replay"
)

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
