package lab

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"uverbsim/report/wrap"
)

// Text writes a report for readers.
func Text(w io.Writer, r *Report) error {
	p := &printer{w: w}
	p.line("%s: %s", r.Experiment, r.Question)
	if r.Experimental != "" {
		p.wrap("", "An experiment: "+r.Experimental+".")
	}
	for i := range r.Counts {
		p.table(&r.Counts[i])
	}
	p.list("What the counts say", r.Found)
	for i := range r.Times {
		p.table(&r.Times[i])
	}
	if r.Crossing != nil {
		p.line("")
		p.wrap("", fmt.Sprintf("A crossing takes %.0f ns: %s. Work is the model's, which crosses nothing; where the two are "+
			"added, or a share of them is told, that is an estimate.", r.Crossing.Nanoseconds, r.Crossing.How))
	}
	var facts []string
	for _, f := range r.Kernel {
		facts = append(facts, f.Text+" ("+f.Where+")")
	}
	p.list("What the kernel has", facts)
	return p.err
}

// printer writes lines and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// width is where text is broken.
const width = 100

// wrap writes a paragraph behind a mark.
func (p *printer) wrap(mark, text string) {
	for _, line := range wrap.Lines(mark, strings.Repeat(" ", utf8.RuneCountInString(mark)), text, width) {
		p.line("%s", line)
	}
}

func (p *printer) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.line("\n%s", title)
	for _, s := range items {
		p.wrap("  - ", s)
	}
}

// isText says whether a column has nothing but text.
func (t *Table) isText(column int) bool {
	for _, r := range t.Rows {
		if _, ok := r.Values[column].(string); !ok {
			return false
		}
	}
	return true
}

// table writes text to the left and numbers to the right.
func (p *printer) table(t *Table) {
	p.line("\n%s", t.Title)
	cells := make([][]string, 1, len(t.Rows)+1)
	cells[0] = []string{""}
	for _, c := range t.Columns {
		cells[0] = append(cells[0], c.Title)
	}
	for _, r := range t.Rows {
		line := []string{r.Name}
		for _, v := range r.Values {
			line = append(line, cell(v))
		}
		cells = append(cells, line)
	}
	left := make([]bool, len(cells[0]))
	left[0] = true
	for i := range t.Columns {
		left[i+1] = t.isText(i)
	}
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, c := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for _, line := range cells {
		var b strings.Builder
		for i, c := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if left[i] {
				b.WriteString("  " + c + pad)
			} else {
				b.WriteString("  " + pad + c)
			}
		}
		p.line("%s", strings.TrimRight(b.String(), " "))
	}
	for _, n := range t.Notes {
		p.wrap("  ", n)
	}
}

// cell is a value as a table has it.
func cell(v any) string {
	if f, ok := v.(float64); ok {
		if f != 0 && f > -10 && f < 10 {
			return fmt.Sprintf("%.1f", f)
		}
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprint(v)
}
