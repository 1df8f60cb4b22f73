package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// cq is a struct mlx5_ib_cq: a user's completion queue.
type cq struct {
	coreCQ
	ib  *core.CQ
	buf umem
	db  doorbell

	cqeSize     uint32
	padding     bool // MLX5_IB_CQ_PR_FLAGS_CQE_128_PAD
	createFlags uint32
	resizeMutex trace.Mutex

	// The user's request and what is answered to it.
	ucmd spec.Mlx5CreateCQ
	resp spec.Mlx5CreateCQResp
}

// toCQ models to_mcq.
func toCQ(c *core.CQ) *cq { return c.Driver.(*cq) }

// comp models mlx5_ib_cq_comp in drivers/infiniband/hw/mlx5/cq.c.
func (c *cq) comp(t *trace.Task) {
	defer t.Enter(moduleIB, "mlx5_ib_cq_comp").Leave()
	c.ib.CompHandler(t, c.ib)
}

// event models mlx5_ib_cq_event in drivers/infiniband/hw/mlx5/cq.c.
func (c *cq) event(t *trace.Task, typ uint8) {
	defer t.Enter(moduleIB, "mlx5_ib_cq_event").Leave()
	if typ == ifc.MLX5_EVENT_TYPE_CQ_ERROR && c.ib.EventHandler != nil {
		c.ib.EventHandler(t, &core.Event{Type: spec.IB_EVENT_CQ_ERR, CQ: c.ib})
	}
}

// cqeStride is what the size of a completion is to the device. It models
// cqe_sz_to_mlx_sz in include/linux/mlx5/cq.h.
func cqeStride(size uint32, padding bool) uint64 {
	switch {
	case padding:
		return ifc.CQE_STRIDE_128_PAD
	case size == 64:
		return ifc.CQE_STRIDE_64
	}
	return ifc.CQE_STRIDE_128
}

// createCQUser reads the user's part of the request, pins the queue's memory and
// the page of its doorbell record, and makes the firmware command. When it fails
// nothing is left of that. It models create_cq_user in
// drivers/infiniband/hw/mlx5/cq.c.
//
// Errors: mlx5-cq/…, mlx5-doorbell/no-memory, umem/…, pin/….
func (d *Device) createCQUser(c *cq, entries uint64, attrs core.Attrs) (m *mailbox, err error) {
	task := attrs.Task()
	t := task.Trace
	defer t.EnterInlined(moduleIB, "create_cq_user").Leave()
	ucmd, udata := &c.ucmd, attrs.Udata()
	n := min(udata.InLen, spec.Mlx5CreateCQSize)
	if n < createCQFlagsOffset {
		return nil, rule.MLX5CQRequestSize
	}
	if !udata.CopyFrom(spec.Bytes(ucmd)[:n]) {
		return nil, rule.MLX5CQRequestFault
	}
	if ucmd.Flags&^(spec.MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD|spec.MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX|
		spec.MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS) != 0 {
		return nil, rule.MLX5CQUserFlags
	}
	if ucmd.CQESize != 64 && ucmd.CQESize != 128 || ucmd.Reserved0 != 0 || ucmd.Reserved1 != 0 {
		return nil, rule.MLX5CQShape
	}
	c.cqeSize = ucmd.CQESize

	c.buf, err = d.umemGet(task, ucmd.BufAddr, entries*uint64(ucmd.CQESize), core.AccessLocalWrite)
	if err != nil {
		return nil, err
	}
	pgoff := c.buf.findBestCQPgoff()
	if pgoff.pageSize == 0 {
		c.buf.release(t, d)
		return nil, rule.MLX5CQAlignment
	}
	context := toUcontext(attrs.Ucontext())
	if err := context.mapDBUser(task, ucmd.DBAddr, &c.db); err != nil {
		c.buf.release(t, d)
		return nil, err
	}
	ncont := c.buf.numDMABlocks(0, pgoff.pageSize)
	if t.Fail(trace.Alloc, "create_cq_in") {
		c.destroyUser(t, context)
		return nil, rule.MLX5CQNoMemory
	}
	m = d.mailbox(ifc.MLX5_CMD_OP_CREATE_CQ, context.devxUID, 8*ncont)
	c.buf.populatePas(pgoff.pageSize, ncont, m.in[cqcPas:], 0)
	ctx := cqcIn.Bytes(m.in)
	cqc.logPageSize.Set(ctx, log2(pgoff.pageSize)-adapterPageShift)
	cqc.pageOffset.Set(ctx, pgoff.offset)
	if err := c.fillContext(context, attrs, ctx); err != nil {
		d.giveBack(m)
		c.destroyUser(t, context)
		return nil, err
	}
	return m, nil
}

// createCQFlagsOffset is where flags begins in struct mlx5_ib_create_cq: the
// shortest request.
const createCQFlagsOffset = 22

// fillContext is the rest of create_cq_user: the UAR, compression and padding.
func (c *cq) fillContext(context *ucontext, attrs core.Attrs, ctx []byte) error {
	ucmd, caps := &c.ucmd, &context.dev.caps
	index, err := c.uarIndex(context, attrs)
	if err != nil {
		return err
	}
	cqc.uarPage.Set(ctx, uint64(index))

	if ucmd.CQECompEn == 1 {
		if !(c.cqeSize == 128 && caps.has(capCQEComp128) || c.cqeSize == 64 && caps.has(capCQECompression)) {
			return rule.MLX5CQCompression
		}
		format, err := miniCQEFormat(caps, ucmd.CQECompResFormat)
		if err != nil {
			return err
		}
		cqc.compEn.Set(ctx, 1)
		cqc.miniFormat.Set(ctx, format)
	}
	if ucmd.Flags&spec.MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD != 0 {
		if c.cqeSize != 128 || !caps.has(capCQE128Always) {
			return rule.MLX5CQPadding
		}
		c.padding = true
	}
	return nil
}

// uarIndex returns the page of registers that the queue is armed on: the one of
// the attribute, of the request, or the context's first.
func (c *cq) uarIndex(context *ucontext, attrs core.Attrs) (uint32, error) {
	switch {
	case attrs.IsValid(spec.MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX):
		return attrs.Uint32(spec.MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX)
	case c.ucmd.Flags&spec.MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX != 0:
		return uint32(c.ucmd.UARPageIndex), nil
	case context.bfregs.libUARDyn:
		return 0, rule.MLX5CQNoUAR
	}
	return context.bfregs.sysPages[0].Load(), nil
}

// miniCQEFormat is the device's number of a format of compressed completions. It
// models mini_cqe_res_format_to_hw in drivers/infiniband/hw/mlx5/cq.c.
func miniCQEFormat(c *caps, format uint8) (uint64, error) {
	const hash, csum, csumStrideIndex = 0, 1, 3 // MLX5_CQE_RES_FORMAT_…
	switch format {
	case spec.MLX5_IB_CQE_RES_FORMAT_HASH:
		return hash, nil
	case spec.MLX5_IB_CQE_RES_FORMAT_CSUM:
		return csum, nil
	case spec.MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX:
		if c.has(capMiniCQEStride) {
			return csumStrideIndex, nil
		}
		return 0, rule.MLX5CQFormatStride
	}
	return 0, rule.MLX5CQFormat
}

// destroyUser models destroy_cq_user in drivers/infiniband/hw/mlx5/cq.c.
func (c *cq) destroyUser(t *trace.Task, context *ucontext) {
	defer t.EnterInlined(moduleIB, "destroy_cq_user").Leave()
	context.unmapDBUser(t, &c.db)
	c.buf.release(t, context.dev)
}

// cqFlagsKnown are the core's flags that the driver takes (check_cq_create_flags
// in drivers/infiniband/hw/mlx5/mlx5_ib.h).
const cqFlagsKnown = spec.IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN | spec.IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION

// maxCQSize is the device's largest number of entries.
func (d *Device) maxCQSize() int64 { return int64(d.caps.pow2(capLogMaxCQSz)) }

// ibCreateCQ makes a completion queue in the user's memory, of a power of two of
// entries. Its 4-byte number goes to the user whatever the length of the
// response. It models mlx5_ib_create_cq in drivers/infiniband/hw/mlx5/cq.c.
//
// Errors: mlx5-cq/…, mlx5-eq/no-memory, mlx5-doorbell/no-memory, mlx5-cmd/…,
// umem/…, pin/….
func (d *Device) ibCreateCQ(ib *core.CQ, attr *core.CQInitAttr, attrs core.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "mlx5_ib_create_cq").Leave()
	if n := int64(int32(attr.CQE)); n < 0 || n > d.maxCQSize() {
		return rule.MLX5CQEntries
	}
	if attr.Flags&^cqFlagsKnown != 0 {
		return rule.MLX5CQFlags
	}
	entries := roundUpPow2(uint64(attr.CQE) + 1)
	if int64(entries) > d.maxCQSize() {
		return rule.MLX5CQEntriesRounded
	}
	ib.CQE.Store(uint32(entries) - 1)
	c := &cq{ib: ib, createFlags: attr.Flags}
	c.owner, c.resizeMutex.Name = c, "resize_mutex"
	m, err := d.createCQUser(c, entries, attrs)
	if err != nil {
		return err
	}
	defer d.giveBack(m)
	if err := d.finishCreateCQ(t, c, attr, entries, attrs.Udata(), m); err != nil {
		c.destroyUser(t, toUcontext(attrs.Ucontext()))
		return err
	}
	ib.Driver = c
	return nil
}

// finishCreateCQ is mlx5_ib_create_cq from the event queue on.
func (d *Device) finishCreateCQ(t *trace.Task, c *cq, attr *core.CQInitAttr, entries uint64, udata *core.Udata, m *mailbox) error {
	eq, err := d.compEQN(t, uint16(attr.CompVector))
	if err != nil {
		return err
	}
	ctx := cqcIn.Bytes(m.in)
	cqc.cqeSize.Set(ctx, cqeStride(c.cqeSize, c.padding))
	cqc.logSize.Set(ctx, log2(entries))
	cqc.eqn.Set(ctx, uint64(eq.eqn))
	cqc.dbrAddr.Set(ctx, c.db.dma)
	if c.createFlags&spec.IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN != 0 {
		cqc.ignoreOverrun.Set(ctx, 1)
	}
	if err := d.coreCreateCQ(t, &c.coreCQ, m.in, m.out); err != nil {
		return err
	}
	c.resp.CQN = c.cqn
	if !udata.CopyTo(spec.Bytes(&c.resp.CQN)) {
		d.coreDestroyCQ(t, &c.coreCQ) // as the kernel does
		return rule.MLX5CQResponseFault
	}
	return nil
}

// destroyCQ ends a completion queue. It models mlx5_ib_destroy_cq in
// drivers/infiniband/hw/mlx5/cq.c.
//
// Errors: mlx5-cmd/….
func (d *Device) destroyCQ(ib *core.CQ, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_destroy_cq").Leave()
	c := toCQ(ib)
	if err := d.coreDestroyCQ(t, &c.coreCQ); err != nil {
		return err
	}
	c.destroyUser(t, toUcontext(udata.Attrs.Ucontext()))
	return nil
}

// maxCQPeriod is MLX5_MAX_CQ_PERIOD, in microseconds.
const maxCQPeriod = 1<<12 - 1

// modifyCQ moderates the events of a completion queue: one for count
// completions, or after period microseconds. It models mlx5_ib_modify_cq in
// drivers/infiniband/hw/mlx5/cq.c.
//
// Errors: mlx5-modify-cq/…, mlx5-cmd/….
func (d *Device) modifyCQ(task *process.Task, ib *core.CQ, count, period uint16) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_modify_cq").Leave()
	if !d.caps.has(capCQModeration) {
		return rule.MLX5ModifyCQNotSupported
	}
	if period > maxCQPeriod {
		return rule.MLX5ModifyCQPeriod
	}
	c := toCQ(ib)
	defer t.Enter(moduleCore, "mlx5_core_modify_cq_moderation").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_MODIFY_CQ, c.uid, 0)
	defer d.giveBack(m)
	m.setNumber(c.cqn)
	modifySelect.Set(m.in, ifc.MLX5_CQ_MODIFY_PERIOD|ifc.MLX5_CQ_MODIFY_COUNT)
	ctx := cqcModify.Bytes(m.in)
	cqc.period.Set(ctx, uint64(period))
	cqc.maxCount.Set(ctx, uint64(count))
	return d.exec(t, m.in, m.out)
}
