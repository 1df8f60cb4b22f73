package rxe

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCountMcast: groups and attachments are counted where they are, and where the
// device and QPs keep count of them.
func TestCountMcast(t *testing.T) {
	r := newRig(t, Config{})
	counts := func() [4]int {
		c := Counts(r.dev)
		return [4]int{c["mcg"], c["mca"], c["mcg_attach"], c["mcg_num"]}
	}
	cq := r.newCQ(16)
	a, b := r.newQP(r.rcInit(cq)), r.newQP(r.rcInit(cq))
	gid, other := [16]byte{0xff, 1}, [16]byte{0xff, 2}
	require.Zero(t, counts())
	require.NoError(t, r.dev.Ops.AttachMcast(r.task, a, gid, 0))
	require.NoError(t, r.dev.Ops.AttachMcast(r.task, b, gid, 0))
	require.NoError(t, r.dev.Ops.AttachMcast(r.task, b, other, 0))
	require.Equal(t, [4]int{2, 3, 3, 3}, counts())
	r.d.mcgAttach++
	toRqp(a).mcgNum.Add(-1)
	require.Equal(t, [4]int{2, 3, 4, 2}, counts())
	r.d.mcgAttach--
	toRqp(a).mcgNum.Add(1)
	require.NoError(t, r.dev.Ops.DetachMcast(r.task, b, other, 0))
	require.Equal(t, [4]int{1, 2, 2, 2}, counts())
}
