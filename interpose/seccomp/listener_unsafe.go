package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// notifResp is struct seccomp_notif_resp, include/uapi/linux/seccomp.h.
type notifResp struct {
	id    uint64
	val   int64
	error int32
	flags uint32
}

// notifAddFD is struct seccomp_notif_addfd, include/uapi/linux/seccomp.h.
type notifAddFD struct {
	id         uint64
	flags      uint32
	srcfd      uint32
	newfd      uint32
	newfdFlags uint32
}

// ioctlRecv waits, so that the scheduler has to know of it.
func ioctlRecv(fd int, n *Notif) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(n)))
	return errno
}

// ioctlSend does not wait but for a lock that is held shortly: the scheduler is
// not told of it, which would cost as much as the call.
func ioctlSend(fd int, r *notifResp) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(r)))
	return errno
}

func ioctlIDValid(fd int, id uint64) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_ID_VALID, uintptr(unsafe.Pointer(&id)))
	return errno
}

// ioctlAddFD waits until the notified task has taken the descriptor.
func ioctlAddFD(fd int, a *notifAddFD) (int, unix.Errno) {
	added, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_ADDFD, uintptr(unsafe.Pointer(a)))
	return int(added), errno
}

func ioctlSetFlags(fd int, flags uintptr) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags)
	return errno
}
