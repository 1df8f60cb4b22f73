package strace

import (
	"encoding/hex"
	"encoding/json"
	"net"
	"strconv"

	"uverbsim/interpose/watch"
	"uverbsim/report/decode"
	"uverbsim/rule"
	"uverbsim/spec"
)

// field begins a member of an object, n-th of it.
func (p *printer) field(n *int, name string) {
	if *n > 0 {
		p.text(",")
	}
	*n++
	p.str(name)
	p.text(":")
}

func (p *printer) str(s string) {
	b, _ := json.Marshal(s)
	p.b = append(p.b, b...)
}

func (p *printer) address(n uint64) { p.text(`"0x` + strconv.FormatUint(n, 16) + `"`) }

// object writes a call as a JSON object.
func (p *printer) object(c *watch.Call) {
	n := 0
	p.text("{")
	if p.opts.Times {
		p.field(&n, "time")
		p.str(c.Begun.Format("2006-01-02T15:04:05.000000Z07:00"))
	}
	p.field(&n, "pid")
	p.format("%d", c.PID)
	p.field(&n, "tid")
	p.format("%d", c.TID)
	p.field(&n, "call")
	p.str(c.Name)
	if c.FD >= 0 && c.Name != "open" && c.Name != "exit" {
		p.field(&n, "fd")
		p.format("%d", c.FD)
	}
	if c.Path != "" {
		p.field(&n, "path")
		p.str(c.Path)
	}
	if c.File != 0 {
		p.field(&n, "file")
		p.decimal(c.File)
	}
	if f := objects[c.Name]; f != nil {
		f(p, &n, c)
	}
	p.field(&n, "ret")
	p.ret(c)
	if c.Err != nil {
		p.refusal(&n, c)
	}
	if p.opts.Durations {
		p.field(&n, "seconds")
		p.format("%.6f", c.Took.Seconds())
	}
	p.text("}")
}

// ret writes what a call returned, null if that is not known.
func (p *printer) ret(c *watch.Call) {
	at, known := uint64(0), c.Ret != watch.Unknown
	if c.Name == "mmap" && c.Err == nil {
		at, known = mappedAt(c)
	}
	switch {
	case !known:
		p.text("null")
	case at != 0:
		p.decimal(at)
	default:
		p.format("%d", c.Ret)
	}
}

// refusal writes the error of a call.
func (p *printer) refusal(n *int, c *watch.Call) {
	p.field(n, "errno")
	if e, known := errno(c.Err); known {
		p.str(rule.ErrnoName(e))
	} else {
		p.str(c.Err.Error())
	}
	if r := c.Rule(); r != nil {
		p.field(n, "rule")
		b, _ := json.Marshal(map[string]string{"id": r.ID, "why": r.Why, "do": r.Do, "func": r.Func, "file": r.File})
		p.b = append(p.b, b...)
	}
}

// objects write the arguments of a call, by its name.
var objects = map[string]func(p *printer, n *int, c *watch.Call){
	"open":   (*printer).openObject,
	"ioctl":  (*printer).ioctlObject,
	"mmap":   (*printer).mmapObject,
	"munmap": (*printer).rangeObject,
	"read":   (*printer).readObject,
	"write":  (*printer).writeObject,
}

func (p *printer) openObject(n *int, c *watch.Call) {
	p.field(n, "flags")
	p.format("%d", c.OpenFlags)
}

func (p *printer) rangeObject(n *int, c *watch.Call) {
	p.field(n, "addr")
	p.address(c.Addr)
	p.field(n, "length")
	p.decimal(c.Length)
}

func (p *printer) mmapObject(n *int, c *watch.Call) {
	p.rangeObject(n, c)
	p.field(n, "prot")
	p.format("%d", c.Prot)
	p.field(n, "flags")
	p.format("%d", c.Flags)
	p.field(n, "offset")
	p.address(c.Offset)
}

func (p *printer) readObject(n *int, c *watch.Call) {
	p.rangeObject(n, c)
	if c.Err == nil && c.Data != nil {
		v := decode.Event(c.Path, c.Data.Bytes)
		p.field(n, "out")
		p.jsonValue(&v)
	}
}

func (p *printer) writeObject(n *int, c *watch.Call) {
	p.rangeObject(n, c)
	if c.Data == nil {
		return
	}
	w := decode.WriteCall(c)
	if !w.Readable {
		return
	}
	for _, part := range []struct {
		name string
		v    *decode.Value
	}{{"header", &w.Header}, {"in", w.Request}, {"udata_in", w.UdataIn}, {"out", w.Response}, {"udata_out", w.UdataOut}} {
		if part.v != nil {
			p.field(n, part.name)
			p.jsonValue(part.v)
		}
	}
}

func (p *printer) ioctlObject(n *int, c *watch.Call) {
	p.field(n, "cmd")
	if c.Cmd == spec.RDMA_VERBS_IOCTL {
		p.str("RDMA_VERBS_IOCTL")
	} else {
		p.address(uint64(c.Cmd))
	}
	p.field(n, "arg")
	p.address(uint64(c.Arg))
	if c.Ioctl == nil || !c.Ioctl.Readable {
		return
	}
	d := decode.Call(c)
	for _, m := range []struct {
		name string
		v    *decode.Value
	}{{"object", &d.Object}, {"method", &d.Method}, {"driver", &d.Driver}, {"command", d.Command}} {
		if m.v != nil {
			p.field(n, m.name)
			p.jsonValue(m.v)
		}
	}
	p.fields(n, d.Odd)
	p.field(n, "num_attrs")
	p.format("%d", d.NumAttrs)
	p.field(n, "attrs")
	p.text("[")
	for i := range d.Attrs {
		if i > 0 {
			p.text(",")
		}
		p.attrObject(&d.Attrs[i], &c.Ioctl.Attrs[i])
	}
	p.text("]")
	if p.opts.Raw {
		p.field(n, "raw")
		p.str(hex.EncodeToString(c.Ioctl.Raw[:]))
	}
}

func (p *printer) fields(n *int, fs []decode.Field) {
	for i := range fs {
		p.field(n, fs[i].Name)
		p.jsonValue(&fs[i].Value)
	}
}

func (p *printer) attrObject(d *decode.Attr, raw *watch.Attr) {
	n := 0
	p.text("{")
	p.field(&n, "id")
	p.decimal(d.Name.Num)
	if d.Name.Text != "" {
		p.field(&n, "name")
		p.str(d.Name.Text)
		p.field(&n, "type")
		p.str(d.Type.String())
	}
	if d.New {
		p.field(&n, "new")
		p.text("true")
	}
	if d.Mandatory {
		p.field(&n, "mandatory")
		p.text("true")
	}
	if d.Pointer {
		p.field(&n, "addr")
		p.address(d.Addr)
		p.field(&n, "len")
		p.format("%d", d.Len)
	}
	if d.Short > 0 {
		p.field(&n, map[bool]string{false: "unreadable", true: "left_out"}[d.Cut])
		p.format("%d", d.Short)
	}
	if d.In != nil {
		p.field(&n, "in")
		p.jsonValue(d.In)
	}
	if d.Out != nil {
		p.field(&n, "out")
		p.jsonValue(d.Out)
	}
	p.fields(&n, d.Odd)
	if p.opts.Raw && raw.Pointer {
		p.field(&n, "raw_before")
		p.str(hex.EncodeToString(raw.In))
		p.field(&n, "raw_after")
		p.str(hex.EncodeToString(raw.Out))
	}
	p.text("}")
}

// jsonValue writes a value as JSON: an enumerator as its name, flags as a list of
// names, addresses and bytes as hexadecimal strings, structs as objects.
func (p *printer) jsonValue(v *decode.Value) {
	switch v.Kind {
	case decode.Number:
		p.decimal(v.Num)
	case decode.Signed:
		p.b = strconv.AppendInt(p.b, int64(v.Num), 10)
	case decode.Hex:
		p.address(v.Num)
	case decode.Name:
		p.jsonName(v)
	case decode.Flags:
		p.jsonFlags(v)
	case decode.Text:
		p.str(v.Text)
	case decode.IP:
		p.str(address(v.Bytes))
	case decode.MAC:
		p.str(net.HardwareAddr(v.Bytes).String())
	case decode.Bytes:
		p.str(hex.EncodeToString(v.Bytes))
	case decode.Struct:
		p.jsonStruct(v)
	case decode.Array:
		p.jsonItems(v)
	case decode.Choice:
		p.text(`{"choice":`)
		p.jsonName(v)
		if len(v.Items) > 0 {
			p.text(`,"value":`)
			p.jsonValue(&v.Items[0])
		}
		p.text("}")
	}
}

func (p *printer) jsonName(v *decode.Value) {
	if v.Text == "" {
		p.decimal(v.Num)
		return
	}
	p.str(v.Text)
}

func (p *printer) jsonFlags(v *decode.Value) {
	p.text("[")
	for i, name := range v.Names {
		if i > 0 {
			p.text(",")
		}
		p.str(name)
	}
	if v.Rest != 0 {
		if len(v.Names) > 0 {
			p.text(",")
		}
		p.address(v.Rest)
	}
	p.text("]")
}

func (p *printer) jsonStruct(v *decode.Value) {
	n := 0
	p.text("{")
	p.fields(&n, v.Fields)
	if v.Missing > 0 {
		p.field(&n, "missing_bytes")
		p.format("%d", v.Missing)
	}
	if v.Zeros > 0 {
		p.field(&n, "zero_bytes")
		p.format("%d", v.Zeros)
	}
	if len(v.Tail) > 0 {
		p.field(&n, "tail")
		p.str(hex.EncodeToString(v.Tail))
	}
	p.text("}")
}

func (p *printer) jsonItems(v *decode.Value) {
	p.text("[")
	for i := range v.Items {
		if i > 0 {
			p.text(",")
		}
		p.jsonValue(&v.Items[i])
	}
	p.text("]")
}
