package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"uverbsim/report/decode"
	"uverbsim/rule"
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

// OpenFile is another open file of the device.
type OpenFile struct {
	Name    string // as the case calls its descriptor
	Objects []Object
}

// Object is an object of an open file.
type Object struct {
	ID   int64  // its handle, or its descriptor
	FD   bool   // it is one behind a descriptor
	Type string // "UVERBS_OBJECT_CQ"

	// Uses is its use count, and UsedBy are the objects of the file that use it. They
	// are of use where it could not be destroyed.
	Uses   int32
	UsedBy []User
}

func (o *Object) String() string {
	switch {
	case o.FD && o.ID < 0:
		return o.Type + " (its descriptor is closed)"
	case o.FD:
		return fmt.Sprintf("descriptor %d %s", o.ID, o.Type)
	}
	return fmt.Sprintf("%d %s", o.ID, o.Type)
}

// User is an object that uses another.
type User struct {
	ID   int64
	Type string
	As   []string // the members that name the other, as "send_cq"
}

// objects are the rules about which object a handle is of.
var objects = map[string]bool{"object/not-found": true, "object/wrong-type": true}

// handles are the rules that look at a handle, or at a descriptor in place of one.
var handles = map[string]bool{
	"object/not-found": true, "object/wrong-type": true, "object/negative-handle": true,
	"object/fd-range": true, "object/fd-gone": true, "object/fd-bad": true, "object/fd-foreign": true,
}

// objectValues are the values of the checks on handles, on use counts, and on what is
// mapped; nil for other checks.
func objectValues(r *request, refused *rule.Rule, it *item) []Value {
	switch {
	case it == nil:
	case handles[refused.ID]:
		return r.handleValues(refused, it)
	case strings.HasSuffix(refused.ID, "/busy"):
		return r.busyValues(it)
	case refused.ID == rule.PinUnmapped.ID:
		return r.unmappedValues(it)
	}
	return nil
}

// handleValues say which handle was handed in, where, what it is, and what the file
// has.
func (r *request) handleValues(refused *rule.Rule, it *item) (out []Value) {
	handle, found := r.handle(it)
	wanted := r.wanted(it)
	if r.handleSays(it, refused) != yes {
		if only, typ := r.onlyHandle(refused); typ != "" {
			handle, wanted, found = only, typ, true
		}
	}
	if !found {
		return nil
	}
	r.blamed[handle.Name] = true
	own := objectOf(r.call.Objects, handle)
	switch {
	case refused.ID == "object/wrong-type" && own != nil:
		handle.Value += ", which is of type " + own.Type
	case refused.ID == "object/not-found":
		handle.Value += ", which no object of this file has"
	}
	out = append(out, handle)
	if wanted != "" {
		out = append(out, text("wanted", "%s", wanted))
	}
	if objects[refused.ID] {
		out = append(out, r.objects()...)
	}
	for i := range r.call.Others {
		other := &r.call.Others[i]
		if o := objectOf(other.Objects, handle); o != nil {
			out = append(out, text("in the other open file "+other.Name, "%s", o))
		}
	}
	return out
}

// answer is what is known of a question.
type answer int

const (
	unsaid answer = iota
	yes
	no
)

// handleSays answers whether a check on a handle refused it, by what the file has:
// no such object, or one that could be of the wrong type.
func (r *request) handleSays(it *item, refused *rule.Rule) answer {
	if !objects[refused.ID] {
		return unsaid
	}
	handle, found := r.handle(it)
	if !found || !handle.known {
		return unsaid
	}
	own := objectOf(r.call.Objects, handle)
	if refused.ID == rule.ObjectNotFound.ID {
		if own == nil {
			return yes
		}
		return no
	}
	wanted := r.wanted(it)
	switch {
	case own == nil || own.Type == wanted:
		return no
	case wanted == "":
		return unsaid
	}
	return yes
}

// onlyHandle is the one handle of a command that a check can have refused, by what the
// file has, and the type of object that was wanted; "" if there are none or several.
func (r *request) onlyHandle(refused *rule.Rule) (handle Value, wanted string) {
	if !r.commanded || !objects[refused.ID] {
		return Value{}, ""
	}
	for _, ctype := range decode.BuffersOf(r.call.Driver, r.word).Request {
		for _, v := range r.core {
			m, _ := spec.MeaningOf(ctype, v.Name)
			if m.Role != spec.RoleHandle {
				continue
			}
			var types []string
			for _, id := range m.Objects {
				types = append(types, objectName(r.call.Driver, id))
			}
			own := objectOf(r.call.Objects, v)
			if (own == nil) != (refused.ID == rule.ObjectNotFound.ID) || own != nil && slices.Contains(types, own.Type) {
				continue
			}
			if wanted != "" && handle.Name != v.Name {
				return Value{}, ""
			}
			handle, wanted = v, strings.Join(types, " or ")
		}
	}
	return handle, wanted
}

// objectName is the name of a type of objects.
func objectName(driver uint32, id uint16) string {
	for _, d := range spec.Linux6_12.Definitions(driver) {
		if d.Object.ID == id && d.Object.Name != "" {
			return d.Object.Name
		}
	}
	return ""
}

// objectOf finds the object of a handle.
func objectOf(list []Object, handle Value) *Object {
	for i := range list {
		if o := &list[i]; !o.FD && handle.known && uint64(o.ID) == handle.n {
			return o
		}
	}
	return nil
}

// handle is the handle that a check was on: an attribute's, or a member of the
// request, by the member's own name.
func (r *request) handle(it *item) (Value, bool) {
	if it.user >= 0 && r.call.Ioctl != nil && it.user < len(r.call.Ioctl.Attrs) {
		a := &r.call.Ioctl.Attrs[it.user]
		v := Value{Name: r.attrName(it.user), Value: strconv.FormatInt(int64(a.Data), 10), n: a.Data, known: true}
		if a.Spec != nil && a.Spec.Type == spec.TypeIDRsArray {
			v.Value, v.known = attrText(&r.ioctl.Attrs[it.user]), false
			if id := it.env.eval("id"); id.kind == numeric && id.n.IsUint64() {
				v.Value, v.n, v.known = id.n.String()+" of "+v.Value, id.n.Uint64(), true
			}
		}
		return v, v.Name != ""
	}
	for _, v := range r.handed(it) {
		return v, true
	}
	return Value{}, false
}

// wanted is the type of object that a check asks for.
func (r *request) wanted(it *item) string {
	if it.user >= 0 && r.call.Ioctl != nil && it.user < len(r.call.Ioctl.Attrs) {
		s := r.call.Ioctl.Attrs[it.user].Spec
		if s == nil {
			return ""
		}
		return objectName(r.call.Driver, s.Object)
	}
	for e := it.env; e != nil; e = e.caller {
		for i := 0; i+1 < len(e.binds); i += 2 {
			if strings.HasPrefix(e.binds[i+1], "UVERBS_OBJECT_") {
				return e.binds[i+1]
			}
		}
	}
	if handle, _ := r.handle(it); handle.Name == "comp_channel" {
		return "UVERBS_OBJECT_COMP_CHANNEL"
	}
	return ""
}

// mostObjects is how many objects of a file are shown.
const mostObjects = 8

// objects are those that the file has.
func (r *request) objects() []Value {
	if r.ioctl == nil && r.write == nil {
		return nil
	}
	var list []string
	for i := range r.call.Objects {
		if i == mostObjects {
			list = append(list, fmt.Sprintf("and %d more", len(r.call.Objects)-i))
			break
		}
		list = append(list, r.call.Objects[i].String())
	}
	if list == nil {
		list = []string{"none"}
	}
	return []Value{text("objects of the file", "%s", strings.Join(list, ", "))}
}

// busyValues say how many use the object that was to be destroyed, and which.
func (r *request) busyValues(it *item) []Value {
	handle, found := Value{}, false
	if vs := r.destroyed(); len(vs) > 0 {
		handle, found = vs[0], true
		for i := range r.call.Ioctl.Attrs {
			if r.attrName(i) == handle.Name {
				handle.n, handle.known = r.call.Ioctl.Attrs[i].Data, true
			}
		}
		handle.Value = strconv.FormatUint(handle.n, 10)
	} else if handle, found = r.handle(it); !found {
		for _, v := range r.core {
			if strings.HasSuffix(v.Name, "_handle") && v.Name != "user_handle" && !found {
				handle, found = v, true
			}
		}
	}
	if !found {
		return nil
	}
	r.blamed[handle.Name] = true
	o := objectOf(r.call.Objects, handle)
	if o == nil {
		return []Value{handle}
	}
	out := []Value{handle, text("use count", "%d", o.Uses)}
	var list []string
	for _, u := range o.UsedBy {
		list = append(list, fmt.Sprintf("%d %s (%s)", u.ID, u.Type, strings.Join(u.As, ", ")))
	}
	if list != nil {
		out = append(out, text("used by", "%s", strings.Join(list, ", ")))
	}
	return out
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
