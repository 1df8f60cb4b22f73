package libmlx5

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"uverbsim/copyuser"
	"uverbsim/verbs"
)

// recvQueue is struct mlx5_wq of a receive queue, with what its lock is over.
type recvQueue struct {
	mu    sync.Mutex
	qp    *QP
	maxGS int           // in the queue pair's state
	head  uint32        // requests posted
	tail  atomic.Uint32 // requests that are known to be done
	wrid  []uint64      // of each request, at its place

	staged uint32 // the place of the first request of stage
	stage  stage  // requests that are not stored yet
	word   [4]byte
}

func (q *recvQueue) init(qp *QP) {
	q.qp = qp
	q.wrid = make([]uint64, qp.size.rqWQECnt)
	q.stage = make(stage, 0, stageSize+512)
}

func (q *recvQueue) setMaxGS(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.maxGS = n
}

// reset models mlx5_init_qp_indices in providers/mlx5/qp.c.
func (q *recvQueue) reset() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.head = 0
	q.tail.Store(0)
}

// take says that the oldest request is done, and returns its id and its place.
func (q *recvQueue) take() (wrid uint64, place uint32) {
	place = q.tail.Load() & (q.qp.size.rqWQECnt - 1)
	q.tail.Add(1)
	return q.wrid[place], place
}

// at is where the request of a place lies.
func (q *recvQueue) at(place uint32) copyuser.Addr {
	return q.qp.buf + copyuser.Addr(place)<<q.qp.size.rqWQEShift
}

// PostRecv posts a list of receive requests, in order. When one cannot be posted
// it is returned with the error, and those in front of it are posted. It models
// mlx5_post_recv in providers/mlx5/qp.c.
//
// Errors: ErrRQFull, ErrRecvSGE, and faults of the program's memory.
func (qp *QP) PostRecv(wr *RecvWR) (bad *RecvWR, err error) {
	q := &qp.rq
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stage, q.staged = q.stage[:0], q.head
	nreq := uint32(0)
	for ; wr != nil; wr = wr.Next {
		if err = q.post(wr, nreq); err != nil {
			bad = wr
			break
		}
		nreq++
	}
	if nreq == 0 {
		return bad, err
	}
	q.head += nreq
	if e := q.ring(); err == nil {
		err = e
	}
	return bad, err
}

// post puts a request, the one after nreq others of its list, into the stage. A
// list of pieces that is shorter than it could be is ended by a piece without a
// key. What lies behind it in the queue, which the library leaves as it is,
// becomes zeros.
func (q *recvQueue) post(wr *RecvWR, nreq uint32) error {
	s := &q.qp.size
	switch {
	case q.head-q.tail.Load()+nreq >= s.rqWQECnt:
		return ErrRQFull
	case len(wr.SGList) > q.maxGS:
		return ErrRecvSGE
	}
	at := len(q.stage)
	n := q.stage.pieces(wr.SGList, true)
	if n < int(s.rqMaxGS) {
		q.stage.data(0, invalidLKey, 0)
	}
	clear(q.stage.add(at + 1<<s.rqWQEShift - len(q.stage)))
	q.wrid[(q.head+nreq)&(s.rqWQECnt-1)] = wr.WRID
	if len(q.stage) < stageSize {
		return nil
	}
	err := q.flush()
	q.stage, q.staged = q.stage[:0], q.head+nreq+1
	return err
}

// pieces adds the pieces of a list, and returns how many. Those of no length can
// be left out.
func (s *stage) pieces(list []verbs.SGE, leaveOut bool) (n int) {
	for i := range list {
		p := &list[i]
		if p.Length == 0 && leaveOut {
			continue
		}
		s.data(p.Length, p.LKey, p.Addr)
		n++
	}
	return n
}

// flush stores what is staged to the queue.
func (q *recvQueue) flush() error {
	s := &q.qp.size
	return q.stage.store(q.qp.ctx.sys, q.qp.buf, s.rqWQECnt, s.rqWQEShift, q.staged)
}

// ring stores what is staged and the doorbell record: receive queues have no
// register.
func (q *recvQueue) ring() error {
	if err := q.flush(); err != nil {
		return err
	}
	binary.BigEndian.PutUint32(q.word[:], q.head&0xffff)
	return verbs.Store(q.qp.ctx.sys, q.qp.record+4*rcvDBR, q.word[:])
}
