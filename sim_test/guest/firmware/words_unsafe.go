package firmware

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// load32 and store32 access a big-endian word of shared memory, which lies at a
// multiple of 4, in one piece.
func load32(b []byte, off int) uint32 { return bits.ReverseBytes32(atomic.LoadUint32(word(b, off))) }

func store32(b []byte, off int, v uint32) { atomic.StoreUint32(word(b, off), bits.ReverseBytes32(v)) }

func word(b []byte, off int) *uint32 { return (*uint32)(unsafe.Pointer(&b[off : off+4][0])) }

// swap64 stores v in the place of the big-endian words at a multiple of 8 and
// returns what stood there, in one piece.
func swap64(b []byte, off int, v uint64) uint64 {
	p := (*uint64)(unsafe.Pointer(&b[off : off+8][0]))
	return bits.ReverseBytes64(atomic.SwapUint64(p, bits.ReverseBytes64(v)))
}
