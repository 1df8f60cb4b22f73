package kernel

import (
	"encoding/binary"
	"math"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The accessors by which handlers and drivers get at the attributes of a call.
// An attribute that the user did not send is rule attr/absent (ENOENT)
// everywhere but where a default is named.

// IsValid says whether the user sent the attribute. It models
// uverbs_attr_is_valid in include/rdma/uverbs_ioctl.h.
func (b *Bundle) IsValid(id uint16) bool { return b.get(id) != nil }

// Len returns a pointer attribute's length in bytes. It models
// uverbs_attr_get_len in include/rdma/uverbs_ioctl.h.
func (b *Bundle) Len(id uint16) (int, error) {
	a := b.get(id)
	if a == nil {
		return 0, rule.AttrAbsent
	}
	return int(a.len), nil
}

// ArraySize returns how many elements of size bytes a pointer attribute has.
// It models uverbs_attr_ptr_get_array_size in include/rdma/uverbs_ioctl.h.
func (b *Bundle) ArraySize(id uint16, size int) (int, error) {
	n, err := b.Len(id)
	if err != nil {
		return 0, err
	}
	if n%size != 0 {
		return 0, rule.AttrArraySize
	}
	return n / size, nil
}

// Object returns the object of a handle or descriptor attribute. It models
// uverbs_attr_get_uobject in include/rdma/uverbs_ioctl.h.
func (b *Bundle) Object(id uint16) (*uobject.Object, error) {
	a := b.get(id)
	if a == nil {
		return nil, rule.AttrAbsent
	}
	return a.object, nil
}

// Objects returns the objects of an array, none if the user sent no array. It
// models uverbs_attr_get_uobjs_arr in include/rdma/uverbs_ioctl.h.
func (b *Bundle) Objects(id uint16) ([]*uobject.Object, error) {
	a := b.get(id)
	if a == nil {
		return nil, nil
	}
	return a.objects, nil
}

// Enum returns which member an ENUM_IN selects. It models
// uverbs_attr_get_enum_id in include/rdma/uverbs_ioctl.h.
func (b *Bundle) Enum(id uint16) (int, error) {
	a := b.get(id)
	if a == nil {
		return 0, rule.AttrAbsent
	}
	return int(a.enum), nil
}

// Bytes returns the data of an attribute that the parser copied in. It models
// uverbs_attr_get_alloced_ptr in include/rdma/uverbs_ioctl.h.
func (b *Bundle) Bytes(id uint16) ([]byte, error) {
	a := b.get(id)
	if a == nil {
		return nil, rule.AttrAbsent
	}
	if !a.isInline() {
		return a.copied, nil
	}
	data := b.priv.alloc(8)
	binary.LittleEndian.PutUint64(data, a.data)
	return data[:a.len], nil
}

// CopyFrom copies a PTR_IN into dst, which may be longer but not shorter. It
// models _uverbs_copy_from in include/rdma/uverbs_ioctl.h.
//
// Errors: attr/absent, attr/longer-than-known, attr/data-fault.
func (b *Bundle) CopyFrom(dst []byte, id uint16) error {
	a := b.get(id)
	if a == nil {
		return rule.AttrAbsent
	}
	if len(dst) < int(a.len) {
		return rule.AttrLongerThanKnown
	}
	return b.copyAttr(dst[:a.len], a)
}

// CopyFromOrZero copies what both a PTR_IN and dst have, and clears the rest
// of dst. It models _uverbs_copy_from_or_zero in include/rdma/uverbs_ioctl.h.
//
// Errors: attr/absent, attr/data-fault.
func (b *Bundle) CopyFromOrZero(dst []byte, id uint16) error {
	a := b.get(id)
	if a == nil {
		return rule.AttrAbsent
	}
	n := min(len(dst), int(a.len))
	if err := b.copyAttr(dst[:n], a); err != nil {
		return err
	}
	clear(dst[n:])
	return nil
}

// copyAttr copies the first len(dst) bytes of a PTR_IN.
func (b *Bundle) copyAttr(dst []byte, a *attr) error {
	if a.isInline() {
		for i := range dst {
			dst[i] = byte(a.data >> (8 * i))
		}
		return nil
	}
	if !copyuser.CopyFromUser(b.Trace(), b.task.Mem, dst, copyuser.Addr(a.data)) {
		return rule.AttrDataFault
	}
	return nil
}

// Uint32 reads a PTR_IN of 4 bytes.
func (b *Bundle) Uint32(id uint16) (uint32, error) {
	v, err := b.uint(id, 4)
	return uint32(v), err
}

// Uint64 reads a PTR_IN of 8 bytes.
func (b *Bundle) Uint64(id uint16) (uint64, error) { return b.uint(id, 8) }

// uint reads a PTR_IN of at most size bytes, which always lies inline.
func (b *Bundle) uint(id uint16, size uint16) (uint64, error) {
	a := b.get(id)
	if a == nil {
		return 0, rule.AttrAbsent
	}
	if a.len > size {
		return 0, rule.AttrLongerThanKnown
	}
	return a.data & (math.MaxUint64 >> (64 - 8*a.len)), nil
}

// Flags64 reads a set of flags that the user gave in 4 or 8 bytes; 0 if it
// gave none. It models uverbs_get_flags64.
//
// Errors: flags/size, flags/unknown.
func (b *Bundle) Flags64(id uint16, allowed uint64) (uint64, error) {
	defer b.Trace().EnterInlined(trace.Uverbs, "uverbs_get_flags64").Leave()
	a := b.get(id)
	if a == nil {
		return 0, nil
	}
	flags := a.data
	switch a.len {
	case 8:
	case 4:
		flags = uint64(uint32(flags))
	default:
		return 0, rule.FlagsSize
	}
	if flags&^allowed != 0 {
		return 0, rule.FlagsUnknown
	}
	return flags, nil
}

// Flags32 is Flags64 for flags of 32 bits. It models uverbs_get_flags32.
//
// Errors: flags/size, flags/unknown, flags/range.
func (b *Bundle) Flags32(id uint16, allowed uint64) (uint32, error) {
	defer b.Trace().Enter(trace.Uverbs, "uverbs_get_flags32").Leave()
	flags, err := b.Flags64(id, allowed)
	if err != nil {
		return 0, err
	}
	if flags > math.MaxUint32 {
		return 0, rule.FlagsRange
	}
	return uint32(flags), nil
}

// Const reads a constant not above max. It models _uverbs_get_const_unsigned.
//
// Errors: attr/absent, const/range.
func (b *Bundle) Const(id uint16, max uint64) (uint64, error) {
	defer b.Trace().Enter(trace.Uverbs, "_uverbs_get_const_unsigned").Leave()
	a := b.get(id)
	if a == nil {
		return 0, rule.AttrAbsent
	}
	if a.data > max {
		return 0, rule.ConstRange
	}
	return a.data, nil
}

// ConstDefault is Const for an optional attribute.
func (b *Bundle) ConstDefault(id uint16, max, def uint64) (uint64, error) {
	if b.get(id) == nil {
		b.Trace().Enter(trace.Uverbs, "_uverbs_get_const_unsigned").Leave()
		return def, nil
	}
	return b.Const(id, max)
}

// ConstSigned reads a constant between min and max. It models
// _uverbs_get_const_signed.
//
// Errors: attr/absent, const/range.
func (b *Bundle) ConstSigned(id uint16, min, max int64) (int64, error) {
	defer b.Trace().Enter(trace.Uverbs, "_uverbs_get_const_signed").Leave()
	a := b.get(id)
	if a == nil {
		return 0, rule.AttrAbsent
	}
	v := int64(a.data)
	if v < min || v > max {
		return 0, rule.ConstRange
	}
	return v, nil
}

// RawFD reads a descriptor that the framework did not look at. It models
// uverbs_get_raw_fd in include/rdma/uverbs_ioctl.h.
func (b *Bundle) RawFD(id uint16) (int32, error) {
	v, err := b.ConstSigned(id, math.MinInt32, math.MaxInt32)
	return int32(v), err
}

// CopyTo copies to a PTR_OUT as much of src as fits and flags it as written.
// It models uverbs_copy_to.
//
// Errors: attr/absent, attr/output-fault, attr/flag-fault.
func (b *Bundle) CopyTo(id uint16, src []byte) error {
	defer b.Trace().Enter(trace.Uverbs, "uverbs_copy_to").Leave()
	a := b.get(id)
	if a == nil {
		return rule.AttrAbsent
	}
	src = src[:min(len(src), int(a.len))]
	if !copyuser.CopyToUser(b.Trace(), b.task.Mem, copyuser.Addr(a.data), src) {
		return rule.AttrOutputFault
	}
	return b.setOutput(a)
}

// CopyToUint32 is CopyTo of a number of 4 bytes.
func (b *Bundle) CopyToUint32(id uint16, v uint32) error {
	binary.LittleEndian.PutUint32(b.word[:], v)
	return b.CopyTo(id, b.word[:4])
}

// CopyToUint64 is CopyTo of a number of 8 bytes.
func (b *Bundle) CopyToUint64(id uint16, v uint64) error {
	binary.LittleEndian.PutUint64(b.word[:], v)
	return b.CopyTo(id, b.word[:])
}

// CopyToStructOrZero is CopyTo, but first clears what the user's struct is
// longer than src. It models uverbs_copy_to_struct_or_zero.
//
// Errors: attr/absent, attr/output-fault, attr/flag-fault.
func (b *Bundle) CopyToStructOrZero(id uint16, src []byte) error {
	defer b.Trace().Enter(trace.Uverbs, "uverbs_copy_to_struct_or_zero").Leave()
	a := b.get(id)
	if a == nil {
		return rule.AttrAbsent
	}
	if n := len(src); n < int(a.len) {
		tail := copyuser.Addr(a.data) + copyuser.Addr(n)
		if !copyuser.ClearUser(b.Trace(), b.task.Mem, tail, uint64(int(a.len)-n)) {
			return rule.AttrOutputFault
		}
	}
	return b.CopyTo(id, src)
}

// OutputWritten flags a PTR_OUT that the handler wrote by itself. It models
// uverbs_output_written.
func (b *Bundle) OutputWritten(id uint16) error {
	defer b.Trace().Enter(trace.Uverbs, "uverbs_output_written").Leave()
	a := b.get(id)
	if a == nil {
		return rule.AttrAbsent
	}
	return b.setOutput(a)
}

// OutputAddr returns where the user wants a PTR_OUT.
func (b *Bundle) OutputAddr(id uint16) (copyuser.Addr, error) {
	a := b.get(id)
	if a == nil {
		return 0, rule.AttrAbsent
	}
	return copyuser.Addr(a.data), nil
}

// setOutput adds UVERBS_ATTR_F_VALID_OUTPUT to the flags as the user sent
// them. It models uverbs_set_output.
func (b *Bundle) setOutput(a *attr) error {
	defer b.Trace().EnterInlined(trace.Uverbs, "uverbs_set_output").Leave()
	p := b.priv
	flags := p.uattr(int(a.index)).flags() | spec.UVERBS_ATTR_F_VALID_OUTPUT
	if !copyuser.PutUser16(b.Trace(), b.task.Mem, p.userAttrAt(a.index)+spec.IoctlAttrFlagsOffset, flags) {
		return rule.AttrFlagFault
	}
	return nil
}

// FillUdata sets udata to the request and response in two attributes. A short
// request is read from the user's array itself. It models uverbs_fill_udata.
func (b *Bundle) FillUdata(udata *core.Udata, in, out uint16) {
	defer b.Trace().Enter(trace.Uverbs, "uverbs_fill_udata").Leave()
	*udata = core.Udata{Attrs: b}
	if a := b.get(in); a != nil {
		udata.InLen = uint64(a.len)
		udata.In = copyuser.Addr(a.data)
		if a.isInline() {
			udata.In = b.priv.userAttrAt(a.index) + spec.IoctlAttrDataOffset
		}
	}
	if a := b.get(out); a != nil {
		udata.Out, udata.OutLen = copyuser.Addr(a.data), uint64(a.len)
	}
}

// FinalizeCreate says that the hardware object of a new object exists, so that
// an abort destroys it. It models uverbs_finalize_uobj_create.
func (b *Bundle) FinalizeCreate(id uint16) {
	defer b.Trace().Enter(trace.Uverbs, "uverbs_finalize_uobj_create").Leave()
	b.priv.hwObjValid |= 1 << spec.BkeyAttr(spec.KeyAttr(id))
}
