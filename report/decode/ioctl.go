package decode

import (
	"math"

	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

// Ioctl is an RDMA_VERBS_IOCTL in names.
type Ioctl struct {
	Readable bool // the header could be read

	Object, Method, Driver Value
	// Command is the write() command that UVERBS_METHOD_INVOKE_WRITE runs, nil
	// for other methods.
	Command *Value

	NumAttrs int // what the header says; Attrs may be fewer
	Attrs    []Attr

	// Odd has the members of the header that the kernel refuses.
	Odd []Field
}

// Attr is an attribute in names.
type Attr struct {
	Name   Value // a Name; its Num is the id
	Type   spec.AttrType
	Access spec.Access // of an object
	New    bool        // the call makes the object: Out is its handle or descriptor

	// In is what the caller handed in, nil if the attribute is an output, or
	// its bytes could not be read.
	In *Value
	// Out is what the kernel handed out, nil if it did not.
	Out *Value

	Pointer bool // Addr is where the data lies, Len how much the caller says
	Addr    uint64
	Len     int
	// Short is how many of the Len bytes could not be read.
	Short int
	Cut   bool // Short is for what was kept, not for what there is

	Mandatory bool    // the caller has it refused if it is not known
	Odd       []Field // members of the attribute that the kernel refuses
}

// Call reads an ioctl's argument and its answer; c has both (see
// watch.Call.TakeArgument and TakeAnswer).
func Call(c *watch.Call) *Ioctl {
	i := c.Ioctl
	d := &Ioctl{Readable: i.Readable}
	if !i.Readable {
		return d
	}
	driver := c.Driver
	if driver == spec.RDMA_DRIVER_UNKNOWN {
		driver = i.Header.DriverID
	}
	d.Object = named(uint64(i.Header.ObjectID), i.ObjectName)
	d.Method = named(uint64(i.Header.MethodID), "")
	if i.Method != nil {
		d.Method.Text = i.Method.Name
	}
	d.Driver = enumerator(spec.Enumerators("enum rdma_driver_id"), uint64(i.Header.DriverID))
	if command, ok := invokedCommand(i); ok {
		v := Command(command)
		d.Command = &v
	}
	d.NumAttrs = int(i.Header.NumAttrs)
	d.header(&i.Header)
	types := bufferTypes(i, driver)
	for n := range i.Attrs {
		d.Attrs = append(d.Attrs, attr(&i.Attrs[n], types, c.Err == nil))
	}
	return d
}

// invokedCommand is the command word of UVERBS_METHOD_INVOKE_WRITE, if it is one: it has 32
// of the constant's 64 bits.
func invokedCommand(i *watch.Ioctl) (uint32, bool) {
	command, ok := i.InvokeWrite()
	return command, ok && i.Attr(spec.UVERBS_ATTR_WRITE_CMD).Data <= math.MaxUint32
}

// Command is a command word of write() and of UVERBS_METHOD_INVOKE_WRITE.
func Command(word uint32) Value {
	const known = 0xff | spec.IB_USER_VERBS_CMD_FLAG_EXTENDED
	name := ""
	if word&^uint32(known) == 0 {
		name = spec.WriteName(uint8(word), word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0)
	}
	return named(uint64(word), name)
}

// header notes what is wrong with a header: ib_uverbs_ioctl,
// drivers/infiniband/core/uverbs_ioctl.c.
func (d *Ioctl) header(h *spec.IoctlHdr) {
	if int(h.Length) != spec.IoctlHdrSize+int(h.NumAttrs)*spec.IoctlAttrSize {
		d.Odd = append(d.Odd, Field{Name: "length", Value: number(Number, uint64(h.Length))})
	}
	if h.Reserved1 != 0 {
		d.Odd = append(d.Odd, Field{Name: "reserved1", Value: number(Hex, h.Reserved1)})
	}
	if h.Reserved2 != 0 {
		d.Odd = append(d.Odd, Field{Name: "reserved2", Value: number(Hex, uint64(h.Reserved2))})
	}
}

// bufferTypes returns the C types of the attributes whose definition leaves
// that to the command or to the driver, by id.
func bufferTypes(i *watch.Ioctl, driver uint32) map[uint16][]string {
	if i.Method == nil || i.Method.Attr(spec.UVERBS_ATTR_UHW_IN) == nil {
		return nil
	}
	command, ok := invokedCommand(i)
	if !ok {
		u := spec.UdataOfMethod(driver, i.Header.ObjectID, i.Header.MethodID)
		return map[uint16][]string{spec.UVERBS_ATTR_UHW_IN: u.In, spec.UVERBS_ATTR_UHW_OUT: u.Out}
	}
	b := BuffersOf(driver, command)
	return map[uint16][]string{
		spec.UVERBS_ATTR_CORE_IN: b.Request, spec.UVERBS_ATTR_CORE_OUT: b.Response,
		spec.UVERBS_ATTR_UHW_IN: b.Udata.In, spec.UVERBS_ATTR_UHW_OUT: b.Udata.Out,
	}
}

// attr reads one attribute; done says that the call succeeded.
func attr(a *watch.Attr, types map[uint16][]string, done bool) Attr {
	d := Attr{
		Name: named(uint64(a.AttrID), ""), Type: spec.TypeNA,
		Pointer: a.Pointer, Len: int(a.Len), Cut: a.Cut,
		Mandatory: a.Flags&spec.UVERBS_ATTR_F_MANDATORY != 0,
	}
	if a.Pointer {
		d.Addr, d.Short = a.Data, int(a.Len)-max(len(a.In), len(a.Out))
	}
	d.odd(a)
	if a.Spec == nil {
		d.unknown(a)
		return d
	}
	d.Name.Text, d.Type, d.Access = a.Spec.Name, a.Spec.Type, a.Spec.Access
	ctype := pick(types[a.AttrID], int(a.Len))
	readers[a.Spec.Type](&d, a, ctype, done)
	return d
}

// readers read an attribute by its type.
var readers = map[spec.AttrType]func(d *Attr, a *watch.Attr, ctype string, done bool){
	spec.TypeNA:        func(d *Attr, a *watch.Attr, _ string, _ bool) { d.unknown(a) },
	spec.TypePtrIn:     (*Attr).input,
	spec.TypePtrOut:    (*Attr).output,
	spec.TypeIDR:       func(d *Attr, a *watch.Attr, _ string, done bool) { d.object(a, Number, done) },
	spec.TypeFD:        func(d *Attr, a *watch.Attr, _ string, done bool) { d.object(a, Signed, done) },
	spec.TypeRawFD:     func(d *Attr, a *watch.Attr, _ string, _ bool) { d.in(number(Signed, a.Data)) },
	spec.TypeEnumIn:    (*Attr).choice,
	spec.TypeIDRsArray: (*Attr).handles,
}

func (d *Attr) in(v Value)  { d.In = &v }
func (d *Attr) out(v Value) { d.Out = &v }

// data returns the bytes that were handed in; ok is false if they cannot be
// read at all.
func data(a *watch.Attr) (b []byte, ok bool) {
	if !a.Pointer {
		return a.Inline(), true
	}
	return a.In, len(a.In) > 0
}

func (d *Attr) input(a *watch.Attr, ctype string, _ bool) {
	if b, ok := data(a); ok {
		v := attrValue(a.Spec, ctype, b)
		if n := little(b); ctype == "" && a.Spec.CType == "enum ib_uverbs_write_cmds" && n <= math.MaxUint32 {
			v = Command(uint32(n))
		}
		d.in(v)
	}
}

// output reads what the kernel has written. Where the driver does the writing
// the kernel says so even if it wrote less, or nothing.
func (d *Attr) output(a *watch.Attr, ctype string, done bool) {
	if done && a.Written() && (len(a.Out) > 0 || a.Len == 0) {
		d.out(attrValue(a.Spec, ctype, a.Out))
	}
}

func (d *Attr) object(a *watch.Attr, k Kind, done bool) {
	d.New = a.Spec.Access == spec.AccessNew
	if !d.New {
		d.in(number(k, a.Data))
		return
	}
	if done {
		d.out(number(k, a.After.Data))
	}
}

func (d *Attr) choice(a *watch.Attr, _ string, _ bool) {
	v := Value{Kind: Choice, Num: uint64(a.ElemID())}
	b, ok := data(a)
	if id := int(a.ElemID()); id < len(a.Spec.Enum) && a.Spec.Enum[id].Type != spec.TypeNA {
		e := &a.Spec.Enum[id]
		v.Text = e.Name
		if ok && len(b) > 0 {
			v.Items = []Value{attrValue(e, "", b)}
		}
	} else if ok && len(b) > 0 {
		v.Items = []Value{{Kind: Bytes, Bytes: b}}
	}
	d.in(v)
}

func (d *Attr) handles(a *watch.Attr, _ string, _ bool) {
	if b, ok := data(a); ok {
		d.in(items("u32", "", b))
	}
}

// unknown reads an attribute that no definition tells of.
func (d *Attr) unknown(a *watch.Attr) {
	if !a.Pointer {
		d.in(number(Hex, a.Data))
		if a.After.Data != a.Data {
			d.out(number(Hex, a.After.Data))
		}
		return
	}
	if len(a.In) > 0 {
		d.in(Value{Kind: Bytes, Bytes: a.In})
	}
	if a.Written() && len(a.Out) > 0 {
		d.out(Value{Kind: Bytes, Bytes: a.Out})
	}
}

// odd notes what the kernel refuses whatever the attribute is:
// uverbs_set_attr, drivers/infiniband/core/uverbs_ioctl.c.
func (d *Attr) odd(a *watch.Attr) {
	if f := a.Flags &^ (spec.UVERBS_ATTR_F_MANDATORY | spec.UVERBS_ATTR_F_VALID_OUTPUT); f != 0 {
		d.Odd = append(d.Odd, Field{Name: "flags", Value: number(Hex, uint64(f))})
	}
	reserved := a.AttrData
	if a.Spec != nil && a.Spec.Type == spec.TypeEnumIn {
		reserved = uint16(a.EnumReserved())
	}
	if reserved != 0 {
		d.Odd = append(d.Odd, Field{Name: "reserved", Value: number(Hex, uint64(reserved))})
	}
	if a.Spec != nil && a.Spec.IsObject() && a.Len != 0 {
		d.Odd = append(d.Odd, Field{Name: "len", Value: number(Number, uint64(a.Len))})
	}
}
