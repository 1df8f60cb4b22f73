package methods

import (
	"encoding/binary"
	"math"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/spec"
)

// The write() commands that post work requests. A request has three parts: the
// command's struct, the work requests, each wqe_size bytes apart, and the
// pieces of memory of all of them one after the other.

// kmallocMax is KMALLOC_MAX_SIZE of a 64-bit machine with pages of 4 KiB, in
// bytes: a larger kmalloc always fails.
const kmallocMax = 4 << 20

// maxSGEs is the number of pieces from which on the size of a work request's
// allocation would not fit into 32 bits. The kernel's bound depends a little on
// the opcode; no request can tell, since what comes here is either as small as
// the request or near 2^32.
const maxSGEs = math.MaxUint32/spec.SGESize - 8

// copySGEs copies n pieces of memory; false is a fault.
func copySGEs(b *kernel.Bundle, from copyuser.Addr, n uint32) ([]core.SGE, bool) {
	raw := make([]byte, n*spec.SGESize)
	if !copyuser.CopyFromUser(b.Trace(), b.Task().Mem, raw, from) {
		return nil, false
	}
	sges := make([]core.SGE, n)
	for i := range sges {
		sges[i] = core.SGE{
			Addr:   binary.LittleEndian.Uint64(raw[i*spec.SGESize:]),
			Length: binary.LittleEndian.Uint32(raw[i*spec.SGESize+8:]),
			LKey:   binary.LittleEndian.Uint32(raw[i*spec.SGESize+12:]),
		}
	}
	return sges, true
}

// badWR returns how many of n work requests the driver looked at when it
// refused the one with the index bad.
func badWR(bad, n int) uint32 { return uint32(min(bad+1, n)) }
