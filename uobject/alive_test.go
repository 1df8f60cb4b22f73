package uobject

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAlive follows objects from their beginning to their last reference.
func TestAlive(t *testing.T) {
	r := newRig(t)
	require.Zero(t, r.file.Alive())
	aborted := r.begin(idA)
	require.Equal(t, 1, r.file.Alive(), "begun")
	AllocAbort(aborted, false, r.attrs)
	require.Zero(t, r.file.Alive(), "aborted")

	o := r.make(idA, "a")
	require.Equal(t, 1, r.file.Alive(), "committed, in the memory of the aborted one")
	got, err := GetDestroy(r.types[idA], o.ID(), r.attrs)
	require.NoError(t, err)
	require.Equal(t, 1, r.file.Alive(), "destroyed, and held by who destroyed it")
	LookupPut(got, LookupDestroy, r.attrs)
	require.Zero(t, r.file.Alive())

	r.make(idA, "b")
	_, fd := r.makeFD(idFD)
	r.file.DestroyAll(RemoveClose, r.attrs)
	require.Equal(t, 2, r.file.Alive(), "the handle's and the descriptor's")
	r.file.Release(nil)
	require.Equal(t, 1, r.file.Alive(), "the descriptor's")
	require.NoError(t, r.p.Close(int(fd)))
	require.Zero(t, r.file.Alive())
}

// TestPutOnceTooOften: nobody may give back what he does not have.
func TestPutOnceTooOften(t *testing.T) {
	r := newRig(t)
	o := r.begin(idA)
	AllocAbort(o, false, r.attrs)
	require.Panics(t, func() { o.Put(nil) })
}

// TestHeld names the locks that somebody holds.
func TestHeld(t *testing.T) {
	r := newRig(t)
	require.Empty(t, r.file.Held())
	o := r.begin(idA)
	require.Equal(t, []string{"hw_destroy_rwsem"}, r.file.Held(), "until the object is done")
	AllocAbort(o, false, r.attrs)
	require.Empty(t, r.file.Held())
	for range r.file.Objects(nil) {
		t.Fatal("there is no object")
	}
	r.make(idA, "a")
	for range r.file.Objects(nil) {
		require.Equal(t, []string{"uobjects_lock"}, r.file.Held())
	}
	r.file.handles.mu.Lock(nil)
	require.Equal(t, []string{"xa_lock"}, r.file.Held())
	r.file.handles.mu.Unlock(nil)
	require.Empty(t, r.file.Held())
}
