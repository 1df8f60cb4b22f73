package interpose

import "golang.org/x/sys/unix"

// peek reads a thread's memory and returns how much it has read, and why no more.
func peek(tid int, b []byte, from uint64) (int, unix.Errno) {
	return transfer(unix.ProcessVMReadv, tid, b, from)
}

// poke writes to a thread's memory, and says whether all has been written.
func poke(tid int, to uint64, b []byte) bool {
	n, _ := transfer(unix.ProcessVMWritev, tid, b, to)
	return n == len(b)
}

func transfer(move func(int, []unix.Iovec, []unix.RemoteIovec, uint) (int, error), tid int, b []byte, at uint64) (int, unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	remote := []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}
	n, err := move(tid, local, remote, 0)
	if err != nil {
		return 0, errnoOf(err)
	}
	return n, 0
}
