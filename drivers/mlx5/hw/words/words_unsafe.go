// Package words accesses big-endian words of memory that a program shares with
// the device and stores to at any time: register pages that are plain memory, and
// doorbell records. Each access is atomic, and none is moved past another
// one. The word at off must lie at a multiple of its length in memory.
package words

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// Load32 returns the 32-bit word at off.
func Load32(b []byte, off int) uint32 { return bits.ReverseBytes32(atomic.LoadUint32(at32(b, off))) }

// Store32 stores a 32-bit word at off.
func Store32(b []byte, off int, v uint32) { atomic.StoreUint32(at32(b, off), bits.ReverseBytes32(v)) }

// Load64 returns the 64-bit word at off.
func Load64(b []byte, off int) uint64 { return bits.ReverseBytes64(atomic.LoadUint64(at64(b, off))) }

// Store64 stores a 64-bit word at off.
func Store64(b []byte, off int, v uint64) { atomic.StoreUint64(at64(b, off), bits.ReverseBytes64(v)) }

// Swap64 stores a 64-bit word at off and returns what stood there.
func Swap64(b []byte, off int, v uint64) uint64 {
	return bits.ReverseBytes64(atomic.SwapUint64(at64(b, off), bits.ReverseBytes64(v)))
}

func at32(b []byte, off int) *uint32 { return (*uint32)(unsafe.Pointer(&b[off : off+4][0])) }

func at64(b []byte, off int) *uint64 { return (*uint64)(unsafe.Pointer(&b[off : off+8][0])) }
