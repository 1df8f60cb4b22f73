package kernel

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The objects and methods of the parser's tests.
const (
	thing   = spec.NSFlag     // an object with handles
	channel = spec.NSFlag + 1 // an object that is a completion channel
	async   = spec.NSFlag + 2 // an object that is an async event file

	methodAttrs     = spec.NSFlag     // one optional attribute of each kind
	methodMandatory = spec.NSFlag + 1 // one that must be there
	methodNew       = spec.NSFlag + 2 // makes a thing, with some attributes beside
	methodDestroy   = spec.NSFlag + 3 // destroys one, and has a handler
	methodArrays    = spec.NSFlag + 4
	methodUHW       = spec.NSFlag + 5
	methodTails     = spec.NSFlag + 6 // PTR_INs of different lengths that may be longer
	methodFD        = spec.NSFlag + 7 // makes a channel or an async event file, by its object
)

// The attributes of methodAttrs.
const (
	attrIn = iota
	attrAlloc
	attrOut
	attrEnum
	attrRawFD
	attrOdd
	attrIn32
	attrTail
	attrRead
	attrWrite
	attrFD
	attrAny
)

// The attributes of methodArrays.
const (
	arrayRead  = iota // 0 to 4 things
	arrayWrite        // 2 to 300
)

// tailLens are what the kernel knows of the attributes of methodTails.
var tailLens = []uint16{0, 4, 8, 12, 16}

// parser is a rig whose device has those methods. handle is what their handlers
// do.
type parser struct {
	*rig
	handle func(b *Bundle) error
	refuse error // what the destroy of a thing answers
	gone   []uobject.RemoveReason
}

func newParser(tb testing.TB, tr *trace.Task) *parser {
	tb.Helper()
	p := &parser{handle: func(*Bundle) error { return nil }}
	p.rig = newRigOf(tb, tr, p.defs(), core.DeviceOps{
		DisassociateUcontext: func(*process.Task, *core.Ucontext) {},
	})
	return p
}

func ptrIn(id, length, min uint16) spec.Attr {
	return spec.Attr{ID: id, Name: "PTR_IN", Type: spec.TypePtrIn, Len: length, MinLen: min}
}

func object(id uint16, typ spec.AttrType, obj uint16, access spec.Access) spec.Attr {
	return spec.Attr{ID: id, Name: "OBJECT", Type: typ, Object: obj, Access: access,
		Mandatory: access == spec.AccessNew || access == spec.AccessDestroy}
}

func (p *parser) defs() Definitions {
	alloc := ptrIn(attrAlloc, spec.MaxLen, 1)
	alloc.AllocAndCopy = true
	tail := ptrIn(attrTail, 12, 4)
	tail.ZeroTrailing = true
	wide := ptrIn(2, 12, 1)
	wide.ZeroTrailing = true
	attrs := []spec.Attr{
		ptrIn(attrIn, 16, 4),
		alloc,
		{ID: attrOut, Name: "OUT", Type: spec.TypePtrOut, Len: 16, MinLen: 4},
		{ID: attrEnum, Name: "ENUM", Type: spec.TypeEnumIn, Enum: []spec.Attr{ptrIn(0, 4, 4), {Type: spec.TypeNA}, wide,
			{Type: spec.TypePtrOut, Len: 8, MinLen: 8}}},
		{ID: attrRawFD, Name: "RAW_FD", Type: spec.TypeRawFD},
		{ID: attrOdd, Name: "ODD", Type: 42},
		ptrIn(attrIn32, 4, 4),
		tail,
		object(attrRead, spec.TypeIDR, thing, spec.AccessRead),
		object(attrWrite, spec.TypeIDR, thing, spec.AccessWrite),
		object(attrFD, spec.TypeFD, channel, spec.AccessRead),
		object(attrAny, spec.TypeIDR, spec.IDRAnyObject, spec.AccessRead),
	}
	mandatory := ptrIn(0, 8, 0)
	mandatory.Mandatory = true
	var tails []spec.Attr
	for i, n := range tailLens {
		a := ptrIn(uint16(i), n, 0)
		a.ZeroTrailing = true
		tails = append(tails, a)
	}
	uhwIn, uhwOut := ptrIn(spec.UVERBS_ATTR_UHW_IN, spec.MaxLen, 0), ptrIn(spec.UVERBS_ATTR_UHW_OUT, spec.MaxLen, 0)
	uhwOut.Type = spec.TypePtrOut
	uhwIn.Udata, uhwOut.Udata = true, true
	array := func(id uint16, access spec.Access, min, max uint16) spec.Attr {
		return spec.Attr{ID: id, Name: "ARRAY", Type: spec.TypeIDRsArray, Object: thing, Access: access, MinItems: min, MaxItems: max}
	}
	handler := func(b *Bundle) error { return p.handle(b) }
	fdMethod := func(obj uint16) spec.Method {
		return spec.Method{ID: methodFD, Name: "FD", Attrs: []spec.Attr{object(0, spec.TypeFD, obj, spec.AccessNew)}}
	}
	return Definitions{
		Spec: []spec.Definition{
			{Object: spec.Object{ID: thing, Name: "THING", Class: spec.ClassIDR, Methods: []spec.Method{
				{ID: methodAttrs, Name: "ATTRS", Attrs: attrs},
				{ID: methodMandatory, Name: "MANDATORY", Attrs: []spec.Attr{mandatory}},
				{ID: methodNew, Name: "NEW", Attrs: []spec.Attr{
					object(0, spec.TypeIDR, thing, spec.AccessNew), ptrIn(1, 8, 8), {ID: 2, Name: "OUT", Type: spec.TypePtrOut, Len: 8}}},
				{ID: methodDestroy, Name: "DESTROY", Attrs: []spec.Attr{
					object(0, spec.TypeIDR, thing, spec.AccessDestroy), {ID: 1, Name: "OUT", Type: spec.TypePtrOut, Len: 8}}},
				{ID: methodArrays, Name: "ARRAYS", Attrs: []spec.Attr{
					array(arrayRead, spec.AccessRead, 0, 4), array(arrayWrite, spec.AccessWrite, 2, 300)}},
				{ID: methodUHW, Name: "UHW", Attrs: []spec.Attr{uhwIn, uhwOut}},
				{ID: methodTails, Name: "TAILS", Attrs: tails},
			}}},
			{Object: spec.Object{ID: channel, Name: "CHANNEL", Class: spec.ClassFD, Methods: []spec.Method{fdMethod(channel)}}},
			{Object: spec.Object{ID: async, Name: "ASYNC", Class: spec.ClassFD, Methods: []spec.Method{fdMethod(async)}}},
		},
		Types: map[uint16]*uobject.TypeAttrs{
			thing: {New: func() any { return new(UCQ) }, Destroy: func(o *uobject.Object, why uobject.RemoveReason, attrs uobject.Attrs) error {
				if p.refuse != nil {
					return p.refuse
				}
				p.gone = append(p.gone, why)
				return nil
			}},
			channel: {New: func() any { return new(CompletionEventFile) }, FileOps: &CompEventFops,
				DestroyFD: func(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) {
					o.Ext.(*CompletionEventFile).Free(attrs.Task().Trace)
				}},
			async: {New: func() any { return new(AsyncEventFile) }, FileOps: &AsyncEventFops,
				DestroyFD: func(o *uobject.Object, why uobject.RemoveReason, attrs uobject.Attrs) {
					o.Ext.(*AsyncEventFile).Destroy(o, why, attrs)
				}},
		},
		Methods: map[MethodID]Handler{
			{thing, methodAttrs}: handler, {thing, methodMandatory}: handler, {thing, methodDestroy}: handler,
			{thing, methodArrays}: handler, {thing, methodUHW}: handler, {thing, methodTails}: handler,
			{thing, methodNew}: func(b *Bundle) error {
				o, _ := b.Object(0)
				o.HW = "thing"
				b.FinalizeCreate(0)
				return p.handle(b)
			},
			{channel, methodFD}: func(b *Bundle) error {
				o, _ := b.Object(0)
				o.Ext.(*CompletionEventFile).Init(b.Trace(), o)
				return p.handle(b)
			},
			{async, methodFD}: func(b *Bundle) error {
				o, _ := b.Object(0)
				o.Ext.(*AsyncEventFile).Init(b, o)
				return p.handle(b)
			},
		},
	}
}

// Where the tests have what they point at: a page that is theirs, and one that
// nobody can read.
func (r *rig) data() copyuser.Addr { return r.mem + copyuser.PageSize }

const nowhere = 0x1000

// answer is the attribute i of the call as the user finds it afterwards.
func (r *rig) answer(tb testing.TB, i int) spec.IoctlAttr {
	tb.Helper()
	var b [spec.IoctlAttrSize]byte
	require.True(tb, r.p.Load(r.mem+spec.IoctlHdrSize+copyuser.Addr(i)*spec.IoctlAttrSize, b[:]))
	return spec.DecodeIoctlAttr(&b)
}

// newThing makes a thing and returns its handle.
func (p *parser) newThing(tb testing.TB) uint64 {
	tb.Helper()
	p.put(tb, p.mem, thing, methodNew, spec.IoctlAttr{AttrID: 0})
	require.NoError(tb, p.ioctl())
	return p.answer(tb, 0).Data
}

// newFD makes a channel or an async event file and returns its descriptor.
func (p *parser) newFD(tb testing.TB, obj uint16) int {
	tb.Helper()
	p.put(tb, p.mem, obj, methodFD, spec.IoctlAttr{AttrID: 0})
	require.NoError(tb, p.ioctl())
	return int(p.answer(tb, 0).Data)
}

// state is what a refused call must leave as it was.
type state struct {
	Objects, Handles, FDs int
	Refs                  int64
	Holds                 map[int64][2]int32 // use count and references of each handle
}

func (r *rig) state(tb testing.TB) state {
	s := state{FDs: r.p.FDCount(), Refs: r.file.ref.Load(), Holds: map[int64][2]int32{}}
	s.Objects, s.Handles = r.file.Objects.Counts()
	for o := range r.file.Objects.Objects(nil) {
		s.Holds[o.ID()] = [2]int32{o.Usecnt(), o.Refs()}
	}
	// Nobody holds any of these.
	r.file.Objects.HWDestroyRwsem.DownWrite(nil)
	r.file.Objects.HWDestroyRwsem.UpWrite(nil)
	require.Zero(tb, r.d.srcu.inside())
	return s
}

func words(vs ...uint32) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// inline is up to 8 bytes as an attribute carries them.
func inline(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

// breaks is a sink that fails the steps of one name.
type breaks string

func (breaks) Event(*trace.Task, *trace.Event)                      {}
func (s breaks) Fail(_ *trace.Task, _ trace.Step, what string) bool { return what == string(s) }
