package live

import "uverbsim/copyuser"

// Mapping is a run of pages that the process has mapped of a file, as its kernel
// sees it.
type Mapping struct {
	Start, End uint64 // where
	Dev, Inode uint64 // of what; 0 for memory of no file
	Offset     uint64 // where in the file, in bytes
}

// Mapping returns the first mapping that ends behind an address.
func (s *Space) Mapping(a uint64) (Mapping, bool) {
	_ = copyuser.Addr(a)
	return Mapping{}, false
}
