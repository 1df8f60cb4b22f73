package stub

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCounts: what is made is there until the driver destroys it, which it may refuse to.
func TestCounts(t *testing.T) {
	d := &Driver{}
	d.trail.init()
	d.trail.refusals = map[string]int{"destroy_cq": 1}
	d.trail.said("alloc_pd")
	d.trail.said("create_cq")
	d.trail.said("reg_user_mr_dmabuf")
	d.trail.said("poll_cq")
	require.Equal(t, map[string]int{"pd": 1, "cq": 1, "mr": 1}, d.Counts())
	require.Error(t, d.trail.destroys("destroy_cq"))
	require.NoError(t, d.trail.destroys("dereg_mr"))
	require.Equal(t, map[string]int{"pd": 1, "cq": 1}, d.Counts())
	require.NoError(t, d.trail.destroys("destroy_cq"))
	require.NoError(t, d.trail.destroys("dealloc_pd"))
	require.Empty(t, d.Counts())
}
