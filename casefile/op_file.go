package casefile

// The operations on open files.

// Open opens the device: open(2). The answer's ret is "*".
type Open struct {
	FD      string // the descriptor's name from now on
	Mode    string // rw (also when empty), r or w
	Cloexec *bool  // O_CLOEXEC; set when nil
}

func (a *Open) members(o *object) {
	o.makes(descriptors, "fd", &a.FD, must)
	o.text("mode", &a.Mode, may, "r", "w", "rw")
	optional(o, "cloexec", &a.Cloexec, item.boolean)
}

// Close closes a descriptor: close(2).
type Close struct {
	FD string
}

func (a *Close) members(o *object) { o.uses(descriptors, "fd", &a.FD, must) }

// Ioctl calls ioctl(2), with a header and attributes of the case or with an
// address.
type Ioctl struct {
	FD      string
	Cmd     Value // VerbsIoctl when absent
	Hdr     Hdr
	Attrs   []Attr
	Arg     Value  // pass this address instead of that of header and attributes
	ArgEdge *int   // only so many bytes of header and attributes are mapped
	ArgProt string // page protection of header and attributes: rw (also when empty), r or none
	Save    map[string]Ref
	SaveFD  map[string]Ref
}

func (a *Ioctl) members(o *object) {
	o.uses(descriptors, "fd", &a.FD, must)
	o.value("cmd", &a.Cmd, may)
	if it, ok := o.member("hdr", must, true); ok {
		it.object("a header", a.Hdr.members)
	}
	listMember(o, "attrs", &a.Attrs, may, func(it item, at *Attr) { it.object("an attribute", at.members) })
	o.value("arg", &a.Arg, may)
	optional(o, "arg_edge", &a.ArgEdge, length)
	o.text("arg_prot", &a.ArgProt, may, "rw", "r", "none")
	saves(o, &a.Save, &a.SaveFD, len(a.Attrs))
}

// Hdr is struct ib_uverbs_ioctl_hdr (include/uapi/rdma/rdma_user_ioctl_cmds.h).
// What is nil follows from the attributes and from the case's driver.
type Hdr struct {
	ObjectID  uint16
	MethodID  uint16
	Length    *uint16
	NumAttrs  *uint16
	Reserved1 Value
	DriverID  *uint32
	Reserved2 *uint32
}

func (h *Hdr) members(o *object) {
	integerMember(o, "object_id", &h.ObjectID, must)
	integerMember(o, "method_id", &h.MethodID, must)
	optional(o, "length", &h.Length, integer)
	optional(o, "num_attrs", &h.NumAttrs, integer)
	o.value("reserved1", &h.Reserved1, may)
	optional(o, "driver_id", &h.DriverID, integer)
	optional(o, "reserved2", &h.Reserved2, integer)
}

// Attr is struct ib_uverbs_attr (include/uapi/rdma/rdma_user_ioctl_cmds.h).
type Attr struct {
	ID       uint16
	Len      *uint16 // the length of Inline when nil
	Flags    uint16
	Enum     *uint8 // byte 6; bytes 6 and 7 are Reserved when nil
	Reserved uint16 // with Enum its low byte is byte 7
	Data     Value
	Inline   []byte // up to 8 bytes that take the place of Data
}

func (a *Attr) members(o *object) {
	integerMember(o, "id", &a.ID, must)
	optional(o, "len", &a.Len, integer)
	integerMember(o, "flags", &a.Flags, must)
	optional(o, "enum", &a.Enum, integer)
	integerMember(o, "reserved", &a.Reserved, may)
	o.value("data", &a.Data, may)
	o.hex("inline", &a.Inline, may)
	if o.c.reading && len(a.Inline) > 8 {
		o.fail("inline data of %d bytes: there is room for 8", len(a.Inline))
	}
}

// Ref is where a number to be saved is found after a call that succeeded: in
// a buffer, or in the data of an attribute when Buf is empty.
type Ref struct {
	Attr int
	Buf  string
	Off  int
	Size int // 4 or 8
}

// saves are the members save and save_fd of a call with that many attributes.
func saves(o *object, handle, fd *map[string]Ref, attrs int) {
	code := func(s nameSpace) func(item, string, *Ref) {
		return func(it item, sym string, r *Ref) {
			it.object("a place to save from", func(o *object) { r.members(o, attrs) })
			it.define(s, sym)
		}
	}
	dictMember(o, "save", handle, code(handles))
	dictMember(o, "save_fd", fd, code(descriptors))
}

func (r *Ref) members(o *object, attrs int) {
	o.oneOf(must, "attr", "buf")
	if o.has("buf") || r.Buf != "" {
		o.text("buf", &r.Buf, must)
		lengthMember(o, "off", &r.Off, may)
		numberSize(o, &r.Size)
		o.useBuf(r.Buf, r.Off, r.Size)
		return
	}
	lengthMember(o, "attr", &r.Attr, must)
	if o.c.reading && r.Attr >= attrs {
		o.fail("attribute %d of %d", r.Attr, attrs)
	}
}

// Write calls write(2) with a command of the old ABI: the bytes begin with
// struct ib_uverbs_cmd_hdr (include/uapi/rdma/ib_user_verbs.h).
type Write struct {
	FD      string
	Data    []byte
	Reloc   []Reloc
	Arg     Value // pass this address instead of that of the bytes
	ArgEdge *int  // only so many of the bytes are mapped
	Save    map[string]Ref
	SaveFD  map[string]Ref
}

func (a *Write) members(o *object) {
	o.uses(descriptors, "fd", &a.FD, must)
	o.hex("hex", &a.Data, must)
	listMember(o, "reloc", &a.Reloc, may, func(it item, r *Reloc) {
		it.object("a relocation", func(o *object) { r.members(o, len(a.Data)) })
	})
	o.value("arg", &a.Arg, may)
	optional(o, "arg_edge", &a.ArgEdge, length)
	saves(o, &a.Save, &a.SaveFD, 0)
}

// ReadEvent calls read(2) on an event descriptor.
type ReadEvent struct {
	FD       string
	Len      int
	Nonblock bool  // set O_NONBLOCK first
	Arg      Value // read to this address; the answer then has no hex
}

func (a *ReadEvent) members(o *object) {
	o.uses(descriptors, "fd", &a.FD, must)
	lengthMember(o, "len", &a.Len, must)
	o.boolean("nonblock", &a.Nonblock)
	o.value("arg", &a.Arg, may)
}

// Poll calls poll(2) for POLLIN and POLLOUT.
type Poll struct {
	FD      string
	Timeout int // milliseconds; negative: for ever
}

func (a *Poll) members(o *object) {
	o.uses(descriptors, "fd", &a.FD, must)
	integerMember(o, "timeout", &a.Timeout, may)
}

// Bufs reports the bytes of buffers. Its answer has no errno.
type Bufs struct {
	Names []string
}

func (a *Bufs) members(o *object) {
	texts(o, "names", &a.Names, must, func(it item, name string) { it.useBuf(name, 0, 0) })
}
