//go:build linux

package device

// args are those of a system call.
type args [6]uintptr

// caller makes system calls in one thread of one process, and accesses that
// process's memory as its own instructions do. Its errors are an errno, or that
// the process is gone.
type caller interface {
	call(nr uintptr, a args) (int64, error)
	load(addr uint64, dst []byte) int
	store(addr uint64, src []byte) int
}

const pageSize = 4096

// eachPage calls access for b in pieces, none of which crosses a page of the
// memory at addr, and returns how many bytes it came.
func eachPage(addr uint64, b []byte, access func(addr uint64, b []byte) bool) int {
	for done := 0; done < len(b); {
		at := addr + uint64(done)
		n := min(len(b)-done, int(pageSize-at%pageSize))
		if !access(at, b[done:done+n]) {
			return done
		}
		done += n
	}
	return len(b)
}
