package uobject

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
	"uverbsim/spec"
)

// TestLookupErrors has each way in which a lookup is refused. None may leave
// the object other than it was.
func TestLookupErrors(t *testing.T) {
	r := newRig(t)
	a := r.make(idA, "a")
	_, fd := r.makeFD(idFD)
	_, foreign := r.makeFD(idOther)
	plain, err := r.attrs.task.GetUnusedFD(false)
	require.NoError(t, err)
	other := newRig(t)
	other.p, other.attrs.task = r.p, r.attrs.task
	other.types[idFD] = r.types[idFD]
	_, otherFile := other.makeFD(idFD)
	uncommitted := r.begin(idA)
	before := r.books()

	hold := func(mode LookupMode) func() func() {
		return func() func() {
			o, err := LookupGet(r.types[idA], a.ID(), mode, r.attrs)
			require.NoError(t, err)
			return func() { LookupPut(o, mode, r.attrs) }
		}
	}
	deviceGone := func() func() {
		r.owner.gone = true
		return func() { r.owner.gone = false }
	}
	for _, tc := range []struct {
		name   string
		with   func() func()
		object uint16
		access spec.Access
		id     int64
		want   *rule.Rule
	}{
		{"unknown type", nil, 0x1004, spec.AccessRead, a.ID(), rule.ObjectUnknownType},
		{"new of an unknown type", nil, 0x1004, spec.AccessNew, 0, rule.ObjectUnknownType},
		{"any type cannot be new", nil, spec.IDRAnyObject, spec.AccessNew, 0, rule.ObjectUnknownType},
		{"negative", nil, idA, spec.AccessRead, -1, rule.ObjectNegativeHandle},
		{"most negative", nil, idA, spec.AccessDestroy, math.MinInt64, rule.ObjectNegativeHandle},
		{"negative of any type", nil, spec.IDRAnyObject, spec.AccessRead, -1, rule.ObjectNegativeHandle},
		{"not found", nil, idA, spec.AccessRead, 1000, rule.ObjectNotFound},
		{"beyond 32 bits", nil, idA, spec.AccessRead, a.ID() | 1<<32, rule.ObjectNotFound},
		{"largest", nil, idA, spec.AccessWrite, math.MaxInt64, rule.ObjectNotFound},
		{"not found of any type", nil, spec.IDRAnyObject, spec.AccessRead, 1000, rule.ObjectNotFound},
		{"not committed", nil, idA, spec.AccessRead, uncommitted.ID(), rule.ObjectNotFound},
		{"wrong type", nil, idB, spec.AccessRead, a.ID(), rule.ObjectWrongType},
		{"wrong type to destroy", nil, idB, spec.AccessDestroy, a.ID(), rule.ObjectWrongType},
		{"the type comes before the device", deviceGone, idB, spec.AccessRead, a.ID(), rule.ObjectWrongType},
		{"device gone, read", deviceGone, idA, spec.AccessRead, a.ID(), rule.ObjectDeviceGone},
		{"device gone, write", deviceGone, idA, spec.AccessWrite, a.ID(), rule.ObjectDeviceGone},
		{"device gone, descriptor", deviceGone, idFD, spec.AccessRead, fd, rule.ObjectDeviceGone},
		{"read while written", hold(LookupWrite), idA, spec.AccessRead, a.ID(), rule.ObjectBusyRead},
		{"write while written", hold(LookupWrite), idA, spec.AccessWrite, a.ID(), rule.ObjectBusyWrite},
		{"write while read", hold(LookupRead), idA, spec.AccessWrite, a.ID(), rule.ObjectBusyWrite},
		{"descriptor too large", nil, idFD, spec.AccessRead, 1 << 31, rule.ObjectFDRange},
		{"descriptor too small", nil, idFD, spec.AccessRead, -1<<31 - 1, rule.ObjectFDRange},
		{"descriptor to write", nil, idFD, spec.AccessWrite, fd, rule.ObjectFDMode},
		{"descriptor to destroy", nil, idFD, spec.AccessDestroy, fd, rule.ObjectFDMode},
		{"the range comes before the mode", nil, idFD, spec.AccessWrite, 1 << 31, rule.ObjectFDRange},
		{"type gone", func() func() {
			ta := r.types[idFD].attrs.Load()
			r.types[idFD].Disassociate(nil)
			return func() { r.types[idFD].attrs.Store(ta) }
		}, idFD, spec.AccessRead, 1000, rule.ObjectFDGone},
		{"descriptor not open", nil, idFD, spec.AccessRead, 1000, rule.ObjectFDBad},
		{"descriptor -1", nil, idFD, spec.AccessRead, -1, rule.ObjectFDBad},
		{"descriptor reserved", nil, idFD, spec.AccessRead, int64(plain), rule.ObjectFDBad},
		{"descriptor of another kind", nil, idFD, spec.AccessRead, foreign, rule.ObjectFDForeign},
		{"descriptor of another file", nil, idFD, spec.AccessRead, otherFile, rule.ObjectFDForeign},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.with != nil {
				defer tc.with()()
			}
			refs, usecnt := a.Refs(), a.Usecnt()
			r.attrs.context = nil
			_, err := FromFile(tc.object, tc.access, tc.id, r.attrs)
			require.Equal(t, error(tc.want), err)
			require.Equal(t, refs, a.Refs())
			require.Equal(t, usecnt, a.Usecnt())
			require.Nil(t, r.attrs.context, "a refused lookup sets no context")
			require.Equal(t, before, r.books())
		})
	}
	Finalize(uncommitted, spec.AccessNew, false, false, r.attrs)
	r.free()
}

// TestLookupModes has what may be held at the same time.
func TestLookupModes(t *testing.T) {
	const ok = ""
	for _, tc := range []struct {
		first, second LookupMode
		want          string
	}{
		{LookupRead, LookupRead, ok},
		{LookupRead, LookupWrite, rule.ObjectBusyWrite.ID},
		{LookupRead, LookupDestroy, ok},
		{LookupWrite, LookupRead, rule.ObjectBusyRead.ID},
		{LookupWrite, LookupWrite, rule.ObjectBusyWrite.ID},
		{LookupWrite, LookupDestroy, ok},
		{LookupDestroy, LookupRead, ok},
		{LookupDestroy, LookupWrite, ok},
		{LookupDestroy, LookupDestroy, ok},
	} {
		r := newRig(t)
		o := r.make(idA, "a")
		refs := o.Refs()
		usecnt := map[LookupMode]int32{LookupRead: 1, LookupWrite: -1, LookupDestroy: 0}
		first, err := LookupGet(r.types[idA], o.ID(), tc.first, r.attrs)
		require.NoError(t, err)
		require.Same(t, o, first)
		require.Equal(t, usecnt[tc.first], o.Usecnt())
		require.Equal(t, refs+1, o.Refs())
		second, err := LookupGet(r.types[idA], o.ID(), tc.second, r.attrs)
		if tc.want != ok {
			require.Equal(t, error(rule.Find(tc.want)), err)
		} else {
			require.NoError(t, err)
			LookupPut(second, tc.second, r.attrs)
		}
		LookupPut(first, tc.first, r.attrs)
		require.Zero(t, o.Usecnt())
		require.Equal(t, refs, o.Refs())
	}
}

// TestLookupSetsContext: a lookup that has the object hands its context to the
// call.
func TestLookupSetsContext(t *testing.T) {
	r := newRig(t)
	o := r.make(idA, "a")
	for _, access := range []spec.Access{spec.AccessRead, spec.AccessWrite} {
		for _, id := range []uint16{idA, spec.IDRAnyObject} {
			r.attrs.context = nil
			got, err := FromFile(id, access, o.ID(), r.attrs)
			require.NoError(t, err)
			require.Same(t, o, got)
			require.Equal(t, Context(r.owner.context), r.attrs.context)
			Finalize(got, access, false, true, r.attrs)
		}
	}
}

// TestLookupFD: a descriptor that is looked up keeps its file, so that a close
// meanwhile releases it with the lookup's end.
func TestLookupFD(t *testing.T) {
	r := newRig(t)
	before := r.books()
	o, fd := r.makeFD(idFD)
	require.Zero(t, o.ID(), "once committed it has no number of its own")
	require.Equal(t, 2, r.owner.refs, "the descriptor holds the file")
	got, err := LookupGet(r.types[idFD], fd, LookupRead, r.attrs)
	require.NoError(t, err)
	require.Same(t, o, got)
	require.NoError(t, r.p.Close(int(fd)))
	require.Empty(t, r.destroyed)
	LookupPut(o, LookupRead, r.attrs)
	require.Equal(t, []string{"fd close"}, r.destroyed)
	require.Nil(t, o.HW)
	require.Nil(t, o.Context())
	require.Equal(t, before, r.books())
}

// TestLookupFDWhileDeviceGoes: the two halves of a refused lookup may lie
// before and behind the moment when a removal destroys the object.
func TestLookupFDWhileDeviceGoes(t *testing.T) {
	r := newRig(t)
	o, fd := r.makeFD(idFD)
	got, err := r.types[idFD].class.lookupGet(r.types[idFD], r.attrs, r.file, fd, LookupRead)
	require.NoError(t, err)
	r.owner.gone = true
	r.file.DestroyAll(RemoveDriverRemove, r.attrs)
	require.Nil(t, o.HW)
	_, err = got.lock(LookupRead, r.attrs)
	require.Equal(t, error(rule.ObjectDeviceGone), err)
	require.NoError(t, r.p.Close(int(fd)))
	require.Equal(t, books{FileRefs: 1}, r.books())
}
