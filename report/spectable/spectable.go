package spectable

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"uverbsim/report/schema"
)

// Print prints a whole document: a line for each object.
func Print(w io.Writer, d *schema.Document) error {
	p := newPrinter(w, d)
	p.head()
	p.heads("ID", "OBJECT", "KEY", "CLASS", "METHODS", "WRITES", "BY")
	for _, o := range d.Objects {
		p.row(id(o.ID), o.Name, fmt.Sprintf("0x%04x", o.Key), o.Class, count(o.Methods), count(o.Writes), o.DeclaredBy, pruned(o.Pruned))
	}
	return p.end()
}

// PrintSelection prints a part of a document: the methods and commands of an
// object, or one method or command with its structs.
func PrintSelection(w io.Writer, d *schema.Document, s schema.Selection) error {
	p := newPrinter(w, d)
	p.head()
	switch {
	case s.Method != nil:
		p.method(s.Object, s.Method)
	case s.Write != nil:
		p.write(s.Object, s.Write)
	default:
		p.object(s.Object)
	}
	return p.end()
}

// printer sets tables in memory.
type printer struct {
	to    io.Writer
	text  bytes.Buffer
	table *tabwriter.Writer
	doc   *schema.Document
}

func newPrinter(w io.Writer, d *schema.Document) *printer {
	p := &printer{to: w, doc: d}
	p.table = tabwriter.NewWriter(&p.text, 0, 8, 2, ' ', tabwriter.DiscardEmptyColumns)
	return p
}

// end prints what was set, without the spaces that fill up the last columns.
func (p *printer) end() error {
	if err := p.table.Flush(); err != nil {
		return err
	}
	for line := range bytes.Lines(p.text.Bytes()) {
		if _, err := fmt.Fprintf(p.to, "%s\n", bytes.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// row sets a line of a table.
func (p *printer) row(cells ...string) { p.line("%s\t", strings.Join(cells, "\t")) }

// heads sets the line above a table. Its last cell does not make its column wider.
func (p *printer) heads(cells ...string) { p.line("%s", strings.Join(cells, "\t")) }

// line sets a line, which ends a table if it has no tabs.
func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.table, format+"\n", args...) }

func (p *printer) head() {
	p.line("%s on %s (%s)", p.doc.Driver.Name, p.doc.Kernel.Name, p.doc.Kernel.Release)
	p.line("")
}

// id writes an id as the headers do: those of a driver in hexadecimal.
func id(n uint16) string {
	if n&0x1000 != 0 {
		return fmt.Sprintf("%#x", n)
	}
	return strconv.Itoa(int(n))
}

func pruned(why string) string {
	if why == "" {
		return ""
	}
	return "pruned: " + why
}

// count writes how many are there, and how many are declared if that is more.
func count[T interface{ schema.Method | schema.Write }](list []T) string {
	there := 0
	for i := range list {
		switch x := any(&list[i]).(type) {
		case *schema.Method:
			there += btoi(x.Pruned == "")
		case *schema.Write:
			there += btoi(x.Pruned == "")
		}
	}
	if there < len(list) {
		return fmt.Sprintf("%d of %d", there, len(list))
	}
	return strconv.Itoa(there)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *printer) object(o *schema.Object) {
	p.line("%s  id %s, key 0x%04x, %s, declared by %s, since %s", o.Name, id(o.ID), o.Key, class(o), o.DeclaredBy, o.Since)
	if len(o.Needs) > 0 {
		p.line("needs %s", strings.Join(o.Needs, ", "))
	}
	if o.Condition != "" {
		p.line("there if %s", o.Condition)
	}
	if o.Pruned != "" {
		p.line("%s", pruned(o.Pruned))
	}
	for i := range o.Methods {
		m := &o.Methods[i]
		p.line("")
		p.methodHead(m)
		p.attributes(m)
	}
	if len(o.Writes) == 0 {
		return
	}
	p.line("")
	p.heads("COMMAND", "WRITE", "REQUEST", "RESPONSE", "SINCE")
	for i := range o.Writes {
		w := &o.Writes[i]
		p.row(command(w), w.Name, p.sized(w.Request, w.ReqMin), p.sized(w.Response, w.RespMin), w.Since, joined(writeNotes(w), pruned(w.Pruned)))
	}
}

func class(o *schema.Object) string {
	switch o.Class {
	case "idr":
		return "named by a handle"
	case "fd":
		return "named by a descriptor " + o.FDName
	}
	return "no objects"
}

func (p *printer) methodHead(m *schema.Method) {
	p.line("%s  id %s, key 0x%04x, declared by %s, since %s", m.Name, id(m.ID), m.Key, m.DeclaredBy, m.Since)
	if m.Pruned != "" {
		p.line("%s", pruned(m.Pruned))
	}
}

func (p *printer) attributes(m *schema.Method) {
	if len(m.Attrs) == 0 {
		p.line("no attributes")
		return
	}
	p.heads("ID", "KEY", "ATTRIBUTE", "TYPE", "DIR", "SIZE", "", "SINCE")
	for i := range m.Attrs {
		a := &m.Attrs[i]
		p.row(id(a.ID), fmt.Sprintf("0x%04x", a.Key), a.Name, a.Type, a.Direction, size(a), mandatory(a), a.Since, what(a))
	}
}

func mandatory(a *schema.Attribute) string {
	if a.Mandatory {
		return "mandatory"
	}
	return "optional"
}

// size writes how long the data is, or how many handles there are.
func size(a *schema.Attribute) string {
	switch {
	case a.Type == "IDRS_ARRAY":
		return span(a.MinItems, a.MaxItems) + " handles"
	case a.Type == "ENUM_IN":
		return fmt.Sprintf("one of %d", len(a.Choices))
	case a.MinLen == nil:
		return "-"
	case a.MaxLen == nil:
		return strconv.Itoa(*a.MinLen) + ".."
	case a.ZeroTrailing:
		return span(*a.MinLen, *a.MaxLen) + ", zeros"
	}
	return span(*a.MinLen, *a.MaxLen)
}

// span writes "4" or "4..8".
func span(min, max int) string {
	if min == max {
		return strconv.Itoa(min)
	}
	return fmt.Sprintf("%d..%d", min, max)
}

// what says what the data is, and what it stands for.
func what(a *schema.Attribute) string {
	var s []string
	switch {
	case a.Access != "":
		s = append(s, a.Object+" "+a.Access)
	case a.Element != "":
		s = append(s, a.Element+"[]")
	case a.CType != "":
		s = append(s, a.CType)
	case len(a.Structs) > 0:
		s = append(s, strings.Join(a.Structs, " or "))
	}
	if a.Last != "" && *a.MinLen < *a.MaxLen {
		s = append(s, "up to "+a.Last)
	}
	for _, c := range a.Choices {
		s = append(s, fmt.Sprintf("%d %s (%s)", c.Value, c.Name, span(c.MinLen, c.MaxLen)))
	}
	if a.Is != nil {
		s = append(s, role(a.Is))
	}
	if a.AllocAndCopy {
		s = append(s, "copied first")
	}
	return strings.Join(s, ", ")
}

// role writes what a number stands for.
func role(m *schema.Meaning) string {
	s := strings.ReplaceAll(m.Role, "_", " ")
	if len(m.Objects) > 0 {
		s += " of " + strings.Join(m.Objects, " or ")
	}
	if m.Bytes != "" {
		s += ", bytes: " + m.Bytes
	}
	if m.Note != "" {
		s += "; " + m.Note
	}
	return s
}

func (p *printer) method(o *schema.Object, m *schema.Method) {
	p.line("%s of %s", o.Short+"."+m.Short, o.Name)
	p.methodHead(m)
	p.line("")
	p.attributes(m)
	if f := m.Finalized; f != nil {
		where := "on the kernel's stack"
		if !f.UseStack {
			where = fmt.Sprintf("in %d bytes that it allocates", f.BundleSize)
		}
		p.line("")
		p.line("The kernel keeps a call's attributes %s; mandatory are the bits %#x.", where, f.Mandatory)
	}
	var structs []string
	for _, a := range m.Attrs {
		structs = append(structs, a.Structs...)
	}
	p.structs(structs)
}

func (p *printer) write(o *schema.Object, w *schema.Write) {
	p.line("%s of %s", o.Short+"."+w.Short, o.Name)
	p.line("%s  command %s, key 0x%04x, since %s", w.Name, command(w), w.Key, w.Since)
	if len(w.Needs) > 0 {
		p.line("needs %s", strings.Join(w.Needs, ", "))
	}
	if w.Pruned != "" {
		p.line("%s", pruned(w.Pruned))
	}
	p.line("")
	p.heads("PART", "STRUCT", "AT LEAST")
	p.part("request", w.ReqMin, w.Request)
	p.part("response", w.RespMin, w.Response)
	p.part("driver's request", 0, w.UdataIn...)
	p.part("driver's response", 0, w.UdataOut...)
	if n := writeNotes(w); n != "" {
		p.line("")
		p.line("It %s.", n)
	}
	if w.Fills {
		p.line("")
		p.line("No least length is checked: what a request lacks of its struct is taken as zeros, and of the response is")
		p.line("written what there is room for.")
	}
	p.structs(append(append([]string{w.Request, w.Response}, w.UdataIn...), w.UdataOut...))
}

func (p *printer) part(name string, least int, structs ...string) {
	for _, s := range structs {
		if s != "" {
			p.row(name, fmt.Sprintf("%s (%d)", s, p.doc.Structs[s].Size), strconv.Itoa(least))
		}
	}
}

// command writes the command word.
func command(w *schema.Write) string {
	if w.Ex {
		return "ex " + strconv.Itoa(int(w.Command&0xff))
	}
	return strconv.Itoa(int(w.Command))
}

// sized writes a struct, and how much of it there has to be.
func (p *printer) sized(name string, least int) string {
	if name == "" {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", strings.TrimPrefix(name, "struct "), span(least, p.doc.Structs[name].Size))
}

func writeNotes(w *schema.Write) string {
	var s []string
	if w.TakesFD {
		s = append(s, "takes a descriptor")
	}
	if w.GivesFD {
		s = append(s, "returns a descriptor")
	}
	if w.Pointer {
		s = append(s, "carries a pointer")
	}
	return strings.Join(s, ", ")
}

// joined is what there is of some texts.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ", ")
}

// structs prints layouts, those of inner structs and of what follows after
// them, each once.
func (p *printer) structs(names []string) {
	seen := map[string]bool{}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		s, ok := p.doc.Structs[name]
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		p.line("")
		p.line("%s, %d bytes", name, s.Size)
		for _, m := range s.Members {
			is := ""
			if m.Is != nil {
				is = role(m.Is)
			}
			p.row(fmt.Sprintf("%5d", m.Offset), ctype(m), m.Name, is)
			names = append(names, m.Type)
		}
		for _, union := range []string{"rdma", "atomic", "ud"} {
			names = append(names, name+"."+union)
		}
		for _, t := range s.Tails {
			is := "how many: " + t.Count
			if t.Is != nil {
				is += "; " + role(t.Is)
			}
			p.row("    …", t.Type+"[]", t.Name, is)
			names = append(append(names, t.Type), t.Variants...)
		}
	}
}

func ctype(m schema.Member) string {
	if m.Count == 0 {
		return m.Type
	}
	return fmt.Sprintf("%s[%d]", m.Type, m.Count)
}
