package copyuser_test

import (
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/trace"
)

// watched is a notifier that keeps what it was told, and what was still mapped then.
type watched struct {
	copyuser.IntervalNotifier
	told []span
}

type span struct{ start, end copyuser.Addr }

func watch(m *copyuser.AddressSpace, a copyuser.Addr, pages uint64) *watched {
	w := &watched{}
	w.Invalidate = func(_ *trace.Task, start, end copyuser.Addr) { w.told = append(w.told, span{start, end}) }
	m.InsertNotifier(&w.IntervalNotifier, a, pages*ps)
	return w
}

// TestNotifier: what takes pages of a range away, or gives them other protection,
// is told, and nothing else.
func TestNotifier(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(m *copyuser.AddressSpace, a copyuser.Addr) error
		want   func(a copyuser.Addr) []span
	}{
		"munmap": {func(m *copyuser.AddressSpace, a copyuser.Addr) error { return m.Munmap(nil, a, 2*ps) },
			func(a copyuser.Addr) []span { return []span{{a, a + 2*ps}} }},
		"munmap beside it": {func(m *copyuser.AddressSpace, a copyuser.Addr) error { return m.Munmap(nil, a+4*ps, 4*ps) }, nil},
		"mprotect": {func(m *copyuser.AddressSpace, a copyuser.Addr) error { return m.Mprotect(nil, a+3*ps, 2*ps, ro) },
			func(a copyuser.Addr) []span { return []span{{a + 3*ps, a + 5*ps}} }},
		"mprotect to what it was": {func(m *copyuser.AddressSpace, a copyuser.Addr) error { return m.Mprotect(nil, a, 2*ps, rw) }, nil},
		"mremap": {func(m *copyuser.AddressSpace, a copyuser.Addr) error {
			_, err := m.Mremap(nil, a, 8*ps, 8*ps, copyuser.MREMAP_MAYMOVE|copyuser.MREMAP_FIXED, a-32*ps)
			return err
		}, func(a copyuser.Addr) []span { return []span{{a, a + 8*ps}, {a, a + 8*ps}} }}, // moved, and then unmapped
		"another mapping in its place": {func(m *copyuser.AddressSpace, a copyuser.Addr) error {
			_, err := m.Mmap(nil, copyuser.MmapRequest{Addr: a, Length: ps, Prot: rw, Flags: syscall.MAP_PRIVATE | syscall.MAP_FIXED})
			return err
		}, func(a copyuser.Addr) []span { return []span{{a, a + ps}} }},
		"fork": {func(m *copyuser.AddressSpace, a copyuser.Addr) error {
			_, err := m.Fork(newCurrent())
			return err
		}, func(a copyuser.Addr) []span { return []span{{a, a + 8*ps}} }},
		"exit": {func(m *copyuser.AddressSpace, a copyuser.Addr) error {
			m.Mmput(nil)
			return nil
		}, func(copyuser.Addr) []span { return []span{{0, copyuser.TaskSizeMax}} }},
		"a store":      {func(m *copyuser.AddressSpace, a copyuser.Addr) error { m.Store(a, []byte{1}); return nil }, nil},
		"a first load": {func(m *copyuser.AddressSpace, a copyuser.Addr) error { m.Load(a+3*ps, make([]byte, 1)); return nil }, nil},
		"a pin": {func(m *copyuser.AddressSpace, a copyuser.Addr) error {
			_, err := m.Pin(a, 4*ps, true)
			return err
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := copyuser.NewAddressSpace()
			a := mapAnon(t, m, 8)
			require.True(t, m.Store(a, make([]byte, 2*ps)))
			w := watch(m, a, 4)
			seq := w.ReadBegin()
			require.NoError(t, tt.change(m, a))
			var want []span
			if tt.want != nil {
				want = tt.want(a)
			}
			require.Equal(t, want, w.told)
			require.Equal(t, want != nil, w.ReadRetry(seq))
			require.False(t, w.ReadRetry(w.ReadBegin()))
			w.Remove()
		})
	}
}

// TestNotifierRemoved: nothing is told any more.
func TestNotifierRemoved(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 1)
	gone, stays := watch(m, a, 1), watch(m, a, 1)
	gone.Remove()
	require.NoError(t, m.Munmap(nil, a, ps))
	require.Empty(t, gone.told)
	require.Len(t, stays.told, 1)
}

// TestNotifierCopyOnWrite: when a private mapping's page is copied, whoever found the
// old one is told before; what it finds then is the copy.
func TestNotifierCopyOnWrite(t *testing.T) {
	m := copyuser.NewAddressSpace()
	page := copyuser.NewPage()
	a := mapPages(t, m, syscall.MAP_PRIVATE, func(a *copyuser.Area) { a.InsertPage(0, page) })
	w := watch(m, a, 1)
	found := make([]copyuser.RangePage, 1)
	require.NoError(t, m.RangeFault(a, found, true, false))
	require.Equal(t, copyuser.RangePage{Page: page}, found[0])
	require.True(t, m.Store(a, []byte("own")))
	require.Equal(t, []span{{a, a + ps}}, w.told)
	require.NoError(t, m.RangeFault(a, found, false, false))
	require.NotSame(t, page, found[0].Page)
	require.True(t, found[0].Write)
	got := make([]byte, 3)
	found[0].Page.Load(0, got)
	require.Equal(t, "own", string(got))
}

// TestRangeFault: which pages are found as they are, which are brought in, and what
// is refused.
func TestRangeFault(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 4)
	require.True(t, m.Store(a+ps, []byte{1}))
	require.NoError(t, m.Mprotect(nil, a+2*ps, ps, ro))
	require.NoError(t, m.Munmap(nil, a+3*ps, ps))
	find := func(from copyuser.Addr, n int, fault, write bool) (present string, err error) {
		pages := make([]copyuser.RangePage, n)
		if err := m.RangeFault(from, pages, fault, write); err != nil {
			return "", err
		}
		for _, p := range pages {
			present += map[bool]string{true: "w", false: "r"}[p.Write]
			if p.Page == nil {
				present = present[:len(present)-1] + "-"
			}
		}
		return present, nil
	}
	for _, tt := range []struct {
		from         copyuser.Addr
		n            int
		fault, write bool
		want         string
		err          *rule.Rule
	}{
		{a, 4, false, false, "-w--", nil},
		{a, 2, true, true, "ww", nil},
		{a, 4, false, false, "ww--", nil},
		{a + 2*ps, 1, true, true, "", rule.HMMWrite},
		{a + 2*ps, 1, true, false, "r", nil},
		{a, 3, true, true, "", rule.HMMWrite},
		{a, 4, true, false, "", rule.HMMUnmapped},
		{copyuser.TaskSizeMax - ps, 1, true, false, "", rule.HMMUnmapped},
	} {
		got, err := find(tt.from, tt.n, tt.fault, tt.write)
		if tt.err != nil {
			require.Equal(t, error(tt.err), err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, tt.want, got, "%+v", tt)
	}
	for name, area := range map[string]copyuser.Addr{
		"registers": mapPages(t, m, syscall.MAP_SHARED, func(a *copyuser.Area) { a.RemapPFN(0, copyuser.NewPage()) }),
		"no access": func() copyuser.Addr {
			a := mapAnon(t, m, 1)
			require.NoError(t, m.Mprotect(nil, a, ps, 0))
			return a
		}(),
	} {
		_, err := find(area, 1, true, false)
		require.Equal(t, error(rule.HMMArea), err, name)
		got, err := find(area, 1, false, false)
		require.NoError(t, err)
		require.Equal(t, "-", got, name)
	}
	empty := mapPages(t, m, syscall.MAP_SHARED, func(*copyuser.Area) {})
	_, err := find(empty, 1, true, false)
	require.Equal(t, error(rule.HMMFault), err)
}

// TestNotifierRacing: a reader that goes by the sequence finds each page that is mapped
// anew, and never keeps one that is not mapped any more.
func TestNotifierRacing(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 1)
	var mu sync.Mutex // of what the reader has
	var kept *copyuser.Page
	var w copyuser.IntervalNotifier
	w.Invalidate = func(*trace.Task, copyuser.Addr, copyuser.Addr) {
		mu.Lock()
		defer mu.Unlock()
		kept = nil
	}
	m.InsertNotifier(&w, a, ps)
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		found := make([]copyuser.RangePage, 1)
		for {
			select {
			case <-stop:
				return
			default:
			}
			seq := w.ReadBegin()
			if m.RangeFault(a, found, true, true) != nil {
				continue
			}
			mu.Lock()
			if !w.ReadRetry(seq) {
				kept = found[0].Page
			}
			mu.Unlock()
			runtime.Gosched() // or the locks are handed over late
		}
	})
	for n := range 300 {
		_, err := m.Mmap(nil, copyuser.MmapRequest{Addr: a, Length: ps, Prot: rw, Flags: syscall.MAP_PRIVATE | syscall.MAP_FIXED})
		require.NoError(t, err)
		require.True(t, m.Store(a, []byte{byte(n), byte(n >> 8)}))
		for found := false; !found; runtime.Gosched() {
			mu.Lock()
			if found = kept != nil; found {
				var b [2]byte
				kept.Load(0, b[:])
				require.Equal(t, [2]byte{byte(n), byte(n >> 8)}, b)
			}
			mu.Unlock()
		}
	}
	close(stop)
	reader.Wait()
	w.Remove()
}
