package spec

import "unsafe"

// Bytes returns the memory of a wire struct. On a little-endian machine, and
// this models no other, that is the struct as a user and the kernel exchange
// it. It allocates nothing; what is written to the bytes is written to the
// struct.
//
// T must be a wire struct of this package, or a struct or integer that, like
// them, has no pointers and no padding that is not declared.
func Bytes[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}
