package explain

import (
	"strconv"
	"strings"
	"sync"

	"uverbsim/report/decode"
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
func attributes(r *request, decided *item) (out []Attribute) {
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
		case decided != nil && (decided.user == i || decided.user < 0 && a.Name != "" && (decided.attr == a.Name || r.blamed[a.Name])):
			a.State = Refused
		case raw.Spec == nil || !r.deviceHas(i):
			a.State = Ignored
		default:
			a.State = Consumed
		}
		out = append(out, a)
	}
	if r.method == nil {
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
	var walk func(v *Visit)
	walk = func(v *Visit) {
		if v.User >= 0 {
			n = max(n, v.User+1)
		}
		for _, c := range v.Children {
			walk(c)
		}
	}
	if r.call.Trace != nil {
		walk(r.call.Trace)
	}
	return n
}

// deviceHas says whether the device's own table has the user's attribute: a driver
// or an older kernel may lack what the definitions have.
func (r *request) deviceHas(user int) bool {
	has, found := true, false
	var walk func(v *Visit)
	walk = func(v *Visit) {
		if v.Name == "uverbs_set_attr" && v.User == user {
			has, found = v.Known, true
		}
		for _, c := range v.Children {
			walk(c)
		}
	}
	if r.call.Trace != nil {
		walk(r.call.Trace)
	}
	return has || !found
}

func attrText(d *decode.Attr) string {
	switch {
	case d.In != nil:
		return plain(d.In)
	case d.New:
		return "new"
	case d.Pointer:
		return strconv.Itoa(d.Len) + " bytes at 0x" + strconv.FormatUint(d.Addr, 16)
	}
	return ""
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
	// Part is where it lies: header, request, or driver.
	Part string `json:"part"`
	// Decided says that the deciding check speaks of it.
	Decided bool `json:"decided,omitempty"`
}

// members are those of the request of a write() command, in whichever way it came.
func members(r *request, decided *item) (out []Member) {
	add := func(part string, vs []Value) {
		for _, v := range vs {
			out = append(out, Member{Name: v.Name, Value: v.Value, Part: part})
		}
	}
	if r.write != nil && r.write.Readable {
		add("header", leaves("", &r.write.Header))
		add("request", leaves("", r.write.Request))
		add("driver", leaves("", r.write.UdataIn))
	} else {
		if r.commanded {
			add("request", r.core)
		}
		add("driver", r.driver)
	}
	if decided == nil {
		return out
	}
	for i := range out {
		for _, name := range namesIn(decided.check.cond) {
			if j := strings.LastIndex(name, "."); j >= 0 && strings.TrimSuffix(name[j+1:], "_") == out[i].Name {
				out[i].Decided = true
			}
		}
	}
	return out
}
