package live

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/rule"
)

// TestPin: what can be pinned, by the areas it takes.
func TestPin(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 4, rw, unix.MAP_PRIVATE)
	p.mprotect(t, free+ps, 1, ro)
	p.mprotect(t, free+2*ps, 1, unix.PROT_NONE)
	p.mmap(t, free+10*ps, 1, rw, unix.MAP_SHARED)
	p.mmap(t, free+11*ps, 1, ro, unix.MAP_SHARED)
	p.mapFile(t, free+20*ps, 3, rw, unix.MAP_SHARED, ps+1)
	p.mapFile(t, free+30*ps, 3, rw, unix.MAP_PRIVATE, ps+1)
	s := p.space(t)
	page := func(i copyuser.Addr) copyuser.Addr { return free + i*ps }
	for _, c := range []struct {
		name                string
		from                copyuser.Addr
		pages               uint64
		read, write, forced error
	}{
		{"private", page(0), 1, nil, nil, nil},
		{"private, read", page(1), 1, nil, rule.PinWrite, nil},
		{"private, none", page(2), 1, rule.PinRead, rule.PinWrite, nil},
		{"private, the first that may not is", page(0), 4, rule.PinRead, rule.PinWrite, nil},
		{"across the end", page(3), 2, rule.PinUnmapped, rule.PinUnmapped, rule.PinUnmapped},
		{"before the start", page(0) - ps, 2, rule.PinUnmapped, rule.PinUnmapped, rule.PinUnmapped},
		{"nothing", page(6), 1, rule.PinUnmapped, rule.PinUnmapped, rule.PinUnmapped},
		{"shared", page(10), 1, nil, nil, nil},
		{"shared, read", page(11), 1, nil, rule.PinWrite, rule.PinWrite},
		{"shared file", page(20), 2, nil, nil, nil},
		{"shared file behind its end", page(20), 3, rule.PinFault, rule.PinFault, rule.PinFault},
		{"private file", page(30), 2, nil, nil, nil},
		{"private file behind its end", page(32), 1, rule.PinFault, rule.PinFault, rule.PinFault},
		{"kernel", 1 << 63, 1, rule.PinRange, rule.PinRange, rule.PinRange},
		{"to the end of numbers", ^copyuser.Addr(0) - ps + 1, 2, rule.PinWraps, rule.PinWraps, rule.PinWraps},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(want error, pin *copyuser.Pin, err error) {
				t.Helper()
				if want != nil {
					require.Equal(t, want, err)
					require.Zero(t, s.PinnedPages())
					return
				}
				require.NoError(t, err)
				require.Len(t, pin.Pages(), int(c.pages))
				require.Equal(t, int(c.pages), s.PinnedPages())
				pin.Unpin()
				require.Zero(t, s.PinnedPages())
			}
			pin, err := s.Pin(c.from, c.pages*ps, false)
			check(c.read, pin, err)
			pin, err = s.Pin(c.from, c.pages*ps, true)
			check(c.write, pin, err)
			pin, err = s.PinForced(c.from, c.pages*ps)
			check(c.forced, pin, err)
		})
	}
}

// TestPinEmpty pins nothing, wherever.
func TestPinEmpty(t *testing.T) {
	pin, err := start(t).space(t).Pin(0, 0, true)
	require.NoError(t, err)
	require.Empty(t, pin.Pages())
}

// TestPinDevice: pages that map the device cannot be pinned; what the process
// has put in their place can.
func TestPinDevice(t *testing.T) {
	p := start(t)
	p.mapFile(t, free, 1, rw, unix.MAP_SHARED, ps)
	p.mapFile(t, free+ps, 1, rw, unix.MAP_SHARED, ps)
	s := p.space(t)
	maps := s.Mappings(free, free+2*ps)
	require.Len(t, maps, 2)
	require.NotEqual(t, maps[0].File, maps[1].File)
	s.IsDevice = func(id FileID, _ uint64) bool { return id == maps[1].File }
	pin, err := s.Pin(free, ps, true)
	require.NoError(t, err, "another file")
	pin.Unpin()
	_, err = s.Pin(free+ps, ps, true)
	require.Equal(t, rule.PinIO, err)
	_, err = s.Pin(free, 2*ps, false)
	require.Equal(t, rule.PinIO, err)
	_, err = s.PinForced(free+ps, 1)
	require.Equal(t, rule.PinIO, err)
	require.Equal(t, rule.HMMArea, s.RangeFault(free, make([]copyuser.RangePage, 2), true, false))

	p.mmap(t, free+ps, 1, rw, unix.MAP_PRIVATE)
	pin, err = s.Pin(free, 2*ps, true)
	require.NoError(t, err)
	pin.Unpin()
}

// TestPinKernelPages: what the kernel has put into the process is not memory.
func TestPinKernelPages(t *testing.T) {
	p := start(t)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.cmd.Process.Pid))
	require.NoError(t, err)
	for line := range bytes.Lines(text) {
		if m, ok := parseLine(line); ok && bytes.HasSuffix(line, []byte("[vvar]\n")) {
			_, err := p.space(t).Pin(m.start, 1, false)
			require.Equal(t, rule.PinFault, err)
			return
		}
	}
	t.Skip("the kernel has put no pages of data into the process")
}

// pinned pins pages for writing.
func pinned(t testing.TB, s *Space, a copyuser.Addr, n uint64) *copyuser.Pin {
	t.Helper()
	pin, err := s.Pin(a, n, true)
	require.NoError(t, err)
	t.Cleanup(pin.Unpin)
	return pin
}

func readAt(t testing.TB, pin *copyuser.Pin, n int, off int64) string {
	t.Helper()
	got := make([]byte, n)
	_, err := pin.ReadAt(got, off)
	require.NoError(t, err)
	return string(got)
}

func writeAt(t testing.TB, pin *copyuser.Pin, b string, off int64) {
	t.Helper()
	_, err := pin.WriteAt([]byte(b), off)
	require.NoError(t, err)
}

// TestDMA: the device and the process see what the other wrote, whatever length
// and place it has.
func TestDMA(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 3, rw, unix.MAP_PRIVATE)
	s := p.space(t)
	pin := pinned(t, s, free, 3*ps)
	for _, n := range []int{1, 2, 4, 7, 8, 9, 12, 15, 16, 17, 63, 64, 65, 127, 128, 129, ps, ps + 8, 2 * ps} {
		for _, off := range []int64{0, 1, 8, 60, ps - 64, ps - 1} {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(n + i + int(off) | 1)
			}
			s.Clear(free, 3*ps)
			writeAt(t, pin, string(b), off)
			want := make([]byte, 3*ps)
			copy(want[off:], b)
			require.Equal(t, string(want), p.load(t, free, 3*ps), "%d bytes at %d", n, off)
			require.Equal(t, string(b), readAt(t, pin, n, off))
		}
	}
}

// TestDMAAfterProtection: what is pinned stays open to the device.
func TestDMAAfterProtection(t *testing.T) {
	for _, prot := range []int{unix.PROT_NONE, ro} {
		p := start(t)
		p.mmap(t, free, 1, rw, unix.MAP_PRIVATE)
		p.store(t, free, "process")
		pin := pinned(t, p.space(t), free, ps)
		p.mprotect(t, free, 1, prot)
		require.Equal(t, "process", readAt(t, pin, 7, 0))
		writeAt(t, pin, "DMA", 100)
		p.mprotect(t, free, 1, rw)
		require.Equal(t, "DMA", p.load(t, free+100, 3))
	}
}

// TestDMAToNothing: memory that is gone reads as zeros and loses writes, to the
// byte where it begins.
func TestDMAToNothing(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 3, rw, unix.MAP_PRIVATE)
	p.store(t, free, string(make([]byte, 3*ps)))
	pin := pinned(t, p.space(t), free, 3*ps)
	writeAt(t, pin, "first second", ps-6)
	p.munmap(t, free+ps, 1)
	require.Equal(t, "first \x00\x00\x00", readAt(t, pin, 9, ps-6))
	writeAt(t, pin, "FIRST SECOND", ps-6)
	require.Equal(t, "FIRST \x00\x00\x00", readAt(t, pin, 9, ps-6))
	writeAt(t, pin, "third", 2*ps)
	require.Equal(t, "third", p.load(t, free+2*ps, 5))

	p.mmap(t, free+ps, 1, rw, unix.MAP_PRIVATE)
	writeAt(t, pin, "again", ps)
	require.Equal(t, "again", p.load(t, free+ps, 5), "the new mapping")

	p.kill(t)
	require.Equal(t, string(make([]byte, 2*ps)), readAt(t, pin, 2*ps, 0))
	writeAt(t, pin, string(make([]byte, 2*ps)), 0)
}

// TestDMAToFile: shared memory is what others see of the file, too.
func TestDMAToFile(t *testing.T) {
	p := start(t)
	path := p.mapFile(t, free, 1, rw, unix.MAP_SHARED, ps)
	pin := pinned(t, p.space(t), free, ps)
	writeAt(t, pin, "device", 10)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "device", string(b[10:16]))
	require.NoError(t, os.Truncate(path, 0))
	require.Equal(t, "\x00\x00", readAt(t, pin, 2, 10))
	writeAt(t, pin, "lost", 10)
}

// TestRangeFault finds what a device that pages on demand may use.
func TestRangeFault(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 3, rw, unix.MAP_PRIVATE)
	p.store(t, free, "process")
	p.mprotect(t, free+ps, 1, ro)
	p.mprotect(t, free+2*ps, 1, unix.PROT_NONE)
	p.mapFile(t, free+4*ps, 2, rw, unix.MAP_SHARED, ps)
	s := p.space(t)
	for _, c := range []struct {
		name        string
		from, pages copyuser.Addr
		write       bool
		want        error
	}{
		{"read", 0, 2, false, nil},
		{"write", 0, 1, true, nil},
		{"write to what is read-only", 0, 2, true, rule.HMMWrite},
		{"no access", 1, 2, false, rule.HMMArea},
		{"nothing", 3, 1, false, rule.HMMUnmapped},
		{"file", 4, 1, true, nil},
		{"behind the end of a file", 4, 2, true, rule.HMMFault},
	} {
		t.Run(c.name, func(t *testing.T) {
			pages := make([]copyuser.RangePage, c.pages)
			err := s.RangeFault(free+c.from*ps, pages, true, c.write)
			if c.want != nil {
				require.Equal(t, c.want, err)
				return
			}
			require.NoError(t, err)
			for i, p := range pages {
				require.NotNil(t, p.Page)
				require.Equal(t, c.from+copyuser.Addr(i) != 1, p.Write)
			}
		})
	}

	pages := make([]copyuser.RangePage, 6)
	require.NoError(t, s.RangeFault(free+8, pages, false, true))
	var there []bool
	for _, p := range pages {
		there = append(there, p.Page != nil)
	}
	require.Equal(t, []bool{true, true, false, false, true, false}, there)
	got := make([]byte, 7)
	pages[0].Page.Load(0, got)
	require.Equal(t, "process", string(got))
	pages[0].Page.Store(0, []byte("device."))
	require.Equal(t, "device.", p.load(t, free, 7))
	require.Zero(t, s.PinnedPages())
}
