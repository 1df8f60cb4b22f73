package libmlx5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// maxCQEs is how many entries a queue can have.
const maxCQEs = 1 << 24

// Errors of CreateCQ that the library finds itself; their errno is EINVAL.
var (
	ErrCQE     = fmt.Errorf("libmlx5: a completion queue has 1 to %d entries: %w", maxCQEs-1, syscall.EINVAL)
	ErrCQESize = fmt.Errorf("libmlx5: a completion queue's entries have 64 or 128 bytes: %w", syscall.EINVAL)
	ErrCQEPad  = fmt.Errorf("libmlx5: only entries of 128 bytes can be padded: %w", syscall.EINVAL)
)

// ErrNoUAR is the error of arming a queue when the program has no register page
// to do it through. The library would store to an address near 0.
var ErrNoUAR = errors.New("libmlx5: the context has no register page")

// CQInitAttr says what queue is wanted: struct ibv_cq_init_attr_ex with struct
// mlx5dv_cq_init_attr.
type CQInitAttr struct {
	verbs.CQInitAttr
	CQESize uint32 // of an entry: 64, which 0 stands for, or 128 bytes
	Pad     bool   // completions fill entries of 128 bytes (MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD)
}

// CQ is a completion queue: struct mlx5_cq. Its methods may be called by several
// goroutines at once.
type CQ struct {
	verbs.CQ
	CQN uint32 // its number on the device

	ctx    *Context
	record copyuser.Addr // the doorbell record

	mu        sync.Mutex // over what follows
	buf       *cqBuf
	consIndex uint32
	armSN     uint32

	// Memory that the system reads and writes: entries that a poll has read, by
	// their last 64 bytes; an entry of 128 bytes, whose second half is all of one
	// of 64; a word, and the doorbell of an arm.
	entries  [maxAhead * cqe64Size]byte
	window   window
	entry    [2 * cqe64Size]byte
	word     [4]byte
	doorbell [8]byte

	poll cqPoll
}

// Where a doorbell record has what: indices of 4 bytes.
const (
	setCI = 0 // MLX5_CQ_SET_CI: how far the program has come
	armDB = 1 // MLX5_CQ_ARM_DB: the last arm command
)

// CreateCQ creates a completion queue. It models create_cq in
// providers/mlx5/verbs.c.
//
// Errors: ErrCQE, ErrCQESize, ErrCQEPad, those of the kernel and of mmap.
func (c *Context) CreateCQ(attr *CQInitAttr) (*CQ, error) {
	cqeSize := attr.CQESize
	if cqeSize == 0 {
		cqeSize = 64
	}
	n := alignQueueSize(uint64(attr.CQE) + 1)
	switch {
	case attr.CQE == 0 || n > maxCQEs:
		return nil, ErrCQE
	case cqeSize != 64 && cqeSize != 128:
		return nil, ErrCQESize
	case attr.Pad && cqeSize != 128:
		return nil, ErrCQEPad
	}
	cq := &CQ{ctx: c}
	var err error
	if cq.buf, err = c.allocCQBuf(uint32(n), cqeSize); err != nil {
		return nil, err
	}
	if cq.record, err = c.allocRecord(); err != nil {
		c.freeCQBuf(cq.buf)
		return nil, err
	}
	if err := cq.create(attr, uint32(n)); err != nil {
		c.freeRecord(cq.record)
		c.freeCQBuf(cq.buf)
		return nil, err
	}
	return cq, nil
}

// create is the part of create_cq that asks the kernel.
func (cq *CQ) create(attr *CQInitAttr, n uint32) error {
	c := cq.ctx
	if err := verbs.Store(c.sys, cq.record, make([]byte, 8)); err != nil {
		return err
	}
	cmd := spec.Mlx5CreateCQ{BufAddr: uint64(cq.buf.at), DBAddr: uint64(cq.record), CQESize: cq.buf.cqeSize}
	if attr.Pad {
		cmd.Flags |= spec.MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD
	}
	if c.ncUAR != nil {
		cmd.Flags |= spec.MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX
		cmd.UARPageIndex = uint16(c.ncUAR.pageID)
	}
	var resp spec.Mlx5CreateCQResp
	core := attr.CQInitAttr
	core.CQE = n - 1
	cq.Driver, cq.Event = cq, cq.event
	if err := c.CmdCreateCQ(&cq.CQ, &core, verbs.UHW{In: spec.Bytes(&cmd), Out: spec.Bytes(&resp)}, true); err != nil {
		return err
	}
	cq.CQN = resp.CQN
	return nil
}

// alignQueueSize models align_queue_size in providers/mlx5/verbs.c: the next
// power of two.
func alignQueueSize(n uint64) uint64 { return 1 << bits.Len64(n-1) }

// Destroy destroys the queue. It waits until all events that were read for it
// are acknowledged. It models mlx5_destroy_cq in providers/mlx5/verbs.c.
//
// Errors: those of the kernel.
func (cq *CQ) Destroy() error {
	if err := cq.CmdDestroyCQ(); err != nil {
		return err
	}
	cq.ctx.freeRecord(cq.record)
	cq.ctx.freeCQBuf(cq.buf)
	return nil
}

// event models mlx5_cq_event in providers/mlx5/cq.c: the next arm command is a
// new one.
func (cq *CQ) event() {
	cq.mu.Lock()
	defer cq.mu.Unlock()
	cq.armSN++
}

// GetCQEvent waits for the next event of a channel and returns the queue that it
// is about; see verbs.CompChannel.
//
// Errors: those of read.
func (c *Context) GetCQEvent(ch *verbs.CompChannel) (*CQ, error) {
	cq, err := ch.GetCQEvent()
	if err != nil {
		return nil, err
	}
	return cq.Driver.(*CQ), nil
}

// The doorbell that arms a queue, and what it says (providers/mlx5/mlx5.h).
const (
	cqDoorbell  = 0x20    // MLX5_CQ_DOORBELL
	dbReqNotSol = 1 << 24 // MLX5_CQ_DB_REQ_NOT_SOL
	dbReqNot    = 0 << 24 // MLX5_CQ_DB_REQ_NOT
)

// ReqNotify asks for one event at the next completion, or at the next that was
// solicited or has failed. It models mlx5_arm_cq in providers/mlx5/cq.c: first
// the record, then the register.
//
// Errors: ErrNoUAR, and faults of the program's memory.
func (cq *CQ) ReqNotify(solicitedOnly bool) error {
	cq.mu.Lock()
	defer cq.mu.Unlock()
	if cq.ctx.ncUAR == nil {
		return ErrNoUAR
	}
	word := cq.armSN&3<<28 | dbReqNot | cq.consIndex&0xffffff
	if solicitedOnly {
		word |= dbReqNotSol
	}
	if err := cq.setRecord(armDB, word); err != nil {
		return err
	}
	binary.BigEndian.PutUint32(cq.doorbell[0:], word)
	binary.BigEndian.PutUint32(cq.doorbell[4:], cq.CQN)
	return verbs.Store(cq.ctx.sys, cq.ctx.ncUAR.reg+cqDoorbell, cq.doorbell[:])
}

// setRecord stores a word of the doorbell record.
func (cq *CQ) setRecord(index copyuser.Addr, v uint32) error {
	binary.BigEndian.PutUint32(cq.word[:], v)
	return verbs.Store(cq.ctx.sys, cq.record+4*index, cq.word[:])
}
