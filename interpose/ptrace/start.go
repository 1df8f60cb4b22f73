package ptrace

import (
	"errors"
	"io/fs"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/seccomp"
)

// The statuses of a shell for a program that is not there, and for one that cannot
// be run.
const (
	notFound    = 127
	notRunnable = 126
)

// lookPath finds a program as a shell does, in the working directory too if PATH
// has it.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, nil
	}
	return "", notStarted(name, err)
}

// notStarted says why a program was not started as a shell would.
func notStarted(name string, err error) error {
	var errno unix.Errno
	switch {
	case errors.Is(err, exec.ErrNotFound) && !strings.Contains(name, "/"):
		return &seccomp.StartError{Status: notFound, Text: name + ": command not found"}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return &seccomp.StartError{Status: notFound, Text: name + ": no such file or directory"}
	case errors.As(err, &errno):
		return &seccomp.StartError{Status: notRunnable, Text: name + ": " + errno.Error()}
	}
	return &seccomp.StartError{Status: notRunnable, Text: name + ": permission denied"}
}
