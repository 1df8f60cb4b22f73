package ptrace

import (
	"context"
	"errors"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/seccomp"
	"uverbsim/interpose/watch"
)

// Run starts a program and returns when it and all its children have ended, with
// the status of the program. The environment is the caller's if env is nil. The
// watcher is called on one goroutine.
//
// The error is a *seccomp.StartError if the program cannot be started, and a
// *seccomp.Missing if the machine does not permit it to be watched. If the context
// ends, the program and its children are killed, and its error is returned.
//
// The command that calls Run has to call [ServeLauncher] at its start.
func Run(ctx context.Context, argv, env []string, w watch.Watcher, o Options) (syscall.WaitStatus, error) {
	if len(argv) == 0 {
		return 0, errors.New("no program to run")
	}
	path, err := seccomp.LookPath(argv[0])
	if err != nil {
		return 0, err
	}
	if env == nil {
		env = os.Environ()
	}
	o.defaults()
	t := newTracer(w, o)
	type result struct {
		status syscall.WaitStatus
		err    error
	}
	ended := make(chan result)
	go onChildless(make(chan struct{}), func() {
		status, err := t.run(path, argv, env)
		ended <- result{status, err}
	})
	select {
	case r := <-ended:
		return r.status, r.err
	case <-ctx.Done():
		t.kill()
		r := <-ended
		return r.status, errors.Join(ctx.Err(), r.err)
	}
}

// onChildless calls f on a thread that has no children, and on which it remains:
// a tracee obeys only the thread that has attached it, and that would take the
// children that another goroutine has started from it for the program's. It closes
// chosen when it has found one.
func onChildless(chosen chan struct{}, f func()) {
	runtime.LockOSThread()
	if children, err := os.ReadFile("/proc/thread-self/children"); err != nil || len(children) == 0 {
		close(chosen)
		f()
		return // the thread ends here, too
	}
	go onChildless(chosen, f) // on another one, as this one is held
	<-chosen
	runtime.UnlockOSThread()
}

// run is Run on the thread that traces.
func (t *tracer) run(path string, argv, env []string) (syscall.WaitStatus, error) {
	l, err := startLauncher(path, argv, env, &t.o)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	t.first = l.pid
	t.adopt(l.pid, nil)
	if t.o.Started != nil {
		t.o.Started(l.pid)
	}
	if err := l.attach(); err != nil {
		if !errors.Is(err, errGone) {
			t.kill()
		}
		if err := t.loop(); err != nil {
			return 0, err
		}
		if errors.Is(err, errGone) && t.status.Signaled() {
			return syscall.WaitStatus(t.status), nil // somebody has killed it
		}
		return 0, err
	}
	if err := t.loop(); err != nil {
		t.kill()
		return 0, errors.Join(err, t.loop())
	}
	return syscall.WaitStatus(t.status), l.failure()
}

// traceOptions are what the threads are attached with.
const traceOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACEEXEC |
	unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
