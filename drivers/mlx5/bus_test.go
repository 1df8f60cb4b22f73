package mlx5

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/sim_test/watchdog"
)

func newPages(n int) []*copyuser.Page {
	pages := make([]*copyuser.Page, n)
	for i := range pages {
		pages[i] = copyuser.NewPage()
	}
	return pages
}

// TestBus: what is written on the bus is in the pages, also across their borders.
func TestBus(t *testing.T) {
	var b Bus
	pages := newPages(3)
	at := b.Map(pages)
	require.Zero(t, at%(4*copyuser.PageSize), "three pages begin at a multiple of four")
	want := bytes.Repeat([]byte("0123456789abcdef"), 2*copyuser.PageSize/16)
	require.NoError(t, b.WriteAt(want, at+100))
	got := make([]byte, len(want))
	require.NoError(t, b.ReadAt(got, at+100))
	require.Equal(t, want, got)
	var first [16]byte
	pages[1].Load(0, first[:])
	require.Equal(t, want[copyuser.PageSize-100:][:16], first[:])
	require.Equal(t, 3, b.Mapped())
}

// TestBusFaults: a DMA that touches anything that is not mapped transfers nothing.
func TestBusFaults(t *testing.T) {
	var b Bus
	gone := b.Map(newPages(1))
	at := b.Map(newPages(2))
	b.Unmap(gone, 1)
	buf := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for name, addr := range map[string]uint64{
		"0": 0, "below": busBase - 4, "given back": gone, "behind the last": at + 2*copyuser.PageSize,
		"across the end": at + 2*copyuser.PageSize - 4, "the top": 1<<64 - 8, "wraps": 1<<64 - 4,
	} {
		require.ErrorIs(t, b.WriteAt(buf, addr), ErrBusFault, name)
		require.ErrorIs(t, b.ReadAt(buf, addr), ErrBusFault, name)
	}
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6, 7, 8}, buf)
	last := make([]byte, 4)
	require.NoError(t, b.ReadAt(last, at+2*copyuser.PageSize-4))
	require.Zero(t, [4]byte(last))
}

// FuzzBus maps and unmaps runs of pages. No two runs that are mapped share an
// address, and each begins at a multiple of its length.
func FuzzBus(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x81, 4})
	f.Add([]byte{16, 1, 0x80, 16, 1, 0x80, 0x80, 31})
	f.Fuzz(func(t *testing.T, ops []byte) {
		watchdog.On(t)
		type run struct {
			at uint64
			n  int
		}
		var b Bus
		var runs []run
		total := 0
		for _, op := range ops {
			if op&0x80 != 0 && len(runs) > 0 {
				i := int(op&0x7f) % len(runs)
				b.Unmap(runs[i].at, runs[i].n)
				total -= runs[i].n
				runs = append(runs[:i], runs[i+1:]...)
				continue
			}
			n := int(op&0x1f) + 1
			at := b.Map(newPages(n))
			require.Zero(t, at%(copyuser.PageSize<<order(n)))
			for _, r := range runs {
				require.True(t, at+uint64(n)<<copyuser.PageShift <= r.at || r.at+uint64(r.n)<<copyuser.PageShift <= at)
			}
			runs = append(runs, run{at, n})
			total += n
		}
		require.Equal(t, total, b.Mapped())
	})
}
