package recorded

import (
	"os"
	"os/exec"
	"testing"

	"uverbsim/interpose/seccomp"
)

// launchArgument makes the test the launcher of a program.
const launchArgument = "__launch"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == launchArgument {
		os.Exit(seccomp.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// need has the test be skipped where a program is not installed, but not in CI,
// which installs all of them.
func need(t *testing.T, program string) {
	t.Helper()
	_, err := exec.LookPath(program)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("%s is not installed", program)
	default:
		t.Skipf("%s is not installed", program)
	}
}
