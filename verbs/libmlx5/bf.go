package libmlx5

import (
	"fmt"
	"sync"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// bfOffset is where the doorbell registers of send queues begin in a page of
// registers (MLX5_BF_OFFSET), and bfregsPerUAR is how many there are
// (MLX5_NUM_NON_FP_BFREGS_PER_UAR).
const (
	bfOffset     = 0x800
	bfregsPerUAR = 2
)

// How many registers queue pairs have: those that a queue pair has for itself,
// and those that are shared when there are more (qp_max_dedicated_uuars and
// qp_max_shared_uuars of providers/mlx5/mlx5.c).
const (
	maxDedicatedUUARs = numLowLatUUARs
	maxSharedUUARs    = totalUUARs - numLowLatUUARs
)

// ErrNoQPUAR is the error of a queue pair for which there is no doorbell
// register. Its errno is ENOMEM.
var ErrNoQPUAR = fmt.Errorf("libmlx5: no doorbell register is left for the queue pair: %w", syscall.ENOMEM)

// bf is a doorbell register of send queues, BlueFlame: struct mlx5_bf. It has
// two buffers, which are used by turns.
type bf struct {
	uar       *uar
	reg       copyuser.Addr
	bufSize   uint32 // of a buffer; 0 for a register that takes only doorbells
	shared    bool   // several queue pairs ring it
	dedicated bool

	mu     sync.Mutex // over what follows, and the ringing of a shared register
	offset uint32
	count  int // queue pairs that share it; under the pool's lock
}

// bfPool has the doorbell registers of a context.
type bfPool struct {
	mu         sync.Mutex
	uars       []*uar // as they were made
	free       []*bf  // dedicated registers that no queue pair has
	shared     []*bf
	nDedicated int
}

// getQPUAR models mlx5_get_qp_uar in providers/mlx5/verbs.c: a register for the
// queue pair alone as long as there are some, then the shared one that has the
// fewest queue pairs, all of which are made first.
//
// Errors: ErrNoQPUAR.
func (c *Context) getQPUAR() (*bf, error) {
	if c.Resp.BfRegSize == 0 {
		if c.ncUAR == nil {
			return nil, ErrNoQPUAR
		}
		return &bf{uar: c.ncUAR, reg: c.ncUAR.reg + bfOffset}, nil
	}
	p := &c.bfs
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) == 0 && p.nDedicated < maxDedicatedUUARs {
		if err := c.allocQPUAR(true); err != nil {
			return nil, err
		}
	}
	if len(p.free) > 0 {
		b := p.free[0]
		p.free = p.free[1:]
		return b, nil
	}
	if len(p.shared) < maxSharedUUARs {
		if err := c.allocQPUAR(false); err != nil {
			return nil, err
		}
	}
	least := p.shared[0]
	for _, b := range p.shared[1:] {
		if b.count < least.count {
			least = b
		}
	}
	least.count++
	return least, nil
}

// allocQPUAR models mlx5_alloc_qp_uar and mlx5_insert_dyn_uuars in
// providers/mlx5/verbs.c: each page has two registers.
func (c *Context) allocQPUAR(dedicated bool) error {
	u, err := c.allocDynUAR(spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF)
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrNoQPUAR, err)
	}
	p := &c.bfs
	p.uars = append(p.uars, u)
	for i := range uint32(bfregsPerUAR) {
		b := &bf{uar: u, reg: u.reg + bfOffset + copyuser.Addr(i*c.Resp.BfRegSize), bufSize: c.Resp.BfRegSize / 2,
			shared: !dedicated, dedicated: dedicated}
		if dedicated {
			p.free = append(p.free, b)
			p.nDedicated++
		} else {
			p.shared = append(p.shared, b)
		}
	}
	return nil
}

// putQPUAR models mlx5_put_qp_uar in providers/mlx5/verbs.c.
func (c *Context) putQPUAR(b *bf) {
	p := &c.bfs
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case b.dedicated:
		p.free = append(p.free, b)
	case b.shared:
		b.count--
	}
}

// freeBFs models clean_dyn_uars in providers/mlx5/mlx5.c.
func (c *Context) freeBFs() {
	for _, u := range c.bfs.uars {
		c.freeUAR(u)
	}
	c.bfs.uars, c.bfs.free, c.bfs.shared = nil, nil, nil
}

// ring tells the device of new requests by the first 8 bytes of the last one.
//
// Errors: faults of the program's memory.
func (b *bf) ring(sys verbs.System, ctrl []byte) error {
	if b.shared {
		b.mu.Lock()
		defer b.mu.Unlock()
	}
	return verbs.Store(sys, b.turn(), ctrl)
}

// copy tells the device of a request by all of it, 64 bytes at a time. It models
// mlx5_bf_copy in providers/mlx5/qp.c.
//
// Errors: faults of the program's memory.
func (b *bf) copy(sys verbs.System, wqe []byte) error {
	if b.shared {
		b.mu.Lock()
		defer b.mu.Unlock()
	}
	for at := b.turn(); len(wqe) > 0; at += sendWQEBB {
		if err := verbs.Store(sys, at, wqe[:sendWQEBB]); err != nil {
			return err
		}
		wqe = wqe[sendWQEBB:]
	}
	return nil
}

// turn returns the buffer whose turn it is.
func (b *bf) turn() copyuser.Addr {
	at := b.reg + copyuser.Addr(b.offset)
	b.offset ^= b.bufSize
	return at
}
