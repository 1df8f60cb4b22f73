package ptrace_test

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"uverbsim/spec"
)

// verbs makes an RDMA_VERBS_IOCTL.
func verbs(fd int, arg []byte) error {
	return verbsAt(fd, uintptr(unsafe.Pointer(&arg[0])))
}

func verbsAt(fd int, arg uintptr) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), spec.RDMA_VERBS_IOCTL, arg); errno != 0 {
		return errno
	}
	return nil
}

// address is where bytes lie.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }
