package seccomp

import (
	"errors"
	"io/fs"
	"os/exec"

	"golang.org/x/sys/unix"
)

// The statuses of a shell for a program that is not there, and for one that cannot be
// executed.
const (
	notFound      = 127
	notExecutable = 126
)

// StartError says in a shell's words why a program was not started.
type StartError struct {
	Status int // what a shell would exit with
	Text   string
}

func (e *StartError) Error() string { return e.Text }

// LookPath finds a program as a shell does, which has nothing against the working
// directory in PATH. The error is a *StartError.
func LookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, nil
	}
	return "", NotStarted(name, err)
}

// NotStarted is the *StartError for a program that was not found, or not executed,
// for that error.
func NotStarted(name string, err error) error {
	var errno unix.Errno
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return &StartError{notFound, name + ": command not found"}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return &StartError{notFound, name + ": no such file or directory"}
	case errors.As(err, &errno):
		return &StartError{notExecutable, name + ": " + errno.Error()}
	}
	return &StartError{notExecutable, name + ": permission denied"}
}
