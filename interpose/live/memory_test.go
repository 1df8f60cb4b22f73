package live

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/sim_test/memtest"
)

// TestMemory: a live process's memory is what a simulated one's is.
func TestMemory(t *testing.T) {
	p := start(t)
	buffer := func(t *testing.T, n uint64) memtest.Buffer {
		return memtest.Buffer{Memory: p.space(t), Start: free + ps, N: n * ps}
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T) memtest.Buffer
	}{
		{"one page", func(t *testing.T) memtest.Buffer {
			p.munmap(t, free, 64)
			p.mmap(t, free+ps, 1, rw, unix.MAP_PRIVATE)
			return buffer(t, 1)
		}},
		{"three pages between those of no access", func(t *testing.T) memtest.Buffer {
			p.mmap(t, free, 64, unix.PROT_NONE, unix.MAP_PRIVATE)
			p.mmap(t, free+ps, 3, rw, unix.MAP_PRIVATE)
			return buffer(t, 3)
		}},
		{"four mappings", func(t *testing.T) memtest.Buffer {
			p.munmap(t, free, 64)
			p.mmap(t, free+ps, 4, rw, unix.MAP_PRIVATE)
			p.mprotect(t, free+2*ps, 1, rw|unix.PROT_EXEC)
			p.mmap(t, free+3*ps, 1, rw, unix.MAP_SHARED)
			return buffer(t, 4)
		}},
		{"a shared file to its end", func(t *testing.T) memtest.Buffer {
			p.munmap(t, free, 64)
			p.mapFile(t, free+ps, 5, rw, unix.MAP_SHARED, 2*ps)
			return buffer(t, 2)
		}},
		{"a private file to its end", func(t *testing.T) memtest.Buffer {
			p.munmap(t, free, 64)
			p.mapFile(t, free+ps, 5, rw, unix.MAP_PRIVATE, 2*ps)
			return buffer(t, 2)
		}},
		{"during a call", func(t *testing.T) memtest.Buffer {
			p.munmap(t, free, 64)
			p.mmap(t, free+ps, 2, rw, unix.MAP_PRIVATE)
			b := buffer(t, 2)
			b.Memory.(*Space).Begin()
			return b
		}},
	} {
		t.Run(c.name, func(t *testing.T) { memtest.Run(t, c.make) })
	}
}

// TestMemoryOfSelf: the process may be the one that asks.
func TestMemoryOfSelf(t *testing.T) {
	memtest.Run(t, func(t *testing.T) memtest.Buffer {
		at := free + 0x100000000
		o := order{Op: "mmap", Addr: uint64(at), Len: 4 * ps, Prot: unix.PROT_NONE, Flags: unix.MAP_PRIVATE}
		require.NoError(t, o.do(nil))
		o = order{Op: "mprotect", Addr: uint64(at) + ps, Len: 2 * ps, Prot: rw}
		require.NoError(t, o.do(nil))
		s, err := Open(os.Getpid())
		require.NoError(t, err)
		t.Cleanup(s.Close)
		return memtest.Buffer{Memory: s, Start: at + ps, N: 2 * ps}
	})
}

// TestProtection: each access does what the processor would let it.
func TestProtection(t *testing.T) {
	p := start(t)
	s := p.space(t)
	for _, c := range []struct {
		name        string
		prot        int
		read, write bool
	}{
		{"none", unix.PROT_NONE, false, false},
		{"read", unix.PROT_READ, true, false},
		{"write", unix.PROT_WRITE, true, true},
		{"execute", unix.PROT_EXEC, true, false},
		{"read and write", rw, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The page stands between two of all rights.
			p.mmap(t, free, 3, rw, unix.MAP_PRIVATE)
			p.store(t, free+ps, "content")
			p.mprotect(t, free+ps, 1, c.prot)
			a := free + ps

			n := 8
			if c.read {
				n = 2 * ps
			}
			require.Equal(t, n, s.CopyIn(make([]byte, 2*ps), a-8), "across both ends")
			got := make([]byte, 7)
			require.Equal(t, c.read, s.Load(a, got))
			if c.read {
				require.Equal(t, "content", string(got))
			}
			_, ok := s.GetUint64(a + 8)
			require.Equal(t, c.read, ok)

			require.Equal(t, c.write, s.Store(a, []byte("changed")))
			require.Equal(t, c.write, s.PutUint64(a+ps-4, 1), "half of it is the next page's")
			require.Equal(t, c.write, s.PutUint64(a-4, 1), "half of it is the page's before")
			require.Equal(t, c.write, s.PutUint16(a+100, 1))
			n = 8
			if c.write {
				n = ps + 16
			}
			require.Equal(t, uint64(n), s.Clear(a-8, ps+16))

			p.mprotect(t, a, 1, rw)
			want := "content"
			if c.write {
				want = "\x00\x00\x00\x00\x00\x00\x00"
			}
			require.Equal(t, want, p.load(t, a, 7))
		})
	}
}

// TestHuge: a length that ends nowhere near is a fault where the mapping ends.
func TestHuge(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 40, rw, unix.MAP_PRIVATE)
	s := p.space(t)
	require.Equal(t, uint64(40*ps), s.Clear(free, 1<<45))
	require.Zero(t, s.Clear(free, 1<<63))
	require.Equal(t, 39*ps+1, s.CopyIn(make([]byte, 50*ps), free+ps-1))
	require.Equal(t, 39*ps+1, s.CopyOut(free+ps-1, make([]byte, 50*ps)))
}

// TestEnd: the memory of a process that has ended is nobody's.
func TestEnd(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 1, rw, unix.MAP_PRIVATE)
	s := p.space(t)
	require.True(t, s.Alive())
	p.kill(t)
	require.False(t, s.Alive())
	require.Zero(t, s.CopyIn(make([]byte, 8), free))
	require.Zero(t, s.CopyOut(free, make([]byte, 8)))
	require.False(t, s.Store(free, []byte{1}))
	_, err := s.Pin(free, 1, false)
	require.ErrorIs(t, err, syscall.EFAULT)

	_, err = Open(p.cmd.Process.Pid)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestExec: a new program has a new memory, and the old one's stays gone even
// where the new one has the same addresses.
func TestExec(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 1, rw, unix.MAP_PRIVATE)
	p.store(t, free, "old")
	old := p.space(t)
	pin, err := old.Pin(free, ps, true)
	require.NoError(t, err)

	require.NoError(t, p.in.Encode(&order{Op: "exec"}))
	p.renew(t)
	p.mmap(t, free, 1, rw, unix.MAP_PRIVATE)
	p.store(t, free, "new")
	require.False(t, old.Alive())
	got := []byte("xxx")
	_, err = pin.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 3), got)
	_, err = pin.WriteAt([]byte("DMA"), 0)
	require.NoError(t, err)
	require.Equal(t, "new", p.load(t, free, 3))
	_, err = old.Pin(free, ps, true)
	require.ErrorIs(t, err, syscall.EFAULT)

	s := p.space(t)
	require.True(t, s.Alive())
	require.True(t, s.Load(free, got))
	require.Equal(t, "new", string(got))
}

// TestFirstThread: a process goes on without the thread that it started with.
func TestFirstThread(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 1, rw, unix.MAP_PRIVATE)
	before, reader := p.space(t), p.space(t)
	p.tell(t, order{Op: "leave"})
	require.Eventually(t, func() bool { return !hasMemory(p.cmd.Process.Pid) }, 5*time.Second, time.Millisecond)
	require.True(t, reader.Load(free, make([]byte, 1)))
	after := p.space(t)
	for _, s := range []*Space{before, after} {
		require.True(t, s.Alive())
		require.True(t, s.Store(free, []byte("content")))
		require.Equal(t, "content", p.load(t, free, 7))
		got := make([]byte, 7)
		require.True(t, s.Load(free, got))
		require.Equal(t, "content", string(got))
		require.True(t, s.PutUint64(free, 0))
	}
	require.NoError(t, p.cmd.Process.Kill())
	require.Eventually(t, func() bool { return !before.Alive() }, 5*time.Second, time.Millisecond)
	require.False(t, before.Store(free, []byte("late")))
}

// TestClose: a closed memory has nothing, and a pin of it reads zeros.
func TestClose(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 1, rw, unix.MAP_PRIVATE)
	p.store(t, free, "content")
	s := p.space(t)
	pin, err := s.Pin(free, 1, true)
	require.NoError(t, err)
	s.Close()
	s.Close()
	require.False(t, s.Alive())
	got := []byte("xxx")
	_, err = pin.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 3), got)
	_, err = pin.WriteAt(make([]byte, 64), 0)
	require.NoError(t, err)
	require.Equal(t, "content", p.load(t, free, 7))
	_, err = s.Pin(free, 1, true)
	require.ErrorIs(t, err, syscall.EFAULT)
}

// TestShadow: the areas and the accounts are those of an address space.
func TestShadow(t *testing.T) {
	p := start(t)
	var mm copyuser.MM = p.space(t)
	require.Equal(t, int64(3), mm.AddPinnedVM(3))
	require.Zero(t, mm.Areas())
	_, err := mm.Fork(nil)
	require.ErrorIs(t, err, ErrFork)
}
