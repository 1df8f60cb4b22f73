package kernel

import (
	"encoding/binary"
	"math/bits"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/radixtree"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// Bundle is a struct uverbs_attr_bundle: one call, as its handler sees it. It
// is valid until the handler returns. That of a write() command has no
// attributes.
type Bundle struct {
	// DriverUdata is the driver's part of the request, UCore the core's of a
	// write() command.
	DriverUdata, UCore core.Udata

	// UObject is the object that a write() command makes; whoever runs the
	// command commits or aborts it.
	UObject *uobject.Object

	file    *File
	task    *process.Task
	context *core.Ucontext // only valid once the call has an object
	spare   *process.Spare // where the task keeps the bundle, nil for one of the file's

	present uint64 // by bkey: the user sent the attribute, and it was processed
	attrs   [spec.BkeyLen]attr
	priv    *bundlePriv // nil for a write() command

	scratch [scratchSize]byte
	word    [8]byte
}

// scratchSize bounds the answers that are put together in the bundle itself.
const scratchSize = 320

// attr is a struct uverbs_attr: one attribute after its processing.
type attr struct {
	spec *spec.Attr

	// Of a pointer: its data or where that is, and the copy of it that the
	// parser made; its length in bytes and its place in the user's array.
	data   uint64
	copied []byte
	len    uint16
	index  uint16
	enum   uint8

	object  *uobject.Object
	objects []*uobject.Object
}

// isInline says whether a pointer's data lies in the attribute itself
// (uverbs_attr_ptr_is_inline).
func (a *attr) isInline() bool { return a.len <= 8 }

// bundlePriv is the part of a struct bundle_priv that only the parser sees.
type bundlePriv struct {
	hdr       [spec.IoctlHdrSize]byte
	method    *IoctlMethod
	methodKey uint32
	chunk     radixtree.Chunk[Elm]
	userAttrs copyuser.Addr
	numAttrs  uint16

	// By bkey: objects to commit, abort or unlock; arrays of them; new ones
	// whose hardware object exists.
	uobjFinalize, specFinalize, hwObjValid uint64

	uattrs  [copyuser.PageSize]byte // the kernel's copy of the user's array
	mem     []byte                  // what alloc gave out so far
	objects []*uobject.Object       // likewise, for arrays of objects
}

// uattr returns the user's attribute i, in the kernel's copy.
func (p *bundlePriv) uattr(i int) userAttr {
	return decodeAttr((*[spec.IoctlAttrSize]byte)(p.uattrs[i*spec.IoctlAttrSize:]))
}

func decodeAttr(b *[spec.IoctlAttrSize]byte) userAttr {
	return userAttr{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}

// userAttrAt returns where the user has attribute i.
func (p *bundlePriv) userAttrAt(i uint16) copyuser.Addr {
	return p.userAttrs + copyuser.Addr(i)*spec.IoctlAttrSize
}

// reset makes the bundle ready for the next call.
func (b *Bundle) reset(f *File, task *process.Task) {
	b.file, b.task = f, task
	b.present = 0
	b.DriverUdata.Clear()
	if p := b.priv; p != nil {
		p.uobjFinalize, p.specFinalize, p.hwObjValid = 0, 0, 0
	}
}

// maxSpareMem bounds the memory that a bundle keeps from one call to the next.
const maxSpareMem = 64 << 10

// forget lets go of what the call had, so that a bundle that waits for the next
// one keeps none of it alive.
func (b *Bundle) forget() {
	b.file, b.task, b.context, b.UObject = nil, nil, nil, nil
	p := b.priv
	if p == nil {
		return
	}
	if p.mem = p.mem[:0]; cap(p.mem) > maxSpareMem {
		p.mem = nil
		for i := range b.attrs {
			b.attrs[i].copied = nil
		}
	}
	if len(p.objects) > 0 {
		clear(p.objects)
		p.objects = p.objects[:0]
	}
}

// newBundle returns an empty bundle: with what the ioctl parser needs, or bare
// for write() commands.
func newBundle(priv *bundlePriv) *Bundle {
	b := &Bundle{priv: priv}
	b.DriverUdata.Attrs, b.UCore.Attrs = b, b
	return b
}

// Task returns the caller.
func (b *Bundle) Task() *process.Task { return b.task }

// Trace returns the caller's seam.
func (b *Bundle) Trace() *trace.Task { return b.task.Trace }

// File returns the open file (attrs->ufile).
func (b *Bundle) File() *File { return b.file }

// ObjectFile returns the part of the file that has its objects.
func (b *Bundle) ObjectFile() *uobject.File { return &b.file.Objects }

// Ucontext returns the context; nil until the call has an object.
func (b *Bundle) Ucontext() *core.Ucontext { return b.context }

// SetUcontext sets the context, as ib_alloc_ucontext does.
func (b *Bundle) SetUcontext(c *core.Ucontext) { b.context = c }

// ObjectContext is Ucontext as package uobject needs it.
func (b *Bundle) ObjectContext() uobject.Context {
	if b.context == nil {
		return nil
	}
	return b.context
}

// SetObjectContext is SetUcontext as package uobject needs it.
func (b *Bundle) SetObjectContext(c uobject.Context) {
	if c == nil {
		b.context = nil
		return
	}
	b.context = c.(*core.Ucontext)
}

// APIObject returns a type of the device, nil if it lacks that.
func (b *Bundle) APIObject(id uint16) *uobject.Type {
	api := b.file.Device.API
	if t := b.Trace(); t != nil {
		api.traceWalk(t, "object", spec.KeyObj(id))
	}
	return api.object(id)
}

// Udata returns the driver's part of the request.
func (b *Bundle) Udata() *core.Udata { return &b.DriverUdata }

// Scratch returns n bytes of zeros, at most 320, to put an answer together in.
// They are the caller's until its next call of Scratch.
func (b *Bundle) Scratch(n int) []byte {
	s := b.scratch[:n]
	clear(s)
	return s
}

// Alloc returns n bytes of zeros that live as long as the call. It models
// _uverbs_alloc.
//
// Errors: bundle/no-memory.
func (b *Bundle) Alloc(n int) ([]byte, error) {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "_uverbs_alloc").Leave()
	if t.Fail(trace.Alloc, "_uverbs_alloc") {
		return nil, rule.BundleNoMemory
	}
	if b.priv == nil {
		return make([]byte, n), nil
	}
	return b.priv.alloc(n), nil
}

func (p *bundlePriv) alloc(n int) []byte {
	used := len(p.mem)
	if used+n > cap(p.mem) {
		// What was given out before stays valid in the old memory.
		p.mem = make([]byte, 0, max(2*cap(p.mem), n, 1024))
		used = 0
	}
	p.mem = p.mem[:used+n]
	got := p.mem[used : used+n : used+n]
	clear(got)
	return got
}

// get returns an attribute that the user sent, or nil.
func (b *Bundle) get(id uint16) *attr {
	bkey := spec.BkeyAttr(spec.KeyAttr(id))
	if b.present>>(bkey&63)&1 == 0 || bkey >= spec.BkeyLen {
		return nil
	}
	return &b.attrs[bkey]
}

// finish commits or aborts what the call made, unlocks what it used. It models
// bundle_destroy.
func (b *Bundle) finish(commit bool) {
	p := b.priv
	for set := p.uobjFinalize; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		a := &b.attrs[i]
		uobject.Finalize(a.object, a.spec.Access, p.hwObjValid>>i&1 != 0, commit, b)
		a.object = nil
	}
	for set := p.specFinalize; set != 0; set &= set - 1 {
		a := &b.attrs[bits.TrailingZeros64(set)]
		b.freeIDRsArray(a, commit)
	}
}

// freeIDRsArray models uverbs_free_idrs_array.
func (b *Bundle) freeIDRsArray(a *attr, commit bool) {
	defer b.Trace().EnterInlined(trace.Uverbs, "uverbs_free_idrs_array").Leave()
	for _, o := range a.objects {
		uobject.Finalize(o, a.spec.Access, false, commit, b)
	}
	a.objects = nil
}

var _ core.Attrs = (*Bundle)(nil)
