package mlx5

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// A page offset that is mapped has a command (enum mlx5_ib_mmap_cmd in
// include/uapi/rdma/mlx5-abi.h) in its second byte and an index in the first and
// the third. Offsets from command 9 on are given out to objects.
const (
	mmapCmdShift      = 8    // MLX5_IB_MMAP_CMD_SHIFT
	mmapCmdMask       = 0xff // MLX5_IB_MMAP_CMD_MASK
	mmapIndexHighByte = 16
	mmapOffsetStart   = 9   // MLX5_IB_MMAP_OFFSET_START
	mmapOffsetEnd     = 255 // MLX5_IB_MMAP_OFFSET_END
)

// mmapCommand models get_command in drivers/infiniband/hw/mlx5/main.c.
func mmapCommand(pgoff uint64) uint64 { return pgoff >> mmapCmdShift & mmapCmdMask }

// mmapIndex models get_index in drivers/infiniband/hw/mlx5/main.c.
func mmapIndex(pgoff uint64) uint64 { return pgoff & (1<<mmapCmdShift - 1) }

// mmapExtendedIndex is mmapIndex with one more byte, above the command. It models
// get_extended_index in drivers/infiniband/hw/mlx5/main.c.
func mmapExtendedIndex(pgoff uint64) uint64 {
	return mmapIndex(pgoff) | pgoff>>mmapIndexHighByte&0xff<<8
}

// mmapType is enum mlx5_ib_mmap_type: what an offset that was given out leads
// to.
type mmapType uint8

const (
	mmapTypeMemic   mmapType = 1 + iota // MLX5_IB_MMAP_TYPE_MEMIC
	mmapTypeVAR                         // MLX5_IB_MMAP_TYPE_VAR
	mmapTypeUARWC                       // MLX5_IB_MMAP_TYPE_UAR_WC
	mmapTypeUARNC                       // MLX5_IB_MMAP_TYPE_UAR_NC
	mmapTypeMemicOp                     // MLX5_IB_MMAP_TYPE_MEMIC_OP
)

// userMmapEntry is a struct mlx5_user_mmap_entry.
type userMmapEntry struct {
	rdma    core.MmapEntry
	typ     mmapType
	address uint64 // of device memory, in the device's address range
	pageIdx uint32

	dm     *dm // whose memory it is
	op     uint8
	opAddr uint64 // where writes do the operation
}

// insert gives the entry an offset of its context. It models
// mlx5_rdma_user_mmap_entry_insert in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: umap/no-offset.
func (e *userMmapEntry) insert(t *trace.Task, c *ucontext, length uint64) error {
	defer t.EnterInlined(moduleIB, "mlx5_rdma_user_mmap_entry_insert").Leave()
	e.rdma.Driver = e
	return c.ib.InsertMmapEntry(t, &e.rdma, length, mmapOffsetStart<<16, mmapOffsetEnd<<16+1<<16-1)
}

// offset returns where the user maps the entry, in bytes. It models
// mlx5_entry_to_mmap_offset in drivers/infiniband/hw/mlx5/main.c.
func (e *userMmapEntry) offset() uint64 {
	cmd, index := e.rdma.Pgoff>>16&0xffff, e.rdma.Pgoff&0xffff
	return (index>>8<<16 | cmd<<mmapCmdShift | index&0xff) << copyuser.PageShift
}

// mmap maps what the command in the offset says. It models mlx5_ib_mmap in
// drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-mmap/…, mlx5-cmd/…, umap/….
func (d *Device) mmap(task *process.Task, ctx *core.Ucontext, a *copyuser.Area) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_mmap").Leave()
	c := toUcontext(ctx)
	switch command := mmapCommand(a.Pgoff); command {
	case spec.MLX5_IB_MMAP_WC_PAGE, spec.MLX5_IB_MMAP_ALLOC_WC:
		if !d.wcSupport(t) {
			return rule.MLX5MmapNoWC
		}
		return c.mmapUAR(t, command == spec.MLX5_IB_MMAP_ALLOC_WC, a)
	case spec.MLX5_IB_MMAP_NC_PAGE, spec.MLX5_IB_MMAP_REGULAR_PAGE:
		return c.mmapUAR(t, false, a)
	case spec.MLX5_IB_MMAP_GET_CONTIGUOUS_PAGES:
		return rule.MLX5MmapContiguous
	case spec.MLX5_IB_MMAP_CORE_CLOCK:
		return c.mmapCoreClock(t, a)
	case spec.MLX5_IB_MMAP_CLOCK_INFO:
		return d.mmapClockInfoPage(t, a)
	}
	return c.mmapOffset(t, a)
}

// mmapCoreClock is the case MLX5_IB_MMAP_CORE_CLOCK of mlx5_ib_mmap.
func (c *ucontext) mmapCoreClock(t *trace.Task, a *copyuser.Area) error {
	if a.Len() != copyuser.PageSize {
		return rule.MLX5MmapClockLength
	}
	if a.Flags&copyuser.VM_WRITE != 0 {
		return rule.MLX5MmapClockWrite
	}
	a.Flags &^= copyuser.VM_MAYWRITE
	return c.ib.MmapIO(t, a, []*copyuser.Page{c.dev.bar.clock}, nil)
}

// mmapClockInfoPage maps the kernel's page with the state of the clock. It
// models mlx5_ib_mmap_clock_info_page in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-mmap/clock-info-….
func (d *Device) mmapClockInfoPage(t *trace.Task, a *copyuser.Area) error {
	defer t.EnterInlined(moduleIB, "mlx5_ib_mmap_clock_info_page").Leave()
	if a.Len() != copyuser.PageSize || a.Flags&copyuser.VM_SHARED == 0 {
		return rule.MLX5MmapInfoShape
	}
	if mmapIndex(a.Pgoff) != spec.MLX5_IB_CLOCK_INFO_V1 {
		return rule.MLX5MmapInfoVersion
	}
	if a.Flags&(copyuser.VM_WRITE|copyuser.VM_EXEC) != 0 {
		return rule.MLX5MmapInfoAccess
	}
	a.Flags &^= copyuser.VM_MAYWRITE
	if t.Fail(trace.Alloc, "vm_insert_page") {
		return rule.MLX5MmapInfoNoMemory
	}
	a.InsertPage(0, d.clockInfo)
	return nil
}

// mmapUAR maps a page of the context's registers; a dynamic one is allocated
// first. Whether it is mapped write-combining makes no difference here. It
// models uar_mmap in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-mmap/…, mlx5-cmd/…, umap/….
func (c *ucontext) mmapUAR(t *trace.Task, dynamic bool, a *copyuser.Area) error {
	defer t.Enter(moduleIB, "uar_mmap").Leave()
	b := &c.bfregs
	if b.libUARDyn {
		return rule.MLX5MmapNoRegisters
	}
	if a.Len() != copyuser.PageSize {
		return rule.MLX5MmapUARLength
	}
	idx, end := mmapIndex(a.Pgoff), uint64(b.numStaticSysPages)
	if dynamic {
		idx, end = mmapExtendedIndex(a.Pgoff)+end, uint64(len(b.sysPages))
	}
	if idx >= end {
		return rule.MLX5MmapUARIndex
	}
	if dynamic {
		return c.mmapDynamicUAR(t, idx, a)
	}
	return c.ib.MmapIO(t, a, []*copyuser.Page{c.dev.bar.uarPage(b.sysPages[idx].Load())}, nil)
}

// mmapDynamicUAR is the part of uar_mmap that is about dynamic pages.
func (c *ucontext) mmapDynamicUAR(t *trace.Task, idx uint64, a *copyuser.Area) error {
	b := &c.bfregs
	bfreg := uint32(idx) * c.dev.uarsPerSysPage(b.libUAR4K) * nonFPBfregsPerUAR
	if bfreg >= b.totalNumBfregs {
		return rule.MLX5MmapDynIndex
	}
	b.lock.Lock(t)
	if b.count[bfreg] != 0 {
		b.lock.Unlock(t)
		return rule.MLX5MmapDynBusy
	}
	b.count[bfreg]++
	b.lock.Unlock(t)

	uar, err := c.dev.cmdUARAlloc(t, c.devxUID)
	if err != nil {
		b.freeBfreg(t, bfreg)
		return err
	}
	if err := c.ib.MmapIO(t, a, []*copyuser.Page{c.dev.bar.uarPage(uar)}, nil); err != nil {
		c.dev.cmdUARDealloc(t, uar, c.devxUID) // as the kernel does
		b.freeBfreg(t, bfreg)
		return err
	}
	b.sysPages[idx].Store(uar)
	return nil
}

// mmapOffset maps what an object of the context gave an offset out for. It
// models mlx5_ib_mmap_offset in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-mmap/no-entry, umap/….
func (c *ucontext) mmapOffset(t *trace.Task, a *copyuser.Area) error {
	defer t.Enter(moduleIB, "mlx5_ib_mmap_offset").Leave()
	entry := c.ib.MmapEntryAt(t, mmapCommand(a.Pgoff)<<16|mmapExtendedIndex(a.Pgoff))
	if entry == nil {
		return rule.MLX5MmapNoEntry
	}
	e := entry.Driver.(*userMmapEntry)
	err := c.ib.MmapIO(t, a, e.pages(c.dev.bar), entry)
	entry.Put(t)
	return err
}

// mmapFree is told that no area maps an object's pages any more and that the
// object is gone. It models mlx5_ib_mmap_free in
// drivers/infiniband/hw/mlx5/main.c.
func (d *Device) mmapFree(t *trace.Task, entry *core.MmapEntry) {
	defer t.Enter(moduleIB, "mlx5_ib_mmap_free").Leave()
	e := entry.Driver.(*userMmapEntry)
	switch e.typ {
	case mmapTypeMemic, mmapTypeMemicOp:
		e.dmMmapFree(t)
	case mmapTypeVAR:
		d.vars.free(t, e.pageIdx)
	case mmapTypeUARWC, mmapTypeUARNC:
		d.cmdUARDealloc(t, e.pageIdx, toUcontext(entry.Ucontext).devxUID) // as the kernel does
	}
}
