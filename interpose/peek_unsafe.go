package interpose

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// peek reads a thread's memory and returns how much it has read.
func peek(tid int, b []byte, from uint64) int {
	return transfer(unix.SYS_PROCESS_VM_READV, tid, b, from)
}

// poke writes to a thread's memory and returns how much it has written.
func poke(tid int, to uint64, b []byte) int { return transfer(unix.SYS_PROCESS_VM_WRITEV, tid, b, to) }

func transfer(nr uintptr, tid int, b []byte, at uint64) int {
	if len(b) == 0 {
		return 0
	}
	type iovec struct {
		base uintptr
		len  uint64
	}
	local := unix.Iovec{Base: &b[0], Len: uint64(len(b))}
	remote := iovec{uintptr(at), uint64(len(b))}
	n, _, e := unix.Syscall6(nr, uintptr(tid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if e != 0 {
		return 0
	}
	return int(n)
}
