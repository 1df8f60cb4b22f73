package copyuser_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/rule"
)

// TestPinForced: by force, private memory is pinned whatever its protection is,
// and stays as protected as it was; shared memory is not.
func TestPinForced(t *testing.T) {
	for _, c := range []struct {
		name        string
		prot, flags int
		touch       bool // while it was still writable
		want        error
	}{
		{"private, none", syscall.PROT_NONE, syscall.MAP_PRIVATE, false, nil},
		{"private, none, touched", syscall.PROT_NONE, syscall.MAP_PRIVATE, true, nil},
		{"private, read", ro, syscall.MAP_PRIVATE, false, nil},
		{"private, read, touched", ro, syscall.MAP_PRIVATE, true, nil},
		{"private, write", rw, syscall.MAP_PRIVATE, false, nil},
		{"shared, none", syscall.PROT_NONE, syscall.MAP_SHARED, false, rule.PinWrite},
		{"shared, read", ro, syscall.MAP_SHARED, true, rule.PinWrite},
		{"shared, write", rw, syscall.MAP_SHARED, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := copyuser.NewAddressSpace()
			a, err := m.Mmap(nil, copyuser.MmapRequest{Length: 2 * ps, Prot: rw, Flags: c.flags})
			require.NoError(t, err)
			if c.touch {
				require.True(t, m.Store(a, []byte("touched")))
			}
			require.NoError(t, m.Mprotect(nil, a, 2*ps, c.prot))
			pin, err := m.PinForced(a, 2*ps)
			if c.want != nil {
				require.Equal(t, c.want, err)
				require.Zero(t, m.PinnedPages())
				return
			}
			require.NoError(t, err)
			require.Equal(t, 2, m.PinnedPages())
			require.Equal(t, c.prot == rw, m.Store(a, []byte{1}))
			_, err = pin.WriteAt([]byte("device"), ps)
			require.NoError(t, err)
			require.NoError(t, m.Mprotect(nil, a, 2*ps, rw))
			require.Equal(t, "device", load(t, m, a+ps, 6))
		})
	}
}

// TestPinForcedCopies: a page that others see too is copied before it is pinned.
func TestPinForcedCopies(t *testing.T) {
	m, page := copyuser.NewAddressSpace(), copyuser.NewPage()
	a := mapPages(t, m, syscall.MAP_PRIVATE, func(a *copyuser.Area) { a.InsertPage(0, page) })
	require.NoError(t, m.Mprotect(nil, a, ps, ro))
	pin, err := m.PinForced(a, 1)
	require.NoError(t, err)
	_, err = pin.WriteAt([]byte("device"), 0)
	require.NoError(t, err)
	require.NotSame(t, page, pin.Pages()[0])
	got := make([]byte, 1)
	page.Load(0, got)
	require.Zero(t, got[0])

	m = copyuser.NewAddressSpace()
	a = mapAnon(t, m, 1)
	require.True(t, m.Store(a, []byte("parent")))
	child := fork(t, m)
	require.NoError(t, child.Mprotect(nil, a, ps, ro))
	pin, err = child.PinForced(a, 1)
	require.NoError(t, err)
	_, err = pin.WriteAt([]byte("device"), 0)
	require.NoError(t, err)
	require.Equal(t, "device", load(t, child, a, 6))
	require.Equal(t, "parent", load(t, m, a, 6))
}
