package dissect

import (
	"fmt"
	"strings"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/report/decode"
	"uverbsim/report/request"
	"uverbsim/rule"
	"uverbsim/spec"
)

// ioctl takes a struct ib_uverbs_ioctl_hdr with its attributes to pieces.
func (d *Dump) ioctl(r *request.Request) {
	b := r.Bytes
	h := d.header(b)
	d.Parts = append(d.Parts, Part{})
	short := len(b) < spec.IoctlHdrSize
	shown := watch.TakeIoctl(r.Mem(short), copyuser.Addr(r.At), d.Device.Driver)
	// An error, so that nothing in memory counts as an answer.
	names := decode.Call(&watch.Call{Ioctl: shown, Driver: d.Device.Driver, Err: rule.AttrMissing})
	hdr := &shown.Header
	object, method := spec.FindMethod(d.defs, hdr.ObjectID, hdr.MethodID)
	d.Object, d.Method = names.Object.Text, names.Method.Text
	d.headerSays(h, hdr, names, object != "", method != nil)
	d.Parts[0] = *h
	if short {
		d.flaw(nil, "the dump ends within the header, of which it has %d of %d bytes", len(b), spec.IoctlHdrSize)
		return
	}
	d.Len = spec.IoctlHdrSize + int(hdr.NumAttrs)*spec.IoctlAttrSize
	invokes := hdr.ObjectID == spec.UVERBS_OBJECT_DEVICE && hdr.MethodID == spec.UVERBS_METHOD_INVOKE_WRITE
	p := pieces{d: d, method: method, sent: map[uint16]int{}, invokes: invokes}
	for n := range shown.Attrs {
		d.Parts = append(d.Parts, p.attr(n, b, &shown.Attrs[n], &names.Attrs[n]))
	}
	switch {
	case d.Len > copyuser.PageSize:
		d.tooMany(min(int(hdr.NumAttrs), (len(b)-spec.IoctlHdrSize)/spec.IoctlAttrSize), len(shown.Attrs), hdr.NumAttrs)
	case len(b) < d.Len:
		d.flaw(nil, "the dump ends before the request does: it has %d of %d bytes, and %d of %d attributes", len(b), d.Len, len(shown.Attrs), hdr.NumAttrs)
	case len(b) > d.Len && !r.Addressed:
		d.flaw(nil, "the dump has %d bytes more than the header says", len(b)-d.Len)
	}
	if method != nil && len(shown.Attrs) == int(hdr.NumAttrs) {
		d.missing(method, p.sent)
	}
}

// tooMany says of a header with more attributes than a request can have how many
// the dump has, and how many of them are told.
func (d *Dump) tooMany(has, told int, says uint16) {
	text := fmt.Sprintf("a request has %d attributes at most, and the header says %d: the dump has %d", watch.MaxAttrs, says, has)
	if has > told {
		text += fmt.Sprintf(", of which the first %d are shown", told)
	}
	d.flaw(nil, "%s", text)
}

// header has the header's fields as they are.
func (d *Dump) header(b []byte) *Part {
	p := &Part{Title: "struct ib_uverbs_ioctl_hdr"}
	p.Fields = make([]Field, 0, 7)
	p.field(b, 0, 2, "length", decode.Number)
	p.field(b, 2, 2, "object_id", decode.Hex)
	p.field(b, 4, 2, "method_id", decode.Hex)
	p.field(b, 6, 2, "num_attrs", decode.Number)
	p.field(b, 8, 8, "reserved1", decode.Hex)
	p.field(b, 16, 4, "driver_id", decode.Number)
	p.field(b, 20, 4, "reserved2", decode.Hex)
	if len(b) >= 8 {
		length, n := p.Fields[0].Value.Num, p.Fields[3].Value.Num
		lengthSays(&p.Fields[0], length, n)
	}
	return p
}

// lengthSays says whether a header's length fits its number of attributes.
func lengthSays(f *Field, length, attrs uint64) {
	want := spec.IoctlHdrSize + attrs*spec.IoctlAttrSize
	switch {
	case length != want:
		f.flaw(rule.HeaderLength, "24 + 16 * %d attributes is %d", attrs, want)
	case length > copyuser.PageSize:
		f.flaw(rule.HeaderLength, "4096 is the most")
	default:
		f.Says = fmt.Sprintf("24 + 16 * %d", attrs)
	}
}

// headerSays adds to the header's fields, as far as they are there, what they
// mean.
func (d *Dump) headerSays(p *Part, h *spec.IoctlHdr, names *decode.Ioctl, object, method bool) {
	says := map[string]func(f *Field){
		"object_id": func(f *Field) {
			f.Says = names.Object.Text
			if !object {
				f.flaw(rule.MethodUnknown, "%s", newer(d.Device, int(h.ObjectID), -1, -1, "object"))
			}
		},
		"method_id": func(f *Field) {
			f.Says = names.Method.Text
			if names.Command != nil {
				f.Says += " of " + orNumber(names.Command)
			}
			if object && !method {
				f.flaw(rule.MethodUnknown, "%s", newer(d.Device, int(h.ObjectID), int(h.MethodID), -1, "method"))
			}
		},
		"reserved1": notZero, "reserved2": notZero,
		"driver_id": func(f *Field) {
			f.Says = names.Driver.Text
			if h.DriverID != d.Device.Driver {
				f.flaw(rule.HeaderDriverID, "%s has %d, %s", d.Device.Name, d.Device.Driver,
					spec.EnumeratorName("enum rdma_driver_id", uint64(d.Device.Driver)))
			}
		},
	}
	for i := range p.Fields {
		if f := &p.Fields[i]; f.whole() && says[f.Name] != nil {
			says[f.Name](f)
		}
	}
}

// notZero says whether a reserved field of a header is refused.
func notZero(f *Field) {
	if f.Value.Num != 0 {
		f.flaw(rule.HeaderReserved, "")
	}
}

// newer says of something that a device's kernel lacks what it is.
func newer(dev Device, object, method, attr int, what string) string {
	text := "Linux " + dev.Kernel.Name + " with " + dev.Name + " has no such " + what
	if name := spec.NewerName(object, method, attr); name != "" {
		text += "; in newer kernels it is " + name
	}
	return text
}

// orNumber is a name, or the number that has none.
func orNumber(v *decode.Value) string {
	if v.Text != "" {
		return v.Text
	}
	return fmt.Sprintf("%#x", v.Num)
}

// missing notes what the method could have, and has to have, besides.
func (d *Dump) missing(m *spec.Method, sent map[uint16]int) {
	var must []string
	for i := range m.Attrs {
		a := &m.Attrs[i]
		if _, ok := sent[a.ID]; ok {
			continue
		}
		d.Unsent = append(d.Unsent, a.Name)
		if a.Mandatory {
			must = append(must, a.Name)
		}
	}
	if len(must) > 0 {
		d.flaw(rule.AttrMissing, "%s", strings.Join(must, ", "))
	}
}
