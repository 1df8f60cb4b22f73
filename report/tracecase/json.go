package tracecase

import (
	"encoding/json"
	"errors"
	"io"
	"sync"

	"uverbsim/casefile"
	"uverbsim/report/funcgraph"
	"uverbsim/report/replay"
	"uverbsim/rule"
	"uverbsim/trace"
)

// JSON returns a printer that writes one JSON object a line: for a case, a step,
// an event, an answer, and the end of a case. Each has one member, which says
// what it is.
func JSON(w io.Writer) BatchPrinter { return &lines{w: w} }

type lines struct {
	mu     sync.Mutex
	w      io.Writer
	events funcgraph.Lines
	buf    []byte
	err    error
}

var _ trace.Batcher = (*lines)(nil)

type (
	caseLine struct {
		Case string `json:"case"`
		Why  string `json:"why,omitempty"`
	}
	stepLine struct {
		Step int    `json:"step"`
		Does string `json:"does"`
	}
	answerLine struct {
		Answer answer `json:"answer"`
	}
	answer struct {
		Ret   string `json:"ret"`
		Errno string `json:"errno,omitempty"`
		Rule  string `json:"rule,omitempty"`
	}
	endLine struct {
		End string `json:"end"`
	}
)

// put writes a line. An error ends the printing.
func (l *lines) put(v any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := json.Marshal(v)
	if l.err == nil {
		l.err = err
	}
	l.buf = append(append(l.buf, b...), '\n')
	l.write()
}

// write writes what was appended.
func (l *lines) write() {
	if l.err == nil {
		_, l.err = l.w.Write(l.buf)
	}
	l.buf = l.buf[:0]
}

func (l *lines) Event(t *trace.Task, e *trace.Event) {
	l.mu.Lock()
	l.buf = l.events.Append(l.buf, t, e)
	l.write()
	l.mu.Unlock()
}

func (l *lines) Events(t *trace.Task, events []trace.Event) {
	l.mu.Lock()
	for i := range events {
		l.buf = l.events.Append(l.buf, t, &events[i])
	}
	l.write()
	l.mu.Unlock()
}

func (l *lines) Case(c *casefile.Case) { l.put(caseLine{c.Name, c.Why}) }

func (l *lines) Step(c *casefile.Case, i int) { l.put(stepLine{i, replay.Describe(c, i)}) }

func (l *lines) Answer(got *casefile.Got, refused error) {
	a := answer{Ret: string(got.Ret)}
	if got.Errno != nil {
		a.Errno = *got.Errno
	}
	var r *rule.Rule
	if errors.As(refused, &r) {
		a.Rule = r.ID
	}
	l.put(answerLine{a})
}

func (l *lines) End(c *casefile.Case) { l.put(endLine{c.Name}) }

func (l *lines) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *lines) Close() error { return l.Err() }
