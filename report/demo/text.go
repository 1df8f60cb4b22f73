package demo

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"uverbsim/report/funcgraph"
	"uverbsim/rule"
)

// heading is what Text begins with.
const heading = `The life of a completion queue on an emulated mlx5 device.
`

// graphHeading explains what Text adds to it.
const graphHeading = `
A line beginning with | is what the kernel does meanwhile, as ftrace's
function_graph shows it: its own names, nested as they call each other, with the
module of each. Functions that the compiler inlines in real kernels are marked.
The comments are the model's: copies from and to the program's memory with their
sizes, the nodes of the tree on the way to a method or an attribute, handles,
firmware commands, and the device's accesses to memory (DMA).
`

const (
	mistakesTitle   = "Mistakes from the field"
	mistakesHeading = `
Each is made on a fresh machine, on the way to the same queue.
`
)

// Text plays the trip and the mistakes, and writes them for a person to read.
// With brief it leaves out what the kernel does meanwhile.
func Text(w io.Writer, brief bool) error {
	out := &text{w: bufio.NewWriter(w), brief: brief}
	out.print(heading)
	if !brief {
		out.print(graphHeading)
	}
	for s, err := range Trip() {
		if err != nil {
			return err
		}
		out.step(s)
	}
	out.title(mistakesTitle)
	out.print(mistakesHeading)
	for m, err := range Mistakes() {
		if err != nil {
			return err
		}
		out.mistake(m)
	}
	return out.w.Flush()
}

// text writes; an error of the writer shows when it is flushed.
type text struct {
	w     *bufio.Writer
	brief bool
}

func (o *text) print(s string)                    { _, _ = o.w.WriteString(s) }
func (o *text) printf(format string, args ...any) { fmt.Fprintf(o.w, format, args...) }
func (o *text) title(format string, args ...any)  { o.printf("\n== "+format+"\n", args...) }

func (o *text) step(s *Step) {
	o.title("%d. %s", s.N, s.Title)
	o.printf("\n%s\n\n", s.Text)
	for _, a := range s.Acts {
		if a.Text != "" {
			o.act(a)
		}
	}
	if s.N > 1 { // the boot is no act of the program's
		o.print("\n")
	}
	o.printf("-> %s\n", s.Found)
}

// act writes an act in one line, or with all that belongs to it.
func (o *text) act(a *Act) {
	o.print("  " + a.Text)
	if a.Ioctl != nil {
		o.printf("  %s", a.Ioctl.Name())
	}
	var graph string
	if !o.brief && !a.Quiet {
		graph = graphText(a)
	}
	if graph == "" {
		o.print(resultText(a) + "\n")
		return
	}
	o.print("\n")
	o.request(a.Ioctl)
	o.print(graph)
	if a.Result != "" {
		o.printf("   %s\n", resultText(a))
	}
	o.answers(a.Ioctl)
}

func resultText(a *Act) string {
	if a.Result == "" {
		return ""
	}
	return " = " + a.Result
}

// graphText is what the kernel and the device did.
func graphText(a *Act) string {
	var b strings.Builder
	p := funcgraph.New(&b, funcgraph.Options{Notes: true, Inlined: true, Indent: "    | "})
	for i := range a.Events {
		p.Event(nil, &a.Events[i])
	}
	return b.String()
}

// request writes the argument of an ioctl.
func (o *text) request(i *Ioctl) {
	if i == nil {
		return
	}
	h := &i.Header
	o.printf("      length %d, object_id %#x %s, method_id %#x, num_attrs %d, reserved1 %d, driver_id %d, reserved2 %d\n",
		h.Length, h.ObjectID, i.Object, h.MethodID, h.NumAttrs, h.Reserved1, h.DriverID, h.Reserved2)
	for n := range i.Attrs {
		o.printf("      %-42s %s\n", i.Attrs[n].Name, i.Attrs[n].Value)
	}
}

// answers writes what the kernel made of it.
func (o *text) answers(i *Ioctl) {
	if i == nil {
		return
	}
	for n := range i.Attrs {
		if a := &i.Attrs[n]; a.Answer != "" {
			o.printf("      %-42s %s\n", a.Name, a.Answer)
		}
	}
}

func (o *text) mistake(m *Mistake) {
	o.printf("\n%d. %s\n\n", m.N, m.Title)
	o.printf("%s\n\n", indent("   ", m.Text))
	o.printf("   ioctl %s = %s\n", m.Act.Ioctl.Name(), m.Act.Result)
	if !o.brief {
		o.request(m.Act.Ioctl)
	}
	o.printf("   errno    %s\n", rule.ErrnoName(m.Rule.Errno))
	o.printf("   rule     %s\n", m.Rule.ID)
	o.printf("   check    %s in %s\n", m.Rule.Func, m.Rule.File)
	o.printf("   reached  by %s\n", strings.Join(m.Path, " > "))
	o.printf("   why      %s\n", m.Rule.Why)
	o.printf("   do       %s\n", m.Rule.Do)
	for _, a := range m.Then {
		o.printf("   then     ioctl %s%s\n", a.Ioctl.Name(), resultText(a))
	}
}

func indent(by, s string) string { return by + strings.ReplaceAll(s, "\n", "\n"+by) }
