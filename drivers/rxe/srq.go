package rxe

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// recvQueue is a struct rxe_rq: the receive queue of a QP or an SRQ.
type recvQueue struct {
	maxWR  uint32 // of a QP
	maxSGE uint32
	queue  *queue

	producerLock, consumerLock trace.Mutex
}

// wqeSize is the size of an element, in bytes.
func (rq *recvQueue) wqeSize() uint32 { return recvWQESize + rq.maxSGE*sgeSize }

// rxeSRQ is a struct rxe_srq.
type rxeSRQ struct {
	elem
	pd    *rxePD
	ib    *core.SRQ
	rq    recvQueue
	limit uint32 // below so many receives the owner is told; under the consumer lock
}

func toRsrq(srq *core.SRQ) *rxeSRQ { return srq.Driver.(*rxeSRQ) }

// A struct rxe_create_srq_resp, in bytes, and where its srq_num lies.
const (
	createSRQRespSize = 24
	createSRQRespNum  = 16
	modifySRQCmdSize  = 8
)

// createSRQ models rxe_create_srq in drivers/infiniband/sw/rxe/rxe_verbs.c. The
// response is a struct rxe_create_srq_resp.
//
// Errors: rxe/create-srq-udata, rxe/srq-type, those of srqChkInit, of pool.add
// and of srqFromInit.
func createSRQ(ibsrq *core.SRQ, init *core.SRQInitAttr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_create_srq").Leave()
	d := toRdev(ibsrq.Device)
	resp, ok := respAddr(udata, createSRQRespSize)
	if !ok {
		return rule.RxeCreateSRQUdata
	}
	if init.Type != spec.IB_UVERBS_SRQT_BASIC {
		return rule.RxeSRQType
	}
	if err := d.srqChkInit(t, &init.Attr); err != nil {
		return err
	}
	srq := &rxeSRQ{ib: ibsrq, pd: toRpd(ibsrq.PD)}
	if err := d.srqPool.add(t, &srq.elem, srq); err != nil {
		return err
	}
	ibsrq.Driver = srq
	srq.pd.get(t)
	if err := d.srqFromInit(srq, init, resp, udata); err != nil {
		srq.cleanup(t)
		return err
	}
	return nil
}

// srqChkInit models rxe_srq_chk_init in drivers/infiniband/sw/rxe/rxe_srq.c. It
// raises what is below the driver's least.
//
// Errors: rxe/srq-too-large, rxe/srq-empty, rxe/srq-sge.
func (d *rxeDev) srqChkInit(t *trace.Task, attr *core.SRQAttr) error {
	defer t.Enter(module, "rxe_srq_chk_init").Leave()
	if attr.MaxWR > d.attr.MaxSRQWR {
		return rule.RxeSRQTooLarge
	}
	if attr.MaxWR == 0 {
		return rule.RxeSRQEmpty
	}
	attr.MaxWR = max(attr.MaxWR, minSRQWR)
	if attr.MaxSGE > d.attr.MaxSRQSGE {
		return rule.RxeSRQSGE
	}
	attr.MaxSGE = max(attr.MaxSGE, minSRQSGE)
	return nil
}

// srqFromInit models rxe_srq_from_init in drivers/infiniband/sw/rxe/rxe_srq.c.
//
// Errors: rxe/create-srq-no-memory, rxe/create-srq-fault, those of
// queue.mmapInfo.
func (d *rxeDev) srqFromInit(srq *rxeSRQ, init *core.SRQInitAttr, resp copyuser.Addr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_srq_from_init").Leave()
	srq.limit = init.Attr.Limit
	srq.rq.maxSGE = init.Attr.MaxSGE
	srq.rq.initLocks()
	q, n := d.newQueue(t, init.Attr.MaxWR, srq.rq.wqeSize(), fromClient)
	if q == nil {
		return rule.RxeCreateSRQNoMemory
	}
	if err := q.mmapInfo(resp, udata); err != nil {
		return err
	}
	task := udata.Task()
	if resp != 0 && !copyuser.CopyToUser(t, task.Mem, resp+createSRQRespNum, spec.Bytes(&srq.index)) {
		q.cleanup(t)
		return rule.RxeCreateSRQFault
	}
	srq.rq.queue = q
	if d.kernel.Has(spec.RxeGrantedSRQSize) {
		init.Attr.MaxWR = n
	}
	return nil
}

func (rq *recvQueue) initLocks() {
	rq.producerLock.Name, rq.consumerLock.Name = "producer_lock", "consumer_lock"
}

// modifySRQ models rxe_modify_srq in drivers/infiniband/sw/rxe/rxe_verbs.c. The
// request is a struct rxe_modify_srq_cmd.
//
// Errors: rxe/modify-srq-udata, rxe/modify-srq-fault, those of chkAttr and of
// fromAttr.
func modifySRQ(ibsrq *core.SRQ, attr *core.SRQAttr, mask uint32, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_modify_srq").Leave()
	srq := toRsrq(ibsrq)
	if udata.InLen < modifySRQCmdSize {
		return rule.RxeModifySRQUdata
	}
	var cmd spec.RxeModifySRQCmd
	if !udata.CopyFrom(spec.Bytes(&cmd)) {
		return rule.RxeModifySRQFault
	}
	if err := srq.chkAttr(t, toRdev(ibsrq.Device), attr, mask); err != nil {
		return err
	}
	return srq.fromAttr(attr, mask, &cmd, udata)
}

// chkAttr models rxe_srq_chk_attr in drivers/infiniband/sw/rxe/rxe_srq.c. How
// large the queue is, it reads from the memory that the user shares. An SRQ is
// never in the error state that it asks for.
//
// Errors: rxe/modify-srq-too-large, rxe/modify-srq-empty,
// rxe/modify-srq-below-limit, rxe/srq-limit-max, rxe/srq-limit.
func (srq *rxeSRQ) chkAttr(t *trace.Task, d *rxeDev, attr *core.SRQAttr, mask uint32) error {
	defer t.Enter(module, "rxe_srq_chk_attr").Leave()
	srq.rq.consumerLock.Lock(t)
	defer srq.rq.consumerLock.Unlock(t)
	if mask&spec.IB_SRQ_MAX_WR != 0 {
		switch {
		case attr.MaxWR > d.attr.MaxSRQWR:
			return rule.RxeModifySRQTooLarge
		case attr.MaxWR == 0:
			return rule.RxeModifySRQEmpty
		case attr.MaxWR < srq.limit:
			return rule.RxeModifySRQBelowLimit
		}
		attr.MaxWR = max(attr.MaxWR, minSRQWR)
	}
	if mask&spec.IB_SRQ_LIMIT != 0 {
		switch {
		case attr.Limit > d.attr.MaxSRQWR:
			return rule.RxeSRQLimitMax
		case attr.Limit > srq.rq.queue.buf.word(bufIndexMask):
			return rule.RxeSRQLimit
		}
	}
	return nil
}

// fromAttr models rxe_srq_from_attr in drivers/infiniband/sw/rxe/rxe_srq.c.
//
// Errors: those of queue.resize.
func (srq *rxeSRQ) fromAttr(attr *core.SRQAttr, mask uint32, cmd *spec.RxeModifySRQCmd, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_srq_from_attr").Leave()
	if mask&spec.IB_SRQ_MAX_WR != 0 {
		rq := &srq.rq
		n, err := rq.queue.resize(attr.MaxWR, rq.wqeSize(), udata, copyuser.Addr(cmd.MmapInfoAddr), &rq.producerLock, &rq.consumerLock)
		if err != nil {
			return err
		}
		attr.MaxWR = n
	}
	if mask&spec.IB_SRQ_LIMIT != 0 {
		srq.rq.consumerLock.Lock(t)
		srq.limit = attr.Limit
		srq.rq.consumerLock.Unlock(t)
	}
	return nil
}

// querySRQ models rxe_query_srq in drivers/infiniband/sw/rxe/rxe_verbs.c. How
// large the queue is, it reads from the memory that the user shares.
func querySRQ(task *process.Task, ibsrq *core.SRQ, attr *core.SRQAttr) error {
	t := task.Trace
	defer t.Enter(module, "rxe_query_srq").Leave()
	srq := toRsrq(ibsrq)
	srq.rq.consumerLock.Lock(t)
	defer srq.rq.consumerLock.Unlock(t)
	attr.MaxWR = srq.rq.queue.buf.word(bufIndexMask)
	attr.MaxSGE = srq.rq.maxSGE
	attr.Limit = srq.limit
	return nil
}

// destroySRQ models rxe_destroy_srq in drivers/infiniband/sw/rxe/rxe_verbs.c.
func destroySRQ(ibsrq *core.SRQ, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_destroy_srq").Leave()
	toRsrq(ibsrq).cleanup(t)
	return nil
}

// srqCleanup models rxe_srq_cleanup in drivers/infiniband/sw/rxe/rxe_srq.c.
func srqCleanup(t *trace.Task, obj any) {
	defer t.Enter(module, "rxe_srq_cleanup").Leave()
	srq := obj.(*rxeSRQ)
	srq.pd.put(t)
	if srq.rq.queue != nil {
		srq.rq.queue.cleanup(t)
	}
}
