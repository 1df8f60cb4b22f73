package specdiff

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"uverbsim/report/schema"
	"uverbsim/spec"
)

// Op is what became of something.
type Op byte

// The operations.
const (
	Added   Op = '+'
	Removed Op = '-'
	Changed Op = '~'
)

// Change is one difference.
type Change struct {
	Op   Op
	Kind string   // one of Kinds
	Name string   // "UVERBS_OBJECT_CQ.UVERBS_METHOD_CQ_CREATE"
	What []string // what it is now or was; of a change, what became what
}

// Kinds are the kinds of changes, in the order of Compare.
var Kinds = []string{"object", "method", "attribute", "command", "struct", "enumerator"}

// Compare returns what is otherwise in to than in from, by kind and name.
func Compare(from, to *schema.Document) []Change {
	a, b := flat(from), flat(to)
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y place) int { return x.compare(y) })
	var changes []Change
	for _, n := range names {
		was, old := a[n]
		is, now := b[n]
		switch {
		case !old:
			if !b.parentNew(n, a) {
				changes = append(changes, Change{Added, n.kind(), n.name, is.text()})
			}
		case !now:
			if !a.parentNew(n, b) {
				changes = append(changes, Change{Removed, n.kind(), n.name, was.text()})
			}
		default:
			if what := differences(was, is); len(what) > 0 {
				changes = append(changes, Change{Changed, n.kind(), n.name, what})
			}
		}
	}
	return changes
}

// place names something in a document.
type place struct {
	rank int // in Kinds
	name string
}

func (p place) kind() string { return Kinds[p.rank] }

func (p place) compare(q place) int {
	if p.rank != q.rank {
		return p.rank - q.rank
	}
	return strings.Compare(p.name, q.name)
}

// facts are what is said of something, in the order of importance; one that is
// empty is not said.
type facts [][2]string

func (f facts) text() []string {
	var list []string
	for _, kv := range f {
		if kv[1] != "" {
			list = append(list, strings.TrimSpace(kv[0]+" "+kv[1]))
		}
	}
	return list
}

func (f facts) get(key string) string {
	for _, kv := range f {
		if kv[0] == key {
			return kv[1]
		}
	}
	return ""
}

// differences tells what became what.
func differences(was, is facts) []string {
	var list []string
	said := map[string]bool{}
	for _, kv := range slices.Concat(is, was) {
		old, now := was.get(kv[0]), is.get(kv[0])
		if said[kv[0]] || old == now {
			continue
		}
		said[kv[0]] = true
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s -> %s", kv[0], orNone(old), orNone(now))))
	}
	return list
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

type flattened map[place]facts

// parentNew says whether the part belongs to something that the other document
// does not have either, so that the one change tells of both.
func (f flattened) parentNew(p place, other flattened) bool {
	parent := p.name[:max(strings.LastIndexByte(p.name, '.'), 0)]
	if parent == "" {
		return false
	}
	for rank := range Kinds {
		q := place{rank, parent}
		if _, has := f[q]; has && rank < p.rank {
			_, too := other[q]
			return !too
		}
	}
	return false
}

// flat makes of a document a list of all that is in it.
func flat(d *schema.Document) flattened {
	f := flattened{}
	for _, o := range d.Objects {
		f[place{0, o.Name}] = facts{
			{"id", number(o.ID)}, {"class", o.Class}, {"needs", strings.Join(o.Needs, ", ")}, {"if", o.Condition}, {"pruned:", o.Pruned},
		}
		for _, m := range o.Methods {
			name := o.Name + "." + m.Name
			f[place{1, name}] = facts{{"id", number(m.ID)}, {"by", m.DeclaredBy}, {"pruned:", m.Pruned}}
			for _, a := range m.Attrs {
				f[place{2, name + "." + a.Name}] = attribute(&a)
			}
		}
		for _, w := range o.Writes {
			f[place{3, o.Name + "." + w.Name}] = facts{
				{"request", w.Request}, {"at least", strconv.Itoa(w.ReqMin)}, {"response", w.Response},
				{"room for", strconv.Itoa(w.RespMin)}, {"driver's request", strings.Join(w.UdataIn, ", ")},
				{"driver's response", strings.Join(w.UdataOut, ", ")}, {"needs", strings.Join(w.Needs, ", ")}, {"pruned:", w.Pruned},
			}
		}
	}
	for name, s := range d.Structs {
		f[place{4, name}] = layout(s)
	}
	for name, list := range d.Enums {
		for _, e := range list {
			f[place{5, name + "." + e.Name}] = facts{{"=", strconv.FormatUint(e.Value, 10)}}
		}
	}
	return f
}

func attribute(a *schema.Attribute) facts {
	f := facts{
		{"id", number(a.ID)}, {"", a.Type}, {"direction", a.Direction}, {"object", a.Object}, {"access", a.Access},
		{"type", a.CType}, {"at least", pointer(a.MinLen)}, {"at most", pointer(a.MaxLen)}, {"up to", a.Last},
		{"structs", strings.Join(a.Structs, ", ")},
	}
	if a.Mandatory {
		f = append(f, [2]string{"mandatory", "yes"})
	}
	return f
}

func pointer(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// layout says of a struct how long it is, and where its members are.
func layout(s schema.Struct) facts {
	f := facts{{"size", strconv.Itoa(s.Size)}}
	for _, m := range s.Members {
		what := fmt.Sprintf("%s at %d", m.Type, m.Offset)
		if m.Count > 0 {
			what = fmt.Sprintf("%s[%d] at %d", m.Type, m.Count, m.Offset)
		}
		f = append(f, [2]string{m.Name, what})
	}
	return f
}

// number writes an id as the headers do.
func number(id uint16) string {
	if id&spec.NSFlag != 0 {
		return fmt.Sprintf("%#x", id)
	}
	return strconv.Itoa(int(id))
}
