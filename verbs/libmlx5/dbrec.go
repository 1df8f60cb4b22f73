package libmlx5

import (
	"math/bits"
	"sync"

	"uverbsim/copyuser"
	"uverbsim/verbs"
)

// recordPages are the pages that doorbell records are given out from:
// providers/mlx5/dbrec.c. A record has a cache line for itself.
type recordPages struct {
	mu    sync.Mutex
	pages []*recordPage
}

// recordPage is struct mlx5_db_page.
type recordPage struct {
	at   copyuser.Addr
	used [pageSize / 64]uint64 // a bit for each record
}

// perPage is how many records a page has.
func (c *Context) perPage() int { return pageSize / c.lineSize() }

func (c *Context) lineSize() int { return max(int(c.Resp.CacheLineSize), 8) }

// allocRecord models mlx5_alloc_dbrec in providers/mlx5/dbrec.c: it returns the
// lowest free record of the first page that has one.
//
// Errors: those of mmap.
func (c *Context) allocRecord() (copyuser.Addr, error) {
	r := &c.records
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pages {
		if i := p.take(c.perPage()); i >= 0 {
			return p.at + copyuser.Addr(i*c.lineSize()), nil
		}
	}
	at, err := verbs.Alloc(c.sys, pageSize)
	if err != nil {
		return 0, err
	}
	p := &recordPage{at: at}
	r.pages = append(r.pages, p)
	return at + copyuser.Addr(p.take(c.perPage())*c.lineSize()), nil
}

// take returns the index of a record that was free, -1 if none was.
func (p *recordPage) take(n int) int {
	for w := range p.used {
		if i := 64*w + bits.TrailingZeros64(^p.used[w]); i < 64*(w+1) && i < n {
			p.used[w] |= 1 << (i % 64)
			return i
		}
	}
	return -1
}

// freeRecord models mlx5_free_db in providers/mlx5/dbrec.c: a page goes with its
// last record.
func (c *Context) freeRecord(at copyuser.Addr) {
	r := &c.records
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, p := range r.pages {
		if at.PageDown() != p.at {
			continue
		}
		n := at.PageOffset() / c.lineSize()
		p.used[n/64] &^= 1 << (n % 64)
		if p.used == ([pageSize / 64]uint64{}) {
			_ = c.sys.Munmap(p.at, pageSize) // a program can have unmapped it itself
			r.pages = append(r.pages[:i], r.pages[i+1:]...)
		}
		return
	}
}

// unmap gives all pages back.
func (r *recordPages) unmap(c *Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pages {
		_ = c.sys.Munmap(p.at, pageSize)
	}
	r.pages = nil
}

// Record returns the address of the queue's doorbell record, which has 8 bytes:
// how far the program has come, and the last arm command.
func (cq *CQ) Record() copyuser.Addr { return cq.record }
