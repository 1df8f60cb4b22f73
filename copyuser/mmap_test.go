package copyuser_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/trace"
)

const (
	ps = copyuser.PageSize
	rw = syscall.PROT_READ | syscall.PROT_WRITE
	ro = syscall.PROT_READ
)

// current is a thread that counts the references to files.
type current struct {
	trace *trace.Task
	refs  map[any]int
}

func (c *current) TraceTask() *trace.Task { return c.trace }
func (c *current) GetFile(f any)          { c.refs[f]++ }
func (c *current) PutFile(f any)          { c.refs[f]-- }

func newCurrent() *current { return &current{refs: map[any]int{}} }

// failing returns a thread for which that step fails.
func failing(step string) *current {
	c := newCurrent()
	c.trace = trace.NewTask(1, &recorder{fail: step})
	return c
}

// device returns the request to map n pages of a device whose pages are pages.
func device(n uint64, prot, flags int, ops *copyuser.AreaOps, pages ...*copyuser.Page) copyuser.MmapRequest {
	return copyuser.MmapRequest{
		Length: n * ps, Prot: prot, Flags: flags, File: "dev", Readable: true, Writable: true,
		Map: func(a *copyuser.Area) error {
			a.Ops = ops
			for i, p := range pages {
				a.RemapPFN(i, p)
			}
			return nil
		},
	}
}

func TestMmapErrors(t *testing.T) {
	file := func(change func(*copyuser.MmapRequest)) copyuser.MmapRequest {
		req := device(1, rw, syscall.MAP_SHARED, nil)
		change(&req)
		return req
	}
	anon := func(change func(*copyuser.MmapRequest)) copyuser.MmapRequest {
		req := copyuser.MmapRequest{Length: ps, Prot: rw, Flags: syscall.MAP_PRIVATE}
		change(&req)
		return req
	}
	for _, c := range []struct {
		name string
		req  copyuser.MmapRequest
		want error // nil for success
	}{
		{"one byte", anon(func(r *copyuser.MmapRequest) { r.Length = 1 }), nil},
		{"no length", anon(func(r *copyuser.MmapRequest) { r.Length = 0 }), rule.MmapZeroLength},
		{"length wraps", anon(func(r *copyuser.MmapRequest) { r.Length = ^uint64(0) }), rule.MmapLengthWraps},
		{"longer than the user's half", anon(func(r *copyuser.MmapRequest) { r.Length = 1 << 48 }), rule.MmapNoRoom},
		{"as long as the user's half", anon(func(r *copyuser.MmapRequest) { r.Length = 0x7ffffffff000 }), rule.MmapNoRoom},
		{"offset wraps", file(func(r *copyuser.MmapRequest) { r.Pgoff = ^uint64(0) }), rule.MmapOffsetWraps},
		{"offset beyond any file", file(func(r *copyuser.MmapRequest) { r.Pgoff = 1<<52 - 1 }), rule.MmapFileOffset},
		{"largest offset", file(func(r *copyuser.MmapRequest) { r.Pgoff = 1<<52 - 2 }), nil},
		{"no type", anon(func(r *copyuser.MmapRequest) { r.Flags = 0 }), rule.MmapType},
		{"no type, file", file(func(r *copyuser.MmapRequest) { r.Flags = 0 }), rule.MmapType},
		{"validated, no file", anon(func(r *copyuser.MmapRequest) { r.Flags = copyuser.MAP_SHARED_VALIDATE }), rule.MmapType},
		{"validated", file(func(r *copyuser.MmapRequest) { r.Flags = copyuser.MAP_SHARED_VALIDATE }), nil},
		{"validated, MAP_SYNC", file(func(r *copyuser.MmapRequest) { r.Flags = copyuser.MAP_SHARED_VALIDATE | 0x80000 }), rule.MmapFlagsUnsupported},
		{"shared, MAP_SYNC", file(func(r *copyuser.MmapRequest) { r.Flags |= 0x80000 }), nil},
		{"write, file read-only", file(func(r *copyuser.MmapRequest) { r.Writable = false }), rule.MmapWriteShared},
		{"read, file read-only", file(func(r *copyuser.MmapRequest) { r.Writable, r.Prot = false, ro }), nil},
		{"private write, file read-only", file(func(r *copyuser.MmapRequest) { r.Writable, r.Flags = false, syscall.MAP_PRIVATE }), nil},
		{"file write-only", file(func(r *copyuser.MmapRequest) { r.Readable = false }), rule.MmapNotReadable},
		{"private, file write-only", file(func(r *copyuser.MmapRequest) { r.Readable, r.Flags = false, syscall.MAP_PRIVATE }), rule.MmapNotReadable},
		{"no operation", file(func(r *copyuser.MmapRequest) { r.Map = nil }), rule.MmapNoOperation},
		{"no operation, write-only", file(func(r *copyuser.MmapRequest) { r.Map, r.Readable = nil, false }), rule.MmapNotReadable},
		{"driver refuses", file(func(r *copyuser.MmapRequest) {
			r.Map = func(*copyuser.Area) error { return syscall.EINVAL }
		}), syscall.EINVAL},
		{"fixed", anon(func(r *copyuser.MmapRequest) { r.Flags |= syscall.MAP_FIXED; r.Addr = 0x10000 }), nil},
		{"fixed, unaligned", anon(func(r *copyuser.MmapRequest) { r.Flags |= syscall.MAP_FIXED; r.Addr = 0x10001 }), rule.MmapFixedUnaligned},
		{"fixed, last page", anon(func(r *copyuser.MmapRequest) { r.Flags |= syscall.MAP_FIXED; r.Addr = copyuser.TaskSizeMax - ps }), nil},
		{"fixed, beyond", anon(func(r *copyuser.MmapRequest) { r.Flags |= syscall.MAP_FIXED; r.Addr = copyuser.TaskSizeMax }), rule.MmapNoRoom},
		{"fixed, wraps", anon(func(r *copyuser.MmapRequest) { r.Flags |= syscall.MAP_FIXED; r.Addr = 0xfffffffffffff000 }), rule.MmapNoRoom},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, cur := copyuser.NewAddressSpace(), newCurrent()
			a, err := m.Mmap(cur, c.req)
			require.True(t, errors.Is(err, c.want), "%v", err)
			if c.want != nil {
				require.Zero(t, a)
				require.Zero(t, m.Areas())
				require.Zero(t, cur.refs["dev"])
				return
			}
			require.Equal(t, 1, m.Areas())
			require.NotNil(t, m.Find(a))
			if c.req.File != nil {
				require.Equal(t, 1, cur.refs["dev"])
			}
		})
	}
}

// TestMmapNoMemory: a mapping that cannot be described is not made.
func TestMmapNoMemory(t *testing.T) {
	m := copyuser.NewAddressSpace()
	_, err := m.Mmap(failing("vm_area_alloc"), copyuser.MmapRequest{Length: ps, Flags: syscall.MAP_PRIVATE})
	require.ErrorIs(t, err, rule.MmapAlloc)
	require.Zero(t, m.Areas())
}

// TestMmapPlace: mappings go downwards, each with an unmapped page around it,
// and a gap is used again.
func TestMmapPlace(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a, b, c := mapAnon(t, m, 1), mapAnon(t, m, 3), mapAnon(t, m, 2)
	require.Equal(t, []copyuser.Addr{0x7ffff7ffd000, 0x7ffff7ff9000, 0x7ffff7ff6000}, []copyuser.Addr{a, b, c})
	require.NoError(t, m.Munmap(nil, b, 3*ps))
	require.Equal(t, copyuser.Addr(0x7ffff7ff1000), mapAnon(t, m, 4), "five pages do not hold four and one on both sides")
}

func TestMmapGapReused(t *testing.T) {
	m := copyuser.NewAddressSpace()
	mapAnon(t, m, 1)
	b := mapAnon(t, m, 3)
	mapAnon(t, m, 2)
	require.NoError(t, m.Munmap(nil, b, 3*ps))
	require.Equal(t, b, mapAnon(t, m, 3), "highest gap that fits")
}

func TestMmapHint(t *testing.T) {
	m := copyuser.NewAddressSpace()
	at := func(hint copyuser.Addr) copyuser.Addr {
		a, err := m.Mmap(nil, copyuser.MmapRequest{Addr: hint, Length: ps, Prot: rw, Flags: syscall.MAP_PRIVATE})
		require.NoError(t, err)
		return a
	}
	require.Equal(t, copyuser.Addr(0x40000), at(0x40fff), "rounded down")
	require.Equal(t, copyuser.Addr(0x10000), at(0x1000), "not below mmap_min_addr")
	require.Equal(t, copyuser.Addr(0x7ffff7ffd000), at(0xfff), "page 0 is no hint")
	require.Equal(t, copyuser.Addr(0x7ffff7ffb000), at(0x40000), "taken: elsewhere")
	require.Equal(t, copyuser.Addr(0x7ffff7ff9000), at(0xffff800000000000), "not the user's: elsewhere")
}

// TestMmapFixed: a fixed mapping replaces what it covers; with NOREPLACE it
// does not.
func TestMmapFixed(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 3)
	require.Equal(t, 3*int(ps), m.CopyOut(a, pattern(3*ps)))
	req := copyuser.MmapRequest{Addr: a + ps, Length: ps, Prot: ro, Flags: syscall.MAP_PRIVATE | copyuser.MAP_FIXED_NOREPLACE}
	_, err := m.Mmap(nil, req)
	require.ErrorIs(t, err, rule.MmapFixedOccupied)
	req.Flags = syscall.MAP_PRIVATE | syscall.MAP_FIXED
	got, err := m.Mmap(nil, req)
	require.NoError(t, err)
	require.Equal(t, a+ps, got)
	require.Equal(t, 3, m.Areas())

	page := make([]byte, ps)
	require.True(t, m.Load(a+ps, page))
	require.True(t, zero(page))
	require.False(t, m.Store(a+ps, page))
	require.True(t, m.Load(a, page))
	require.Equal(t, pattern(3 * ps)[:ps], page)
	require.True(t, m.Load(a+2*ps, page))
	require.Equal(t, pattern(3 * ps)[2*ps:], page)
}

// TestMmapReadOnlyFile: a shared mapping of a file that was opened for reading
// is not VM_SHARED, and may never be written.
func TestMmapReadOnlyFile(t *testing.T) {
	m := copyuser.NewAddressSpace()
	req := device(1, ro, syscall.MAP_SHARED, nil, copyuser.NewPage())
	req.Writable = false
	a, err := m.Mmap(nil, req)
	require.NoError(t, err)
	require.Zero(t, m.Find(a).Flags&(copyuser.VM_SHARED|copyuser.VM_MAYWRITE))
	require.NotZero(t, m.Find(a).Flags&copyuser.VM_MAYSHARE)
	require.ErrorIs(t, m.Mprotect(nil, a, ps, rw), rule.MprotectMayNot)
}

func TestMunmapErrors(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 2)
	for _, c := range []struct {
		name string
		a    copyuser.Addr
		n    uint64
		want error
	}{
		{"unaligned", a + 1, ps, rule.MunmapRange},
		{"no length", a, 0, rule.MunmapEmpty},
		{"kernel", 0xffff800000000000, ps, rule.MunmapRange},
		{"reaches beyond", copyuser.TaskSizeMax - ps, ps + 1, rule.MunmapRange},
		{"wraps", a, ^uint64(0), rule.MunmapRange},
		{"nothing there", 0x10000, ps, nil},
		{"end of the user's half", copyuser.TaskSizeMax - ps, ps, nil},
	} {
		require.True(t, errors.Is(m.Munmap(nil, c.a, c.n), c.want), c.name)
		require.Equal(t, 2*int(ps), m.CopyOut(a, make([]byte, 2*ps)), "%s: the mapping stays", c.name)
	}
	require.NoError(t, m.Munmap(nil, a+ps, 1), "a byte is a page")
	require.Equal(t, int(ps), m.CopyOut(a, make([]byte, 2*ps)))
}

// vmaLog is a driver that writes down what it hears.
type vmaLog struct {
	log   []string
	split error
}

func (v *vmaLog) ops() *copyuser.AreaOps {
	return &copyuser.AreaOps{
		Open:     func(_ copyuser.Current, a *copyuser.Area) { v.note("open", a) },
		Close:    func(_ copyuser.Current, a *copyuser.Area) { v.note("close", a) },
		MaySplit: func(*copyuser.Area, copyuser.Addr) error { return v.split },
	}
}

func (v *vmaLog) note(what string, a *copyuser.Area) {
	v.log = append(v.log, what+" "+string('0'+rune(a.Pgoff))+"+"+string('0'+rune(a.Pages())))
}

func (v *vmaLog) take() []string {
	log := v.log
	v.log = nil
	return log
}

// TestMunmapSplits: what the driver hears of a munmap, and which references to
// the file are left.
func TestMunmapSplits(t *testing.T) {
	for _, c := range []struct {
		name     string
		off, n   uint64
		log      []string
		refs     int
		areas    int
		readable string // which of the five pages are left
	}{
		{"all", 0, 5, []string{"close 0+5"}, 0, 0, "....."},
		{"start", 0, 2, []string{"open 2+3", "close 0+2"}, 1, 1, "..xxx"},
		{"end", 3, 2, []string{"open 0+3", "close 3+2"}, 1, 1, "xxx.."},
		{"middle", 1, 3, []string{"open 0+1", "open 4+1", "close 1+3"}, 2, 2, "x...x"},
		{"more than all", 0, 9, []string{"close 0+5"}, 0, 0, "....."},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, cur, v := copyuser.NewAddressSpace(), newCurrent(), &vmaLog{}
			a, err := m.Mmap(cur, device(5, rw, syscall.MAP_SHARED, v.ops(), fivePages()...))
			require.NoError(t, err)
			require.NoError(t, m.Munmap(cur, a+copyuser.Addr(c.off*ps), c.n*ps))
			require.Equal(t, c.log, v.take())
			require.Equal(t, c.refs, cur.refs["dev"])
			require.Equal(t, c.areas, m.Areas())
			require.Equal(t, c.readable, readable(m, a, 5))
		})
	}
}

func fivePages() (pages []*copyuser.Page) {
	for range 5 {
		pages = append(pages, copyuser.NewPage())
	}
	return pages
}

// readable draws which of n pages can be read.
func readable(m *copyuser.AddressSpace, a copyuser.Addr, n int) (s string) {
	for i := range n {
		if m.Load(a+copyuser.Addr(i)*ps, make([]byte, 1)) {
			s += "x"
		} else {
			s += "."
		}
	}
	return s
}

// TestSplitRefused: where an area may not be split, or there is no memory for
// it, nothing is unmapped and no protection changes.
func TestSplitRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		split error
		cur   *current
		want  error
	}{
		{"by the driver", syscall.EINVAL, newCurrent(), syscall.EINVAL},
		{"for want of memory", nil, failing("vm_area_dup"), rule.SplitAlloc},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, v := copyuser.NewAddressSpace(), &vmaLog{split: c.split}
			a, err := m.Mmap(newCurrent(), device(5, rw, syscall.MAP_SHARED, v.ops(), fivePages()...))
			require.NoError(t, err)
			for _, off := range []copyuser.Addr{0, ps, 4 * ps} {
				require.ErrorIs(t, m.Munmap(c.cur, a+off, ps), c.want)
				require.ErrorIs(t, m.Mprotect(c.cur, a+off, ps, ro), c.want)
			}
			require.Equal(t, "xxxxx", readable(m, a, 5))
			require.True(t, m.Store(a, pattern(5*ps)))
			require.Empty(t, v.take())
			require.NoError(t, m.Munmap(c.cur, a, 5*ps), "all of it needs no split")
		})
	}
}

func TestMprotectErrors(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 2)
	for _, c := range []struct {
		name string
		a    copyuser.Addr
		n    uint64
		prot int
		want error
	}{
		{"unaligned", a + 1, ps, ro, rule.MprotectUnaligned},
		{"no length", a, 0, ro, nil},
		{"no length, nothing there", 0x10000, 0, ro, nil},
		{"no length, unaligned", a + 1, 0, ro, rule.MprotectUnaligned},
		{"wraps", a, ^uint64(0) - 0x1000, ro, rule.MprotectWraps},
		{"unknown bit", a, ps, 0x10, rule.MprotectProt},
		{"PROT_SEM", a, ps, rw | 8, nil},
		{"nothing there", 0x10000, ps, ro, rule.MprotectHole},
		{"hole at the start", a - ps, 2 * ps, ro, rule.MprotectHole},
		{"kernel", 0xffff800000000000, ps, ro, rule.MprotectHole},
	} {
		require.True(t, errors.Is(m.Mprotect(nil, c.a, c.n, c.prot), c.want), c.name)
		require.True(t, m.Store(a, make([]byte, 2*ps)), "%s: nothing changed", c.name)
	}
	require.ErrorIs(t, m.Mprotect(nil, a, 3*ps, ro), rule.MprotectHole)
	require.False(t, m.Store(a, []byte{1}), "what lies before the hole has changed")
}

// TestMprotect: each protection permits what it says; on x86 whatever can be
// written or executed can be read.
func TestMprotect(t *testing.T) {
	for _, c := range []struct {
		prot        int
		load, store bool
	}{
		{syscall.PROT_NONE, false, false},
		{syscall.PROT_READ, true, false},
		{syscall.PROT_WRITE, true, true},
		{syscall.PROT_EXEC, true, false},
		{rw, true, true},
		{rw | syscall.PROT_EXEC, true, true},
	} {
		for _, touched := range []bool{true, false} {
			m := copyuser.NewAddressSpace()
			a := mapAnon(t, m, 3)
			if touched {
				require.True(t, m.Store(a, pattern(3*ps)))
			}
			require.NoError(t, m.Mprotect(nil, a+ps, ps, c.prot))
			var b [1]byte
			require.Equal(t, c.load, m.Load(a+ps, b[:]), "prot %d", c.prot)
			require.Equal(t, c.store, m.Store(a+ps, b[:]), "prot %d", c.prot)
			require.True(t, m.Store(a, b[:]) && m.Store(a+2*ps, b[:]), "the neighbours are as they were")
			require.NoError(t, m.Mprotect(nil, a+ps, ps, rw))
			require.True(t, m.Store(a+ps, b[:]))
			require.Equal(t, 1, m.Areas(), "equal neighbours are one area again")
			if touched {
				require.True(t, m.Load(a+ps+1, b[:]))
				require.Equal(t, pattern(3 * ps)[ps+1], b[0], "contents stay")
			}
		}
	}
}

// TestMprotectMayNot: a driver takes a right away for good.
func TestMprotectMayNot(t *testing.T) {
	m := copyuser.NewAddressSpace()
	req := device(1, ro, syscall.MAP_SHARED, nil)
	req.Map = func(a *copyuser.Area) error {
		a.Flags &^= copyuser.VM_MAYWRITE
		a.RemapPFN(0, copyuser.NewPage())
		return nil
	}
	a, err := m.Mmap(nil, req)
	require.NoError(t, err)
	require.ErrorIs(t, m.Mprotect(nil, a, ps, rw), syscall.EACCES)
	require.NoError(t, m.Mprotect(nil, a, ps, syscall.PROT_NONE))
	require.NoError(t, m.Mprotect(nil, a, ps, ro))
	require.True(t, m.Load(a, make([]byte, 1)))
}

func TestMremap(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 2)
	require.True(t, m.Store(a, pattern(2*ps)))

	same, err := m.Mremap(nil, a, 2*ps, 2*ps, 0, 0)
	require.NoError(t, err)
	require.Equal(t, a, same)

	shrunk, err := m.Mremap(nil, a, 2*ps, ps, 0, 0)
	require.NoError(t, err)
	require.Equal(t, a, shrunk)
	require.Equal(t, "x.", readable(m, a, 2))

	grown, err := m.Mremap(nil, a, ps, 2*ps, 0, 0)
	require.NoError(t, err)
	require.Equal(t, a, grown, "there is room")
	require.Equal(t, "xx", readable(m, a, 2))

	_, err = m.Mmap(nil, copyuser.MmapRequest{Addr: a + 2*ps, Length: ps, Prot: ro, Flags: syscall.MAP_PRIVATE | syscall.MAP_FIXED})
	require.NoError(t, err)
	_, err = m.Mremap(nil, a, 2*ps, 3*ps, 0, 0)
	require.ErrorIs(t, err, rule.MremapStays)
	moved, err := m.Mremap(nil, a, 2*ps, 3*ps, copyuser.MREMAP_MAYMOVE, 0)
	require.NoError(t, err)
	require.NotEqual(t, a, moved)
	require.Equal(t, "..", readable(m, a, 2))
	got := make([]byte, 3*ps)
	require.True(t, m.Load(moved, got))
	require.Equal(t, pattern(2 * ps)[:ps], got[:ps])
	require.True(t, zero(got[ps:]), "the page that went and came is new")

	fixed, err := m.Mremap(nil, moved+ps, 2*ps, ps, copyuser.MREMAP_MAYMOVE|copyuser.MREMAP_FIXED, a+2*ps)
	require.NoError(t, err)
	require.Equal(t, a+2*ps, fixed)
	require.Equal(t, "x..", readable(m, moved, 3))
	require.True(t, m.Store(fixed, pattern(ps)), "the mapping there was replaced")
}

// TestMremapMerge: untouched memory joins its new neighbour; what has pages
// keeps the offsets that it had, and stays an area of its own.
func TestMremapMerge(t *testing.T) {
	for touched, areas := range map[bool]int{false: 1, true: 2} {
		m := copyuser.NewAddressSpace()
		a, b := mapAnon(t, m, 1), mapAnon(t, m, 1)
		if touched {
			require.True(t, m.Store(b, []byte{1}))
		}
		_, err := m.Mremap(nil, b, ps, ps, copyuser.MREMAP_MAYMOVE|copyuser.MREMAP_FIXED, a+ps)
		require.NoError(t, err)
		require.Equal(t, areas, m.Areas(), "touched %v", touched)
		require.Equal(t, "xx", readable(m, a, 2))
	}
}

// TestMremapShared: an old length of 0 maps shared memory a second time.
func TestMremapShared(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a, err := m.Mmap(nil, copyuser.MmapRequest{Length: ps, Prot: rw, Flags: syscall.MAP_SHARED})
	require.NoError(t, err)
	twice, err := m.Mremap(nil, a, 0, ps, copyuser.MREMAP_MAYMOVE, 0)
	require.NoError(t, err)
	require.True(t, m.Store(a, []byte("shared")))
	got := make([]byte, 6)
	require.True(t, m.Load(twice, got))
	require.Equal(t, "shared", string(got))
}

func TestMremapErrors(t *testing.T) {
	const move, fixed = copyuser.MREMAP_MAYMOVE, copyuser.MREMAP_MAYMOVE | copyuser.MREMAP_FIXED
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 2)
	dev, err := m.Mmap(nil, device(2, rw, syscall.MAP_SHARED, nil, fivePages()[:2]...))
	require.NoError(t, err)
	for _, c := range []struct {
		name           string
		old            copyuser.Addr
		oldLen, newLen uint64
		flags          int
		to             copyuser.Addr
		want           error
	}{
		{"unknown flag", a, ps, ps, 8, 0, rule.MremapFlags},
		{"MREMAP_DONTUNMAP", a, ps, ps, move | 4, 0, rule.MremapFlags},
		{"fixed, not to move", a, ps, ps, copyuser.MREMAP_FIXED, 0x10000, rule.MremapFixedStays},
		{"unaligned", a + 1, ps, ps, move, 0, rule.MremapUnaligned},
		{"no new length", a, ps, 0, move, 0, rule.MremapZeroLength},
		{"nothing there", 0x10000, ps, ps, move, 0, rule.MremapUnmapped},
		{"private twice", a, 0, ps, move, 0, rule.MremapPrivateTwice},
		{"beyond the area", a, 3 * ps, 4 * ps, move, 0, rule.MremapBeyondArea},
		{"device, longer", dev, 2 * ps, 3 * ps, move, 0, rule.MremapDontExpand},
		{"device, longer than the area", dev, 3 * ps, 4 * ps, move, 0, rule.MremapBeyondArea},
		{"too long", a, 2 * ps, 1 << 48, move, 0, rule.MmapNoRoom},
		{"offset wraps", a, 2 * ps, 1<<64 - ps, move, 0, rule.MmapNoRoom},
		{"fixed, unaligned", a, ps, ps, fixed, 0x10001, rule.MremapTarget},
		{"fixed, kernel", a, ps, ps, fixed, 0xffff800000000000, rule.MremapTarget},
		{"fixed, overlap", a, 2 * ps, 2 * ps, fixed, a + ps, rule.MremapOverlap},
		{"fixed, device, longer", dev, ps, 2 * ps, fixed, 0x10000, rule.MremapDontExpand},
	} {
		_, err := m.Mremap(newCurrent(), c.old, c.oldLen, c.newLen, c.flags, c.to)
		require.ErrorIs(t, err, c.want, c.name)
		require.Equal(t, "xx", readable(m, a, 2), c.name)
		require.Equal(t, "xx", readable(m, dev, 2), c.name)
	}
	_, err = m.Mremap(failing("vm_area_dup"), a, ps, ps, fixed, 0x10000)
	require.ErrorIs(t, err, rule.MremapAlloc)
	require.Equal(t, "xx", readable(m, a, 2))
}

// TestMremapDevice: a device's mapping may move; its pages go along and the
// driver hears of it.
func TestMremapDevice(t *testing.T) {
	m, cur, v := copyuser.NewAddressSpace(), newCurrent(), &vmaLog{}
	a, err := m.Mmap(cur, device(2, rw, syscall.MAP_SHARED, v.ops(), fivePages()[:2]...))
	require.NoError(t, err)
	require.True(t, m.Store(a, pattern(2*ps)))
	to, err := m.Mremap(cur, a, 2*ps, 2*ps, copyuser.MREMAP_MAYMOVE|copyuser.MREMAP_FIXED, 0x40000)
	require.NoError(t, err)
	require.Equal(t, copyuser.Addr(0x40000), to)
	require.Equal(t, []string{"open 0+2", "close 0+2"}, v.take())
	require.Equal(t, 1, cur.refs["dev"])
	got := make([]byte, 2*ps)
	require.True(t, m.Load(to, got))
	require.Equal(t, pattern(2*ps), got)
	require.Equal(t, "..", readable(m, a, 2))
}

// TestExit: the last user's Mmput closes every area and puts every file.
func TestExit(t *testing.T) {
	m, cur, v := copyuser.NewAddressSpace(), newCurrent(), &vmaLog{}
	for range 3 {
		_, err := m.Mmap(cur, device(1, rw, syscall.MAP_SHARED, v.ops(), copyuser.NewPage()))
		require.NoError(t, err)
	}
	require.True(t, m.MmgetNotZero())
	m.Mmput(cur)
	require.Empty(t, v.take())
	require.Equal(t, 3, cur.refs["dev"])
	m.Mmput(cur)
	require.Equal(t, []string{"close 0+1", "close 0+1", "close 0+1"}, v.take())
	require.Zero(t, cur.refs["dev"])
	require.Zero(t, m.Areas())
	require.False(t, m.MmgetNotZero())
}

// TestMaxMapCount: splitting one area page by page ends at vm.max_map_count.
func TestMaxMapCount(t *testing.T) {
	const limit = 65530
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, limit+2)
	var err error
	at := a
	for ; err == nil; at += 2 * ps {
		err = m.Mprotect(nil, at+ps, ps, ro)
	}
	require.ErrorIs(t, err, rule.SplitTooManyAreas)
	require.Equal(t, limit, m.Areas())
	require.ErrorIs(t, m.Munmap(nil, at, ps), rule.MunmapTooManyAreas, "the middle of the last area")
	_, err = m.Mremap(nil, a, ps, ps, copyuser.MREMAP_MAYMOVE|copyuser.MREMAP_FIXED, 0x10000)
	require.ErrorIs(t, err, rule.MremapTooManyAreas)
	_, err = m.Mremap(nil, a, ps, 2*ps, copyuser.MREMAP_MAYMOVE, 0)
	require.ErrorIs(t, err, rule.MremapTooManyAreas)

	_, err = m.Mmap(nil, copyuser.MmapRequest{Addr: 0x10000, Length: ps, Flags: syscall.MAP_PRIVATE})
	require.NoError(t, err, "mmap itself looks whether the limit is passed already")
	_, err = m.Mmap(nil, copyuser.MmapRequest{Addr: 0x20000, Length: ps, Flags: syscall.MAP_PRIVATE})
	require.ErrorIs(t, err, rule.MmapTooManyAreas)
	require.NoError(t, m.Munmap(nil, a, ps))
}
