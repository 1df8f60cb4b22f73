package main

import (
	"flag"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"uverbsim/interpose/ptrace"
	"uverbsim/sim_test/device"
	"uverbsim/sim_test/guest"
)

// update is the flag of all golden files of this package, and of the outputs and diagrams in docs/.
var update = flag.Bool("update", false, "write the golden files, and the outputs and diagrams in docs/")

// TestFullOutput: what could not be written is an error, of help too, in one line.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	for _, args := range [][]string{{}, {"--help"}, {"help", "run"}, {"run", "-h"}, {"lab"}, {"completion", "bash"}, {"rules"}} {
		var errs strings.Builder
		require.Equal(t, 2, run(args, strings.NewReader(""), full, &errs), args)
		require.Equal(t, "uverbsim: write /dev/full: no space left on device\n", errs.String(), args)
	}
}

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
