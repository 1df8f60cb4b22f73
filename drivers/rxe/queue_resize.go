package rxe

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/trace"
)

// resize gives the queue new memory with room for at least numElem elements,
// tells the user at outbuf where to map it, and moves what is in the queue; it
// returns for how many there is room. A mapping of the old memory stays. It
// models rxe_queue_resize in drivers/infiniband/sw/rxe/rxe_queue.c.
//
// Errors: rxe/queue-resize-no-memory, rxe/queue-resize-too-small, those of
// mmapInfo.
func (q *queue) resize(numElem, elemSize uint32, udata *core.Udata, outbuf copyuser.Addr, producerLock, consumerLock *trace.Mutex) (uint32, error) {
	t := udata.Trace()
	defer t.Enter(module, "rxe_queue_resize").Leave()
	newQ, numElem := q.dev.newQueue(t, numElem, elemSize, q.typ)
	if newQ == nil {
		return 0, rule.RxeQueueResizeNoMemory
	}
	if err := newQ.mmapInfo(outbuf, udata); err != nil {
		return 0, err
	}
	consumerLock.Lock(t)
	if producerLock != nil {
		producerLock.Lock(t)
	}
	err := q.resizeFinish(t, newQ, numElem)
	if producerLock != nil {
		producerLock.Unlock(t)
	}
	consumerLock.Unlock(t)
	newQ.cleanup(t) // the new memory after an error, else the old
	return numElem, err
}

// resizeFinish models resize_finish in drivers/infiniband/sw/rxe/rxe_queue.c.
func (q *queue) resizeFinish(t *trace.Task, newQ *queue, numElem uint32) error {
	defer t.EnterInlined(module, "resize_finish").Leave()
	if n := q.count(q.typ); n != 0 && numElem < n {
		return rule.RxeQueueResizeTooSmall
	}
	elem := make([]byte, newQ.elemSize)
	newProd, prod, cons := newQ.producer(q.typ), q.producer(q.typ), q.consumer(q.typ)
	for (prod-cons)&q.indexMask != 0 {
		q.buf.load(q.at(cons), elem)
		newQ.buf.store(newQ.at(newProd), elem)
		newProd, cons = newQ.next(newProd), q.next(cons)
	}
	newQ.buf.setWord(bufProducerIndex, newProd)
	q.buf.setWord(bufConsumerIndex, cons)
	if q.typ == toClient {
		newQ.index = newProd
	} else {
		q.index = cons
	}
	q.ring, newQ.ring = newQ.ring, q.ring
	return nil
}
