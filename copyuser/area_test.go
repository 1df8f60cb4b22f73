package copyuser_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/rule"
)

// registers writes down how it is accessed and answers with ones.
type registers struct{ log []string }

func (r *registers) Load(off int, dst []byte) {
	r.log = append(r.log, fmt.Sprintf("load %d at %d", len(dst), off))
	for i := range dst {
		dst[i] = 1
	}
}

func (r *registers) Store(off int, src []byte) {
	r.log = append(r.log, fmt.Sprintf("store %x at %d", src, off))
}

func mapPages(t *testing.T, m *copyuser.AddressSpace, flags int, insert func(*copyuser.Area)) copyuser.Addr {
	t.Helper()
	a, err := m.Mmap(nil, copyuser.MmapRequest{
		Length: ps, Prot: rw, Flags: flags, File: "dev", Readable: true, Writable: true,
		Map: func(a *copyuser.Area) error {
			a.Ops = &copyuser.AreaOps{}
			insert(a)
			return nil
		},
	})
	require.NoError(t, err)
	return a
}

// TestIO: accesses of device registers come to the device with their width.
func TestIO(t *testing.T) {
	m, io := copyuser.NewAddressSpace(), &registers{}
	a := mapPages(t, m, syscall.MAP_SHARED, func(a *copyuser.Area) { a.RemapPFN(0, copyuser.NewIOPage(io)) })
	require.True(t, m.Store(a+0x800, []byte{1, 2, 3, 4, 5, 6, 7, 8}))
	require.True(t, m.Load(a+4, make([]byte, 4)))
	require.True(t, m.PutUint32(a+12, 0x01020304))
	v, ok := m.GetUint64(a)
	require.True(t, ok)
	require.Equal(t, uint64(0x0101010101010101), v)
	require.Equal(t, uint64(3), m.Clear(a+1, 3))
	require.Equal(t, []string{
		"store 0102030405060708 at 2048", "load 4 at 4", "store 04030201 at 12", "load 8 at 0", "store 000000 at 1",
	}, io.log)

	io.log = nil
	require.NoError(t, m.Mprotect(nil, a, ps, ro))
	require.False(t, m.Store(a, []byte{1}))
	require.False(t, m.PutUint64(a, 1))
	require.False(t, m.Store(a+ps-4, make([]byte, 8)), "across the end")
	require.Empty(t, io.log)
}

// TestPutAcrossFault: one store instruction stores all or nothing, though a
// copy would have stored the first bytes.
func TestPutAcrossFault(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 2)
	require.NoError(t, m.Mprotect(nil, a+ps, ps, ro))
	require.False(t, m.PutUint64(a+ps-4, ^uint64(0)))
	got := make([]byte, 8)
	require.True(t, m.Load(a+ps-4, got))
	require.Equal(t, make([]byte, 8), got)
	require.Equal(t, 4, m.CopyOut(a+ps-4, pattern(8)))
	require.True(t, m.Load(a+ps-4, got))
	require.Equal(t, []byte{1, 2, 3, 4, 0, 0, 0, 0}, got)
}

// TestZap: the pages of a device are taken away; the next access asks the
// driver, whose answer may be another page or a signal.
func TestZap(t *testing.T) {
	m := copyuser.NewAddressSpace()
	page, other := copyuser.NewPage(), copyuser.NewPage()
	other.Store(0, []byte("other"))
	var area *copyuser.Area
	ok := true
	faults := 0
	ops := &copyuser.AreaOps{Fault: func(a *copyuser.Area, i int) (*copyuser.Page, bool) {
		require.Same(t, area, a)
		require.Equal(t, 1, i)
		faults++
		return other, ok
	}}
	a, err := m.Mmap(nil, copyuser.MmapRequest{
		Length: 2 * ps, Prot: rw, Flags: syscall.MAP_SHARED, File: "dev", Readable: true, Writable: true,
		Map: func(a *copyuser.Area) error {
			area = a
			a.Ops = ops
			a.RemapPFN(0, copyuser.NewPage())
			a.RemapPFN(1, page)
			return nil
		},
	})
	require.NoError(t, err)
	require.True(t, m.Store(a+ps, []byte("first")))
	zap := func() {
		m.MmapReadLock(nil)
		defer m.MmapReadUnlock(nil)
		area.Zap()
	}

	zap()
	got := make([]byte, 5)
	require.True(t, m.Load(a+ps, got))
	require.Equal(t, "other", string(got))
	require.True(t, m.Store(a+ps, []byte("again")))
	other.Load(0, got)
	require.Equal(t, "again", string(got), "the page is the driver's own, and can be written")
	require.Equal(t, 1, faults)
	page.Load(0, got)
	require.Equal(t, "first", string(got), "the first page is out of reach")

	zap()
	ok = false
	require.False(t, m.Load(a+ps, got))
	require.False(t, m.PutUint64(a+ps, 1))
	_, err = m.Pin(a+ps, 1, false)
	require.ErrorIs(t, err, rule.PinIO)
}

// TestZapOrdinary: pages of memory are not the driver's to take away.
func TestZapOrdinary(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapPages(t, m, syscall.MAP_SHARED, func(a *copyuser.Area) { a.InsertPage(0, copyuser.NewPage()) })
	m.Find(a).Zap()
	require.True(t, m.Load(a, make([]byte, 1)))
}

// TestNoFault: a file's area without a fault operation has the pages that it
// got at its start, and no others.
func TestNoFault(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapPages(t, m, syscall.MAP_SHARED, func(*copyuser.Area) {})
	require.False(t, m.Load(a, make([]byte, 1)))
	_, err := m.Pin(a, 1, false)
	require.ErrorIs(t, err, rule.PinFault)
}

// TestFaultTwice: of two faults on one page the first to finish decides, and
// what was stored by then is kept.
func TestFaultTwice(t *testing.T) {
	m := copyuser.NewAddressSpace()
	var a copyuser.Addr
	faults := 0
	req := device(1, rw, syscall.MAP_SHARED, &copyuser.AreaOps{Fault: func(*copyuser.Area, int) (*copyuser.Page, bool) {
		if faults++; faults == 1 {
			require.True(t, m.Store(a, []byte("first")))
		}
		return copyuser.NewPage(), true
	}})
	var err error
	a, err = m.Mmap(nil, req)
	require.NoError(t, err)
	got := make([]byte, 5)
	require.True(t, m.Load(a, got))
	require.Equal(t, 2, faults)
	require.Equal(t, "first", string(got))
}

// TestPrivatePage: a private mapping shows the driver's page until it is
// written, and has a copy of its own from then on.
func TestPrivatePage(t *testing.T) {
	m, page := copyuser.NewAddressSpace(), copyuser.NewPage()
	a := mapPages(t, m, syscall.MAP_PRIVATE, func(a *copyuser.Area) { a.InsertPage(0, page) })
	got := make([]byte, 6)
	page.Store(0, []byte("driver"))
	require.True(t, m.Load(a, got))
	require.Equal(t, "driver", string(got))

	require.True(t, m.Store(a+1, []byte("o")))
	page.Store(0, []byte("hidden"))
	require.True(t, m.Load(a, got))
	require.Equal(t, "doiver", string(got))
	page.Load(0, got)
	require.Equal(t, "hidden", string(got), "the store did not reach the driver")
}

// TestMprotectPrivatePage: a new protection does not let a store reach the
// driver's page either.
func TestMprotectPrivatePage(t *testing.T) {
	m, page := copyuser.NewAddressSpace(), copyuser.NewPage()
	a := mapPages(t, m, syscall.MAP_PRIVATE, func(a *copyuser.Area) { a.InsertPage(0, page) })
	require.NoError(t, m.Mprotect(nil, a, ps, ro))
	require.NoError(t, m.Mprotect(nil, a, ps, rw))
	require.True(t, m.Store(a, []byte("mine")))
	got := make([]byte, 4)
	page.Load(0, got)
	require.True(t, zero(got))
}

func TestPinErrors(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 3)
	dev := mapPages(t, m, syscall.MAP_SHARED, func(a *copyuser.Area) { a.RemapPFN(0, copyuser.NewPage()) })
	readOnly, writeOnly, none, noneTouched := mapAnon(t, m, 1), mapAnon(t, m, 1), mapAnon(t, m, 1), mapAnon(t, m, 1)
	writeOnlyTouched := mapAnon(t, m, 1)
	require.True(t, m.Store(noneTouched, []byte{1}))
	require.True(t, m.Store(writeOnlyTouched, []byte{1}))
	for a, prot := range map[copyuser.Addr]int{
		readOnly: ro, writeOnly: syscall.PROT_WRITE, writeOnlyTouched: syscall.PROT_WRITE,
		none: syscall.PROT_NONE, noneTouched: syscall.PROT_NONE,
	} {
		require.NoError(t, m.Mprotect(nil, a, ps, prot))
	}
	for _, c := range []struct {
		name        string
		a           copyuser.Addr
		n           uint64
		read, write error
	}{
		{"ordinary", a, 3 * ps, nil, nil},
		{"last byte", a + 3*ps - 1, 1, nil, nil},
		{"a byte too many", a, 3*ps + 1, rule.PinUnmapped, rule.PinUnmapped},
		{"null", 0, 1, rule.PinUnmapped, rule.PinUnmapped},
		{"kernel", 0xffff800000000000, 1, rule.PinRange, rule.PinRange},
		{"into the kernel", copyuser.TaskSizeMax - 1, 2, rule.PinRange, rule.PinRange},
		{"wraps", ^copyuser.Addr(0), 2, rule.PinWraps, rule.PinWraps},
		{"much too long", a, 1 << 26, rule.PinUnmapped, rule.PinUnmapped},
		{"device memory", dev, ps, rule.PinIO, rule.PinIO},
		{"read-only", readOnly, ps, nil, rule.PinWrite},
		{"write-only", writeOnly, ps, rule.PinRead, nil},
		{"write-only, page there", writeOnlyTouched, ps, nil, nil},
		{"no access", none, ps, rule.PinRead, rule.PinWrite},
		{"no access, page there", noneTouched, ps, rule.PinRead, rule.PinWrite},
	} {
		for _, write := range []bool{false, true} {
			want := c.read
			if write {
				want = c.write
			}
			pin, err := m.Pin(c.a, c.n, write)
			if want == nil {
				require.NoError(t, err, "%s, write %v", c.name, write)
				pin.Unpin()
			} else {
				require.ErrorIs(t, err, want, "%s, write %v", c.name, write)
			}
			require.Zero(t, m.PinnedPages(), c.name)
		}
	}
}

// TestPinnedPages: the count follows Pin and Unpin; a page counts each time.
func TestPinnedPages(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 2)
	one, err := m.Pin(a, 1, true)
	require.NoError(t, err)
	two, err := m.Pin(a+ps-1, 2, false)
	require.NoError(t, err)
	require.Equal(t, 3, m.PinnedPages())
	require.Same(t, one.Pages()[0], two.Pages()[0])
	one.Unpin()
	one.Unpin()
	require.Equal(t, 2, m.PinnedPages())
	two.Unpin()
	require.Zero(t, m.PinnedPages())
}

// TestPinOutlives: a pin keeps its pages when the mapping goes, and a new
// mapping at the same place has others.
func TestPinOutlives(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 1)
	require.True(t, m.Store(a, []byte("old")))
	pin, err := m.Pin(a, ps, true)
	require.NoError(t, err)
	require.NoError(t, m.Munmap(nil, a, ps))
	require.Equal(t, a, mapAnon(t, m, 1))
	_, err = pin.WriteAt([]byte("dev"), 0)
	require.NoError(t, err)
	got := make([]byte, 3)
	require.True(t, m.Load(a, got))
	require.True(t, zero(got))
	_, err = pin.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, "dev", string(got))
}

// TestPinProtection: rights count when memory is pinned, not afterwards.
func TestPinProtection(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 1)
	pin, err := m.Pin(a, ps, true)
	require.NoError(t, err)
	require.NoError(t, m.Mprotect(nil, a, ps, ro))
	_, err = pin.WriteAt([]byte("dev"), 0)
	require.NoError(t, err)
	got := make([]byte, 3)
	require.True(t, m.Load(a, got))
	require.Equal(t, "dev", string(got))
	_, err = m.Pin(a, ps, true)
	require.ErrorIs(t, err, rule.PinWrite)
}

// TestPinPrivate: pinning a private page for reading takes the mapping's own
// copy, so that the device sees what the process stores later.
func TestPinPrivate(t *testing.T) {
	m, page := copyuser.NewAddressSpace(), copyuser.NewPage()
	a := mapPages(t, m, syscall.MAP_PRIVATE, func(a *copyuser.Area) { a.InsertPage(0, page) })
	page.Store(0, []byte("driver"))
	require.True(t, m.Load(a, make([]byte, 1)))
	pin, err := m.Pin(a, ps, false)
	require.NoError(t, err)
	require.NotSame(t, page, pin.Pages()[0])
	require.True(t, m.Store(a, []byte("mine")))
	got := make([]byte, 6)
	_, err = pin.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, "mineer", string(got))
}

// TestPinQueue: a page of memory that a driver mapped can be pinned.
func TestPinQueue(t *testing.T) {
	m, page := copyuser.NewAddressSpace(), copyuser.NewPage()
	a := mapPages(t, m, syscall.MAP_SHARED, func(a *copyuser.Area) { a.InsertPage(0, page) })
	pin, err := m.Pin(a, ps, true)
	require.NoError(t, err)
	require.Same(t, page, pin.Pages()[0])
}

// TestPinShared: shared memory has one page for all who map it.
func TestPinShared(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a, err := m.Mmap(nil, copyuser.MmapRequest{Length: ps, Prot: rw, Flags: syscall.MAP_SHARED})
	require.NoError(t, err)
	pin, err := m.Pin(a, ps, false)
	require.NoError(t, err)
	child, err := m.Fork(nil)
	require.NoError(t, err)
	require.True(t, child.Store(a, []byte("child")))
	got := make([]byte, 5)
	_, err = pin.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, "child", string(got))
}

func TestPinBounds(t *testing.T) {
	m := copyuser.NewAddressSpace()
	pin, err := m.Pin(mapAnon(t, m, 2), 2*ps, true)
	require.NoError(t, err)
	for _, c := range []struct {
		off  int64
		n    int
		want int
	}{{0, 2 * ps, 2 * ps}, {0, 2*ps + 1, 2 * ps}, {2*ps - 1, 2, 1}, {2 * ps, 1, 0}, {1 << 40, 1, 0}, {-1, 1, 0}, {2 * ps, 0, 0}} {
		n, err := pin.ReadAt(make([]byte, c.n), c.off)
		require.Equal(t, c.want, n, "%d at %d", c.n, c.off)
		require.Equal(t, c.want < c.n, err != nil, "%d at %d", c.n, c.off)
		n, err = pin.WriteAt(make([]byte, c.n), c.off)
		require.Equal(t, c.want, n, "%d at %d", c.n, c.off)
		require.Equal(t, c.want < c.n, err != nil, "%d at %d", c.n, c.off)
	}
}

func TestPinnedVM(t *testing.T) {
	m := copyuser.NewAddressSpace()
	require.Equal(t, int64(3), m.AddPinnedVM(3))
	require.Equal(t, int64(5), m.AddPinnedVM(2))
	m.SubPinnedVM(4)
	require.Equal(t, int64(1), m.PinnedVM())
}
