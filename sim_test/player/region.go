package player

import (
	"fmt"
	"sync"
	"syscall"
)

const pageSize = 4096

const protRW = syscall.PROT_READ | syscall.PROT_WRITE

// region is a buffer, or the argument of a call: bytes in a mapping of their
// own. Threads share it.
type region struct {
	base, size uint64 // of the mapping
	addr       uint64 // of the bytes
	n          int

	mu   sync.Mutex
	prot int
	gone bool // the case has unmapped it
}

// newRegion maps memory for the bytes and fills it. With edge the bytes end
// where the mapping ends, otherwise they begin where it begins.
func newRegion(t Task, b []byte, edge bool) (*region, error) {
	pages := max(1, (len(b)+pageSize-1)/pageSize)
	r := &region{size: uint64(pages * pageSize), n: len(b), prot: protRW}
	var err error
	if r.base, err = t.Map(r.size); err != nil {
		return nil, fmt.Errorf("no memory for %d bytes: %w", len(b), err)
	}
	r.addr = r.base
	if edge {
		r.addr += r.size - uint64(len(b))
	}
	return r, r.fill(t, b)
}

func (r *region) fill(t Task, b []byte) error {
	if n := t.Store(r.addr, b); n < len(b) {
		return fmt.Errorf("only %d of %d bytes of a buffer can be written", n, len(b))
	}
	return nil
}

// fork is the same memory in a child.
func (r *region) fork() *region {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &region{base: r.base, size: r.size, addr: r.addr, n: r.n, prot: r.prot, gone: r.gone}
}

// protect changes the protection of the whole mapping.
func (r *region) protect(t Task, prot int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if prot == r.prot {
		return nil
	}
	if err := t.Mprotect(r.base, r.size, prot); err != nil {
		return err
	}
	r.prot = prot
	return nil
}

// unmap takes the mapping away.
func (r *region) unmap(t Task) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	return t.Munmap(r.base, r.size)
}

// contents are the bytes now, whatever their protection; false when they are
// not mapped any more.
func (r *region) contents(t Task) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return nil, false
	}
	if r.prot&syscall.PROT_READ == 0 {
		if t.Mprotect(r.base, r.size, syscall.PROT_READ) != nil {
			return nil, false
		}
		defer t.Mprotect(r.base, r.size, r.prot) // as it was before
	}
	b := make([]byte, r.n)
	return b, t.Load(r.addr, b) == len(b)
}

// protOf is the protection that a buffer's word stands for.
func protOf(word string) int {
	switch word {
	case "r":
		return syscall.PROT_READ
	case "none":
		return syscall.PROT_NONE
	}
	return protRW
}

// protOfLetters is the protection that some of the letters rwx stand for.
func protOfLetters(letters string) (prot int) {
	if letters == "none" {
		return 0
	}
	for _, c := range letters {
		switch c {
		case 'r':
			prot |= syscall.PROT_READ
		case 'w':
			prot |= syscall.PROT_WRITE
		case 'x':
			prot |= syscall.PROT_EXEC
		}
	}
	return prot
}
