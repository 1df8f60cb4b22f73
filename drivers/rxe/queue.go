package rxe

import (
	"encoding/binary"
	"math/bits"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/trace"
)

// queueType is an enum queue_type of drivers/infiniband/sw/rxe/rxe_queue.h: who
// puts elements in. The client is a user, the ULP a client in the kernel.
type queueType uint8

const (
	toClient queueType = iota
	fromClient
	fromULP
	toULP
)

// Where the members of struct rxe_queue_buf lie, which is how a queue begins.
const (
	bufLog2ElemSize  = 0
	bufIndexMask     = 4
	bufHead          = 8 // up to where a new one is not all zeros
	bufProducerIndex = 128
	bufConsumerIndex = 256
	bufData          = 384
)

// queue is a struct rxe_queue: a ring of elements in memory that the user can
// map. The side that owns an index keeps a copy of it for itself and writes
// the shared one; the other side's is read from the shared memory, where the
// user may have put anything.
type queue struct {
	dev *rxeDev
	typ queueType
	ring
}

// ring is what a queue exchanges when it gets another size, under its locks.
type ring struct {
	buf          *buffer
	ip           *mmapInfo // nil if the user was not told where to map it
	bufSize      uint64    // bytes
	elemSize     uint32    // bytes of an element that are used
	log2ElemSize uint
	indexMask    uint32
	index        uint32 // the driver's
}

// newQueue makes a queue with room for at least numElem elements of elemSize
// bytes, and returns for how many; nil if there is no memory. It models
// rxe_queue_init in drivers/infiniband/sw/rxe/rxe_queue.c. The callers have
// checked the number, so it is never negative.
func (d *rxeDev) newQueue(t *trace.Task, numElem, elemSize uint32, typ queueType) (*queue, uint32) {
	defer t.Enter(module, "rxe_queue_init").Leave()
	log2 := uint(bits.Len32(max(elemSize, cacheLineSize) - 1))
	slots := uint32(1) << bits.Len32(numElem)
	q := &queue{dev: d, typ: typ, ring: ring{elemSize: elemSize, log2ElemSize: log2, indexMask: slots - 1}}
	q.bufSize = bufData + uint64(slots)<<log2
	if q.bufSize > d.memory || t.Fail(trace.Alloc, "rxe_queue") || t.Fail(trace.Alloc, "rxe_queue_buf") {
		return nil, 0
	}
	q.buf = newBuffer(q.bufSize)
	binary.LittleEndian.PutUint32(q.buf.head[bufLog2ElemSize:], uint32(log2))
	binary.LittleEndian.PutUint32(q.buf.head[bufIndexMask:], slots-1)
	return q, slots - 1
}

// mmapInfo makes the queue's memory ready to be mapped and tells the user
// where, at outbuf; the address 0 is no user. It models do_mmap_info in
// drivers/infiniband/sw/rxe/rxe_queue.c.
//
// Errors: rxe/mmap-info-no-memory, rxe/mmap-info-fault.
func (q *queue) mmapInfo(outbuf copyuser.Addr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "do_mmap_info").Leave()
	if outbuf == 0 {
		return nil
	}
	ip, err := q.dev.createMmapInfo(q, udata)
	if err != nil {
		return err
	}
	if err := ip.copyTo(outbuf, udata); err != nil {
		return err
	}
	q.dev.pendMmap(t, ip)
	q.ip = ip
	return nil
}

// reset zeroes the elements. It models rxe_queue_reset in
// drivers/infiniband/sw/rxe/rxe_queue.c.
func (q *queue) reset(t *trace.Task) {
	defer t.Enter(module, "rxe_queue_reset").Leave()
	q.buf.clear(bufData, q.bufSize)
}

// cleanup gives the queue's memory back, unless it is mapped. It models
// rxe_queue_cleanup in drivers/infiniband/sw/rxe/rxe_queue.c.
func (q *queue) cleanup(t *trace.Task) {
	defer t.Enter(module, "rxe_queue_cleanup").Leave()
	if q.ip != nil {
		q.ip.put(t)
	}
}

// producer is where the next element goes: queue_get_producer in
// drivers/infiniband/sw/rxe/rxe_queue.h. typ says who asks.
func (q *queue) producer(typ queueType) uint32 {
	if typ == toClient {
		return q.index
	}
	return q.buf.word(bufProducerIndex)
}

// consumer is where the oldest element lies: queue_get_consumer in
// drivers/infiniband/sw/rxe/rxe_queue.h.
func (q *queue) consumer(typ queueType) uint32 {
	if typ == fromClient {
		return q.index
	}
	return q.buf.word(bufConsumerIndex)
}

// count is queue_count in drivers/infiniband/sw/rxe/rxe_queue.h.
func (q *queue) count(typ queueType) uint32 {
	return (q.producer(typ) - q.consumer(typ)) & q.indexMask
}

// empty is queue_empty in drivers/infiniband/sw/rxe/rxe_queue.h.
func (q *queue) empty(typ queueType) bool { return q.count(typ) == 0 }

// full is queue_full in drivers/infiniband/sw/rxe/rxe_queue.h.
func (q *queue) full(typ queueType) bool { return q.count(typ) == q.indexMask }

// next is queue_next_index in drivers/infiniband/sw/rxe/rxe_queue.h.
func (q *queue) next(i uint32) uint32 { return (i + 1) & q.indexMask }

// advanceProducer is queue_advance_producer in
// drivers/infiniband/sw/rxe/rxe_queue.h, for those who put elements in: toClient
// and fromULP.
func (q *queue) advanceProducer(typ queueType) {
	i := q.next(q.producer(typ))
	if typ == toClient {
		q.index = i
	}
	q.buf.setWord(bufProducerIndex, i)
}

// advanceConsumer is queue_advance_consumer in
// drivers/infiniband/sw/rxe/rxe_queue.h, for those who take elements out:
// fromClient and toULP.
func (q *queue) advanceConsumer(typ queueType) {
	i := q.next(q.consumer(typ))
	if typ == fromClient {
		q.index = i
	}
	q.buf.setWord(bufConsumerIndex, i)
}

// at returns where in the memory element i lies: queue_addr_from_index in
// drivers/infiniband/sw/rxe/rxe_queue.h.
func (q *queue) at(i uint32) uint64 {
	return bufData + uint64(i&q.indexMask)<<q.log2ElemSize
}
