package uobject

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDestroyAll goes from the newest to the oldest, and then ends the context.
func TestDestroyAll(t *testing.T) {
	for _, why := range []RemoveReason{RemoveClose, RemoveDriverRemove} {
		r := newRig(t)
		for i := range 5 {
			r.make(idA+uint16(i%2), fmt.Sprint(i))
		}
		_, fd := r.makeFD(idFD)
		r.file.DestroyAll(why, r.attrs)
		want := []string{"fd " + why.String()}
		for i := 4; i >= 0; i-- {
			want = append(want, fmt.Sprint(i, " ", why))
		}
		require.Equal(t, want, r.destroyed)
		require.Equal(t, []RemoveReason{why}, r.owner.destroyed)
		require.Equal(t, books{Handles: 5, FDs: 1, FileRefs: 2}, r.books())
		r.file.DestroyAll(RemoveClose, r.attrs)
		require.Len(t, r.owner.destroyed, 1, "there is no context any more")

		require.NoError(t, r.p.Close(int(fd)))
		require.Len(t, r.destroyed, 6, "the descriptor object was destroyed before")
		r.file.Release(nil)
		require.Equal(t, books{FileRefs: 1}, r.books())
	}
}

// TestDestroyAllDependent: an object that others depend on says so and gets
// another turn, as often as that helps.
func TestDestroyAllDependent(t *testing.T) {
	r := newRig(t)
	inj := r.traced(noStep)
	// Each depends on the next newer one, so that each pass frees one.
	var objects []*Object
	for i := range 4 {
		objects = append(objects, r.make(idA, fmt.Sprint(i)))
	}
	r.types[idA].attrs.Load().Destroy = func(o *Object, why RemoveReason, attrs Attrs) error {
		for i := range 3 {
			if o == objects[i+1] && objects[i].HW != nil {
				return syscall.EBUSY
			}
		}
		return r.destroy(o, why, attrs)
	}
	r.file.DestroyAll(RemoveClose, r.attrs)
	require.Equal(t, []string{"0 close", "1 close", "2 close", "3 close"}, r.destroyed)
	require.Empty(t, inj.warn)
	for _, o := range objects {
		require.Zero(t, o.Usecnt())
		require.Equal(t, int32(1), o.Refs())
	}
}

// TestDestroyAllDriverFailure: what the driver will not destroy is dropped with
// a warning, and without its driver; its charge is lost with it.
func TestDestroyAllDriverFailure(t *testing.T) {
	r := newRig(t)
	inj := r.traced(noStep)
	stuck := r.make(idA, "stuck")
	r.make(idA, "good")
	r.refuse[stuck] = syscall.EIO
	context := r.owner.context
	r.file.DestroyAll(RemoveClose, r.attrs)
	require.Equal(t, []string{"good close"}, r.destroyed)
	require.Equal(t, []string{"uverbs_destroy_ufile_hw"}, inj.warn)
	require.Nil(t, stuck.HW)
	require.Equal(t, []RemoveReason{RemoveClose}, r.owner.destroyed)
	require.Equal(t, 1, context.charges)
	r.file.Release(nil)
	require.Zero(t, stuck.Refs())
	require.Equal(t, books{FileRefs: 1}, r.books())
}

// TestDestroyAllWithoutContext: there is nothing to destroy.
func TestDestroyAllWithoutContext(t *testing.T) {
	r := newRig(t)
	r.owner.context = nil
	r.file.DestroyAll(RemoveClose, r.attrs)
	require.Empty(t, r.owner.destroyed)
	r.free()
}

// TestReleaseWhileDestroying: a descriptor that is closed while a removal is at
// work leaves its object to the removal.
func TestReleaseWhileDestroying(t *testing.T) {
	r := newRig(t)
	o, fd := r.makeFD(idFD)
	r.file.HWDestroyRwsem.DownWrite(nil)
	require.NoError(t, r.p.Close(int(fd)))
	require.Empty(t, r.destroyed)
	require.Equal(t, 1, r.owner.refs)
	require.Equal(t, int32(1), o.Refs(), "the list still has it")
	r.file.HWDestroyRwsem.UpWrite(nil)
	r.file.DestroyAll(RemoveDriverRemove, r.attrs)
	require.Equal(t, []string{"fd driver_remove"}, r.destroyed)
	require.Zero(t, o.Refs())
	require.Equal(t, books{FileRefs: 1}, r.books())
}

// TestObjects walks the newest first.
func TestObjects(t *testing.T) {
	r := newRig(t)
	for i := range 3 {
		r.make(idA, fmt.Sprint(i))
	}
	var names []string
	for o := range r.file.Objects(nil) {
		names = append(names, o.HW.(string))
		if len(names) == 2 {
			break
		}
	}
	require.Equal(t, []string{"2", "1"}, names)
}
