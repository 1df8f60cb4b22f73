package libmlx5

import (
	"errors"

	"uverbsim/verbs"
)

// ErrPoll is the error of an entry that the library cannot make sense of
// (CQ_POLL_ERR). The entry counts as taken.
var ErrPoll = errors.New("libmlx5: a completion queue entry tells of no work request")

// Poll takes completions from the queue, up to len(wc), and returns how many
// there were. It models poll_cq in providers/mlx5/cq.c: the consumer index goes
// to the doorbell record in any case.
//
// Errors: ErrPoll, and faults of the program's memory.
func (cq *CQ) Poll(wc []WC) (n int, err error) {
	cq.mu.Lock()
	defer cq.mu.Unlock()
	for n < len(wc) {
		cqe, err := cq.next()
		if err != nil {
			return n, err
		}
		if cqe == nil {
			break
		}
		var ok bool
		if wc[n], ok = parseCQE(cqe); !ok {
			return n, errors.Join(ErrPoll, cq.updateConsIndex())
		}
		n++
	}
	return n, cq.updateConsIndex()
}

// next models mlx5_get_next_cqe in providers/mlx5/cq.c: it takes the next entry
// if it is the program's, nil if there is none.
func (cq *CQ) next() ([]byte, error) {
	cqe, err := cq.sw(cq.buf, cq.consIndex)
	if cqe != nil {
		cq.consIndex++
	}
	return cqe, err
}

// sw models get_sw_cqe in providers/mlx5/cq.c: the last 64 bytes of entry i if
// it is the program's, nil if it is still the device's. The owner is read first.
func (cq *CQ) sw(b *cqBuf, i uint32) ([]byte, error) {
	at := b.cqe64(i)
	var opOwn [1]byte
	if err := verbs.Load(cq.ctx.sys, at+cqeOpOwn, opOwn[:]); err != nil {
		return nil, err
	}
	if opOwn[0]>>4 == cqeInvalid || opOwn[0]&cqeOwnerMask != b.owner(i) {
		return nil, nil
	}
	cqe := make([]byte, cqe64Size)
	return cqe, verbs.Load(cq.ctx.sys, at, cqe)
}

// updateConsIndex models update_cons_index in providers/mlx5/cq.c.
func (cq *CQ) updateConsIndex() error { return cq.setRecord(setCI, cq.consIndex&0xffffff) }
