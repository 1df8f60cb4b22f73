package libmlx5

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/verbs"
)

// ErrNoSendOps is the error of building requests on a queue pair that was not
// made for it, with QPInitAttr.SendOpsFlags, or of an operation that queue pairs
// of its type do not have. The C library would be killed. Its errno is
// EOPNOTSUPP.
var ErrNoSendOps = fmt.Errorf("libmlx5: the queue pair builds no such requests: %w", syscall.EOPNOTSUPP)

// ErrNotRTS is the error of WRComplete before the queue pair is in IBV_QPS_RTS.
// Its errno is EINVAL.
var ErrNotRTS = fmt.Errorf("libmlx5: the queue pair takes no send requests in its state: %w", syscall.EINVAL)

// sendBuilder is the part of struct mlx5_qp that the functions of struct
// ibv_qp_ex work with. It is under the send queue's lock from WRStart to
// WRComplete or WRAbort.
type sendBuilder struct {
	ready bool // the state allows requests to be completed

	err     error
	nreq    uint32
	curPost uint32 // as it was at WRStart
	fmCache byte

	open    bool // a request was begun and is not finished
	at      int  // where it begins in the stage
	opcode  byte
	imm     uint32
	fence   byte
	op      Opcode // see sendQueue.enter
	setters int    // how many of its parts are set
}

// WRStart begins a batch of requests: ibv_wr_start. No other goroutine can post
// to the send queue until WRComplete or WRAbort. The methods between them build
// requests, each of one operation and then its parts, with QP.WRID and
// QP.WRFlags as they are when the operation is chosen. It models
// mlx5_send_wr_start in providers/mlx5/qp.c.
func (qp *QP) WRStart() {
	q := &qp.sq
	q.mu.Lock()
	q.begin()
	q.builder = sendBuilder{ready: q.builder.ready, curPost: q.curPost, fmCache: q.fmCache}
	if qp.SendOpsFlags == 0 {
		q.builder.err = ErrNoSendOps
	}
}

// WRComplete posts the batch, or nothing of it if there was an error: the first
// one is returned. It models mlx5_send_wr_complete in providers/mlx5/qp.c.
//
// Errors: ErrNotRTS, ErrNoSendOps, ErrSQFull, ErrSendSGE, ErrInline,
// ErrBindLength, ErrWRPart, and faults of the program's memory.
func (qp *QP) WRComplete() error {
	q := &qp.sq
	defer q.mu.Unlock()
	b := &q.builder
	q.abandon()
	switch {
	case !b.ready:
		q.rollBack()
		return ErrNotRTS
	case b.err != nil:
		q.rollBack()
		return b.err
	}
	return q.ring(b.nreq)
}

// WRAbort drops the batch. It models mlx5_send_wr_abort in providers/mlx5/qp.c.
func (qp *QP) WRAbort() {
	defer qp.sq.mu.Unlock()
	qp.sq.rollBack()
}

func (q *sendQueue) rollBack() { q.curPost, q.fmCache = q.builder.curPost, q.builder.fmCache }

// fail keeps the first error of a batch.
func (b *sendBuilder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// openWR begins a request of an operation. It models _common_wqe_init in
// providers/mlx5/qp.c. Of an operation that failed, nothing is built.
func (qp *QP) openWR(ops uint64, op verbs.WROpcode) bool {
	q := &qp.sq
	b := &q.builder
	q.abandon()
	if !qp.builds(ops) {
		b.fail(ErrNoSendOps)
	} else if q.overflow(b.nreq) {
		b.fail(ErrSQFull)
	}
	if b.err != nil {
		return false
	}
	b.open, b.at, b.setters = true, len(q.stage), 0
	b.opcode, b.imm, b.op = opcodeOf[op], 0, 0
	b.fence = q.fmCache
	if qp.WRFlags&verbs.IBV_SEND_FENCE != 0 {
		b.fence = ctrlFence
	}
	q.fmCache = 0
	q.stage.add(ctrlSegSize)
	switch qp.Type {
	case verbs.IBV_QPT_UD:
		clear(q.stage.add(datagramSegSize))
	case verbs.IBV_QPT_XRC_SEND:
		if op != verbs.IBV_WR_BIND_MW && op != verbs.IBV_WR_LOCAL_INV {
			clear(q.stage.add(xrcSegSize))
		}
	}
	b.nreq++
	return true
}

// builds says whether queue pairs of the type have the operation.
func (qp *QP) builds(op uint64) bool { return qp.ctx.canSend(qp.Type, op) }

// abandon drops a request that was begun and not finished.
func (q *sendQueue) abandon() {
	if q.builder.open {
		q.stage = q.stage[:q.builder.at]
		q.builder.open = false
	}
}

// closeWR finishes a request. It models _common_wqe_finalize in
// providers/mlx5/qp.c.
func (qp *QP) closeWR() {
	q := &qp.sq
	b := &q.builder
	b.open = false
	ctrl := q.stage[b.at : b.at+ctrlSegSize]
	q.control(ctrl, b.opcode, len(q.stage)-b.at, b.fence, qp.WRFlags)
	binary.BigEndian.PutUint32(ctrl[ctrlImm:], b.imm)
	q.enter(b.at, qp.WRID, b.nreq-1, b.op)
}

// setWR counts a part that was set. Datagrams and requests of XRC have two, and
// are finished with the second, in whichever order they come.
func (qp *QP) setWR() {
	b := &qp.sq.builder
	b.setters++
	if b.setters == 2 || qp.Type != verbs.IBV_QPT_UD && qp.Type != verbs.IBV_QPT_XRC_SEND {
		qp.closeWR()
	}
}

// building says whether a request was begun that parts can be set of.
func (q *sendQueue) building() bool { return q.builder.open && q.builder.err == nil }

// WRSend models ibv_wr_send: a SEND, to be given its data.
func (qp *QP) WRSend() { qp.openWR(verbs.IBV_QP_EX_WITH_SEND, verbs.IBV_WR_SEND) }

// WRSendImm models ibv_wr_send_imm.
func (qp *QP) WRSendImm(imm uint32) {
	if qp.openWR(verbs.IBV_QP_EX_WITH_SEND_WITH_IMM, verbs.IBV_WR_SEND_WITH_IMM) {
		qp.sq.builder.imm = imm
	}
}

// WRSendInv models ibv_wr_send_inv.
func (qp *QP) WRSendInv(rkey uint32) {
	if qp.openWR(verbs.IBV_QP_EX_WITH_SEND_WITH_INV, verbs.IBV_WR_SEND_WITH_INV) {
		qp.sq.builder.imm = rkey
	}
}

// WRRDMAWrite models ibv_wr_rdma_write.
func (qp *QP) WRRDMAWrite(rkey uint32, remoteAddr uint64) {
	if qp.openWR(verbs.IBV_QP_EX_WITH_RDMA_WRITE, verbs.IBV_WR_RDMA_WRITE) {
		qp.sq.stage.raddr(remoteAddr, rkey)
	}
}

// WRRDMAWriteImm models ibv_wr_rdma_write_imm.
func (qp *QP) WRRDMAWriteImm(rkey uint32, remoteAddr uint64, imm uint32) {
	if qp.openWR(verbs.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, verbs.IBV_WR_RDMA_WRITE_WITH_IMM) {
		qp.sq.stage.raddr(remoteAddr, rkey)
		qp.sq.builder.imm = imm
	}
}

// WRRDMARead models ibv_wr_rdma_read.
func (qp *QP) WRRDMARead(rkey uint32, remoteAddr uint64) {
	if qp.openWR(verbs.IBV_QP_EX_WITH_RDMA_READ, verbs.IBV_WR_RDMA_READ) {
		qp.sq.stage.raddr(remoteAddr, rkey)
	}
}

// WRAtomicCmpSwp models ibv_wr_atomic_cmp_swp. Its data is the 8 bytes that the
// old value goes to.
func (qp *QP) WRAtomicCmpSwp(rkey uint32, remoteAddr, compare, swap uint64) {
	if qp.openWR(verbs.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, verbs.IBV_WR_ATOMIC_CMP_AND_SWP) {
		qp.sq.stage.raddr(remoteAddr, rkey)
		qp.sq.stage.atomic(verbs.IBV_WR_ATOMIC_CMP_AND_SWP, swap, compare)
	}
}

// WRAtomicFetchAdd models ibv_wr_atomic_fetch_add.
func (qp *QP) WRAtomicFetchAdd(rkey uint32, remoteAddr, add uint64) {
	if qp.openWR(verbs.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, verbs.IBV_WR_ATOMIC_FETCH_AND_ADD) {
		qp.sq.stage.raddr(remoteAddr, rkey)
		qp.sq.stage.atomic(verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, 0, add)
	}
}

// WRBindMW models ibv_wr_bind_mw: it binds a window of type 2, which gets a key.
// It has no further parts.
func (qp *QP) WRBindMW(mw *verbs.MW, rkey uint32, info *BindInfo) {
	if mw == nil {
		qp.sq.builder.fail(ErrWRPart)
		return
	}
	qp.umrWR(verbs.IBV_QP_EX_WITH_BIND_MW, verbs.IBV_WR_BIND_MW, mw.RKey, rkey, info, IBV_WC_BIND_MW)
}

// WRLocalInv models ibv_wr_local_inv. It has no further parts.
func (qp *QP) WRLocalInv(rkey uint32) {
	qp.umrWR(verbs.IBV_QP_EX_WITH_LOCAL_INV, verbs.IBV_WR_LOCAL_INV, rkey, 0, &BindInfo{}, IBV_WC_LOCAL_INV)
}

// umrWR models _build_umr_wqe in providers/mlx5/qp.c.
func (qp *QP) umrWR(ops uint64, wrOp verbs.WROpcode, old, rkey uint32, info *BindInfo, op Opcode) {
	if !qp.openWR(ops, wrOp) {
		return
	}
	q := &qp.sq
	if err := q.stage.bind(verbs.IBV_MW_TYPE_2, rkey, info, qp.Num); err != nil {
		q.builder.fail(err)
		return
	}
	q.builder.imm, q.builder.op = old, op
	q.fmCache = ctrlInitiatorSmallFence
	qp.closeWR()
}

// WRSetSGE models ibv_wr_set_sge.
func (qp *QP) WRSetSGE(lkey uint32, addr copyuser.Addr, length uint32) {
	if !qp.sq.building() {
		return
	}
	if length > 0 {
		qp.sq.stage.data(length, lkey, addr)
	}
	qp.setWR()
}

// WRSetSGEList models ibv_wr_set_sge_list.
func (qp *QP) WRSetSGEList(list []verbs.SGE) {
	q := &qp.sq
	if !q.building() {
		return
	}
	if len(list) > int(qp.size.sqMaxGS) {
		q.builder.fail(ErrSendSGE)
		return
	}
	q.stage.pieces(list, true)
	qp.setWR()
}

// WRSetInlineData models ibv_wr_set_inline_data.
func (qp *QP) WRSetInlineData(addr copyuser.Addr, length uint32) {
	qp.WRSetInlineDataList([]verbs.SGE{{Addr: addr, Length: length}})
}

// WRSetInlineDataList models ibv_wr_set_inline_data_list. The keys of the pieces
// do not count.
func (qp *QP) WRSetInlineDataList(list []verbs.SGE) {
	q := &qp.sq
	if !q.building() {
		return
	}
	if err := q.inline(list); err != nil {
		q.builder.fail(err)
		return
	}
	qp.setWR()
}

// WRSetUDAddr models ibv_wr_set_ud_addr.
func (qp *QP) WRSetUDAddr(ah *AH, remoteQPN, remoteQKey uint32) {
	q := &qp.sq
	if !q.building() {
		return
	}
	if qp.Type != verbs.IBV_QPT_UD || ah == nil {
		q.builder.fail(ErrNoSendOps)
		return
	}
	seg := q.stage[q.builder.at+ctrlSegSize : q.builder.at+ctrlSegSize]
	seg.datagram(&ah.av, remoteQPN, remoteQKey)
	qp.setWR()
}

// WRSetXRCSRQN models ibv_wr_set_xrc_srqn.
func (qp *QP) WRSetXRCSRQN(remoteSRQN uint32) {
	q := &qp.sq
	if !q.building() {
		return
	}
	if qp.Type != verbs.IBV_QPT_XRC_SEND {
		q.builder.fail(ErrNoSendOps)
		return
	}
	seg := q.stage[q.builder.at+ctrlSegSize : q.builder.at+ctrlSegSize]
	seg.xrc(remoteSRQN)
	qp.setWR()
}
