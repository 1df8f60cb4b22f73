package schema

import (
	"strings"

	"uverbsim/spec"
)

// The directions, as the caller sees them.
const (
	in  = "in"
	out = "out"
)

// What the eight bytes of an attribute's data are.
const (
	dataValue   = "value"   // the bytes themselves
	dataAddress = "address" // where the bytes are
	dataEither  = "value_or_address"
	dataHandle  = "handle"
	dataFD      = "fd"
)

func (b *builder) attr(o *Object, m *Method, a *spec.Attr, by string) {
	x := Attribute{
		ID: a.ID, Name: a.Name, Key: m.Key | spec.KeyAttr(a.ID), DriverNS: a.ID&spec.NSFlag != 0, DeclaredBy: by,
		Since: b.since[place{int(o.ID), int(m.ID), int(a.ID), none}],
		Type:  a.Type.String(), Direction: in, Mandatory: a.Mandatory,
		ZeroTrailing: a.ZeroTrailing, AllocAndCopy: a.AllocAndCopy, Udata: a.Udata, CType: a.CType,
		Element: spec.ElementOf(a.Name),
	}
	b.enum(a.CType)
	switch a.Type {
	case spec.TypePtrIn, spec.TypePtrOut:
		b.pointer(o, m, a, &x)
	case spec.TypeIDR, spec.TypeFD, spec.TypeIDRsArray:
		b.ofObject(a, &x)
	case spec.TypeRawFD:
		x.Data = dataFD
	case spec.TypeEnumIn:
		b.choices(a, &x)
	}
	if is, ok := spec.MeaningOfAttr(a.Name); ok {
		x.Is = meaning(is, b.objectName)
	}
	m.Attrs = append(m.Attrs, x)
}

// pointer fills in what an attribute with bytes has.
func (b *builder) pointer(o *Object, m *Method, a *spec.Attr, x *Attribute) {
	minLen, maxLen := int(a.MinLen), int(a.Len)
	x.MinLen = &minLen
	if a.Len != spec.MaxLen {
		x.MaxLen = &maxLen
	}
	part := partDataIn
	if a.Type == spec.TypePtrOut {
		x.Direction, x.Data, part = out, dataAddress, partDataOut
	} else {
		x.Data = dataOf(minLen, maxLen)
		if a.ZeroTrailing && maxLen <= inlineSize {
			x.Data = dataEither
		}
	}
	if spec.WrittenTo(a.Name) {
		x.Direction, x.Data = out, dataAddress
	}
	structs := []string{a.CType}
	if x.Element != "" {
		structs = []string{x.Element}
	}
	if a.Udata {
		u := spec.UdataOfMethod(b.driver.ID, o.ID, m.ID)
		structs, part = u.In, partUdataIn
		if a.Type == spec.TypePtrOut {
			structs, part = u.Out, partUdataOut
		}
	}
	for _, s := range structs {
		if !b.addStruct(s) {
			continue
		}
		x.Structs = append(x.Structs, s)
		x.Refs = append(x.Refs, b.refs(part, s, x.Element != "")...)
		if a.ZeroTrailing {
			x.Last = b.lastMember(s, minLen)
		}
	}
}

// dataOf says where the bytes of a PTR_IN are that may be from min to max.
func dataOf(min, max int) string {
	switch {
	case max <= inlineSize:
		return dataValue
	case min > inlineSize:
		return dataAddress
	}
	return dataEither
}

// lastMember is the member of a struct that ends at an offset: the last that a
// caller has to give.
func (b *builder) lastMember(ctype string, end int) string {
	for _, m := range b.doc.Structs[ctype].Members {
		if m.Offset+m.Size == end {
			return m.Name
		}
	}
	return ""
}

// ofObject fills in what an attribute with objects has.
func (b *builder) ofObject(a *spec.Attr, x *Attribute) {
	x.Object, x.Access = b.objectName(a.Object), a.Access.String()
	if a.Object != spec.IDRAnyObject {
		id := int(a.Object)
		x.ObjectID = &id
	}
	if a.Access == spec.AccessNew {
		x.Direction = out
	}
	switch a.Type {
	case spec.TypeIDR:
		x.Data = dataHandle
	case spec.TypeFD:
		x.Data = dataFD
	default:
		x.MinItems, x.MaxItems = int(a.MinItems), int(a.MaxItems)
		x.Data = dataOf(4*x.MinItems, 4*x.MaxItems)
	}
}

// choices fills in what an ENUM_IN has. Its data is that of the choice.
func (b *builder) choices(a *spec.Attr, x *Attribute) {
	least, most := spec.MaxLen, 0
	for _, e := range a.Enum {
		if e.Type == spec.TypeNA {
			continue
		}
		x.Choices = append(x.Choices, Choice{Value: int(e.ID), Name: e.Name, MinLen: int(e.MinLen), MaxLen: int(e.Len)})
		least, most = min(least, int(e.MinLen)), max(most, int(e.Len))
	}
	x.Data = dataOf(least, most)
}

// shortObject is an object's name without what all have: "CQ", "DEVX_OBJ".
func shortObject(name string) string {
	_, short, ok := strings.Cut(name, "_OBJECT_")
	if !ok {
		return name
	}
	return short
}

// shortMethod is a method's name without what its object tells: "CREATE" of
// UVERBS_METHOD_CQ_CREATE. A driver's method that would have the name of
// another keeps the driver's: "MLX5_QUERY_PORT".
func shortMethod(o *Object, name string) string {
	prefix, short, ok := strings.Cut(name, "_METHOD_")
	if !ok {
		return name
	}
	short = strings.TrimPrefix(short, o.Short+"_")
	short = strings.TrimPrefix(short, "OBJ_")
	for _, m := range o.Methods {
		if m.Short == short {
			return strings.TrimSuffix(prefix, "_IB") + "_" + short
		}
	}
	return short
}
