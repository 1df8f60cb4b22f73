package seccomp

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Spec says what Launch starts.
type Spec struct {
	// Command is the launcher: an executable (usually this one,
	// os.Executable) and the arguments by which it knows to call Main with
	// the arguments that follow.
	Command []string
	// Prog is the program, looked up in PATH, and its arguments.
	Prog []string
	Options
	// Dir is the working directory, Env the environment: the caller's own if
	// empty, nil.
	Dir string
	Env []string
	// Stdin, Stdout and Stderr are the caller's own if nil.
	Stdin, Stdout, Stderr *os.File
	// Started, if set, is told the program's process id before it runs.
	Started func(pid int)
}

// Launched is a program that waits to be executed, or runs.
type Launched struct {
	// Process becomes the program: its exit status and signals are the
	// program's.
	Process  *os.Process
	Listener *Listener

	socket int
}

// Launch starts the launcher and returns when it has installed the filter. The
// caller then begins to answer the listener's calls, and calls Go.
//
// The program gets the environment, working directory, signal mask and
// descriptors that this process was started with, those above 2 too, by the
// same numbers, unless they are closed on exec. Signals that were ignored are
// at their default in the program, but for SIGHUP and SIGINT: the Go runtime
// has taken them over.
//
// The error is a *StartError if the program is not found, and a *Missing if the
// kernel refuses the filter; nothing is left running then.
func Launch(spec Spec) (*Launched, error) {
	return launch(spec, launcherArgs{opts: spec.Options, prog: spec.Prog})
}

func launch(spec Spec, args launcherArgs) (*Launched, error) {
	switch {
	case len(spec.Command) == 0:
		return nil, errors.New("no launcher to start")
	case len(args.prog) == 0 && !args.probe:
		return nil, errors.New("no program to launch")
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	p := &Launched{socket: pair[0]}
	p.Process, err = start(spec, args, pair[1])
	unix.Close(pair[1])
	if err != nil {
		unix.Close(pair[0])
		return nil, fmt.Errorf("launcher: %w", err)
	}
	msg, f, err := recvMessage(p.socket)
	if err == nil && len(msg) == 1 && msg[0] == msgListener && f != nil {
		p.Listener = NewListener(f)
		if spec.Started != nil {
			spec.Started(p.Process.Pid)
		}
		return p, nil
	}
	if f != nil {
		f.Close()
	}
	return nil, p.abandon(msg, err)
}

// Go lets the launcher execute the program, and returns when it has. The
// execve, like all that is notified, has to be answered meanwhile. The error is
// a *StartError if the program cannot be executed; the process has been waited
// for then, and the listener is the caller's to close.
func (p *Launched) Go() error {
	if err := sendMessage(p.socket, []byte{msgGo}, nil); err != nil {
		return p.abandon(nil, err)
	}
	msg, _, err := recvMessage(p.socket)
	if err != nil || len(msg) > 0 {
		return p.abandon(msg, err)
	}
	unix.Close(p.socket)
	return nil
}

// Stop ends the launcher of a program that shall not be executed. The listener is the
// caller's to close.
func (p *Launched) Stop() {
	unix.Close(p.socket)
	_ = p.Process.Kill()
	_, _ = p.Process.Wait()
}

// abandon ends what did not start, and returns the reason.
func (p *Launched) abandon(msg []byte, err error) error {
	unix.Close(p.socket)
	if err != nil || len(msg) > 0 && msg[0] == msgListener {
		p.Process.Kill()
	}
	state, waitErr := p.Process.Wait()
	switch {
	case err != nil:
		return fmt.Errorf("launcher: %w", err)
	case len(msg) > 0:
		return parseFailure(msg)
	case waitErr != nil:
		return fmt.Errorf("launcher: %w", waitErr)
	}
	return fmt.Errorf("launcher: %v before the program was started", state)
}

// start starts the launcher with socket as a descriptor above all that the
// program inherits.
func start(spec Spec, args launcherArgs, socket int) (*os.Process, error) {
	files := inherited()
	for i, f := range []*os.File{spec.Stdin, spec.Stdout, spec.Stderr} {
		if f != nil {
			files[i] = f.Fd()
		}
	}
	args.socket = len(files)
	env := spec.Env
	if env == nil {
		env = os.Environ()
	}
	argv := append(append([]string{}, spec.Command...), args.strings()...)
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir:   spec.Dir,
		Env:   env,
		Files: append(files, uintptr(socket)),
	})
	if err == unix.EBADF {
		return nil, fmt.Errorf("descriptor %d is inherited, but the limit of descriptors (ulimit -n) is lower", len(files)-1)
	}
	if err != nil {
		return nil, &os.PathError{Op: "fork/exec", Path: argv[0], Err: err}
	}
	return os.FindProcess(pid)
}

// inherited returns this process's descriptors that are not closed on exec,
// each at the index that is its number; the numbers between are closed. The
// first three are always there.
func inherited() []uintptr {
	files := []uintptr{0, 1, 2}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < 3 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		for len(files) <= fd {
			files = append(files, ^uintptr(0))
		}
		files[fd] = uintptr(fd)
	}
	return files
}
