package copyuser

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStaleWalk: a copy that found its page before the page was taken out of
// the page table, and locks it afterwards, does not touch it.
func TestStaleWalk(t *testing.T) {
	m := NewAddressSpace()
	page := NewPage()
	a, err := m.Mmap(nil, MmapRequest{
		Length: PageSize, Prot: syscall.PROT_READ | syscall.PROT_WRITE, Flags: syscall.MAP_SHARED,
		File: "dev", Readable: true, Writable: true,
		Map: func(a *Area) error {
			a.Ops = &AreaOps{}
			a.InsertPage(0, page)
			return nil
		},
	})
	require.NoError(t, err)

	page.mu.Lock() // what pte.clear does
	copied := make(chan int)
	go func() { copied <- m.CopyOut(a, []byte("late")) }()
	time.Sleep(10 * time.Millisecond) // it waits for the lock by now
	m.pgd.find(a).page.Store(nil)
	page.mu.Unlock()
	require.Zero(t, <-copied)
	got := make([]byte, 4)
	page.Load(0, got)
	require.Equal(t, make([]byte, 4), got)
}

// TestChangeWaits: a change of the page table is not done before a copy that
// goes on by the old entry.
func TestChangeWaits(t *testing.T) {
	for name, change := range map[string]func(m *AddressSpace, a Addr) error{
		"mprotect": func(m *AddressSpace, a Addr) error { return m.Mprotect(nil, a, PageSize, syscall.PROT_READ) },
		"munmap":   func(m *AddressSpace, a Addr) error { return m.Munmap(nil, a, PageSize) },
		"mremap": func(m *AddressSpace, a Addr) error {
			_, err := m.Mremap(nil, a, PageSize, PageSize, MREMAP_MAYMOVE|MREMAP_FIXED, 0x10000)
			return err
		},
		"fork": func(m *AddressSpace, _ Addr) error {
			_, err := m.Fork(nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewAddressSpace()
			a, err := m.Mmap(nil, MmapRequest{Length: PageSize, Prot: syscall.PROT_READ | syscall.PROT_WRITE, Flags: syscall.MAP_PRIVATE})
			require.NoError(t, err)
			require.True(t, m.PutUint64(a, 1))
			page := m.pgd.find(a).page.Load()
			page.mu.Lock() // a copy is under way
			done := make(chan error, 1)
			go func() { done <- change(m, a) }()
			select {
			case <-done:
				t.Error("it did not wait")
			case <-time.After(10 * time.Millisecond):
			}
			page.mu.Unlock()
			if !t.Failed() {
				require.NoError(t, <-done)
			}
		})
	}
}
