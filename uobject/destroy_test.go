package uobject

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// TestDestroy: the object's number is free at once, the object stays locked for
// whoever still has it.
func TestDestroy(t *testing.T) {
	r := newRig(t)
	before := r.books()
	o := r.make(idA, "a")
	got, err := GetDestroy(r.types[idA], o.ID(), r.attrs)
	require.NoError(t, err)
	require.Same(t, o, got)
	require.Equal(t, []string{"a destroy"}, r.destroyed)
	require.Nil(t, o.HW)
	require.Nil(t, o.Context())
	require.Equal(t, int32(-1), o.Usecnt(), "nobody who still sees it may use it")
	require.Equal(t, int32(1), o.Refs())
	require.Equal(t, before, r.books())
	require.Zero(t, r.begin(idA).ID(), "its number is free")
	LookupPut(got, LookupDestroy, r.attrs)
	require.Zero(t, o.Refs())
}

func TestDestroyErrors(t *testing.T) {
	for _, tc := range []struct {
		name string
		with func(r *rig, o *Object)
		want error
	}{
		{"in use", func(r *rig, o *Object) {
			_, err := LookupGet(r.types[idA], o.ID(), LookupRead, r.attrs)
			require.NoError(r.tb, err)
		}, rule.ObjectBusyWrite},
		{"written", func(r *rig, o *Object) {
			_, err := LookupGet(r.types[idA], o.ID(), LookupWrite, r.attrs)
			require.NoError(r.tb, err)
		}, rule.ObjectBusyWrite},
		{"refused by its type", func(r *rig, o *Object) { r.refuse[o] = syscall.EBUSY }, syscall.EBUSY},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			o := r.make(idA, "a")
			tc.with(r, o)
			refs, usecnt, before := o.Refs(), o.Usecnt(), r.books()
			require.Equal(t, tc.want, PerformDestroy(r.types[idA], o.ID(), r.attrs))
			require.Equal(t, refs, o.Refs())
			require.Equal(t, usecnt, o.Usecnt())
			require.Equal(t, "a", o.HW)
			require.Equal(t, Context(r.owner.context), o.Context())
			require.Equal(t, before, r.books())
			r.free()
		})
	}
}

// TestDoubleDestroy: of two destroys that both found the object one gets it;
// the other is told that it is busy. One that comes later finds nothing.
func TestDoubleDestroy(t *testing.T) {
	r := newRig(t)
	o := r.make(idA, "a")
	second, err := LookupGet(r.types[idA], o.ID(), LookupDestroy, r.attrs)
	require.NoError(t, err)
	require.NoError(t, PerformDestroy(r.types[idA], o.ID(), r.attrs))
	require.Equal(t, error(rule.ObjectBusyWrite), Destroy(second, r.attrs))
	_, err = LookupGet(r.types[idA], o.ID(), LookupDestroy, r.attrs)
	require.Equal(t, error(rule.ObjectNotFound), err)
	LookupPut(second, LookupDestroy, r.attrs)
	require.Equal(t, []string{"a destroy"}, r.destroyed)
	require.Zero(t, o.Refs())
	r.free()
}

// TestDestroyAfterRemoval: a destroy is the one thing that works on an object
// whose device is gone; it frees the handle and calls no driver.
func TestDestroyAfterRemoval(t *testing.T) {
	r := newRig(t)
	o := r.make(idA, "a")
	r.owner.gone = true
	r.file.DestroyAll(RemoveDriverRemove, r.attrs)
	require.Equal(t, []string{"a driver_remove"}, r.destroyed)
	require.Equal(t, books{Handles: 1, FileRefs: 1}, r.books(), "the handle is still the user's")
	r.types[idA].Disassociate(nil)
	require.Equal(t, int32(1), o.Refs())
	require.NoError(t, PerformDestroy(r.types[idA], o.ID(), r.attrs))
	require.Equal(t, []string{"a driver_remove"}, r.destroyed)
	require.Zero(t, o.Refs())
	require.Equal(t, books{FileRefs: 1}, r.books())
}

// TestFinalizeUnlocks: whatever a call had looked up is as before when it ends,
// done or failed.
func TestFinalizeUnlocks(t *testing.T) {
	for _, commit := range []bool{false, true} {
		for _, access := range []spec.Access{spec.AccessRead, spec.AccessWrite, spec.AccessDestroy} {
			r := newRig(t)
			o := r.make(idA, "a")
			refs := o.Refs()
			got, err := FromFile(idA, access, o.ID(), r.attrs)
			require.NoError(t, err)
			Finalize(got, access, false, commit, r.attrs)
			require.Zero(t, o.Usecnt())
			require.Equal(t, refs, o.Refs())
			require.Empty(t, r.destroyed)
		}
	}
}

// TestReasonNames has the names that reports show.
func TestReasonNames(t *testing.T) {
	require.Equal(t, "destroy", RemoveDestroy.String())
	require.Equal(t, "driver_failure", RemoveDriverFailure.String())
}

// lockNotes is a sink that keeps what is locked and released, and use counts.
type lockNotes []string

func (l *lockNotes) Event(_ *trace.Task, e *trace.Event) {
	switch e.Kind {
	case trace.Lock, trace.Unlock, trace.Usecnt:
		*l = append(*l, fmt.Sprint(map[trace.Kind]string{trace.Lock: "lock ", trace.Unlock: "unlock ", trace.Usecnt: "use "}[e.Kind], e.Name))
	}
}

// TestDestroyKeepsOthersOut: from before the object is locked until it is gone, or
// refused, nobody can destroy all that the file has.
func TestDestroyKeepsOthersOut(t *testing.T) {
	for _, refused := range []bool{false, true} {
		r := newRig(t)
		o := r.make(idA, "a")
		if refused {
			r.refuse[o] = syscall.EBUSY
		}
		got, err := LookupGet(r.types[idA], o.ID(), LookupDestroy, r.attrs)
		require.NoError(t, err)
		var notes lockNotes
		r.attrs.task = r.p.NewTask(trace.NewTask(1, &notes))
		require.Equal(t, refused, Destroy(got, r.attrs) != nil)
		require.Equal(t, []string{"lock hw_destroy_rwsem", "use A"}, []string(notes[:2]))
		require.Equal(t, "unlock hw_destroy_rwsem", notes[len(notes)-1])
		r.free()
	}
}
