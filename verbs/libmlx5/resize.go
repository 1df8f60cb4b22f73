package libmlx5

import (
	"errors"
	"math"

	"uverbsim/spec"
	"uverbsim/verbs"
)

// ErrNoResizeCQE is the error of a resize after which the old buffer does not
// say where the new one begins.
var ErrNoResizeCQE = errors.New("libmlx5: the device did not mark the place of the resize")

// Resize gives the queue room for so many completions. What the device has
// written to the old buffer moves to the new one. It models mlx5_resize_cq in
// providers/mlx5/verbs.c.
//
// Errors: ErrCQE, ErrNoResizeCQE, those of the kernel and of mmap.
func (cq *CQ) Resize(cqe uint32) error {
	if uint64(cqe)*64 > math.MaxInt32 {
		return ErrCQE
	}
	cq.mu.Lock()
	defer cq.mu.Unlock()
	n := uint32(alignQueueSize(uint64(cqe) + 1))
	if n == cq.buf.n {
		return nil
	}
	to, err := cq.ctx.allocCQBuf(n, cq.buf.cqeSize)
	if err != nil {
		return err
	}
	cmd := spec.Mlx5ResizeCQ{BufAddr: uint64(to.at), CQESize: uint16(to.cqeSize)}
	if err := cq.CmdResizeCQ(n-1, verbs.UHW{In: spec.Bytes(&cmd)}); err != nil {
		cq.ctx.freeCQBuf(to)
		return err
	}
	err = cq.copyCQEs(to)
	cq.ctx.freeCQBuf(cq.buf)
	cq.buf = to
	cq.CQE = n - 1
	return err
}

// copyCQEs models mlx5_cq_resize_copy_cqes in providers/mlx5/cq.c. In the new
// buffer an entry stands one place on, as the mark took one.
func (cq *CQ) copyCQEs(to *cqBuf) error {
	from := cq.buf
	for i := cq.consIndex; i-cq.consIndex < from.n; i++ {
		cqe, err := cq.sw(from, i)
		if err != nil {
			return err
		}
		if cqe == nil {
			return ErrNoResizeCQE
		}
		if cqe[cqeOpOwn]>>4 == cqeResizeCQ {
			cq.consIndex++
			return nil
		}
		if err := cq.move(from, i, to, i+1); err != nil {
			return err
		}
	}
	return ErrNoResizeCQE
}
