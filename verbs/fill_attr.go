package verbs

import (
	"encoding/binary"
	"math"

	"uverbsim/copyuser"
	"uverbsim/spec"
)

// inlineLen is the length up to which input lies in the attribute itself.
const inlineLen = 8

// nextAttr models _ioctl_next_attr of libibverbs/cmd_ioctl.h. Every attribute
// begins as a mandatory one.
func (cmd *CommandBuffer) nextAttr(id uint16) *spec.IoctlAttr {
	n := len(cmd.attrs)
	if n == cap(cmd.attrs) {
		panic("verbs: a command buffer has no room for another attribute")
	}
	cmd.attrs = append(cmd.attrs, spec.IoctlAttr{AttrID: id, Flags: spec.UVERBS_ATTR_F_MANDATORY})
	return &cmd.attrs[n]
}

// AttrOptional lets a kernel that does not know the attribute pass it over; nil
// is left alone. It models attr_optional of libibverbs/cmd_ioctl.h.
func AttrOptional(attr *spec.IoctlAttr) *spec.IoctlAttr {
	if attr != nil {
		attr.Flags &^= spec.UVERBS_ATTR_F_MANDATORY
	}
	return attr
}

// FillAttrInObj adds a handle. It models fill_attr_in_obj of
// libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrInObj(id uint16, handle uint32) *spec.IoctlAttr {
	attr := cmd.nextAttr(id)
	attr.Data = uint64(handle)
	return attr
}

// FillAttrOutObj adds an object to be made; ReadAttrObj has its handle. It
// models fill_attr_out_obj of libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrOutObj(id uint16) *spec.IoctlAttr { return cmd.FillAttrInObj(id, 0) }

// ReadAttrObj returns the handle that the kernel gave. It models read_attr_obj
// of libibverbs/cmd_ioctl.h.
func ReadAttrObj(id uint16, attr *spec.IoctlAttr) uint32 {
	mustBe(id, attr)
	return uint32(attr.Data)
}

// FillAttrIn adds input. Up to 8 bytes lie in the attribute; longer data is
// copied to the frame and pointed to. More than an attribute can hold makes the
// command fail with EINVAL. It models fill_attr_in of libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrIn(id uint16, data []byte) *spec.IoctlAttr {
	attr := cmd.nextAttr(id)
	if cmd.setLen(attr, len(data)); cmd.bufferError {
		return attr
	}
	if len(data) > inlineLen {
		attr.Data = uint64(cmd.f.push(data))
		return attr
	}
	var b [inlineLen]byte
	copy(b[:], data)
	attr.Data = binary.LittleEndian.Uint64(b[:])
	return attr
}

// FillAttrInPtr adds a wire struct as input. It models fill_attr_in_ptr of
// libibverbs/cmd_ioctl.h.
func FillAttrInPtr[T any](cmd *CommandBuffer, id uint16, v *T) *spec.IoctlAttr {
	return cmd.FillAttrIn(id, spec.Bytes(v))
}

// fillAttrInAt is FillAttrIn for data that is in memory already.
func (cmd *CommandBuffer) fillAttrInAt(id uint16, at copyuser.Addr, n int) *spec.IoctlAttr {
	attr := cmd.fillAttrInUHW(id, at, n)
	if n <= inlineLen {
		attr.Data = cmd.f.inlined(at, n)
	}
	return attr
}

// fillAttrInUHW models _fill_attr_in_uhw in libibverbs/cmd_ioctl.c: it points to
// the data even if that is short.
func (cmd *CommandBuffer) fillAttrInUHW(id uint16, at copyuser.Addr, n int) *spec.IoctlAttr {
	attr := cmd.nextAttr(id)
	cmd.setLen(attr, n)
	attr.Data = uint64(at)
	return attr
}

// FillAttrInUint64 adds a number of 8 bytes. It models fill_attr_in_uint64 of
// libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrInUint64(id uint16, v uint64) *spec.IoctlAttr {
	attr := cmd.nextAttr(id)
	attr.Len, attr.Data = 8, v
	return attr
}

// FillAttrConstIn adds an enumerator, which travels as 8 bytes. It models
// fill_attr_const_in of libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrConstIn(id uint16, v uint64) *spec.IoctlAttr {
	return cmd.FillAttrInUint64(id, v)
}

// FillAttrInUint32 adds a number of 4 bytes. It models fill_attr_in_uint32 of
// libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrInUint32(id uint16, v uint32) *spec.IoctlAttr {
	attr := cmd.nextAttr(id)
	attr.Len, attr.Data = 4, uint64(v)
	return attr
}

// FillAttrInFD adds a descriptor. For -1 it adds nothing and returns nil. It
// models fill_attr_in_fd of libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrInFD(id uint16, fd int) *spec.IoctlAttr {
	if fd == -1 {
		return nil
	}
	attr := cmd.nextAttr(id)
	attr.Data = uint64(int64(fd))
	return attr
}

// FillAttrOutFD adds an object to be made that is a descriptor; ReadAttrFD has
// it. It models fill_attr_out_fd of libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrOutFD(id uint16) *spec.IoctlAttr { return cmd.nextAttr(id) }

// ReadAttrFD returns the descriptor that the kernel gave. It models
// read_attr_fd of libibverbs/cmd_ioctl.h.
func ReadAttrFD(id uint16, attr *spec.IoctlAttr) int {
	mustBe(id, attr)
	return int(int32(attr.Data))
}

// FillAttrOut adds room for output: when the command was executed, dst has what
// is in it, which is what dst holds now where the kernel writes nothing. Output
// always lies outside of the attribute. It models fill_attr_out of
// libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrOut(id uint16, dst []byte) *spec.IoctlAttr {
	attr := cmd.nextAttr(id)
	if cmd.setLen(attr, len(dst)); cmd.bufferError {
		return attr
	}
	at := cmd.f.push(dst)
	attr.Data = uint64(at)
	cmd.outs = append(cmd.outs, output{at, dst})
	return attr
}

// FillAttrOutPtr adds a wire struct, or a number, as output. It models
// fill_attr_out_ptr of libibverbs/cmd_ioctl.h.
func FillAttrOutPtr[T any](cmd *CommandBuffer, id uint16, v *T) *spec.IoctlAttr {
	return cmd.FillAttrOut(id, spec.Bytes(v))
}

// fillAttrOutAt is FillAttrOut for room that is in memory already.
func (cmd *CommandBuffer) fillAttrOutAt(id uint16, at copyuser.Addr, n int) *spec.IoctlAttr {
	return cmd.fillAttrInUHW(id, at, n)
}

// FillAttrInEnum adds the input that elem chooses. It models fill_attr_in_enum
// of libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrInEnum(id uint16, elem uint8, data []byte) *spec.IoctlAttr {
	attr := cmd.FillAttrIn(id, data)
	attr.AttrData = uint16(elem)
	return attr
}

// FillAttrInObjsArr adds an array of handles. It models fill_attr_in_objs_arr
// of libibverbs/cmd_ioctl.h.
func (cmd *CommandBuffer) FillAttrInObjsArr(id uint16, handles []uint32) *spec.IoctlAttr {
	b := make([]byte, 0, 4*len(handles))
	for _, h := range handles {
		b = binary.LittleEndian.AppendUint32(b, h)
	}
	return cmd.FillAttrIn(id, b)
}

// setLen sets the length of the data, which has 16 bits on the wire.
func (cmd *CommandBuffer) setLen(attr *spec.IoctlAttr, n int) {
	if n > math.MaxUint16 {
		cmd.bufferError = true
	}
	attr.Len = uint16(n)
}

// inlined reads up to 8 bytes of memory as an attribute has them.
func (f *Frame) inlined(at copyuser.Addr, n int) uint64 {
	var b [inlineLen]byte
	f.load(at, b[:n])
	return binary.LittleEndian.Uint64(b[:])
}

// mustBe asserts that an answer is read from the attribute that it is in.
func mustBe(id uint16, attr *spec.IoctlAttr) {
	if attr.AttrID != id {
		panic("verbs: an answer is read from another attribute")
	}
}
