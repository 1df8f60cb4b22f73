package explain

import (
	"strconv"
	"strings"

	"uverbsim/rule"
	"uverbsim/spec"
)

// values are the numbers that the deciding check speaks of, and what its
// condition comes to.
func values(r *request, refused *rule.Rule, it *item) (out []Value, holds value) {
	add := func(vs ...Value) {
		for _, v := range vs {
			known := false
			for i := range out {
				known = known || out[i].Name == v.Name
			}
			if !known && v.Name != "" {
				out = append(out, v)
			}
		}
	}
	if f := special[refused.ID]; f != nil {
		add(f(r, it)...)
	}
	if it != nil {
		holds = it.env.eval(it.check.cond)
		contradicts := holds.kind == truth && !holds.truth
		if it.user >= 0 && special[refused.ID] == nil {
			add(r.attrValues(it.user)...)
		}
		if !contradicts && len(out) == 0 {
			for _, name := range namesIn(it.check.cond) {
				vs := r.named(it, name)
				for _, v := range vs {
					r.blamed[v.Name] = true
				}
				add(vs...)
			}
		}
		if it.attr != "" {
			add(r.attrValue(it.attr)...)
		}
	}
	for _, w := range append(words(refused.Why), words(refused.Do)...) {
		add(r.spoken(w)...)
	}
	if len(out) == 0 && it != nil {
		add(r.handed(it)...)
	}
	if len(out) == 0 {
		add(r.call.Args...)
	}
	return out, holds
}

// handed are the members of the request that callers handed down to the function
// of a check.
func (r *request) handed(it *item) (out []Value) {
	for e := it.env; e != nil && e.caller != nil; e = e.caller {
		for i := 0; i+1 < len(e.binds); i += 2 {
			for _, name := range namesIn(e.binds[i+1]) {
				if _, v := r.lookup(it.function, it.user, it.attr, name); v != nil {
					out = append(out, *v)
				}
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// named is what a name of a condition stood for.
func (r *request) named(it *item, name string) []Value {
	if _, ok := constants[name]; ok || name == "t" || strings.Contains(name, ".fail(") {
		return nil
	}
	if it.user >= 0 && (ofAttr[name] != nil || name == "n") {
		return nil // it is shown with the attribute
	}
	if _, v := r.lookup(it.function, it.user, it.attr, name); v != nil {
		return []Value{*v}
	}
	v := it.env.eval(name)
	text := shown(it.function, name)
	switch v.kind {
	case numeric:
		s := v.n.String()
		if v.n.BitLen() > 24 && v.n.Sign() > 0 {
			s = "0x" + v.n.Text(16)
		}
		return []Value{{Name: text, Value: s}}
	case truth:
		return []Value{{Name: text, Value: strconv.FormatBool(v.truth)}}
	}
	return nil
}

// spoken is what a word of a rule's text stood for: a member of the request, an
// attribute, or a limit of the device.
func (r *request) spoken(word string) []Value {
	if !strings.Contains(word, "_") && len(word) < 3 {
		return nil
	}
	for _, list := range [][]Value{r.core, r.driver} {
		for _, v := range list {
			if v.Name == word {
				return []Value{v}
			}
		}
	}
	if strings.ToUpper(word) == word && strings.Contains(word, "ATTR_") {
		return r.attrValue(word)
	}
	if strings.HasPrefix(word, "max_") || strings.HasPrefix(word, "num_") {
		for _, v := range r.device() {
			if v.Name == word {
				return []Value{v}
			}
		}
	}
	if r.call.Cap != nil && strings.Contains(word, "_") && strings.ToLower(word) == word {
		if n, ok := r.call.Cap(word); ok {
			return []Value{number(word, n)}
		}
	}
	switch word {
	case "UHW_IN":
		if a := r.sent("UVERBS_ATTR_UHW_IN"); a != nil {
			return []Value{text("UVERBS_ATTR_UHW_IN", "%d bytes", a.Len)}
		}
		if r.ioctl != nil {
			return []Value{text("UVERBS_ATTR_UHW_IN", "not sent")}
		}
	case "UHW_OUT":
		if a := r.sent("UVERBS_ATTR_UHW_OUT"); a != nil {
			return []Value{text("UVERBS_ATTR_UHW_OUT", "%d bytes at %#x", a.Len, a.Data)}
		}
		if r.ioctl != nil {
			return []Value{text("UVERBS_ATTR_UHW_OUT", "not sent")}
		}
	}
	return nil
}

// attrValues are the fields of the user's attribute that matter to the parser.
func (r *request) attrValues(user int) []Value {
	if r.call.Ioctl == nil || user >= len(r.call.Ioctl.Attrs) {
		return nil
	}
	a := &r.call.Ioctl.Attrs[user]
	out := []Value{text("attribute", "%d of the call, id %d (%s)", user, a.AttrID, orUnknown(r.attrName(user)))}
	if a.Spec == nil {
		return append(out, text("flags", "%#x", a.Flags))
	}
	switch a.Spec.Type {
	case spec.TypeIDR, spec.TypeFD, spec.TypeRawFD:
		out = append(out, text("data", "%d", int64(a.Data)), text("len", "%d", a.Len))
	case spec.TypeEnumIn:
		out = append(out, text("elem_id", "%d", a.ElemID()), text("len", "%d", a.Len))
	default:
		out = append(out, text("len", "%d", a.Len))
		if a.Pointer {
			out = append(out, text("data", "%#x", a.Data))
		} else if d := r.ioctl.Attrs[user].In; d != nil {
			out = append(out, text("data", "%s", plain(d)))
		}
	}
	if a.AttrData != 0 && a.Spec.Type != spec.TypeEnumIn {
		out = append(out, text("attr_data.reserved", "%#x", a.AttrData))
	}
	return out
}

func orUnknown(name string) string {
	if name == "" {
		return "which the method does not have"
	}
	return name
}

// attrValue is what an attribute of the call had.
func (r *request) attrValue(name string) []Value {
	if r.ioctl == nil {
		return nil
	}
	for i := range r.ioctl.Attrs {
		d := &r.ioctl.Attrs[i]
		if d.Name.Text != name {
			continue
		}
		raw := &r.call.Ioctl.Attrs[i]
		switch {
		case d.In != nil && raw.Pointer:
			return []Value{text(name, "%d bytes at %#x: %s", raw.Len, raw.Data, plain(d.In))}
		case d.In != nil:
			v := Value{Name: name, Value: plain(d.In), n: d.In.Num, known: true}
			return []Value{v}
		case raw.Pointer:
			return []Value{text(name, "%d bytes at %#x", raw.Len, raw.Data)}
		}
		return []Value{text(name, "%#x", raw.Data)}
	}
	return []Value{text(name, "not sent")}
}

func (r *request) attrName(i int) string {
	if r.ioctl == nil || i >= len(r.ioctl.Attrs) {
		return ""
	}
	return r.ioctl.Attrs[i].Name.Text
}

// special are the values of checks on the parts of a request that have no names
// in its structs.
var special = map[string]func(r *request, it *item) []Value{
	"cmd/unknown": func(r *request, _ *item) []Value {
		return []Value{hexNumber("cmd", uint64(r.call.Cmd)), hexNumber("RDMA_VERBS_IOCTL", spec.RDMA_VERBS_IOCTL)}
	},
	"ioctl/unknown": func(r *request, _ *item) []Value {
		return []Value{hexNumber("cmd", uint64(r.call.Cmd)), hexNumber("RDMA_VERBS_IOCTL", spec.RDMA_VERBS_IOCTL)}
	},
	"header/fault": func(r *request, _ *item) []Value {
		return []Value{text("arg", "%#x, of which %d bytes are read", r.call.Arg, spec.IoctlHdrSize)}
	},
	"header/length": func(r *request, _ *item) []Value {
		h := &r.call.Ioctl.Header
		return []Value{
			number("length", uint64(h.Length)), number("num_attrs", uint64(h.NumAttrs)),
			text("24 + 16 * num_attrs", "%d", spec.IoctlHdrSize+int(h.NumAttrs)*spec.IoctlAttrSize),
		}
	},
	"header/reserved": func(r *request, _ *item) []Value {
		h := &r.call.Ioctl.Header
		return []Value{hexNumber("reserved1", h.Reserved1), hexNumber("reserved2", uint64(h.Reserved2))}
	},
	"header/driver-id": func(r *request, _ *item) []Value {
		h := &r.call.Ioctl.Header
		return []Value{
			text("driver_id", "%s", driverName(h.DriverID)), text("the device's", "%s", driverName(r.call.Driver)),
		}
	},
	"method/unknown": func(r *request, _ *item) []Value {
		h := &r.call.Ioctl.Header
		object := r.call.Ioctl.ObjectName
		method := "which it does not have"
		if r.method != nil {
			method = r.method.Name + ", which this device lacks"
		}
		if object == "" {
			object, method = "which no driver here has", ""
		}
		out := []Value{text("object_id", "%#x, %s", h.ObjectID, object), text("method_id", "%#x, %s", h.MethodID, method)}
		if method == "" {
			out[1].Value = "0x" + strconv.FormatUint(uint64(h.MethodID), 16)
		}
		return out
	},
	"attrs/fault": func(r *request, _ *item) []Value {
		h := &r.call.Ioctl.Header
		return []Value{
			number("num_attrs", uint64(h.NumAttrs)),
			text("attributes", "%d bytes at %#x, of which %d are readable", int(h.NumAttrs)*spec.IoctlAttrSize,
				uint64(r.call.Arg)+spec.IoctlHdrSize, len(r.call.Ioctl.Attrs)*spec.IoctlAttrSize),
		}
	},
	"attr/missing": func(r *request, _ *item) (out []Value) {
		for _, a := range r.missing() {
			out = append(out, text(a.Name, "not sent"))
		}
		return out
	},
	"attr/duplicate": func(r *request, it *item) []Value {
		if it == nil {
			return nil
		}
		id := r.call.Ioctl.Attrs[it.user].AttrID
		for i := range it.user {
			if r.call.Ioctl.Attrs[i].AttrID == id {
				return []Value{text(orUnknown(r.attrName(i)), "attributes %d and %d of the call", i, it.user)}
			}
		}
		return nil
	},
	"attr/unknown-mandatory": func(r *request, it *item) []Value {
		if it == nil {
			return nil
		}
		a := &r.call.Ioctl.Attrs[it.user]
		return []Value{
			text("attribute", "%d of the call, id %d, which %s does not have", it.user, a.AttrID, r.methodName()),
			text("flags", "UVERBS_ATTR_F_MANDATORY"),
		}
	},
	"context/none":       noContext,
	"fd/bad":             descriptor,
	"write/access":       who,
	"write/header-fault": writeBuffer,
	"write/not-supported": func(r *request, _ *item) []Value {
		if r.word == 0 && (r.write == nil || !r.write.Readable) {
			return nil
		}
		name := spec.WriteName(uint8(r.word), r.word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0)
		return []Value{text("command", "%#x %s", r.word, name)}
	},
}

func noContext(r *request, _ *item) []Value {
	return []Value{text("ufile->ucontext", "NULL: no GET_CONTEXT has succeeded on fd %d", r.call.FD)}
}

func descriptor(r *request, _ *item) []Value { return []Value{number("fd", uint64(uint32(r.call.FD)))} }

func who(r *request, _ *item) []Value {
	return []Value{text("credentials", "the caller's are not those that fd %d was opened with", r.call.FD)}
}

func writeBuffer(r *request, _ *item) []Value {
	return []Value{text("buf", "%#x", r.call.Addr), number("count", r.call.Length)}
}

func driverName(id uint32) string {
	if name := spec.EnumeratorName("enum rdma_driver_id", uint64(id)); name != "" {
		return strconv.FormatUint(uint64(id), 10) + " " + name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// missing are the mandatory attributes that the call does not have.
func (r *request) missing() (out []*spec.Attr) {
	if r.method == nil {
		return nil
	}
	for i := range r.method.Attrs {
		if a := &r.method.Attrs[i]; a.Mandatory && r.call.Ioctl.Attr(a.ID) == nil {
			out = append(out, a)
		}
	}
	return out
}

func (r *request) methodName() string {
	if r.method == nil {
		return "the method"
	}
	return r.method.Name
}
