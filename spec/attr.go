package spec

// AttrType says what the data of an attribute is and where it lies (enum
// uverbs_attr_type, include/rdma/uverbs_ioctl.h).
type AttrType uint8

// The attribute types, in the order of enum uverbs_attr_type.
const (
	TypeNA        AttrType = iota // an empty slot of an enum's ids
	TypePtrIn                     // bytes that the user hands in
	TypePtrOut                    // room for bytes that the kernel hands out
	TypeIDR                       // a handle
	TypeFD                        // the fd of an object that is an fd
	TypeRawFD                     // an fd that the handler looks up itself
	TypeEnumIn                    // one of several PtrIn, chosen by the attribute's enum_data
	TypeIDRsArray                 // an array of handles
)

var attrTypeNames = [...]string{"NA", "PTR_IN", "PTR_OUT", "IDR", "FD", "RAW_FD", "ENUM_IN", "IDRS_ARRAY"}

// String returns the kernel's name of the type without its prefix: "PTR_IN".
func (t AttrType) String() string {
	if int(t) < len(attrTypeNames) {
		return attrTypeNames[t]
	}
	return "?"
}

// Access says what a method does with an object that it is handed (enum
// uverbs_obj_access, include/rdma/uverbs_ioctl.h).
type Access uint8

// The accesses, in the order of enum uverbs_obj_access.
const (
	AccessRead    Access = iota // shared use
	AccessWrite                 // exclusive use
	AccessNew                   // the method makes the object
	AccessDestroy               // the method destroys the object
)

var accessNames = [...]string{"READ", "WRITE", "NEW", "DESTROY"}

// String returns the kernel's name of the access without its prefix: "READ".
func (a Access) String() string {
	if int(a) < len(accessNames) {
		return accessNames[a]
	}
	return "?"
}

const (
	// IDRAnyObject as an attribute's object accepts a handle of any object
	// type; the handler checks the type itself (UVERBS_IDR_ANY_OBJECT,
	// include/rdma/uverbs_ioctl.h).
	IDRAnyObject uint16 = 0xFFFF

	// NSFlag marks the ids of a driver's objects, methods and attributes
	// (UVERBS_API_NS_FLAG, include/rdma/uverbs_ioctl.h).
	NSFlag = 0x1000

	// MaxLen as an attribute's Len means that no length is too long.
	MaxLen = 0xFFFF
)

// Attr is what the kernel knows of one attribute of a method (struct
// uverbs_attr_def with its struct uverbs_attr_spec,
// include/rdma/uverbs_ioctl.h). Which fields bear meaning depends on Type.
type Attr struct {
	ID   uint16
	Name string // the UAPI's enumerator: "UVERBS_ATTR_CREATE_CQ_HANDLE"
	Type AttrType

	Mandatory    bool // a call without it is refused
	ZeroTrailing bool // the user may hand in more than Len, if all beyond Len is zero
	AllocAndCopy bool // the parser copies the data in before the handler runs
	Udata        bool // it is for the driver (UVERBS_ATTR_UHW)

	// PtrIn and PtrOut, in bytes: the size that this kernel knows, and the
	// least that it accepts.
	Len, MinLen uint16

	// IDR, FD and IDRsArray: the object's id, and what is done with it.
	Object uint16
	Access Access

	// EnumIn: what each value of enum_data selects. An element of TypeNA is
	// a value that selects nothing.
	Enum []Attr

	// IDRsArray: how many handles the array may hold.
	MinItems, MaxItems uint16

	// CType is the C type behind the pointer where one is known: "u32",
	// "struct ib_uverbs_qp_cap".
	CType string
}

// IsObject says whether the attribute names one object, by handle or by fd.
func (a *Attr) IsObject() bool { return a.Type == TypeIDR || a.Type == TypeFD }
