package libmlx5

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// Errors of shared receive queues that the library finds itself. The errno of
// the first three is EINVAL.
var (
	ErrSRQSize = fmt.Errorf("libmlx5: a shared receive queue of that many requests or pieces is too long for the device: %w", syscall.EINVAL)
	ErrSRQType = fmt.Errorf("libmlx5: the library makes no shared receive queues of that type: %w", syscall.EINVAL)
	// ErrSRQSGE is the error of more pieces of memory than a request can have.
	ErrSRQSGE = fmt.Errorf("libmlx5: more pieces than a request of the shared receive queue can have: %w", syscall.EINVAL)
	// ErrSRQFull is the error of a queue with no place left; ENOMEM.
	ErrSRQFull = fmt.Errorf("libmlx5: the shared receive queue is full: %w", syscall.ENOMEM)
)

// SRQInitAttr says what shared receive queue is wanted: struct
// ibv_srq_init_attr_ex. When the queue was created, Attr has what it can hold.
type SRQInitAttr struct {
	Attr verbs.SRQAttr
	Type verbs.SRQType // IBV_SRQT_BASIC or IBV_SRQT_XRC
	XRCD *verbs.XRCD   // of an XRC queue
	CQ   *CQ           // of an XRC queue
}

// SRQ is a shared receive queue: struct mlx5_srq. Its methods may be called by
// several goroutines at once. The core's methods are its methods too.
type SRQ struct {
	verbs.SRQ

	SRQN uint32 // its number on the device

	ctx    *Context
	rsc    resource
	buf    copyuser.Addr
	record copyuser.Addr // the doorbell record

	max      uint32 // places, with those of the waiting list
	wqeShift uint32
	maxGS    int

	mu         sync.Mutex // over what follows
	head, tail uint32     // of the list of places; the tail's is never posted
	waitHead   int        // of the list of places that wait, -1 without one
	waitTail   int
	counter    uint32
	wrid       []uint64
	next       []uint16 // the places behind each one, as the queue's memory has them

	stage   stage
	stageAt copyuser.Addr
	word    [4]byte
}

// CreateSRQ creates a shared receive queue. It has more places than the program
// asks for, which are used by turns, so that a request that the device could not
// take for want of a page is not soon overwritten. It models mlx5_create_srq and
// mlx5_create_srq_ex in providers/mlx5/verbs.c.
//
// Errors: ErrSRQSize, ErrSRQType, ErrNoUserIndex, those of the kernel and of
// mmap.
func (pd *PD) CreateSRQ(attr *SRQInitAttr) (*SRQ, error) {
	c := pd.ctx
	maxSGE := uint32(c.Resp.MaxRQDescSz) / dataSegSize
	switch attr.Type {
	case verbs.IBV_SRQT_BASIC:
	case verbs.IBV_SRQT_XRC:
		maxSGE = c.Resp.MaxRecvWR / dataSegSize
	default:
		return nil, ErrSRQType
	}
	if attr.Attr.MaxWR > c.Resp.MaxSRQRecvWR || attr.Attr.MaxSGE > maxSGE {
		return nil, ErrSRQSize
	}
	srq := &SRQ{ctx: c}
	srq.rsc.srq = srq
	if err := srq.alloc(attr.Attr.MaxWR, attr.Attr.MaxSGE); err != nil {
		return nil, err
	}
	if err := srq.create(pd, attr); err != nil {
		srq.free()
		return nil, err
	}
	return srq, nil
}

// alloc makes the queue's memory, with all places in lists. It models
// mlx5_alloc_srq_buf in providers/mlx5/srq.c.
//
// Errors: ErrSRQSize, those of mmap, and faults of the program's memory.
func (srq *SRQ) alloc(maxWR, maxSGE uint32) (err error) {
	c := srq.ctx
	all, waits := 2*maxWR+1, true
	if all > c.Resp.MaxSRQRecvWR {
		all, waits = maxWR+1, false
	}
	size := roundupPowOfTwo(max(32, srqNextSegSize+uint64(maxSGE)*dataSegSize))
	if size > uint64(c.Resp.MaxRecvWR) {
		return ErrSRQSize
	}
	srq.maxGS = int((size - srqNextSegSize) / dataSegSize)
	srq.wqeShift = uint32(bits.TrailingZeros64(size))
	srq.max = uint32(alignQueueSize(uint64(all)))
	srq.tail = uint32(alignQueueSize(uint64(maxWR)+1)) - 1
	srq.waitHead, srq.waitTail = -1, -1
	if waits {
		srq.waitHead, srq.waitTail = int(srq.tail+1), int(srq.max-1)
	}
	srq.wrid, srq.next = make([]uint64, srq.max), make([]uint16, srq.max)
	srq.stage = make(stage, 0, stageSize+512)
	if srq.buf, err = verbs.Alloc(c.sys, srq.length()); err != nil {
		return err
	}
	if srq.record, err = c.allocRecord(); err != nil {
		_ = c.sys.Munmap(srq.buf, srq.length())
		return err
	}
	if err = verbs.Store(c.sys, srq.record, make([]byte, 8)); err == nil {
		err = srq.linkAll()
	}
	if err != nil {
		srq.free()
	}
	return err
}

// linkAll links the places of both lists, each to the one behind it: the last
// one of a list leads nowhere yet. It models set_srq_buf_ll in
// providers/mlx5/srq.c.
func (srq *SRQ) linkAll() error {
	for i := range srq.max - 1 {
		if i == srq.tail {
			continue
		}
		if err := srq.link(i, i+1); err != nil {
			return err
		}
	}
	return nil
}

func (srq *SRQ) length() uint64 { return align(uint64(srq.max)<<srq.wqeShift, pageSize) }

// free gives the memory back. A program can have unmapped it itself.
func (srq *SRQ) free() {
	srq.ctx.freeRecord(srq.record)
	_ = srq.ctx.sys.Munmap(srq.buf, srq.length())
}

// create is the part of mlx5_create_srq and mlx5_create_srq_ex that asks the
// kernel, which is told of all places.
func (srq *SRQ) create(pd *PD, attr *SRQInitAttr) error {
	c := srq.ctx
	cmd := spec.Mlx5CreateSRQ{BufAddr: uint64(srq.buf), DBAddr: uint64(srq.record)}
	core := verbs.SRQInitAttr{Attr: attr.Attr, Type: attr.Type, PD: pd.PD}
	core.Attr.MaxWR, core.Attr.MaxSGE = srq.max-1, uint32(srq.maxGS)
	isX := attr.Type == verbs.IBV_SRQT_XRC
	hasUidx := isX && c.Resp.CQEVersion != 0
	if isX {
		core.XRCD = attr.XRCD
		if attr.CQ != nil {
			core.CQ = &attr.CQ.CQ
		}
		cmd.Uidx = noUidx
	}
	if hasUidx {
		if err := c.uidx.store(&srq.rsc); err != nil {
			return err
		}
		cmd.Uidx = srq.rsc.rsn
	}
	var resp spec.Mlx5CreateSRQResp
	srq.Driver = srq
	if err := c.CmdCreateSRQ(&srq.SRQ, &core, verbs.UHW{In: spec.Bytes(&cmd), Out: spec.Bytes(&resp)}); err != nil {
		if hasUidx {
			c.uidx.clear(srq.rsc.rsn)
		}
		return err
	}
	srq.SRQN = resp.SRQN
	if !hasUidx {
		c.srqs.storeAt(srq.SRQN, &srq.rsc)
	}
	attr.Attr.MaxWR, attr.Attr.MaxSGE = srq.tail, core.Attr.MaxSGE
	return nil
}

// Destroy destroys the queue. It waits until all events that were read for it
// are acknowledged. It models mlx5_destroy_srq in providers/mlx5/verbs.c.
//
// Errors: those of the kernel.
func (srq *SRQ) Destroy() error {
	if err := srq.CmdDestroySRQ(); err != nil {
		return err
	}
	if srq.Type == verbs.IBV_SRQT_XRC && srq.ctx.Resp.CQEVersion != 0 {
		srq.ctx.uidx.clear(srq.rsc.rsn)
	} else {
		srq.ctx.srqs.clear(srq.SRQN)
	}
	srq.free()
	return nil
}

// wqe is where a place lies (get_wqe in providers/mlx5/srq.c).
func (srq *SRQ) wqe(i uint32) copyuser.Addr { return srq.buf + copyuser.Addr(i)<<srq.wqeShift }

// srqNextWQEIndex is where struct mlx5_wqe_srq_next_seg has the next place.
const srqNextWQEIndex = 2

// link puts a place behind another in a list. The device follows the lists in
// the queue's memory.
func (srq *SRQ) link(i, next uint32) error {
	srq.next[i] = uint16(next)
	binary.BigEndian.PutUint16(srq.word[:], uint16(next))
	return verbs.Store(srq.ctx.sys, srq.wqe(i)+srqNextWQEIndex, srq.word[:2])
}

// take returns the id of the request of a place, which is free again. It models
// mlx5_free_srq_wqe in providers/mlx5/srq.c.
func (srq *SRQ) take(i uint32) (wrid uint64, err error) {
	srq.mu.Lock()
	defer srq.mu.Unlock()
	if i >= srq.max {
		return 0, ErrPoll
	}
	wrid = srq.wrid[i]
	err = srq.link(srq.tail, i)
	srq.tail = i
	return wrid, err
}

// completeODPFault posts the request of a place again, at the head, as the
// device could not take it for want of a page. The place goes to the end of the
// waiting list, and the one that has waited longest is free. It models
// mlx5_complete_odp_fault and the functions that it calls in
// providers/mlx5/srq.c.
func (srq *SRQ) completeODPFault(i uint32) error {
	srq.mu.Lock()
	defer srq.mu.Unlock()
	if i >= srq.max {
		return ErrPoll
	}
	free := i
	if srq.waitHead >= 0 {
		if err := srq.link(uint32(srq.waitTail), i); err != nil {
			return err
		}
		srq.waitTail = int(i)
		free = uint32(srq.waitHead)
		srq.waitHead = int(srq.next[free])
	}
	if err := srq.link(srq.tail, free); err != nil {
		return err
	}
	srq.tail = free
	return srq.repost(i)
}

// repost models srq_repost in providers/mlx5/srq.c.
func (srq *SRQ) repost(i uint32) error {
	list := make([]byte, srq.maxGS*dataSegSize)
	if err := verbs.Load(srq.ctx.sys, srq.wqe(i)+srqNextSegSize, list); err != nil {
		return err
	}
	to := srq.head
	if err := verbs.Store(srq.ctx.sys, srq.wqe(to)+srqNextSegSize, list); err != nil {
		return err
	}
	srq.wrid[to] = srq.wrid[i]
	srq.head = uint32(srq.next[to])
	srq.counter++
	return srq.ring()
}

// PostRecv posts a list of receive requests, in order. When one cannot be posted
// it is returned with the error, and those in front of it are posted. It models
// mlx5_post_srq_recv in providers/mlx5/srq.c.
//
// Errors: ErrSRQSGE, ErrSRQFull, and faults of the program's memory.
func (srq *SRQ) PostRecv(wr *RecvWR) (bad *RecvWR, err error) {
	srq.mu.Lock()
	defer srq.mu.Unlock()
	srq.stage = srq.stage[:0]
	nreq := uint32(0)
	for ; wr != nil; wr = wr.Next {
		if err = srq.post(wr); err != nil {
			bad = wr
			break
		}
		nreq++
	}
	if nreq == 0 {
		return bad, err
	}
	srq.counter += nreq
	e := srq.flush()
	if e == nil {
		e = srq.ring()
	}
	if err == nil {
		err = e
	}
	return bad, err
}

// post puts a request into the stage, behind those that lie in front of it in
// memory. What lies behind its list, which the library leaves as it is, becomes
// zeros.
func (srq *SRQ) post(wr *RecvWR) error {
	switch {
	case len(wr.SGList) > srq.maxGS:
		return ErrSRQSGE
	case srq.head == srq.tail:
		return ErrSRQFull
	}
	i := srq.head
	if at := srq.stageAt + copyuser.Addr(len(srq.stage)); len(srq.stage) >= stageSize || at != srq.wqe(i) {
		if err := srq.flush(); err != nil {
			return err
		}
		srq.stage, srq.stageAt = srq.stage[:0], srq.wqe(i)
	}
	srq.wrid[i] = wr.WRID
	srq.head = uint32(srq.next[i])
	from := len(srq.stage)
	seg := srq.stage.add(srqNextSegSize)
	clear(seg)
	binary.BigEndian.PutUint16(seg[srqNextWQEIndex:], srq.next[i])
	if n := srq.stage.pieces(wr.SGList, false); n < srq.maxGS {
		srq.stage.data(0, invalidLKey, 0)
	}
	clear(srq.stage.add(from + 1<<srq.wqeShift - len(srq.stage)))
	return nil
}

// flush stores what is staged to the queue.
func (srq *SRQ) flush() error {
	if len(srq.stage) == 0 {
		return nil
	}
	return verbs.Store(srq.ctx.sys, srq.stageAt, srq.stage)
}

// ring stores the doorbell record: how many requests were ever posted.
func (srq *SRQ) ring() error {
	binary.BigEndian.PutUint32(srq.word[:], srq.counter)
	return verbs.Store(srq.ctx.sys, srq.record, srq.word[:])
}

// SRQBuffer is where a shared receive queue lies.
type SRQBuffer struct {
	Addr     copyuser.Addr
	Length   uint64
	WQEShift uint32        // of a request's length
	Record   copyuser.Addr // the doorbell record, 4 bytes
}

// Buffer returns where the queue lies.
func (srq *SRQ) Buffer() SRQBuffer {
	return SRQBuffer{Addr: srq.buf, Length: srq.length(), WQEShift: srq.wqeShift, Record: srq.record}
}
