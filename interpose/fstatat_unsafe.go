package interpose

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// fstatat looks at name, below the directory. It is made for every call on a
// device, and so without a copy of the name.
func fstatat(dir int, name []byte, st *unix.Stat_t) error {
	name = append(name, 0)
	_, _, e := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(dir), uintptr(unsafe.Pointer(&name[0])),
		uintptr(unsafe.Pointer(st)), 0, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// bytesOf returns a struct of the kernel as it lies in memory.
func bytesOf[T unix.Stat_t | unix.Statx_t](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}
