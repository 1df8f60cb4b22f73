package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// resizeCQ moves a completion queue to another buffer of the user's, of another
// size. The size that it has succeeds without a look at the request. It models
// mlx5_ib_resize_cq in drivers/infiniband/hw/mlx5/cq.c.
//
// Errors: mlx5-resize/…, umem/…, pin/…, mlx5-cmd/….
func (d *Device) resizeCQ(ib *core.CQ, cqe int32, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_resize_cq").Leave()
	if !d.caps.has(capCQResize) {
		return rule.MLX5ResizeNotSupported
	}
	if cqe < 1 || int64(cqe) > d.maxCQSize() {
		return rule.MLX5ResizeEntries
	}
	entries := roundUpPow2(uint64(cqe) + 1)
	if int64(entries) > d.maxCQSize()+1 {
		return rule.MLX5ResizeEntriesRounded
	}
	if entries == uint64(ib.CQE.Load())+1 {
		return nil
	}
	c := toCQ(ib)
	c.resizeMutex.Lock(t)
	defer c.resizeMutex.Unlock(t)
	buf, cqeSize, err := d.resizeUser(entries, udata)
	if err != nil {
		return err
	}
	if err := d.moveCQ(t, c, &buf, entries, cqeSize); err != nil {
		buf.release(t, d)
		return err
	}
	ib.CQE.Store(uint32(entries) - 1)
	c.buf.release(t, d)
	c.buf = buf
	return nil
}

// resizeUser reads the user's part of the request, 16 bytes whatever its length,
// and pins the new buffer. It models resize_user in
// drivers/infiniband/hw/mlx5/cq.c; its check for an overflow cannot fail with
// lengths of 64 bits.
//
// Errors: mlx5-resize/request-fault, mlx5-resize/reserved, umem/…, pin/….
func (d *Device) resizeUser(entries uint64, udata *core.Udata) (buf umem, cqeSize uint32, err error) {
	task := udata.Task()
	defer task.Trace.EnterInlined(moduleIB, "resize_user").Leave()
	var ucmd spec.Mlx5ResizeCQ
	if !udata.CopyFrom(spec.Bytes(&ucmd)) {
		return umem{}, 0, rule.MLX5ResizeRequestFault
	}
	if ucmd.Reserved0 != 0 || ucmd.Reserved1 != 0 {
		return umem{}, 0, rule.MLX5ResizeReserved
	}
	buf, err = d.umemGet(task, ucmd.BufAddr, uint64(ucmd.CQESize)*entries, core.AccessLocalWrite)
	return buf, uint32(ucmd.CQESize), err
}

// moveCQ tells the device of the new buffer.
func (d *Device) moveCQ(t *trace.Task, c *cq, buf *umem, entries uint64, cqeSize uint32) error {
	pgoff := buf.findBestCQPgoff()
	if pgoff.pageSize == 0 {
		return rule.MLX5ResizeAlignment
	}
	if t.Fail(trace.Alloc, "modify_cq_in") {
		return rule.MLX5ResizeNoMemory
	}
	npas := buf.numDMABlocks(0, pgoff.pageSize)
	m := d.mailbox(ifc.MLX5_CMD_OP_MODIFY_CQ, c.uid, 8*npas)
	defer d.giveBack(m)
	buf.populatePas(pgoff.pageSize, npas, m.in[modifyCQPas:], 0)
	be.PutUint16(m.in[6:], ifc.MLX5_CQ_OPMOD_RESIZE)
	m.setNumber(c.cqn)
	modifySelect.Set(m.in, ifc.MLX5_MODIFY_CQ_MASK_LOG_SIZE|ifc.MLX5_MODIFY_CQ_MASK_PG_OFFSET|ifc.MLX5_MODIFY_CQ_MASK_PG_SIZE)
	ctx := cqcModify.Bytes(m.in)
	cqc.logPageSize.Set(ctx, log2(pgoff.pageSize)-adapterPageShift)
	cqc.pageOffset.Set(ctx, pgoff.offset)
	cqc.cqeSize.Set(ctx, cqeStride(cqeSize, c.padding))
	cqc.logSize.Set(ctx, log2(entries))
	return d.exec(t, m.in, m.out)
}
