package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"uverbsim/interpose/watch"
	"uverbsim/rule"
	"uverbsim/spec"
)

// accepted says what would have been accepted: what the rule says of every call,
// and what that is for this one.
func accepted(r *request, refused *rule.Rule, it *item) []string {
	out := r.driversPart(refused.Do)
	if f := concrete[refused.ID]; f != nil {
		out = append(out, f(r, it)...)
	}
	if names := enumerators(refused.Do); names != "" && !slices.ContainsFunc(out, func(s string) bool { return strings.HasPrefix(s, "They are ") }) {
		out = append(out, "They are "+names+".")
	}
	return out
}

// enumerated is a C enum in a rule's text.
var enumerated = regexp.MustCompile(`\benum [a-z0-9_]+`)

// enumerators are the members of the enum that a rule speaks of, "" if of none.
func enumerators(do string) string {
	var list []string
	for _, e := range spec.Enumerators(enumerated.FindString(do)) {
		list = append(list, fmt.Sprintf("%s (%d)", e.Name, e.Value))
	}
	return strings.Join(list, ", ")
}

// structBytes is a struct and its size in a rule's text.
var structBytes = regexp.MustCompile(`struct \w+, (\d+) bytes`)

// driversPart says for a write() command, which has no attributes, where it has what
// a rule wants in one of the driver's.
func (r *request) driversPart(do string) []string {
	c := r.command
	if r.write == nil || c == nil || !strings.Contains(do, "UHW_") {
		return []string{do}
	}
	in, out := fmt.Sprintf("behind the %d bytes of %s", c.ReqSize, c.ReqType), fmt.Sprintf("behind the %d bytes of %s", c.RespSize, c.RespType)
	list := []string{strings.NewReplacer(
		", in UHW_IN", ", "+in, "in UHW_IN", in, "in UHW_OUT", out,
		"Leave UHW_IN and UHW_OUT out", "Leave the driver's part out of the request and of the response",
		"Leave UHW_IN out", "Leave the driver's part out of the request",
	).Replace(do)}
	if m := structBytes.FindStringSubmatch(do); m != nil && strings.Contains(do, "UHW_IN") {
		n, err := strconv.Atoi(m[1])
		switch {
		case err != nil:
		case c.Ex:
			list = append(list, fmt.Sprintf("provider_in_words = %d, which is %d bytes.", n/8, n))
		default:
			whole := spec.CmdHdrSize + int(c.ReqSize) + n
			list = append(list, fmt.Sprintf("in_words = %d, which is %d bytes: %d of the header, %d and %d.", whole/4, whole, spec.CmdHdrSize, c.ReqSize, n))
		}
	}
	return list
}

// wordsOf says which lengths in the header go with the bytes that were written.
func wordsOf(r *request, _ *item) []string {
	n := r.call.Length
	switch {
	case r.command == nil || r.write == nil:
		return nil
	case r.command.Ex && n >= spec.CmdHdrSize+spec.ExCmdHdrSize:
		rest := n - spec.CmdHdrSize - spec.ExCmdHdrSize
		if rest%8 == 0 {
			return []string{fmt.Sprintf("in_words + provider_in_words = %d goes with %d bytes, of which %d are headers.", rest/8, n, n-rest)}
		}
		return []string{fmt.Sprintf("%d bytes go with no in_words: behind the headers they come in words of 8.", n)}
	case n%4 == 0:
		return []string{fmt.Sprintf("in_words %d goes with %d bytes.", n/4, n)}
	}
	return []string{fmt.Sprintf("%d bytes go with no in_words: they come in words of 4.", n)}
}

// concrete says for some rules what that is for the call.
var concrete = map[string]func(r *request, it *item) []string{
	"header/length": func(r *request, _ *item) []string {
		h := &r.call.Ioctl.Header
		n := spec.IoctlHdrSize + int(h.NumAttrs)*spec.IoctlAttrSize
		if n > 4096 {
			return []string{"At most 254 attributes fit into the 4096 bytes that are accepted."}
		}
		return []string{fmt.Sprintf("length %d goes with num_attrs %d.", n, h.NumAttrs)}
	},
	"header/driver-id": func(r *request, _ *item) []string {
		return []string{"driver_id " + driverName(r.call.Driver) + "."}
	},
	"method/unknown":         methodsOf,
	"attr/missing":           missingAttrs,
	"attr/unknown-mandatory": knownAttrs,
	"attr/too-short":         ofUser(lengths),
	"attr/too-long":          ofUser(lengths),
	"attr/trailing-nonzero":  ofUser(lengths),
	"attr/enum-range":        ofUser(elements),
	"attr/enum-type":         ofUser(elements),
	"attr/enum-reserved":     ofUser(elements),
	"array/count":            ofUser(lengths),
	"array/size":             ofUser(lengths),
	"attr/object-len":        ofUser(lengths),
	"attr/raw-fd":            ofUser(lengths),
	"object/wrong-type":      ofUser(lengths),
	"object/unknown-type":    ofUser(lengths),
	"object/not-found":       ofUser(lengths),
	"object/fd-foreign":      ofUser(lengths),
	"flags/unknown":          allowedFlags,
	"flags/size":             allowedFlags,
	"const/range":            constants_,
	"attr/absent":            absent,
	"write/request-short":    commandSizes,
	"write/response-short":   commandSizes,
	"write/words":            both(wordsOf, commandSizes),
	"write/ex-words":         both(wordsOf, commandSizes),
	"pin/unmapped":           wholeBuffer,
	"pin/write":              wholeBuffer,
	"pin/read":               wholeBuffer,
	"pin/range":              wholeBuffer,
	"invoke-write/core-size": commandSizes,
}

func both(f, g func(*request, *item) []string) func(*request, *item) []string {
	return func(r *request, it *item) []string { return append(f(r, it), g(r, it)...) }
}

func ofUser(f func(r *request, a *watch.Attr) []string) func(*request, *item) []string {
	return func(r *request, it *item) []string {
		if it == nil || it.user < 0 || r.call.Ioctl == nil || it.user >= len(r.call.Ioctl.Attrs) {
			return nil
		}
		return f(r, &r.call.Ioctl.Attrs[it.user])
	}
}

func lengths(_ *request, a *watch.Attr) []string {
	s := dataSpec(a)
	if s == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s takes %s.", s.Name, takes(s))}
}

func elements(_ *request, a *watch.Attr) (out []string) {
	if a.Spec == nil {
		return nil
	}
	for i := range a.Spec.Enum {
		if e := &a.Spec.Enum[i]; e.Type == spec.TypePtrIn {
			out = append(out, fmt.Sprintf("Element %d is %s: %s.", i, e.Name, takes(e)))
		}
	}
	return out
}

func missingAttrs(r *request, _ *item) (out []string) {
	for _, a := range r.missing() {
		out = append(out, fmt.Sprintf("%s, id %d: %s.", a.Name, a.ID, takes(a)))
	}
	return out
}

func knownAttrs(r *request, _ *item) []string {
	if r.method == nil {
		return nil
	}
	var list []string
	for i := range r.method.Attrs {
		a := &r.method.Attrs[i]
		list = append(list, fmt.Sprintf("%s (%d)", a.Name, a.ID))
	}
	return []string{r.method.Name + " has " + strings.Join(list, ", ") + "."}
}

// methodsOf are the methods that the object has, on this driver.
func methodsOf(r *request, _ *item) []string {
	h := &r.call.Ioctl.Header
	var list []string
	for _, d := range spec.Linux6_12.Definitions(r.call.Driver) {
		if d.Object.ID != h.ObjectID {
			continue
		}
		for i := range d.Object.Methods {
			if m := &d.Object.Methods[i]; !m.Extends && r.hasMethod(d.Object.ID, m.ID) {
				list = append(list, fmt.Sprintf("%s (%d)", m.Name, m.ID))
			}
		}
	}
	out := r.lacking()
	if len(list) > 0 {
		out = append(out, "Here the object has "+strings.Join(list, ", ")+".")
	}
	return out
}

// lacking says which operations the device would need for the method: those of the
// method's object, and of the objects that it must have.
func (r *request) lacking() (out []string) {
	if r.method == nil || r.call.IB == nil {
		return nil
	}
	needs := map[uint16]bool{r.call.Ioctl.Header.ObjectID: true}
	for i := range r.method.Attrs {
		if a := &r.method.Attrs[i]; a.IsObject() && a.Mandatory {
			needs[a.Object] = true
		}
	}
	for _, d := range spec.Linux6_12.Definitions(r.call.Driver) {
		if !needs[d.Object.ID] {
			continue
		}
		var ops []string
		for _, op := range d.Object.Needs {
			if !r.call.IB.Ops.Has(op) {
				ops = append(ops, op.String())
			}
		}
		if ops != nil {
			out = append(out, fmt.Sprintf("%s needs the driver's %s, which it lacks.", d.Object.Name, strings.Join(ops, " and ")))
		}
	}
	return out
}

func (r *request) hasMethod(object, method uint16) bool {
	d := r.call.Device
	return d == nil || d.API.Lookup(spec.KeyObj(object)|spec.KeyIoctlMethod(method)) != nil
}

// allowedFlags are the flags that the handler allows.
func allowedFlags(r *request, it *item) (out []string) {
	if it == nil || it.attr == "" {
		return nil
	}
	v := it.env.eval("allowed")
	if v.kind != numeric {
		return nil
	}
	names := flagNames(r, it.attr)
	rest := v.n.Uint64()
	var list []string
	for _, e := range names {
		if e.Value != 0 && e.Value&(e.Value-1) == 0 && rest&e.Value != 0 {
			list = append(list, fmt.Sprintf("%s (%#x)", e.Name, e.Value))
			rest &^= e.Value
		}
	}
	if rest != 0 || len(list) == 0 {
		list = append(list, fmt.Sprintf("%#x", rest))
	}
	return []string{it.attr + " may have " + strings.Join(list, ", ") + "."}
}

// flagNames are the names of an attribute's bits.
func flagNames(r *request, attr string) []spec.Enumerator {
	if a := r.sent(attr); a != nil {
		return spec.Enumerators(a.Spec.CType)
	}
	return nil
}

// constants_ are the values of an enum up to the one that the handler allows.
func constants_(r *request, it *item) []string {
	if it == nil || it.attr == "" {
		return nil
	}
	lo, hi := it.env.eval("min"), it.env.eval("max")
	if hi.kind != numeric {
		return nil
	}
	from := "0"
	if lo.kind == numeric {
		from = lo.n.String()
	}
	out := []string{fmt.Sprintf("%s takes %s to %s.", it.attr, from, hi.n)}
	if a := r.sent(it.attr); a != nil {
		var list []string
		for _, e := range spec.Enumerators(a.Spec.CType) {
			list = append(list, fmt.Sprintf("%s (%d)", e.Name, e.Value))
		}
		if list != nil {
			out = append(out, "They are "+strings.Join(list, ", ")+".")
		}
	}
	return out
}

func absent(r *request, it *item) []string {
	if it == nil || it.attr == "" || r.method == nil {
		return nil
	}
	for i := range r.method.Attrs {
		if a := &r.method.Attrs[i]; a.Name == it.attr {
			return []string{fmt.Sprintf("%s, id %d: %s.", a.Name, a.ID, takes(a))}
		}
	}
	return nil
}

func commandSizes(r *request, _ *item) []string {
	w := r.command
	if w == nil {
		return nil
	}
	s := fmt.Sprintf("%s takes %s", w.Name, w.ReqType)
	if w.ReqSize > 0 {
		s += fmt.Sprintf(", %d bytes", w.ReqSize)
	}
	if w.RespType != "" {
		s += fmt.Sprintf(", and answers %s", w.RespType)
		if w.RespSize > 0 {
			s += fmt.Sprintf(", %d bytes", w.RespSize)
		}
	}
	return []string{s + "."}
}
