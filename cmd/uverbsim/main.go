// Command uverbsim shows the modelled kernel at work.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"uverbsim/sim_test/device"
	"uverbsim/sim_test/guest"
)

func main() {
	guest.ServeInit()
	device.ServeAgent()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// errDiffers is the error of a command that has done its work and found what
// it was to look for; it has been told.
var errDiffers = errors.New("answers differ")

// run returns the exit status: 1 for errDiffers, 2 for a command that could
// not do its work.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errDiffers):
		return 1
	}
	fmt.Fprintln(stderr, "uverbsim:", err)
	return 2
}
