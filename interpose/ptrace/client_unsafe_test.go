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

// refuse has the kernel refuse a system call to all threads of this process.
func refuse(nr uint32) error {
	prog := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: nr},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// address is where bytes lie.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }
