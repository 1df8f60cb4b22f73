package rxe

import (
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// postSend is the doorbell of a user's QP: the work requests are in the shared
// memory already, and those handed over here are not looked at. It models
// rxe_post_send in drivers/infiniband/sw/rxe/rxe_verbs.c.
//
// Errors: rxe/post-send-state, and with it bad is 0.
func postSend(task *process.Task, ibqp *core.QP, _ []core.SendWR) (bad int, err error) {
	t := task.Trace
	defer t.Enter(module, "rxe_post_send").Leave()
	qp := toRqp(ibqp)
	qp.stateLock.Lock(t)
	ready := qp.attr.State >= spec.IB_QPS_RTS
	qp.stateLock.Unlock(t)
	if !ready {
		return 0, rule.RxePostSendState
	}
	qp.sendTask.sched(t)
	return 0, nil
}

// postRecv puts work requests into a QP's receive queue, as a client in the
// kernel does; a user puts them into the shared memory. It models rxe_post_recv
// in drivers/infiniband/sw/rxe/rxe_verbs.c.
//
// Errors: rxe/post-recv-state, rxe/post-recv-srq, those of postOne.
func postRecv(task *process.Task, ibqp *core.QP, wrs []core.RecvWR) (bad int, err error) {
	t := task.Trace
	defer t.Enter(module, "rxe_post_recv").Leave()
	qp := toRqp(ibqp)
	qp.stateLock.Lock(t)
	ready := qp.attr.State >= spec.IB_QPS_INIT
	qp.stateLock.Unlock(t)
	if !ready {
		return 0, rule.RxePostRecvState
	}
	if qp.srq != nil {
		return 0, rule.RxePostRecvSRQ
	}
	bad, err = qp.rq.post(t, wrs)
	qp.stateLock.Lock(t)
	if qp.attr.State == spec.IB_QPS_ERR {
		qp.recvTask.sched(t)
	}
	qp.stateLock.Unlock(t)
	return bad, err
}

// postSRQRecv is postRecv for an SRQ. It models rxe_post_srq_recv in
// drivers/infiniband/sw/rxe/rxe_verbs.c.
//
// Errors: those of postOne.
func postSRQRecv(task *process.Task, ibsrq *core.SRQ, wrs []core.RecvWR) (bad int, err error) {
	t := task.Trace
	defer t.Enter(module, "rxe_post_srq_recv").Leave()
	return toRsrq(ibsrq).rq.post(t, wrs)
}

// post puts work requests in until one is refused, whose index it returns.
func (rq *recvQueue) post(t *trace.Task, wrs []core.RecvWR) (bad int, err error) {
	rq.producerLock.Lock(t)
	defer rq.producerLock.Unlock(t)
	for i := range wrs {
		if err := rq.postOne(t, &wrs[i]); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// postOne models post_one_recv in drivers/infiniband/sw/rxe/rxe_verbs.c.
//
// Errors: rxe/post-recv-full, rxe/post-recv-sge, rxe/post-recv-length.
func (rq *recvQueue) postOne(t *trace.Task, wr *core.RecvWR) error {
	defer t.EnterInlined(module, "post_one_recv").Leave()
	if rq.queue.full(fromULP) {
		return rule.RxePostRecvFull
	}
	if len(wr.SGList) > int(rq.maxSGE) {
		return rule.RxePostRecvSGE
	}
	length := uint64(0)
	for _, s := range wr.SGList {
		length += uint64(s.Length)
	}
	if length > portMaxMsgSz {
		return rule.RxePostRecvLength
	}
	wqe := spec.RxeRecvWQE{WRID: wr.WRID}
	wqe.DMA.Length, wqe.DMA.Resid, wqe.DMA.NumSGE = uint32(length), uint32(length), uint32(len(wr.SGList))
	at := rq.queue.at(rq.queue.producer(fromULP))
	rq.queue.buf.store(at, spec.Bytes(&wqe))
	for i, s := range wr.SGList {
		sge := spec.RxeSGE{Addr: s.Addr, Length: s.Length, Lkey: s.LKey}
		rq.queue.buf.store(at+recvWQESize+uint64(i)*sgeSize, spec.Bytes(&sge))
	}
	rq.queue.advanceProducer(fromULP)
	return nil
}
