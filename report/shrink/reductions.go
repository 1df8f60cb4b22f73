package shrink

import (
	"maps"
	"slices"

	"uverbsim/casefile"
)

// reduction leaves something out of a case or makes it plainer. It says whether
// there was anything to do.
type reduction func(c *casefile.Case) bool

// reductions are all that a case has room for, in the order of what they change.
func reductions(c *casefile.Case) []reduction {
	var l []reduction
	for n := len(c.Steps) / 2; n > 1; n /= 2 {
		for i := 0; i+n <= len(c.Steps); i += n {
			l = append(l, dropSteps(i, n))
		}
	}
	for i := range c.Steps {
		l = append(l, dropSteps(i, 1))
		switch a := c.Steps[i].Do.(type) {
		case *casefile.Ioctl:
			l = append(l, ioctlReductions(i, a)...)
		case *casefile.Write:
			l = append(l, writeReductions(i, a)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Bufs)) {
		l = append(l, bufReductions(name)...)
	}
	return l
}

func dropSteps(i, n int) reduction {
	return func(c *casefile.Case) bool {
		if i+n > len(c.Steps) {
			return false
		}
		c.Steps = slices.Delete(c.Steps, i, i+n)
		return true
	}
}

// at is a reduction of a step's action.
func at[A casefile.Action](i int, f func(a A) bool) reduction {
	return func(c *casefile.Case) bool {
		if i >= len(c.Steps) {
			return false
		}
		a, ok := c.Steps[i].Do.(A)
		return ok && f(a)
	}
}

func ioctlReductions(i int, a *casefile.Ioctl) []reduction {
	var l []reduction
	for j := range a.Attrs {
		l = append(l,
			at(i, func(a *casefile.Ioctl) bool { return dropAttr(a, j) }),
			at(i, func(a *casefile.Ioctl) bool {
				return onAttr(a, j, func(x *casefile.Attr) { x.Reserved, x.Enum = 0, nil })
			}),
			at(i, func(a *casefile.Ioctl) bool {
				return onAttr(a, j, func(x *casefile.Attr) { x.Data = casefile.NumberOf(0) })
			}),
		)
	}
	return append(l,
		at(i, func(a *casefile.Ioctl) bool {
			a.Hdr = casefile.Hdr{ObjectID: a.Hdr.ObjectID, MethodID: a.Hdr.MethodID}
			return true
		}),
		at(i, func(a *casefile.Ioctl) bool { a.ArgEdge, a.ArgProt = nil, ""; return true }),
		at(i, func(a *casefile.Ioctl) bool { a.Cmd, a.Arg = casefile.Value{}, casefile.Value{}; return true }),
		at(i, func(a *casefile.Ioctl) bool { clear(a.Save); clear(a.SaveFD); return true }),
	)
}

func onAttr(a *casefile.Ioctl, j int, f func(x *casefile.Attr)) bool {
	if j >= len(a.Attrs) {
		return false
	}
	f(&a.Attrs[j])
	return true
}

// dropAttr leaves an attribute out, with what is saved from it.
func dropAttr(a *casefile.Ioctl, j int) bool {
	if j >= len(a.Attrs) {
		return false
	}
	a.Attrs = slices.Delete(a.Attrs, j, j+1)
	for _, saved := range []map[string]casefile.Ref{a.Save, a.SaveFD} {
		for name, ref := range saved {
			switch {
			case ref.Buf != "" || ref.Attr < j:
			case ref.Attr == j:
				delete(saved, name)
			default:
				ref.Attr--
				saved[name] = ref
			}
		}
	}
	return true
}

func writeReductions(i int, a *casefile.Write) []reduction {
	l := []reduction{
		at(i, func(a *casefile.Write) bool { a.ArgEdge, a.Arg = nil, casefile.Value{}; return true }),
		at(i, func(a *casefile.Write) bool { clear(a.Save); clear(a.SaveFD); return true }),
	}
	for j := range a.Reloc {
		l = append(l, at(i, func(a *casefile.Write) bool {
			if j >= len(a.Reloc) {
				return false
			}
			a.Reloc = slices.Delete(a.Reloc, j, j+1)
			return true
		}))
	}
	return l
}

func bufReductions(name string) []reduction {
	on := func(f func(b *casefile.Buf)) reduction {
		return func(c *casefile.Case) bool {
			b := c.Bufs[name]
			if b != nil {
				f(b)
			}
			return b != nil
		}
	}
	return []reduction{
		on(func(b *casefile.Buf) { b.Edge, b.Prot = false, "" }),
		on(func(b *casefile.Buf) { b.Reloc = nil }),
		on(func(b *casefile.Buf) { b.Data, b.Fill = nil, 0 }),
		on(func(b *casefile.Buf) {
			const enough = 64
			if b.Data == nil && len(b.Reloc) == 0 {
				b.Len = min(b.Len, enough)
			}
		}),
	}
}
