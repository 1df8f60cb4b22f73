package fuzz

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/spec"
)

// slot is where a call has bytes for one part of the kernel: an attribute of a
// method or of a command, in a call of a recorded case.
type slot struct {
	name   string
	attr   int    // its index in the call
	before []byte // the program up to the call
	fd     int
	call   []byte // header and attributes
	bytes  []byte // what the recorded call has there
	good   bool   // the recorded call is done
}

// place names the kernel's part: an attribute of a method, or of a command.
type place struct {
	object, method uint16
	cmd            uint64 // of an INVOKE_WRITE
	attr           uint16
}

// wanted are the attributes of all of mlx5's methods for which is is so, and their
// names.
func wanted(is func(a *spec.Attr) bool) map[place]string {
	names := map[place]string{}
	for _, m := range methodsOf("mlx5") {
		for i := range m.Attrs {
			if a := &m.Attrs[i]; is(a) && !invokes(m.object, m.ID) {
				names[place{m.object, m.ID, 0, a.ID}] = m.Name + ": " + a.Name
			}
		}
	}
	return names
}

func invokes(object, method uint16) bool {
	return object == spec.UVERBS_OBJECT_DEVICE && method == spec.UVERBS_METHOD_INVOKE_WRITE
}

func isUHW(a *spec.Attr) bool { return a.Udata && a.ID == spec.UVERBS_ATTR_UHW_IN }

func isPtrIn(a *spec.Attr) bool {
	return !a.Udata && (a.Type == spec.TypePtrIn || a.Type == spec.TypeEnumIn)
}

// driversCommands are the extended commands whose driver is handed something. Those
// that destroy, and flows of the core, have the driver see none of it.
var driversCommands = []uint8{spec.IB_USER_VERBS_EX_CMD_QUERY_DEVICE, spec.IB_USER_VERBS_EX_CMD_CREATE_CQ, spec.IB_USER_VERBS_EX_CMD_CREATE_QP,
	spec.IB_USER_VERBS_EX_CMD_MODIFY_QP, spec.IB_USER_VERBS_EX_CMD_CREATE_FLOW, spec.IB_USER_VERBS_EX_CMD_CREATE_WQ,
	spec.IB_USER_VERBS_EX_CMD_MODIFY_WQ, spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL}

// slotsOf finds the slots in the recorded cases: of each name calls that were done,
// which differ in what they have there, or else one that was refused, or else one
// that is made up.
func slotsOf(tb testing.TB, names map[place]string) []*slot {
	const most = 24 // calls of a slot
	found := map[place][]recording{}
	seen := map[string]bool{}
	for _, c := range recorded(tb, "mlx5") {
		if c.Device != nil {
			continue
		}
		for i := range c.Steps {
			s := &c.Steps[i]
			call, ok := s.Do.(*casefile.Ioctl)
			if !ok || call.Arg.Kind != casefile.Absent {
				continue
			}
			good := s.Got != nil && s.Got.Errno != nil && *s.Got.Errno == ""
			for n := range call.Attrs {
				at := place{call.Hdr.ObjectID, call.Hdr.MethodID, commandOf(call), call.Attrs[n].ID}
				name := names[at]
				if name == "" {
					continue
				}
				list, p := found[at], recording{c, i, n, good}
				key := name + distinct(c, &call.Attrs[n])
				switch {
				case len(list) == 0, good && !list[0].good:
					found[at] = []recording{p}
				case good && len(list) < most && !seen[key]:
					found[at] = append(list, p)
				default:
					continue
				}
				seen[key] = true
			}
		}
	}
	b := newBed("mlx5")
	var list []*slot
	for _, at := range inOrder(names) {
		name := names[at]
		if len(found[at]) == 0 {
			list = append(list, madeUp(tb, at, name))
		}
		for _, p := range found[at] {
			short := *p.c
			short.Steps = p.c.Steps[:p.step+1]
			program, ends, err := b.programOf(&short)
			if err != nil {
				require.ErrorContainsf(tb, err, "no program does that", "%s: %s", name, p.c.Name)
				continue
			}
			start := ends[p.step-1] // a case begins with an open
			r := &reader{program[start:]}
			require.EqualValues(tb, opIoctl, r.byte())
			s := &slot{name: name, attr: p.attr, before: program[:start], fd: r.byte(), good: p.good}
			s.call = slices.Clone(r.bytes(int(r.number(2))))
			list = append(list, s)
		}
	}
	for _, s := range list {
		if s.bytes == nil {
			s.read(tb, b)
		}
	}
	return list
}

// recording is where a call of a recorded case has an attribute.
type recording struct {
	c    *casefile.Case
	step int
	attr int
	good bool
}

func inOrder(names map[place]string) []place {
	return slices.SortedFunc(maps.Keys(names), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.method, b.method), cmp.Compare(a.cmd, b.cmd), cmp.Compare(a.attr, b.attr))
	})
}

// commandOf is the one that an INVOKE_WRITE is of.
func commandOf(a *casefile.Ioctl) uint64 {
	for i := range a.Attrs {
		if a.Attrs[i].ID == spec.UVERBS_ATTR_WRITE_CMD {
			return a.Attrs[i].Data.N
		}
	}
	return 0
}

// distinct tells apart what calls have in an attribute: by the length and the first
// bytes, where a mailbox has its command.
func distinct(c *casefile.Case, a *casefile.Attr) string {
	b := a.Inline
	if buf := c.Bufs[a.Data.Name]; a.Data.Kind == casefile.Ptr && buf != nil {
		b = buf.Bytes()
	}
	return fmt.Sprint(len(b), b[:min(len(b), 4)])
}

// at is where in the call the attribute is.
func (s *slot) at() []byte { return s.call[spec.IoctlHdrSize+s.attr*spec.IoctlAttrSize:] }

// read takes what the call has in its attribute out of the memory that it would be
// made with.
func (s *slot) read(tb testing.TB, b *bed) {
	a := s.at()
	n, data := binary.LittleEndian.Uint16(a[2:]), binary.LittleEndian.Uint64(a[spec.IoctlAttrDataOffset:])
	if n <= 8 {
		s.bytes = slices.Clone(a[spec.IoctlAttrDataOffset:][:n])
		return
	}
	_, err := b.used(nil, func(l *life) {
		l.replay(s.before)
		s.bytes = make([]byte, n)
		s.bytes = s.bytes[:l.task.Mem.CopyIn(s.bytes, copyuser.Addr(data))]
	})
	require.NoError(tb, err)
}

// with is the call with other bytes in the attribute, which a life puts where it has
// room; and, unless out is 0, with so much room for what the driver answers.
func (s *slot) with(l *life, in []byte, out uint16) []byte {
	const most = 1 << 15
	in = in[:min(len(in), most)]
	call := slices.Clone(s.call)
	a := call[spec.IoctlHdrSize+s.attr*spec.IoctlAttrSize:]
	binary.LittleEndian.PutUint16(a[2:], uint16(len(in)))
	if len(in) <= 8 {
		clear(a[spec.IoctlAttrDataOffset:][:8])
		copy(a[spec.IoctlAttrDataOffset:], in)
	} else {
		l.put(payloadAt, payloadSize, in)
		binary.LittleEndian.PutUint64(a[spec.IoctlAttrDataOffset:], payloadAt)
	}
	if out == 0 {
		return call
	}
	for a := call[spec.IoctlHdrSize:]; len(a) >= spec.IoctlAttrSize; a = a[spec.IoctlAttrSize:] {
		if binary.LittleEndian.Uint16(a) == spec.UVERBS_ATTR_UHW_OUT {
			binary.LittleEndian.PutUint16(a[2:], out%1024)
			binary.LittleEndian.PutUint64(a[spec.IoctlAttrDataOffset:], payloadAt+most)
		}
	}
	return call
}

// madeUp is a slot that no recorded case has: a call of the method with what it must
// have, on the objects that there are; of a command, one whose request is zeros.
func madeUp(tb testing.TB, at place, name string) *slot {
	b, objects := equipped(tb, "mlx5")
	s := &slot{name: name, before: objects, fd: deviceFD, attr: -1}
	for _, w := range commands() {
		if w.cmd != at.cmd || !invokes(at.object, at.method) {
			continue
		}
		q := requests[w.cmd]
		require.NotNilf(tb, q.core, "%s has no recorded case with something for the driver, and no request of its own", name)
		core := encoded(q.core)
		s.before = slices.Concat(s.before, []byte{byte(opStore)}, u24(requestAt-dataAt), u16(len(core)), core)
		s.bytes = encoded(q.driver)
		s.call = spec.EncodeMethod(spec.RDMA_DRIVER_MLX5, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE,
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CORE_IN, Len: uint16(len(core)), Data: requestAt},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CORE_OUT, Len: uint16(max(w.RespSize, 8)), Data: responseAt},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_WRITE_CMD, Len: 8, Data: w.cmd},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 128, Data: responseAt + 0x800},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_IN})
		s.attr = 4
		return s
	}
	all := methodsOf("mlx5")
	for n, m := range all {
		for i := range m.Attrs {
			if at != (place{m.object, m.ID, 0, m.Attrs[i].ID}) {
				continue
			}
			whole := method{m.object, &spec.Method{ID: m.ID, Name: m.Name, Attrs: slices.Clone(m.Attrs)}}
			whole.Attrs[i].Mandatory = true // so that it is there
			for k, other := range all {     // which a driver may add attributes to
				if k != n && other.object == m.object && other.ID == m.ID {
					whole.Attrs = append(whole.Attrs, other.Attrs...)
				}
			}
			_, err := b.used(nil, func(l *life) {
				l.replay(objects)
				s.call = l.shaped(whole, &reader{})
			})
			require.NoError(tb, err)
			for n := range whole.Attrs[:i] {
				if whole.Attrs[n].Mandatory {
					s.attr++
				}
			}
			s.attr++
			return s
		}
	}
	tb.Fatalf("no method has the slot %s", name)
	return nil
}

// uhwCommand is a command whose driver is handed something.
type uhwCommand struct {
	*spec.Write
	cmd uint64
}

func commands() (list []uhwCommand) {
	for _, d := range spec.Linux6_12.Definitions(spec.RDMA_DRIVER_MLX5) {
		for i := range d.Writes {
			switch w := &d.Writes[i]; {
			case !w.Ex && w.HasUdata:
				list = append(list, uhwCommand{w, uint64(w.Command)})
			case w.Ex && slices.Contains(driversCommands, w.Command):
				list = append(list, uhwCommand{w, uint64(w.Command) | ex})
			}
		}
	}
	return list
}

// FuzzUHW has each of mlx5's methods, and each command, handed any bytes by the
// user's driver, with as much room for the answer as the input says; all else is as
// in a call that is done.
func FuzzUHW(f *testing.F) { fuzzSlots(f, uhwSlots(f)) }

func uhwNames() map[place]string {
	names := wanted(isUHW)
	for _, c := range commands() {
		names[place{spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE, c.cmd, spec.UVERBS_ATTR_UHW_IN}] = c.Name
	}
	return names
}

// FuzzPointerIn puts any bytes into what an attribute points at, of each of the
// attributes of mlx5's methods: masks and values of flows, memory's lengths, mailboxes
// of commands.
func FuzzPointerIn(f *testing.F) { fuzzSlots(f, pointerSlots(f)) }

// The slots of the two, once they are made: no test of this package is parallel.
var madeUHW, madePointers []*slot

func uhwSlots(tb testing.TB) []*slot {
	if madeUHW == nil {
		madeUHW = slotsOf(tb, uhwNames())
	}
	return madeUHW
}

func pointerSlots(tb testing.TB) []*slot {
	if madePointers == nil {
		madePointers = slotsOf(tb, wanted(isPtrIn))
	}
	return madePointers
}

func fuzzSlots(f *testing.F, slots []*slot) {
	for i, s := range slots {
		f.Add(uint16(i), s.bytes, uint16(0))
		f.Add(uint16(i), append(slices.Clone(s.bytes), make([]byte, 8)...), uint16(16))
	}
	b := newBed("mlx5")
	f.Fuzz(func(t *testing.T, which uint16, in []byte, out uint16) {
		s := slots[int(which)%len(slots)]
		b.play(t, append([]byte{byte(which), byte(which >> 8), byte(out), byte(out >> 8)}, in...), func(l *life) {
			l.replay(s.before)
			l.ioctl(s.fd, s.with(l, in, out))
		})
	})
}

// TestSlots: each method that has something for its driver, and each attribute that
// points at bytes, has a seed which is done, or refused by what comes after the parser
// of attributes: what the input has instead is read by the kernel.
func TestSlots(t *testing.T) {
	b := newBed("mlx5")
	done := 0
	for _, list := range []struct {
		names map[place]string
		slots []*slot
	}{{uhwNames(), uhwSlots(t)}, {wanted(isPtrIn), pointerSlots(t)}} {
		seeded := map[string]bool{}
		for _, s := range list.slots {
			seeded[s.name] = true
			_, err := b.used(nil, func(l *life) {
				l.replay(s.before)
				before := len(l.answers)
				l.ioctl(s.fd, s.with(l, s.bytes, 0))
				a := l.answers[before]
				switch r := rule.Find(a.what); {
				case a.what == "":
					done++
				case s.good:
					t.Errorf("%s: as recorded it is done, and here: %v", s.name, a)
				case r == nil || r.File == parserFile:
					t.Errorf("%s: no seed gets past the parser: %v", s.name, a)
				}
			})
			require.NoError(t, err, s.name)
		}
		for _, name := range list.names {
			require.True(t, seeded[name], "%s has no seed", name)
		}
	}
	t.Logf("%d seeds are done", done)
	require.Greater(t, done, 200)
}

// parserFile is where the kernel takes attributes to pieces.
const parserFile = "drivers/infiniband/core/uverbs_ioctl.c"
