package libmlx5

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
)

// The table of user indices: providers/mlx5/mlx5.h.
const (
	uidxTableShift = 12                         // MLX5_UIDX_TABLE_SHIFT
	uidxTableMask  = 1<<uidxTableShift - 1      // MLX5_UIDX_TABLE_MASK
	uidxTableSize  = 1 << (24 - uidxTableShift) // MLX5_UIDX_TABLE_SIZE
)

// ErrNoUserIndex is the error of a queue for which no user index is left. Its
// errno is ENOMEM.
var ErrNoUserIndex = fmt.Errorf("libmlx5: no user index is left for the queue: %w", syscall.ENOMEM)

// resource is what a completion is about: struct mlx5_resource. Of its two
// queues, one is set.
type resource struct {
	rsn uint32 // the user index, or the number on the device where there is none
	qp  *QP
	srq *SRQ // of XRC
}

// uidxPage is a part of the table.
type uidxPage [uidxTableMask + 1]atomic.Pointer[resource]

// rscTable has the program's queues by the numbers that completions name them
// with, of 24 bits: the table of user indices, and those of queue pairs and of
// shared receive queues where completions have the numbers of the device
// (mlx5_store_uidx, mlx5_store_qp, mlx5_store_srq of providers/mlx5). Polling
// finds a queue without a lock.
type rscTable struct {
	mu     sync.Mutex
	refcnt [uidxTableSize]int
	pages  [uidxTableSize]atomic.Pointer[uidxPage]
}

// store models mlx5_store_uidx: it gives the resource the lowest index that is
// free. A part of the table is not filled to its last entry.
//
// Errors: ErrNoUserIndex.
func (t *rscTable) store(r *resource) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.refcnt {
		if t.refcnt[i] >= uidxTableMask {
			continue
		}
		n := uint32(0)
		for p := t.pages[i].Load(); p != nil && p[n].Load() != nil; {
			n++
		}
		t.put(uint32(i)<<uidxTableShift|n, r)
		return nil
	}
	return ErrNoUserIndex
}

// storeAt gives the resource a number of the device.
func (t *rscTable) storeAt(rsn uint32, r *resource) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(rsn, r)
}

func (t *rscTable) put(rsn uint32, r *resource) {
	i := rsn >> uidxTableShift
	p := t.pages[i].Load()
	if p == nil {
		p = new(uidxPage)
		t.pages[i].Store(p)
	}
	t.refcnt[i]++
	r.rsn = rsn
	p[rsn&uidxTableMask].Store(r)
}

// clear models mlx5_clear_uidx: a part of the table goes with its last entry.
func (t *rscTable) clear(rsn uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := rsn >> uidxTableShift
	if t.refcnt[i]--; t.refcnt[i] == 0 {
		t.pages[i].Store(nil)
		return
	}
	t.pages[i].Load()[rsn&uidxTableMask].Store(nil)
}

// find models mlx5_find_uidx of providers/mlx5/mlx5.h: the resource of a
// number of 24 bits, nil if there is none.
func (t *rscTable) find(rsn uint32) *resource {
	p := t.pages[rsn>>uidxTableShift].Load()
	if p == nil {
		return nil
	}
	return p[rsn&uidxTableMask].Load()
}
