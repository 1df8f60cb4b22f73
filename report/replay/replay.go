// Package replay renders what became of cases that were played: step by step,
// what was expected and what was answered, as text for people and as JSON for
// programs.
package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"uverbsim/casefile"
	"uverbsim/rule"
)

// Case is a case that was played.
type Case struct {
	File  string
	Case  *casefile.Case
	Steps []Step // as far as it was played
	Err   error  // why it was not played to its end
}

// Step is a step that was played.
type Step struct {
	Got         *casefile.Got
	Differences []casefile.Difference
	Refused     error // the error behind the answer's errno, a *rule.Rule where one is known
}

// Passed says whether every step was answered as it should be.
func (c *Case) Passed() bool {
	if c.Err != nil || len(c.Steps) < len(c.Case.Steps) {
		return false
	}
	for i := range c.Steps {
		if len(c.Steps[i].Differences) > 0 {
			return false
		}
	}
	return true
}

// Writer writes cases, and at last how many passed.
type Writer interface {
	Case(c *Case) error
	Sum(passed, failed int) error
}

// Text returns a Writer of text. Without verbose it writes those cases that did
// not pass, and of them the steps that differ.
func Text(w io.Writer, verbose bool) Writer { return &textWriter{w, verbose} }

type textWriter struct {
	w       io.Writer
	verbose bool
}

func (t *textWriter) Case(c *Case) error {
	passed := c.Passed()
	if passed && !t.verbose {
		return nil
	}
	var b strings.Builder
	verdict := "FAIL"
	if passed {
		verdict = "ok"
	}
	fmt.Fprintf(&b, "%-4s %s  (%s:%d)\n", verdict, c.Case.Name, c.File, c.Case.Line)
	if c.Case.Why != "" {
		fmt.Fprintf(&b, "     %s\n", c.Case.Why)
	}
	for i := range c.Steps {
		s := &c.Steps[i]
		if len(s.Differences) > 0 || t.verbose {
			writeStep(&b, i, Describe(c.Case, i), s)
		}
	}
	if c.Err != nil {
		fmt.Fprintf(&b, "     not played to its end: %v\n", c.Err)
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

func writeStep(b *strings.Builder, i int, what string, s *Step) {
	if len(s.Differences) == 0 {
		fmt.Fprintf(b, "  step %d  %s: %s\n", i, what, answer(s.Got))
	} else {
		fmt.Fprintf(b, "  step %d  %s\n", i, what)
	}
	for _, d := range s.Differences {
		fmt.Fprintf(b, "     %v\n", d)
	}
	if s.Refused != nil {
		fmt.Fprintf(b, "     refused by %s\n", refusal(s.Refused))
	}
}

// answer is the gist of an answer.
func answer(g *casefile.Got) string {
	if g.Errno != nil && *g.Errno != "" {
		return *g.Errno
	}
	return string(g.Ret)
}

func refusal(err error) string {
	var r *rule.Rule
	if !errors.As(err, &r) {
		return err.Error()
	}
	return fmt.Sprintf("%s: %s (%s in %s)", r.ID, r.Why, r.Func, r.File)
}

func (t *textWriter) Sum(passed, failed int) error {
	_, err := fmt.Fprintf(t.w, "%d passed, %d failed\n", passed, failed)
	return err
}

// JSON returns a Writer of one JSON object a line: one for each case, with the
// steps that differ or, with verbose, all of them, and one for the sum.
func JSON(w io.Writer, verbose bool) Writer { return &jsonWriter{json.NewEncoder(w), verbose} }

type jsonWriter struct {
	enc     *json.Encoder
	verbose bool
}

type jsonCase struct {
	Name   string     `json:"name"`
	File   string     `json:"file"`
	Line   int        `json:"line"`
	Driver string     `json:"driver"`
	Passed bool       `json:"passed"`
	Error  string     `json:"error,omitempty"`
	Steps  []jsonStep `json:"steps,omitempty"`
}

type jsonStep struct {
	Step        int              `json:"step"`
	Op          string           `json:"op"`
	What        string           `json:"what"`
	Ret         string           `json:"ret"`
	Errno       string           `json:"errno"`
	Differences []jsonDifference `json:"differences,omitempty"`
	Rule        string           `json:"rule,omitempty"`
	Why         string           `json:"why,omitempty"`
}

type jsonDifference struct {
	Path string `json:"path"`
	Want string `json:"want"`
	Got  string `json:"got"`
}

func (j *jsonWriter) Case(c *Case) error {
	out := jsonCase{Name: c.Case.Name, File: c.File, Line: c.Case.Line, Driver: c.Case.Driver, Passed: c.Passed()}
	if c.Err != nil {
		out.Error = c.Err.Error()
	}
	for i := range c.Steps {
		if s := &c.Steps[i]; len(s.Differences) > 0 || j.verbose {
			out.Steps = append(out.Steps, stepOf(c.Case, i, s))
		}
	}
	return j.enc.Encode(out)
}

func stepOf(c *casefile.Case, i int, s *Step) jsonStep {
	out := jsonStep{Step: i, Op: c.Steps[i].Op(), What: Describe(c, i), Ret: string(s.Got.Ret)}
	if s.Got.Errno != nil {
		out.Errno = *s.Got.Errno
	}
	for _, d := range s.Differences {
		out.Differences = append(out.Differences, jsonDifference(d))
	}
	var r *rule.Rule
	if errors.As(s.Refused, &r) {
		out.Rule, out.Why = r.ID, r.Why
	}
	return out
}

func (j *jsonWriter) Sum(passed, failed int) error {
	return j.enc.Encode(struct {
		Passed int `json:"passed"`
		Failed int `json:"failed"`
	}{passed, failed})
}
