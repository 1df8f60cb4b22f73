//go:build !linux || !amd64

package ptrace

import (
	"context"
	"errors"
	"syscall"

	"uverbsim/interpose/watch"
)

// Run refuses: only Linux on x86-64 has what it takes.
func Run(context.Context, []string, []string, watch.Watcher, Options) (syscall.WaitStatus, error) {
	return 0, errors.New("a program can only be watched on Linux on x86-64")
}

// ServeLauncher does nothing where Run refuses.
func ServeLauncher() {}
