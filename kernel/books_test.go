package kernel

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/uobject"
)

// TestFileRefs: an open file has one reference on its device, for as long as somebody
// has one on the file; the registration's is nobody's.
func TestFileRefs(t *testing.T) {
	r := newRig(t, nil)
	require.Equal(t, 1, r.d.FileRefs())
	require.Equal(t, 1, r.file.Refs())
	(*owner)(r.file).Get(nil)
	require.NoError(t, r.p.Close(r.fd))
	require.Equal(t, 1, r.file.Refs())
	require.Equal(t, 1, r.d.FileRefs())
	(*owner)(r.file).Put(r.p.MainTask())
	require.Zero(t, r.d.FileRefs())
	require.Panics(t, func() { (*owner)(r.file).Put(r.p.MainTask()) }, "nobody has it any more")
	r.m.Unregister(r.p.MainTask(), r.d)
	require.Zero(t, r.d.FileRefs())
}

// TestLeft: an object that somebody still holds when its file is gone is counted until
// it is put.
func TestLeft(t *testing.T) {
	r := newRig(t, nil)
	var kept []*uobject.Object
	for range 2 {
		fd, f := r.open(t, r.p)
		r.fd = fd
		r.call(t, testCreate, 0)
		for o := range f.Objects.Objects(nil) {
			require.Same(t, f, FileOf(o.File()))
			o.Get(nil)
			kept = append(kept, o)
		}
		require.Equal(t, len(kept)-1, r.d.Left(), "the file is there")
		require.NoError(t, r.p.Close(fd))
	}
	require.Len(t, kept, 2)
	require.Equal(t, 2, r.d.Left())
	kept[0].Put(nil)
	require.Equal(t, 1, r.d.Left())
	kept[1].Put(nil)
	require.Zero(t, r.d.Left())
	require.Empty(t, r.d.left)
}

// errStubborn is the hardware object of one that cannot be destroyed.
var errStubborn = errors.New("the driver does not give it up")

// TestAbandoned: a file whose objects could not be destroyed is not one whose objects
// somebody holds.
func TestAbandoned(t *testing.T) {
	r := newRig(t, nil)
	fd, f := r.open(t, r.p)
	r.fd = fd
	r.call(t, testCreate, 0)
	r.call(t, testCreate, 0)
	for o := range f.Objects.Objects(nil) {
		o.HW = errStubborn
		o.Get(nil) // as a queue holds its channel
		break
	}
	require.NoError(t, r.p.Close(fd))
	require.Equal(t, 1, r.d.Abandoned())
	require.Zero(t, r.d.Left())
}

// TestDeviceHeld names the locks of a device and of a file that somebody holds.
func TestDeviceHeld(t *testing.T) {
	r := newRig(t, nil)
	require.Empty(t, r.d.Held())
	require.Empty(t, r.file.Held())
	r.d.listsMutex.Lock(nil)
	r.d.XRCDTreeMutex.Lock(nil)
	r.file.UcontextLock.Lock(nil)
	require.Equal(t, []string{"lists_mutex", "xrcd_tree_mutex"}, r.d.Held())
	require.Equal(t, []string{"ucontext_lock"}, r.file.Held())
	r.d.listsMutex.Unlock(nil)
	r.d.XRCDTreeMutex.Unlock(nil)
	r.file.UcontextLock.Unlock(nil)
	require.Empty(t, r.d.Held())
	require.Empty(t, r.file.Held())
}
