package rules

import (
	"bufio"
	"fmt"
	"io"
	"text/tabwriter"

	"uverbsim/rule"
)

// Table prints groups of rules, a line each: id, errno and why.
func Table(w io.Writer, gs []Group) error {
	out := bufio.NewWriter(w)
	id, errno := 0, 0
	for _, g := range gs {
		for _, e := range g.Entries {
			id, errno = max(id, len(e.ID)), max(errno, len(rule.ErrnoName(e.Errno)))
		}
	}
	for i, g := range gs {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, g.Title)
		for _, e := range g.Entries {
			fmt.Fprintf(out, "  %-*s  %-*s  %s\n", id, e.ID, errno, rule.ErrnoName(e.Errno), e.Why)
		}
	}
	return out.Flush()
}

// Sum prints how many the entries are and how many of them are shown.
func Sum(w io.Writer, es []*Entry) error {
	_, err := fmt.Fprintf(w, "\n%s, %d of them shown by recorded cases\n", plural(len(es), "rule"), Count(es).Shown)
	return err
}

// Whole prints all that is known of a rule.
func Whole(w io.Writer, e *Entry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(t, "%s\t%s\n", name, text) }
	row("rule", e.ID)
	row("errno", rule.ErrnoName(e.Errno))
	row("check", e.Func+" in "+e.File)
	row("why", e.Why)
	row("do", e.Do)
	if e.Reason != nil {
		row("no case", e.Reason.Text)
	}
	label := "shown"
	for _, c := range e.Cases {
		row(label, c.Command())
		label = ""
	}
	if more := e.Count - len(e.Cases); more > 0 {
		row("", "and "+plural(more, "more recorded case"))
	}
	return t.Flush()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
