package copyuser_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/trace"
)

func load(t *testing.T, m *copyuser.AddressSpace, a copyuser.Addr, n int) string {
	t.Helper()
	b := make([]byte, n)
	require.True(t, m.Load(a, b))
	return string(b)
}

func fork(t *testing.T, m *copyuser.AddressSpace) *copyuser.AddressSpace {
	t.Helper()
	child, err := m.Fork(newCurrent())
	require.NoError(t, err)
	return child.(*copyuser.AddressSpace)
}

// TestForkPrivate: private memory is the same at first and goes apart.
func TestForkPrivate(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 2)
	require.True(t, m.Store(a, []byte("before")))
	child := fork(t, m)
	require.Equal(t, "before", load(t, child, a, 6))
	require.True(t, m.Store(a, []byte("parent")))
	require.True(t, child.Store(a, []byte("child.")))
	require.Equal(t, "parent", load(t, m, a, 6))
	require.Equal(t, "child.", load(t, child, a, 6))

	require.True(t, m.Store(a+ps, []byte("new")))
	require.Equal(t, "\x00\x00\x00", load(t, child, a+ps, 3), "a page that came after the fork")
	require.NoError(t, m.Munmap(nil, a, 2*ps))
	require.Equal(t, "child.", load(t, child, a, 6))
}

// TestForkShared: shared memory stays the same, touched before or not.
func TestForkShared(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a, err := m.Mmap(nil, copyuser.MmapRequest{Length: 2 * ps, Prot: rw, Flags: syscall.MAP_SHARED})
	require.NoError(t, err)
	require.True(t, m.Store(a, []byte("one")))
	child := fork(t, m)
	require.Equal(t, "one", load(t, child, a, 3))
	require.True(t, child.Store(a, []byte("two")))
	require.Equal(t, "two", load(t, m, a, 3))
	require.True(t, child.Store(a+ps, []byte("three")))
	require.Equal(t, "three", load(t, m, a+ps, 5))
}

// TestForkProtection: the child has the parent's protections.
func TestForkProtection(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 3)
	require.True(t, m.Store(a, pattern(3*ps)))
	require.NoError(t, m.Mprotect(nil, a, ps, ro))
	require.NoError(t, m.Mprotect(nil, a+ps, ps, syscall.PROT_NONE))
	child := fork(t, m)
	require.Equal(t, m.Areas(), child.Areas())
	require.False(t, child.Store(a, []byte{1}))
	require.Equal(t, "x.x", readable(child, a, 3))
	require.NoError(t, child.Mprotect(nil, a, 3*ps, rw))
	require.Equal(t, string(pattern(3*ps)), load(t, child, a, 3*ps))
	require.False(t, m.Store(a, []byte{1}), "the parent's are its own")
}

// TestForkPinned: the parent keeps the page that the device writes to.
func TestForkPinned(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 1)
	pin, err := m.Pin(a, ps, true)
	require.NoError(t, err)
	child := fork(t, m)
	require.Zero(t, child.PinnedPages())
	require.True(t, m.Store(a+8, []byte("parent")))
	_, err = pin.WriteAt([]byte("device"), 0)
	require.NoError(t, err)
	require.Equal(t, "device", load(t, m, a, 6))
	require.Equal(t, "\x00", load(t, child, a, 1))
	got := make([]byte, 6)
	_, err = pin.ReadAt(got, 8)
	require.NoError(t, err)
	require.Equal(t, "parent", string(got))
}

func TestForkAccount(t *testing.T) {
	m := copyuser.NewAddressSpace()
	m.AddPinnedVM(7)
	require.Zero(t, fork(t, m).PinnedVM())
	require.Equal(t, int64(7), m.PinnedVM())
}

// TestForkDevice: a device's area is opened for the child before it has pages;
// the driver may refuse them by a Zap, and the pages come nevertheless.
func TestForkDevice(t *testing.T) {
	m, cur, page := copyuser.NewAddressSpace(), newCurrent(), copyuser.NewPage()
	var opened *copyuser.Area
	ops := &copyuser.AreaOps{Open: func(_ copyuser.Current, a *copyuser.Area) { opened = a; a.Zap() }}
	a, err := m.Mmap(cur, device(1, rw, syscall.MAP_SHARED, ops, page))
	require.NoError(t, err)
	require.Nil(t, opened, "not for the first mapping")
	child, err := m.Fork(cur)
	require.NoError(t, err)
	require.Same(t, child, opened.MM)
	require.Equal(t, 2, cur.refs["dev"])
	require.True(t, child.Store(a, []byte("shared")))
	require.Equal(t, "shared", load(t, m, a, 6))
	child.Mmput(cur)
	require.Equal(t, 1, cur.refs["dev"])
	require.Equal(t, "shared", load(t, m, a, 6))
}

// TestForkPrivatePage: the child of a private mapping shows the driver's page,
// or a copy of the parent's own.
func TestForkPrivatePage(t *testing.T) {
	m, page := copyuser.NewAddressSpace(), copyuser.NewPage()
	a := mapPages(t, m, syscall.MAP_PRIVATE, func(a *copyuser.Area) { a.InsertPage(0, page) })
	page.Store(0, []byte("driver"))
	early := fork(t, m)
	require.True(t, m.Store(a, []byte("parent")))
	late := fork(t, m)
	require.True(t, late.Store(a, []byte("late")))
	require.True(t, early.Store(a, []byte("early")))
	require.Equal(t, "earlyr", load(t, early, a, 6))
	require.Equal(t, "latent", load(t, late, a, 6))
	require.Equal(t, "parent", load(t, m, a, 6))
	got := make([]byte, 6)
	page.Load(0, got)
	require.Equal(t, "driver", string(got))
}

// TestForkDontCopy: such an area stays behind.
func TestForkDontCopy(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapPages(t, m, syscall.MAP_SHARED, func(a *copyuser.Area) {
		a.Flags |= copyuser.VM_DONTCOPY
		a.RemapPFN(0, copyuser.NewPage())
	})
	child := fork(t, m)
	require.Zero(t, child.Areas())
	require.False(t, child.Load(a, make([]byte, 1)))
	require.True(t, m.Load(a, make([]byte, 1)))
}

// failNth fails the nth step that it is asked about.
type failNth struct{ n int }

func (f *failNth) Event(*trace.Task, *trace.Event) {}

func (f *failNth) Fail(*trace.Task, trace.Step, string) bool {
	f.n--
	return f.n == 0
}

// TestForkNoMemory: what the child had already is given back.
func TestForkNoMemory(t *testing.T) {
	for nth := 1; nth <= 3; nth++ {
		m, v, cur := copyuser.NewAddressSpace(), &vmaLog{}, newCurrent()
		for range 2 {
			_, err := m.Mmap(cur, device(1, rw, syscall.MAP_SHARED, v.ops(), copyuser.NewPage()))
			require.NoError(t, err)
		}
		mapAnon(t, m, 1)
		cur.trace = trace.NewTask(1, &failNth{nth})
		_, err := m.Fork(cur)
		require.ErrorIs(t, err, rule.ForkAlloc)
		require.Equal(t, 2, cur.refs["dev"], "areas of the child: %d", nth-1)
		require.Equal(t, 3, m.Areas())
		opened, closed := 0, 0
		for _, what := range v.take() {
			if what == "open 0+1" {
				opened++
			} else {
				closed++
			}
		}
		require.Equal(t, opened, closed)
	}
}
