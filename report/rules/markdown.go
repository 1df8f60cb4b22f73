package rules

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"

	"uverbsim/report/wrap"
	"uverbsim/rule"
)

// page is what docs/rules.md has in front of its contents: a template, in which
// {{whole "ID"}} and {{errno "NAME"}} are what the command prints.
//
//go:embed page.md
var page string

func pageTemplate(c *Catalogue) *template.Template {
	return template.Must(template.New("page.md").Funcs(template.FuncMap{
		"whole": func(id string) (string, error) {
			es, err := c.Select([]string{id})
			if err != nil {
				return "", err
			}
			var b strings.Builder
			err = Whole(&b, es[0])
			return b.String(), err
		},
		"errno": func(name string) (string, error) {
			es, err := WithErrno(c.entries, name)
			if err != nil {
				return "", err
			}
			var b strings.Builder
			err = errors.Join(Table(&b, ByFunc(es)), Sum(&b, es))
			return b.String(), err
		},
	}).Parse(page))
}

// Markdown prints the page of all rules: docs/rules.md.
func Markdown(w io.Writer, c *Catalogue) error {
	out := bufio.NewWriter(w)
	if err := pageTemplate(c).Execute(out, nil); err != nil {
		return err
	}
	whatIsShown(out, Count(c.entries))
	contents(out, c)
	sections(out, c.entries)
	return out.Flush()
}

// whatIsShown prints how many rules cases show, and the kinds of reasons why
// others are not shown.
func whatIsShown(out *bufio.Writer, n Totals) {
	fmt.Fprintf(out, `
## What is shown

The catalogue has %d rules. A program could meet %d of them on the devices that cases were recorded on, and
recorded cases show %d of these. A rule that no case shows has a reason, of one of these kinds:

| kind | when the rule can be met | rules |
|---|---|---|
`, n.All, n.Met, n.Shown)
	for _, k := range kinds {
		fmt.Fprintf(out, "| %s | %s | %d |\n", k.Name, k.Means, n.ByKind[k.Name])
	}
}

// Sections prints the page's sections of some rules.
func Sections(w io.Writer, es []*Entry) error {
	out := bufio.NewWriter(w)
	sections(out, es)
	return out.Flush()
}

func sections(out *bufio.Writer, es []*Entry) {
	in := byArea(es)
	for _, p := range parts {
		title := "\n## " + p.title + "\n"
		for _, a := range p.areas {
			if len(in[a.name]) == 0 {
				continue
			}
			fmt.Fprintf(out, "%s\n### %s: %s\n", title, anchored(a.name), a.title)
			title = ""
			for _, e := range in[a.name] {
				section(out, e)
			}
		}
	}
}

// contents prints the areas of each part with links to them.
func contents(out *bufio.Writer, c *Catalogue) {
	fmt.Fprint(out, "\n## Contents\n")
	in := byArea(c.entries)
	for _, p := range parts {
		fmt.Fprintf(out, "\n**%s**\n\n", p.title)
		for _, a := range p.areas {
			if n := len(in[a.name]); n > 0 {
				fmt.Fprintf(out, "- [%s](#%s): %s (%d)\n", a.name, a.name, a.title, n)
			}
		}
	}
}

// anchored is a name that a link with # in front of it leads to.
func anchored(name string) string { return `<a id="` + name + `"></a>` + name }

// section prints a rule.
func section(out *bufio.Writer, e *Entry) {
	fmt.Fprintf(out, "\n#### %s: %s\n\n", anchored(e.ID), rule.ErrnoName(e.Errno))
	paragraph(out, escape(e.Why)+" "+escape(e.Do))
	fmt.Fprintln(out)
	check := "`" + e.Func + "` in `" + e.File + "`; "
	if e.Reason != nil {
		paragraph(out, check+"no case ("+e.Reason.Kind+"): "+escape(e.Reason.Text))
		return
	}
	var cases []string
	for _, c := range e.Cases {
		cases = append(cases, "`"+c.Name+"` in `"+c.File+"`")
	}
	if e.Count > len(e.Cases) {
		cases = append(cases, "…")
	}
	paragraph(out, check+"shown by "+plural(e.Count, "case")+": "+strings.Join(cases, ", "))
}

// paragraph prints text in lines of at most 120 columns.
func paragraph(out *bufio.Writer, text string) {
	const columns = 120
	for _, line := range wrap.Lines("", "", text, columns) {
		fmt.Fprintln(out, line)
	}
}

// escape takes what Markdown would read otherwise. An underscore within a word is one.
var escape = strings.NewReplacer("*", `\*`, "<", `\<`).Replace
