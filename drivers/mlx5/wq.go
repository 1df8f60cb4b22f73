package mlx5

import (
	"math/bits"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// rwq is a struct mlx5_ib_rwq: a user's receive work queue.
type rwq struct {
	ib   core.WQ
	uid  uint16
	umem umem
	db   doorbell

	pgoff     quantizedPgoff
	logSize   uint64
	logStride uint64
	bufSize   uint64
	signature bool
	userIndex uint32

	striding      bool
	logStrideSize uint64
	logStrides    uint64
	twoByteShift  bool
}

// toRWQ models to_mrwq.
func toRWQ(w *core.WQ) *rwq { return w.Driver.(*rwq) }

// Ranges of striding receive queues (drivers/infiniband/hw/mlx5/mlx5_ib.h).
const (
	minStrideLogBytes  = 6  // MLX5_MIN_SINGLE_STRIDE_LOG_NUM_BYTES
	maxStrideLogBytes  = 13 // MLX5_MAX_SINGLE_STRIDE_LOG_NUM_BYTES
	minLogStrides      = 9  // MLX5_MIN_SINGLE_WQE_LOG_NUM_STRIDES
	extMinLogStrides   = 3  // MLX5_EXT_MIN_SINGLE_WQE_LOG_NUM_STRIDES
	maxLogStrides      = 16 // MLX5_MAX_SINGLE_WQE_LOG_NUM_STRIDES
	createWQStridesEnd = 40 // where single_stride_log_num_of_bytes ends in struct mlx5_ib_create_wq
)

var (
	capLogMaxWQSz    = gen("log_max_wq_sz")
	capModifyRQSetID = gen("modify_rq_counter_set_id")
)

// prepareUserRQ reads the user's part of the request, and pins the queue's memory
// and the page of its doorbell record. It models prepare_user_rq in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-wq/…, mlx5-doorbell/no-memory, umem/…, pin/….
func (d *Device) prepareUserRQ(w *rwq, attr *core.WQInitAttr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.EnterInlined(moduleIB, "prepare_user_rq").Leave()
	var ucmd spec.Mlx5CreateWQ
	buf := spec.Bytes(&ucmd)
	n := uint64(len(buf))
	if udata.InLen < createWQStridesEnd {
		return rule.MLX5WQRequestSize
	}
	if udata.InLen > n && !udata.IsCleared(n, udata.InLen-n) {
		return rule.MLX5WQTail
	}
	if !udata.CopyFrom(buf[:min(udata.InLen, n)]) {
		return rule.MLX5WQRequestFault
	}
	if ucmd.CompMask&^spec.MLX5_IB_CREATE_WQ_STRIDING_RQ != 0 {
		return rule.MLX5WQCompMask
	}
	if ucmd.CompMask&spec.MLX5_IB_CREATE_WQ_STRIDING_RQ != 0 {
		if err := w.setStrides(&d.caps, &ucmd); err != nil {
			return err
		}
	}
	if err := w.setSize(&d.caps, attr, &ucmd); err != nil {
		return err
	}
	if err := d.createUserRQ(w, &ucmd, udata); err != nil {
		return err
	}
	w.userIndex = ucmd.UserIndex
	return nil
}

// setStrides is the part of prepare_user_rq about striding queues.
func (w *rwq) setStrides(c *caps, ucmd *spec.Mlx5CreateWQ) error {
	if !c.has(capStridingRQ) {
		return rule.MLX5WQNoStriding
	}
	if n := ucmd.SingleStrideLogNumOfBytes; n < minStrideLogBytes || n > maxStrideLogBytes {
		return rule.MLX5WQStrideSize
	}
	least := uint32(minLogStrides)
	if c.has(capExtStrideRange) {
		least = extMinLogStrides
	}
	if n := ucmd.SingleWQELogNumOfStrides; n < least || n > maxLogStrides {
		return rule.MLX5WQStrides
	}
	w.striding = true
	w.logStrideSize, w.logStrides = uint64(ucmd.SingleStrideLogNumOfBytes), uint64(ucmd.SingleWQELogNumOfStrides)
	w.twoByteShift = ucmd.TwoByteShiftEn != 0
	return nil
}

// setSize models set_user_rq_size in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-wq/size, mlx5-wq/empty, mlx5-wq/overflow.
func (w *rwq) setSize(c *caps, attr *core.WQInitAttr, ucmd *spec.Mlx5CreateWQ) error {
	if attr.MaxWR > c.pow2(capLogMaxWQSz) {
		return rule.MLX5WQSize
	}
	if ucmd.RQWQECount == 0 {
		return rule.MLX5WQEmpty
	}
	count, shift := uint64(ucmd.RQWQECount), ucmd.RQWQEShift
	if shift >= 64 || bits.Len64(count)+int(shift) > 64 {
		return rule.MLX5WQOverflow
	}
	w.bufSize = count << shift
	w.logStride, w.logSize = uint64(shift), uint64(bits.Len64(count)-1)
	return nil
}

// createUserRQ models create_user_rq in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-wq/no-buffer, mlx5-wq/buffer-alignment, mlx5-doorbell/no-memory,
// umem/…, pin/….
func (d *Device) createUserRQ(w *rwq, ucmd *spec.Mlx5CreateWQ, udata *core.Udata) (err error) {
	task := udata.Task()
	t := task.Trace
	defer t.EnterInlined(moduleIB, "create_user_rq").Leave()
	if ucmd.BufAddr == 0 {
		return rule.MLX5WQNoBuffer
	}
	if w.umem, err = d.umemGet(task, ucmd.BufAddr, w.bufSize, 0); err != nil {
		return err
	}
	if w.pgoff = w.umem.findBestWQPgoff(&rqWQ); w.pgoff.pageSize == 0 {
		w.umem.release(t, d)
		return rule.MLX5WQAlignment
	}
	w.signature = ucmd.Flags&spec.MLX5_WQ_FLAG_SIGNATURE != 0
	if err := toUcontext(udata.Attrs.Ucontext()).mapDBUser(task, ucmd.DBAddr, &w.db); err != nil {
		w.umem.release(t, d)
		return err
	}
	return nil
}

// destroyUser models destroy_user_rq in drivers/infiniband/hw/mlx5/qp.c.
func (w *rwq) destroyUser(t *trace.Task, c *ucontext) {
	defer t.EnterInlined(moduleIB, "destroy_user_rq").Leave()
	c.unmapDBUser(t, &w.db)
	w.umem.release(t, c.dev)
}

// Where CREATE_RQ and MODIFY_RQ have the queue's context, and in it the struct wq.
const (
	rqcAt = 32
	rqcWQ = rqcAt + 48
)

// Of a receive queue's context (struct rqc).
var rqc = struct {
	delayDrop, scatterFCS, keepVLAN, state, flushInError, tsFormat, userIndex, cqn, counterSet, memType, rmpn ifc.Field
}{
	delayDrop: flag(rqcAt, 1), scatterFCS: flag(rqcAt, 2), keepVLAN: flag(rqcAt, 3), memType: field(rqcAt, 4, 4),
	state: field(rqcAt+1, 0, 4), flushInError: flag(rqcAt+1, 5), tsFormat: field(rqcAt+3, 2, 2),
	userIndex: num(rqcAt+5, 3), cqn: num(rqcAt+9, 3), counterSet: num(rqcAt+12, 1), rmpn: num(rqcAt+17, 3),
}

// Kinds of work queues, and how the device pads what it writes into their memory
// (include/linux/mlx5/mlx5_ifc.h).
const (
	wqTypeCyclic         = 1 // MLX5_WQ_TYPE_CYCLIC
	wqTypeCyclicStriding = 3 // MLX5_WQ_TYPE_CYCLIC_STRIDING_RQ
	wqEndPadAlign        = 1 // MLX5_WQ_END_PAD_MODE_ALIGN
)

// deviceStrides is what a logarithm of strides is to the device: 9 to 16 are 0 to
// 7 there, 3 to 8 are 10 to 15.
func deviceStrides(log uint64) uint64 {
	if log < minLogStrides {
		return log + 7
	}
	return log - minLogStrides
}

// createRQ makes the queue in the device. It models create_rq in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-ts/format, mlx5-wq/…, mlx5-qp/table-no-memory, mlx5-cmd/….
func (d *Device) createRQ(t *trace.Task, w *rwq, p *core.PD, attr *core.WQInitAttr) error {
	defer t.EnterInlined(moduleIB, "create_rq").Leave()
	if attr.CQ == nil { // the kernel follows a pointer that is none
		t.Warn("create_rq")
		return rule.AttrAbsent
	}
	ts, err := d.tsCaps(capRQTSFormat).of(toCQ(attr.CQ))
	if err != nil {
		return err
	}
	if t.Fail(trace.Alloc, "create_rq_in") {
		return rule.MLX5WQCommandNoMemory
	}
	n := w.umem.numDMABlocks(w.umem.dmaAddress(), w.pgoff.pageSize)
	w.uid = toPD(p).uid
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_RQ, w.uid, 8*n)
	defer d.giveBack(m)
	rqc.tsFormat.Set(m.in, ts)
	rqc.userIndex.Set(m.in, uint64(w.userIndex))
	rqc.cqn.Set(m.in, uint64(toCQ(attr.CQ).cqn))
	rqc.flushInError.Set(m.in, 1)
	if err := d.setRQFlags(m, attr.CreateFlags); err != nil {
		return err
	}
	w.fillWQ(m, uint64(toPD(p).pdn()))
	w.umem.populatePas(w.pgoff.pageSize, n, m.in[rqWQ.pas:], 0)
	if w.ib.WQNum, err = d.createResource(t, &resRQ, m); err != nil {
		return err
	}
	if attr.CreateFlags&spec.IB_UVERBS_WQ_FLAGS_DELAY_DROP != 0 {
		if err := d.setDelayDrop(t); err != nil {
			d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_RQ, w.uid, w.ib.WQNum) // as the kernel does
			return err
		}
	}
	return nil
}

// setRQFlags sets what the flags ask for, if the device can do it.
func (d *Device) setRQFlags(m *mailbox, flags uint32) error {
	net := d.caps.has(capEthNetOffloads)
	if flags&spec.IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING != 0 {
		if !d.caps.has(capEndPad) {
			return rule.MLX5WQEndPadding
		}
		rqWQ.endPadding.Set(m.in, wqEndPadAlign)
	}
	if flags&spec.IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING == 0 {
		rqc.keepVLAN.Set(m.in, 1)
	} else if !net || !d.caps.has(capVLAN) {
		return rule.MLX5WQVLAN
	}
	if flags&spec.IB_UVERBS_WQ_FLAGS_SCATTER_FCS != 0 {
		if !net || !d.caps.has(capScatterFCS) {
			return rule.MLX5WQScatterFCS
		}
		rqc.scatterFCS.Set(m.in, 1)
	}
	if flags&spec.IB_UVERBS_WQ_FLAGS_DELAY_DROP != 0 {
		if d.IB.Attr.RawPacketCaps&spec.IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP == 0 {
			return rule.MLX5WQDelayDrop
		}
		rqc.delayDrop.Set(m.in, 1)
	}
	return nil
}

// fillWQ describes the queue's memory.
func (w *rwq) fillWQ(m *mailbox, pdn uint64) {
	wq := &rqWQ
	wq.typ.Set(m.in, wqTypeCyclic)
	if w.striding {
		wq.typ.Set(m.in, wqTypeCyclicStriding)
		wq.twoByteShift.Set(m.in, bit(w.twoByteShift))
		wq.logStrideSize.Set(m.in, w.logStrideSize-minStrideLogBytes)
		wq.logStrides.Set(m.in, deviceStrides(w.logStrides))
	}
	wq.logStride.Set(m.in, w.logStride)
	wq.logSize.Set(m.in, w.logSize)
	wq.pd.Set(m.in, pdn)
	wq.pageOffset.Set(m.in, w.pgoff.offset)
	wq.logPageSize.Set(m.in, log2(w.pgoff.pageSize)-adapterPageShift)
	wq.signature.Set(m.in, bit(w.signature))
	wq.dbrAddr.Set(m.in, w.db.dma)
}

// delayDropTimeout is how long the device waits for work requests before it drops
// a packet, in units of 100 microseconds.
const delayDropTimeout = 1000

// setDelayDrop models set_delay_drop in drivers/infiniband/hw/mlx5/qp.c, for which
// the driver tells the device once how long to wait.
//
// Errors: mlx5-cmd/….
func (d *Device) setDelayDrop(t *trace.Task) error {
	d.delayDropLock.Lock(t)
	defer d.delayDropLock.Unlock(t)
	if d.delayDrop {
		return nil
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_SET_DELAY_DROP_PARAMS, 0, 0)
	defer d.giveBack(m)
	num(14, 2).Set(m.in, delayDropTimeout)
	err := d.exec(t, m.in, m.out)
	d.delayDrop = err == nil
	return err
}

// wqRespSize is the length of struct mlx5_ib_create_wq_resp, of which the first 4
// bytes are answered.
const wqRespSize = 8

// createWQ makes a receive work queue. It models mlx5_ib_create_wq in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-wq/…, mlx5-ts/format, mlx5-doorbell/no-memory,
// mlx5-qp/table-no-memory, mlx5-cmd/…, umem/…, pin/….
func (d *Device) createWQ(p *core.PD, attr *core.WQInitAttr, udata *core.Udata) (*core.WQ, error) {
	task := udata.Task()
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_create_wq").Leave()
	if udata.OutLen != 0 && udata.OutLen < wqRespSize {
		return nil, rule.MLX5WQResponseSize
	}
	if attr.CreateFlags&spec.IB_UVERBS_WQ_FLAGS_DELAY_DROP != 0 && !task.Capable(capSysRawIO) {
		return nil, rule.MLX5WQPrivilege
	}
	if t.Fail(trace.Alloc, "mlx5_ib_rwq") {
		return nil, rule.MLX5WQNoMemory
	}
	w := new(rwq)
	if err := d.prepareUserRQ(w, attr, udata); err != nil {
		return nil, err
	}
	c := toUcontext(udata.Attrs.Ucontext())
	if err := d.createRQ(t, w, p, attr); err != nil {
		w.destroyUser(t, c)
		return nil, err
	}
	if !answerLength(udata) {
		d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_RQ, w.uid, w.ib.WQNum) // as the kernel does
		w.destroyUser(t, c)
		return nil, rule.MLX5WQResponseFault
	}
	w.ib.Driver, w.ib.EventHandler = w, attr.EventHandler
	return &w.ib, nil
}

// answerLength writes a response that is no more than its own length, if the user
// wants one; false is a fault.
func answerLength(udata *core.Udata) bool {
	if udata.OutLen == 0 {
		return true
	}
	resp := [4]byte{4}
	return udata.CopyTo(resp[:])
}

// destroyWQ models mlx5_ib_destroy_wq in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-cmd/….
func (d *Device) destroyWQ(ib *core.WQ, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_destroy_wq").Leave()
	w := toRWQ(ib)
	if err := d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_RQ, w.uid, ib.WQNum); err != nil {
		return err
	}
	w.destroyUser(t, toUcontext(udata.Attrs.Ucontext()))
	return nil
}

// States of a work queue (enum ib_wq_state in include/rdma/ib_verbs.h), which are
// the device's but for the error.
const (
	wqsReset = 0
	wqsReady = 1
	wqsError = 2
)

func rqState(s uint32) uint64 {
	if s == wqsError {
		return rawStateERR
	}
	return uint64(s)
}

// Of MODIFY_RQ: the state that the queue is in, and what shall change.
var (
	rqCurState   = field(8, 0, 4)
	rqModifyMask = num(16, 8)
)

const (
	modifyRQVSD        = 1 << 1 // MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_VSD
	modifyRQCounterSet = 1 << 3 // MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_RQ_COUNTER_SET_ID
	modifyWQSize       = 8      // of struct mlx5_ib_modify_wq
)

// modifyWQ changes the state or the flags of a receive work queue. It models
// mlx5_ib_modify_wq in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-modify-wq/…, mlx5-cmd/….
func (d *Device) modifyWQ(ib *core.WQ, attr *core.WQAttr, mask uint32, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_modify_wq").Leave()
	var ucmd [modifyWQSize]byte
	if udata.InLen < modifyWQSize {
		return rule.MLX5ModifyWQRequestSize
	}
	if udata.InLen > modifyWQSize && !udata.IsCleared(modifyWQSize, udata.InLen-modifyWQSize) {
		return rule.MLX5ModifyWQTail
	}
	if !udata.CopyFrom(ucmd[:]) {
		return rule.MLX5ModifyWQRequestFault
	}
	if ucmd != [modifyWQSize]byte{} {
		return rule.MLX5ModifyWQReserved
	}
	if t.Fail(trace.Alloc, "modify_rq_in") {
		return rule.MLX5ModifyWQNoMemory
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_MODIFY_RQ, toPD(ib.PD).uid, 0)
	defer d.giveBack(m)
	m.setNumber(ib.WQNum)
	rqCurState.Set(m.in, rqState(attr.CurState))
	rqc.state.Set(m.in, rqState(attr.State))
	if mask&spec.IB_WQ_FLAGS != 0 {
		if attr.FlagsMask&spec.IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING != 0 {
			if !d.caps.has(capEthNetOffloads) || !d.caps.has(capVLAN) {
				return rule.MLX5ModifyWQVLAN
			}
			rqModifyMask.Set(m.in, modifyRQVSD)
			rqc.keepVLAN.Set(m.in, bit(attr.Flags&spec.IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING == 0))
		}
		if attr.FlagsMask&spec.IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING != 0 {
			return rule.MLX5ModifyWQEndPadding
		}
	}
	if attr.CurState == wqsReset && attr.State == wqsReady && d.caps.has(capModifyRQSetID) {
		rqModifyMask.Set(m.in, modifyRQCounterSet)
	}
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	ib.State.Store(attr.State)
	return nil
}
