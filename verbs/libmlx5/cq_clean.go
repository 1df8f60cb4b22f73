package libmlx5

import (
	"encoding/binary"

	"uverbsim/verbs"
)

// clean takes the completions of a queue pair out of the queue: those of the
// number rsn. Its requests on a shared receive queue are free again. It models
// __mlx5_cq_clean in providers/mlx5/cq.c: the entries that stay move up to the
// newest end, and the consumer index behind what is gone.
//
// Errors: faults of the program's memory.
func (cq *CQ) clean(rsn uint32, srq *SRQ) error {
	cq.mu.Lock()
	defer cq.mu.Unlock()
	end := cq.consIndex
	for end-cq.consIndex < cq.buf.n {
		cqe, err := cq.sw(cq.buf, end)
		if err != nil {
			return err
		}
		if cqe == nil {
			break
		}
		end++
	}
	freed := uint32(0)
	for i := end; i != cq.consIndex; {
		i--
		cqe, err := cq.sw(cq.buf, i)
		if err != nil {
			return err
		}
		gone, err := cq.freeResCQE(cqe, rsn, srq)
		switch {
		case err != nil:
			return err
		case gone:
			freed++
		case freed > 0:
			if err := cq.move(cq.buf, i, cq.buf, i+freed); err != nil {
				return err
			}
		}
	}
	if freed == 0 {
		return nil
	}
	cq.consIndex += freed
	return cq.updateConsIndex()
}

// freeResCQE models free_res_cqe in providers/mlx5/cq.c: it says whether an entry
// is of the queue pair.
func (cq *CQ) freeResCQE(cqe []byte, rsn uint32, srq *SRQ) (bool, error) {
	uidx := uidxOf(cqe)
	mine, shared := uidx == rsn, isResponder(cqe[cqeOpOwn]>>4)
	if cq.ctx.Resp.CQEVersion == 0 {
		mine, shared = qpnOf(cqe) == rsn, uidx != 0
	}
	if !mine || srq == nil || !shared {
		return mine, nil
	}
	_, err := srq.take(uint32(binary.BigEndian.Uint16(cqe[cqeWQECounter:])))
	return true, err
}

// isResponder models is_responder in providers/mlx5/cq.c.
func isResponder(op byte) bool { return op >= cqeRespWRImm && op <= cqeRespSendInv || op == cqeRespErr }

// move copies entry i of a buffer to place j of a buffer, with the owner bit that
// it has there.
func (cq *CQ) move(from *cqBuf, i uint32, to *cqBuf, j uint32) error {
	entry := cq.entry[:from.cqeSize]
	if err := verbs.Load(cq.ctx.sys, from.entry(i), entry); err != nil {
		return err
	}
	opOwn := &entry[from.cqeSize-cqe64Size+cqeOpOwn]
	*opOwn = *opOwn&^cqeOwnerMask | to.owner(j)
	return verbs.Store(cq.ctx.sys, to.entry(j), entry)
}
