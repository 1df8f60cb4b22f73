package libmlx5

import (
	"encoding/binary"
	"errors"

	"uverbsim/verbs"
)

// ErrPoll is the error of an entry that the library cannot make sense of
// (CQ_POLL_ERR): it tells of no work request, or of no queue that the context
// has. The entry counts as taken.
var ErrPoll = errors.New("libmlx5: a completion queue entry tells of no work request")

// Poll takes completions from the queue, up to len(wc), and returns how many
// there were. It models poll_cq in providers/mlx5/cq.c: the consumer index goes
// to the doorbell record in any case.
//
// Errors: ErrPoll, and faults of the program's memory.
func (cq *CQ) Poll(wc []WC) (n int, err error) {
	cq.mu.Lock()
	defer cq.mu.Unlock()
	cq.window = window{}
	var cur *resource
	for n < len(wc) && err == nil {
		var found bool
		if found, err = cq.pollOne(&cur, &wc[n], len(wc)-n); !found {
			break
		}
		n++
	}
	if e := cq.updateConsIndex(); err == nil {
		err = e
	}
	return n, err
}

// pollOne models mlx5_poll_one in providers/mlx5/cq.c: it takes the next
// completion, and says whether there was one. want is how many the program would
// take.
func (cq *CQ) pollOne(cur **resource, wc *WC, want int) (found bool, err error) {
	for {
		cqe, err := cq.next(want)
		if cqe == nil || err != nil {
			return false, err
		}
		if !parseCQE(cqe, wc) {
			return false, ErrPoll
		}
		reported, err := cq.settle(cqe, cur, wc)
		if err != nil {
			return false, err
		}
		if reported {
			return true, nil
		}
	}
}

// settle finds the work request that an entry is about: its id goes to wc, and
// its place is free. An entry that the library deals with itself is not
// reported. It is the other part of mlx5_parse_cqe in providers/mlx5/cq.c.
func (cq *CQ) settle(cqe []byte, cur **resource, wc *WC) (reported bool, err error) {
	op := cqe[cqeOpOwn] >> 4
	if op == cqeReq || op == cqeReqErr {
		return true, cq.settleReq(cqe, op, cur, wc)
	}
	srq, qp, err := cq.receiver(cqe, cur)
	if err != nil {
		return false, err
	}
	if srq == nil {
		var place uint32
		wc.WRID, place = qp.rq.take()
		return true, cq.scatterRecv(cqe, op, qp.rq.at(place), 0, 1<<(qp.size.rqWQEShift-4), wc)
	}
	place := uint32(wc.WQECounter)
	if op == cqeRespErr && isODPPfault(cqe) {
		return false, srq.completeODPFault(place)
	}
	if wc.WRID, err = srq.take(place); err != nil {
		return false, err
	}
	return true, cq.scatterRecv(cqe, op, srq.wqe(place), srqNextSegSize, srq.maxGS, wc)
}

// settleReq is settle for a request of a send queue. All requests in front of it
// are done as well.
func (cq *CQ) settleReq(cqe []byte, op byte, cur **resource, wc *WC) error {
	r := cq.sender(cqe, cur)
	if r == nil || r.qp == nil || len(r.qp.sq.wrid) == 0 {
		return ErrPoll
	}
	sq := &r.qp.sq
	idx := sq.index(wc.WQECounter)
	wc.WRID = sq.wrid[idx]
	if op == cqeReq {
		if code := cqe[cqeSopDropQPN]; code == opcodeUMR || code == opcodeNOP {
			wc.Opcode = sq.wrData[idx]
		}
		if cqe[cqeOpOwn]&(cqeInlineScatter32|cqeInlineScatter64) != 0 {
			if err := cq.scatterSend(cqe, sq, idx, wc); err != nil {
				return err
			}
		}
	}
	sq.done(idx)
	return nil
}

// uidxOf is the user index of an entry, or the number of a shared receive queue.
func uidxOf(cqe []byte) uint32 { return binary.BigEndian.Uint32(cqe[cqeSRQNUidx:]) & 0xffffff }

func qpnOf(cqe []byte) uint32 { return binary.BigEndian.Uint32(cqe[cqeSopDropQPN:]) & 0xffffff }

// sender models get_req_context in providers/mlx5/cq.c: the queue whose send
// request an entry is about, nil if the context does not have it.
func (cq *CQ) sender(cqe []byte, cur **resource) *resource {
	rsn, table := uidxOf(cqe), &cq.ctx.uidx
	if cq.ctx.Resp.CQEVersion == 0 {
		rsn, table = qpnOf(cqe), &cq.ctx.qps
	}
	return table.cached(rsn, cur)
}

// cached is find, if the number is not that of the resource that was found last.
func (t *rscTable) cached(rsn uint32, cur **resource) *resource {
	if *cur == nil || (*cur).rsn != rsn {
		*cur = t.find(rsn)
	}
	return *cur
}

// receiver models get_cur_rsc in providers/mlx5/cq.c: the shared receive queue,
// or else the queue pair, whose receive request an entry is about.
//
// Errors: ErrPoll.
func (cq *CQ) receiver(cqe []byte, cur **resource) (*SRQ, *QP, error) {
	rsn, table := uidxOf(cqe), &cq.ctx.uidx
	if cq.ctx.Resp.CQEVersion == 0 {
		if rsn != 0 {
			if r := cq.ctx.srqs.find(rsn); r != nil {
				return r.srq, nil, nil
			}
			return nil, nil, ErrPoll
		}
		rsn, table = qpnOf(cqe), &cq.ctx.qps
	}
	r := table.cached(rsn, cur)
	switch {
	case r == nil:
	case r.srq != nil:
		return r.srq, nil, nil
	case r.qp.srq != nil:
		return r.qp.srq, nil, nil
	case len(r.qp.rq.wrid) > 0:
		return nil, r.qp, nil
	}
	return nil, nil, ErrPoll
}

// isODPPfault models is_odp_pfault_err in providers/mlx5/cq.c.
func isODPPfault(cqe []byte) bool {
	return cqe[cqeSyndrome] == syndromeRemoteAborted && cqe[cqeVendorErrSynd] == vendorODPPfault
}

// maxAhead is how many entries are read at once at most.
const maxAhead = 8

// window is what a poll has read of the queue's entries: from at on, n of them.
// It reads one at first, and more at once as long as they are the program's.
type window struct {
	at, n uint32
	ahead uint32 // how many are read next
}

// next models mlx5_get_next_cqe in providers/mlx5/cq.c: it takes the next entry
// if it is the program's, nil if there is none. It is good until the next call.
// want is how many the program would take.
func (cq *CQ) next(want int) ([]byte, error) {
	i, w := cq.consIndex, &cq.window
	if i-w.at >= w.n {
		if err := cq.look(want); err != nil {
			return nil, err
		}
	}
	cqe := cq.entries[(i-w.at)*cqe64Size:][:cqe64Size]
	if !cq.buf.isSW(i, cqe[cqeOpOwn]) {
		w.n = 0 // it may have come when the program polls on
		return nil, nil
	}
	cq.consIndex++
	return cqe, nil
}

// look reads the entries from the consumer index on. Each one is read at once,
// so that the rest of it is as new as its owner. Those of 128 bytes do not lie
// side by side and are read one by one.
func (cq *CQ) look(want int) error {
	b, i, w := cq.buf, cq.consIndex, &cq.window
	n := min(max(w.ahead, 1), uint32(want), b.n-i&(b.n-1), maxAhead)
	if b.cqeSize != cqe64Size {
		n = 1
	}
	*w = window{at: i, n: n, ahead: 2 * n}
	return verbs.Load(cq.ctx.sys, b.cqe64(i), cq.entries[:n*cqe64Size])
}

// sw models get_sw_cqe in providers/mlx5/cq.c: the last 64 bytes of entry i if
// it is the program's, nil if it is still the device's.
func (cq *CQ) sw(b *cqBuf, i uint32) ([]byte, error) {
	cqe := cq.entry[cqe64Size:]
	if err := verbs.Load(cq.ctx.sys, b.cqe64(i), cqe); err != nil {
		return nil, err
	}
	if !b.isSW(i, cqe[cqeOpOwn]) {
		return nil, nil
	}
	return cqe, nil
}

// updateConsIndex models update_cons_index in providers/mlx5/cq.c.
func (cq *CQ) updateConsIndex() error { return cq.setRecord(setCI, cq.consIndex&0xffffff) }
