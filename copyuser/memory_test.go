package copyuser_test

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/sim_test/memtest"
)

// memories are the implementations under the conformance test, each with
// buffers of every kind that it can have.
var memories = []struct {
	name string
	make func(t *testing.T) memtest.Buffer
}{
	{"address space, one page", func(t *testing.T) memtest.Buffer { return pages(t, 1) }},
	{"address space, three pages", func(t *testing.T) memtest.Buffer { return pages(t, 3) }},
	{"address space, split areas", splitPages},
	{"bytes, one page", func(*testing.T) memtest.Buffer { return ofBytes(0x10000, copyuser.PageSize) }},
	{"bytes, odd start and end", func(*testing.T) memtest.Buffer { return ofBytes(0x10ff3, 2*copyuser.PageSize+29) }},
	{"bytes, within a page", func(*testing.T) memtest.Buffer { return ofBytes(0x10123, 99) }},
}

func pages(t *testing.T, n uint64) memtest.Buffer {
	m := copyuser.NewAddressSpace()
	return memtest.Buffer{Memory: m, Start: mapAnon(t, m, n), N: n * copyuser.PageSize}
}

// splitPages has an area for each page, with protections that differ in what
// does not matter to a copy.
func splitPages(t *testing.T) memtest.Buffer {
	b := pages(t, 4)
	m := b.Memory.(*copyuser.AddressSpace)
	for i := range copyuser.Addr(4) {
		if i%2 == 0 {
			require.NoError(t, m.Mprotect(nil, b.Start+i*copyuser.PageSize, copyuser.PageSize,
				syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC))
		}
	}
	require.Equal(t, 4, m.Areas())
	return b
}

func ofBytes(start copyuser.Addr, n int) memtest.Buffer {
	return memtest.Buffer{Memory: copyuser.NewBytes(start, make([]byte, n)), Start: start, N: uint64(n)}
}

// mapAnon maps n pages of private memory that can be read and written.
func mapAnon(t testing.TB, m *copyuser.AddressSpace, n uint64) copyuser.Addr {
	t.Helper()
	a, err := m.Mmap(nil, copyuser.MmapRequest{
		Length: n * copyuser.PageSize,
		Prot:   syscall.PROT_READ | syscall.PROT_WRITE,
		Flags:  syscall.MAP_PRIVATE,
	})
	require.NoError(t, err)
	return a
}

var pattern = memtest.Pattern

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func TestMemory(t *testing.T) {
	for _, mem := range memories {
		t.Run(mem.name, func(t *testing.T) { memtest.Run(t, mem.make) })
	}
}
