package live

import (
	"math/bits"
	"sync/atomic"
	"time"
	"unsafe"
)

// memoryAt returns this process's own memory at an address that it has mapped.
func memoryAt(a uint64, n int) []byte {
	p := uintptr(a)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n)
}

// watch looks for a while at the 64 bytes at a, where somebody counts: each 8 bytes
// have the number twice, the second time with its bytes in reverse, so that the
// outermost change most. It returns whether the last 8 bytes always had it so, and the
// first were not older than they.
func watch(a uint64, d time.Duration) bool {
	first := (*atomic.Uint64)(unsafe.Pointer(&memoryAt(a, 8)[0]))
	last := (*atomic.Uint64)(unsafe.Pointer(&memoryAt(a+56, 8)[0]))
	whole := func(w uint64) bool { return uint32(w) == bits.ReverseBytes32(uint32(w>>32)) }
	for over := time.Now().Add(d); time.Now().Before(over); {
		for range 1000 {
			end := last.Load()
			if !whole(end) || int32(uint32(first.Load())-uint32(end)) < 0 {
				return false
			}
		}
	}
	return true
}
