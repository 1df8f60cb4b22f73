package explain

import (
	"fmt"
	"slices"
	"strings"

	"uverbsim/spec"
)

// arguments are those of a system call that has no request in memory.
func (r *request) arguments() []Value {
	c := r.call
	switch c.Name {
	case "mmap":
		return []Value{
			hexNumber("offset", c.Offset), number("length", c.Length), hexNumber("prot", uint64(c.Prot)), hexNumber("flags", uint64(c.Flags)),
		}
	case "munmap", "mprotect", "mremap":
		return []Value{hexNumber("addr", c.Addr), number("length", c.Length)}
	case "read":
		return []Value{number("fd", uint64(uint32(c.FD))), number("count", c.Length)}
	}
	return c.Args
}

// objects are the rules about which object a handle is of.
var objects = map[string]bool{"object/not-found": true, "object/wrong-type": true}

// mostObjects is how many objects of a file are shown.
const mostObjects = 8

// objects are those that the file has.
func (r *request) objects() []Value {
	if r.ioctl == nil && r.write == nil {
		return nil
	}
	var list []string
	for i, o := range r.call.Objects {
		if i == mostObjects {
			list = append(list, fmt.Sprintf("and %d more", len(r.call.Objects)-i))
			break
		}
		list = append(list, fmt.Sprintf("%d %s", o.ID, o.Type))
	}
	if list == nil {
		list = []string{"none"}
	}
	return []Value{text("objects of the file", "%s", strings.Join(list, ", "))}
}

// addresses are the members of the request that memory is pinned at.
func (r *request) addresses() (out []Value) {
	for _, list := range [][]Value{r.core, r.driver} {
		for _, v := range list {
			if v.Name == "start" || v.Name == "length" || strings.HasSuffix(v.Name, "_addr") {
				out = append(out, v)
			}
		}
	}
	return out
}

// mostAsked is how many attributes are shown of a call whose condition is on no
// one of them.
const mostAsked = 3

// asked are the attributes that were asked for last before a check, or the first
// members of a command's request.
func (r *request) asked(it *item, items []*item) (out []Value) {
	if it == nil || it.user >= 0 {
		return nil
	}
	for _, before := range slices.Backward(items[:slices.Index(items, it)]) {
		if before.attr == "" || !before.entered || r.sent(before.attr) == nil || len(out) == mostAsked {
			continue
		}
		if !slices.ContainsFunc(out, func(v Value) bool { return v.Name == before.attr }) {
			out = append(out, r.attrValue(before.attr)...)
		}
	}
	if len(out) == 0 && r.ioctl != nil && !r.commanded {
		for i := range min(len(r.ioctl.Attrs), mostAsked) {
			if name := r.attrName(i); name != "" {
				out = append(out, r.attrValue(name)...)
			}
		}
	}
	if len(out) == 0 && r.commanded {
		for _, v := range r.core {
			if v.Name != "response" && v.Name != "user_handle" && len(out) < mostAsked {
				out = append(out, v)
			}
		}
	}
	return out
}

// destroyed is the handle of the object that the method destroys.
func (r *request) destroyed() []Value {
	if r.method == nil {
		return nil
	}
	for i := range r.method.Attrs {
		if a := &r.method.Attrs[i]; a.IsObject() && a.Access == spec.AccessDestroy && r.sent(a.Name) != nil {
			return r.attrValue(a.Name)
		}
	}
	return nil
}
