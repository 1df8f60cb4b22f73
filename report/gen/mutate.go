package gen

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// mutate spoils a step, or the order of steps. The steps that open files and
// make descriptors are left alone as long as others name those.
func (m *maker) mutate() {
	first := m.opened
	if !m.named() && m.chance(0.2) {
		first = 1
	}
	if first >= len(m.c.Steps) {
		return
	}
	i := first + m.r.IntN(len(m.c.Steps)-first)
	s := &m.c.Steps[i]
	if m.chance(0.15) {
		if i >= m.opened { // a file is opened before anything is done with it
			m.order(i, m.opened)
		}
		return
	}
	what := ""
	switch a := s.Do.(type) {
	case *casefile.Ioctl:
		what = m.ioctlMutation(a)
		keepSaved(a)
	case *casefile.Write:
		what = m.writeMutation(a)
		for name := range s.Mask { // what varies may now stand elsewhere
			s.Mask[name] = []casefile.Range{{Off: 0, Len: m.c.Bufs[name].Len}}
		}
	case *casefile.ReadEvent:
		a.Arg = m.badAddress()
		what = "a bad address"
	}
	if what != "" {
		m.tell("step %d: %s", i, what)
	}
}

func (m *maker) tell(format string, args ...any) {
	m.told = append(m.told, fmt.Sprintf(format, args...))
}

// named says whether steps may name descriptors that others make.
func (m *maker) named() bool {
	return slices.ContainsFunc(m.files, func(f *file) bool { return len(f.channels)+len(f.asyncs) > 0 })
}

// order changes the order of the steps from first on, or who makes them.
func (m *maker) order(i, first int) {
	steps := m.c.Steps
	switch m.r.IntN(5) {
	case 0:
		j := first + m.r.IntN(len(steps)-first)
		steps[i], steps[j] = steps[j], steps[i]
		m.tell("steps %d and %d swapped", i, j)
	case 1:
		m.c.Steps = slices.Delete(steps, i, i+1)
		m.tell("step %d left out", i)
	case 2:
		twice := steps[i]
		if a, ok := twice.Do.(*casefile.Ioctl); ok && len(a.SaveFD) > 0 {
			return
		}
		if a, ok := twice.Do.(*casefile.Write); ok && len(a.SaveFD) > 0 {
			return
		}
		m.c.Steps = slices.Insert(steps, i, twice)
		m.tell("step %d twice", i)
	case 3:
		retarget(steps[i].Do, pick(m, m.files).fd)
		m.tell("step %d on another file", i)
	case 4:
		m.c.Steps = slices.Insert(steps, i, casefile.Step{Do: &casefile.Close{FD: pick(m, m.files).fd}})
		m.tell("a file closed before step %d", i)
	}
}

func retarget(a casefile.Action, fd string) {
	switch a := a.(type) {
	case *casefile.Ioctl:
		a.FD = fd
	case *casefile.Write:
		a.FD = fd
	}
}

// keepSaved takes descriptors from where they are after attributes were moved.
func keepSaved(a *casefile.Ioctl) {
	for name := range a.SaveFD {
		i := slices.IndexFunc(a.Attrs, func(x casefile.Attr) bool {
			return x.ID == spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE
		})
		if i < 0 {
			delete(a.SaveFD, name)
			continue
		}
		a.SaveFD[name] = casefile.Ref{Attr: i}
	}
}

func (m *maker) badAddress() casefile.Value {
	return casefile.Value{Kind: casefile.Bad, Name: pick(m, []string{"unmapped", "null", "kernel"})}
}

func ptr[T any](v T) *T { return &v }

// off is a number near another.
func (m *maker) off(n int) uint16 {
	return uint16(n + pick(m, []int{-16, -8, -4, -1, 1, 4, 8, 16, 1000}))
}

// ioctlMutation spoils a call's header, where it lies, or an attribute.
func (m *maker) ioctlMutation(a *casefile.Ioctl) string {
	length := casefile.HdrLen + casefile.AttrLen*len(a.Attrs)
	if len(a.Attrs) > 0 && m.chance(0.7) {
		return m.attrMutation(a)
	}
	h := &a.Hdr
	switch m.r.IntN(11) {
	case 0:
		h.Length = ptr(m.off(length))
		return "header length"
	case 1:
		h.NumAttrs = ptr(uint16(len(a.Attrs) + pick(m, []int{-1, 1, 2, 100})))
		return "header num_attrs"
	case 2:
		// An async event file's number would differ from run to run.
		h.ObjectID = pick(m, []uint16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 17, 0x1000, 0x1001, 0xffff})
		return "header object_id"
	case 3:
		h.MethodID = pick(m, []uint16{1, 2, 4, 9, 14, 15, 0x1000, 0xffff})
		return "header method_id"
	case 4:
		h.DriverID = ptr(pick(m, []uint32{0, 1, 2, 15, 1 << 31}))
		return "header driver_id"
	case 5:
		h.Reserved1 = casefile.NumberOf(pick(m, []uint64{1, 1 << 32, math.MaxUint64}))
		return "header reserved1"
	case 6:
		h.Reserved2 = ptr(uint32(1))
		return "header reserved2"
	case 7:
		a.ArgEdge = ptr(m.r.IntN(length + 1))
		return fmt.Sprintf("mapped up to byte %d", *a.ArgEdge)
	case 8:
		a.ArgProt = pick(m, []string{"r", "none"})
		return "argument protected"
	case 9:
		a.Arg = m.badAddress()
		return "argument at a bad address"
	}
	a.Cmd = casefile.NumberOf(pick(m, []uint64{0, casefile.VerbsIoctl + 1, casefile.VerbsIoctl - 1, casefile.VerbsIoctl &^ (1 << 30), 1<<32 | casefile.VerbsIoctl}))
	return "another command"
}

func (m *maker) attrMutation(a *casefile.Ioctl) string {
	i := m.r.IntN(len(a.Attrs))
	x := &a.Attrs[i]
	at := func(what string) string { return fmt.Sprintf("attribute %#x %s", x.ID, what) }
	switch m.r.IntN(13) {
	case 0:
		x.Len = ptr(m.off(int(or(x.Len))))
		return at("len")
	case 1:
		x.Flags = pick(m, []uint16{0, 1, 2, 3, 4, 0x8000, 0xffff})
		return at("flags")
	case 2:
		what := at("renamed")
		x.ID = pick(m, []uint16{0, 1, 2, 3, 5, 12, 30, 0x1000, 0x1001, 0x2000, 0xffff})
		return what
	case 3:
		twice := *x
		a.Attrs = slices.Insert(a.Attrs, i, twice)
		return fmt.Sprintf("attribute %#x twice", twice.ID)
	case 4:
		what := at("left out")
		a.Attrs = slices.Delete(a.Attrs, i, i+1)
		return what
	case 5:
		m.r.Shuffle(len(a.Attrs), func(i, j int) { a.Attrs[i], a.Attrs[j] = a.Attrs[j], a.Attrs[i] })
		return "attributes shuffled"
	case 6, 7:
		x.Data = m.badAddress()
		if isCommand(a, x) && x.Data.Name == "null" {
			x.Data = casefile.NumberOf(noCommand)
		}
		return at("at a bad address")
	case 8:
		n := pick(m, []uint64{0, 1, 2, 3, 7, 100, 1 << 31, math.MaxUint32, 1 << 32, math.MaxUint64})
		if isCommand(a, x) && n == spec.IB_USER_VERBS_CMD_GET_CONTEXT {
			n = noCommand
		}
		x.Data = casefile.NumberOf(n)
		return at("data")
	case 9:
		x.Reserved = pick(m, []uint16{1, 0x100, 0xffff})
		return at("reserved")
	case 10:
		x.Enum = ptr(pick(m, []uint8{0, 1, 2, 255}))
		return at("enum_data")
	case 11:
		return m.bufMutation(x.Data)
	}
	id := pick(m, []uint16{0x1d, 0x1fff, 40})
	a.Attrs = append(a.Attrs, casefile.Attr{ID: id, Len: new(uint16), Flags: uint16(m.r.IntN(2))})
	return fmt.Sprintf("an unknown attribute %#x", id)
}

// noCommand is the number of no write() command. It stands for that of
// GET_CONTEXT, 0, which returns a descriptor, whose number would differ.
const noCommand = 255

// isCommand says whether an attribute is the number of a write() command.
func isCommand(a *casefile.Ioctl, x *casefile.Attr) bool {
	return a.Hdr.ObjectID == spec.UVERBS_OBJECT_DEVICE && a.Hdr.MethodID == spec.UVERBS_METHOD_INVOKE_WRITE && x.ID == spec.UVERBS_ATTR_WRITE_CMD
}

// bufMutation spoils the buffer that a value points to.
func (m *maker) bufMutation(v casefile.Value) string {
	b := m.c.Bufs[v.Name]
	if v.Kind != casefile.Ptr || b == nil {
		return ""
	}
	switch m.r.IntN(3) {
	case 0:
		b.Prot = pick(m, []string{"r", "none"})
		return "buffer " + v.Name + " protected"
	case 1:
		b.Edge = true
		return "buffer " + v.Name + " at the end of memory"
	}
	if b.Data == nil || len(b.Reloc) > 0 {
		return ""
	}
	b.Data[m.r.IntN(len(b.Data))] ^= 1 << m.r.IntN(8)
	return "a bit of buffer " + v.Name
}

func or(p *uint16) uint16 {
	if p == nil {
		return 0
	}
	return *p
}

// writeMutation spoils a command.
func (m *maker) writeMutation(a *casefile.Write) string {
	le := binary.LittleEndian
	if len(a.Data) < spec.CmdHdrSize {
		return ""
	}
	switch m.r.IntN(10) {
	case 0:
		le.PutUint16(a.Data[4:], le.Uint16(a.Data[4:])+uint16(pick(m, []int{-1, 1, 2, 100})))
		return "in_words"
	case 1:
		le.PutUint16(a.Data[6:], le.Uint16(a.Data[6:])+uint16(pick(m, []int{-4, -1, 1, 2})))
		return "out_words"
	case 2, 3:
		body := a.Data[spec.CmdHdrSize:]
		if len(body) == 0 {
			return ""
		}
		i := m.r.IntN(len(body))
		body[i] ^= 1 << m.r.IntN(8)
		return fmt.Sprintf("a bit of byte %d", spec.CmdHdrSize+i)
	case 4:
		n := m.r.IntN(len(a.Data))
		if slices.ContainsFunc(a.Reloc, func(r casefile.Reloc) bool { return r.At+r.Size > n }) {
			return ""
		}
		a.Data = a.Data[:n]
		return fmt.Sprintf("cut to %d bytes", n)
	case 5:
		n := pick(m, []int{1, 4, 8})
		a.Data = append(a.Data, make([]byte, n)...)
		return fmt.Sprintf("%d bytes more", n)
	case 6:
		if len(a.Reloc) == 0 {
			return ""
		}
		r := &a.Reloc[m.r.IntN(len(a.Reloc))]
		if r.Size != 8 {
			return ""
		}
		r.Value = m.badAddress()
		return fmt.Sprintf("a bad address at %d", r.At)
	case 7:
		a.ArgEdge = ptr(m.r.IntN(len(a.Data) + 1))
		return fmt.Sprintf("mapped up to byte %d", *a.ArgEdge)
	case 8:
		a.Arg = m.badAddress()
		return "command at a bad address"
	}
	// Commands that return no descriptor, whose number would differ.
	le.PutUint32(a.Data, pick(m, []uint32{4, 5, 10, 16, 20, 21, 27, 33, 51, 55, 127, 255, 1 << 8, 1 << 24, 1 << 30, 1<<31 | 9, 1<<31 | 63}))
	return "another command"
}
