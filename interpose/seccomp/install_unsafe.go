package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// setModeFilter is seccomp(SECCOMP_SET_MODE_FILTER).
func setModeFilter(filter []unix.SockFilter, flags uintptr) (int, unix.Errno) {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	return int(fd), errno
}
