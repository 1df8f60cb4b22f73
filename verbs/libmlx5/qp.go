package libmlx5

import (
	"fmt"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// QPInitAttr says what queue pair is wanted: struct ibv_qp_init_attr_ex. When
// the queue pair was created, Cap has what it can hold.
type QPInitAttr struct {
	PD             *PD         // of all types but XRC targets
	XRCD           *verbs.XRCD // of an XRC target
	SendCQ, RecvCQ *CQ
	SRQ            *SRQ // nil if the queue pair has a receive queue of its own
	Cap            verbs.QPCap
	Type           verbs.QPType
	SQSigAll       bool // every request of the send queue brings a completion

	CreateFlags  uint32 // IBV_QP_CREATE_*
	SendOpsFlags uint64 // IBV_QP_EX_WITH_*: what the queue pair is to be able to send; 0 for all
}

// The operations that a queue pair of a type can be made for:
// MLX5_SUPPORTED_SEND_OPS_FLAGS_* in providers/mlx5/qp.c.
const (
	sendOpsUD = verbs.IBV_QP_EX_WITH_SEND | verbs.IBV_QP_EX_WITH_SEND_WITH_IMM
	sendOpsUC = sendOpsUD | verbs.IBV_QP_EX_WITH_SEND_WITH_INV | verbs.IBV_QP_EX_WITH_RDMA_WRITE |
		verbs.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | verbs.IBV_QP_EX_WITH_LOCAL_INV | verbs.IBV_QP_EX_WITH_BIND_MW
	sendOpsRC = sendOpsUC | verbs.IBV_QP_EX_WITH_RDMA_READ |
		verbs.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | verbs.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
)

// Errors of CreateQP that the library finds itself; their errno is EOPNOTSUPP.
var (
	ErrQPType  = fmt.Errorf("libmlx5: the library makes no queue pairs of that type: %w", syscall.EOPNOTSUPP)
	ErrSendOps = fmt.Errorf("libmlx5: a queue pair of that type, or this device, cannot send all of that: %w", syscall.EOPNOTSUPP)
)

// QP is a queue pair: struct mlx5_qp. Its methods may be called by several
// goroutines at once. The core's methods are its methods too.
type QP struct {
	verbs.QP

	// SendOpsFlags is as in QPInitAttr. WRID and WRFlags are of the requests that
	// are built with WRStart and the methods that follow it.
	SendOpsFlags uint64
	WRID         uint64
	WRFlags      verbs.SendFlags

	ctx            *Context
	rsc            resource
	sendCQ, recvCQ *CQ
	srq            *SRQ

	size   qpSize
	buf    copyuser.Addr
	record copyuser.Addr // the doorbell record
	bf     *bf
	opened bool // it is another program's: there are no queues here

	sq sendQueue
	rq recvQueue
}

// Where a doorbell record has what: indices of 4 bytes.
const (
	rcvDBR = 0 // MLX5_RCV_DBR
	sndDBR = 1 // MLX5_SND_DBR
)

// isXRCTgt models is_xrc_tgt in providers/mlx5/verbs.c.
func isXRCTgt(t verbs.QPType) bool { return t == verbs.IBV_QPT_XRC_RECV }

// CreateQP creates a queue pair in the state IBV_QPS_RESET. It models create_qp
// in providers/mlx5/verbs.c.
//
// Errors: ErrQPType, ErrSendOps, ErrSendSize, ErrSendWR, ErrRecvSize, ErrRecvWR,
// ErrNoUserIndex, ErrNoQPUAR, those of the kernel and of mmap.
func (c *Context) CreateQP(attr *QPInitAttr) (*QP, error) {
	if _, ok := transportSize[attr.Type]; !ok {
		return nil, ErrQPType
	}
	qp := &QP{ctx: c, sendCQ: attr.SendCQ, recvCQ: attr.RecvCQ, srq: attr.SRQ, SendOpsFlags: attr.SendOpsFlags}
	qp.rsc.qp = qp
	ops := sendOpsOf(attr.Type)
	if attr.SendOpsFlags != 0 {
		if !c.canSend(attr.Type, attr.SendOpsFlags) {
			return nil, ErrSendOps
		}
		ops = attr.SendOpsFlags
	}
	var err error
	if qp.size, err = c.calcWQSize(attr, ops); err != nil {
		return nil, err
	}
	if err := qp.allocBuf(); err != nil {
		return nil, err
	}
	if err := qp.create(attr); err != nil {
		qp.freeBuf()
		return nil, err
	}
	qp.sq.init(qp, attr.SQSigAll)
	qp.rq.init(qp)
	attr.Cap.MaxSendWR = qp.size.sqMaxPost
	attr.Cap.MaxRecvWR, attr.Cap.MaxRecvSGE = qp.size.rqWQECnt, qp.size.rqMaxGS
	qp.setOperationalState(verbs.IBV_QPS_RESET)
	return qp, nil
}

// canSend models the checks of mlx5_qp_fill_wr_pfns in providers/mlx5/qp.c.
func (c *Context) canSend(typ verbs.QPType, ops uint64) bool {
	const atomics = verbs.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | verbs.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
	if ops&atomics != 0 && !c.atomicsEnabled() {
		return false
	}
	switch typ {
	case verbs.IBV_QPT_RC, verbs.IBV_QPT_XRC_SEND:
		return ops&^sendOpsRC == 0
	case verbs.IBV_QPT_UC:
		return ops&^sendOpsUC == 0
	case verbs.IBV_QPT_UD:
		return ops&^sendOpsUD == 0
	}
	return false
}

// atomicsEnabled says whether the device has atomic operations at all.
func (c *Context) atomicsEnabled() bool { return c.Device != nil && c.Device.Base.AtomicCap != 0 }

// allocBuf maps the queues' memory, which is zeros, and takes a doorbell record.
// It models mlx5_alloc_qp_buf in providers/mlx5/verbs.c.
//
// Errors: those of mmap.
func (qp *QP) allocBuf() (err error) {
	c := qp.ctx
	if qp.size.length > 0 {
		if qp.buf, err = verbs.Alloc(c.sys, align(qp.size.length, pageSize)); err != nil {
			return err
		}
	}
	if qp.record, err = c.allocRecord(); err != nil {
		qp.unmapBuf()
		return err
	}
	if err = verbs.Store(c.sys, qp.record, make([]byte, 8)); err != nil {
		qp.freeBuf()
	}
	return err
}

// unmapBuf gives the queues' memory back. A program can have unmapped it itself.
func (qp *QP) unmapBuf() {
	if qp.size.length > 0 {
		_ = qp.ctx.sys.Munmap(qp.buf, align(qp.size.length, pageSize))
	}
}

func (qp *QP) freeBuf() {
	qp.ctx.freeRecord(qp.record)
	qp.unmapBuf()
}

// create is the part of create_qp that takes a user index and a register, and
// asks the kernel.
func (qp *QP) create(attr *QPInitAttr) error {
	c := qp.ctx
	uidx, err := qp.storeRsc(attr.Type)
	if err != nil {
		return err
	}
	if qp.bf, err = c.getQPUAR(); err != nil {
		qp.clearRsc(attr.Type)
		return err
	}
	cmd := spec.Mlx5CreateQP{
		BufAddr: uint64(qp.buf), DBAddr: uint64(qp.record),
		SQWQECount: qp.size.sqWQECnt, RQWQECount: qp.size.rqWQECnt, RQWQEShift: qp.size.rqWQEShift,
		Flags: spec.MLX5_QP_FLAG_SCATTER_CQE | spec.MLX5_QP_FLAG_UAR_PAGE_INDEX,
		Uidx:  uidx, BfregIndex: qp.bf.uar.pageID, EceOptions: eceTrigger,
	}
	var resp spec.Mlx5CreateQPResp
	core := attr.core()
	qp.Driver = qp
	if err := c.CmdCreateQP(&qp.QP, core, verbs.UHW{In: spec.Bytes(&cmd), Out: spec.Bytes(&resp)}); err != nil {
		c.putQPUAR(qp.bf)
		qp.clearRsc(attr.Type)
		return err
	}
	if c.Resp.CQEVersion == 0 {
		c.qps.storeAt(qp.Num, &qp.rsc)
	}
	attr.Cap = core.Cap
	return nil
}

// core is what the core of the library is told of the queue pair.
func (attr *QPInitAttr) core() *verbs.QPInitAttr {
	core := &verbs.QPInitAttr{Cap: attr.Cap, Type: attr.Type, SQSigAll: attr.SQSigAll, XRCD: attr.XRCD, CreateFlags: attr.CreateFlags}
	if attr.PD != nil {
		core.PD = attr.PD.PD
	}
	if attr.SendCQ != nil {
		core.SendCQ = &attr.SendCQ.CQ
	}
	if attr.RecvCQ != nil {
		core.RecvCQ = &attr.RecvCQ.CQ
	}
	if attr.SRQ != nil {
		core.SRQ = &attr.SRQ.SRQ
	}
	return core
}

// eceTrigger asks the kernel for the options of the connection establishment,
// from version 1 on.
const eceTrigger = 0x10000000

// noUidx stands for no user index, where completions have the numbers of the
// device.
const noUidx = 0xffffff

// storeRsc takes a user index, and returns what the kernel is told of it. An XRC
// target has none, as its completions name the shared receive queue.
//
// Errors: ErrNoUserIndex.
func (qp *QP) storeRsc(typ verbs.QPType) (uidx uint32, err error) {
	switch {
	case qp.ctx.Resp.CQEVersion == 0:
		return noUidx, nil
	case isXRCTgt(typ):
		return 0, nil
	}
	err = qp.ctx.uidx.store(&qp.rsc)
	return qp.rsc.rsn, err
}

// clearRsc gives back what storeRsc took.
func (qp *QP) clearRsc(typ verbs.QPType) {
	if qp.ctx.Resp.CQEVersion != 0 && !isXRCTgt(typ) {
		qp.ctx.uidx.clear(qp.rsc.rsn)
	}
}

// setOperationalState models set_qp_operational_state in
// providers/mlx5/verbs.c: requests are taken from a state on, and go on being
// taken until the queue pair is reset.
func (qp *QP) setOperationalState(s verbs.QPState) {
	switch s {
	case verbs.IBV_QPS_RESET:
		qp.rq.setMaxGS(-1)
		qp.sq.setMaxGS(-1)
		qp.sq.setReady(false)
	case verbs.IBV_QPS_INIT:
		qp.rq.setMaxGS(int(qp.size.rqMaxGS))
	case verbs.IBV_QPS_RTS:
		qp.sq.setMaxGS(int(qp.size.sqMaxGS))
		qp.sq.setReady(true)
	}
}

// Modify sets the attributes that the mask, IBV_QP_*, names. A queue pair that
// is reset loses its requests and the completions of them. It models
// mlx5_modify_qp in providers/mlx5/verbs.c.
//
// Errors: those of the kernel, and faults of the program's memory.
func (qp *QP) Modify(attr *verbs.QPAttr, mask uint32) error {
	var err error
	if mask&verbs.IBV_QP_RATE_LIMIT != 0 {
		var cmd spec.Mlx5ModifyQP
		var resp spec.Mlx5ModifyQPResp
		err = qp.CmdModifyQPEx(attr, mask, verbs.UHW{In: spec.Bytes(&cmd), Out: spec.Bytes(&resp)})
	} else {
		err = qp.CmdModifyQP(attr, mask)
	}
	if err != nil || mask&verbs.IBV_QP_STATE == 0 || qp.opened {
		return err
	}
	if attr.QPState == verbs.IBV_QPS_RESET {
		if err := qp.reset(); err != nil {
			return err
		}
	}
	qp.setOperationalState(attr.QPState)
	return nil
}

// reset forgets the requests and their completions.
func (qp *QP) reset() error {
	err := qp.cleanCQs()
	qp.sq.reset()
	qp.rq.reset()
	if e := verbs.Store(qp.ctx.sys, qp.record, make([]byte, 8)); err == nil {
		err = e
	}
	return err
}

// cleanCQs takes the queue pair's completions out of its completion queues.
func (qp *QP) cleanCQs() (err error) {
	if qp.recvCQ != nil {
		err = qp.recvCQ.clean(qp.rsc.rsn, qp.srq)
	}
	if qp.sendCQ != nil && qp.sendCQ != qp.recvCQ {
		if e := qp.sendCQ.clean(qp.rsc.rsn, nil); err == nil {
			err = e
		}
	}
	return err
}

// Query asks for the attributes of the mask, and tells whether every request of
// the send queue brings a completion. It models mlx5_query_qp in
// providers/mlx5/verbs.c.
//
// Errors: those of the kernel.
func (qp *QP) Query(mask uint32) (attr *verbs.QPAttr, sqSigAll bool, err error) {
	attr, sqSigAll, err = qp.CmdQueryQP(mask)
	if err != nil {
		return nil, false, err
	}
	attr.Cap.MaxSendWR = qp.size.sqMaxPost
	attr.Cap.MaxSendSGE = qp.size.sqMaxGS
	attr.Cap.MaxInlineData = qp.size.maxInline
	return attr, sqSigAll, nil
}

// Destroy destroys the queue pair. It waits until all events that were read for
// it are acknowledged. Its completions that were not taken are gone. It models
// mlx5_destroy_qp in providers/mlx5/verbs.c.
//
// Errors: those of the kernel, and faults of the program's memory.
func (qp *QP) Destroy() error {
	if err := qp.CmdDestroyQP(); err != nil || qp.opened {
		return err
	}
	err := qp.cleanCQs()
	if qp.ctx.Resp.CQEVersion == 0 {
		qp.ctx.qps.clear(qp.Num)
	}
	qp.clearRsc(qp.Type)
	qp.freeBuf()
	qp.ctx.putQPUAR(qp.bf)
	return err
}

// OpenQP opens an XRC target of another program. It models mlx5_open_qp in
// providers/mlx5/verbs.c.
//
// Errors: those of the kernel.
func (c *Context) OpenQP(attr *verbs.QPOpenAttr) (*QP, error) {
	qp := &QP{ctx: c, opened: true}
	qp.Driver = qp
	if err := c.CmdOpenQP(&qp.QP, attr); err != nil {
		return nil, err
	}
	return qp, nil
}

// QPBuffer is where the queues of a queue pair lie.
type QPBuffer struct {
	Addr     copyuser.Addr // of the receive queue
	SQ       copyuser.Addr // of the send queue
	Length   uint64        // of both, in bytes
	Record   copyuser.Addr // the doorbell record, 8 bytes: receive queue, send queue
	Register copyuser.Addr // the doorbell register of the send queue
}

// Buffer returns where the queues lie.
func (qp *QP) Buffer() QPBuffer {
	return QPBuffer{Addr: qp.buf, SQ: qp.buf + copyuser.Addr(qp.size.sqOffset), Length: qp.size.length,
		Record: qp.record, Register: qp.bf.reg}
}
