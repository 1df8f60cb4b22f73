package fuzz

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestInvariants: what the targets are held to can be broken, and is told.
func TestInvariants(t *testing.T) {
	b := newBed("mlx5")
	_, err := b.fresh(func(l *life) { l.open(syscall.O_RDWR) })
	require.NoError(t, err, "what the process has open is closed for it")

	_, err = b.fresh(func(l *life) {
		other := l.m.Kernel.NewProcess(process.Options{}) // which nobody ends
		_, err := other.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
		require.NoError(t, err)
	})
	require.ErrorContains(t, err, "OpenFiles")

	_, err = b.fresh(func(l *life) {
		fd, _ := l.open(syscall.O_RDWR)
		l.ioctl(fd, spec.EncodeMethod(l.driver, 0, 3))
		l.removed = false
		require.NoError(t, l.m.Remove(l.files)) // of which the life says nothing
	})
	require.ErrorContains(t, err, "QUERY_PORT")

	require.Panics(t, func() { refusal(rule.ENOIOCTLCMD) })

	one, err := b.fresh(func(l *life) { l.put(dataAt, dataSize, []byte{1}) })
	require.NoError(t, err)
	two, err := b.fresh(func(l *life) { l.put(dataAt, dataSize, []byte{2}) })
	require.NoError(t, err)
	require.NotEqual(t, one.memory, two.memory)
}

// TestUsedMachine: a machine is used for many lives, and is as before after each.
func TestUsedMachine(t *testing.T) {
	b, objects := equipped(t, "mlx5")
	first, err := b.used(nil, func(l *life) { l.replay(objects) })
	require.NoError(t, err)
	m := b.m
	require.NotNil(t, m)
	for range 5 {
		again, err := b.used(nil, func(l *life) { l.replay(objects) })
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.Same(t, m, b.m)
	}
	for range livesOfMachine {
		_, err := b.used(nil, func(*life) {})
		require.NoError(t, err)
	}
	require.NotSame(t, m, b.m)
}
