package strace

import (
	"encoding/hex"

	"uverbsim/interpose/watch"
	"uverbsim/report/decode"
	"uverbsim/spec"
)

// argument writes the argument of an RDMA_VERBS_IOCTL.
func (p *printer) argument(c *watch.Call, d *decode.Ioctl) {
	p.text("{")
	for _, f := range d.Odd {
		p.text(f.Name + "=")
		p.value(&f.Value)
		p.text(", ")
	}
	p.text("object_id=")
	p.value(&d.Object)
	p.text(", method_id=")
	p.value(&d.Method)
	p.text(", driver_id=")
	p.value(&d.Driver)
	p.format(", num_attrs=%d, attrs=[", d.NumAttrs)
	for i := range d.Attrs {
		p.list(i)
		p.attr(&d.Attrs[i], &c.Ioctl.Attrs[i])
	}
	if n := d.NumAttrs - len(d.Attrs); n > 0 {
		p.list(len(d.Attrs))
		p.format("... /* %d more */", n)
	}
	p.text("]")
	if p.opts.Raw {
		p.text(", raw=" + hex.EncodeToString(c.Ioctl.Raw[:]))
	}
	p.text("}")
}

// kinds has what stands before the number of an object.
var kinds = map[spec.AttrType]string{spec.TypeIDR: "IDR ", spec.TypeFD: "FD ", spec.TypeRawFD: "FD "}

// attr writes an attribute.
func (p *printer) attr(d *decode.Attr, raw *watch.Attr) {
	p.text("{")
	p.value(&d.Name)
	p.sent(d)
	if d.Out != nil {
		p.text(" => ")
		p.value(d.Out)
	}
	switch {
	case d.Cut:
		p.format(" /* %d bytes left out */", d.Short)
	case d.Short > 0:
		p.format(" /* %d of %d bytes unreadable */", d.Short, d.Len)
	}
	for _, f := range d.Odd {
		p.text(", " + f.Name + "=")
		p.value(&f.Value)
	}
	if p.opts.Raw {
		p.raw(raw)
	}
	p.text("}")
}

// sent writes what the caller hands in.
func (p *printer) sent(d *decode.Attr) {
	switch {
	case d.New:
		p.text(", " + kinds[d.Type] + "new")
	case d.In != nil:
		p.text(", " + kinds[d.Type])
		p.value(d.In)
	case d.Out != nil:
	case d.Pointer && d.Type == spec.TypePtrOut:
		p.format(", room for %d bytes at ", d.Len)
		p.hex(d.Addr)
	case d.Pointer:
		p.text(", ")
		p.hex(d.Addr)
	}
}

// raw writes the bytes behind an attribute, before and after the call.
func (p *printer) raw(a *watch.Attr) {
	if !a.Pointer {
		p.text(", raw=" + hex.EncodeToString(a.Inline()))
		return
	}
	p.text(", raw=")
	p.hex(a.Data)
	p.text(":" + hex.EncodeToString(a.In))
	if string(a.In) != string(a.Out) {
		p.text(" => " + hex.EncodeToString(a.Out))
	}
}
