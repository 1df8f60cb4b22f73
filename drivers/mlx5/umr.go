package mlx5

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// umrCommon is a struct umr_common: the driver's own queue pair, whose work
// requests change keys. It is made when the first region is registered that needs
// it, its protection domain with it.
//
// The kernel keeps up to 128 work requests under way and sleeps until each is
// done. Here each waits for the one before it, so that short queues do; and since
// nobody may step the adapter meanwhile, the driver lets it do that queue pair's
// work at once, and looks into the completion queue afterwards.
type umrCommon struct {
	initLock trace.Mutex // init_lock
	lock     trace.Mutex // lock
	isMade   bool

	pdn    uint32
	key    uint32 // of all memory, for the lists that work requests lead to
	cq     *kernelCQ
	cqHead uint32
	qpn    uint32
	sq     kernelMemory
	sqHead uint16
	wqe    [umrWQESize]byte
}

const (
	umrCQEntries = 16
	umrSQBlocks  = 32
	qpSTRegUMR   = 0xc // MLX5_QP_ST_REG_UMR

	umrOctoword     = 16 // MLX5_IB_UMR_OCTOWORD
	umrXLTAlignment = 64 // MLX5_IB_UMR_XLT_ALIGNMENT
	maxUMRShift     = 16 // MLX5_MAX_UMR_SHIFT
	maxUMRPages     = 1 << maxUMRShift
	maxUMRChunk     = 1<<(maxUMRShift+4) - umrXLTAlignment // MLX5_MAX_UMR_CHUNK
)

var (
	capUMRExtOffset   = gen("umr_extended_translation_offset")
	capUMRNoIndirect  = gen("umr_indirect_mkey_disabled")
	capUMRNoAtomic    = gen("umr_modify_atomic_disabled")
	capUMRRelaxedW    = gen("relaxed_ordering_write_umr")
	capUMRRelaxedR    = gen("relaxed_ordering_read_umr")
	capFixedBuffer    = gen("fixed_buffer_size")
	capMaxIndirection = gen("max_indirection")
)

// umrCanLoadPas says whether the list of a region of that many bytes can be
// written by work requests. It models mlx5r_umr_can_load_pas in
// drivers/infiniband/hw/mlx5/umr.h.
func (d *Device) umrCanLoadPas(length uint64) bool {
	if d.caps.has(capUMREntityFixed) {
		return false
	}
	return d.caps.has(capUMRExtOffset) || length < maxUMRPages*copyuser.PageSize
}

// umrResourceInit makes the queue pair. It models mlx5r_umr_resource_init and
// mlx5r_umr_init in drivers/infiniband/hw/mlx5/umr.c.
//
// Errors: mlx5-srq/no-memory, mlx5-eq/no-memory, mlx5-qp/table-no-memory,
// mlx5-cmd/….
func (d *Device) umrResourceInit(t *trace.Task) (err error) {
	defer t.Enter(moduleIB, "mlx5r_umr_resource_init").Leave()
	u := &d.umrc
	u.initLock.Lock(t)
	defer u.initLock.Unlock(t)
	if u.isMade {
		return nil
	}
	if err := d.devResSRQInit(t); err != nil {
		return err
	}
	for _, step := range []struct{ do, undo func(*trace.Task) error }{
		{d.umrAllocPD, d.umrDeallocPD},
		{d.umrCreateKey, d.umrDestroyKey},
		{d.umrCreateCQ, d.umrDestroyCQ},
		{d.umrCreateQP, d.umrDestroyQP},
		{d.umrQPRst2Rts, nil},
	} {
		if err = step.do(t); err != nil {
			return err
		}
		if undo := step.undo; undo != nil {
			defer func() {
				if err != nil {
					undo(t) // the first error counts
				}
			}()
		}
	}
	u.isMade = true
	return nil
}

// umrResourceCleanup models mlx5r_umr_resource_cleanup and mlx5r_umr_cleanup in
// drivers/infiniband/hw/mlx5/umr.c.
func (d *Device) umrResourceCleanup(t *trace.Task) {
	defer t.Enter(moduleIB, "mlx5r_umr_resource_cleanup").Leave()
	if !d.umrc.isMade {
		return
	}
	for _, undo := range []func(*trace.Task) error{d.umrDestroyQP, d.umrDestroyCQ, d.umrDestroyKey, d.umrDeallocPD} {
		undo(t) // as the kernel does
	}
}

func (d *Device) umrAllocPD(t *trace.Task) (err error) {
	d.umrc.pdn, err = d.create(t, ifc.MLX5_CMD_OP_ALLOC_PD, 0)
	return err
}

func (d *Device) umrDeallocPD(t *trace.Task) error { return d.cmdDeallocPD(t, d.umrc.pdn, 0) }

// umrCreateKey models mlx5_ib_get_dma_mr in drivers/infiniband/hw/mlx5/mr.c.
func (d *Device) umrCreateKey(t *trace.Task) (err error) {
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_MKEY, 0, 0)
	defer d.giveBack(m)
	ctx := mkcIn.Bytes(m.in)
	mkc.length64.Set(ctx, 1)
	d.setMkcAccess(ctx, core.AccessLocalWrite, 0, d.umrc.pdn)
	d.umrc.key, err = d.createMkey(t, m)
	return err
}

func (d *Device) umrDestroyKey(t *trace.Task) error { return d.destroyMkey(t, d.umrc.key) }

func (d *Device) umrCreateCQ(t *trace.Task) (err error) {
	d.umrc.cq, err = d.createKernelCQ(t, umrCQEntries)
	return err
}

func (d *Device) umrDestroyCQ(t *trace.Task) error {
	err := d.coreDestroyCQ(t, &d.umrc.cq.coreCQ)
	d.umrc.cq.memory.free(d)
	return err
}

// umrCreateQP models create_kernel_qp in drivers/infiniband/hw/mlx5/qp.c for this
// one.
func (d *Device) umrCreateQP(t *trace.Task) (err error) {
	u := &d.umrc
	u.sq = d.newKernelMemory(umrSQBlocks * sendWQEBB)
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_QP, 0, 8)
	defer d.giveBack(m)
	u.sq.populatePas(copyuser.PageSize, 1, m.in[createQPPas:], 0)
	qpc.st.Set(m.in, qpSTRegUMR)
	qpc.pmState.Set(m.in, qpPMMigrated)
	qpc.rqType.Set(m.in, zeroLenRQ)
	qpc.logSQSize.Set(m.in, log2(umrSQBlocks))
	qpc.uarPage.Set(m.in, uint64(d.fpBfreg.index))
	qpc.cqnSnd.Set(m.in, uint64(u.cq.cqn))
	qpc.cqnRcv.Set(m.in, uint64(u.cq.cqn))
	qpc.xrcd.Set(m.in, uint64(d.xrcdn[1]))
	qpc.srqn.Set(m.in, uint64(d.devr.s1.srqn))
	qpc.dbrAddr.Set(m.in, u.sq.doorbell())
	qpc.fastRegister.Set(m.in, 1)
	qpc.reservedLKey.Set(m.in, 1)
	if d.caps.get(capCQEVersion) == cqeVersionV1 {
		qpc.userIndex.Set(m.in, defaultUserIndex)
	}
	if u.qpn, err = d.createResource(t, &resQP, m); err != nil {
		u.sq.free(d)
	}
	return err
}

func (d *Device) umrDestroyQP(t *trace.Task) error {
	err := d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_QP, 0, d.umrc.qpn)
	d.umrc.sq.free(d)
	return err
}

// umrQPRst2Rts makes the queue pair ready. It models mlx5r_umr_qp_rst2rts in
// drivers/infiniband/hw/mlx5/umr.c.
func (d *Device) umrQPRst2Rts(t *trace.Task) error {
	defer t.EnterInlined(moduleIB, "mlx5r_umr_qp_rst2rts").Leave()
	const mtu4096, log4096 = 5, 12
	for _, opcode := range []uint16{ifc.MLX5_CMD_OP_RST2INIT_QP, ifc.MLX5_CMD_OP_INIT2RTR_QP, ifc.MLX5_CMD_OP_RTR2RTS_QP} {
		m := d.mailbox(opcode, 0, 0)
		m.setNumber(d.umrc.qpn)
		qpc.pmState.Set(m.in, qpPMMigrated)
		primaryPath.port.Set(m.in, 1)
		if opcode == ifc.MLX5_CMD_OP_INIT2RTR_QP {
			qpc.mtu.Set(m.in, mtu4096)
			qpc.logMsgMax.Set(m.in, log4096)
		}
		err := d.exec(t, m.in, m.out)
		d.giveBack(m)
		if err != nil {
			return err
		}
	}
	d.umrc.sqHead = 0
	d.umrc.sq.page.Store(kernelDoorbell+sendCounter, make([]byte, 4))
	return nil
}

// sendCounter is where a queue pair's doorbell record has what was posted to send.
const sendCounter = 4

// umrWQE is a struct mlx5r_umr_wqe: what shall change of a key.
type umrWQE struct {
	flags  uint8 // MLX5_UMR_…
	mask   uint64
	offset uint64 // in the list, in octowords; with umrTranslationOffset
	ctx    [64]byte
	list   umrList // the new entries; none where it is empty
}

// umrList is where a work request's entries are.
type umrList struct {
	addr   uint64
	length uint32 // bytes
}

// Flags of a work request that changes a key (MLX5_UMR_* in
// include/linux/mlx5/device.h).
const (
	umrTranslationOffset = 1 << 4
	umrCheckNotFree      = 1 << 5
	umrCheckFree         = 2 << 5
	umrInline            = 1 << 7
)

// Where a work request that changes a key has what, and how long it is with a data
// segment.
const (
	umrCtrlAt  = 16
	umrMkeyAt  = 64
	umrDataAt  = 128
	umrWQESize = 144
)

// encode writes the work request without its first 16 bytes, and says how long it
// is in all.
func (w *umrWQE) encode(b []byte, key uint32) int {
	clear(b)
	ctrl := b[umrCtrlAt:]
	ctrl[0] = w.flags
	be.PutUint16(ctrl[4:], uint16(alignUp(uint64(w.list.length), umrXLTAlignment)/umrOctoword))
	be.PutUint16(ctrl[6:], uint16(w.offset))
	be.PutUint64(ctrl[8:], w.mask)
	be.PutUint32(ctrl[16:], uint32(w.offset>>16))
	copy(b[umrMkeyAt:], w.ctx[:])
	if w.list.length == 0 {
		return umrDataAt
	}
	be.PutUint32(b[umrDataAt:], w.list.length)
	be.PutUint32(b[umrDataAt+4:], key)
	be.PutUint64(b[umrDataAt+8:], w.list.addr)
	return umrWQESize
}

// umrPostSend models mlx5r_umr_post_send in drivers/infiniband/hw/mlx5/umr.c. The
// caller holds the lock.
func (d *Device) umrPostSend(key uint32, w *umrWQE) {
	u := &d.umrc
	b := u.wqe[:]
	n := w.encode(b, u.key)
	be.PutUint32(b, uint32(u.sqHead)<<8|ifc.MLX5_OPCODE_UMR)
	be.PutUint32(b[4:], u.qpn<<8|uint32(n/dataSegSize))
	b[11] = ifc.MLX5_FENCE_MODE_INITIATOR_SMALL | ifc.MLX5_WQE_CTRL_CQ_UPDATE
	be.PutUint32(b[12:], key)
	for at := 0; at < n; at += sendWQEBB {
		u.sq.page.Store(int(u.sqHead)%umrSQBlocks*sendWQEBB, b[at:min(at+sendWQEBB, n)])
		u.sqHead++
	}
	var word [4]byte
	be.PutUint32(word[:], uint32(u.sqHead))
	u.sq.page.Store(kernelDoorbell+sendCounter, word[:])
	d.fpBfreg.io.Store(ifc.MLX5_BF_OFFSET, b[:8])
}

// umrPostSendWait changes a key, and returns when that is done. A work request that
// fails leaves the queue pair in error, which the driver leads out of there. It
// models mlx5r_umr_post_send_wait in drivers/infiniband/hw/mlx5/umr.c.
//
// Errors: mlx5-umr/device, mlx5-umr/failed.
func (d *Device) umrPostSendWait(t *trace.Task, key uint32, w *umrWQE) error {
	defer t.Enter(moduleIB, "mlx5r_umr_post_send_wait").Leave()
	u := &d.umrc
	u.lock.Lock(t)
	defer u.lock.Unlock(t)
	d.umrPostSend(key, w)
	d.HW.SettleQP(u.qpn)
	switch ok, done := u.poll(); {
	case !done:
		return rule.MLX5UMRDevice
	case !ok:
		d.umrRecover(t)
		return rule.MLX5UMRFailed
	}
	return nil
}

// poll takes the next completion, if there is one, and says whether its work
// request succeeded. It models mlx5r_umr_done in
// drivers/infiniband/hw/mlx5/umr.c.
func (u *umrCommon) poll() (ok, done bool) {
	const owner, opcodeShift, request = 63, 4, 0 // MLX5_CQE_REQ
	var last [1]byte
	u.cq.memory.page.Load(int(u.cqHead%umrCQEntries)*sendWQEBB+owner, last[:])
	if last[0]>>opcodeShift == ifc.MLX5_CQE_INVALID || uint32(last[0]&1) != u.cqHead/umrCQEntries&1 {
		return false, false
	}
	u.cqHead++
	var word [4]byte
	be.PutUint32(word[:], u.cqHead&0xffffff)
	u.cq.memory.page.Store(kernelDoorbell, word[:])
	return last[0]>>opcodeShift == request, true
}

// umrRecover brings the queue pair back after a failure. It models
// mlx5r_umr_recover in drivers/infiniband/hw/mlx5/umr.c; there is nothing behind
// the one that failed that would have to be flushed.
func (d *Device) umrRecover(t *trace.Task) {
	defer t.EnterInlined(moduleIB, "mlx5r_umr_recover").Leave()
	if d.destroy(t, ifc.MLX5_CMD_OP_2RST_QP, 0, d.umrc.qpn) == nil {
		d.umrQPRst2Rts(t) // the next work request finds out
	}
}
