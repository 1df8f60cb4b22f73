package live

import (
	"sync"

	"uverbsim/copyuser"
)

// windowSize is how many bytes are read ahead: the header of an ioctl and 30
// attributes.
const windowSize = 512

// window has bytes of the memory that were read during the calls under way. A
// copy from it is one that took place a little earlier in the same call.
type window struct {
	mu    sync.Mutex
	on    bool   // a call has begun
	gen   uint64 // how often what may be under way of reads has become outdated
	start copyuser.Addr
	n     int
	bytes [windowSize]byte
}

// Begin says that a call of the process begins: what was read before may have
// changed since. Before the first one nothing is read ahead.
func (s *Space) Begin() {
	w := &s.window
	w.mu.Lock()
	w.on = true
	w.gen++
	w.n = 0
	w.mu.Unlock()
}

// load fills dst if the window has all of it. If not, ahead says whether the
// caller is to read ahead, and gen with which number to save what it reads.
func (w *window) load(dst []byte, from copyuser.Addr) (done, ahead bool, gen uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if off := from - w.start; from >= w.start && off < copyuser.Addr(w.n) && len(dst) <= w.n-int(off) {
		copy(dst, w.bytes[off:])
		return true, false, 0
	}
	return false, w.on && len(dst) <= windowSize, w.gen
}

// save keeps what was read, unless it has become outdated meanwhile.
func (w *window) save(b []byte, from copyuser.Addr, gen uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gen == gen {
		w.start, w.n = from, copy(w.bytes[:], b)
	}
}

// written says that n bytes at an address were written.
func (w *window) written(to copyuser.Addr, n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gen++
	if to < w.start+copyuser.Addr(w.n) && w.start < to+copyuser.Addr(n) {
		w.n = 0
	}
}
