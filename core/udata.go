package core

import (
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// Attrs is a call as drivers see it (struct uverbs_attr_bundle): who calls,
// the driver's part of the request, and the attributes by id.
type Attrs interface {
	uobject.Attrs

	// Udata is the driver's part of the request (driver_udata).
	Udata() *Udata
	// Ucontext is attrs->context; valid once the call has an object.
	Ucontext() *Ucontext

	// IsValid says whether the user sent the attribute (uverbs_attr_is_valid).
	IsValid(id uint16) bool
	// Len is the length of a PTR_IN or PTR_OUT as the user gave it, in bytes
	// (uverbs_attr_get_len).
	Len(id uint16) (int, error)
	// Object is the object that the attribute names (uverbs_attr_get_uobject).
	Object(id uint16) (*uobject.Object, error)
	// Objects are those of an IDRS_ARRAY (uverbs_attr_get_uobjs_arr).
	Objects(id uint16) ([]*uobject.Object, error)
	// Enum is the member that an ENUM_IN selects (uverbs_attr_get_enum_id).
	Enum(id uint16) (int, error)
	// Bytes is the data of an attribute that the parser copied in
	// (uverbs_attr_get_alloced_ptr). It is valid during the call.
	Bytes(id uint16) ([]byte, error)
	// CopyFrom copies a PTR_IN into dst; the user's may not be longer, and
	// what it is shorter stays as it was (_uverbs_copy_from).
	CopyFrom(dst []byte, id uint16) error
	// CopyFromOrZero copies what both have and clears the rest of dst
	// (_uverbs_copy_from_or_zero).
	CopyFromOrZero(dst []byte, id uint16) error
	// CopyTo copies src to a PTR_OUT, as much as fits, and flags it as
	// written (uverbs_copy_to).
	CopyTo(id uint16, src []byte) error
	// Uint32 and Uint64 read a PTR_IN of that size.
	Uint32(id uint16) (uint32, error)
	Uint64(id uint16) (uint64, error)
	// Flags32 and Flags64 read an optional set of flags of 4 or 8 bytes
	// (uverbs_get_flags32, uverbs_get_flags64).
	Flags32(id uint16, allowed uint64) (uint32, error)
	Flags64(id uint16, allowed uint64) (uint64, error)
	// Const reads a mandatory constant of 8 bytes, not above max
	// (uverbs_get_const_unsigned); ConstDefault an optional one.
	Const(id uint16, max uint64) (uint64, error)
	ConstDefault(id uint16, max, def uint64) (uint64, error)
	// RawFD reads a RAW_FD (uverbs_get_raw_fd).
	RawFD(id uint16) (int32, error)
	// FinalizeCreate says that the new object's hardware object exists, so
	// that an abort destroys it (uverbs_finalize_uobj_create).
	FinalizeCreate(id uint16)
}

// Udata is a struct ib_udata: a request and a response that the core does not
// look into. Lengths are in bytes.
type Udata struct {
	In, Out       copyuser.Addr
	InLen, OutLen uint64

	// Attrs is the call that it belongs to.
	Attrs Attrs
}

// Clear makes it empty: neither a request nor a response.
func (u *Udata) Clear() { u.In, u.Out, u.InLen, u.OutLen = 0, 0, 0, 0 }

// Task returns the caller.
func (u *Udata) Task() *process.Task { return u.Attrs.Task() }

// Trace returns the caller's seam.
func (u *Udata) Trace() *trace.Task { return u.Attrs.Task().Trace }

// UdataOf returns the driver's part of a call that a type's destroy function
// was handed.
func UdataOf(attrs uobject.Attrs) *Udata { return attrs.(Attrs).Udata() }

// CopyFrom copies len(dst) bytes from the start of the request, whatever its
// length says (ib_copy_from_udata in include/rdma/ib_verbs.h); false is a
// fault.
func (u *Udata) CopyFrom(dst []byte) bool {
	task := u.Task()
	return copyuser.CopyFromUser(task.Trace, task.Mem, dst, u.In)
}

// CopyTo copies src to the start of the response, whatever its length says
// (ib_copy_to_udata in include/rdma/ib_verbs.h); false is a fault.
func (u *Udata) CopyTo(src []byte) bool {
	task := u.Task()
	return copyuser.CopyToUser(task.Trace, task.Mem, u.Out, src)
}

// IsCleared says whether n bytes of the request from off on are zero
// (ib_is_udata_cleared in include/rdma/ib_verbs.h). What cannot be read is not.
func (u *Udata) IsCleared(off, n uint64) bool {
	task := u.Task()
	cleared, ok := copyuser.IsBufferCleared(task.Trace, task.Mem, u.In+copyuser.Addr(off), n)
	return cleared && ok
}
