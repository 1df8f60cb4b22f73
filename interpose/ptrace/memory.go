package ptrace

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/rule"
)

// memory is the memory of the process that a thread belongs to. It is read
// only: what would write or pin it fails.
type memory int

var _ copyuser.Memory = memory(0)

// CopyIn reads, and stops at the first page that cannot be read.
func (m memory) CopyIn(dst []byte, from copyuser.Addr) int {
	if !copyuser.AccessOK(from, uint64(len(dst))) {
		return 0
	}
	done := 0
	for step := len(dst); done < len(dst); {
		at := from + copyuser.Addr(done)
		n := m.readv(dst[done:min(done+step, len(dst))], at)
		if n > 0 {
			done += n
			continue
		}
		// A call may give nothing where its first pages are there.
		page := copyuser.PageSize - at.PageOffset()
		if step <= page {
			break
		}
		step = page
	}
	return done
}

// readv is one process_vm_readv; 0 is a fault.
func (m memory) readv(dst []byte, from copyuser.Addr) int {
	if len(dst) == 0 {
		return 0
	}
	local := []unix.Iovec{{Base: &dst[0], Len: uint64(len(dst))}}
	remote := []unix.RemoteIovec{{Base: uintptr(from), Len: len(dst)}}
	n, err := unix.ProcessVMReadv(int(m), local, remote, 0)
	if err != nil {
		return 0
	}
	return n
}

// GetUint64 reads a number.
func (m memory) GetUint64(from copyuser.Addr) (uint64, bool) {
	var b [8]byte
	if m.CopyIn(b[:], from) < len(b) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// CopyOut writes nothing.
func (memory) CopyOut(copyuser.Addr, []byte) int { return 0 }

// Clear writes nothing.
func (memory) Clear(copyuser.Addr, uint64) uint64 { return 0 }

// PutUint16 writes nothing.
func (memory) PutUint16(copyuser.Addr, uint16) bool { return false }

// PutUint32 writes nothing.
func (memory) PutUint32(copyuser.Addr, uint32) bool { return false }

// PutUint64 writes nothing.
func (memory) PutUint64(copyuser.Addr, uint64) bool { return false }

// Pin pins nothing.
func (memory) Pin(copyuser.Addr, uint64, bool) (*copyuser.Pin, error) { return nil, rule.PinUnmapped }

// text reads a string that ends with a 0, of at most unix.PathMax bytes with that.
func (m memory) text(from copyuser.Addr) (string, bool) {
	var b [unix.PathMax]byte
	for done := 0; done < len(b); {
		part := b[done:min(done+copyuser.PageSize-(from+copyuser.Addr(done)).PageOffset(), done+usualPath, len(b))]
		n := m.CopyIn(part, from+copyuser.Addr(done))
		for i, c := range part[:n] {
			if c == 0 {
				return string(b[:done+i]), true
			}
		}
		if n < len(part) {
			break
		}
		done += n
	}
	return "", false
}

// usualPath is how much of a path is read at a time.
const usualPath = 256
