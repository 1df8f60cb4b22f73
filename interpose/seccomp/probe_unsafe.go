package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// probeIoctl is a uverbs ioctl on no descriptor.
func probeIoctl(word *[8]byte) (uintptr, unix.Errno) {
	r, _, errno := unix.Syscall(unix.SYS_IOCTL, ^uintptr(0), RDMA_VERBS_IOCTL, uintptr(unsafe.Pointer(word)))
	return r, errno
}
