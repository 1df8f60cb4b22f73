package faults

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
)

// TestLocked: behind a call that leaves a lock held no other is made, for which it
// would wait for ever.
func TestLocked(t *testing.T) {
	j := newInjector(nil, true)
	booted, err := (&target{j: j, alone: true}).Boot(&casefile.Case{Driver: "stub"})
	require.NoError(t, err)
	m := booted.(*machine)
	p := m.Process().(*task)
	fd, err := p.Open(syscall.O_RDWR)
	require.NoError(t, err)
	f := model.FileOf(p.Modelled(), fd)
	_, err = p.call("ioctl", func() (int64, error) { f.Objects.HWDestroyRwsem.DownRead(nil); return 0, nil })
	require.NoError(t, err)
	require.ErrorIs(t, p.Close(fd), errLocked)
	m.Shutdown()
	require.Len(t, j.calls, 2, "the close and the exit were not made")
	var calls []*Call
	for _, c := range j.calls {
		calls = append(calls, &c.Call)
	}
	require.Equal(t, []string{"ioctl of step 0: hw_destroy_rwsem is held"}, unrest(calls))
}

// TestDifferencesOfUnrest: what cannot be is told as it is.
func TestDifferencesOfUnrest(t *testing.T) {
	before, after := &model.Books{Unrest: []string{"a"}}, &model.Books{Unrest: []string{"a", "hw_destroy_rwsem is held"}}
	require.Equal(t, []string{"Unrest: hw_destroy_rwsem is held"}, differences(before, after))
	require.Empty(t, differences(after, before), "it is over")
}
