package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// SetFilter puts the calling thread under a filter for ever: it is
// seccomp(SECCOMP_SET_MODE_FILTER). The number is that of the listener's descriptor,
// if the flags ask for one.
func SetFilter(filter []unix.SockFilter, flags uintptr) (int, error) {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
