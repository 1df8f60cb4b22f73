package gen

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// optionally is how often a method is handed an attribute that it does not
// need.
const optionally = 0.35

// ioctl calls a method.
func (m *maker) ioctl(f *file, c *call) {
	a := &casefile.Ioctl{FD: f.fd, Hdr: casefile.Hdr{ObjectID: c.object, MethodID: c.method.ID}}
	b := &binding{m: m, f: f, c: c, a: a, q: &request{valid: true}, masks: map[string][]casefile.Range{}}
	if c.deed == create && slices.Contains(supported, c.object) {
		b.q.made = &object{typ: c.object}
	}
	for i := range c.method.Attrs {
		at := &c.method.Attrs[i]
		part := rxeParts[key{c.object, c.deed}]
		wanted := at.ID == spec.UVERBS_ATTR_UHW_IN && part.in != "" || at.ID == spec.UVERBS_ATTR_UHW_OUT && part.out != ""
		if at.Udata && !wanted && !m.chance(0.03) || !at.Udata && !at.Mandatory && !b.needs(at) && !m.chance(b.often(at)) {
			continue
		}
		b.attr(at)
	}
	m.add(a).Mask = nonempty(b.masks)
	m.believe(f, b.q)
}

// binding fills in the attributes of a call.
type binding struct {
	m     *maker
	f     *file
	c     *call
	a     *casefile.Ioctl
	q     *request
	masks map[string][]casefile.Range
}

// often is how often an optional attribute is handed in: seldom where its
// object is not there.
func (b *binding) often(at *spec.Attr) float64 {
	if at.Type == spec.TypeIDR && len(b.f.of(at.Object)) == 0 {
		return oddly
	}
	return optionally
}

// needs says whether a handler asks for an attribute that the declaration calls
// optional.
func (b *binding) needs(at *spec.Attr) bool {
	switch at.Object {
	case spec.UVERBS_OBJECT_PD, spec.UVERBS_OBJECT_CQ:
		return b.c.object == spec.UVERBS_OBJECT_QP && at.IsObject()
	}
	return strings.HasSuffix(at.Name, "INFO_TOTAL_HANDLES") || strings.HasSuffix(at.Name, "INFO_HANDLES_LIST")
}

func (b *binding) attr(at *spec.Attr) {
	x := casefile.Attr{ID: at.ID, Len: new(uint16)}
	if at.Mandatory || b.m.chance(0.5) {
		x.Flags = spec.UVERBS_ATTR_F_MANDATORY
	}
	switch at.Type {
	case spec.TypePtrIn:
		b.in(at, &x)
	case spec.TypePtrOut:
		b.out(at, &x)
	case spec.TypeIDR:
		b.object(at, &x)
	case spec.TypeFD:
		if !b.fd(at, &x) {
			return
		}
	case spec.TypeRawFD:
		x.Data = casefile.NumberOf(noFD)
		b.q.valid = false
	case spec.TypeEnumIn:
		e := uint8(b.m.r.IntN(len(at.Enum)))
		x.Enum = &e
		b.in(&at.Enum[e], &x)
	case spec.TypeIDRsArray:
		b.q.valid = false
		n := at.MinItems
		*x.Len = n * 4
		x.Data = casefile.PtrTo(b.m.buffer(casefile.Buf{Len: max(int(n)*4, 4)}), 0)
	}
	b.a.Attrs = append(b.a.Attrs, x)
}

// noFD is no descriptor of any process.
const noFD = 0x7ffffff

// inlineMost is the most bytes that stand in the attribute itself.
const inlineMost = 8

// in hands bytes in: a number, or a struct in a buffer.
func (b *binding) in(at *spec.Attr, x *casefile.Attr) {
	m := b.m
	n := int(at.Len)
	switch {
	case at.Len == spec.MaxLen:
		n = max(int(at.MinLen), pick(m, []int{int(at.MinLen), 8, 16, 24}))
	case at.MinLen < at.Len && m.chance(0.3):
		n = int(at.MinLen)
	}
	*x.Len = uint16(n)
	if spec.NewStruct(at.CType) != nil {
		fields := layout(at.CType)
		data := make([]byte, sizeOf(at.CType))
		for _, fd := range fields {
			v, usual := m.number(fd.name)
			putNumber(data[fd.off:fd.off+fd.size], v)
			b.q.valid = b.q.valid && usual
		}
		x.Data = casefile.PtrTo(m.buffer(casefile.Buf{Data: data, Len: len(data)}), 0)
		return
	}
	v, usual := m.number(memberOf(at.Name))
	b.q.valid = b.q.valid && usual
	if b.q.made != nil && memberOf(at.Name) == "QPType" {
		b.q.made.qpType = v
	}
	if n <= inlineMost {
		if n < inlineMost {
			v &= 1<<(8*n) - 1
		}
		x.Data = casefile.NumberOf(v)
		return
	}
	data := binary.LittleEndian.AppendUint64(make([]byte, 0, n), v)
	data = append(data, make([]byte, n-len(data))...)
	x.Data = casefile.PtrTo(m.buffer(casefile.Buf{Data: data, Len: n}), 0)
}

// ends are the ends of the names of outputs that vary. What an MR is known by
// is an address.
var ends = []string{"_LKEY", "_RKEY", "_IOVA", "_QP_NUM", "_SRQ_NUM"}

// out gives the kernel room.
func (b *binding) out(at *spec.Attr, x *casefile.Attr) {
	m := b.m
	n := int(at.Len)
	var mask []casefile.Range
	switch part := rxeParts[key{b.c.object, b.c.deed}].out; {
	case at.Udata:
		n = sizeOf(part)
		mask = varyingIn(part, 0)
	case at.Len == spec.MaxLen:
		n = pick(m, []int{16, 32, 64, 128})
	}
	for _, end := range ends {
		if strings.HasSuffix(at.Name, end) {
			mask = []casefile.Range{{Off: 0, Len: n}}
		}
	}
	*x.Len = uint16(n)
	name := m.outBuffer(n)
	x.Data = casefile.PtrTo(name, 0)
	b.masks[name] = mask
}

// object names an object, or is the place where the call puts a new one's
// handle.
func (b *binding) object(at *spec.Attr, x *casefile.Attr) {
	if at.Access == spec.AccessNew {
		x.Data = casefile.NumberOf(0)
		return
	}
	n, o := b.m.handle(b.f, at.Object)
	x.Data = casefile.NumberOf(n)
	switch {
	case o == nil:
		b.q.valid = false
	case at.Access == spec.AccessDestroy:
		b.q.gone = o
	case b.q.made != nil:
		b.q.made.uses = append(b.q.made.uses, o)
	}
}

// fd names a descriptor's object; false when there is none to be named.
func (b *binding) fd(at *spec.Attr, x *casefile.Attr) bool {
	have := b.f.channels
	if at.Object == spec.UVERBS_OBJECT_ASYNC_EVENT {
		have = b.f.asyncs
	}
	switch {
	case at.Access == spec.AccessNew:
		// Nobody can name it later: the number is not known beforehand.
		b.a.SaveFD = map[string]casefile.Ref{"n" + strconv.Itoa(len(b.m.c.Steps)): {Attr: len(b.a.Attrs)}}
	case len(have) > 0:
		x.Data = casefile.HandleOf(pick(b.m, have))
	case at.Mandatory || b.m.chance(0.05):
		x.Data = casefile.NumberOf(noFD)
		b.q.valid = false
	default:
		return false
	}
	return true
}
