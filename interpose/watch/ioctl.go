package watch

import (
	"encoding/binary"

	"uverbsim/copyuser"
	"uverbsim/spec"
)

const (
	// MaxAttrs is how many attributes of a call are kept: as many as fit into
	// the page that the kernel accepts at most.
	MaxAttrs = (copyuser.PageSize - spec.IoctlHdrSize) / spec.IoctlAttrSize

	// MaxBytes is how many bytes behind pointers are kept of a call, before
	// it and after it each.
	MaxBytes = 256 << 10
)

// Ioctl is the argument of an RDMA_VERBS_IOCTL with what it leads to.
type Ioctl struct {
	Raw      [spec.IoctlHdrSize]byte // the header as it lies in memory
	Header   spec.IoctlHdr
	Readable bool // false: the header could not be read, and nothing else is known

	// Attrs has the attributes as far as they could be read: fewer than the
	// header says where memory ends, or where it says more than MaxAttrs.
	Attrs []Attr

	// Method is what the definitions say of the method, nil if they have none
	// such; ObjectName is the UAPI's name of the object, "" if it is not known.
	// Both are shared and not to be changed.
	Method     *spec.Method
	ObjectName string

	arg      copyuser.Addr
	finished bool
}

// Attr is an attribute of a call.
type Attr struct {
	spec.IoctlAttr // as it lay in memory before the call

	// Spec is what the definitions say of it, nil if they have none such.
	Spec *spec.Attr
	// Pointer says that Data is an address.
	Pointer bool

	// In has the bytes that the pointer led to before the call, Out the same
	// after it. They are fewer than Len where memory or MaxBytes ends, and nil
	// without a pointer.
	In, Out []byte
	// Cut says that bytes were left out for MaxBytes.
	Cut bool

	// After is the attribute as it lies in memory after the call: where the
	// kernel puts the handle of a new object and UVERBS_ATTR_F_VALID_OUTPUT.
	After spec.IoctlAttr
}

// Written says that the kernel declared the attribute's output valid.
func (a *Attr) Written() bool { return a.After.Flags&spec.UVERBS_ATTR_F_VALID_OUTPUT != 0 }

// Inline returns the Len bytes of an input that lies in the attribute itself.
func (a *Attr) Inline() []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], a.Data)
	return b[:min(int(a.Len), len(b))]
}

// TakeIoctl reads the argument of an RDMA_VERBS_IOCTL and all that it leads to,
// as far as memory lets it. driver is the RDMA_DRIVER_ id of the device's
// driver; if that is RDMA_DRIVER_UNKNOWN, the argument's own word is taken. What
// is a pointer, the definitions of the newest kernel say; an attribute that
// they do not have is one if its length is more than its own room.
func TakeIoctl(mem copyuser.Memory, arg copyuser.Addr, driver uint32) *Ioctl {
	i := &Ioctl{arg: arg}
	if mem.CopyIn(i.Raw[:], arg) < len(i.Raw) {
		return i
	}
	i.Readable = true
	i.Header = spec.DecodeIoctlHdr(&i.Raw)
	if driver == spec.RDMA_DRIVER_UNKNOWN {
		driver = i.Header.DriverID
	}
	m := lookup(driver, i.Header.ObjectID, i.Header.MethodID)
	i.ObjectName, i.Method = m.object, m.method
	room := MaxBytes
	for n := range min(int(i.Header.NumAttrs), MaxAttrs) {
		var a Attr
		var ok bool
		if a.IoctlAttr, ok = i.load(mem, n); !ok {
			break
		}
		if i.Method != nil {
			a.Spec = i.Method.Attr(a.AttrID)
		}
		a.Pointer = isPointer(a.Spec, a.Len)
		a.After = a.IoctlAttr
		a.In = a.bytes(mem, &room)
		i.Attrs = append(i.Attrs, a)
	}
	return i
}

// Finish adds what is there after the call.
func (i *Ioctl) Finish(mem copyuser.Memory) {
	i.finished = true
	room := MaxBytes
	for n := range i.Attrs {
		a := &i.Attrs[n]
		if after, ok := i.load(mem, n); ok {
			a.After = after
		}
		a.Out = a.bytes(mem, &room)
	}
}

// Attr returns the call's first attribute with the id, nil if it has none.
func (i *Ioctl) Attr(id uint16) *Attr {
	for n := range i.Attrs {
		if i.Attrs[n].AttrID == id {
			return &i.Attrs[n]
		}
	}
	return nil
}

// InvokeWrite returns the command word of a call of UVERBS_METHOD_INVOKE_WRITE:
// the number of a write() command, and IB_USER_VERBS_CMD_FLAG_EXTENDED.
func (i *Ioctl) InvokeWrite() (command uint32, ok bool) {
	if i.Header.ObjectID != spec.UVERBS_OBJECT_DEVICE || i.Header.MethodID != spec.UVERBS_METHOD_INVOKE_WRITE {
		return 0, false
	}
	a := i.Attr(spec.UVERBS_ATTR_WRITE_CMD)
	if a == nil {
		return 0, false
	}
	return uint32(a.Data), true
}

// load reads the n-th attribute.
func (i *Ioctl) load(mem copyuser.Memory, n int) (spec.IoctlAttr, bool) {
	var raw [spec.IoctlAttrSize]byte
	at := i.arg + spec.IoctlHdrSize + copyuser.Addr(n*spec.IoctlAttrSize)
	ok := mem.CopyIn(raw[:], at) == len(raw)
	return spec.DecodeIoctlAttr(&raw), ok
}

// bytes reads what the attribute points to, within room, which it lessens. The
// address is the one from before the call: the kernel does not change it.
func (a *Attr) bytes(mem copyuser.Memory, room *int) []byte {
	if !a.Pointer {
		return nil
	}
	n := min(int(a.Len), *room)
	a.Cut = a.Cut || n < int(a.Len)
	*room -= n
	return read(mem, copyuser.Addr(a.Data), n)
}

// read returns the up to n bytes at from that can be read, nil if none can.
func read(mem copyuser.Memory, from copyuser.Addr, n int) []byte {
	if n == 0 {
		return nil
	}
	b := make([]byte, n)
	if n = mem.CopyIn(b, from); n == 0 {
		return nil
	}
	return b[:n:n]
}
