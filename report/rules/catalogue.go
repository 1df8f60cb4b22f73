package rules

import (
	"cmp"
	"slices"
	"strings"

	"uverbsim/rule"
)

// Catalogue are the rules with what is known of them besides.
type Catalogue struct {
	entries []*Entry // by id
	byID    map[string]*Entry
}

// Entry is a rule with what shows it. Either Count or Reason is there.
type Entry struct {
	*rule.Rule
	Count  int     // how many recorded cases show the rule
	Cases  []Case  // the first few of them
	Reason *Reason // why there is none
}

// Case is a recorded case.
type Case struct {
	File string // its file in corpusDir, without the extension
	Name string
}

// corpusDir has the recorded cases, from the root of the project.
const corpusDir = "sim_test/corpus/"

// Path returns the path of the case's file from the root of the project.
func (c Case) Path() string { return corpusDir + c.File + ".jsonl" }

// Command returns the command that shows how the kernel comes to refuse a step
// of the case.
func (c Case) Command() string { return "uverbsim explain --only " + c.Name + " " + c.Path() }

// Reason says why no recorded case shows a rule.
type Reason struct {
	Kind string // the name of a Kind
	Text string // a sentence
}

// Kind is a kind of reason.
type Kind struct {
	Name  string
	Means string
	// Met says whether a program could meet the rule on one of the devices
	// that cases were recorded on.
	Met bool
}

var kinds = []Kind{
	{"fault", "only when something in the kernel fails, such as an allocation", false},
	{"never", "nothing that a program can do leads there", false},
	{"device", "only on another device, or with another answer of the firmware", false},
	{"race", "only in a moment that cannot be hit from outside", false},
	{"limit", "only after more calls than a case can hold", false},
	{"format", "by a call that no step of a case can make", true},
	{"open", "by a case that is not recorded, or that the model does not answer", true},
}

// kind returns the kind of that name, nil if there is none.
func kind(name string) *Kind {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &kinds[i]
}

// New makes a catalogue of what cases show and of the reasons why none do.
func New(shown Shown, unshown map[string]*Reason) *Catalogue {
	c := &Catalogue{byID: map[string]*Entry{}}
	for _, r := range rule.All() {
		e := &Entry{Rule: r, Reason: unshown[r.ID]}
		if s := shown[r.ID]; s != nil {
			e.Count, e.Cases = s.Count, s.Cases
		}
		c.entries, c.byID[r.ID] = append(c.entries, e), e
	}
	return c
}

// All returns all entries in the order of their ids.
func (c *Catalogue) All() []*Entry { return slices.Clone(c.entries) }

// Find returns the entry of the rule with that id, nil if there is none.
func (c *Catalogue) Find(id string) *Entry { return c.byID[id] }

// AreaOf returns the name of the area that a rule lies in.
func AreaOf(id string) string {
	area, _, _ := strings.Cut(id, "/")
	return area
}

// Totals say of some rules how many there are.
type Totals struct {
	All    int
	Shown  int            // by recorded cases
	Met    int            // those and others that a program could meet: see Kind
	ByKind map[string]int // of the reasons
}

// Count counts rules.
func Count(es []*Entry) Totals {
	t := Totals{All: len(es), ByKind: map[string]int{}}
	for _, e := range es {
		switch {
		case e.Count > 0:
			t.Shown++
			t.Met++
		case e.Reason != nil:
			t.ByKind[e.Reason.Kind]++
			if kind(e.Reason.Kind).Met {
				t.Met++
			}
		}
	}
	return t
}

// Select returns the entries that the arguments stand for, all if there is no
// argument. An argument that is an id stands for that rule alone; any other for
// the rules whose ids begin with it, and if there are none, for those of the
// kernel function of that name. The error names the first argument that stands
// for no rule, and the ids that are most like it.
func (c *Catalogue) Select(args []string) ([]*Entry, error) {
	if len(args) == 0 {
		return c.All(), nil
	}
	taken := map[*Entry]bool{}
	for _, arg := range args {
		found := c.find(arg)
		if len(found) == 0 {
			return nil, &UnknownError{"rule", arg, c.nearest(arg)}
		}
		for _, e := range found {
			taken[e] = true
		}
	}
	return slices.DeleteFunc(c.All(), func(e *Entry) bool { return !taken[e] }), nil
}

func (c *Catalogue) find(arg string) []*Entry {
	if e := c.byID[arg]; e != nil {
		return []*Entry{e}
	}
	if arg == "" {
		return nil
	}
	if es := c.where(func(e *Entry) bool { return strings.HasPrefix(e.ID, arg) }); len(es) > 0 {
		return es
	}
	return c.where(func(e *Entry) bool { return e.Func == arg })
}

func (c *Catalogue) where(is func(*Entry) bool) []*Entry {
	return slices.DeleteFunc(c.All(), func(e *Entry) bool { return !is(e) })
}

// Group are entries under one heading.
type Group struct {
	Title   string
	Entries []*Entry
}

// ByArea sorts entries into areas, in the order of parts; an area that has none of
// them is left out.
func ByArea(es []*Entry) []Group {
	in := byArea(es)
	var gs []Group
	for _, p := range parts {
		for _, a := range p.areas {
			if len(in[a.name]) > 0 {
				gs = append(gs, Group{a.name + ": " + a.title, in[a.name]})
			}
		}
	}
	return gs
}

func byArea(es []*Entry) map[string][]*Entry {
	in := map[string][]*Entry{}
	for _, e := range es {
		area := AreaOf(e.ID)
		in[area] = append(in[area], e)
	}
	return in
}

// ByFunc sorts entries by the kernel function that makes the check, within its
// file.
func ByFunc(es []*Entry) []Group {
	var gs []Group
	es = slices.SortedStableFunc(slices.Values(es), func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Func, b.Func))
	})
	for _, e := range es {
		title := e.Func + " in " + e.File
		if len(gs) == 0 || gs[len(gs)-1].Title != title {
			gs = append(gs, Group{Title: title})
		}
		g := &gs[len(gs)-1]
		g.Entries = append(g.Entries, e)
	}
	return gs
}
