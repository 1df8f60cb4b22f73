package libmlx5

import (
	"encoding/binary"

	"uverbsim/copyuser"
	"uverbsim/verbs"
)

// inlineData is the data of a short message that is in its entry, nil if there
// is none. In an entry of 128 bytes it can be the first half.
//
// Errors: faults of the program's memory.
func (cq *CQ) inlineData(cqe []byte) ([]byte, error) {
	switch opOwn := cqe[cqeOpOwn]; {
	case opOwn&cqeInlineScatter32 != 0:
		return cqe[:32], nil
	case opOwn&cqeInlineScatter64 != 0 && cq.buf.cqeSize == 2*cqe64Size:
		first := cq.entry[:cqe64Size]
		return first, verbs.Load(cq.ctx.sys, cq.buf.entry(cq.consIndex-1), first)
	}
	return nil, nil
}

// scatterRecv copies the data that is in an entry to where the receive request
// wants it. Its pieces stand at an offset of the request, at most so many. It
// models mlx5_copy_to_recv_wqe in providers/mlx5/qp.c and mlx5_copy_to_recv_srq
// in providers/mlx5/srq.c.
//
// Errors: faults of the program's memory.
func (cq *CQ) scatterRecv(cqe []byte, op byte, wqe copyuser.Addr, offset, maxGS int, wc *WC) error {
	if op == cqeRespErr || cqe[cqeOpOwn]&(cqeInlineScatter32|cqeInlineScatter64) == 0 {
		return nil
	}
	data, err := cq.inlineData(cqe)
	if err != nil {
		return err
	}
	list := make([]byte, maxGS*dataSegSize)
	if err := verbs.Load(cq.ctx.sys, wqe+copyuser.Addr(offset), list); err != nil {
		return err
	}
	return cq.scatter(list, data, wc)
}

// scatterSend copies the data that a read or an atomic operation has brought and
// that is in its entry. It models mlx5_copy_to_send_wqe in providers/mlx5/qp.c.
//
// Errors: faults of the program's memory.
func (cq *CQ) scatterSend(cqe []byte, sq *sendQueue, idx uint32, wc *WC) error {
	var skip int
	switch cqe[cqeSopDropQPN] {
	case opcodeRDMARead:
		skip = ctrlSegSize + raddrSegSize
	case opcodeAtomicCS, opcodeAtomicFA:
		skip = ctrlSegSize + raddrSegSize + atomicSegSize
	}
	switch {
	case sq.qp.Type != verbs.IBV_QPT_RC:
		wc.Status = IBV_WC_GENERAL_ERR
		return nil
	case skip == 0:
		wc.Status = IBV_WC_REM_INV_REQ_ERR
		return nil
	}
	data, err := cq.inlineData(cqe)
	if err != nil {
		return err
	}
	wqe, err := sq.read(idx)
	if err != nil {
		return err
	}
	return cq.scatter(wqe[min(skip, len(wqe)):], data, wc)
}

// read returns the request at a place of the send queue, which can go over the
// queue's end.
func (q *sendQueue) read(idx uint32) ([]byte, error) {
	sys, cnt := q.qp.ctx.sys, q.qp.size.sqWQECnt
	ctrl := make([]byte, ctrlSegSize)
	if err := verbs.Load(sys, q.start+copyuser.Addr(idx)*sendWQEBB, ctrl); err != nil {
		return nil, err
	}
	wqe := make([]byte, int(ctrl[ctrlQPNDs+3]&0x3f)*16)
	for b := wqe; len(b) > 0; idx = (idx + 1) & (cnt - 1) {
		n := min(len(b), sendWQEBB)
		if err := verbs.Load(sys, q.start+copyuser.Addr(idx)*sendWQEBB, b[:n]); err != nil {
			return nil, err
		}
		b = b[n:]
	}
	return wqe, nil
}

// scatter copies as much as the completion says to the pieces of a list. It
// models copy_to_scat in providers/mlx5/qp.c: a list that is too short is an
// error of the completion.
func (cq *CQ) scatter(list, data []byte, wc *WC) error {
	data = data[:min(int(wc.ByteLen), len(data))]
	for len(data) > 0 {
		if len(list) < dataSegSize {
			wc.Status = IBV_WC_LOC_LEN_ERR
			return nil
		}
		n := min(int(binary.BigEndian.Uint32(list)), len(data))
		// What goes to the null region goes nowhere.
		if lkey := binary.BigEndian.Uint32(list[4:]); lkey != cq.ctx.dumpFillMKey() {
			to := copyuser.Addr(binary.BigEndian.Uint64(list[8:]))
			if err := verbs.Store(cq.ctx.sys, to, data[:n]); err != nil {
				return err
			}
		}
		data, list = data[n:], list[dataSegSize:]
	}
	return nil
}
