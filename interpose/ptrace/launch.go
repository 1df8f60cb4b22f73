package ptrace

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/procstatus"
	"uverbsim/interpose/seccomp"
)

// launchEnv is set for a launcher: the socket to its tracer, and whether reads and
// writes are traced.
const launchEnv = "UVERBSIM_PTRACE"

// self is this command, even where its file has been replaced.
const self = "/proc/self/exe"

// failed is the exit status of a launcher that has not become its program.
const failed = 127

// ServeLauncher does nothing in an ordinary process. In one that was started as a
// launcher it becomes the program to watch and does not return.
func ServeLauncher() {
	config := os.Getenv(launchEnv)
	if config == "" {
		return
	}
	runtime.LockOSThread()
	var sock int
	var transfers bool
	if _, err := fmt.Sscan(config, &sock, &transfers); err != nil || len(os.Args) < 3 {
		os.Exit(failed)
	}
	unix.CloseOnExec(sock)
	err := launch(sock, transfers, os.Args[1], os.Args[2:])
	unix.Write(sock, failure(err)) // who does not hear it sees the status
	os.Exit(failed)
}

// launch waits until this thread is attached, and becomes the program.
func launch(sock int, transfers bool, path string, argv []string) error {
	if _, err := unix.Write(sock, strconv.AppendInt(nil, int64(unix.Gettid()), 10)); err != nil {
		return err
	}
	var word [1]byte
	if n, err := unix.Read(sock, word[:]); err != nil {
		return fmt.Errorf("the tracer does not answer: %w", err)
	} else if n == 0 {
		return errors.New("the tracer has gone")
	}
	os.Unsetenv(launchEnv)
	if err := restrict(filter(transfers)); err != nil {
		return fmt.Errorf("the filter of system calls cannot be installed: %w (needs CONFIG_SECCOMP_FILTER)", err)
	}
	return seccomp.NotStarted(argv[0], unix.Exec(path, argv, os.Environ()))
}

// failure is what a launcher says of its error: the status that a shell would have
// for a program that was not started, else 0, and the text.
func failure(err error) []byte {
	var start *seccomp.StartError
	if errors.As(err, &start) {
		return fmt.Appendf(nil, "%d %s", start.Status, start.Text)
	}
	return fmt.Appendf(nil, "0 %s", err)
}

// restrict installs the filter. It changes what privileges the program can gain
// only where the kernel demands that of who has none itself.
func restrict(prog []unix.SockFilter) error {
	_, err := seccomp.SetFilter(prog, 0)
	if !errors.Is(err, unix.EACCES) {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, err = seccomp.SetFilter(prog, 0)
	return err
}

// launcher is the tracer's end of one.
type launcher struct {
	pid  int
	sock int
}

// startLauncher starts one, as a child of the calling thread.
func startLauncher(path string, argv, env []string, o *Options) (*launcher, error) {
	socks, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(socks[1])
	pid, err := syscall.ForkExec(self, append([]string{os.Args[0], path}, argv...), &syscall.ProcAttr{
		Env:   append(env[:len(env):len(env)], fmt.Sprintf("%s=%d %t", launchEnv, socks[1], o.Transfers)),
		Files: inherited(socks[1], o),
	})
	runtime.KeepAlive(o)
	if err != nil {
		unix.Close(socks[0])
		return nil, err
	}
	return &launcher{pid, socks[0]}, nil
}

// inherited are a launcher's descriptors up to its socket, each with the number
// that it has here: the program gets those that any child would.
func inherited(sock int, o *Options) []uintptr {
	files := []uintptr{o.Stdin.Fd(), o.Stdout.Fd(), o.Stderr.Fd()}
	for fd := len(files); fd < sock; fd++ {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			files = append(files, ^uintptr(0))
			continue
		}
		files = append(files, uintptr(fd))
	}
	return append(files, uintptr(sock))
}

// Close closes the socket.
func (l *launcher) Close() { unix.Close(l.sock) }

// receive is the next that the launcher says, empty when it has gone.
func (l *launcher) receive() string {
	var b [unix.PathMax + 256]byte
	for {
		n, err := unix.Read(l.sock, b[:])
		if !errors.Is(err, unix.EINTR) {
			return string(b[:max(n, 0)])
		}
	}
}

// failure is the error of a launcher that has not become its program.
func (l *launcher) failure() error {
	said := l.receive()
	if said == "" {
		return nil
	}
	head, text, _ := strings.Cut(said, " ")
	status, err := strconv.Atoi(head)
	if err != nil || status == 0 {
		return errors.New(text)
	}
	return &seccomp.StartError{Status: status, Text: text}
}

// errGone is the error of a launcher that has ended before it was attached.
var errGone = errors.New("the launcher has ended: does this command call ServeLauncher?")

// attach attaches the launcher's thread and lets it go on.
func (l *launcher) attach() error {
	said := l.receive()
	if said == "" {
		return errGone
	}
	tid, err := strconv.Atoi(said)
	if err != nil {
		return fmt.Errorf("the launcher says %q", said)
	}
	if err := seize(tid); errors.Is(err, unix.ESRCH) {
		return errGone
	} else if err != nil {
		return forbidden(l.pid, err)
	}
	if _, err := unix.SendmsgN(l.sock, []byte{1}, nil, nil, unix.MSG_NOSIGNAL); err != nil {
		return errGone
	}
	return nil
}

// seize attaches a thread to the calling one.
func seize(tid int) error {
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0, traceOptions, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// yamaScope says who may trace whom (Documentation/admin-guide/LSM/Yama.rst).
const yamaScope = "/proc/sys/kernel/yama/ptrace_scope"

// forbidden is the error for a process that cannot be traced.
func forbidden(pid int, err error) error {
	m := &seccomp.Missing{
		What: fmt.Sprintf("the program cannot be traced: %v", err), Need: "permission to trace a child",
		Get: "in a container, start it with --cap-add SYS_PTRACE or --security-opt seccomp=unconfined",
	}
	scope, _ := os.ReadFile(yamaScope)
	status, _ := procstatus.Read(pid)
	tracer := status.Tracer // a thread
	if s, err := procstatus.Read(tracer); err == nil {
		tracer = s.TGID
	}
	switch s := strings.TrimSpace(string(scope)); {
	case tracer > 0:
		m.Need, m.Get = "a program without another tracer", fmt.Sprintf("run this without process %d, which traces it (strace -f, a debugger)", tracer)
	case s == "3":
		m.Need, m.Get = "kernel.yama.ptrace_scope below 3", "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and boot again, for 3 cannot be left"
	case s == "2":
		m.Need, m.Get = "CAP_SYS_PTRACE, or kernel.yama.ptrace_scope below 2", "as root: sysctl kernel.yama.ptrace_scope=1; in a container, add --cap-add SYS_PTRACE"
	}
	return m
}
