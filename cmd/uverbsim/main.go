// Command uverbsim shows the modelled kernel at work.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"uverbsim/interpose/ptrace"
	"uverbsim/interpose/seccomp"
	"uverbsim/sim_test/device"
	"uverbsim/sim_test/guest"
)

func main() {
	guest.ServeInit()
	device.ServeAgent()
	ptrace.ServeLauncher()
	if len(os.Args) > 1 && os.Args[1] == launchArgument {
		os.Exit(seccomp.Main(os.Args[2:]))
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// errDiffers is the error of a command that has done its work and found what
// it was to look for; it has been told.
var errDiffers = errors.New("answers differ")

// output is a standard output that remembers the first error, for who does not look at it.
type output struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// run returns the exit status: 1 for errDiffers, 2 for a command that could
// not do its work, 3 if this machine lacks what it needs, and what a shell says of a
// program that could not be started or that a signal has ended.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &output{w: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.Execute()
	if out.err != nil && (err == nil || errors.Is(err, errDiffers)) {
		err = out.err
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errDiffers):
		return 1
	}
	fmt.Fprintln(stderr, "uverbsim:", err)
	var missing *seccomp.Missing
	var start *seccomp.StartError
	var sig signalled
	switch {
	case errors.As(err, &missing):
		return 3
	case errors.As(err, &start):
		return start.Status
	case errors.As(err, &sig):
		return 128 + int(sig.Signal)
	}
	return 2
}
