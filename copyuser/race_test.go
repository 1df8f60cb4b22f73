package copyuser_test

import (
	"bytes"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
)

// TestParallelCopies: copies, device accesses and pins of the same pages go on
// while protections change, pages are zapped and children are made. A copy
// within a page is never torn.
func TestParallelCopies(t *testing.T) {
	const rounds = 300
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 3)
	dev, err := m.Mmap(nil, device(1, rw, syscall.MAP_SHARED, &copyuser.AreaOps{
		Fault: func(*copyuser.Area, int) (*copyuser.Page, bool) { return copyuser.NewPage(), true },
	}, copyuser.NewPage()))
	require.NoError(t, err)
	area := m.Find(dev)
	pin, err := m.Pin(a, 2*ps, true)
	require.NoError(t, err)

	uniform := func(b []byte) bool { return bytes.Count(b, b[:1]) == len(b) }
	var wg sync.WaitGroup
	run := func(f func(i int)) {
		wg.Go(func() {
			for i := range rounds {
				f(i)
			}
		})
	}
	for g := range 3 {
		run(func(i int) {
			src := bytes.Repeat([]byte{byte(i + g)}, 64)
			m.CopyOut(a+64, src)
			m.CopyOut(dev+64, src)
		})
		run(func(int) {
			dst := make([]byte, 64)
			if m.CopyIn(dst, a+64) == 64 && !uniform(dst) {
				t.Error("torn copy")
			}
			if m.CopyIn(dst, dev+64) == 64 && !uniform(dst) {
				t.Error("torn copy of a device's page")
			}
		})
	}
	run(func(i int) { _, _ = pin.WriteAt(bytes.Repeat([]byte{byte(i)}, 64), 64) })
	run(func(int) {
		dst := make([]byte, 64)
		if _, err := pin.ReadAt(dst, 64); err != nil || !uniform(dst) {
			t.Error("torn DMA", err)
		}
	})
	run(func(i int) {
		prot := rw
		if i%2 == 0 {
			prot = ro
		}
		if err := m.Mprotect(nil, a, ps, prot); err != nil {
			t.Error(err)
		}
	})
	run(func(int) {
		m.MmapReadLock(nil)
		area.Zap()
		m.MmapReadUnlock(nil)
	})
	run(func(int) {
		child, err := m.Fork(nil)
		if err != nil {
			t.Error(err)
			return
		}
		dst := make([]byte, 64)
		if child.CopyIn(dst, a+64) != 64 || !uniform(dst) {
			t.Error("torn copy in a child")
		}
		child.Mmput(nil)
	})
	run(func(int) {
		b, err := m.Mmap(nil, copyuser.MmapRequest{Length: ps, Prot: rw, Flags: syscall.MAP_PRIVATE})
		if err != nil || !m.PutUint64(b, 1) || m.Munmap(nil, b, ps) != nil {
			t.Error("mapping of one's own", err)
		}
	})
	wg.Wait()
}

// TestProtectedMeansQuiet: when mprotect has returned no store of before it can
// still arrive.
func TestProtectedMeansQuiet(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 1)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					m.PutUint64(a, uint64(i*2+g))
				}
			}
		})
	}
	for range 200 {
		require.NoError(t, m.Mprotect(nil, a, ps, ro))
		first, ok := m.GetUint64(a)
		require.True(t, ok)
		for range 20 {
			v, _ := m.GetUint64(a)
			require.Equal(t, first, v)
		}
		require.NoError(t, m.Mprotect(nil, a, ps, rw))
	}
	close(stop)
	wg.Wait()
}
