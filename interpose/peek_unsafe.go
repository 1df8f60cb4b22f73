package interpose

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// peek reads a thread's memory and returns how much it has read, and why no more.
func peek(tid int, b []byte, from uint64) (int, unix.Errno) {
	return transfer(unix.SYS_PROCESS_VM_READV, tid, b, from)
}

// poke writes to a thread's memory, and says whether all has been written.
func poke(tid int, to uint64, b []byte) bool {
	n, _ := transfer(unix.SYS_PROCESS_VM_WRITEV, tid, b, to)
	return n == len(b)
}

func transfer(nr uintptr, tid int, b []byte, at uint64) (int, unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	local := unix.Iovec{Base: &b[0], Len: uint64(len(b))}
	remote := unix.RemoteIovec{Base: uintptr(at), Len: len(b)}
	n, _, e := unix.Syscall6(nr, uintptr(tid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}
