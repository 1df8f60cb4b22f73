package rxe

import (
	"sync/atomic"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// rxeCQ is a struct rxe_cq.
type rxeCQ struct {
	elem
	ib    *core.CQ
	queue *queue
	numWQ atomic.Int32 // work queues that complete here

	lock   trace.Mutex // cq_lock
	notify core.NotifyFlags
}

func toRcq(cq *core.CQ) *rxeCQ { return cq.Driver.(*rxeCQ) }

// respAddr is where the driver's response goes, for one that takes size bytes.
// Address 0 is no response: what it would tell is then not told.
func respAddr(udata *core.Udata, size uint64) (copyuser.Addr, bool) {
	return udata.Out, udata.OutLen >= size
}

const createCQRespSize, resizeCQRespSize = 16, 16

// createCQ models rxe_create_cq in drivers/infiniband/sw/rxe/rxe_verbs.c. The
// response is a struct rxe_create_cq_resp.
//
// Errors: rxe/create-cq-udata, rxe/create-cq-flags, rxe/create-cq-no-memory,
// those of cqChkAttr, of pool.add and of queue.mmapInfo.
func createCQ(ibcq *core.CQ, attr *core.CQInitAttr, attrs core.Attrs) error {
	udata := attrs.Udata()
	t := udata.Trace()
	defer t.Enter(module, "rxe_create_cq").Leave()
	d := toRdev(ibcq.Device)
	resp, ok := respAddr(udata, createCQRespSize)
	if !ok {
		return rule.RxeCreateCQUdata
	}
	if attr.Flags != 0 {
		return rule.RxeCreateCQFlags
	}
	if err := d.cqChkAttr(t, nil, int32(attr.CQE)); err != nil {
		return err
	}
	cq := &rxeCQ{ib: ibcq}
	cq.lock.Name = "cq_lock"
	if err := d.cqPool.add(t, &cq.elem, cq); err != nil {
		return err
	}
	ibcq.Driver = cq
	if err := d.cqFromInit(cq, attr.CQE, resp, udata); err != nil {
		cq.cleanup(t)
		return err
	}
	return nil
}

// cqChkAttr models rxe_cq_chk_attr in drivers/infiniband/sw/rxe/rxe_cq.c. cq
// is one that shall get another size, or nil.
//
// Errors: rxe/cq-empty, rxe/cq-too-large, rxe/cq-too-small.
func (d *rxeDev) cqChkAttr(t *trace.Task, cq *rxeCQ, cqe int32) error {
	defer t.Enter(module, "rxe_cq_chk_attr").Leave()
	if cqe <= 0 {
		return rule.RxeCQEmpty
	}
	if uint32(cqe) > d.attr.MaxCQE {
		return rule.RxeCQTooLarge
	}
	if cq == nil {
		return nil
	}
	cq.lock.Lock(t)
	defer cq.lock.Unlock(t)
	if uint32(cqe) < cq.queue.count(toClient) {
		return rule.RxeCQTooSmall
	}
	return nil
}

// cqFromInit models rxe_cq_from_init in drivers/infiniband/sw/rxe/rxe_cq.c.
func (d *rxeDev) cqFromInit(cq *rxeCQ, cqe uint32, resp copyuser.Addr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_cq_from_init").Leave()
	q, n := d.newQueue(t, cqe, cqeSize, toClient)
	if q == nil {
		return rule.RxeCreateCQNoMemory
	}
	cq.queue = q
	if err := q.mmapInfo(resp, udata); err != nil {
		return err
	}
	cq.ib.CQE.Store(n)
	return nil
}

// resizeCQ models rxe_resize_cq in drivers/infiniband/sw/rxe/rxe_verbs.c. The
// response is a struct rxe_resize_cq_resp.
//
// Errors: rxe/resize-cq-udata, those of cqChkAttr and of queue.resize.
func resizeCQ(ibcq *core.CQ, cqe int32, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_resize_cq").Leave()
	resp, ok := respAddr(udata, resizeCQRespSize)
	if !ok {
		return rule.RxeResizeCQUdata
	}
	cq := toRcq(ibcq)
	if err := toRdev(ibcq.Device).cqChkAttr(t, cq, cqe); err != nil {
		return err
	}
	return cq.resizeQueue(uint32(cqe), resp, udata)
}

// resizeQueue models rxe_cq_resize_queue in
// drivers/infiniband/sw/rxe/rxe_cq.c.
func (cq *rxeCQ) resizeQueue(cqe uint32, resp copyuser.Addr, udata *core.Udata) error {
	defer udata.Trace().Enter(module, "rxe_cq_resize_queue").Leave()
	n, err := cq.queue.resize(cqe, cqeSize, udata, resp, nil, &cq.lock)
	if err != nil {
		return err
	}
	cq.ib.CQE.Store(n)
	return nil
}

// destroyCQ models rxe_destroy_cq in drivers/infiniband/sw/rxe/rxe_verbs.c.
//
// Errors: rxe/cq-in-use.
func destroyCQ(ibcq *core.CQ, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_destroy_cq").Leave()
	cq := toRcq(ibcq)
	if cq.numWQ.Load() != 0 {
		return rule.RxeCQInUse
	}
	cq.cleanup(t)
	return nil
}

// cqCleanup models rxe_cq_cleanup in drivers/infiniband/sw/rxe/rxe_cq.c.
func cqCleanup(t *trace.Task, obj any) {
	defer t.Enter(module, "rxe_cq_cleanup").Leave()
	if q := obj.(*rxeCQ).queue; q != nil {
		q.cleanup(t)
	}
}

// pollCQ takes up to n completions out, as a client in the kernel does; a user
// takes them out of the shared memory. It models rxe_poll_cq in
// drivers/infiniband/sw/rxe/rxe_verbs.c.
func pollCQ(task *process.Task, ibcq *core.CQ, n int) ([]core.WC, error) {
	t := task.Trace
	defer t.Enter(module, "rxe_poll_cq").Leave()
	cq := toRcq(ibcq)
	cq.lock.Lock(t)
	defer cq.lock.Unlock(t)
	var wcs []core.WC
	for len(wcs) < n && !cq.queue.empty(toULP) {
		var wc spec.WC
		cq.queue.buf.load(cq.queue.at(cq.queue.consumer(toULP)), spec.Bytes(&wc))
		wcs = append(wcs, core.WC{
			WRID: wc.WRID, Status: wc.Status, Opcode: wc.Opcode, VendorErr: wc.VendorErr,
			ByteLen: wc.ByteLen, Imm: [4]byte(spec.Bytes(&wc.Ex)), QPNum: wc.QPNum, SrcQP: wc.SrcQP,
			WCFlags: wc.WCFlags, PkeyIndex: wc.PkeyIndex, PortNum: wc.PortNum,
		})
		cq.queue.advanceConsumer(toULP)
	}
	return wcs, nil
}

// reqNotifyCQ models rxe_req_notify_cq in
// drivers/infiniband/sw/rxe/rxe_verbs.c.
func reqNotifyCQ(task *process.Task, ibcq *core.CQ, flags core.NotifyFlags) error {
	t := task.Trace
	defer t.Enter(module, "rxe_req_notify_cq").Leave()
	cq := toRcq(ibcq)
	cq.lock.Lock(t)
	cq.notify |= flags & (core.NotifySolicited | core.NotifyNextComp)
	cq.lock.Unlock(t)
	return nil
}

// post puts a completion into the queue and tells who asked for it. False: the
// queue is full, and the CQ's owner was told so. It models rxe_cq_post in
// drivers/infiniband/sw/rxe/rxe_cq.c. The caller holds a reference.
func (cq *rxeCQ) post(t *trace.Task, wc *spec.WC, solicited bool) bool {
	defer t.Enter(module, "rxe_cq_post").Leave()
	cq.lock.Lock(t)
	if cq.queue.full(toClient) {
		cq.lock.Unlock(t)
		if cq.ib.EventHandler != nil {
			cq.ib.EventHandler(t, &core.Event{Type: spec.IB_EVENT_CQ_ERR, CQ: cq.ib})
		}
		return false
	}
	defer cq.lock.Unlock(t)
	q := cq.queue
	q.buf.store(q.at(q.producer(toClient)), spec.Bytes(wc))
	q.advanceProducer(toClient)
	if cq.notify&core.NotifyNextComp != 0 || cq.notify&core.NotifySolicited != 0 && solicited {
		cq.notify = 0
		cq.ib.CompHandler(t, cq.ib)
	}
	return true
}
