package explain

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"uverbsim/report/decode"
	"uverbsim/rule"
	"uverbsim/spec"
)

// The states of an attribute.
const (
	Consumed   = "consumed"    // the parser took it
	Refused    = "refused"     // the call was refused for it
	Ignored    = "ignored"     // the method does not have it, and it is not marked as mandatory
	NotReached = "not reached" // the call was refused before the parser came to it
	Missing    = "missing"     // the method must have it and the call does not
	NotSent    = "not sent"    // the method may have it
)

// Attribute is an attribute of the call, or one that the method takes besides.
type Attribute struct {
	Index     int    `json:"index"` // in the user's order; -1 if it was not sent
	ID        uint16 `json:"id"`
	Name      string `json:"name,omitempty"`
	State     string `json:"state"`
	Mandatory bool   `json:"mandatory,omitempty"` // the method must have it
	// Takes says what the method takes: "PTR_IN, 4 bytes".
	Takes string `json:"takes,omitempty"`
	Value string `json:"value,omitempty"`
}

// attributes tells what became of each attribute of an ioctl.
func attributes(r *request, decided *item, of *Refusal) (out []Attribute) {
	if r.ioctl == nil || !r.call.Ioctl.Readable {
		return nil
	}
	reached := r.reached()
	for i := range r.call.Ioctl.Attrs {
		raw := &r.call.Ioctl.Attrs[i]
		a := Attribute{Index: i, ID: raw.AttrID, Value: attrText(&r.ioctl.Attrs[i])}
		if raw.Spec != nil {
			a.Name, a.Mandatory, a.Takes = raw.Spec.Name, raw.Spec.Mandatory, takes(raw.Spec)
		}
		switch {
		case i >= reached:
			a.State = NotReached
		case decided != nil && (decided.user == i || decided.user < 0 && a.Name != "" && (decided.attr == a.Name || r.blamed[a.Name] || refusedFor(a.Name, of))):
			a.State = Refused
		case raw.Spec == nil || !r.deviceHas(i):
			a.State = Ignored
		default:
			a.State = Consumed
		}
		out = append(out, a)
	}
	if r.method == nil || of.Decided.Rule == rule.MethodUnknown.ID {
		return out
	}
	for i := range r.method.Attrs {
		s := &r.method.Attrs[i]
		if r.call.Ioctl.Attr(s.ID) != nil {
			continue
		}
		a := Attribute{Index: -1, ID: s.ID, Name: s.Name, Mandatory: s.Mandatory, Takes: takes(s), State: NotSent}
		if s.Mandatory {
			a.State = Missing
		}
		out = append(out, a)
	}
	return out
}

// reached is how many of the attributes the parser came to.
func (r *request) reached() int {
	n := 0
	for v := range r.call.Trace.all() {
		n = max(n, v.User+1)
	}
	return n
}

// deviceHas says whether the device's own table has the user's attribute: a driver
// or an older kernel may lack what the definitions have.
func (r *request) deviceHas(user int) bool {
	has := true
	for v := range r.call.Trace.all() {
		if v.Name == "uverbs_set_attr" && v.User == user {
			has = v.Known
		}
	}
	return has
}

func attrText(d *decode.Attr) string {
	switch {
	case d.In != nil:
		return plain(d.In)
	case d.New:
		return "new"
	case d.Pointer:
		return pointsTo(d.Len, d.Addr)
	}
	return ""
}

func pointsTo(length int, addr uint64) string {
	return strconv.Itoa(length) + " bytes at 0x" + strconv.FormatUint(addr, 16)
}

// takes says what a method takes in an attribute.
func takes(a *spec.Attr) string {
	s := a.String()
	s = strings.TrimPrefix(s, a.Name+" ")
	s = strings.TrimSuffix(s, ", mandatory")
	if name := driverObjects()[a.Object]; name != "" && a.IsObject() {
		s = strings.Replace(s, "object 0x"+strconv.FormatUint(uint64(a.Object), 16), name, 1)
	}
	return s
}

// driverObjects are the names of the objects that a driver adds. Only mlx5 has such.
var driverObjects = sync.OnceValue(func() map[uint16]string {
	names := map[uint16]string{}
	for _, d := range spec.MLX5() {
		if d.Object.ID >= spec.UVERBS_ID_DRIVER_NS && d.Object.Name != "" {
			names[d.Object.ID] = d.Object.Name
		}
	}
	return names
})

// Member is a member of the request of a write() command.
type Member struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Part is where it lies: header, request, or driver, or the attribute whose struct
	// it is of.
	Part string `json:"part"`
	// Decided says that the deciding check speaks of it.
	Decided bool `json:"decided,omitempty"`
}

// members are those of the request of a write() command, in whichever way it came,
// and those of the driver's part.
func members(r *request, decided *item, of *Refusal) (out []Member) {
	add := func(part string, vs []Value) {
		for _, v := range vs {
			out = append(out, Member{Name: v.Name, Value: v.Value, Part: part})
		}
	}
	if r.write != nil && r.write.Readable {
		add(partHeader, leaves("", &r.write.Header))
		add(partRequest, leaves("", r.write.Request))
		add(partDriver, leaves("", r.write.UdataIn))
	} else {
		if r.commanded {
			add(partRequest, r.core)
		}
		add(partDriver, r.driver)
		for name, v := range r.structs() {
			add(name, leaves("", v))
		}
	}
	if decided != nil {
		blame(out, decided, of)
	}
	return out
}

// structs are the attributes that hand in a struct, apart from those that carry the
// parts of a command and of the driver.
func (r *request) structs() iter.Seq2[string, *decode.Value] {
	return func(yield func(string, *decode.Value) bool) {
		if r.ioctl == nil {
			return
		}
		for i := range r.ioctl.Attrs {
			a := &r.ioctl.Attrs[i]
			if a.In == nil || a.In.Kind != decode.Struct || a.Name.Text == "" || carriers[a.Name.Text] != "" {
				continue
			}
			if !yield(a.Name.Text, a.In) {
				return
			}
		}
	}
}

// The parts of a request.
const (
	partHeader  = "header"
	partRequest = "request"
	partDriver  = "driver"
)

// blame marks the members that a call was refused for: those that the parts of the
// condition speak of which held, or else those among the values.
func blame(list []Member, decided *item, of *Refusal) {
	found := false
	mark := func(name, part, cond string) {
		for _, m := range meant(list, name, part, cond, of.Values) {
			m.Decided, found = true, true
		}
	}
	if of.Decided.Of != "" {
		mark(of.Decided.Of, "", "")
		return
	}
	if !handles[of.Decided.Rule] {
		for _, part := range guilty(decided) {
			for _, name := range namesIn(part) {
				if j := strings.LastIndex(name, "."); j >= 0 {
					member, of := memberOf(name[:j], strings.TrimSuffix(name[j+1:], "_"))
					mark(member, of, part)
				}
			}
		}
	}
	if !found {
		for _, v := range of.Values {
			mark(v.Name, "", "")
			if v.Name == "new_state" {
				mark("qp_state", "", "")
			}
		}
	}
}

// meant are the members of that name in a part of the request. Where structs within
// it have several, they are those with the value that is told, and for a condition
// that refuses other values than 0 those with others.
func meant(list []Member, name, part, cond string, values []Value) (out []*Member) {
	for i := range list {
		m := &list[i]
		if m.Name == name && (part == "" || part == m.Part || part == notDriver && m.Part != partDriver) {
			out = append(out, m)
		}
	}
	only := func(fits func(*Member) bool) {
		if some := slices.DeleteFunc(slices.Clone(out), func(m *Member) bool { return !fits(m) }); len(some) > 0 {
			out = some
		}
	}
	if len(out) > 1 {
		if i := slices.IndexFunc(values, func(v Value) bool { return v.Name == name }); i >= 0 {
			only(func(m *Member) bool { return m.Value == values[i].Value })
		}
	}
	if len(out) > 1 && strings.HasSuffix(cond, "!= 0") {
		only(func(m *Member) bool { return strings.Trim(m.Value, "0x") != "" })
	}
	return out
}

// guilty are the parts of the deciding condition that held; all of them if none is
// known to have.
func guilty(it *item) (out []string) {
	all := parts(it.check.cond)
	for _, part := range all {
		if v := it.env.eval(part); v.kind == truth && v.truth {
			out = append(out, part)
		}
	}
	if out == nil {
		return all
	}
	return out
}

// notDriver stands for any part of a request but the driver's.
const notDriver = "not the driver's"

// memberOf finds out which part of a request a name of a condition speaks of, and
// what the member is called there. An "h" is the header of a write() command.
func memberOf(base, member string) (name, part string) {
	switch {
	case base == "h" && member == "reserved":
		return "cmd_hdr_reserved", partHeader
	case base == "h":
		return member, partHeader
	case base == "ucmd":
		return member, partDriver
	case base == "attr" || base == "cmd":
		return member, notDriver
	}
	return member, ""
}

// refusedFor says whether a call was refused for what an attribute holds: the part
// of the request that it carries has the guilty member, or is what the rule is on.
func refusedFor(attr string, of *Refusal) bool {
	part := carriers[attr]
	if part == "" {
		part = attr
	}
	for _, m := range of.Members {
		if m.Decided && m.Part == part {
			return true
		}
	}
	for _, s := range onContents[attr] {
		if strings.HasSuffix(of.Decided.Rule, s) {
			return true
		}
	}
	for _, v := range of.Values {
		if carriers[attr] != "" && (v.Name == attr || strings.HasPrefix(v.Name, attr+"'s ")) {
			return true
		}
	}
	return false
}

// carriers are the attributes that carry a part of a request.
var carriers = map[string]string{"UVERBS_ATTR_CORE_IN": partRequest, "UVERBS_ATTR_UHW_IN": partDriver}

// onContents are the ends of the ids of rules on the whole of a part.
var onContents = map[string][]string{
	"UVERBS_ATTR_UHW_IN":  {"/request-size", "/request-fault", "/tail", "/udata-in"},
	"UVERBS_ATTR_CORE_IN": {"cmd/request-fault", "cmd/request-tail"},
}
