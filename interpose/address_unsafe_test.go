package interpose_test

import "unsafe"

// addrOf returns where a buffer is. Whoever uses it keeps the buffer alive.
func addrOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }
