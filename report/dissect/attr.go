package dissect

import (
	"fmt"
	"math"
	"strings"

	"uverbsim/interpose/watch"
	"uverbsim/report/decode"
	"uverbsim/rule"
	"uverbsim/spec"
)

// pieces are the attributes of a request on the way.
type pieces struct {
	d      *Dump
	method *spec.Method   // nil if the device has none such
	sent   map[uint16]int // by id, which attribute it was
	// invokes: the method is UVERBS_METHOD_INVOKE_WRITE.
	invokes bool
}

// attr takes the n-th attribute of the request b to pieces.
func (p *pieces) attr(n int, b []byte, a *watch.Attr, names *decode.Attr) Part {
	at := spec.IoctlHdrSize + n*spec.IoctlAttrSize
	var s *spec.Attr
	if p.method != nil {
		s = p.method.Attr(a.AttrID)
	}
	out := Part{Title: fmt.Sprintf("attribute %d: %s", n, orNumber(&names.Name)), Fields: make([]Field, 0, 6)}
	out.field(b, at, 2, "attr_id", decode.Hex)
	length := out.field(b, at+2, 2, "len", decode.Number)
	flags := out.field(b, at+4, 2, "flags", decode.Hex)
	flags.Says = flagNames(a.Flags)
	reserved, elem := p.attrData(&out, b, at+6, a, s)
	data := out.field(b, at+8, 8, "data", decode.Hex)
	p.says(&out, n, data, a, names)
	if p.method == nil {
		return out // nothing is known of it
	}
	if s == nil {
		p.unknown(&out, a)
		return out
	}
	out.Takes = p.d.takes(s)
	if first, ok := p.sent[a.AttrID]; ok {
		out.flaw(rule.AttrDuplicate, "attribute %d was it before", first)
	} else {
		p.sent[a.AttrID] = n
	}
	check{a, s, length, reserved, elem, data}.run()
	if p.invokes && a.AttrID == spec.UVERBS_ATTR_WRITE_CMD {
		p.commandWord(data, a.Data)
	}
	return out
}

// commandWord says what is wrong with the command of UVERBS_METHOD_INVOKE_WRITE,
// which is a constant of 32 bits before it is a command word.
func (p *pieces) commandWord(f *Field, word uint64) {
	if word > math.MaxUint32 {
		f.flaw(rule.ConstRange, "%#x is the most", uint32(math.MaxUint32))
		return
	}
	p.d.find(f, uint32(word))
}

// attrData are the two bytes at attr_data.
func (p *pieces) attrData(out *Part, b []byte, at int, a *watch.Attr, s *spec.Attr) (reserved, elem *Field) {
	if s == nil || s.Type != spec.TypeEnumIn {
		return out.field(b, at, 2, "attr_data.reserved", decode.Hex), nil
	}
	out.field(b, at, 1, "enum_data.elem_id", decode.Number)
	out.field(b, at+1, 1, "enum_data.reserved", decode.Hex)
	n := len(out.Fields)
	elem, reserved = &out.Fields[n-2], &out.Fields[n-1]
	if id := int(a.ElemID()); id < len(s.Enum) {
		elem.Says = s.Enum[id].Name
	}
	return reserved, elem
}

// flagNames are the flags of an attribute.
func flagNames(flags uint16) string {
	var names []string
	if flags&spec.UVERBS_ATTR_F_MANDATORY != 0 {
		names = append(names, "UVERBS_ATTR_F_MANDATORY")
	}
	if flags&spec.UVERBS_ATTR_F_VALID_OUTPUT != 0 {
		names = append(names, "UVERBS_ATTR_F_VALID_OUTPUT, which the kernel sets")
	}
	if rest := flags &^ (spec.UVERBS_ATTR_F_MANDATORY | spec.UVERBS_ATTR_F_VALID_OUTPUT); rest != 0 {
		names = append(names, fmt.Sprintf("%#x, which has no meaning", rest))
	}
	return strings.Join(names, " | ")
}

// unknown says what becomes of an attribute that the method does not have.
func (p *pieces) unknown(out *Part, a *watch.Attr) {
	h := p.d.Parts[0].Fields
	text := newer(p.d.Device, int(h[1].Value.Num), int(h[2].Value.Num), int(a.AttrID), "attribute")
	if a.Flags&spec.UVERBS_ATTR_F_MANDATORY != 0 {
		out.flaw(rule.AttrUnknownMandatory, "%s", text)
		return
	}
	out.flaw(nil, "%s: it is ignored, since it is not flagged as mandatory", text)
}

// says tells what an attribute's data is, and takes what it points to to pieces.
func (p *pieces) says(out *Part, n int, f *Field, a *watch.Attr, names *decode.Attr) {
	switch {
	case names.New:
		f.Says = "where the kernel puts the number of the new object"
	case a.Pointer && a.Len == 0:
		f.Says = "an address, of nothing"
	case a.Pointer:
		p.pointer(out, f, a, names)
	case a.Spec != nil && a.Spec.IsObject():
		f.Value = *names.In
		f.Says = handleWord[a.Spec.Type] + " of a " + p.d.objectName(a.Spec.Object)
		p.object(Object{a.Data, a.Spec.Type == spec.TypeFD, a.Spec.Object, a.Spec.Name, n})
	case a.Spec != nil && a.Spec.Type == spec.TypeRawFD:
		f.Value, f.Says = *names.In, "a descriptor of any file"
		p.object(Object{a.Data, true, spec.IDRAnyObject, a.Spec.Name, n})
	case a.Len > 0 && names.In != nil:
		f.Value, f.Says = *names.In, "inline, "+bytesOf(int(a.Len))
		if f.Value.Kind == decode.Choice && len(f.Value.Items) > 0 {
			f.Value = f.Value.Items[0]
		}
		if rest := f.Bytes[min(int(a.Len), 8):]; strings.Trim(string(rest), "\x00") != "" {
			f.Says += fmt.Sprintf("; the other %d mean nothing", len(rest))
		}
	}
	switch {
	case a.Spec == nil || names.In == nil:
	case a.Spec.Type == spec.TypeIDRsArray:
		for i := range names.In.Items {
			p.object(Object{names.In.Items[i].Num, false, a.Spec.Object, a.Spec.Name, -1})
		}
	case p.invokes && a.AttrID == spec.UVERBS_ATTR_CORE_IN:
		p.d.named(names.In)
	}
}

// handleWord is what stands for an object in a request.
var handleWord = map[spec.AttrType]string{spec.TypeIDR: "the handle", spec.TypeFD: "the descriptor"}

// pointer tells what is known of the bytes that an attribute points to.
func (p *pieces) pointer(out *Part, f *Field, a *watch.Attr, names *decode.Attr) {
	name := orNumber(&names.Name)
	what, how := bytesOf(int(a.Len)), "readable, and zero"
	if a.Spec != nil && a.Spec.Type == spec.TypePtrOut {
		what, how = "room for "+what, "writable"
	}
	switch {
	case a.Data < lowest:
		f.Says = "the address of " + what
		f.flaw(nil, "nothing can lie there: EFAULT when it is used")
		return
	case a.Data >= userEnd:
		f.Says = "the address of " + what
		f.flaw(nil, "an address that no user has: EFAULT when it is used")
		return
	case len(a.In) == 0:
		f.Says = "the address of " + what + ", not in the dump"
		p.memory("%s at %#x, %s, are %s", bytesOf(int(a.Len)), a.Data, name, how)
	case len(a.In) < int(a.Len):
		f.Says = fmt.Sprintf("the address of %s, of which the dump has %d", what, len(a.In))
		p.memory("%s behind %#x, of %s, are %s", bytesOf(int(a.Len)-len(a.In)), a.Data+uint64(len(a.In)), name, how)
	default:
		f.Says = "the address of " + what
	}
	if names.In == nil || len(a.In) == 0 {
		return
	}
	behind := Part{Title: fmt.Sprintf("what %s points to", name), Addr: a.Data}
	if names.In.Kind == decode.Struct {
		behind.Title += ": " + names.In.Type
	}
	v := names.In
	if v.Kind == decode.Choice && len(v.Items) > 0 {
		v = &v.Items[0]
	}
	behind.data(v, a.In, 0, int(a.Len)-len(a.In))
	out.Behind = append(out.Behind, behind)
}

// The addresses that memory of a program can have.
const (
	lowest  = 4096
	userEnd = 1 << 47
)

// memory notes what is assumed of memory, object what is named.
func (p *pieces) memory(format string, a ...any) {
	p.d.Memory = append(p.d.Memory, fmt.Sprintf(format, a...))
}

func (p *pieces) object(o Object) { p.d.Objects = append(p.d.Objects, o) }

// objectName is the name of a type of objects.
func (d *Dump) objectName(id uint16) string {
	if id == spec.IDRAnyObject {
		return "object of any type"
	}
	if name, _ := spec.FindMethod(d.defs, id, 0); name != "" {
		return name
	}
	return fmt.Sprintf("object %#x", id)
}

func bytesOf(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
