package interpose

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setDefault takes a signal from the Go runtime: it does to this process what it
// does to any, and this thread lets it through.
func setDefault(s syscall.Signal) {
	var action struct{ handler, flags, restorer, mask uint64 } // struct sigaction of the kernel; SIG_DFL is 0
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, unsafe.Sizeof(action.mask), 0, 0)
	var set unix.Sigset_t
	set.Val[(s-1)/64] = 1 << ((s - 1) % 64)
	_ = unix.PthreadSigmask(unix.SIG_UNBLOCK, &set, nil)
}
