package gen

import (
	"encoding/binary"
	"slices"
	"strconv"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// request is a struct that a call hands in, with the driver's part behind it.
type request struct {
	core, driver []byte
	relocs       []casefile.Reloc // in core
	made         *object          // what the call makes, nil for none
	gone         *object          // what it destroys
	moved        *object          // a QP that it puts into another state
	state        uint64
	valid        bool // as far as can be told
}

// request fills in the members of a struct for a call on a file.
func (m *maker) request(f *file, c *call, ctype string) *request {
	q := &request{core: make([]byte, sizeOf(ctype)), valid: true}
	if c.deed == create && slices.Contains(supported, c.object) {
		q.made = &object{typ: c.object}
	}
	fields := layout(ctype)
	var memory casefile.Value
	var length, gidIndex uint64
	for _, fd := range fields {
		b := q.core[fd.off : fd.off+fd.size]
		switch {
		case fd.name == "Response":
		case fd.name == "Start":
			memory, length = m.memory()
			q.relocs = append(q.relocs, casefile.Reloc{At: fd.off, Size: 8, Value: memory})
		case fd.name == "HcaVA" && memory.Kind != casefile.Absent:
			q.relocs = append(q.relocs, casefile.Reloc{At: fd.off, Size: 8, Value: memory})
		case fd.name == "Length":
			putNumber(b, length)
		case fd.name == "CompChannel":
			m.channelMember(f, q, fd)
		case fd.name == "DGID" || fd.name == "GID":
			g := pick(m, gids)
			copy(b, g.gid[:])
			gidIndex = g.index
		case fd.name == "SGIDIndex" && !m.chance(0.1):
			putNumber(b, gidIndex)
		case handles[fd.name] != 0:
			m.handleMember(f, c, q, fd, b)
		case fd.name == "AttrMask" && c.object == spec.UVERBS_OBJECT_QP && c.deed == modify:
			// with the state, below
		case fd.size > 8:
		default:
			n, usual := m.number(fd.name)
			putNumber(b, n)
			q.valid = q.valid && usual
		}
	}
	if c.object == spec.UVERBS_OBJECT_QP {
		m.qpMembers(c, q, fields)
	}
	return q
}

func putNumber(b []byte, n uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], n)
	copy(b, w[:])
}

func numberAt(b []byte, fields []field, name string) uint64 {
	for _, fd := range fields {
		if fd.name == name {
			var w [8]byte
			copy(w[:], b[fd.off:fd.off+fd.size])
			return binary.LittleEndian.Uint64(w[:])
		}
	}
	return 0
}

func putAt(b []byte, fields []field, name string, n uint64) {
	for _, fd := range fields {
		if fd.name == name {
			putNumber(b[fd.off:fd.off+fd.size], n)
			return
		}
	}
}

// channelMember is a completion channel's descriptor or -1.
func (m *maker) channelMember(f *file, q *request, fd field) {
	if len(f.channels) > 0 && m.chance(0.5) {
		q.relocs = append(q.relocs, casefile.Reloc{At: fd.off, Size: 4, Value: casefile.HandleOf(pick(m, f.channels))})
		return
	}
	putNumber(q.core[fd.off:fd.off+fd.size], ^uint64(0))
}

// handleMember is a handle: of what the call destroys, or of what it uses.
func (m *maker) handleMember(f *file, c *call, q *request, fd field, b []byte) {
	typ := handles[fd.name]
	n, o := m.handle(f, typ)
	putNumber(b, n)
	optional := fd.name == "SRQHandle" && c.object == spec.UVERBS_OBJECT_QP || fd.name == "RWQIndTblHandle"
	switch {
	case o == nil && !optional:
		q.valid = false
	case o == nil:
	case c.deed == destroy && typ == c.object:
		q.gone = o
	case q.made != nil && !optional:
		q.made.uses = append(q.made.uses, o)
	case typ == spec.UVERBS_OBJECT_QP && c.deed == modify:
		q.moved = o
	}
}

// putHeader puts a struct ib_uverbs_cmd_hdr before a command.
func putHeader(b []byte, command uint32, in, out int) {
	binary.LittleEndian.PutUint32(b, command)
	binary.LittleEndian.PutUint16(b[4:], uint16(in/4))
	binary.LittleEndian.PutUint16(b[6:], uint16(out/4))
}

// writeCall makes a command by write().
func (m *maker) writeCall(f *file, c *call) {
	w := c.write
	q := m.request(f, c, requestOf(w))
	part := rxeParts[key{c.object, c.deed}]
	if !w.HasUdata && !w.Ex {
		part = driverPart{}
	}
	q.driver = make([]byte, sizeOf(part.in))
	resp, mask := "", []casefile.Range(nil)
	coreOut := sizeOf(responseOf(w))
	if w.HasResp {
		resp, mask = m.response(responseOf(w), part.out)
	}
	out := 0
	if resp != "" {
		out = m.c.Bufs[resp].Len
	}
	a := &casefile.Write{FD: f.fd}
	if w.Ex {
		a.Data = make([]byte, spec.CmdHdrSize+spec.ExCmdHdrSize)
		putHeader(a.Data, uint32(w.Command)|spec.IB_USER_VERBS_CMD_FLAG_EXTENDED, 0, 0)
		le := binary.LittleEndian
		// Extended commands count in words of 8 bytes.
		le.PutUint16(a.Data[4:], uint16(len(q.core)/8))
		le.PutUint16(a.Data[6:], uint16(coreOut/8))
		le.PutUint16(a.Data[spec.CmdHdrSize+8:], uint16(len(q.driver)/8))
		le.PutUint16(a.Data[spec.CmdHdrSize+10:], uint16((out-coreOut)/8))
		if !w.HasResp {
			le.PutUint16(a.Data[6:], 0)
			le.PutUint16(a.Data[spec.CmdHdrSize+10:], 0)
		}
	} else {
		a.Data = make([]byte, spec.CmdHdrSize)
		putHeader(a.Data, uint32(w.Command), spec.CmdHdrSize+len(q.core)+len(q.driver), out)
	}
	at := len(a.Data)
	a.Data = slices.Concat(a.Data, q.core, q.driver)
	for _, r := range q.relocs {
		r.At += at
		a.Reloc = append(a.Reloc, r)
	}
	if resp != "" {
		a.Reloc = append(a.Reloc, casefile.Reloc{At: spec.CmdHdrSize, Size: 8, Value: casefile.PtrTo(resp, 0)})
	}
	if fd := descriptorIn(responseOf(w)); resp != "" && fd >= 0 {
		a.SaveFD = map[string]casefile.Ref{"n" + strconv.Itoa(len(m.c.Steps)): {Buf: resp, Off: fd, Size: 4}}
	}
	s := m.add(a)
	if len(mask) > 0 {
		s.Mask = map[string][]casefile.Range{resp: mask}
	}
	m.believe(f, q)
}

// descriptorIn is where in a response a descriptor stands, -1 for none.
func descriptorIn(ctype string) int {
	for _, fd := range layout(ctype) {
		if fd.name == "FD" || fd.name == "AsyncFD" {
			return fd.off
		}
	}
	return -1
}

// response makes a buffer for a response of two structs, and says what varies
// in it.
func (m *maker) response(core, driver string) (string, []casefile.Range) {
	mask := varyingIn(core, 0)
	n := sizeOf(core)
	if driver != "" {
		mask = append(mask, varyingIn(driver, n)...)
		n += sizeOf(driver)
	}
	return m.outBuffer(n), mask
}

func varyingIn(ctype string, at int) []casefile.Range {
	var l []casefile.Range
	for _, fd := range layout(ctype) {
		if varying[fd.name] {
			l = append(l, casefile.Range{Off: at + fd.off, Len: fd.size})
		}
	}
	return l
}

// believe notes what a call should have done.
func (m *maker) believe(f *file, q *request) {
	switch {
	case !q.valid:
	case q.made != nil:
		f.made(q.made)
	case q.gone != nil:
		f.destroyed(q.gone)
	case q.moved != nil:
		q.moved.state = q.state
	}
}

// invokeWrite makes a command by the ioctl that hands one on.
func (m *maker) invokeWrite(f *file, c *call) {
	w := c.write
	q := m.request(f, c, requestOf(w))
	part := rxeParts[key{c.object, c.deed}]
	command := uint64(w.Command)
	if w.Ex {
		command |= spec.IB_USER_VERBS_CMD_FLAG_EXTENDED
	}
	in := m.buffer(casefile.Buf{Data: orZero(q.core), Len: max(len(q.core), 1)})
	for _, r := range q.relocs {
		if r.Size == 8 {
			m.c.Bufs[in].Reloc = append(m.c.Bufs[in].Reloc, r)
		}
	}
	if len(q.relocs) > len(m.c.Bufs[in].Reloc) {
		q.valid = false
	}
	a := &casefile.Ioctl{
		FD: f.fd, Hdr: casefile.Hdr{ObjectID: spec.UVERBS_OBJECT_DEVICE, MethodID: spec.UVERBS_METHOD_INVOKE_WRITE},
		Attrs: []casefile.Attr{
			mandatory(spec.UVERBS_ATTR_WRITE_CMD, 8, casefile.NumberOf(command)),
			mandatory(spec.UVERBS_ATTR_CORE_IN, len(q.core), casefile.PtrTo(in, 0)),
		},
	}
	masks := map[string][]casefile.Range{}
	if w.HasResp {
		out, mask := m.response(responseOf(w), "")
		a.Attrs = append(a.Attrs, mandatory(spec.UVERBS_ATTR_CORE_OUT, m.c.Bufs[out].Len, casefile.PtrTo(out, 0)))
		masks[out] = mask
	}
	if part.out != "" {
		out, mask := m.response(part.out, "")
		a.Attrs = append(a.Attrs, mandatory(spec.UVERBS_ATTR_UHW_OUT, m.c.Bufs[out].Len, casefile.PtrTo(out, 0)))
		masks[out] = mask
	}
	m.add(a).Mask = nonempty(masks)
	m.believe(f, q)
}

func orZero(b []byte) []byte {
	if len(b) == 0 {
		return []byte{0}
	}
	return b
}

func nonempty(masks map[string][]casefile.Range) map[string][]casefile.Range {
	for name, l := range masks {
		if len(l) == 0 {
			delete(masks, name)
		}
	}
	if len(masks) == 0 {
		return nil
	}
	return masks
}

func mandatory(id uint16, n int, data casefile.Value) casefile.Attr {
	l := uint16(n)
	return casefile.Attr{ID: id, Len: &l, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: data}
}
