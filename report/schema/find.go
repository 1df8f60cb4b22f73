package schema

import (
	"fmt"
	"slices"
	"strings"

	"uverbsim/report/nearest"
	"uverbsim/spec"
)

// Selection is what a name means: an object, and a method or a write() command
// of it if the name has one.
type Selection struct {
	Object *Object
	Method *Method
	Write  *Write
}

// Keys are the first and the last key that what is selected has in the radix
// tree.
func (s Selection) Keys() (first, last uint32) {
	switch {
	case s.Method != nil:
		return s.Method.Key, s.Method.Key | spec.AttrKeyMask
	case s.Write != nil:
		return s.Write.Key, s.Write.Key
	}
	return s.Object.Key, s.Object.Key | spec.MethodKeyMask | spec.AttrKeyMask
}

// Find looks up OBJECT or OBJECT.METHOD. Both may be the kernel's names or short
// ones, in any case: "UVERBS_OBJECT_CQ", "cq", "cq.create", "CQ.EX_CREATE_CQ". A
// method's or a command's name that is the kernel's needs no object. An error
// tells the nearest name, or some if none is near.
func (d *Document) Find(name string) (Selection, error) {
	object, method, dotted := strings.Cut(fold(name), ".")
	for i := range d.Objects {
		if o := &d.Objects[i]; object == o.Name || object == o.Short {
			s := Selection{Object: o}
			if !dotted {
				return s, nil
			}
			if s.within(method) {
				return s, nil
			}
			return s, fmt.Errorf("%s has no method or command %q on %s: %s",
				o.Name, method, d.where(), instead(method, o.Short+".", o.members()))
		}
	}
	if !dotted {
		for i := range d.Objects {
			s := Selection{Object: &d.Objects[i]}
			if strings.Contains(object, "_") && s.named(object) {
				return s, nil
			}
		}
	}
	var names []string
	for _, o := range d.Objects {
		names = append(names, o.Short)
	}
	return Selection{}, fmt.Errorf("no object %q on %s: %s", object, d.where(), instead(object, "", names))
}

func (d *Document) where() string { return d.Driver.Name + ", kernel " + d.Kernel.Name }

func fold(name string) string { return strings.ReplaceAll(strings.ToUpper(name), "-", "_") }

// within finds a method or a command by the short or the full name.
func (s *Selection) within(name string) bool {
	for i := range s.Object.Methods {
		if m := &s.Object.Methods[i]; name == m.Short || name == m.Name {
			s.Method = m
			return true
		}
	}
	for i := range s.Object.Writes {
		if w := &s.Object.Writes[i]; name == w.Short || name == w.Name {
			s.Write = w
			return true
		}
	}
	return false
}

// named finds one by the full name.
func (s *Selection) named(name string) bool {
	return (strings.Contains(name, "_METHOD_") || strings.HasPrefix(name, "IB_USER_VERBS_")) && s.within(name)
}

func (o *Object) members() []string {
	var names []string
	for _, m := range o.Methods {
		names = append(names, m.Short)
	}
	for _, w := range o.Writes {
		names = append(names, w.Short)
	}
	return names
}

// instead says which name may have been meant: the one that takes the fewest
// changes, if they are fewer than what stays, and else those that contain it, or the
// first of those that there are.
func instead(name, prefix string, among []string) string {
	if len(among) == 0 {
		return "it has none"
	}
	best := slices.MinFunc(among, func(a, b string) int { return nearest.Distance(name, a) - nearest.Distance(name, b) })
	if 2*nearest.Distance(name, best) <= max(len(name), len(best)) {
		return "the nearest is " + prefix + best
	}
	var like []string
	for _, n := range among {
		if len(name) > 1 && strings.Contains(n, name) {
			like = append(like, n)
		}
	}
	if len(like) > 0 {
		return "there is " + prefix + strings.Join(like, ", "+prefix)
	}
	if more := len(among) - mostNames; more > 1 {
		return fmt.Sprintf("there are %s and %d more", strings.Join(among[:mostNames], ", "), more)
	}
	return "there are " + strings.Join(among, ", ")
}

// mostNames is how many names are told where none is near.
const mostNames = 8

// Only returns a document with that part alone, and the structs and enums that
// it names.
func (d *Document) Only(s Selection) *Document {
	c := *d
	o := *s.Object
	if s.Method != nil {
		o.Methods, o.Writes = []Method{*s.Method}, []Write{}
	}
	if s.Write != nil {
		o.Methods, o.Writes = []Method{}, []Write{*s.Write}
	}
	c.Objects = []Object{o}
	c.Structs, c.Enums = map[string]Struct{}, map[string][]Enumerator{}
	for _, name := range Structs(&o) {
		c.keep(d, name)
	}
	for _, m := range o.Methods {
		for _, a := range m.Attrs {
			if e, ok := d.Enums[a.CType]; ok {
				c.Enums[a.CType] = e
			}
		}
	}
	return &c
}

// keep takes over a struct and those in it and behind it.
func (d *Document) keep(from *Document, name string) {
	s, ok := from.Structs[name]
	if _, has := d.Structs[name]; !ok || has {
		return
	}
	d.Structs[name] = s
	for _, m := range s.Members {
		d.keep(from, m.Type)
	}
	for _, t := range s.Tails {
		d.keep(from, t.Type)
		for _, v := range t.Variants {
			d.keep(from, v)
		}
	}
	for _, union := range []string{"rdma", "atomic", "ud"} {
		d.keep(from, name+"."+union)
	}
}

// Structs returns the structs that an object's methods and commands name, in
// their order.
func Structs(o *Object) []string {
	var list []string
	add := func(names ...string) {
		for _, n := range names {
			if n != "" && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	for _, m := range o.Methods {
		for _, a := range m.Attrs {
			add(a.Structs...)
		}
	}
	for _, w := range o.Writes {
		add(w.Request, w.Response)
		add(w.UdataIn...)
		add(w.UdataOut...)
	}
	return list
}
