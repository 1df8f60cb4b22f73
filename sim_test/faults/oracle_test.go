package faults_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/faults"
)

// openAlone is a case that opens the device and closes it.
const openAlone = `{"v":1,"name":"a/b","driver":"stub","steps":[{"op":"open","fd":"f"},{"op":"close","fd":"f"}]}`

// TestWrongAnswer: an answer that the tables do not have is a loss.
func TestWrongAnswer(t *testing.T) {
	c, err := casefile.Unmarshal([]byte(openAlone))
	require.NoError(t, err)
	run, err := runner.Baseline(c)
	require.NoError(t, err)
	require.Equal(t, "open", run.Calls[0].Name)
	o := runner.Play(run, faults.Point{Call: 0, N: 1}) // the file's memory
	require.NotNil(t, o)
	require.Equal(t, syscall.ENOMEM, o.Answer.Errno)
	require.False(t, o.Lost(), o.Trouble())
	require.False(t, faults.Expectation{Errno: []syscall.Errno{syscall.EFAULT}}.Allows(o))
	require.False(t, faults.Expectation{GoesOn: true}.Allows(o))
	o.Right = false
	require.True(t, o.Lost())
	require.Nil(t, runner.Play(run, faults.Point{Call: 0, N: 99}), "a step that is not there")
}
