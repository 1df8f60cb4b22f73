package ptrace

import (
	"golang.org/x/sys/unix"

	"uverbsim/interpose/seccomp"
)

// filter is the program that decides, of each system call, whether it stops.
func filter(transfers bool) []unix.SockFilter {
	const stop = unix.SECCOMP_RET_TRACE
	argument := func(n int, mask, value uint32) []seccomp.Condition {
		return []seccomp.Condition{{Word: seccomp.Low(n), Mask: mask, Value: value}}
	}
	rules := []seccomp.Rule{
		{Calls: []uint32{unix.SYS_IOCTL}, If: argument(1, 0, verbsIoctl), Action: stop},
		// An mmap that shares a file. MAP_SHARED is a bit of MAP_SHARED_VALIDATE, too.
		{Calls: []uint32{unix.SYS_MMAP}, If: argument(3, unix.MAP_SHARED|unix.MAP_ANONYMOUS, unix.MAP_SHARED), Action: stop},
		// Those of fcntl's commands that copy a descriptor.
		{Calls: []uint32{unix.SYS_FCNTL}, If: argument(1, 0, unix.F_DUPFD), Action: stop},
		{Calls: []uint32{unix.SYS_FCNTL}, If: argument(1, 0, unix.F_DUPFD_CLOEXEC), Action: stop},
		{Calls: []uint32{unix.SYS_OPENAT, unix.SYS_CLOSE, unix.SYS_OPEN, unix.SYS_OPENAT2}, Action: stop},
		{Calls: []uint32{unix.SYS_DUP, unix.SYS_DUP2, unix.SYS_DUP3, unix.SYS_CLOSE_RANGE}, Action: stop},
	}
	if transfers {
		rules = append(rules, seccomp.Rule{Calls: []uint32{unix.SYS_READ, unix.SYS_WRITE}, Action: stop})
	}
	return seccomp.Compile(rules)
}
