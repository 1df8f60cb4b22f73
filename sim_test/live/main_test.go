// Package live plays the recorded cases on live processes: the player and its
// agents are programs under a Supervisor, make real system calls, and get the
// recorded answers, as they would from a real kernel. What stands behind the
// Supervisor is the machine that package model boots.
package live

import (
	"fmt"
	"os"
	"testing"

	"uverbsim/interpose/seccomp"
	"uverbsim/sim_test/device"
	"uverbsim/sim_test/suite"
)

// The programs under test are this binary, started again.
const (
	launchArg = "__launch"
	playArg   = "__play"
)

// filesAtOnce is how many files of cases are played at once: more than there are
// processors, since a player mostly waits for the machine.
const filesAtOnce = 6

func TestMain(m *testing.M) {
	device.ServeAgent()
	if len(os.Args) > 2 && os.Args[1] == launchArg {
		os.Exit(seccomp.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == playArg {
		if err := play(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "player:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	suite.AtOnce(filesAtOnce)
	os.Exit(m.Run())
}
