package libmlx5

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"uverbsim/copyuser"
	"uverbsim/verbs"
)

// stageSize is after how many bytes staged requests are stored although more are
// to come.
const stageSize = 2048

// sendQueue is struct mlx5_wq of a send queue, with what its lock is over.
// Places count in units of sendWQEBB bytes, and run on through the rounds of the
// queue.
type sendQueue struct {
	mu    sync.Mutex
	qp    *QP
	start copyuser.Addr

	maxGS      int // in the queue pair's state
	signalBits byte
	fmCache    byte // the fence of the next request

	head    uint32        // requests posted
	tail    atomic.Uint32 // requests that are known to be done
	curPost uint32        // the place of the next request

	// Of each request, at its place.
	wrid    []uint64
	wqeHead []uint32
	wrData  []Opcode // what it is, if its opcode does not tell

	staged uint32  // the place of the first byte of stage
	stage  stage   // requests that are not stored yet
	ctrl   [8]byte // how the last of them begins, which is what its doorbell says
	word   [4]byte

	builder sendBuilder
}

func (q *sendQueue) init(qp *QP, sigAll bool) {
	n := qp.size.sqWQECnt
	q.qp, q.start = qp, qp.buf+copyuser.Addr(qp.size.sqOffset)
	q.wrid, q.wqeHead, q.wrData = make([]uint64, n), make([]uint32, n), make([]Opcode, n)
	q.stage = make(stage, 0, stageSize+1024)
	if sigAll {
		q.signalBits = ctrlCQUpdate
	}
}

func (q *sendQueue) setMaxGS(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.maxGS = n
}

// setReady says whether the state allows built requests to be completed.
func (q *sendQueue) setReady(ready bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.builder.ready = ready
}

// reset models mlx5_init_qp_indices in providers/mlx5/qp.c.
func (q *sendQueue) reset() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.head, q.curPost = 0, 0
	q.tail.Store(0)
}

// overflow models mlx5_wq_overflow in providers/mlx5/qp.c.
func (q *sendQueue) overflow(nreq uint32) bool {
	return q.head-q.tail.Load()+nreq >= q.qp.size.sqMaxPost
}

// done says that the request at a place is done, and all in front of it.
func (q *sendQueue) done(idx uint32) { q.tail.Store(q.wqeHead[idx] + 1) }

// index is where a counter of a completion stands in the tables.
func (q *sendQueue) index(wqeCounter uint16) uint32 {
	return uint32(wqeCounter) & (q.qp.size.sqWQECnt - 1)
}

// PostSend posts a list of send requests, in order. When one cannot be posted it
// is returned with the error, and those in front of it are posted. It models
// mlx5_post_send in providers/mlx5/qp.c.
//
// Errors: ErrOpcode, ErrSQFull, ErrSendSGE, ErrInline, ErrNoAtomics,
// ErrBindLength, ErrWRPart, and faults of the program's memory.
func (qp *QP) PostSend(wr *SendWR) (bad *SendWR, err error) {
	q := &qp.sq
	q.mu.Lock()
	defer q.mu.Unlock()
	q.begin()
	nreq := uint32(0)
	fence := q.fmCache
	for ; wr != nil; wr = wr.Next {
		if fence, err = q.post(wr, nreq, fence); err != nil {
			bad = wr
			break
		}
		nreq++
	}
	q.fmCache = fence
	if e := q.ring(nreq); err == nil {
		err = e
	}
	return bad, err
}

// begin empties the stage.
func (q *sendQueue) begin() { q.stage, q.staged = q.stage[:0], q.curPost }

// post puts a request, the one after nreq others of its list, into the stage. It
// returns the fence of the one that follows.
func (q *sendQueue) post(wr *SendWR, nreq uint32, fence byte) (next byte, err error) {
	switch {
	case int(wr.Opcode) >= len(opcodeOf):
		return fence, ErrOpcode
	case q.overflow(nreq):
		return fence, ErrSQFull
	case len(wr.SGList) > q.maxGS:
		return fence, ErrSendSGE
	}
	at := len(q.stage)
	if wr.SendFlags&verbs.IBV_SEND_FENCE != 0 {
		fence = ctrlFence
	}
	q.stage.add(ctrlSegSize)
	op, next, err := q.transport(wr)
	if err == nil {
		err = q.payload(wr)
	}
	if err != nil {
		q.stage = q.stage[:at]
		return next, err
	}
	ctrl := q.stage[at : at+ctrlSegSize]
	q.control(ctrl, opcodeOf[wr.Opcode], len(q.stage)-at, fence, wr.SendFlags)
	binary.BigEndian.PutUint32(ctrl[ctrlImm:], ieth(wr))
	q.enter(at, wr.WRID, nreq, op)
	if len(q.stage) >= stageSize {
		err = q.flush()
		q.begin()
	}
	return next, err
}

// control writes a control segment but for its immediate data. size is how long
// the request is, in bytes.
func (q *sendQueue) control(ctrl []byte, opcode byte, size int, fence byte, flags verbs.SendFlags) {
	binary.BigEndian.PutUint32(ctrl[ctrlOpmodIdxOpcode:], q.curPost&0xffff<<8|uint32(opcode))
	binary.BigEndian.PutUint32(ctrl[ctrlQPNDs:], q.qp.Num<<8|uint32(size/16))
	binary.BigEndian.PutUint32(ctrl[8:], uint32(q.fmCeSe(fence, flags)))
}

func (q *sendQueue) fmCeSe(fence byte, flags verbs.SendFlags) byte {
	b := q.signalBits | fence
	if flags&verbs.IBV_SEND_SIGNALED != 0 {
		b |= ctrlCQUpdate
	}
	if flags&verbs.IBV_SEND_SOLICITED != 0 {
		b |= ctrlSolicited
	}
	return b
}

// enter fills the request that begins at an offset of the stage up to whole
// units, and moves on behind it. What the library leaves as it is in the queue
// are zeros.
func (q *sendQueue) enter(at int, wrid uint64, nreq uint32, op Opcode) {
	q.stage.pad(sendWQEBB)
	idx := q.curPost & (q.qp.size.sqWQECnt - 1)
	q.wrid[idx], q.wqeHead[idx], q.wrData[idx] = wrid, q.head+nreq, op
	q.curPost += uint32(len(q.stage)-at) / sendWQEBB
	copy(q.ctrl[:], q.stage[at:])
}

// ieth models send_ieth in providers/mlx5/qp.c, with the keys that are the
// subject of a bind and of an invalidation.
func ieth(wr *SendWR) uint32 {
	switch wr.Opcode {
	case verbs.IBV_WR_SEND_WITH_IMM, verbs.IBV_WR_RDMA_WRITE_WITH_IMM:
		return wr.ImmData
	case verbs.IBV_WR_SEND_WITH_INV, verbs.IBV_WR_LOCAL_INV:
		return wr.InvalidateRKey
	case verbs.IBV_WR_BIND_MW:
		return wr.BindMW.MW.RKey
	}
	return 0
}

// transport adds the segments between the control segment and the data. op is
// what the request is if its opcode on the device does not tell, and next the
// fence of the request that follows.
func (q *sendQueue) transport(wr *SendWR) (op Opcode, next byte, err error) {
	switch q.qp.Type {
	case verbs.IBV_QPT_XRC_SEND:
		if wr.Opcode != verbs.IBV_WR_BIND_MW && wr.Opcode != verbs.IBV_WR_LOCAL_INV {
			q.stage.xrc(wr.XRC.RemoteSRQN)
		}
		return q.reliable(wr)
	case verbs.IBV_QPT_RC:
		return q.reliable(wr)
	case verbs.IBV_QPT_UC:
		switch wr.Opcode {
		case verbs.IBV_WR_RDMA_WRITE, verbs.IBV_WR_RDMA_WRITE_WITH_IMM, verbs.IBV_WR_BIND_MW, verbs.IBV_WR_LOCAL_INV:
			return q.reliable(wr)
		}
	case verbs.IBV_QPT_UD:
		if wr.UD.AH == nil {
			return 0, 0, ErrWRPart
		}
		q.stage.datagram(&wr.UD.AH.av, wr.UD.RemoteQPN, wr.UD.RemoteQKey)
	}
	return 0, 0, nil
}

// reliable adds the segments of the operations of a reliable connection.
func (q *sendQueue) reliable(wr *SendWR) (op Opcode, next byte, err error) {
	switch wr.Opcode {
	case verbs.IBV_WR_RDMA_READ, verbs.IBV_WR_RDMA_WRITE, verbs.IBV_WR_RDMA_WRITE_WITH_IMM:
		q.stage.raddr(wr.RDMA.RemoteAddr, wr.RDMA.RKey)
	case verbs.IBV_WR_ATOMIC_CMP_AND_SWP, verbs.IBV_WR_ATOMIC_FETCH_AND_ADD:
		if !q.qp.ctx.atomicsEnabled() {
			return 0, 0, ErrNoAtomics
		}
		q.stage.raddr(wr.Atomic.RemoteAddr, wr.Atomic.RKey)
		q.stage.atomic(wr.Opcode, wr.Atomic.Swap, wr.Atomic.CompareAdd)
	case verbs.IBV_WR_BIND_MW:
		b := &wr.BindMW
		if b.MW == nil {
			return 0, ctrlInitiatorSmallFence, ErrWRPart
		}
		return IBV_WC_BIND_MW, ctrlInitiatorSmallFence, q.stage.bind(b.MW.Type, b.RKey, &b.BindInfo, q.qp.Num)
	case verbs.IBV_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV, ctrlInitiatorSmallFence, q.stage.bind(verbs.IBV_MW_TYPE_2, 0, &BindInfo{}, q.qp.Num)
	}
	return 0, 0, nil
}

// payload adds the segments of the data, or the data itself. Pieces of no length
// are left out.
func (q *sendQueue) payload(wr *SendWR) error {
	if wr.SendFlags&verbs.IBV_SEND_INLINE != 0 && len(wr.SGList) > 0 {
		return q.inline(wr.SGList)
	}
	atomic := wr.Opcode == verbs.IBV_WR_ATOMIC_CMP_AND_SWP || wr.Opcode == verbs.IBV_WR_ATOMIC_FETCH_AND_ADD
	for i := range wr.SGList {
		s := &wr.SGList[i]
		if s.Length == 0 {
			continue
		}
		length := s.Length
		if atomic {
			length = atomicSize
		}
		q.stage.data(length, s.LKey, s.Addr)
	}
	return nil
}

// inline copies the pieces into the request. It models set_data_inl_seg in
// providers/mlx5/qp.c.
func (q *sendQueue) inline(list []verbs.SGE) error {
	at, total := len(q.stage), uint32(0)
	q.stage.add(inlineSegSize)
	for i := range list {
		s := &list[i]
		if s.Length > q.qp.size.maxInline-total {
			return ErrInline
		}
		total += s.Length
		if err := verbs.Load(q.qp.ctx.sys, s.Addr, q.stage.add(int(s.Length))); err != nil {
			return err
		}
	}
	q.closeInline(at, total)
	return nil
}

// closeInline writes the header of the inline data at an offset of the stage and
// fills it up to whole segments. Without data there is no header either.
func (q *sendQueue) closeInline(at int, total uint32) {
	if total == 0 {
		q.stage = q.stage[:at]
		return
	}
	binary.BigEndian.PutUint32(q.stage[at:], total|inlineSeg)
	q.stage.pad(16)
}

// flush stores what is staged to the queue.
func (q *sendQueue) flush() error {
	return q.stage.store(q.qp.ctx.sys, q.start, q.qp.size.sqWQECnt, sendWQEShift, q.staged)
}

// ring stores what is staged and tells the device of nreq new requests: the
// doorbell record first, then the register. A short request that comes alone
// goes to the register as a whole. It models post_send_db in
// providers/mlx5/qp.c, with the preference for that as the library has it by
// default.
func (q *sendQueue) ring(nreq uint32) error {
	if nreq == 0 {
		return nil
	}
	q.head += nreq
	if err := q.flush(); err != nil {
		return err
	}
	sys, bf := q.qp.ctx.sys, q.qp.bf
	binary.BigEndian.PutUint32(q.word[:], q.curPost&0xffff)
	if err := verbs.Store(sys, q.qp.record+4*sndDBR, q.word[:]); err != nil {
		return err
	}
	if nreq == 1 && len(q.stage) <= int(bf.bufSize) && q.ctrl[7]&0x3f > 1 {
		return bf.copy(sys, q.stage)
	}
	return bf.ring(sys, q.ctrl[:])
}
