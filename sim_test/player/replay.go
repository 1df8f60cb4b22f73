package player

import (
	"strings"

	"uverbsim/report/replay"
)

// Replay returns the result as package replay writes it. file is where the case is
// from.
func (r *Result) Replay(file string) *replay.Case {
	c := &replay.Case{File: file, Case: r.Case, Err: r.Err}
	for _, s := range r.Steps {
		c.Steps = append(c.Steps, replay.Step(s))
	}
	return c
}

// Text says in words what was answered otherwise, "" if nothing was.
func (r *Result) Text(file string) string {
	var b strings.Builder
	_ = replay.Text(&b, false).Case(r.Replay(file)) // to memory
	return b.String()
}
