package mlx5

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
)

// memory is n bytes that begin off bytes into the page at a bus address.
func memory(dma, off, n uint64) *umem {
	return &umem{Umem: &core.Umem{Address: 0x7f0000000000 + off, Length: n}, dma: dma}
}

func TestLogPageSizeToBitmap(t *testing.T) {
	field := func(width uint32) ifc.Field { return ifc.Field{Width: width} }
	require.Equal(t, uint64(1<<44-1<<12), logPageSizeToBitmap(field(5), 12), "4 KiB to 2^43")
	require.Equal(t, ^uint64(1<<12-1), logPageSizeToBitmap(field(6), 12), "to 2^63, what 64 bits have room for")
	require.Equal(t, uint64(1<<32-1<<12), logPageSizeToBitmap(field(5), 0), "to 2^31, but no smaller page than the adapter's")
}

// TestFindBestPgsz: the smallest size of a page that has all of the memory in it, or
// the largest below it for which the addresses that the adapter and the user see
// agree.
func TestFindBestPgsz(t *testing.T) {
	const base = 1 << 40
	all := ^uint64(copyuser.PageSize - 1)
	for _, c := range []struct {
		name               string
		u                  *umem
		bitmap, virt, want uint64
	}{
		{"one page", memory(base, 0, 4096), all, base, 4096},
		{"two pages side by side", memory(base, 0, 8192), all, base, 8192},
		{"two pages in the middle of four", memory(base+4096, 0, 8192), all, base + 4096, 16384},
		{"sizes that are there", memory(base, 0, 8192), 1<<12 | 1<<16, base, 1 << 16},
		{"the user sees it elsewhere", memory(base, 0, 8192), all, 0x1000, 0x1000},
		{"the user sees it at another offset of a page", memory(base, 0, 8192), all, 0x1010, 0},
		{"it ends beyond the address space", memory(base, 0, 8192), all, 1<<64 - 4096, 0},
	} {
		require.Equal(t, c.want, c.u.findBestPgsz(c.bitmap, c.virt), c.name)
	}
}

// TestFindBestQuantizedPgoff: where a queue may begin in its first page. A
// completion queue's may not begin in the middle of one at all; a work queue's at
// each 64th, of the 32 that its field counts.
func TestFindBestQuantizedPgoff(t *testing.T) {
	const base = 1 << 40
	wq := wqAt(0)
	for off, want := range map[uint64]quantizedPgoff{
		0: {4096, 0}, 64: {4096, 1}, 31 * 64: {4096, 31}, 2048: {8192, 16}, 4032: {}, 4: {}, 63: {},
	} {
		require.Equal(t, want, memory(base, off, 4096).findBestWQPgoff(&wq), "offset %d", off)
	}
	for _, off := range []uint64{4, 32, 64, 4032} {
		require.Zero(t, memory(base, off, 4096).findBestCQPgoff().pageSize, "mlx5/cq/buf-off-%d", off)
	}
	require.NotZero(t, memory(base, 0, 4096).findBestCQPgoff().pageSize)
}

// TestPopulatePas: the list has each page once, and the bits in each entry.
func TestPopulatePas(t *testing.T) {
	u := memory(1<<40, 0x800, 0x2000)
	n := u.numDMABlocks(u.dmaAddress(), 4096)
	require.Equal(t, 3, n)
	pas := make([]byte, 8*n)
	u.populatePas(4096, n, pas, 3)
	for i := range n {
		require.Equal(t, uint64(1<<40+i*4096+3), be.Uint64(pas[8*i:]))
	}
}

func TestRounding(t *testing.T) {
	require.Equal(t, uint64(0), roundDownPow2(0))
	require.Equal(t, uint64(8), roundDownPow2(15))
	require.Equal(t, uint64(16), roundUpPow2(15))
	require.Equal(t, uint64(16), roundUpPow2(16))
	require.Equal(t, uint64(1), roundUpPow2(1))
	require.Equal(t, uint64(0x2000), alignUp(0x1001, 0x1000))
	require.Equal(t, uint64(128), roundUpBlocks(65, 64))
	require.Equal(t, uint64(256), roundUpBlocks(129, 64))
	require.Zero(t, roundUpBlocks(0, 64))
	require.Zero(t, roundUpBlocks(1<<64-1, 64), "it wraps")
}
