//go:build linux

package device

import "encoding/binary"

// vector lays out, for memory at an address, texts and lists of pointers to
// them, as execve wants them.
type vector struct {
	at uint64
	b  []byte
}

func newVector(at uint64) *vector { return &vector{at: at} }

// text returns the address of a text that ends with a zero.
func (v *vector) text(s string) uintptr {
	a := v.at + uint64(len(v.b))
	v.b = append(v.b, cstring(s)...)
	return uintptr(a)
}

// list returns the address of a list of pointers that ends with a nil.
func (v *vector) list(p ...uintptr) uintptr {
	const size = 8
	v.b = append(v.b, make([]byte, -len(v.b)&(size-1))...)
	a := v.at + uint64(len(v.b))
	for _, n := range append(p, 0) {
		v.b = binary.NativeEndian.AppendUint64(v.b, uint64(n))
	}
	return uintptr(a)
}
