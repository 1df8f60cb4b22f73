package seccomp

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestProbe: where programs can be launched, nothing is missing; elsewhere what
// is missing is said.
func TestProbe(t *testing.T) {
	err := Probe(Spec{Command: launcherCommand(t)})
	if err == nil {
		return
	}
	var m *Missing
	require.ErrorAs(t, err, &m)
	require.Empty(t, os.Getenv("CI"), "CI has to be able to run this: %v", m)
}

func TestMissingIsOneLine(t *testing.T) {
	for _, m := range []*Missing{
		missingArch, missingSeccomp, missingNotify, missingContinue, missingAddFD, missingPermission,
		missingListener, missingPtraceScope, missingPtraceCap, missingVM, missingAncestor, missingOwner,
	} {
		require.NotEmpty(t, m.What)
		require.NotEmpty(t, m.Need)
		require.NotEmpty(t, m.Get)
		require.NotContains(t, m.Error(), "\n")
		require.Equal(t, m, parseFailure(failure(m)))
	}
}

func TestFailureMessages(t *testing.T) {
	e := &StartError{Status: 127, Text: "x: command not found"}
	require.Equal(t, e, parseFailure(failure(e)))
	require.Equal(t, &StartError{Status: 126, Text: "EPERM"}, parseFailure([]byte("x\x7eEPERM")))
	for _, msg := range []string{"", "x", "m", "mone\x00two", "?"} {
		require.Contains(t, parseFailure([]byte(msg)).Error(), "something else")
	}
	long := &StartError{Status: 127, Text: strings.Repeat("x", 2*maxMessage)}
	require.Len(t, failure(long), maxMessage)
}

// TestProbeUnderListener: in a tree that has a listener the probe says so.
func TestProbeUnderListener(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	res := run(t, Spec{
		Command: launcherCommand(t),
		Prog:    []string{exe, "-test.run", "^TestProbe$"},
		Env:     append(os.Environ(), "CI=yes"),
	}, nil)
	require.False(t, res.state.Success(), res.out)
	require.Contains(t, res.out, missingListener.What)
}

func TestReach(t *testing.T) {
	child := exec.Command("sleep", "60")
	require.NoError(t, child.Start())
	require.NoError(t, Reach(child.Process.Pid))
	require.NoError(t, child.Process.Kill())
	child.Wait()
	require.Equal(t, unix.ESRCH, Reach(child.Process.Pid))
}

func TestMemoryRefused(t *testing.T) {
	switch err := memoryRefused(unix.EPERM); ptraceScope() {
	case "2":
		require.Equal(t, missingPtraceCap, err)
	case "3":
		require.Equal(t, missingPtraceScope, err)
	default:
		require.ErrorContains(t, err, missingVM.What+" (operation not permitted)")
	}
}

func TestRelease(t *testing.T) {
	tests := []struct {
		release      string
		major, minor int
		want         bool
	}{
		{"6.12.0-amd64", 6, 11, true},
		{"6.11.0", 6, 11, true},
		{"6.1.0-28-amd64", 6, 11, false},
		{"5.19", 5, 19, true},
		{"7.0.0-rc1", 6, 11, true},
		{"5.9.16", 6, 11, false},
		{"nonsense", 0, 0, false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, releaseAtLeast(tt.release, tt.major, tt.minor), tt.release)
	}
}
