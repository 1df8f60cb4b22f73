package request

import (
	"encoding/binary"

	"uverbsim/copyuser"
	"uverbsim/rule"
)

// userEnd is the end of the addresses that a user can have.
const userEnd = 1 << 47

// place is where a request is put of which nobody says where it lies.
const place = 0x7f0000000000

// Placed returns the request at an address that a program's request can have:
// its own, or another where it has none or one of the kernel's.
func (r *Request) Placed() *Request {
	if r.Addressed && r.At < userEnd {
		return r
	}
	q := *r
	q.Memory = nil
	for _, m := range r.Memory {
		if !(m.Addr <= r.At && r.At < m.end()) {
			q.Memory = append(q.Memory, m)
		}
	}
	q.At = place
	for i := 0; i < len(q.Memory); i++ {
		if m := &q.Memory[i]; m.Addr < q.At+2*MaxBytes && q.At < m.end()+MaxBytes {
			q.At += 4 * MaxBytes
			i = -1
		}
	}
	q.Memory, _ = join(append(q.Memory, Range{q.At, r.Bytes})) // nothing is near it
	return &q
}

// Mem is the memory that the text shows, for reading. All else faults, or with
// all else is zero where a user's memory can be.
func (r *Request) Mem(all bool) copyuser.Memory { return &memory{r.Memory, all} }

// memory is a copyuser.Memory of ranges.
type memory struct {
	ranges []Range
	all    bool
}

// CopyIn implements copyuser.Memory.
func (m *memory) CopyIn(dst []byte, from copyuser.Addr) int {
	n := 0
	for n < len(dst) {
		b, ok := m.at(uint64(from)+uint64(n), len(dst)-n)
		if !ok {
			break
		}
		n += copy(dst[n:], b)
	}
	return n
}

// at returns some of the n bytes at an address, false if there are none.
func (m *memory) at(a uint64, n int) ([]byte, bool) {
	next := uint64(userEnd)
	for i := range m.ranges {
		r := &m.ranges[i]
		if r.Addr <= a && a < r.end() {
			return r.Bytes[a-r.Addr:], true
		}
		if r.Addr > a {
			next = min(next, r.Addr)
		}
	}
	if !m.all || a < firstAddress || a >= userEnd {
		return nil, false
	}
	return make([]byte, min(uint64(n), next-a)), true
}

// GetUint64 implements copyuser.Memory.
func (m *memory) GetUint64(from copyuser.Addr) (uint64, bool) {
	var b [8]byte
	ok := m.CopyIn(b[:], from) == len(b)
	return binary.LittleEndian.Uint64(b[:]), ok
}

// CopyOut implements copyuser.Memory: nothing is written.
func (m *memory) CopyOut(copyuser.Addr, []byte) int { return 0 }

// Clear implements copyuser.Memory.
func (m *memory) Clear(copyuser.Addr, uint64) uint64 { return 0 }

// PutUint16 implements copyuser.Memory.
func (m *memory) PutUint16(copyuser.Addr, uint16) bool { return false }

// PutUint32 implements copyuser.Memory.
func (m *memory) PutUint32(copyuser.Addr, uint32) bool { return false }

// PutUint64 implements copyuser.Memory.
func (m *memory) PutUint64(copyuser.Addr, uint64) bool { return false }

// Pin implements copyuser.Memory.
func (m *memory) Pin(copyuser.Addr, uint64, bool) (*copyuser.Pin, error) {
	return nil, rule.PinRange
}
