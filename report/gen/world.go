package gen

import (
	"slices"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// file is an open file of the device, and what the maker believes to be in it.
type file struct {
	fd       string
	objects  []*object
	channels []string // descriptors of completion channels
	asyncs   []string // and of async event files
}

// object is one that a call should have made.
type object struct {
	typ    uint16
	number uint64
	uses   []*object
	users  int
	qpType uint64
	state  uint64 // of a QP
}

// free is the number that the file's next object gets.
func (f *file) free() uint64 {
	n := uint64(0)
	for slices.ContainsFunc(f.objects, func(o *object) bool { return o.number == n }) {
		n++
	}
	return n
}

func (f *file) of(typ uint16) []*object {
	var l []*object
	for _, o := range f.objects {
		if o.typ == typ {
			l = append(l, o)
		}
	}
	return l
}

func (f *file) made(o *object) {
	o.number = f.free()
	for _, u := range o.uses {
		u.users++
	}
	f.objects = append(f.objects, o)
}

func (f *file) destroyed(o *object) {
	if o.users > 0 {
		return // it stays, busy
	}
	for _, u := range o.uses {
		u.users--
	}
	f.objects = slices.DeleteFunc(f.objects, func(p *object) bool { return p == o })
}

// supported are the types that the driver makes.
var supported = []uint16{
	spec.UVERBS_OBJECT_PD, spec.UVERBS_OBJECT_CQ, spec.UVERBS_OBJECT_QP, spec.UVERBS_OBJECT_SRQ,
	spec.UVERBS_OBJECT_MR, spec.UVERBS_OBJECT_MW, spec.UVERBS_OBJECT_AH,
}

// openFile adds the steps with which a program begins.
func (m *maker) openFile() {
	f := &file{fd: string(rune('f' + len(m.files)))}
	m.files = append(m.files, f)
	m.add(&casefile.Open{FD: f.fd})
	switch p := m.r.Float64(); {
	case p < 0.03:
		return // without a context
	case p < 0.7:
		m.ioctl(f, m.method(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT))
	default:
		b := m.outBuffer(spec.GetContextRespSize)
		m.simpleWrite(f, spec.IB_USER_VERBS_CMD_GET_CONTEXT, b, "a")
	}
	if m.chance(0.4) {
		m.channel(f)
	}
	if m.chance(0.4) {
		name := "e" + f.fd
		m.add(&casefile.Ioctl{
			FD: f.fd, Hdr: casefile.Hdr{ObjectID: spec.UVERBS_OBJECT_ASYNC_EVENT, MethodID: spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC},
			Attrs:  []casefile.Attr{{ID: spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, Len: new(uint16), Flags: spec.UVERBS_ATTR_F_MANDATORY}},
			SaveFD: map[string]casefile.Ref{name: {Attr: 0}},
		})
		f.asyncs = append(f.asyncs, name)
	}
}

// channel makes a completion channel that surely is there afterwards.
func (m *maker) channel(f *file) {
	b := m.outBuffer(spec.CreateCompChannelRespSize)
	m.simpleWrite(f, spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, b, "c")
}

// simpleWrite is a command whose request is the address of its response alone,
// and whose response begins with a descriptor.
func (m *maker) simpleWrite(f *file, command uint8, resp, prefix string) {
	name := prefix + f.fd
	n := m.c.Bufs[resp].Len
	body := make([]byte, spec.CmdHdrSize+8)
	putHeader(body, uint32(command), len(body), n)
	m.add(&casefile.Write{
		FD: f.fd, Data: body,
		Reloc:  []casefile.Reloc{{At: spec.CmdHdrSize, Size: 8, Value: casefile.PtrTo(resp, 0)}},
		SaveFD: map[string]casefile.Ref{name: {Buf: resp, Size: 4}},
	})
	if command == spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL {
		f.channels = append(f.channels, name)
	} else {
		f.asyncs = append(f.asyncs, name)
	}
}
