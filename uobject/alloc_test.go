package uobject

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// TestBeginErrors has each way in which an object cannot be begun. None may
// leave anything behind.
func TestBeginErrors(t *testing.T) {
	for _, tc := range []struct {
		name string
		id   uint16
		with func(r *rig)
		want error
		made bool // there was an object already
	}{
		{"no context", idA, func(r *rig) { r.owner.context = nil }, syscall.EINVAL, false},
		{"device gone", idA, func(r *rig) { r.owner.gone = true }, syscall.EIO, false},
		{"descriptor without a context", idFD, func(r *rig) { r.owner.context = nil }, syscall.EINVAL, false},
		{"no memory", idA, func(r *rig) { r.traced(trace.Alloc) }, rule.ObjectNoMemory, false},
		{"no number", idA, func(r *rig) { r.traced(trace.ID) }, rule.ObjectNoMemory, true},
		{"no charge", idA, func(r *rig) { r.owner.context.charges, r.owner.context.limit = 3, 3 }, errCharge, true},
		{"no descriptor", idFD, func(r *rig) {
			require.NoError(r.tb, r.p.SetRlimit(process.RLIMIT_NOFILE, process.Rlimit{Cur: 0, Max: 100}))
		}, rule.FDNoneFree, true},
		{"no file", idFD, func(r *rig) { r.traced(trace.File) }, rule.FileAlloc, true},
		{"file being destroyed", idA, func(r *rig) { r.file.HWDestroyRwsem.DownWrite(nil) }, rule.ObjectFileDestroyed, false},
		{"none of these", idA, func(*rig) {}, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			context := r.owner.context
			tc.with(r)
			before := r.books()
			o, err := AllocBegin(r.types[tc.id], r.attrs)
			require.Equal(t, tc.want, err)
			if tc.want == nil {
				AllocAbort(o, false, r.attrs)
			}
			require.Equal(t, before, r.books())
			if tc.want == error(rule.ObjectFileDestroyed) {
				r.file.HWDestroyRwsem.UpWrite(nil)
			}
			r.free()

			// The number and the descriptor that were taken are free again, and an object
			// that was made has lost its references, or it would not be used again.
			made := r.file.spares[r.types[tc.id].Slot].Load()
			require.Equal(t, tc.made, made != nil)
			r.traced(noStep)
			r.owner.context, r.owner.gone = context, false
			context.charges, context.limit = 0, 0
			require.NoError(t, r.p.SetRlimit(process.RLIMIT_NOFILE, process.Rlimit{Cur: 100, Max: 100}))
			o = r.begin(tc.id)
			require.Zero(t, o.ID())
			if made != nil {
				require.Same(t, made, o)
			}
		})
	}
}

// TestCommit: a committed object can be found, is free, and is held by its
// table and by the file's list.
func TestCommit(t *testing.T) {
	r := newRig(t)
	o := r.begin(idA)
	require.Equal(t, int32(-1), o.Usecnt())
	require.Equal(t, int32(1), o.Refs())
	require.Equal(t, books{Handles: 1, Charges: 1, FileRefs: 1}, r.books())
	removal := make(chan struct{})
	go func() {
		r.file.HWDestroyRwsem.DownWrite(nil)
		r.file.HWDestroyRwsem.UpWrite(nil)
		close(removal)
	}()
	select {
	case <-removal:
		t.Fatal("the begun object did not keep a removal out")
	case <-time.After(10 * time.Millisecond):
	}
	AllocCommit(o, r.attrs)
	<-removal
	require.Zero(t, o.Usecnt())
	require.Equal(t, int32(2), o.Refs())
	require.Equal(t, books{Objects: 1, Handles: 1, Charges: 1, FileRefs: 1}, r.books())
	r.free()
	require.Same(t, r.types[idA], o.Type())
	require.Same(t, r.file, o.File())
	require.Equal(t, Context(r.owner.context), o.Context())
}

func TestAbort(t *testing.T) {
	for _, tc := range []struct {
		name      string
		id        uint16
		hwValid   bool
		destroyed []string
	}{
		{"before the hardware object", idA, false, nil},
		{"with the hardware object", idA, true, []string{"hw abort"}},
		{"descriptor", idFD, false, nil},
		{"descriptor that is ready", idFD, true, []string{"fd abort"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			before := r.books()
			o := r.begin(tc.id)
			if tc.id == idA {
				o.HW = "hw"
			}
			Finalize(o, spec.AccessNew, tc.hwValid, false, r.attrs)
			require.Equal(t, tc.destroyed, r.destroyed)
			require.Equal(t, before, r.books())
			require.Zero(t, o.Refs())
			r.free()
			require.Zero(t, r.begin(tc.id).ID(), "its number is free again")
		})
	}
}

// TestAbortThatCannotDestroy: the object is committed instead, and goes with
// the file.
func TestAbortThatCannotDestroy(t *testing.T) {
	r := newRig(t)
	inj := r.traced(noStep)
	o := r.begin(idA)
	o.HW = "stuck"
	r.refuse[o] = syscall.EBUSY
	AllocAbort(o, true, r.attrs)
	require.Equal(t, []string{"rdma_alloc_abort_uobject"}, inj.warn)
	require.Equal(t, books{Objects: 1, Handles: 1, Charges: 1, FileRefs: 1}, r.books())
	r.free()
	got, err := LookupGet(r.types[idA], o.ID(), LookupRead, r.attrs)
	require.NoError(t, err, "it can be found")
	LookupPut(got, LookupRead, r.attrs)
	delete(r.refuse, o)
	r.file.DestroyAll(RemoveClose, r.attrs)
	require.Equal(t, []string{"stuck close"}, r.destroyed)
}

// TestReuse: what an aborted object was is gone when its memory serves again,
// and an object that others could see never does.
func TestReuse(t *testing.T) {
	r := newRig(t)
	aborted := r.begin(idA)
	aborted.UserHandle.Store(7)
	aborted.HW = "hw"
	aborted.Ext.(*ext).mark = "old"
	AllocAbort(aborted, false, r.attrs)

	b := r.begin(idB)
	require.NotSame(t, aborted, b, "of another type")
	AllocAbort(b, false, r.attrs)

	o := r.begin(idA)
	require.Same(t, aborted, o)
	require.Zero(t, o.UserHandle.Load())
	require.Nil(t, o.HW)
	require.Equal(t, &ext{}, o.Ext)
	require.Equal(t, int32(-1), o.Usecnt())
	require.Equal(t, int32(1), o.Refs())
	o.HW = "a"
	AllocCommit(o, r.attrs)
	require.NoError(t, PerformDestroy(r.types[idA], o.ID(), r.attrs))
	require.Zero(t, o.Refs())
	require.NotSame(t, o, r.begin(idA), "was visible once")

	fd := r.begin(idFD)
	AllocAbort(fd, false, r.attrs)
	again := r.begin(idFD)
	require.Same(t, fd, again)
	require.NotNil(t, again.HW)
}

// TestAbortOfSharedObject: what somebody else holds is not used again.
func TestAbortOfSharedObject(t *testing.T) {
	r := newRig(t)
	o := r.begin(idA)
	o.Get(nil)
	AllocAbort(o, false, r.attrs)
	require.NotSame(t, o, r.begin(idA))
	o.Put(nil)
}

// TestAssign: the new object takes the handle of the old one, which goes.
func TestAssign(t *testing.T) {
	r := newRig(t)
	inj := r.traced(noStep)
	old := r.make(idA, "old")
	r.make(idA, "other")
	handle := old.ID()
	to, err := LookupGet(r.types[idA], handle, LookupWrite, r.attrs)
	require.NoError(t, err)
	fresh := r.begin(idA)
	temp := fresh.ID()
	fresh.HW = "fresh"
	Assign(to, fresh, r.attrs)
	AllocCommit(fresh, r.attrs)
	LookupPut(to, LookupDestroy, r.attrs)
	require.Equal(t, []string{"old destroy"}, r.destroyed)
	require.Equal(t, handle, fresh.ID())
	require.Same(t, fresh, r.file.handles.load(nil, uint64(handle)))
	require.Nil(t, r.file.handles.load(nil, uint64(temp)))
	require.Zero(t, old.Refs())
	require.Equal(t, books{Objects: 2, Handles: 2, Charges: 2, FileRefs: 1}, r.books())
	require.Empty(t, inj.warn)
	r.free()
}

// TestAssignThatCannotDestroy: the old object lives on under the new number.
func TestAssignThatCannotDestroy(t *testing.T) {
	r := newRig(t)
	old := r.make(idA, "old")
	r.refuse[old] = syscall.EBUSY
	handle := old.ID()
	to, err := LookupGet(r.types[idA], handle, LookupWrite, r.attrs)
	require.NoError(t, err)
	fresh := r.begin(idA)
	temp := fresh.ID()
	fresh.HW = "fresh"
	Assign(to, fresh, r.attrs)
	AllocCommit(fresh, r.attrs)
	LookupPut(to, LookupDestroy, r.attrs)
	require.Same(t, fresh, r.file.handles.load(nil, uint64(handle)))
	require.Same(t, old, r.file.handles.load(nil, uint64(temp)))
	require.Equal(t, books{Objects: 2, Handles: 2, Charges: 2, FileRefs: 1}, r.books())
	require.Equal(t, "old", old.HW)
}

// TestAssignOfOtherType: nothing happens but a warning.
func TestAssignOfOtherType(t *testing.T) {
	r := newRig(t)
	inj := r.traced(noStep)
	old := r.make(idA, "old")
	to, err := LookupGet(r.types[idA], old.ID(), LookupWrite, r.attrs)
	require.NoError(t, err)
	fresh := r.begin(idB)
	Assign(to, fresh, r.attrs)
	require.Equal(t, []string{"rdma_assign_uobject"}, inj.warn)
	require.Empty(t, r.destroyed)
	AllocAbort(fresh, false, r.attrs)
	LookupPut(to, LookupWrite, r.attrs)
	require.Zero(t, old.Usecnt())

	_, fd := r.makeFD(idFD)
	channel, err := LookupGet(r.types[idFD], fd, LookupRead, r.attrs)
	require.NoError(t, err)
	another := r.begin(idFD)
	Assign(channel, another, r.attrs)
	require.Len(t, inj.warn, 2, "descriptors cannot be exchanged")
	AllocAbort(another, false, r.attrs)
	LookupPut(channel, LookupRead, r.attrs)
}
