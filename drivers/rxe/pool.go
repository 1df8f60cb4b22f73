package rxe

import (
	"sync"
	"sync/atomic"
	"time"

	"uverbsim/rule"
	"uverbsim/trace"
)

// elemType is an enum rxe_elem_type of drivers/infiniband/sw/rxe/rxe_pool.h.
type elemType uint8

const (
	typeUC elemType = iota
	typePD
	typeAH
	typeSRQ
	typeQP
	typeCQ
	typeMR
	typeMW
	numTypes
)

// typeInfo is a struct rxe_type_info.
type typeInfo struct {
	name     string
	min, max uint32 // indexes
	maxElem  int32
	cleanup  func(t *trace.Task, obj any) // nil: there is nothing to do
}

// typeInfos is rxe_type_info. No type may have more elements than indexes.
var typeInfos = [numTypes]typeInfo{
	typeUC:  {"uc", 1, maxUcontext, maxUcontext, nil},
	typePD:  {"pd", 1, maxPD, maxPD, nil},
	typeAH:  {"ah", minAHIndex, maxAHIndex, maxAH, nil},
	typeSRQ: {"srq", minSRQIndex, maxSRQIndex, maxSRQ, srqCleanup},
	typeQP:  {"qp", minQPIndex, maxQPIndex, maxQP, qpCleanup},
	typeCQ:  {"cq", 1, maxCQ, maxCQ, cqCleanup},
	typeMR:  {"mr", minMRIndex, maxMRIndex, maxMR, mrCleanup},
	typeMW:  {"mw", minMWIndex, maxMWIndex, maxMW, mwCleanup},
}

// pool is a struct rxe_pool: the objects of one type, which it numbers. A
// number is not given out again before all others were.
type pool struct {
	info    *typeInfo
	numElem atomic.Int32

	lock trace.Mutex // xa_lock
	xa   map[uint32]*elem
	next uint32
}

// elem is a struct rxe_pool_elem: what an object has for its pool.
type elem struct {
	pool  *pool
	obj   any // the object around it
	index uint32

	refs      atomic.Int32
	complete  sync.WaitGroup // until the last reference is gone
	finalized bool           // can be found by its index; under the pool's lock
}

// init models rxe_pool_init in drivers/infiniband/sw/rxe/rxe_pool.c.
func (p *pool) init(typ elemType) {
	p.info = &typeInfos[typ]
	p.lock.Name = "xa_lock"
	p.xa = map[uint32]*elem{}
}

// add gives the object its number, and a first reference. It can be found by
// its number once it is finalized. It models __rxe_add_to_pool in
// drivers/infiniband/sw/rxe/rxe_pool.c.
//
// Errors: rxe/pool-full, rxe/pool-no-memory.
func (p *pool) add(t *trace.Task, e *elem, obj any) error {
	defer t.Enter(module, "__rxe_add_to_pool").Leave()
	if p.numElem.Add(1) > p.info.maxElem {
		p.numElem.Add(-1)
		return rule.RxePoolFull
	}
	e.pool, e.obj = p, obj
	e.refs.Store(1)
	e.complete.Add(1)
	if t.Fail(trace.ID, p.info.name) {
		p.numElem.Add(-1)
		return rule.RxePoolNoMemory
	}
	p.lock.Lock(t)
	e.index = p.allocCyclic()
	p.xa[e.index] = e
	p.lock.Unlock(t)
	return nil
}

// allocCyclic models xa_alloc_cyclic in include/linux/xarray.h. There is a
// free number, since there are at least as many as elements.
func (p *pool) allocCyclic() uint32 {
	i := max(p.next, p.info.min)
	for {
		if i > p.info.max {
			i = p.info.min
		}
		if p.xa[i] == nil {
			p.next = i + 1
			return i
		}
		i++
	}
}

// get takes a reference on the object with that number, nil if there is none.
// It models rxe_pool_get_index in drivers/infiniband/sw/rxe/rxe_pool.c.
func (p *pool) get(t *trace.Task, index uint32) any {
	defer t.Enter(module, "rxe_pool_get_index").Leave()
	p.lock.Lock(t)
	defer p.lock.Unlock(t)
	e := p.xa[index]
	if e == nil || !e.finalized || !e.getUnlessZero() {
		return nil
	}
	return e.obj
}

// getUnlessZero models kref_get_unless_zero in include/linux/kref.h.
func (e *elem) getUnlessZero() bool {
	for {
		n := e.refs.Load()
		if n == 0 {
			return false
		}
		if e.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// get takes a reference. It models __rxe_get in
// drivers/infiniband/sw/rxe/rxe_pool.c.
func (e *elem) get(t *trace.Task) {
	defer t.Enter(module, "__rxe_get").Leave()
	t.Before(trace.Ref, "get", e.pool.info.name, trace.Nothing, &e.refs)
	e.getUnlessZero()
	t.Note(trace.Ref, e.pool.info.name, uint64(e.index), 1, 0)
}

// put drops a reference. It models __rxe_put in
// drivers/infiniband/sw/rxe/rxe_pool.c.
func (e *elem) put(t *trace.Task) {
	defer t.Enter(module, "__rxe_put").Leave()
	e.drop(t)
}

func (e *elem) drop(t *trace.Task) {
	t.Before(trace.Ref, "put", e.pool.info.name, trace.Drops, &e.refs)
	const minusOne = 1<<64 - 1
	t.Note(trace.Ref, e.pool.info.name, uint64(e.index), minusOne, 0)
	if e.refs.Add(-1) == 0 {
		t.Turned(trace.Writes)
		e.complete.Done()
	}
}

// completeTimeout is how long an object that goes waits for who holds it.
const completeTimeout = 50 * time.Second

// cleanup takes the object's number away, waits until nobody holds the object
// any more and frees what it has. After a while it gives up waiting. It models
// __rxe_cleanup in drivers/infiniband/sw/rxe/rxe_pool.c.
func (e *elem) cleanup(t *trace.Task) {
	defer t.Enter(module, "__rxe_cleanup").Leave()
	p := e.pool
	p.lock.Lock(t)
	delete(p.xa, e.index)
	p.lock.Unlock(t)
	e.drop(t)
	if t.Scheduled() {
		t.PointAt(&trace.Point{Kind: trace.Ref, Verb: "wait_for_completion", Name: p.info.name,
			Access: trace.Access{Effect: trace.Reads, On: &e.refs}, Ready: func() bool { return e.refs.Load() == 0 }})
	}
	if e.refs.Load() != 0 { // usually nobody else holds it, and there is nothing to wait for
		e.wait(t)
	}
	if p.info.cleanup != nil {
		p.info.cleanup(t, e.obj)
	}
	p.numElem.Add(-1)
}

// wait returns when nobody holds the object any more, or after completeTimeout.
func (e *elem) wait(t *trace.Task) {
	done := make(chan struct{})
	go func() {
		e.complete.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(completeTimeout):
		t.Warn("__rxe_cleanup")
	}
}

// finalize lets the object be found by its number. It models __rxe_finalize in
// drivers/infiniband/sw/rxe/rxe_pool.c.
func (e *elem) finalize(t *trace.Task) {
	defer t.Enter(module, "__rxe_finalize").Leave()
	e.pool.lock.Lock(t)
	e.finalized = true
	e.pool.lock.Unlock(t)
}
