package spec

import "encoding/binary"

// The command of the ioctl and the wire form of its argument:
// include/uapi/rdma/rdma_user_ioctl_cmds.h. All integers are little-endian,
// as on every machine this models.

// RDMA_VERBS_IOCTL is _IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_uverbs_ioctl_hdr).
const RDMA_VERBS_IOCTL = 3<<30 | IoctlHdrSize<<16 | RDMA_IOCTL_MAGIC<<8 | 1

// The sizes in bytes, and where the parts of an attribute begin.
const (
	IoctlHdrSize  = 24 // struct ib_uverbs_ioctl_hdr without its attributes
	IoctlAttrSize = 16 // struct ib_uverbs_attr

	IoctlAttrFlagsOffset = 4 // where the kernel sets UVERBS_ATTR_F_VALID_OUTPUT
	IoctlAttrDataOffset  = 8 // where the kernel stores a new handle or fd
)

// IoctlHdr is struct ib_uverbs_ioctl_hdr. Length is of the header with its
// attributes, in bytes.
type IoctlHdr struct {
	Length    uint16
	ObjectID  uint16
	MethodID  uint16
	NumAttrs  uint16
	Reserved1 uint64
	DriverID  uint32
	Reserved2 uint32
}

// DecodeIoctlHdr reads a header.
func DecodeIoctlHdr(b *[IoctlHdrSize]byte) IoctlHdr {
	w := binary.LittleEndian.Uint64(b[0:8])
	d := binary.LittleEndian.Uint64(b[16:24])
	return IoctlHdr{
		Length: uint16(w), ObjectID: uint16(w >> 16), MethodID: uint16(w >> 32), NumAttrs: uint16(w >> 48),
		Reserved1: binary.LittleEndian.Uint64(b[8:16]),
		DriverID:  uint32(d), Reserved2: uint32(d >> 32),
	}
}

// Encode writes the header.
func (h *IoctlHdr) Encode(b *[IoctlHdrSize]byte) {
	binary.LittleEndian.PutUint64(b[0:8], uint64(h.Length)|uint64(h.ObjectID)<<16|uint64(h.MethodID)<<32|uint64(h.NumAttrs)<<48)
	binary.LittleEndian.PutUint64(b[8:16], h.Reserved1)
	binary.LittleEndian.PutUint64(b[16:24], uint64(h.DriverID)|uint64(h.Reserved2)<<32)
}

// IoctlAttr is struct ib_uverbs_attr.
type IoctlAttr struct {
	AttrID uint16
	Len    uint16 // bytes of a pointer's data or of an array of handles
	Flags  uint16 // UVERBS_ATTR_F_*

	// AttrData is the union attr_data: the low byte is enum_data.elem_id,
	// the high byte enum_data.reserved.
	AttrData uint16

	// Data is a user address, data of up to 8 bytes, a handle, or an fd.
	Data uint64
}

// ElemID is attr_data.enum_data.elem_id: the choice of an EnumIn.
func (a *IoctlAttr) ElemID() uint8 { return uint8(a.AttrData) }

// EnumReserved is attr_data.enum_data.reserved, which must be 0 in an EnumIn.
func (a *IoctlAttr) EnumReserved() uint8 { return uint8(a.AttrData >> 8) }

// DataS64 is the member data_s64: an fd.
func (a *IoctlAttr) DataS64() int64 { return int64(a.Data) }

// DecodeIoctlAttr reads an attribute.
func DecodeIoctlAttr(b *[IoctlAttrSize]byte) IoctlAttr {
	w := binary.LittleEndian.Uint64(b[0:8])
	return IoctlAttr{
		AttrID: uint16(w), Len: uint16(w >> 16), Flags: uint16(w >> 32), AttrData: uint16(w >> 48),
		Data: binary.LittleEndian.Uint64(b[8:16]),
	}
}

// Encode writes the attribute.
func (a *IoctlAttr) Encode(b *[IoctlAttrSize]byte) {
	binary.LittleEndian.PutUint64(b[0:8], uint64(a.AttrID)|uint64(a.Len)<<16|uint64(a.Flags)<<32|uint64(a.AttrData)<<48)
	binary.LittleEndian.PutUint64(b[8:16], a.Data)
}

// EncodeIoctl returns an ioctl as the kernel reads it: the header as it is, whether
// it fits or not, and the attributes behind it.
func EncodeIoctl(h *IoctlHdr, attrs []IoctlAttr) []byte {
	buf := make([]byte, IoctlHdrSize+len(attrs)*IoctlAttrSize)
	h.Encode((*[IoctlHdrSize]byte)(buf))
	for i := range attrs {
		attrs[i].Encode((*[IoctlAttrSize]byte)(buf[IoctlHdrSize+i*IoctlAttrSize:]))
	}
	return buf
}

// EncodeMethod is EncodeIoctl of a method of a driver's device, with a header that
// fits the attributes.
func EncodeMethod(driver uint32, object, method uint16, attrs ...IoctlAttr) []byte {
	return EncodeIoctl(&IoctlHdr{Length: uint16(IoctlHdrSize + len(attrs)*IoctlAttrSize), ObjectID: object, MethodID: method,
		NumAttrs: uint16(len(attrs)), DriverID: driver}, attrs)
}
