package kernel

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/sim_test/watchdog"
	"uverbsim/trace"
)

// mapper is a rig whose driver maps pages of the device: those of an entry, or
// without one as many as the area has.
type mapper struct {
	*rig
	entry *core.MmapEntry
	pages []*copyuser.Page
	freed int  // entries
	fixed bool // the driver forbids to make it writable
}

func newMapper(tb testing.TB, npages int) *mapper {
	tb.Helper()
	m := &mapper{}
	for range npages {
		m.pages = append(m.pages, copyuser.NewPage())
	}
	m.rig = newRigOf(tb, nil, testDefs(), core.DeviceOps{
		DisassociateUcontext: func(*process.Task, *core.Ucontext) {},
		MmapFree:             func(*trace.Task, *core.MmapEntry) { m.freed++ },
		Mmap: func(t *process.Task, c *core.Ucontext, a *copyuser.Area) error {
			if m.fixed {
				a.Flags &^= copyuser.VM_MAYWRITE
			}
			if m.entry == nil {
				return c.MmapIO(t.Trace, a, m.pages, nil)
			}
			e := c.MmapEntryOf(t.Trace, a)
			if e == nil {
				return syscall.EINVAL
			}
			defer e.Put(t.Trace)
			return c.MmapIO(t.Trace, a, m.pages, e)
		},
	})
	return m
}

// insert gives out offsets for the pages and returns the first, in bytes.
func (m *mapper) insert(tb testing.TB) uint64 {
	tb.Helper()
	c, err := m.file.Ucontext(nil)
	require.NoError(tb, err)
	m.entry = new(core.MmapEntry)
	require.NoError(tb, c.InsertMmapEntry(nil, m.entry, uint64(len(m.pages))*copyuser.PageSize, 5, 100))
	return m.entry.Pgoff * copyuser.PageSize
}

const rw = syscall.PROT_READ | syscall.PROT_WRITE

func (m *mapper) mmap(tb testing.TB, off uint64) copyuser.Addr {
	tb.Helper()
	at, err := m.p.Mmap(m.fd, uint64(len(m.pages))*copyuser.PageSize, rw, syscall.MAP_SHARED, off)
	require.NoError(tb, err)
	return at
}

func (m *mapper) remove() { m.m.Unregister(m.p.NewTask(nil), m.d) }

func TestMmapRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		with   func(m *mapper)
		npages uint64
		flags  int
		want   error
	}{
		{"no context", func(m *mapper) { m.file.ucontext.Store(nil) }, 2, syscall.MAP_SHARED, rule.ContextNone},
		{"device gone", func(m *mapper) { m.remove() }, 2, syscall.MAP_SHARED, rule.ContextDeviceGone},
		{"private", func(*mapper) {}, 2, syscall.MAP_PRIVATE, rule.UmapNotShared},
		{"size", func(*mapper) {}, 1, syscall.MAP_SHARED, rule.UmapSize},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMapper(t, 2)
			tc.with(m)
			areas := m.p.Mem.Areas()
			_, err := m.p.Mmap(m.fd, tc.npages*copyuser.PageSize, rw, tc.flags, 0)
			require.Equal(t, tc.want, err)
			require.Equal(t, areas, m.p.Mem.Areas())
			require.Zero(t, m.file.Umaps.Areas())
			require.LessOrEqual(t, m.file.ref.Load(), int64(1))
		})
	}
	for what, want := range map[string]error{"rdma_umap_priv": rule.UmapNoMemory, "io_remap_pfn_range": rule.UmapRemap} {
		t.Run(what, func(t *testing.T) {
			m := newMapper(t, 1)
			areas := m.p.Mem.Areas()
			_, err := m.p.NewTask(trace.NewTask(1, breaks(what))).Mmap(m.fd, copyuser.PageSize, rw, syscall.MAP_SHARED, 0)
			require.Equal(t, want, err)
			require.Zero(t, m.file.Umaps.Areas())
			require.Equal(t, areas, m.p.Mem.Areas())
		})
	}
	t.Run("a driver without mmap", func(t *testing.T) {
		r := newRig(t, nil)
		_, err := r.p.Mmap(r.fd, copyuser.PageSize, rw, syscall.MAP_SHARED, 0)
		require.ErrorIs(t, err, syscall.ENODEV)
	})
}

// TestMmapKeepsFile: a mapping holds the file after its descriptor is closed.
func TestMmapKeepsFile(t *testing.T) {
	m := newMapper(t, 1)
	at := m.mmap(t, 0)
	require.NoError(t, m.p.Close(m.fd))
	require.Equal(t, 1, m.d.OpenFiles())
	require.True(t, m.p.Store(at, []byte{1, 2}))
	require.Equal(t, []byte{1, 2}, pageBytes(m.pages[0], 2))
	require.NoError(t, m.p.Munmap(at, copyuser.PageSize))
	require.Zero(t, m.d.OpenFiles())
	require.Zero(t, m.file.Umaps.Areas())
}

func pageBytes(p *copyuser.Page, n int) []byte {
	b := make([]byte, n)
	p.Load(0, b)
	return b
}

// TestMmapEntryLife: the offsets of an entry are taken until the driver and all
// areas have let go of it.
func TestMmapEntryLife(t *testing.T) {
	m := newMapper(t, 2)
	off := m.insert(t)
	c, err := m.file.Ucontext(nil)
	require.NoError(t, err)
	first := m.mmap(t, off)
	second := m.mmap(t, off)
	_, err = m.p.Mmap(m.fd, 2*copyuser.PageSize, rw, syscall.MAP_SHARED, off+copyuser.PageSize)
	require.Equal(t, syscall.EINVAL, err, "not the entry's start")
	m.entry.Remove(nil)
	_, err = m.p.Mmap(m.fd, 2*copyuser.PageSize, rw, syscall.MAP_SHARED, off)
	require.Equal(t, syscall.EINVAL, err, "no new mappings")
	require.Zero(t, m.freed)
	var other core.MmapEntry
	require.NoError(t, c.InsertMmapEntry(nil, &other, copyuser.PageSize, 5, 100))
	require.Equal(t, uint64(7), other.Pgoff, "the offsets are still taken")
	require.NoError(t, m.p.Munmap(first, 2*copyuser.PageSize))
	require.Zero(t, m.freed)
	require.NoError(t, m.p.Munmap(second, 2*copyuser.PageSize))
	require.Equal(t, 1, m.freed)
	var again core.MmapEntry
	require.NoError(t, c.InsertMmapEntry(nil, &again, copyuser.PageSize, 5, 100))
	require.Equal(t, uint64(5), again.Pgoff)
}

// TestSplit: each part of an area that is cut is followed, and holds the entry.
func TestSplit(t *testing.T) {
	m := newMapper(t, 3)
	off := m.insert(t)
	at := m.mmap(t, off)
	require.Equal(t, 1, m.file.Umaps.Areas())
	require.NoError(t, m.p.Munmap(at+copyuser.PageSize, copyuser.PageSize))
	require.Equal(t, 2, m.file.Umaps.Areas())
	m.entry.Remove(nil)
	require.True(t, m.p.Store(at+2*copyuser.PageSize, []byte{7}))
	require.Equal(t, []byte{7}, pageBytes(m.pages[2], 1))
	require.NoError(t, m.p.Munmap(at, copyuser.PageSize))
	require.Zero(t, m.freed)
	require.NoError(t, m.p.Munmap(at, 3*copyuser.PageSize))
	require.Equal(t, 1, m.freed)
	require.Zero(t, m.file.Umaps.Areas())
}

// TestForkAndRemap: the child's copy is followed by itself, and so is an area
// that moves.
func TestForkAndRemap(t *testing.T) {
	m := newMapper(t, 1)
	off := m.insert(t)
	at := m.mmap(t, off)
	child, err := m.p.Fork()
	require.NoError(t, err)
	require.Equal(t, 2, m.file.Umaps.Areas())
	require.True(t, child.Store(at, []byte{9}))
	require.Equal(t, []byte{9}, pageBytes(m.pages[0], 1))
	m.entry.Remove(nil)
	require.NoError(t, m.p.Munmap(at, copyuser.PageSize))
	require.Zero(t, m.freed)
	child.Exit()
	require.Equal(t, 1, m.freed)
	require.Zero(t, m.file.Umaps.Areas())
}

// TestRemovalTakesPages: after a removal the mappings of all processes are
// there, with zeros in place of the device, and one page of them for the file
// where they may be written. A copy that is made then has what was touched
// since, and nothing else.
func TestRemovalTakesPages(t *testing.T) {
	m := newMapper(t, 2)
	off := m.insert(t)
	at := m.mmap(t, off)
	second := m.mmap(t, off)
	child, err := m.p.Fork()
	require.NoError(t, err)
	exited, err := m.p.Fork()
	require.NoError(t, err)
	exited.Exit()
	require.True(t, m.p.Store(at, []byte{1}))
	m.entry.Remove(nil)
	m.remove()
	require.Zero(t, m.file.Umaps.Areas())
	require.Equal(t, 1, m.freed)
	for _, p := range []*process.Process{m.p, child} {
		got := []byte{0xee}
		require.True(t, p.Load(at, got))
		require.Equal(t, []byte{0}, got)
	}
	require.True(t, m.p.Store(at, []byte{5}))
	got := []byte{0}
	require.True(t, child.Load(second, got))
	require.Equal(t, []byte{5}, got, "one page for the whole file")
	require.Equal(t, []byte{1}, pageBytes(m.pages[0], 1), "the device's is not reached")

	late, err := child.Fork()
	require.NoError(t, err)
	require.True(t, late.Load(at, got))
	require.Equal(t, []byte{5}, got)
	require.False(t, late.Load(at+copyuser.PageSize, got), "SIGBUS")
	require.True(t, child.Load(at+copyuser.PageSize, got))
	for _, p := range []*process.Process{late, child, m.p} {
		p.Exit()
	}
	require.Zero(t, m.file.ref.Load())
	require.Equal(t, 1, m.freed)
}

// TestRemovalReadOnly: an area that can never be written reads as zeros, each
// page for itself.
func TestRemovalReadOnly(t *testing.T) {
	m := newMapper(t, 1)
	m.fixed = true
	m.pages[0].Store(0, []byte{7})
	at, err := m.p.Mmap(m.fd, copyuser.PageSize, syscall.PROT_READ, syscall.MAP_SHARED, 0)
	require.NoError(t, err)
	m.fixed = false
	writable := m.mmap(t, 0)
	got := []byte{0}
	require.True(t, m.p.Load(at, got))
	require.Equal(t, []byte{7}, got)
	m.remove()
	require.True(t, m.p.Store(writable, []byte{5}))
	require.True(t, m.p.Load(at, got))
	require.Equal(t, []byte{0}, got)
	require.Error(t, m.p.Mprotect(at, copyuser.PageSize, rw))
}

// atLock calls do once, when the task has taken the lock of that name.
type atLock struct {
	name string
	do   func()
}

func (a *atLock) Event(_ *trace.Task, e *trace.Event) {
	if do := a.do; do != nil && e.Kind == trace.Lock && e.Name == a.name {
		a.do = nil
		do()
	}
}

// TestExitDuringRemoval: the last process that maps the device exits while the
// removal is at its mappings. The address space then ends with the removal, and
// the last reference to the file with it, while the file's locks are held.
func TestExitDuringRemoval(t *testing.T) {
	m := newMapper(t, 1)
	m.mmap(t, 0)
	left := &atLock{"mmap_lock", func() { m.p.Exit() }}
	remover := m.m.NewProcess(process.Options{}).NewTask(trace.NewTask(1, left))
	watchdog.On(t) // or the removal waits for itself
	m.m.Unregister(remover, m.d)
	require.Nil(t, left.do, "the process exited")
	require.Zero(t, m.file.ref.Load())
}

// TestForkWithoutMemory: from a copy that cannot be followed the driver takes the
// pages, but before the fork gives it any: the child has the device's for good.
func TestForkWithoutMemory(t *testing.T) {
	m := newMapper(t, 1)
	at := m.mmap(t, 0)
	child, err := m.p.NewTask(trace.NewTask(1, breaks("rdma_umap_priv"))).Fork()
	require.NoError(t, err)
	require.Equal(t, 1, m.file.Umaps.Areas())
	require.True(t, m.p.Store(at, []byte{1}), "the parent's is as it was")
	got := []byte{0}
	require.True(t, child.Load(at, got))
	require.Equal(t, []byte{1}, got)
	m.remove()
	require.True(t, m.p.Load(at, got))
	require.Equal(t, []byte{0}, got)
	require.True(t, child.Load(at, got))
	require.Equal(t, []byte{1}, got, "a removal does not know of it")
}
