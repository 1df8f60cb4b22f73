package explain

import (
	"reflect"
	"strings"

	"uverbsim/core"
	"uverbsim/interpose/watch"
	"uverbsim/report/decode"
	"uverbsim/spec"
)

// Call is a system call that was made on the model, with what the model tells of
// it.
type Call struct {
	*watch.Call

	// Trace is what the kernel did for it, see Recorder.
	Trace *Visit
	// DriverName is the driver's name as a case has it: rxe, mlx5, stub.
	DriverName string
	// IB is the driver's device, nil if it is gone.
	IB *core.Device
	// Cap returns a capability of the device's firmware by the name of its
	// field; nil for a device that has none.
	Cap func(field string) (uint64, bool)
	// Memlock is how many bytes the process may lock, Pinned how many pages it had
	// pinned before.
	Memlock, Pinned uint64
	// Objects are those that the open file has, Others those of other open files.
	Objects []Object
	Others  []OpenFile
	// Mapped are the ranges of memory that the process has mapped, in order: where
	// each begins and ends. It is of use where memory could not be pinned.
	Mapped [][2]uint64
	// QPs are the file's queue pairs, by their handles.
	QPs map[int64]QP
	// Args are the numbers of a call that has no bytes, as an mmap's.
	Args []Value
}

// request is what is known of a call: the numbers that conditions speak of.
type request struct {
	call  *Call
	ioctl *decode.Ioctl
	write *decode.Write

	method *spec.Method // nil for what is no ioctl, or not known

	// members are those of the request's structs: the core's and the driver's.
	core, driver []Value
	filled       map[string]bool // the members that a command's request ends before: the kernel takes them for 0
	blamed       map[string]bool // the attributes that the deciding condition speaks of
	commanded    bool            // it is a write() command, in whichever way it came
	word         uint32          // the command
	command      *spec.Write
}

// Value is a number that a decision depends on, or that tells of it.
type Value struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	n     uint64
	known bool // it is a number
}

func newRequest(c *Call) *request {
	r := &request{call: c, blamed: map[string]bool{}}
	switch {
	case c.Ioctl != nil && c.Ioctl.Readable:
		r.ioctl = decode.Call(c.Call)
		r.method = c.Ioctl.Method
		if word, ok := c.Ioctl.InvokeWrite(); ok {
			r.word, r.commanded = word, true
		}
		for i := range r.ioctl.Attrs {
			a := &r.ioctl.Attrs[i]
			if a.In == nil {
				continue
			}
			switch {
			case a.Name.Text == "UVERBS_ATTR_UHW_IN":
				r.driver = append(r.driver, leaves("", a.In)...)
			case a.Name.Text == "UVERBS_ATTR_CORE_IN":
				r.core = append(r.core, leaves("", a.In)...)
			case a.In.Kind == decode.Struct:
				r.core = append(r.core, leaves("", a.In)...)
			}
		}
	case c.Name == "write" && c.Data != nil:
		if r.write = decode.WriteCall(c.Call); r.write.Readable {
			r.word, r.commanded = uint32(r.write.Command.Num), true
			r.core = append(leaves("", r.write.Request), leaves("", &r.write.Header)...)
			r.driver = leaves("", r.write.UdataIn)
		}
	}
	if r.commanded {
		r.command = spec.FindWrite(spec.Core(), uint8(r.word), r.word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0)
		r.filled = lacking(r.commandRequest())
	}
	return r
}

// commandRequest is the core's part of a command's request, nil if there is none.
func (r *request) commandRequest() *decode.Value {
	if r.write != nil {
		return r.write.Request
	}
	for i := range r.ioctl.Attrs {
		if a := &r.ioctl.Attrs[i]; a.Name.Text == "UVERBS_ATTR_CORE_IN" {
			return a.In
		}
	}
	return nil
}

// lacking are the members of a struct behind its end.
func lacking(v *decode.Value) map[string]bool {
	if v == nil || v.Kind != decode.Struct || v.Missing == 0 {
		return nil
	}
	out := map[string]bool{}
	for _, name := range spec.Members(v.Type) {
		out[name] = v.Field(name) == nil
	}
	return out
}

// leaves are the numbers of a value, by the names of their members.
func leaves(name string, v *decode.Value) (out []Value) {
	if v == nil {
		return nil
	}
	switch v.Kind {
	case decode.Struct:
		for i := range v.Fields {
			f := &v.Fields[i]
			out = append(out, leaves(f.Name, &f.Value)...)
		}
		return out
	case decode.Number, decode.Signed, decode.Hex, decode.Name, decode.Flags:
		return []Value{{Name: name, Value: plain(v), n: v.Num, known: true}}
	case decode.Bytes, decode.Text, decode.IP, decode.MAC, decode.Array:
		return []Value{{Name: name, Value: plain(v)}}
	}
	return nil
}

// handler names the handler that a function runs, as the table of handlers does.
func (r *request) handler(p *place) string {
	if strings.HasSuffix(p.function, "WriteMethod).Run") {
		if r.command == nil || p.visit != nil && p.visit.Name == "ib_uverbs_notsupp" {
			return noCommand
		}
		return r.command.Name
	}
	if r.method == nil {
		return ""
	}
	return r.method.Name
}

// mayRun says whether a function may be one of this machine's.
func (r *request) mayRun(id string) bool {
	for _, driver := range []string{"mlx5", "rxe"} {
		if strings.Contains(id, "drivers/"+driver+".") {
			return r.call.DriverName == driver
		}
	}
	return !strings.Contains(id, "sim_test/stub.") || r.call.DriverName == "stub"
}

// prefer chooses among functions that the trace does not tell apart.
func (r *request) prefer(ids []string, p *place) string {
	if p.user >= 0 && r.call.Ioctl != nil && p.user < len(r.call.Ioctl.Attrs) {
		if s := r.call.Ioctl.Attrs[p.user].Spec; s != nil && s.Type == spec.TypeFD {
			ids = append(withPrefix(ids, "(uobject.fdClass)."), ids...)
		}
	}
	for _, prefix := range preferred {
		if fit := withPrefix(ids, prefix); len(fit) > 0 {
			return fit[0]
		}
	}
	return first(withPrefix(ids, devices[r.call.Name]))
}

// preferred are the types of what a call meets behind an interface, if nothing
// tells otherwise: its bundle, the address space of its process, a handle.
var preferred = []string{"(*kernel.Bundle).", "(*copyuser.AddressSpace).", "(*kernel.vfs).", "(uobject.idrClass)."}

// devices are the operations of the device's file.
var devices = map[string]string{"ioctl": "kernel.ioctl", "write": "kernel.write", "mmap": "kernel.mmap"}

// noCommand is where the handler of commands that the device lacks is kept.
const noCommand = "not supported"

func withPrefix(ids []string, prefix string) (out []string) {
	for _, id := range ids {
		if prefix != "" && strings.HasPrefix(id, prefix) {
			out = append(out, id)
		}
	}
	return out
}

// env has what the names of a condition stand for, in a function, at the user's
// attribute or at the attribute that a handler asks for.
func (r *request) env(function string, user int, attr string, defs []string) *env {
	return &env{defs: defs, lookup: func(name string) value {
		v, _ := r.lookup(function, user, attr, name)
		return v
	}}
}

// lookup finds a number by the name that a condition has for it, and how it is
// to be shown.
func (r *request) lookup(function string, user int, attr, name string) (value, *Value) {
	if name, ok := strings.CutPrefix(name, ofAttribute); ok {
		return r.attribute(name)
	}
	if name == "cmd" && (strings.Contains(function, "methods.") || strings.Contains(function, "drivers/")) {
		return value{}, nil // the request's struct, and not the system call's argument
	}
	if v := r.parserName(user, attr, name); v.kind != unknown {
		return v, nil
	}
	if r.call.Cap != nil {
		if v, shown := r.capability(name); v.kind != unknown {
			return v, shown
		}
	}
	base, member := "", name
	if i := strings.LastIndex(name, "."); i >= 0 {
		base, member = name[:i], name[i+1:]
	}
	if strings.ContainsAny(member, "()[] ") {
		return value{}, nil
	}
	if base == "device_attr" {
		v, shown := among(r.device(), kernelMember(member))
		if shown != nil {
			limit := r.ofDevice(*shown)
			shown = &limit
		}
		return v, shown
	}
	if base == "c" && !strings.Contains(function, "drivers/mlx5") {
		base = "cap"
	}
	if base == "q" || base == "ib" {
		if v := r.queuePair(function, base+"."+member); v.kind != unknown {
			shown := text("qp_type", "%s", enumName("enum ib_qp_type", uint8(v.n.Uint64())))
			return v, &shown
		}
	}
	if !requests[base] {
		return value{}, nil
	}
	lists := [][]Value{r.core, r.attributes()}
	if strings.Contains(function, "drivers/") && base != "attr" && base != "limits" && base != "cap" {
		lists = [][]Value{r.driver, r.core, r.attributes()}
	}
	if base == "device" || base == "dev" || base == "ib" {
		lists = append([][]Value{r.device()}, lists...)
	} else if strings.HasPrefix(member, "max_") && base == "attr" {
		lists = append(lists, r.device())
	}
	for _, list := range lists {
		if v, shown := among(list, member); shown != nil {
			return v, shown
		}
	}
	if base == "cmd" && r.filled[strings.TrimSuffix(member, "_")] {
		return num(0), nil
	}
	return value{}, nil
}

// requests are the names that functions have for what they copied from the user,
// or made of that.
var requests = map[string]bool{
	"cmd": true, "ucmd": true, "req": true, "attr": true, "base": true, "cap": true, "device": true, "dev": true, "ib": true,
	"in": true, "udata": true, "limits": true, "init": true, "h": true, "flow_attr": true, "dest": true, "alt_dest": true,
}

func among(list []Value, member string) (value, *Value) {
	member = strings.TrimSuffix(member, "_")
	for i := range list {
		if v := &list[i]; v.known && matches(v.Name, member) {
			return num(v.n), v
		}
	}
	return value{}, nil
}

// matches says whether a member of a condition is the one of that name: a member
// of a struct has the same, an attribute ends in it.
func matches(name, member string) bool {
	return name == member || name == strings.ReplaceAll(member, "qwqe", "q_wqe") || strings.HasPrefix(name, "UVERBS_ATTR_") && strings.HasSuffix(name, "_"+strings.ToUpper(member)) ||
		strings.HasPrefix(name, "MLX5_IB_ATTR_") && strings.HasSuffix(name, "_"+strings.ToUpper(member))
}

// attributes are the numbers that attributes hand in, by the attribute's name.
func (r *request) attributes() (out []Value) {
	if r.ioctl == nil {
		return nil
	}
	for i := range r.ioctl.Attrs {
		a := &r.ioctl.Attrs[i]
		if a.In == nil || a.Name.Text == "" {
			continue
		}
		for _, v := range leaves(a.Name.Text, a.In) {
			if v.Name == a.Name.Text {
				out = append(out, v)
			}
		}
	}
	return out
}

// attribute is the number that an attribute hands in.
func (r *request) attribute(name string) (value, *Value) {
	for _, v := range r.attributes() {
		if v.Name == name {
			return num(v.n), &v
		}
	}
	return value{}, nil
}

// device are the limits of the device.
func (r *request) device() (out []Value) {
	if r.call.Device != nil {
		out = append(out, number("num_comp_vectors", uint64(r.call.Device.NumCompVectors)))
	}
	if r.call.IB == nil {
		return out
	}
	out = append(out, number("gid_tbl_len", uint64(r.call.IB.GIDTblLen)), number("phys_ports", uint64(r.call.IB.PhysPorts)))
	v := reflect.ValueOf(r.call.IB.Attr)
	for i := range v.NumField() {
		if f := v.Field(i); f.CanUint() {
			name := kernelMember(member(v.Type().Field(i).Name))
			if strings.HasSuffix(name, "_flags") {
				out = append(out, hexNumber(name, f.Uint()))
				continue
			}
			out = append(out, number(name, f.Uint()))
		}
	}
	return out
}

// capability finds what a condition asks of the firmware.
func (r *request) capability(name string) (value, *Value) {
	i, j := strings.Index(name, "."), strings.Index(name, "(")
	if i < 0 || j < i || !strings.HasSuffix(name, ")") {
		return value{}, nil
	}
	op, field := name[i+1:j], name[j+1:len(name)-1]
	n, ok := r.call.Cap(field)
	if !ok {
		return value{}, nil
	}
	shown := number(field, n)
	switch op {
	case "has":
		return is(n != 0), &shown
	case "get":
		return num(n), &shown
	case "pow2":
		return num(1 << n), &shown
	}
	return value{}, nil
}

// queuePair is what drivers call the type of the queue pair that MODIFY_QP is for.
func (r *request) queuePair(function, name string) value {
	s, ok := r.step()
	switch {
	case !ok || name != "q.typ" && name != "ib.type_":
		return value{}
	case s.dci() && name == "q.typ":
		if !strings.HasSuffix(function, ".checkQPStep") {
			return value{} // it may be a DCT, which has left before that
		}
		return num(constants["QPT_DCI"])
	}
	return num(uint64(s.typ))
}
