// Package faults renders what became of cases that were played with steps failing: a
// table for people, an object a line for programs.
package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"uverbsim/casefile"
	"uverbsim/report/replay"
)

// Case is a case with its faults, in the order of its calls.
type Case struct {
	File   string
	Case   *casefile.Case
	Lost   []string // what is not given back without a fault either
	Faults []Fault
}

// Fault is one playing of a case in which one step of a call failed, or several.
type Fault struct {
	Step    int    // of the case; behind the last one what closes everything
	Call    string // the system call
	Places  []Place
	Answer  string // the errno, or what else the call answered
	Ignored bool   // the call answered what it does without the fault
	Books   Verdict
	File    Verdict // whether it still works
	Close   Verdict // whether everything is given back when all is closed
	Known   []string
	Trouble []string // what is not as the kernel would leave it; none if all is
}

// Place is a step that failed.
type Place struct {
	N                 int // its number in the call
	Kind, What, Where string
}

// Verdict is what was found out about something.
type Verdict uint8

// The verdicts.
const (
	Unseen Verdict = iota // it cannot be looked at, since other calls run at the same time
	Good
	Known // not as before, and the kernel leaves it so too
	Bad
)

// Sum are the numbers of all cases.
type Sum struct{ Cases, Calls, Faults, Ignored, Known, Lost int }

// Writer writes cases and at last their numbers.
type Writer interface {
	Case(c *Case) error
	Sum(s Sum) error
}

// Text returns a Writer of tables.
func Text(w io.Writer) Writer { return textWriter{w} }

type textWriter struct{ w io.Writer }

var (
	booksWords = [...]string{Unseen: "-", Good: "balance", Known: "known", Bad: "LOST"}
	fileWords  = [...]string{Unseen: "-", Good: "works", Known: "known", Bad: "BROKEN"}
	closeWords = [...]string{Unseen: "-", Good: "all", Known: "known", Bad: "LOST"}
)

func (t textWriter) Case(c *Case) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "case %s  (%s:%d)\n", c.Case.Name, c.File, c.Case.Line)
	for _, line := range c.Lost {
		fmt.Fprintf(&b, "without a fault, when all is closed: %s\n", line)
	}
	var notes []string
	for list := c.Faults; len(list) > 0; {
		n := 1
		for n < len(list) && list[n].Step == list[0].Step && list[n].Call == list[0].Call {
			n++
		}
		fmt.Fprintf(&b, "%s\n", c.title(&list[0]))
		table := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
		fmt.Fprint(table, "    #\tkind\twhat\twhere\tanswers\tbooks\tfile\tclose frees\n")
		for i := range list[:n] {
			notes = list[i].row(table, notes)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		list = list[n:]
	}
	for i, note := range notes {
		fmt.Fprintf(&b, "[%d] known: %s\n", i+1, note)
	}
	_, err := b.WriteTo(t.w)
	return err
}

// title says which call it is.
func (c *Case) title(f *Fault) string {
	if f.Step >= len(c.Case.Steps) {
		return "  end: " + f.Call
	}
	describe := replay.Describe(c.Case, f.Step)
	if op, _, _ := strings.Cut(describe, " "); op != f.Call {
		describe += ": " + f.Call
	}
	return fmt.Sprintf("  step %d: %s", f.Step, describe)
}

// row writes the row of a fault, and returns the notes with its own.
func (f *Fault) row(w io.Writer, notes []string) []string {
	var numbers, kinds, whats, wheres []string
	for _, p := range f.Places {
		numbers = append(numbers, fmt.Sprint(p.N))
		kinds, whats, wheres = append(kinds, p.Kind), append(whats, p.What), append(wheres, p.Where)
	}
	marks := ""
	for _, why := range f.Known {
		i := slices.Index(notes, why)
		if i < 0 {
			i, notes = len(notes), append(notes, why)
		}
		marks += fmt.Sprintf(" [%d]", i+1)
	}
	answer := f.Answer
	if f.Ignored {
		answer = "ignored"
	}
	and := func(words []string) string { return strings.Join(words, ", ") }
	fmt.Fprintf(w, "    %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s%s\n", and(numbers), and(kinds), and(whats), and(wheres),
		answer, booksWords[f.Books], fileWords[f.File], closeWords[f.Close], marks)
	for _, line := range f.Trouble {
		fmt.Fprintf(w, "        %s\n", line)
	}
	return notes
}

func (t textWriter) Sum(s Sum) error {
	_, err := fmt.Fprintf(t.w, "%d %s in %d %s of %d %s: %d ignored, %d with a known effect, %s\n",
		s.Faults, plural(s.Faults, "fault"), s.Calls, plural(s.Calls, "call"), s.Cases, plural(s.Cases, "case"),
		s.Ignored, s.Known, lost(s.Lost))
	return err
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func lost(n int) string {
	if n == 0 {
		return "nothing lost"
	}
	return fmt.Sprintf("%d with something LOST", n)
}

// JSON returns a Writer of JSON, an object a line: one for each fault, and at last one
// with the numbers.
func JSON(w io.Writer) Writer {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return jsonWriter{e}
}

type jsonWriter struct{ e *json.Encoder }

type jsonFault struct {
	Case    string   `json:"case"`
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Step    int      `json:"step"`
	Call    string   `json:"call"`
	Faults  []Place  `json:"faults"`
	Answer  string   `json:"answer"`
	Ignored bool     `json:"ignored"`
	Known   []string `json:"known"`
	Trouble []string `json:"trouble"`
}

// MarshalJSON implements json.Marshaler.
func (p Place) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		N     int    `json:"n"`
		Kind  string `json:"kind"`
		What  string `json:"what"`
		Where string `json:"where"`
	}{p.N, p.Kind, p.What, p.Where})
}

func (j jsonWriter) Case(c *Case) error {
	for i := range c.Faults {
		f := &c.Faults[i]
		err := j.e.Encode(jsonFault{c.Case.Name, c.File, c.Case.Line, f.Step, f.Call, f.Places, f.Answer, f.Ignored, some(f.Known), some(f.Trouble)})
		if err != nil {
			return err
		}
	}
	return nil
}

// some is a list that is never null.
func some(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (j jsonWriter) Sum(s Sum) error {
	return j.e.Encode(map[string]any{"sum": map[string]int{
		"cases": s.Cases, "calls": s.Calls, "faults": s.Faults, "ignored": s.Ignored, "known": s.Known, "lost": s.Lost,
	}})
}
