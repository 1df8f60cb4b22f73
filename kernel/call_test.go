package kernel

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// rig is a machine with one device of a test's own making, opened by one
// process that has a page of memory to call from.
type rig struct {
	m    *Machine
	d    *Device
	file *File // the open one
	p    *process.Process
	fd   int
	mem  copyuser.Addr
}

// testObject is an object of the rig's driver: its id, and the methods that
// make and destroy one.
const (
	testObject  = spec.NSFlag
	testTen     = spec.NSFlag     // ten pointers, and a handler that does nothing
	testCreate  = spec.NSFlag + 1 // makes a test object
	testDestroy = spec.NSFlag + 2
	testUse     = spec.NSFlag + 3 // looks one up
	testDriver  = 99
)

func testDefs() Definitions {
	handle := func(access spec.Access) spec.Attr {
		return spec.Attr{ID: 0, Name: "HANDLE", Type: spec.TypeIDR, Object: testObject, Access: access, Mandatory: true}
	}
	var ten []spec.Attr
	for i := range uint16(10) {
		a := spec.Attr{ID: i, Name: "PTR", Type: spec.TypePtrIn, Len: 8, MinLen: 4, Mandatory: true}
		if i > 7 {
			a.Type, a.Len = spec.TypePtrOut, 64
		}
		ten = append(ten, a)
	}
	nop := func(*Bundle) error { return nil }
	return Definitions{
		Spec: []spec.Definition{{Object: spec.Object{ID: testObject, Name: "TEST", Class: spec.ClassIDR, Methods: []spec.Method{
			{ID: testTen, Name: "TEN", Attrs: ten},
			{ID: testCreate, Name: "CREATE", Attrs: []spec.Attr{handle(spec.AccessNew)}},
			{ID: testDestroy, Name: "DESTROY", Destroy: true, Attrs: []spec.Attr{handle(spec.AccessDestroy)}},
			{ID: testUse, Name: "USE", Attrs: []spec.Attr{handle(spec.AccessRead)}},
		}}}},
		Types: map[uint16]*uobject.TypeAttrs{testObject: {
			Destroy: func(o *uobject.Object, _ uobject.RemoveReason, _ uobject.Attrs) error {
				if o.HW == errStubborn {
					return errStubborn
				}
				return nil
			},
		}},
		Methods: map[MethodID]Handler{
			{testObject, testTen}: nop,
			{testObject, testUse}: nop,
			{testObject, testCreate}: func(b *Bundle) error {
				o, err := b.Object(0)
				if err != nil {
					return err
				}
				o.HW = o
				return nil
			},
		},
	}
}

func newRig(tb testing.TB, tr *trace.Task) *rig {
	tb.Helper()
	return newRigOf(tb, tr, testDefs(), core.DeviceOps{})
}

// newRigOf is newRig with other definitions. ops may lack what deals with the
// context.
func newRigOf(tb testing.TB, tr *trace.Task, defs Definitions, ops core.DeviceOps) *rig {
	tb.Helper()
	ops.AllocUcontext = func(*core.Ucontext, *core.Udata) error { return nil }
	if ops.DeallocUcontext == nil {
		ops.DeallocUcontext = func(*process.Task, *core.Ucontext) {}
	}
	r := &rig{m: NewMachine(Definitions{})}
	dev := &core.Device{Name: "test0", DriverID: testDriver, Ops: ops, UverbsCmdMask: ^uint64(0)}
	var err error
	r.d, err = r.m.Register(dev, defs)
	require.NoError(tb, err)
	r.p = r.m.NewProcess(process.Options{Trace: tr})
	r.fd, r.file = r.open(tb, r.p)
	r.mem, err = r.p.Mmap(-1, 2*copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(tb, err)
	return r
}

// open opens the device once more and gives the file a context.
func (r *rig) open(tb testing.TB, p *process.Process) (int, *File) {
	tb.Helper()
	fd, err := p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.NoError(tb, err)
	f := r.d.files[len(r.d.files)-1]
	f.SetUcontext(nil, core.NewUcontext(r.d.IBDevice(), &f.Umaps, &f.Objects))
	return fd, f
}

// put writes a call into the process's memory at addr.
func (r *rig) put(tb testing.TB, addr copyuser.Addr, object, method uint16, attrs ...spec.IoctlAttr) {
	tb.Helper()
	require.True(tb, r.p.Mem.Store(addr, spec.EncodeMethod(testDriver, object, method, attrs...)))
}

// tenAttrs are the attributes of the method with ten.
func (r *rig) tenAttrs() []spec.IoctlAttr {
	var attrs []spec.IoctlAttr
	for i := range uint16(10) {
		attrs = append(attrs, spec.IoctlAttr{AttrID: i, Len: 8, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: uint64(r.mem + copyuser.PageSize)})
	}
	return attrs
}

func (r *rig) ioctl() error {
	_, err := r.p.Ioctl(r.fd, spec.RDMA_VERBS_IOCTL, r.mem)
	return err
}

// call makes a call with one handle attribute and returns the handle.
func (r *rig) call(tb testing.TB, method uint16, handle uint64) uint64 {
	tb.Helper()
	r.put(tb, r.mem, testObject, method, spec.IoctlAttr{AttrID: 0, Data: handle})
	require.NoError(tb, r.ioctl())
	data, ok := r.p.Mem.GetUint64(r.mem + spec.IoctlHdrSize + spec.IoctlAttrDataOffset)
	require.True(tb, ok)
	return data
}
