package dissect

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"uverbsim/report/decode"
	"uverbsim/report/request"
	"uverbsim/report/wrap"
	"uverbsim/rule"
)

// Text writes a dump for a person to read.
func Text(w io.Writer, d *Dump) error {
	o := &writer{bufio.NewWriter(w)}
	o.printf("%s, read for %s on Linux %s\n", d.title(), d.Device.Name, d.Device.Kernel.Name)
	if len(d.Device.Others) > 0 {
		o.fold("", "(the bytes of a write() do not tell the driver: --driver reads them for "+strings.Join(d.Device.Others, " or ")+")")
	}
	for i := range d.Parts {
		o.part(&d.Parts[i], "")
	}
	if len(d.Unsent) > 0 {
		o.printf("\nnot sent\n")
		o.wrapped("", strings.Join(d.Unsent, ", "))
	}
	if len(d.Flaws) > 0 {
		o.printf("\n")
	}
	o.flaws(d.Flaws, "")
	if d.Answer != nil {
		o.answer("the answer to expect, on ", d.Call, d.Answer)
	}
	if d.Then != nil {
		o.answer("and on ", d.Call, d.Then)
	}
	if d.refused() {
		o.printf("\n")
		o.fold("", "with --case, this is a case for explain: uverbsim decode --case - | uverbsim explain - says what passed before, "+
			"which values decided, and what would have been accepted")
	}
	return o.w.Flush()
}

// refused says whether a rule refuses the request that --case prints.
func (d *Dump) refused() bool {
	a := d.Answer
	if d.Then != nil {
		a = d.Then
	}
	return a != nil && a.Cannot == "" && a.Rule != nil
}

// otherwise says why a program may have seen another answer.
const otherwise = "which is not what is to be expected here: the program's objects, memory, limits and capabilities, its driver or its " +
	"kernel are others"

// title says what the request is.
func (d *Dump) title() string {
	what := "RDMA_VERBS_IOCTL"
	if d.Call == request.Write {
		what = "write()"
	}
	switch {
	case d.Method != "":
		what += " " + d.Method
	case d.Object != "":
		what += " of an unknown method of " + d.Object
	}
	return what
}

// writer writes; an error shows when it is flushed.
type writer struct{ w *bufio.Writer }

func (o *writer) printf(format string, a ...any) { fmt.Fprintf(o.w, format, a...) }

// wide is how many columns a line has at most where it can be broken.
const wide = 110

// wrapped writes a text in lines behind a label.
func (o *writer) wrapped(label, text string) {
	begin := "   "
	if label != "" {
		begin = fmt.Sprintf("  %-9s", label)
	}
	o.fold(begin, text)
}

// fold writes a text in lines behind what the first one begins with.
func (o *writer) fold(begin, text string) {
	for _, line := range wrap.Lines(begin, strings.Repeat(" ", len(begin)), text, wide) {
		o.printf("%s\n", strings.TrimRight(line, " "))
	}
}

// part writes a part, and what it points to behind it.
func (o *writer) part(p *Part, indent string) {
	o.printf("\n%s%s", indent, p.Title)
	if p.Addr != 0 {
		o.printf(", at %#x", p.Addr)
	}
	o.printf("\n")
	if p.Takes != "" {
		o.fold(indent+"  takes ", p.Takes)
	}
	names := 0
	for i := range p.Fields {
		names = max(names, len(p.Fields[i].Name))
	}
	for i := range p.Fields {
		o.field(&p.Fields[i], names, indent)
	}
	o.flaws(p.Flaws, indent)
	for i := range p.Behind {
		o.part(&p.Behind[i], indent+"    ")
	}
}

// shownBytes is how many bytes of a field have room in its line.
const shownBytes = 8

func (o *writer) field(f *Field, names int, indent string) {
	at := ""
	if f.At >= 0 {
		at = fmt.Sprint(f.At)
	}
	line := fmt.Sprintf("%s%6s  %-*s  %-*s  %s", indent, at, 3*shownBytes-1, spaced(f.Bytes), names, f.Name, f.text())
	o.printf("%s\n", strings.TrimRight(line, " "))
	o.flaws(f.Flaws, indent)
}

// text is the value with what more is to be said.
func (f *Field) text() string {
	v := text(&f.Value)
	if f.Value.Kind == decode.Name && f.Value.Text != "" {
		v = fmt.Sprintf("%d %s", f.Value.Num, v)
	}
	switch {
	case f.Says == "":
		return v
	case v == f.Says:
		return v
	}
	return v + "  " + f.Says
}

// spaced is the first bytes in hexadecimal.
func spaced(b []byte) string {
	more := ""
	if len(b) > shownBytes {
		b, more = b[:shownBytes-1], " .."
	}
	var parts []string
	for _, c := range b {
		parts = append(parts, hex.EncodeToString([]byte{c}))
	}
	return strings.Join(parts, " ") + more
}

// flaws writes what is wrong below the line that it is about.
func (o *writer) flaws(fs []Flaw, indent string) {
	for i := range fs {
		f := &fs[i]
		text := f.Text
		if f.Rule != nil {
			text = rule.ErrnoName(f.Rule.Errno) + " " + f.Rule.ID + ": " + f.Rule.Why
			if f.Text != "" {
				text += " (" + f.Text + ")"
			}
		}
		o.fold(indent+"     ^  ", text)
	}
}

// answer writes what comes of the request.
func (o *writer) answer(title string, kind request.Kind, a *Answer) {
	o.printf("\n")
	o.fold("", title+a.On)
	if a.Cannot != "" {
		o.wrapped("", "none: "+a.Cannot)
		return
	}
	o.printf("  %-9s= %s\n", kind, strings.TrimSpace(a.Ret+" "+a.Errno))
	if r := a.Rule; r != nil {
		o.printf("  %-9s%s\n", "rule", r.ID)
		o.printf("  %-9s%s in %s\n", "check", r.Func, r.File)
		o.wrapped("why", r.Why)
		o.wrapped("do", r.Do)
	}
	label := "assumed"
	for _, s := range a.Matters {
		o.wrapped(label, s)
		label = " "
	}
	if a.Seen != "" {
		same := otherwise
		if a.Agrees() {
			same = "as expected"
		}
		o.wrapped("seen", a.Seen+", "+same)
	}
}

// Rules are the rules of all flaws, each once, in the order of the dump.
func (d *Dump) Rules() []*rule.Rule {
	var rs []*rule.Rule
	add := func(fs []Flaw) {
		for _, f := range fs {
			if f.Rule != nil && !slices.Contains(rs, f.Rule) {
				rs = append(rs, f.Rule)
			}
		}
	}
	var part func(p *Part)
	part = func(p *Part) {
		for i := range p.Fields {
			add(p.Fields[i].Flaws)
		}
		add(p.Flaws)
		for i := range p.Behind {
			part(&p.Behind[i])
		}
	}
	for i := range d.Parts {
		part(&d.Parts[i])
	}
	add(d.Flaws)
	return rs
}
