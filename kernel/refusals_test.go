package kernel

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// refusal is a call that is refused. with puts the call into memory, or does
// something before it; the call is then made at r.mem unless at says where.
type refusal struct {
	name string
	want *rule.Rule
	with func(tb testing.TB, p *parser)
	cmd  uint32
	at   func(p *parser) copyuser.Addr
	seam trace.Sink
}

// a is an attribute of the user.
type a = spec.IoctlAttr

// calling puts a call of a thing's method.
func calling(method uint16, attrs ...a) func(testing.TB, *parser) {
	return func(tb testing.TB, p *parser) { p.put(tb, p.mem, thing, method, attrs...) }
}

// handling puts a call of methodAttrs and has its handler do that.
func handling(handle func(b *Bundle) error, attrs ...a) func(testing.TB, *parser) {
	return func(tb testing.TB, p *parser) {
		p.handle = handle
		p.put(tb, p.mem, thing, methodAttrs, attrs...)
	}
}

// header changes one byte of the header of an empty call.
func header(off int, v byte) func(testing.TB, *parser) {
	return func(tb testing.TB, p *parser) {
		calling(methodAttrs)(tb, p)
		require.True(tb, p.p.Store(p.mem+copyuser.Addr(off), []byte{v}))
	}
}

// onData points the attribute at the tests' data.
func onData(at a) func(testing.TB, *parser) {
	return func(tb testing.TB, p *parser) {
		at.Data = uint64(p.data())
		calling(methodAttrs, at)(tb, p)
	}
}

// readOnly makes the page that the call lies in read-only.
func readOnly(with func(testing.TB, *parser)) func(testing.TB, *parser) {
	return func(tb testing.TB, p *parser) {
		with(tb, p)
		require.NoError(tb, p.p.Mprotect(p.mem, copyuser.PageSize, syscall.PROT_READ))
	}
}

func then(fs ...func(testing.TB, *parser)) func(testing.TB, *parser) {
	return func(tb testing.TB, p *parser) {
		for _, f := range fs {
			f(tb, p)
		}
	}
}

func removed(tb testing.TB, p *parser) { p.m.Unregister(p.p.NewTask(nil), p.d) }

// parserRefusals has at least one call for each rule of uverbs_ioctl.c and of
// the accessors in include/rdma/uverbs_ioctl.h.
func parserRefusals() []refusal {
	absent := func(access func(b *Bundle) error) func(testing.TB, *parser) { return handling(access) }
	return []refusal{
		{name: "command", want: rule.IoctlUnknown, with: calling(methodAttrs), cmd: spec.RDMA_VERBS_IOCTL + 1},
		{name: "header unreadable", want: rule.HeaderFault, with: calling(methodAttrs), at: func(*parser) copyuser.Addr { return nowhere }},
		{name: "header half readable", want: rule.HeaderFault, with: calling(methodAttrs),
			at: func(p *parser) copyuser.Addr { return p.mem + 2*copyuser.PageSize - spec.IoctlHdrSize + 1 }},
		{name: "length too small", want: rule.HeaderLength, with: header(0, spec.IoctlHdrSize-1)},
		{name: "length without its attribute", want: rule.HeaderLength, with: header(6, 1)},
		{name: "length above a page", want: rule.HeaderLength, with: func(tb testing.TB, p *parser) {
			hdr := spec.IoctlHdr{Length: 24 + 16*255, NumAttrs: 255, ObjectID: thing, MethodID: methodAttrs, DriverID: testDriver}
			var b [spec.IoctlHdrSize]byte
			hdr.Encode(&b)
			require.True(tb, p.p.Store(p.mem, b[:]))
		}},
		{name: "length before reserved", want: rule.HeaderLength, with: then(header(0, 0), func(tb testing.TB, p *parser) {
			require.True(tb, p.p.Store(p.mem+8, []byte{1}))
		})},
		{name: "reserved1", want: rule.HeaderReserved, with: header(8, 1)},
		{name: "reserved1, high", want: rule.HeaderReserved, with: header(15, 0x80)},
		{name: "reserved2", want: rule.HeaderReserved, with: header(20, 1)},
		{name: "reserved before driver", want: rule.HeaderReserved, with: then(header(16, 1), func(tb testing.TB, p *parser) {
			require.True(tb, p.p.Store(p.mem+20, []byte{1}))
		})},
		{name: "driver", want: rule.HeaderDriverID, with: header(16, testDriver+1)},
		{name: "driver before method", want: rule.HeaderDriverID, with: then(header(16, 0), func(tb testing.TB, p *parser) {
			require.True(tb, p.p.Store(p.mem+4, []byte{0x0f, 0x10}))
		})},
		{name: "object", want: rule.MethodUnknown, with: header(2, 9)},
		{name: "object out of range", want: rule.MethodUnknown, with: header(3, 0xff)},
		{name: "method", want: rule.MethodUnknown, with: func(tb testing.TB, p *parser) { p.put(tb, p.mem, thing, spec.NSFlag+7+1) }},
		{name: "method out of range", want: rule.MethodUnknown, with: func(tb testing.TB, p *parser) { p.put(tb, p.mem, thing, 0xffff) }},
		{name: "no memory", want: rule.BundleNoMemory, with: calling(methodAttrs), seam: breaks("_uverbs_alloc")},
		{name: "no memory for the bundle", want: rule.BundleNoMemory, with: calling(methodAttrs), seam: breaks("bundle_priv")},
		{name: "attributes unreadable", want: rule.AttrsFault, with: func(tb testing.TB, p *parser) {
			p.put(tb, p.mem, thing, methodAttrs, a{})
			call := make([]byte, spec.IoctlHdrSize)
			require.True(tb, p.p.Load(p.mem, call))
			require.True(tb, p.p.Store(p.mem+2*copyuser.PageSize-spec.IoctlHdrSize, call))
		}, at: func(p *parser) copyuser.Addr { return p.mem + 2*copyuser.PageSize - spec.IoctlHdrSize }},
		{name: "missing", want: rule.AttrMissing, with: calling(methodMandatory)},
		{name: "unknown takes no place", want: rule.AttrMissing, with: calling(methodMandatory, a{AttrID: 30})},
		{name: "device gone", want: rule.MethodDisassociated, with: then(calling(methodAttrs, a{AttrID: attrIn, Len: 99}), removed)},
		{name: "EPROTONOSUPPORT", want: rule.MethodEPROTONOSUPPORT, with: handling(func(*Bundle) error { return rule.MethodUnknown })},
		{name: "EPROTONOSUPPORT as a number", want: rule.MethodEPROTONOSUPPORT, with: handling(func(*Bundle) error { return syscall.EPROTONOSUPPORT })},

		{name: "unknown, mandatory", want: rule.AttrUnknownMandatory, with: calling(methodAttrs, a{AttrID: 30, Flags: spec.UVERBS_ATTR_F_MANDATORY})},
		{name: "id out of range, mandatory", want: rule.AttrUnknownMandatory, with: calling(methodAttrs, a{AttrID: 0xffff, Flags: 3})},
		{name: "twice", want: rule.AttrDuplicate, with: calling(methodAttrs, a{AttrID: attrIn, Len: 4}, a{AttrID: attrIn, Len: 4})},
		{name: "twice, before its own faults", want: rule.AttrDuplicate, with: calling(methodAttrs, a{AttrID: attrIn, Len: 4}, a{AttrID: attrIn, Len: 99})},

		{name: "enum element", want: rule.AttrEnumRange, with: calling(methodAttrs, a{AttrID: attrEnum, Len: 4, AttrData: 4})},
		{name: "enum element before reserved", want: rule.AttrEnumRange, with: calling(methodAttrs, a{AttrID: attrEnum, Len: 4, AttrData: 0x1ff})},
		{name: "enum reserved", want: rule.AttrEnumReserved, with: calling(methodAttrs, a{AttrID: attrEnum, Len: 4, AttrData: 0x100})},
		{name: "enum reserved before its type", want: rule.AttrEnumReserved, with: calling(methodAttrs, a{AttrID: attrEnum, AttrData: 0x101})},
		{name: "enum element without data", want: rule.AttrEnumType, with: calling(methodAttrs, a{AttrID: attrEnum, AttrData: 1})},
		{name: "enum element that is an output", want: rule.AttrEnumType, with: calling(methodAttrs, a{AttrID: attrEnum, Len: 8, AttrData: 3})},
		{name: "enum data too short", want: rule.AttrTooShort, with: calling(methodAttrs, a{AttrID: attrEnum, Len: 3})},
		{name: "enum data too long", want: rule.AttrTooLong, with: calling(methodAttrs, a{AttrID: attrEnum, Len: 5})},
		{name: "enum tail", want: rule.AttrTrailingNonzero, with: calling(methodAttrs, a{AttrID: attrEnum, AttrData: 2, Len: 16, Data: nowhere})},
		{name: "tail", want: rule.AttrTrailingNonzero, with: then(onData(a{AttrID: attrTail, Len: 16}), func(tb testing.TB, p *parser) {
			require.True(tb, p.p.Store(p.data()+15, []byte{1}))
		})},
		{name: "tail unreadable", want: rule.AttrTrailingNonzero, with: calling(methodAttrs, a{AttrID: attrTail, Len: 16, Data: nowhere})},
		{name: "tail before reserved", want: rule.AttrTrailingNonzero, with: calling(methodAttrs, a{AttrID: attrTail, Len: 16, Data: nowhere, AttrData: 1})},
		{name: "too short", want: rule.AttrTooShort, with: calling(methodAttrs, a{AttrID: attrIn, Len: 3})},
		{name: "output too short", want: rule.AttrTooShort, with: calling(methodAttrs, a{AttrID: attrOut, Len: 3})},
		{name: "length before reserved bytes", want: rule.AttrTooShort, with: calling(methodAttrs, a{AttrID: attrIn, Len: 3, AttrData: 1})},
		{name: "too long", want: rule.AttrTooLong, with: calling(methodAttrs, a{AttrID: attrIn, Len: 17})},
		{name: "output too long", want: rule.AttrTooLong, with: calling(methodAttrs, a{AttrID: attrOut, Len: 17})},
		{name: "reserved bytes", want: rule.AttrReserved, with: calling(methodAttrs, a{AttrID: attrIn, Len: 4, AttrData: 1})},
		{name: "reserved bytes, high", want: rule.AttrReserved, with: calling(methodAttrs, a{AttrID: attrOut, Len: 4, AttrData: 0x8000})},
		{name: "data to copy unreadable", want: rule.AttrDataFault, with: calling(methodAttrs, a{AttrID: attrAlloc, Len: 9, Data: nowhere})},
		{name: "handle reserved", want: rule.AttrObjectReserved, with: calling(methodAttrs, a{AttrID: attrRead, AttrData: 1, Len: 1})},
		{name: "handle length", want: rule.AttrObjectLen, with: calling(methodAttrs, a{AttrID: attrRead, Len: 4})},
		{name: "descriptor length", want: rule.AttrObjectLen, with: calling(methodAttrs, a{AttrID: attrFD, Len: 4})},
		{name: "handle", want: rule.ObjectNotFound, with: calling(methodAttrs, a{AttrID: attrRead, Data: 1000})},
		{name: "any handle", want: rule.ObjectNegativeHandle, with: calling(methodAttrs, a{AttrID: attrAny, Data: 1 << 63})},
		{name: "descriptor", want: rule.ObjectFDBad, with: calling(methodAttrs, a{AttrID: attrFD, Data: 1000})},
		{name: "new handle unwritable", want: rule.AttrIDFault, with: readOnly(calling(methodNew, a{}))},
		{name: "new descriptor unwritable", want: rule.AttrIDFault, with: readOnly(func(tb testing.TB, p *parser) { p.put(tb, p.mem, channel, methodFD, a{}) })},
		{name: "raw fd reserved", want: rule.AttrRawFD, with: calling(methodAttrs, a{AttrID: attrRawFD, AttrData: 1})},
		{name: "raw fd length", want: rule.AttrRawFD, with: calling(methodAttrs, a{AttrID: attrRawFD, Len: 4})},
		{name: "raw fd large", want: rule.AttrRawFD, with: calling(methodAttrs, a{AttrID: attrRawFD, Data: 1 << 31})},
		{name: "raw fd small", want: rule.AttrRawFD, with: calling(methodAttrs, a{AttrID: attrRawFD, Data: ^uint64(1 << 31)})},
		{name: "type", want: rule.AttrType, with: calling(methodAttrs, a{AttrID: attrOdd})},

		{name: "array reserved", want: rule.ArrayReserved, with: calling(methodArrays, a{AttrID: arrayRead, AttrData: 1, Len: 3})},
		{name: "array size", want: rule.ArraySize, with: calling(methodArrays, a{AttrID: arrayRead, Len: 6})},
		{name: "array too small", want: rule.ArrayCount, with: calling(methodArrays, a{AttrID: arrayWrite, Len: 4})},
		{name: "array too large", want: rule.ArrayCount, with: calling(methodArrays, a{AttrID: arrayRead, Len: 20})},
		{name: "array unreadable", want: rule.ArrayFault, with: calling(methodArrays, a{AttrID: arrayRead, Len: 12, Data: nowhere})},

		{name: "absent", want: rule.AttrAbsent, with: absent(func(b *Bundle) error { _, err := b.Len(attrIn); return err })},
		{name: "array of parts", want: rule.AttrArraySize, with: handling(func(b *Bundle) error { _, err := b.ArraySize(attrIn, 4); return err },
			a{AttrID: attrIn, Len: 6})},
		{name: "longer than known", want: rule.AttrLongerThanKnown, with: handling(func(b *Bundle) error { return b.CopyFrom(make([]byte, 5), attrIn) },
			a{AttrID: attrIn, Len: 6})},
		{name: "number longer than known", want: rule.AttrLongerThanKnown, with: handling(func(b *Bundle) error { _, err := b.Uint32(attrIn); return err },
			a{AttrID: attrIn, Len: 5})},
		{name: "data unreadable", want: rule.AttrDataFault, with: handling(func(b *Bundle) error { return b.CopyFrom(make([]byte, 16), attrIn) },
			a{AttrID: attrIn, Len: 9, Data: nowhere})},
		{name: "output unwritable", want: rule.AttrOutputFault, with: handling(func(b *Bundle) error { return b.CopyToUint32(attrOut, 1) },
			a{AttrID: attrOut, Len: 4, Data: nowhere})},
		{name: "output tail unwritable", want: rule.AttrOutputFault, with: handling(func(b *Bundle) error { return b.CopyToStructOrZero(attrOut, make([]byte, 4)) },
			a{AttrID: attrOut, Len: 8, Data: nowhere})},
		{name: "flag unwritable", want: rule.AttrFlagFault, with: readOnly(handling(func(b *Bundle) error { return b.OutputWritten(attrOut) },
			a{AttrID: attrOut, Len: 4}))},
		{name: "flag of the driver's output unwritable", want: rule.AttrFlagFault,
			with: readOnly(calling(methodUHW, a{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 4}))},
		{name: "flags of 2 bytes", want: rule.FlagsSize, with: handling(func(b *Bundle) error { _, err := b.Flags64(attrIn, 1); return err },
			a{AttrID: attrIn, Len: 6})},
		{name: "flags unknown", want: rule.FlagsUnknown, with: handling(func(b *Bundle) error { _, err := b.Flags32(attrIn, 1); return err },
			a{AttrID: attrIn, Len: 8, Data: 2})},
		{name: "flags beyond 32 bits", want: rule.FlagsRange, with: handling(func(b *Bundle) error { _, err := b.Flags32(attrIn, ^uint64(0)); return err },
			a{AttrID: attrIn, Len: 8, Data: 1 << 32})},
		{name: "constant", want: rule.ConstRange, with: handling(func(b *Bundle) error { _, err := b.Const(attrIn, 7); return err },
			a{AttrID: attrIn, Len: 8, Data: 8})},
		{name: "signed constant", want: rule.ConstRange, with: handling(func(b *Bundle) error { _, err := b.ConstSigned(attrIn, -8, 7); return err },
			a{AttrID: attrIn, Len: 8, Data: ^uint64(8)})},
	}
}

// TestParserRefuses makes each call and wants its rule, and everything as it
// was before.
func TestParserRefuses(t *testing.T) {
	for _, tc := range parserRefusals() {
		t.Run(tc.name, func(t *testing.T) {
			var seam *trace.Task
			if tc.seam != nil {
				seam = trace.NewTask(1, tc.seam)
			}
			p := newParser(t, nil)
			p.newThing(t)
			p.newFD(t, channel)
			tc.with(t, p)
			before := p.state(t)
			at, cmd := p.mem, uint32(spec.RDMA_VERBS_IOCTL)
			if tc.at != nil {
				at = tc.at(p)
			}
			if tc.cmd != 0 {
				cmd = tc.cmd
			}
			task := p.p.NewTask(seam)
			_, err := task.Ioctl(p.fd, cmd, at)
			require.Equal(t, error(tc.want), err)
			require.Equal(t, before, p.state(t))
			require.NoError(t, p.p.Close(p.fd))
			require.Equal(t, 1, p.p.FDCount(), "the channel")
		})
	}
}

// unreached are the rules of these files that no ioctl can meet, and why.
var unreached = map[*rule.Rule]string{
	rule.CmdUnknown: "the VFS turns ENOIOCTLCMD into ENOTTY, which is rule ioctl/unknown",
}

// TestEveryParserRuleIsMet: the table above has each rule of the parser.
func TestEveryParserRuleIsMet(t *testing.T) {
	met := map[*rule.Rule]bool{}
	for _, tc := range parserRefusals() {
		met[tc.want] = true
	}
	for _, r := range rule.All() {
		if !strings.HasSuffix(r.File, "/uverbs_ioctl.c") && !strings.HasSuffix(r.File, "/uverbs_ioctl.h") {
			continue
		}
		if unreached[r] != "" {
			require.Falsef(t, met[r], "%s is met, and said not to be", r.ID)
		} else {
			require.Truef(t, met[r], "no call meets %s", r.ID)
		}
	}
}

// TestUnknownCommandIsReported: the rule behind ENOTTY is in the trace.
func TestUnknownCommandIsReported(t *testing.T) {
	var got recorder
	p := newParser(t, nil)
	task := p.p.NewTask(trace.NewTask(1, &got))
	_, err := task.Ioctl(p.fd, spec.RDMA_VERBS_IOCTL+1, p.mem)
	require.ErrorIs(t, err, syscall.ENOTTY)
	require.Equal(t, []string{rule.CmdUnknown.ID}, got.names(trace.Refuse))
}

// recorder keeps the events of one task.
type recorder struct{ events []trace.Event }

func (r *recorder) Event(_ *trace.Task, e *trace.Event) { r.events = append(r.events, *e) }

func (r *recorder) names(k trace.Kind) (names []string) {
	for _, e := range r.events {
		if e.Kind == k {
			names = append(names, e.Name)
		}
	}
	return names
}
