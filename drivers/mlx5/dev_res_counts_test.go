package mlx5

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
)

// TestOwnCounts: what the driver makes for itself when it is first needed is told from
// what users have, the pages too that are mapped for it; a page that is mapped and
// that nobody has shows.
func TestOwnCounts(t *testing.T) {
	r := newRig(t, Config{Profile: hw.ConnectX6Dx, CompVectors: 2})
	users := func() map[string]int {
		counts := r.dev.Counts()
		for kind, n := range r.dev.OwnCounts() {
			if counts[kind] -= n; counts[kind] == 0 {
				delete(counts, kind)
			}
		}
		return counts
	}
	start := users()
	require.NoError(t, r.dev.devResCQInit(nil))
	require.Equal(t, start, users())
	require.NoError(t, r.dev.devResSRQInit(nil))
	require.Equal(t, start, users())
	require.NoError(t, r.dev.umrResourceInit(nil))
	require.Equal(t, start, users())
	require.NoError(t, r.dev.odpCreateEQ(nil))
	require.Equal(t, start, users())
	_, err := r.dev.compEQN(nil, 1)
	require.NoError(t, err)
	require.Equal(t, start, users())
	own := r.dev.OwnCounts()
	require.Equal(t, 3, own["eq"])
	require.Greater(t, own["dma_page"], own["eq"])

	addr := r.dev.Bus.Map([]*copyuser.Page{copyuser.NewPage(), copyuser.NewPage()})
	require.Equal(t, start["dma_page"]+2, users()["dma_page"])
	r.dev.Bus.Unmap(addr, 2)
	require.NoError(t, r.dev.Remove(r.task))
	require.Empty(t, r.dev.Counts())
}
