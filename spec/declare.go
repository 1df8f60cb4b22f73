package spec

import "reflect"

// The constructors of this file stand for the macros of
// include/rdma/uverbs_ioctl.h and include/rdma/uverbs_named_ioctl.h, one for
// one, so that a table here can be read beside the kernel's.

// Size is what a pointer attribute says of its length: UVERBS_ATTR_SIZE and
// the macros around it.
type Size struct {
	min, len     uint16
	zeroTrailing bool
	ctype        string
}

// The sizes of the C integers: UVERBS_ATTR_TYPE(u8) and so on.
var (
	U8  = Size{min: 1, len: 1, ctype: "u8"}
	U16 = Size{min: 2, len: 2, ctype: "u16"}
	U32 = Size{min: 4, len: 4, ctype: "u32"}
	U64 = Size{min: 8, len: 8, ctype: "u64"}
)

// NoData is UVERBS_ATTR_NO_DATA: the attribute's length must be 0.
var NoData = Size{}

// SizeRange is UVERBS_ATTR_SIZE: min to len bytes.
func SizeRange(min, len uint16) Size { return Size{min: min, len: len} }

// MinSize is UVERBS_ATTR_MIN_SIZE: at least min bytes, whatever they hold.
func MinSize(min uint16) Size { return Size{min: min, len: MaxLen} }

// TypeOf is UVERBS_ATTR_TYPE: the whole struct and nothing more. T is the Go
// struct of a C struct.
func TypeOf[T any]() Size {
	t := reflect.TypeFor[T]()
	n := uint16(t.Size())
	return Size{min: n, len: n, ctype: "struct " + cNames[t]}
}

// Struct is UVERBS_ATTR_STRUCT: at least up to the end of the member last;
// what goes beyond the whole struct must be zero. T is the Go struct of a C
// struct, last the Go name of the member.
func Struct[T any](last string) Size {
	t := reflect.TypeFor[T]()
	return Size{min: offsetOfEnd(t, last), len: uint16(t.Size()), zeroTrailing: true, ctype: "struct " + cNames[t]}
}

// offsetOfEnd is offsetofend of include/linux/stddef.h.
func offsetOfEnd(t reflect.Type, member string) uint16 {
	f, ok := t.FieldByName(member)
	if !ok {
		panic("spec: " + t.Name() + " has no member " + member)
	}
	return uint16(f.Offset + f.Type.Size())
}

// Option changes what a constructor made.
type Option func(*Attr)

// Mandatory is UA_MANDATORY. Without it an attribute is optional.
func Mandatory(a *Attr) { a.Mandatory = true }

// AllocAndCopy is UA_ALLOC_AND_COPY.
func AllocAndCopy(a *Attr) { a.AllocAndCopy = true }

func (a Attr) with(opts []Option) Attr {
	for _, o := range opts {
		o(&a)
	}
	return a
}

func pointer(id uint16, t AttrType, s Size, opts []Option) Attr {
	return Attr{
		ID: id, Type: t,
		Len: s.len, MinLen: s.min, ZeroTrailing: s.zeroTrailing, CType: s.ctype,
	}.with(opts)
}

// PtrIn is UVERBS_ATTR_PTR_IN.
func PtrIn(id uint16, s Size, opts ...Option) Attr { return pointer(id, TypePtrIn, s, opts) }

// PtrOut is UVERBS_ATTR_PTR_OUT.
func PtrOut(id uint16, s Size, opts ...Option) Attr { return pointer(id, TypePtrOut, s, opts) }

// ConstIn is UVERBS_ATTR_CONST_IN: one value of the C type ctype, always
// handed in as 8 bytes.
func ConstIn(id uint16, ctype string, opts ...Option) Attr {
	return PtrIn(id, Size{min: 8, len: 8, ctype: ctype}, opts...)
}

// FlagsIn is UVERBS_ATTR_FLAGS_IN: bits of the C type ctype, handed in as 4 or
// 8 bytes.
func FlagsIn(id uint16, ctype string, opts ...Option) Attr {
	return PtrIn(id, Size{min: 4, len: 8, ctype: ctype}, opts...)
}

// IDRAttr is UVERBS_ATTR_IDR.
func IDRAttr(id, object uint16, access Access, opts ...Option) Attr {
	return Attr{ID: id, Type: TypeIDR, Object: object, Access: access}.with(opts)
}

// FDAttr is UVERBS_ATTR_FD. access is AccessRead or AccessNew.
func FDAttr(id, object uint16, access Access, opts ...Option) Attr {
	return Attr{ID: id, Type: TypeFD, Object: object, Access: access}.with(opts)
}

// RawFDAttr is UVERBS_ATTR_RAW_FD.
func RawFDAttr(id uint16, opts ...Option) Attr {
	return Attr{ID: id, Type: TypeRawFD}.with(opts)
}

// IDRsArray is UVERBS_ATTR_IDRS_ARR: min to max handles. access is AccessRead
// or AccessWrite.
func IDRsArray(id, object uint16, access Access, min, max uint16, opts ...Option) Attr {
	return Attr{
		ID: id, Type: TypeIDRsArray, Object: object, Access: access,
		MinItems: min, MaxItems: max,
	}.with(opts)
}

// EnumIn is UVERBS_ATTR_ENUM_IN. The index in ids is the value of enum_data
// that selects the element.
func EnumIn(id uint16, ids []Attr, opts ...Option) Attr {
	e := make([]Attr, len(ids))
	copy(e, ids)
	for i := range e {
		e[i].ID = uint16(i)
	}
	return Attr{ID: id, Type: TypeEnumIn, Enum: e}.with(opts)
}

// EnumID is one element of EnumIn's ids: the enumerator's name, and the bytes
// that come with it.
func EnumID(name string, s Size) Attr {
	a := pointer(0, TypePtrIn, s, nil)
	a.Name = name
	return a
}

// UHW is UVERBS_ATTR_UHW: what the driver is handed, and what it hands back.
func UHW() AttrList {
	udata := func(a *Attr) { a.Udata = true }
	return AttrList{
		PtrIn(UVERBS_ATTR_UHW_IN, MinSize(0), udata),
		PtrOut(UVERBS_ATTR_UHW_OUT, MinSize(0), udata),
	}
}

// AttrList is several attributes in one place of a list.
type AttrList []Attr

// Attributes is an Attr or an AttrList.
type Attributes interface{ attributes() []Attr }

func (a Attr) attributes() []Attr     { return []Attr{a} }
func (l AttrList) attributes() []Attr { return l }

// Attrs makes the attributes of a method (UVERBS_METHOD_ATTRS).
func Attrs(list ...Attributes) []Attr {
	var all []Attr
	for _, l := range list {
		all = append(all, l.attributes()...)
	}
	return all
}
