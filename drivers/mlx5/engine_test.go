package mlx5

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
)

// Which pages of the device can be memory of a program that is not simulated: its
// registers and its clock, which a look sets, but none where loads do something.
func TestPolledPages(t *testing.T) {
	now := uint64(0x0102030405060708)
	r := newRig(t, Config{Clock: func() uint64 { return now }})
	var frame [copyuser.PageSize]byte
	clock, ok := r.dev.bar.clock.Polled()
	require.True(t, ok)
	for range 2 {
		require.False(t, clock.Poll(&frame))
		require.Equal(t, be.AppendUint64(nil, now), frame[:8])
		now++
	}
	registers, ok := r.dev.bar.uarPage(r.dev.bfreg.index).Polled()
	require.True(t, ok)
	require.False(t, registers.Poll(new([copyuser.PageSize]byte)))
	for _, p := range r.dev.bar.operationPages(0, 1) {
		_, ok := p.Polled()
		require.False(t, ok)
	}
}

// TestTurn: the interrupt handlers have run when Turn returns.
func TestTurn(t *testing.T) {
	r := newRig(t, Config{})
	require.False(t, r.dev.Turn(nil))
	_, ok := r.dev.Due()
	require.False(t, ok)
	r.context(request())
	a := r.cqArgs()
	a.cqe, a.async = 1, r.asyncFD()
	require.True(t, r.task.Mem.Store(copyuser.Addr(a.ucmd.DBAddr), make([]byte, 8)))
	q, err := r.createCQ(a)
	require.NoError(t, err)
	for r.dev.HW.Complete(q.cqn, hw.Completion{}) == nil {
	}
	require.True(t, r.dev.Turn(nil))
	_, err = r.read(a.async, 16)
	require.NoError(t, err, "the handler has told of the error")
	require.False(t, r.dev.Turn(nil))
}
