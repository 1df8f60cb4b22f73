package uobject

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Types of the tests' own making.
const (
	idA = spec.NSFlag + iota
	idB
	idFD
	idOther
)

// rig is one open file with types, and a caller.
type rig struct {
	tb    testing.TB
	p     *process.Process
	file  *File
	owner *fakeOwner
	attrs *fakeAttrs
	types map[uint16]*Type

	destroyed []string          // what was destroyed and why, in order
	refuse    map[*Object]error // what the types' destroy answers; for nil HW see destroy
	fdOps     process.FileOps
	otherOps  process.FileOps
}

// fakeOwner is the rest of the open file.
type fakeOwner struct {
	rig       *rig
	context   *fakeContext
	gone      bool // the device
	refs      int
	destroyed []RemoveReason // contexts
	lent      int            // bundles that are out
}

func (o *fakeOwner) ObjectContext(*process.Task) (Context, error) {
	if o.gone {
		return nil, syscall.EIO
	}
	if o.context == nil {
		return nil, syscall.EINVAL
	}
	return o.context, nil
}
func (o *fakeOwner) HasContext(*trace.Task) bool { return o.context != nil }
func (o *fakeOwner) DestroyContext(_ *process.Task, why RemoveReason) {
	o.destroyed = append(o.destroyed, why)
	o.context = nil
}
func (o *fakeOwner) DeviceGone(*trace.Task) bool { return o.gone }
func (o *fakeOwner) Get(*trace.Task)             { o.refs++ }
func (o *fakeOwner) Put(*process.Task)           { o.refs-- }
func (o *fakeOwner) GetAttrs(task *process.Task) Attrs {
	o.lent++
	return &fakeAttrs{rig: o.rig, task: task}
}
func (o *fakeOwner) PutAttrs(Attrs) { o.lent-- }

// fakeContext counts charges, up to a limit.
type fakeContext struct {
	charges int
	limit   int // 0 is none
}

var errCharge = errors.New("no charge left")

func (c *fakeContext) TryCharge(*process.Task) (process.Charge, error) {
	if c.limit > 0 && c.charges == c.limit {
		return process.Charge{}, errCharge
	}
	c.charges++
	return process.Charge{}, nil
}
func (c *fakeContext) Uncharge(*process.Task, process.Charge) { c.charges-- }

// fakeAttrs is a call.
type fakeAttrs struct {
	rig     *rig
	task    *process.Task
	context Context
}

func (a *fakeAttrs) Task() *process.Task        { return a.task }
func (a *fakeAttrs) ObjectContext() Context     { return a.context }
func (a *fakeAttrs) SetObjectContext(c Context) { a.context = c }
func (a *fakeAttrs) ObjectFile() *File          { return a.rig.file }
func (a *fakeAttrs) APIObject(id uint16) *Type  { return a.rig.types[id] }

// ext is the Ext of the tests' objects.
type ext struct{ mark string }

func (e *ext) Reset() { *e = ext{} }

func newRig(tb testing.TB) *rig {
	r := &rig{tb: tb, file: new(File), refuse: map[*Object]error{}}
	r.owner = &fakeOwner{rig: r, context: &fakeContext{}, refs: 1}
	r.file.Init(nil, r.owner)
	r.fdOps.Release, r.otherOps.Release = FDRelease, FDRelease
	idr := &TypeAttrs{New: func() any { return new(ext) }, Destroy: r.destroy}
	fd := &TypeAttrs{FileOps: &r.fdOps, DestroyFD: func(o *Object, why RemoveReason, _ Attrs) {
		r.destroyed = append(r.destroyed, "fd "+why.String())
	}}
	r.types = map[uint16]*Type{
		idA:     NewType(idA, "A", spec.ClassIDR, idr),
		idB:     NewType(idB, "B", spec.ClassIDR, idr),
		idFD:    NewType(idFD, "FD", spec.ClassFD, fd),
		idOther: NewType(idOther, "OTHER", spec.ClassFD, &TypeAttrs{FileOps: &r.otherOps, DestroyFD: fd.DestroyFD}),
	}
	r.p = process.New(nil, process.Options{})
	r.attrs = &fakeAttrs{rig: r, task: r.p.MainTask()}
	return r
}

// destroy is the destroy function of the idr types.
func (r *rig) destroy(o *Object, why RemoveReason, attrs Attrs) error {
	require.NotNil(r.tb, attrs.ObjectContext(), "a destroy has the object's context")
	if err := r.refuse[o]; err != nil {
		return err
	}
	r.destroyed = append(r.destroyed, o.HW.(string)+" "+why.String())
	return nil
}

// begin begins an object.
func (r *rig) begin(id uint16) *Object {
	r.tb.Helper()
	o, err := FromFile(id, spec.AccessNew, 0, r.attrs)
	require.NoError(r.tb, err)
	return o
}

// make makes an object whose hardware object has that name.
func (r *rig) make(id uint16, name string) *Object {
	r.tb.Helper()
	o := r.begin(id)
	o.HW = name
	Finalize(o, spec.AccessNew, true, true, r.attrs)
	return o
}

// makeFD makes a descriptor object and returns its descriptor as well.
func (r *rig) makeFD(id uint16) (*Object, int64) {
	r.tb.Helper()
	o := r.begin(id)
	fd := o.ID()
	Finalize(o, spec.AccessNew, true, true, r.attrs)
	return o, fd
}

// books are what must be as it was when nothing is left.
type books struct {
	Objects, Handles, Charges, FileRefs, FDs, Lent int
}

func (r *rig) books() books {
	b := books{FileRefs: r.owner.refs, FDs: r.p.FDCount(), Lent: r.owner.lent}
	b.Objects, b.Handles = r.file.Counts()
	if r.owner.context != nil {
		b.Charges = r.owner.context.charges
	}
	return b
}

// free asserts that nobody holds hw_destroy_rwsem.
func (r *rig) free() {
	r.tb.Helper()
	require.Empty(r.tb, r.file.Held())
	require.True(r.tb, r.file.HWDestroyRwsem.TryDownRead(nil))
	r.file.HWDestroyRwsem.UpRead(nil)
	done := make(chan struct{})
	go func() {
		r.file.HWDestroyRwsem.DownWrite(nil)
		r.file.HWDestroyRwsem.UpWrite(nil)
		close(done)
	}()
	<-done
}

// injector fails one kind of step.
type injector struct {
	step trace.Step
	warn []string
}

func (i *injector) Fail(_ *trace.Task, s trace.Step, _ string) bool { return s == i.step }
func (i *injector) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind == trace.Warn {
		i.warn = append(i.warn, e.Name)
	}
}

const noStep = trace.Step(255)

// traced has the rig's calls report to an injector that fails a step.
func (r *rig) traced(step trace.Step) *injector {
	i := &injector{step: step}
	r.attrs.task = r.p.NewTask(trace.NewTask(1, i))
	return i
}
