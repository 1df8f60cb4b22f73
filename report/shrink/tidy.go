package shrink

import (
	"strings"

	"uverbsim/casefile"
)

// tidy takes out buffers that nothing names, and masks of buffers that are gone
// or that their step has nothing to do with.
func tidy(c *casefile.Case) {
	for {
		used := named(c)
		before := len(c.Bufs)
		for name := range c.Bufs {
			if !used[name] {
				delete(c.Bufs, name)
			}
		}
		if len(c.Bufs) == before {
			break
		}
	}
	for i := range c.Steps {
		for name := range c.Steps[i].Mask {
			if name != "hex" && c.Bufs[name] == nil {
				delete(c.Steps[i].Mask, name)
			}
		}
	}
}

// named are the buffers that steps or other buffers name.
func named(c *casefile.Case) map[string]bool {
	used := map[string]bool{}
	for _, b := range c.Bufs {
		for i := range b.Reloc {
			use(used, &b.Reloc[i].Value)
		}
	}
	for i := range c.Steps {
		switch a := c.Steps[i].Do.(type) {
		case *casefile.Ioctl:
			use(used, &a.Cmd, &a.Arg, &a.Hdr.Reserved1)
			for j := range a.Attrs {
				use(used, &a.Attrs[j].Data)
			}
			saved(used, a.Save, a.SaveFD)
		case *casefile.Write:
			use(used, &a.Arg)
			for j := range a.Reloc {
				use(used, &a.Reloc[j].Value)
			}
			saved(used, a.Save, a.SaveFD)
		default:
			everything(used, c, i)
		}
	}
	return used
}

func use(used map[string]bool, values ...*casefile.Value) {
	for _, v := range values {
		switch v.Kind {
		case casefile.Ptr, casefile.Content:
			used[v.Name] = true
		case casefile.Plus:
			use(used, &v.Sum[0], &v.Sum[1])
		}
	}
}

func saved(used map[string]bool, refs ...map[string]casefile.Ref) {
	for _, m := range refs {
		for _, r := range m {
			used[r.Buf] = true
		}
	}
}

// everything takes for named whatever stands as a text in the step: the other
// operations name buffers in many ways, and few of them.
func everything(used map[string]bool, c *casefile.Case, i int) {
	one := casefile.Case{Name: c.Name, Driver: c.Driver, Bufs: c.Bufs, Steps: c.Steps[:i+1]}
	b, err := one.Marshal()
	if err != nil {
		return
	}
	text := string(b[strings.Index(string(b), `"steps"`):])
	for name := range c.Bufs {
		if strings.Contains(text, `"`+name+`"`) {
			used[name] = true
		}
	}
}
