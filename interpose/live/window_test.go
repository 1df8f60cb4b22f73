package live

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
)

func copyIn(t testing.TB, s *Space, a copyuser.Addr, n int) string {
	t.Helper()
	got := make([]byte, n)
	require.Equal(t, n, s.CopyIn(got, a))
	return string(got)
}

// TestWindow: what was read ahead serves the same call, and no other.
func TestWindow(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 2, rw, unix.MAP_PRIVATE)
	p.store(t, free, "header,attributes")
	s := p.space(t)
	s.Begin()
	require.Equal(t, "header,", copyIn(t, s, free, 7))
	p.store(t, free, "HEADER,ATTRIBUTES")
	require.Equal(t, "attributes", copyIn(t, s, free+7, 10), "as the call found it")
	s.Begin()
	require.Equal(t, "ATTRIBUTES", copyIn(t, s, free+7, 10))
	require.Equal(t, "HEADER", copyIn(t, s, free, 6), "before the window")
}

// TestNoWindow: without a call each copy sees the memory as it is.
func TestNoWindow(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 1, rw, unix.MAP_PRIVATE)
	s := p.space(t)
	for _, content := range []string{"one", "two"} {
		p.store(t, free, content)
		require.Equal(t, content, copyIn(t, s, free, 3))
	}
}

// TestWindowEnds: the window ends with the page, and with 512 bytes.
func TestWindowEnds(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 3, rw, unix.MAP_PRIVATE)
	s := p.space(t)
	for _, c := range []struct {
		name            string
		from            copyuser.Addr
		n               int
		inside, outside copyuser.Addr // single bytes
	}{
		{"in a page", free, 24, free + 511, free + 512},
		{"before the end of a page", free + ps - 100, 24, free + ps - 1, free + ps},
		{"up to the end of a page", free + ps - 24, 24, free + ps - 1, free + ps},
		{"across pages", free + ps - 12, 24, free + ps + 499, free + ps + 500},
		{"as long as the window", free, 512, free + 511, free + 512},
		{"longer than the window", free + 600, 513, 0, free + 600},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.store(t, free, string(make([]byte, 3*ps)))
			s.Begin()
			copyIn(t, s, c.from, c.n)
			p.store(t, free, string(bytes.Repeat([]byte{1}, 3*ps)))
			if c.inside != 0 {
				require.Equal(t, "\x00", copyIn(t, s, c.inside, 1))
			}
			require.Equal(t, "\x01", copyIn(t, s, c.outside, 1))
		})
	}
}

// TestWindowWritten: a copy to the user is seen by the copies from there.
func TestWindowWritten(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 2, rw, unix.MAP_PRIVATE)
	s := p.space(t)
	const a = free + ps - 512
	for name, write := range map[string]func(){
		"CopyOut":    func() { require.Equal(t, 3, s.CopyOut(a+20, []byte("new"))) },
		"its start":  func() { require.Equal(t, 30, s.CopyOut(a-10, bytes.Repeat([]byte("n"), 30))) },
		"its end":    func() { require.Equal(t, ps, s.CopyOut(a+19, bytes.Repeat([]byte("n"), ps))) },
		"Clear":      func() { require.Equal(t, uint64(1), s.Clear(a+20, 1)) },
		"PutUint16":  func() { require.True(t, s.PutUint16(a+20, 7)) },
		"PutUint32":  func() { require.True(t, s.PutUint32(a+20, 7)) },
		"PutUint64":  func() { require.True(t, s.PutUint64(a+13, 7<<56)) },
		"Store":      func() { require.True(t, s.Store(a+19, []byte("new"))) },
		"next bytes": func() { require.Equal(t, 3, s.CopyOut(a+512, []byte("new"))) },
	} {
		t.Run(name, func(t *testing.T) {
			p.store(t, a, "header and attributes")
			s.Begin()
			copyIn(t, s, a, 24)
			write()
			want := p.load(t, a, 64)
			require.Equal(t, want, copyIn(t, s, a, 64))
			p.store(t, a+1, "X")
			served := copyIn(t, s, a, 2) == want[:2]
			require.True(t, served, "the next read fills the window again, or it was never empty")
		})
	}
}

// TestWindowFault: a window that could not be filled ends where the fault was.
func TestWindowFault(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 1, rw, unix.MAP_PRIVATE)
	p.store(t, free+ps-8, "end here")
	s := p.space(t)
	s.Begin()
	got := make([]byte, 24)
	require.Equal(t, 8, s.CopyIn(got, free+ps-8))
	require.Equal(t, "end here", string(got[:8]))
	require.Equal(t, 4, s.CopyIn(got, free+ps-4))
	require.Zero(t, s.CopyIn(got, free+ps))
	p.mmap(t, free+ps, 1, rw, unix.MAP_PRIVATE)
	require.Equal(t, 24, s.CopyIn(got, free+ps-8))
}

// TestWindowOutdated: what was read before another call began is not kept for it.
func TestWindowOutdated(t *testing.T) {
	var w window
	s := &Space{}
	s.window.on = true
	for name, between := range map[string]func(){
		"begin": s.Begin,
		"write": func() { s.window.written(free, 1) },
	} {
		done, ahead, gen := s.window.load(make([]byte, 8), free)
		require.Equal(t, [2]bool{false, true}, [2]bool{done, ahead})
		between()
		s.window.save([]byte("outdated"), free, gen)
		done, _, gen = s.window.load(make([]byte, 8), free)
		require.False(t, done, name)
		s.window.save([]byte("uptodate"), free, gen)
		done, _, _ = s.window.load(make([]byte, 8), free)
		require.True(t, done, name)
		s.Begin()
	}
	done, ahead, _ := w.load(nil, 0)
	require.Equal(t, [2]bool{}, [2]bool{done, ahead})
}

// TestParallel: calls of several threads and the device's accesses go on side by
// side, while the process changes what it has mapped, until it is killed and its
// memory closed.
func TestParallel(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 8, rw, unix.MAP_PRIVATE)
	s := p.space(t)
	pin := pinned(t, s, free, 8*ps)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var turns []*atomic.Int64 // of each thread
	run := func(f func(i int)) {
		n := new(atomic.Int64)
		turns = append(turns, n)
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					f(i)
					n.Add(1)
				}
			}
		})
	}
	// aWhole waits until each thread has begun and ended one more turn.
	aWhole := func() {
		for _, n := range turns {
			for from := n.Load(); n.Load() < from+2; {
				runtime.Gosched()
			}
		}
	}
	for g := range copyuser.Addr(3) {
		a := free + g*64 // of one page, so that they share the window
		mine := make([]byte, 16)
		run(func(i int) {
			s.Begin()
			want := bytes.Repeat([]byte{byte(i)}, 16)
			if s.CopyOut(a, want) != len(want) {
				return
			}
			if s.CopyIn(mine, a) == len(mine) && !bytes.Equal(mine, want) {
				t.Errorf("thread %d does not see what it wrote: %x", g, mine)
			}
			s.PutUint64(a+ps-4-g*64, 1)
		})
	}
	run(func(int) { _, _ = pin.WriteAt(make([]byte, 64), 5*ps-32) })
	run(func(int) { _, _ = pin.ReadAt(make([]byte, 4*ps), 4*ps) })
	run(func(int) {
		if pin, err := s.Pin(free, 8*ps, true); err == nil {
			pin.Unpin()
		}
	})
	run(func(int) { s.parseMaps(free, free+8*ps) })
	run(func(int) { _ = s.RangeFault(free+4*ps, make([]copyuser.RangePage, 4), true, true) })
	for range 40 {
		p.munmap(t, free+4*ps, 2)
		p.mprotect(t, free+6*ps, 1, ro)
		p.mmap(t, free+4*ps, 4, rw, unix.MAP_PRIVATE)
	}
	p.kill(t)
	aWhole()
	s.Close()
	aWhole()
	close(stop)
	wg.Wait()
	require.Equal(t, 8, s.PinnedPages())
}

// TestOrder: a process that watches 64 bytes which the device writes sees them change,
// and never the last word torn, nor the first one older than the last.
func TestOrder(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 1, rw, unix.MAP_PRIVATE)
	pin := pinned(t, p.space(t), free, ps)
	require.NoError(t, p.in.Encode(&order{Op: "watch", Addr: uint64(free) + 128, Len: uint64(300 * time.Millisecond)}))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		var b [64]byte
		for i := uint32(0); ; i++ {
			select {
			case <-stop:
				return
			default:
				for at := 0; at < len(b); at += 8 {
					binary.LittleEndian.PutUint32(b[at:], i)
					binary.BigEndian.PutUint32(b[at+4:], i)
				}
				_, _ = pin.WriteAt(b[:], 128)
			}
		}
	})
	r := p.answer(t)
	close(stop)
	wg.Wait()
	require.True(t, r.Yes)
	require.NotEqual(t, string(make([]byte, 64)), p.load(t, free+128, 64))
}
