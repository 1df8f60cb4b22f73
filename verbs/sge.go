package verbs

import "uverbsim/copyuser"

// SGE is a piece of memory of a work request: struct ibv_sge. Addr is an address
// in the memory region of LKey, which for most regions is one of the program's
// memory.
type SGE struct {
	Addr   copyuser.Addr
	Length uint32
	LKey   uint32
}
