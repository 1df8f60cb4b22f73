//go:build linux

package device

import (
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// direct is this process.
type direct struct{}

var _ caller = direct{}

func (direct) call(nr uintptr, a args) (int64, error) {
	r, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return -1, errno
	}
	return int64(r), nil
}

func (direct) load(addr uint64, dst []byte) int {
	return eachPage(addr, dst, func(addr uint64, b []byte) bool { return copyOrFault(b, memory(addr, len(b))) })
}

func (direct) store(addr uint64, src []byte) int {
	return eachPage(addr, src, func(addr uint64, b []byte) bool { return copyOrFault(memory(addr, len(b)), b) })
}

// memory is user memory that Go does not manage.
func memory(addr uint64, n int) []byte {
	at := uintptr(addr)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n)
}

// copyOrFault says whether a copy came to its end without a fault.
func copyOrFault(dst, src []byte) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	copy(dst, src)
	return true
}
