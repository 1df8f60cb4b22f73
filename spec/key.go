package spec

import "strconv"

// The key of a place in the API's radix tree packs an object (5 bits), a
// method (5 bits) and an attribute (6 bits): enum uapi_radix_data,
// include/rdma/uverbs_ioctl.h.
//
// OBJ,0,0 is the object itself, OBJ,METHOD,0 the method itself. The methods 30
// and 31 stand for the write() commands and the extended write() commands,
// whose number takes the attribute's place.
const (
	AttrKeyBits = 6
	AttrKeyMask = 1<<AttrKeyBits - 1
	BkeyLen     = 1<<AttrKeyBits - 1 // bits of a bitmap of attributes
	WriteKeyNum = 1 << AttrKeyBits   // write commands of an object

	MethodKeyBits      = 5
	MethodKeyShift     = AttrKeyBits
	MethodKeyNumCore   = 22
	MethodIsWrite      = 30 << MethodKeyShift
	MethodIsWriteEx    = 31 << MethodKeyShift
	MethodKeyNumDriver = MethodIsWrite>>MethodKeyShift - MethodKeyNumCore
	MethodKeyMask      = (1<<MethodKeyBits - 1) << MethodKeyShift

	ObjKeyBits      = 5
	ObjKeyShift     = MethodKeyBits + MethodKeyShift
	ObjKeyNumCore   = 20
	ObjKeyNumDriver = 1<<ObjKeyBits - ObjKeyNumCore
	ObjKeyMask      = 0xFFFFFFFF &^ (1<<ObjKeyShift - 1)

	// KeyErr is the key of an id that has no place. Nothing is ever stored
	// under it, nor under it combined with another key by or.
	KeyErr uint32 = 0xFFFFFFFF
)

// KeyObj models uapi_key_obj in include/rdma/uverbs_ioctl.h: the key of an
// object's id, KeyErr if the id is beyond what the encoding holds.
func KeyObj(id uint16) uint32 {
	k := uint32(id)
	if k&NSFlag != 0 {
		k &^= NSFlag
		if k >= ObjKeyNumDriver {
			return KeyErr
		}
		k += ObjKeyNumCore
	} else if k >= ObjKeyNumCore {
		return KeyErr
	}
	return k << ObjKeyShift
}

// KeyIoctlMethod models uapi_key_ioctl_method in
// include/rdma/uverbs_ioctl.h: the key of a method's id within its object,
// KeyErr if the id is beyond what the encoding holds. Core ids start at 1, as
// 0 is the object itself.
func KeyIoctlMethod(id uint16) uint32 {
	k := uint32(id)
	if k&NSFlag != 0 {
		k &^= NSFlag
		if k >= MethodKeyNumDriver {
			return KeyErr
		}
		k += MethodKeyNumCore
	} else {
		k++
		if k >= MethodKeyNumCore {
			return KeyErr
		}
	}
	return k << MethodKeyShift
}

// KeyWriteMethod models uapi_key_write_method in
// include/rdma/uverbs_ioctl.h: the key of a write() command within its object.
func KeyWriteMethod(command uint32) uint32 {
	if command >= WriteKeyNum {
		return KeyErr
	}
	return MethodIsWrite | command
}

// KeyWriteExMethod models uapi_key_write_ex_method in
// include/rdma/uverbs_ioctl.h: the key of an extended write() command within
// its object.
func KeyWriteExMethod(command uint32) uint32 {
	if command >= WriteKeyNum {
		return KeyErr
	}
	return MethodIsWriteEx | command
}

// KeyAttr models uapi_key_attr in include/rdma/uverbs_ioctl.h: the key of an
// attribute's id within its method, KeyErr if the id is beyond what the
// encoding holds. The core's attributes have the odd keys, a driver's the even
// ones from 2, so that the two interleave and a method's arrays stay short.
func KeyAttr(id uint16) uint32 {
	k := uint32(id)
	if k&NSFlag != 0 {
		k &^= NSFlag
		k++
		if k >= 1<<(AttrKeyBits-1) {
			return KeyErr
		}
		return k << 1
	}
	if k >= 1<<(AttrKeyBits-1) {
		return KeyErr
	}
	return k<<1 | 1
}

// BkeyAttr models uapi_bkey_attr in include/rdma/uverbs_ioctl.h: the bit of an
// attribute in a bitmap of attributes, 0 to BkeyLen-1. key is what KeyAttr
// returned, or a whole key masked with AttrKeyMask.
func BkeyAttr(key uint32) uint32 { return key - 1 }

// KeyAttrToIoctlMethod models uapi_key_attr_to_ioctl_method in
// include/rdma/uverbs_ioctl.h: the key of the method that an attribute's key
// belongs to.
func KeyAttrToIoctlMethod(key uint32) uint32 { return key & (ObjKeyMask | MethodKeyMask) }

// KeyAttrsStart models uapi_key_attrs_start in include/rdma/uverbs_ioctl.h:
// the first key that an attribute of the method can have.
func KeyAttrsStart(methodKey uint32) uint32 { return methodKey + 1 }

// IsObject models uapi_key_is_object in include/rdma/uverbs_ioctl.h.
func IsObject(key uint32) bool { return key&(MethodKeyMask|AttrKeyMask) == 0 }

// IsIoctlMethod models uapi_key_is_ioctl_method in include/rdma/uverbs_ioctl.h.
func IsIoctlMethod(key uint32) bool {
	m := key & MethodKeyMask
	return m != 0 && m < MethodIsWrite && key&AttrKeyMask == 0
}

// IsWriteMethod models uapi_key_is_write_method in include/rdma/uverbs_ioctl.h.
func IsWriteMethod(key uint32) bool { return key&MethodKeyMask == MethodIsWrite }

// IsWriteExMethod models uapi_key_is_write_ex_method in
// include/rdma/uverbs_ioctl.h.
func IsWriteExMethod(key uint32) bool { return key&MethodKeyMask == MethodIsWriteEx }

// IsAttr models uapi_key_is_attr in include/rdma/uverbs_ioctl.h. Only ioctl
// methods have attributes.
func IsAttr(key uint32) bool {
	m := key & MethodKeyMask
	return m != 0 && m < MethodIsWrite && key&AttrKeyMask != 0
}

// ObjectID is the reverse of KeyObj: the id of the object that a whole key
// belongs to. key must not hold KeyErr.
func ObjectID(key uint32) uint16 {
	k := key >> ObjKeyShift
	if k >= ObjKeyNumCore {
		return uint16(k-ObjKeyNumCore) | NSFlag
	}
	return uint16(k)
}

// MethodID is the reverse of KeyIoctlMethod: the id of the ioctl method that a
// whole key belongs to. IsIoctlMethod or IsAttr must hold of key.
func MethodID(key uint32) uint16 {
	k := key & MethodKeyMask >> MethodKeyShift
	if k >= MethodKeyNumCore {
		return uint16(k-MethodKeyNumCore) | NSFlag
	}
	return uint16(k - 1)
}

// AttrID is the reverse of KeyAttr: the id of the attribute of a whole key.
// IsAttr must hold of key.
func AttrID(key uint32) uint16 {
	k := key & AttrKeyMask
	if k&1 == 0 {
		return uint16(k>>1-1) | NSFlag
	}
	return uint16(k >> 1)
}

// WriteCommand returns the number of the write() command of a whole key.
// IsWriteMethod or IsWriteExMethod must hold of key.
func WriteCommand(key uint32) uint8 { return uint8(key & AttrKeyMask) }

// FormatKey shows the ids that a key packs, as "obj 3", "obj 3 method 0",
// "obj 3 method 0 attr 0x1000", "obj 3 write 18" or "obj 3 write_ex 18".
func FormatKey(key uint32) string {
	if key&ObjKeyMask>>ObjKeyShift >= 1<<ObjKeyBits {
		return "error"
	}
	s := "obj " + formatID(ObjectID(key))
	switch {
	case IsWriteMethod(key):
		s += " write " + strconv.Itoa(int(WriteCommand(key)))
	case IsWriteExMethod(key):
		s += " write_ex " + strconv.Itoa(int(WriteCommand(key)))
	case IsIoctlMethod(key):
		s += " method " + formatID(MethodID(key))
	case IsAttr(key):
		s += " method " + formatID(MethodID(key)) + " attr " + formatID(AttrID(key))
	case !IsObject(key):
		s += " attr key " + strconv.Itoa(int(key&AttrKeyMask)) + " of no method"
	}
	return s
}

// formatID writes the ids of drivers in hexadecimal, as their headers do.
func formatID(id uint16) string {
	if id&NSFlag != 0 {
		return "0x" + strconv.FormatUint(uint64(id), 16)
	}
	return strconv.Itoa(int(id))
}
