package interpose

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Die ends this process as the program has ended: with its status, or by the same
// signal.
func Die(status syscall.WaitStatus) {
	if status.Signaled() {
		dieBy(status.Signal())
	}
	os.Exit(status.ExitStatus())
}

// dieBy ends this process by a signal, without a core of its own: the program has
// left one if it was to. If that cannot be, the status is what a shell makes of it.
func dieBy(s syscall.Signal) {
	runtime.LockOSThread()
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	setDefault(s)
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), s)
	time.Sleep(time.Second) // it comes now
	os.Exit(128 + int(s))
}
