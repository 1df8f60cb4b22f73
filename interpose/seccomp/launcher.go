package seccomp

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main is the launcher that Launch starts, args the arguments after those of
// Spec.Command. It becomes the program; if it cannot, its parent has been told
// why, and it returns the status to exit with.
func Main(args []string) int {
	runtime.LockOSThread()
	a, err := parseLauncherArgs(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	unix.CloseOnExec(a.socket)
	err = a.run()
	sendMessage(a.socket, failure(err), nil)
	var start *StartError
	if errors.As(err, &start) {
		return start.Status
	}
	return notExecutable
}

// run returns only if the program could not be executed. The program is looked
// for before the filter is there, so that what is missing is found without help
// from the parent.
func (a launcherArgs) run() error {
	var path string
	if !a.probe {
		var err error
		if path, err = LookPath(a.prog[0]); err != nil {
			return err
		}
	}
	listener, err := Install(Filter(a.opts))
	if err != nil {
		return err
	}
	if err := sendMessage(a.socket, []byte{msgListener}, listener); err != nil {
		return fmt.Errorf("sending the listener: %w", err)
	}
	listener.Close()
	if msg, _, err := recvMessage(a.socket); err != nil || len(msg) == 0 {
		os.Exit(1) // nobody is there to be told
	}
	if a.probe {
		unix.Close(a.socket)
		os.Exit(probed())
	}
	return NotStarted(a.prog[0], syscall.Exec(path, a.prog, os.Environ()))
}
