package demo

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/spec"
)

// definitions are what the device understands, by which arguments are read.
var definitions = sync.OnceValue(func() []spec.Definition { return spec.Linux6_12.Definitions(spec.RDMA_DRIVER_MLX5) })

// decodeIoctl reads the argument of an ioctl, as far as it can be read.
func decodeIoctl(p *process.Process, arg copyuser.Addr) *Ioctl {
	i := new(Ioctl)
	var raw [spec.IoctlHdrSize]byte
	if !p.Load(arg, raw[:]) {
		return i
	}
	i.Header = spec.DecodeIoctlHdr(&raw)
	object, method := spec.FindMethod(definitions(), i.Header.ObjectID, i.Header.MethodID)
	i.Object = object
	if method != nil {
		i.Method = method.Name
	}
	for n := range i.Header.NumAttrs {
		a, ok := loadAttr(p, arg, int(n))
		if !ok {
			break
		}
		i.Attrs = append(i.Attrs, i.attr(p, method, a))
	}
	return i
}

func loadAttr(p *process.Process, arg copyuser.Addr, n int) (spec.IoctlAttr, bool) {
	var raw [spec.IoctlAttrSize]byte
	ok := p.Load(arg+spec.IoctlHdrSize+copyuser.Addr(n*spec.IoctlAttrSize), raw[:])
	return spec.DecodeIoctlAttr(&raw), ok
}

// attr says what the program sends in an attribute.
func (i *Ioctl) attr(p *process.Process, method *spec.Method, a spec.IoctlAttr) Attr {
	out := Attr{Name: fmt.Sprintf("attribute %#x", a.AttrID), Attr: a}
	s := specOf(method, a.AttrID)
	if s == nil {
		out.Value = fmt.Sprintf("%#x", a.Data)
		return out
	}
	out.Name = s.Name
	switch s.Type {
	case spec.TypeIDR:
		out.Value = fmt.Sprintf("handle %d", a.Data)
		if s.Access == spec.AccessNew {
			out.Value = "a new object"
		}
	case spec.TypeFD:
		out.Value = fmt.Sprintf("descriptor %d", int64(a.Data))
		if s.Access == spec.AccessNew {
			out.Value = "a new object"
		}
	case spec.TypePtrOut:
		out.Value = fmt.Sprintf("room for %d bytes at %#x", a.Len, a.Data)
	default:
		out.Value = i.input(p, a)
	}
	return out
}

func specOf(method *spec.Method, id uint16) *spec.Attr {
	if method == nil {
		return nil
	}
	return method.Attr(id)
}

// structs has the driver's structs that the trip is about, by object, method and
// attribute.
var structs = map[[3]uint16]func() any{
	{spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT, spec.UVERBS_ATTR_UHW_IN}: func() any {
		return new(spec.Mlx5AllocUcontextReqV2)
	},
	{spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT, spec.UVERBS_ATTR_UHW_OUT}: func() any {
		return new(spec.Mlx5AllocUcontextResp)
	},
	{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, spec.UVERBS_ATTR_UHW_IN}: func() any {
		return new(spec.Mlx5CreateCQ)
	},
	{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, spec.UVERBS_ATTR_UHW_OUT}: func() any {
		return new(spec.Mlx5CreateCQResp)
	},
	{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY, spec.UVERBS_ATTR_DESTROY_CQ_RESP}: func() any {
		return new(spec.DestroyCQResp)
	},
}

// input is the text of what an attribute brings: a number, the members of a
// struct that is known, or bytes.
func (i *Ioctl) input(p *process.Process, a spec.IoctlAttr) string {
	if a.Len <= 8 {
		if a.AttrID == spec.UVERBS_ATTR_WRITE_CMD && i.isInvokeWrite() {
			return fmt.Sprintf("%#x, %s", a.Data, writeName(uint32(a.Data)))
		}
		return fmt.Sprintf("%#x", a.Data)
	}
	return i.data(p, a)
}

// data is the text of what an attribute points to.
func (i *Ioctl) data(p *process.Process, a spec.IoctlAttr) string {
	b := make([]byte, a.Len)
	if !p.Load(copyuser.Addr(a.Data), b) {
		return fmt.Sprintf("%d bytes at %#x, which cannot be read", a.Len, a.Data)
	}
	if f := structs[[3]uint16{i.Header.ObjectID, i.Header.MethodID, a.AttrID}]; f != nil {
		return members(f(), b)
	}
	return hexText(b)
}

// answered reads what the kernel made of the argument.
func (i *Ioctl) answered(p *process.Process, arg copyuser.Addr) {
	for n := range i.Attrs {
		a := &i.Attrs[n]
		a.After, _ = loadAttr(p, arg, n)
		switch {
		case a.After.Flags&spec.UVERBS_ATTR_F_VALID_OUTPUT != 0:
			a.Answer = i.data(p, a.After)
		case a.After.Data != a.Attr.Data || a.Value == "a new object":
			a.Answer = fmt.Sprintf("%d", a.After.Data)
		}
	}
}

func (i *Ioctl) isInvokeWrite() bool {
	return i.Header.ObjectID == spec.UVERBS_OBJECT_DEVICE && i.Header.MethodID == spec.UVERBS_METHOD_INVOKE_WRITE
}

// Name is what the call is, for a reader who knows the user ABI.
func (i *Ioctl) Name() string {
	if i.Method == "" {
		return fmt.Sprintf("object %#x, method %#x", i.Header.ObjectID, i.Header.MethodID)
	}
	if !i.isInvokeWrite() {
		return i.Method
	}
	for n := range i.Attrs {
		if a := &i.Attrs[n]; a.Attr.AttrID == spec.UVERBS_ATTR_WRITE_CMD {
			return i.Method + " of " + writeName(uint32(a.Attr.Data))
		}
	}
	return i.Method
}

func writeName(command uint32) string {
	return spec.WriteName(uint8(command), command&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0)
}

// members is the text of a wire struct's members that are not zero. The bytes
// may be fewer than the struct's.
func members(v any, b []byte) string {
	s := reflect.ValueOf(v).Elem()
	raw := make([]byte, s.Type().Size())
	copy(raw, b)
	var parts []string
	for n := range s.NumField() {
		f := s.Type().Field(n)
		size := int(f.Type.Size())
		if value := number(raw[f.Offset:], size); value != 0 && f.Name != "_" {
			format := "%s=%d"
			if strings.HasSuffix(f.Name, "Addr") {
				format = "%s=%#x"
			}
			parts = append(parts, fmt.Sprintf(format, cName(f.Name), value))
		}
	}
	if len(parts) == 0 {
		return "all zero"
	}
	return strings.Join(parts, " ")
}

// cName is the name in C of a member: cqe_size for CQESize.
func cName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		begins := i > 0 && isUpper(c) && (!isUpper(name[i-1]) || i+1 < len(name) && !isUpper(name[i+1]))
		if begins {
			b.WriteByte('_')
		}
		b.WriteByte(c)
	}
	return strings.ToLower(b.String())
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// number is a little-endian number of up to 8 bytes.
func number(b []byte, size int) (v uint64) {
	for i := min(size, 8) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// mostBytes is how many bytes are shown of longer data.
const mostBytes = 64

func hexText(b []byte) string {
	if len(b) <= mostBytes {
		return hex.EncodeToString(b)
	}
	return fmt.Sprintf("%s... (%d bytes)", hex.EncodeToString(b[:mostBytes]), len(b))
}
