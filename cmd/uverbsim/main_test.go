package main

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"uverbsim/interpose/ptrace"
	"uverbsim/sim_test/device"
	"uverbsim/sim_test/guest"
)

// update is the flag of all golden files of this package, and of the outputs and diagrams in docs/.
var update = flag.Bool("update", false, "write the golden files, and the outputs and diagrams in docs/")

// TestMain lets this program be what the command starts itself as, and the command `uverbsim` of the pages in
// docs/.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == launchArgument {
		main()
	}
	// The walks over the corpus make much garbage and keep little: a third of their time would go into collecting it.
	debug.SetGCPercent(400)
	guest.ServeInit()
	device.ServeAgent()
	ptrace.ServeLauncher()
	testscript.Main(m, map[string]func(){"uverbsim": main})
}
