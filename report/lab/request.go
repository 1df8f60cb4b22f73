package lab

import (
	"uverbsim/copyuser"
	"uverbsim/spec"
)

// request is a call that lies in the program's memory.
type request struct {
	m              *machine
	at             copyuser.Addr
	object, method uint16
	attrs          []spec.IoctlAttr
	buf            []byte // see bytes
}

// request puts a call into memory.
func (m *machine) request(object, method uint16, attrs ...spec.IoctlAttr) (*request, error) {
	at, err := m.alloc(spec.IoctlHdrSize + len(attrs)*spec.IoctlAttrSize)
	if err != nil {
		return nil, err
	}
	r := &request{m, at, object, method, attrs, nil}
	m.store(at, r.bytes())
	return r, nil
}

// bytes encodes the header and the attributes as they are before the call. They
// are valid until it is called again.
func (r *request) bytes() []byte {
	n := spec.IoctlHdrSize + len(r.attrs)*spec.IoctlAttrSize
	if r.buf == nil {
		r.buf = make([]byte, n)
	}
	hdr := spec.IoctlHdr{ObjectID: r.object, MethodID: r.method, DriverID: spec.RDMA_DRIVER_MLX5,
		Length: uint16(n), NumAttrs: uint16(len(r.attrs))}
	hdr.Encode((*[spec.IoctlHdrSize]byte)(r.buf))
	for i := range r.attrs {
		r.attrs[i].Encode((*[spec.IoctlAttrSize]byte)(r.buf[spec.IoctlHdrSize+i*spec.IoctlAttrSize:]))
	}
	return r.buf
}

// dataAt is where attribute i has its data: the handle of a new object, say.
func (r *request) dataAt(i int) copyuser.Addr {
	return r.at + spec.IoctlHdrSize + copyuser.Addr(i)*spec.IoctlAttrSize + spec.IoctlAttrDataOffset
}

// data reads it, and setData writes it.
func (r *request) data(i int) uint64 {
	v, ok := r.m.p.Mem.GetUint64(r.dataAt(i))
	if !ok {
		panic("lab: a request is not mapped")
	}
	return v
}

func (r *request) setData(i int, v uint64) {
	if !r.m.p.Mem.PutUint64(r.dataAt(i), v) {
		panic("lab: a request is not mapped")
	}
}

// The attributes of a request; all are mandatory, as libibverbs sends them.

// number is input of up to 8 bytes.
func number(id, n uint16, v uint64) spec.IoctlAttr {
	return spec.IoctlAttr{AttrID: id, Len: n, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: v}
}

// handle is an object, or a new one.
func handle(id uint16, h uint64) spec.IoctlAttr { return number(id, 0, h) }

// input is input of more than 8 bytes, put into memory.
func (m *machine) input(id uint16, b []byte) (spec.IoctlAttr, error) {
	at, err := m.alloc(len(b))
	if err != nil {
		return spec.IoctlAttr{}, err
	}
	m.store(at, b)
	return number(id, uint16(len(b)), uint64(at)), nil
}

// output is room for n bytes.
func (m *machine) output(id uint16, n int) (spec.IoctlAttr, error) {
	at, err := m.alloc(n)
	return number(id, uint16(n), uint64(at)), err
}
