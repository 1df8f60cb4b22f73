package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/rule"
	"uverbsim/spec"
)

// ioctl adds an ioctl.
func (s *session) ioctl(c *watch.Call) {
	if !s.room() {
		return
	}
	p := s.party(c.PID)
	a := &casefile.Ioctl{FD: s.device(p, c.File)}
	got := answer(c, false)
	if c.Cmd != spec.RDMA_VERBS_IOCTL {
		a.Cmd = hex(uint64(c.Cmd))
	}
	i := c.Ioctl
	if i == nil || !i.Readable {
		a.Arg = nowhere(uint64(c.Arg))
		s.addFor(p.proc, a, got)
		return
	}
	if s.c.Driver == "" {
		s.c.Driver = driverName(i.Header.DriverID)
	}
	a.Hdr = header(i, s.c.Driver)
	if len(i.Attrs) < min(int(i.Header.NumAttrs), watch.MaxAttrs) {
		edge := casefile.HdrLen + casefile.AttrLen*len(i.Attrs)
		a.ArgEdge = &edge
	}
	step := s.addFor(p.proc, a, got)
	e := &exchange{s: s, p: p, c: c, step: len(s.c.Steps), method: methodOf(i), in: input{}}
	for n := range i.Attrs {
		e.in[i.Attrs[n].AttrID] = bytesOf(&i.Attrs[n])
	}
	for n := range i.Attrs {
		if t := &i.Attrs[n]; t.Pointer {
			e.blocks = append(e.blocks, block{n: n, attr: t.AttrID, at: t.Data, before: t.In, after: t.Out, cut: t.Cut,
				edge: len(t.In) < int(t.Len) && !t.Cut})
		}
	}
	e.lay()
	for n := range i.Attrs {
		attr, data := e.attr(n, &i.Attrs[n], a)
		a.Attrs = append(a.Attrs, attr)
		got.Attrs = append(got.Attrs, casefile.GotAttr{Flags: casefile.Uint(uint64(i.Attrs[n].After.Flags)), Data: data})
	}
	e.answer(step, got, &a.Save, &a.SaveFD)
}

// header is the header, without what follows from the attributes.
func header(i *watch.Ioctl, driver string) casefile.Hdr {
	h := casefile.Hdr{ObjectID: i.Header.ObjectID, MethodID: i.Header.MethodID}
	if n := spec.IoctlHdrSize + len(i.Attrs)*spec.IoctlAttrSize; int(i.Header.Length) != n {
		h.Length = &i.Header.Length
	}
	if int(i.Header.NumAttrs) != len(i.Attrs) {
		h.NumAttrs = &i.Header.NumAttrs
	}
	if i.Header.Reserved1 != 0 {
		h.Reserved1 = hex(i.Header.Reserved1)
	}
	if id, _ := casefile.DriverID(driver); i.Header.DriverID != id {
		h.DriverID = &i.Header.DriverID
	}
	if i.Header.Reserved2 != 0 {
		h.Reserved2 = &i.Header.Reserved2
	}
	return h
}

// methodOf names what the call does.
func methodOf(i *watch.Ioctl) method {
	m := method{object: i.Header.ObjectID, method: i.Header.MethodID}
	if n, ok := i.InvokeWrite(); ok {
		m.command = n
	}
	return m
}

// bytesOf is what an attribute hands in.
func bytesOf(a *watch.Attr) []byte {
	if a.Pointer {
		return a.In
	}
	return a.Inline()
}

// nowhere is an address at which there is nothing. One that can be no user's
// stays as it is.
func nowhere(at uint64) casefile.Value {
	switch {
	case at == 0:
		return casefile.Value{Kind: casefile.Bad, Name: "null"}
	case at >= userEnd:
		return hex(at)
	}
	return casefile.Value{Kind: casefile.Bad, Name: "unmapped"}
}

// exchange is what a call hands in and gets back.
type exchange struct {
	s      *session
	p      *party
	c      *watch.Call
	step   int // from 1
	method method
	in     input
	blocks []block
	bufs   []*buffer
}

// block is memory that a call names: that of an attribute, or of a write()
// command's answer.
type block struct {
	n             int // which attribute it is
	attr          uint16
	at            uint64
	before, after []byte
	cut           bool // more of it was not kept
	edge          bool // it ends where memory ends

	buf *buffer // nil: none of it can be read
	off int     // where it begins in the buffer
}

// buffer is a buffer of the case, for all blocks that overlap.
type buffer struct {
	name          string
	at            uint64
	before, after []byte
	cut, edge     bool
	reloc         []casefile.Reloc
}

// lay lays the blocks out in buffers.
func (e *exchange) lay() {
	order := make([]*block, 0, len(e.blocks))
	for i := range e.blocks {
		if len(e.blocks[i].before) > 0 {
			order = append(order, &e.blocks[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *block) int { return cmp.Compare(a.at, b.at) })
	var last *buffer
	for _, b := range order {
		if last == nil || b.at >= last.at+uint64(len(last.before)) {
			last = &buffer{name: fmt.Sprintf("b%d.%x", e.step, b.attr), at: b.at}
			e.bufs = append(e.bufs, last)
		}
		b.buf, b.off = last, int(b.at-last.at)
		after := b.after
		if len(after) < len(b.before) {
			after = append(slices.Clip(after), b.before[len(after):]...) // it went during the call
		}
		last.before, last.after = put(last.before, b.off, b.before), put(last.after, b.off, after)
		last.cut, last.edge = last.cut || b.cut, last.edge || b.edge
	}
}

// put writes b at off, beyond the end if need be.
func put(to []byte, off int, b []byte) []byte {
	if end := off + len(b); end > len(to) {
		to = append(to, make([]byte, end-len(to))...)
	}
	copy(to[off:], b)
	return to
}

// block returns the attribute's memory, nil if it has none that can be read.
func (e *exchange) block(attr uint16) *block {
	for i := range e.blocks {
		if b := &e.blocks[i]; b.attr == attr && b.buf != nil {
			return b
		}
	}
	return nil
}

// attr is the n-th attribute in the case, and what its data is afterwards.
func (e *exchange) attr(n int, t *watch.Attr, a *casefile.Ioctl) (casefile.Attr, string) {
	length := t.Len
	out := casefile.Attr{ID: t.AttrID, Len: &length, Flags: t.Flags}
	if t.Spec != nil && t.Spec.Type == spec.TypeEnumIn {
		enum := t.ElemID()
		out.Enum, out.Reserved = &enum, t.AttrData>>8
	} else {
		out.Reserved = t.AttrData
	}
	out.Data = e.data(n, t)
	data := fmt.Sprintf("0x%x", t.After.Data)
	if t.After.Data == t.Data && varies(e, out.Data) {
		data = casefile.Any
	}
	if t.Spec == nil || t.Spec.Access != spec.AccessNew || !t.Spec.IsObject() {
		return out, data
	}
	ref := casefile.Ref{Attr: n}
	name := e.s.name(kind(e.c.Ioctl.ObjectName))
	if t.Spec.Type == spec.TypeFD {
		saveTo(&a.SaveFD, name, ref)
		if e.c.Err == nil {
			e.p.fds[int(int32(t.After.Data))] = name
		}
		return out, casefile.Any
	}
	if e.c.Err == nil {
		saveTo(&a.Save, name, ref)
		e.s.handles[handle{e.c.File, uint32(t.After.Data)}] = symbol{name, e.p}
	}
	return out, data
}

// data is an attribute's data as the case gives it.
func (e *exchange) data(n int, t *watch.Attr) casefile.Value {
	switch {
	case t.Pointer && len(t.In) == 0:
		if t.Len == 0 || t.Data == 0 {
			return hex(t.Data)
		}
		return nowhere(t.Data)
	case t.Pointer:
		i := slices.IndexFunc(e.blocks, func(b block) bool { return b.n == n })
		b := e.blocks[i].buf
		return casefile.PtrTo(b.name, int64(t.Data-b.at))
	case t.Spec == nil:
	case t.Spec.Type == spec.TypeFD && t.Spec.Access != spec.AccessNew, t.Spec.Type == spec.TypeRawFD:
		return e.s.fd(e.p, t.Data)
	case t.Spec.Type == spec.TypeIDR && t.Spec.Access != spec.AccessNew:
		return e.s.handle(e.p, e.c.File, t.Data)
	default:
		for i := range pointers[e.method] {
			if q := &pointers[e.method][i]; q.attr == t.AttrID {
				if v, ok := e.pinned(q, t.Data); ok {
					return v
				}
			}
		}
	}
	return hex(t.Data)
}

// varies says whether a value differs from run to run, as casefile.Resolved does.
func varies(e *exchange, v casefile.Value) bool {
	switch v.Kind {
	case casefile.Ptr, casefile.Plus:
		return true
	case casefile.Bad:
		return v.Name != "null"
	case casefile.Handle:
		for _, name := range e.p.fds {
			if name == v.Name {
				return true
			}
		}
	}
	return false
}

// kind is the beginning of the names of an object's instances.
func kind(object string) string {
	for _, prefix := range []string{"UVERBS_OBJECT_", "MLX5_IB_OBJECT_"} {
		object = strings.TrimPrefix(object, prefix)
	}
	if object == "" {
		return "object"
	}
	return strings.ToLower(object)
}

func saveTo(m *map[string]casefile.Ref, name string, ref casefile.Ref) {
	if *m == nil {
		*m = map[string]casefile.Ref{}
	}
	(*m)[name] = ref
}

// pinned returns the memory at an address that the kernel pins.
func (e *exchange) pinned(q *pointer, at uint64) (casefile.Value, bool) {
	n := q.length(e.in)
	if e.c.Err != nil && rule.Errno(e.c.Err) == syscall.EFAULT {
		if v, ok := e.s.memory.faulty(e.s.c, e.c.Mem, at, n); ok {
			return v, ok
		}
	}
	return e.s.memory.place(e.s.c, e.c.PID, at, n)
}

// relocate puts the addresses of memory into what the call hands in.
func (e *exchange) relocate() {
	base := map[field]base{}
	for i := range pointers[e.method] {
		q := &pointers[e.method][i]
		b := e.block(q.attr)
		if b == nil {
			continue
		}
		for at := q.field.at; at+q.field.n <= len(b.before); at += q.every {
			v, ok := e.address(q, e.in.number(q.attr, field{at, q.field.n}), base)
			if ok {
				b.buf.reloc = append(b.buf.reloc, casefile.Reloc{At: b.off + at, Size: 8, Value: v})
			}
			if q.every == 0 {
				break
			}
		}
	}
}

// base is where the memory of a pointer lies.
type base struct {
	at, n uint64
	v     casefile.Value
}

// address is an address in a struct as a value; bases are those that were found
// before.
func (e *exchange) address(q *pointer, at uint64, bases map[field]base) (casefile.Value, bool) {
	if q.within != nil {
		b, ok := bases[*q.within]
		if !ok || at < b.at || at-b.at > b.n || b.v.Kind != casefile.Ptr {
			return casefile.Value{}, false
		}
		v := b.v
		v.Off += int64(at - b.at)
		return v, true
	}
	v, ok := e.pinned(q, at)
	if ok {
		bases[q.field] = base{at, q.length(e.in), v}
	}
	return v, ok
}

// answer completes the step with the buffers and what is saved from them.
func (e *exchange) answer(step *casefile.Step, got *casefile.Got, save, saveFD *map[string]casefile.Ref) {
	e.relocate()
	if b := e.block(coreIn); b != nil {
		e.standIn(b.buf.before[b.off:], b.buf.after[b.off:])
	}
	masks := map[string][]casefile.Range{}
	ready := func(n uint32) bool { return e.s.ready[handle{e.c.File, n}] }
	for _, o := range varying(e.method, e.in, ready) {
		if b := e.block(o.attr); b != nil && o.at < len(b.before) {
			r := casefile.Range{Off: b.off + o.at, Len: min(o.n, len(b.before)-o.at)}
			masks[b.buf.name] = append(masks[b.buf.name], r)
		}
	}
	if len(masks) > 0 {
		step.Mask = masks
	}
	hidden := map[string][]casefile.Range{}
	for name, l := range masks {
		hidden[name] = slices.Clone(l)
	}
	if m, ok := makes[e.method]; ok {
		e.made(m, save, saveFD, hidden)
	}
	if o, ok := offsets[e.method]; ok && e.c.Err == nil && e.p.proc == "" {
		if b := e.block(o.attr); b != nil && len(b.after) >= o.n {
			e.s.offsets[input{0: b.after}.number(0, o.field)] = casefile.Value{Kind: casefile.Content, Name: b.buf.name, Off: int64(b.off), Size: 8}
		}
	}
	if h, ok := becomesReady(e.method, e.in); ok && e.c.Err == nil {
		e.s.ready[handle{e.c.File, h}] = true
	}
	e.report(got, hidden)
}

// made saves what a write() command has made.
func (e *exchange) made(m made, save, saveFD *map[string]casefile.Ref, hidden map[string][]casefile.Range) {
	b := e.block(coreOut)
	if b == nil || m.at+m.n > len(b.after) || m.at+m.n > len(b.before) {
		return
	}
	ref := casefile.Ref{Buf: b.buf.name, Off: b.off + m.at, Size: 4}
	n := uint32(input{0: b.after}.number(0, m.field))
	if m.fd {
		name := e.s.name(m.kind)
		saveTo(saveFD, name, ref)
		hidden[ref.Buf] = append(hidden[ref.Buf], casefile.Range{Off: ref.Off, Len: 4})
		if e.c.Err == nil {
			e.p.fds[int(int32(n))] = name
		}
		return
	}
	if e.c.Err == nil {
		name := e.s.name(m.kind)
		saveTo(save, name, ref)
		e.s.handles[handle{e.c.File, n}] = symbol{name, e.p}
	}
}

// report puts the buffers into the case, and what they hold afterwards into the
// answer.
func (e *exchange) report(got *casefile.Got, hidden map[string][]casefile.Range) {
	got.Bufs = map[string]string{}
	for _, b := range e.bufs {
		buf := &casefile.Buf{Data: b.before, Len: len(b.before), Edge: b.edge, Reloc: b.reloc}
		if b.cut {
			buf.Data = put(buf.Data, copyuser.PageSize*16-1, []byte{0}) // as long as an attribute can be
		}
		if zero(buf.Data) {
			buf.Data, buf.Len = nil, len(buf.Data)
		} else {
			buf.Len = len(buf.Data)
		}
		e.s.c.Bufs[b.name] = buf
		if got.Bufs[b.name] = b.text(hidden[b.name]); b.cut {
			got.Bufs[b.name] = casefile.Any
		}
		e.s.size += 2*len(buf.Data) + 2*len(b.after)
	}
	// What the kernel pins is reported where the call itself names it; traffic
	// changes it.
	for _, name := range e.named() {
		if _, ok := got.Bufs[name]; !ok {
			got.Bufs[name] = casefile.Any
		}
	}
	if len(got.Bufs) == 0 {
		got.Bufs = nil
	}
}

// named are the buffers that the step's own values name.
func (e *exchange) named() (names []string) {
	var values []casefile.Value
	switch a := e.s.c.Steps[e.step-1].Do.(type) {
	case *casefile.Ioctl:
		for i := range a.Attrs {
			values = append(values, a.Attrs[i].Data)
		}
	case *casefile.Write:
		for i := range a.Reloc {
			values = append(values, a.Reloc[i].Value)
		}
	}
	for i := range values {
		if values[i].Kind == casefile.Ptr {
			names = append(names, values[i].Name)
		}
	}
	return names
}

// text is what the buffer holds afterwards. Addresses that still stand there and
// hidden parts that were written are not compared.
func (b *buffer) text(hidden []casefile.Range) string {
	var ranges []casefile.Range
	for _, r := range hidden {
		lo, hi := min(r.Off, len(b.after)), min(r.Off+r.Len, len(b.after))
		if string(b.before[lo:hi]) != string(b.after[lo:hi]) {
			ranges = append(ranges, r)
		}
	}
	for i := range b.reloc {
		if at := b.reloc[i].At; string(b.before[at:at+8]) == string(b.after[at:at+8]) {
			ranges = append(ranges, casefile.Range{Off: at, Len: 8})
		}
	}
	return casefile.MaskHex(b.after, ranges)
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
