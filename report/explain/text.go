package explain

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// width is where lines end.
const width = 110

// mostNext is how many lines are written of the checks that would have been met.
const mostNext = 10

// Text writes what is to be said of a case for a person to read.
func Text(w io.Writer, c *Case) error {
	p := NewPrinter(w, false)
	if err := p.Case(c); err != nil {
		return err
	}
	return p.End()
}

// Printer writes cases for a person to read.
type Printer struct {
	w     io.Writer
	brief bool
	n     int // the cases that were written
	b     strings.Builder
	doubt bool // a check was written that may not have been met
	blame bool // a member was marked
}

// NewPrinter returns a printer to w. A brief one writes of each refused call which
// check refused it and what would have been accepted, and nothing else.
func NewPrinter(w io.Writer, brief bool) *Printer { return &Printer{w: w, brief: brief} }

// Case writes what is to be said of a case.
func (p *Printer) Case(c *Case) error {
	if p.n > 0 {
		p.line("")
	}
	p.n++
	p.line("case %s (%s, Linux %s)", c.Name, c.Driver, c.Kernel)
	if c.Why != "" {
		p.wrap("  ", "  ", c.Why)
	}
	for i := range c.Steps {
		p.step(&c.Steps[i])
	}
	if c.Error != "" {
		p.wrap("", "  ", "not played to its end: "+c.Error)
	}
	return p.flush()
}

// End writes what the marks mean that were used.
func (p *Printer) End() error {
	if p.doubt || p.blame {
		p.line("")
	}
	if p.blame {
		p.line("<- the call was refused for this member")
	}
	if p.doubt {
		p.line("?  the check lies in a branch of which it is not known whether it was taken (--json has the condition)")
	}
	return p.flush()
}

func (p *Printer) flush() error {
	_, err := io.WriteString(p.w, p.b.String())
	p.b.Reset()
	return err
}

func (p *Printer) line(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	p.b.WriteString(strings.TrimRight(s, " ") + "\n")
}

// wrap writes a text in lines: the first begins with first, the others with rest.
func (p *Printer) wrap(first, rest, s string) { p.list(first, rest, strings.Fields(s)) }

// list writes things in lines, each of them whole.
func (p *Printer) list(first, rest string, things []string) {
	line, begun := first, false
	for _, w := range things {
		if begun && len(line)+1+len(w) > width {
			p.line("%s", line)
			line, begun = rest, false
		}
		if begun {
			line += " "
		} else if len(line) > len(rest) && len(line)+len(w) > width && breakAt(w, width-len(line)) == 0 {
			p.line("%s", line) // it has room in a line of its own
			line = rest
		}
		for {
			i := breakAt(w, width-len(line))
			if i == 0 {
				break
			}
			p.line("%s", line+w[:i])
			line, w = rest, w[i:]
		}
		line += w
		begun = true
	}
	p.line("%s", line)
}

// breakAt is where flags that do not fit into a room are broken, behind a "|"; 0 if
// they fit or cannot be broken.
func breakAt(w string, room int) int {
	if len(w) <= room {
		return 0
	}
	return strings.LastIndex(w[:max(room, 0)], "|") + 1
}

// field writes one of the parts of an explanation: its name, and its lines.
func (p *Printer) field(name string, lines ...string) {
	for _, l := range lines {
		p.wrap(fmt.Sprintf("  %-12s", name), strings.Repeat(" ", 16), l)
		name = ""
	}
}

func (p *Printer) step(s *Step) {
	answer := s.Ret
	if s.Errno != "" {
		answer = s.Errno
	}
	if answer == "*" {
		answer = "done"
	}
	told := len(s.Refusals) > 0 || len(s.Differences) > 0 || s.NoRule != ""
	if p.brief && !told {
		return
	}
	question := len(s.Differences) == 0 && len(s.Refusals) == 1 && s.Refusals[0].Question != ""
	if question {
		answer += ": " + s.Refusals[0].Question
	}
	if told && !question {
		p.line("")
	}
	p.wrap("", "  ", fmt.Sprintf("step %d: %s: %s", s.Step, s.Does, answer))
	if question {
		return
	}
	for _, d := range s.Differences {
		p.wrap("  ", "    ", fmt.Sprintf("not as recorded: %v", d))
	}
	if s.NoRule != "" {
		p.wrap("  ", "    ", "no rule is behind that: "+s.NoRule)
	}
	for i, r := range s.Refusals {
		if i > 0 {
			p.line("")
		}
		p.refusal(r)
	}
}

func (p *Printer) refusal(r *Refusal) {
	d := &r.Decided
	p.field("refused by", fmt.Sprintf("%s, %s in %s (%s)", d.Rule, d.Errno, d.Func, d.File), d.Why)
	if d.Condition != "" {
		p.field("condition", d.Condition)
	}
	if len(r.Holding) > 0 {
		p.field("of these", strings.Join(r.Holding, "   "))
	}
	var values []string
	for _, v := range r.Values {
		values = append(values, v.Name+" = "+v.Value)
	}
	p.field("values", values...)
	if r.State != "" {
		p.field("it is on", r.State)
	}
	p.field("accepted", r.Accepted...)
	if p.brief {
		return
	}
	p.checks("passed before", r.Passed, 1<<20)
	p.checks("not reached", r.Next, mostNext)
	p.attributes(r.Attributes)
	p.members(r.Members)
}

// group is checks of one function.
type group struct {
	fn    string
	rules []string
	attrs []string
	users []int
}

// groups puts checks together: those of one function at one attribute, and then
// those attributes at which the same checks were made.
func groups(list []Check) (out []*group) {
	var last *group
	var lastAttr string
	var lastUser int
	var all []*group
	for _, c := range list {
		if c.Memory {
			continue
		}
		attr := c.Attribute
		if c.Of != "" {
			attr = c.Of
		}
		if last == nil || last.fn != c.Func || lastAttr != attr || lastUser != c.user {
			last = &group{fn: c.Func}
			if c.user >= 0 {
				last.users = []int{c.user}
			} else if attr != "" {
				last.attrs = []string{attr}
			}
			all = append(all, last)
			lastAttr, lastUser = attr, c.user
		}
		name := c.Rule
		if len(c.Where) > 0 {
			name += "?"
		}
		if !slices.Contains(last.rules, name) {
			last.rules = append(last.rules, name)
		}
	}
	seen := map[string]*group{}
	for _, g := range all {
		key := g.fn + " " + strings.Join(g.rules, " ") + fmt.Sprint(g.users != nil, g.attrs != nil)
		old := seen[key]
		if old == nil {
			seen[key] = g
			out = append(out, g)
			continue
		}
		for _, u := range g.users {
			if !slices.Contains(old.users, u) {
				old.users = append(old.users, u)
			}
		}
		for _, a := range g.attrs {
			if !slices.Contains(old.attrs, a) {
				old.attrs = append(old.attrs, a)
			}
		}
	}
	return out
}

func (g *group) head() string {
	switch {
	case len(g.users) == 1:
		return fmt.Sprintf("%s, attribute %d: ", g.fn, g.users[0])
	case len(g.users) > 1:
		return fmt.Sprintf("%s, attributes %s: ", g.fn, ranges(g.users))
	case len(g.attrs) > 0:
		return fmt.Sprintf("%s, %s: ", g.fn, strings.Join(g.attrs, ", "))
	}
	return g.fn + ": "
}

// ranges writes 0, 1, 2, 5 as 0-2, 5.
func ranges(list []int) string {
	slices.Sort(list)
	var out []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		s := strconv.Itoa(list[i])
		if j > i {
			s += "-" + strconv.Itoa(list[j])
		}
		out = append(out, s)
		i = j + 1
	}
	return strings.Join(out, ", ")
}

func (p *Printer) checks(title string, list []Check, most int) {
	gs := groups(list)
	if len(gs) == 0 {
		return
	}
	p.line("  %s", title)
	for i, g := range gs {
		if i == most {
			n := 0
			for _, g := range gs[i:] {
				n += len(g.rules)
			}
			p.line("    and %d more in %d places (--json has them all)", n, len(gs)-i)
			return
		}
		rules := strings.Join(g.rules, ", ")
		p.doubt = p.doubt || strings.Contains(rules, "?")
		p.wrap("    ", "        ", g.head()+rules)
	}
}

func (p *Printer) attributes(list []Attribute) {
	if len(list) == 0 {
		return
	}
	p.line("  attributes")
	names, states := 0, 0
	var absent []string
	for _, a := range list {
		if a.State == NotSent {
			absent = append(absent, a.Name)
			continue
		}
		names = max(names, len(attrLabel(&a)))
		states = max(states, len(a.State))
	}
	for _, a := range list {
		if a.State == NotSent {
			continue
		}
		index := "-"
		if a.Index >= 0 {
			index = strconv.Itoa(a.Index)
		}
		s := fmt.Sprintf("    %2s  %-*s  %-*s  ", index, names, attrLabel(&a), states, a.State)
		var rest []string
		if a.Value != "" {
			rest = append(rest, a.Value)
		}
		if a.Takes != "" {
			rest = append(rest, "("+a.Takes+")")
		}
		p.wrap(s, strings.Repeat(" ", 12), strings.Join(rest, " "))
	}
	if len(absent) > 0 {
		p.wrap("    may be sent too: ", "        ", strings.Join(absent, ", "))
	}
}

func cut(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "..."
	}
	return s
}

func attrLabel(a *Attribute) string {
	if a.Name == "" {
		return "id " + strconv.Itoa(int(a.ID))
	}
	return a.Name
}

func (p *Printer) members(list []Member) {
	part := ""
	var line []string
	flush := func() {
		if line != nil {
			for i := range line[:len(line)-1] {
				line[i] += ","
			}
			p.list(fmt.Sprintf("  %-11s ", part), strings.Repeat(" ", 14), line)
		}
		line = nil
	}
	for _, m := range list {
		if m.Part != part {
			flush()
			part = m.Part
		}
		s := m.Name + " = " + cut(m.Value, 48)
		if m.Decided {
			p.blame = true
			s += " <-"
		}
		line = append(line, s)
	}
	flush()
}
