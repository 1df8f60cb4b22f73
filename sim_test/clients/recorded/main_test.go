package recorded

import (
	"os"
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
