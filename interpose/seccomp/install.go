package seccomp

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Install puts the calling thread under filter for ever, and returns the file
// on which its notified calls arrive. The goroutine stays locked to its thread.
//
// Only this thread is filtered, and what it executes or forks from then on; the
// program's other threads are not. It is for a launcher that executes another
// program right after: calls that the filter notifies, also those that the Go
// runtime makes on this thread, wait until somebody answers them.
//
// The error is a *Missing where the kernel refuses.
func Install(filter []unix.SockFilter) (*os.File, error) {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("prctl(PR_SET_NO_NEW_PRIVS): %w", err)
	}
	// A task whose call has been taken must not be interrupted by a signal,
	// or the call would be run once more when it is restarted.
	fd, err := SetFilter(filter, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if err == unix.EINVAL { // before Linux 5.19
		fd, err = SetFilter(filter, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	switch err {
	case nil:
		return os.NewFile(uintptr(fd), "seccomp listener"), nil
	case unix.EBUSY:
		return nil, missingListener
	case unix.EPERM, unix.EACCES:
		return nil, missingPermission
	case unix.ENOSYS:
		return nil, missingSeccomp
	case unix.EINVAL:
		return nil, missingNotify
	}
	return nil, fmt.Errorf("seccomp(SECCOMP_SET_MODE_FILTER): %w", err)
}
