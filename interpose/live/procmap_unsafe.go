package live

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// procmapQuery is struct procmap_query, include/uapi/linux/fs.h.
type procmapQuery struct {
	size, queryFlags, queryAddr                uint64
	start, end, flags, pageSize, offset, inode uint64
	devMajor, devMinor                         uint32
	nameSize, buildIDSize                      uint32
	nameAddr, buildIDAddr                      uint64
}

// PROCMAP_QUERY and enum procmap_query_flags, include/uapi/linux/fs.h.
const (
	ioctlProcmapQuery = 3<<30 | unsafe.Sizeof(procmapQuery{})<<16 | 'f'<<8 | 17 // PROCMAP_QUERY

	procmapReadable       = 0x01 // PROCMAP_QUERY_VMA_READABLE
	procmapWritable       = 0x02 // PROCMAP_QUERY_VMA_WRITABLE
	procmapExecutable     = 0x04 // PROCMAP_QUERY_VMA_EXECUTABLE
	procmapShared         = 0x08 // PROCMAP_QUERY_VMA_SHARED
	procmapCoveringOrNext = 0x10 // PROCMAP_QUERY_COVERING_OR_NEXT_VMA
)

// queryMaps asks for the mapping that holds an address or else is the next.
func queryMaps(maps int, a uint64) (procmapQuery, syscall.Errno) {
	q := procmapQuery{queryFlags: procmapCoveringOrNext, queryAddr: a}
	q.size = uint64(unsafe.Sizeof(q))
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(maps), ioctlProcmapQuery, uintptr(unsafe.Pointer(&q)))
	return q, errno
}
