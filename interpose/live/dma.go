package live

import "uverbsim/copyuser"

// page is a page of the process's memory as a device reaches it: by the address
// that it was found at.
type page struct {
	space *Space
	at    copyuser.Addr
}

// pages returns the n pages from start on.
func (s *Space) pages(start copyuser.Addr, n int) []*copyuser.Page {
	run := make([]page, n)
	return copyuser.NewIOPages(n, func(i int) copyuser.IO {
		run[i] = page{s, start + copyuser.Addr(i)<<copyuser.PageShift}
		return &run[i]
	})
}

// Load implements copyuser.IO. What is not there reads as zeros.
func (p *page) Load(off int, dst []byte) {
	n, _ := p.space.pread(dst, p.at+copyuser.Addr(off))
	clear(dst[max(n, 0):])
}

// The accesses whose end a program may wait for: longer ones have no order.
const (
	word    = 8   // what is stored as one
	ordered = 128 // the longest completion
)

// Store implements copyuser.IO. A program that sees the last byte of up to 128
// bytes, in which a completion says whose it is, sees the others as well. Where
// these bytes end with an aligned word, the word is not torn.
func (p *page) Store(off int, src []byte) {
	to := p.at + copyuser.Addr(off)
	n := len(src)
	if n <= word || n > ordered {
		_, _ = p.space.pwrite(src, to)
		return
	}
	tail := 1
	if (off+n)%word == 0 {
		tail = word
	}
	_, _ = p.space.pwriteTail(src[:n-tail], src[n-tail:], to)
}
