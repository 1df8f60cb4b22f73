package mlx5

import (
	"math/bits"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// devxUmem is a struct devx_umem: memory that a user's commands name by a number.
type devxUmem struct {
	dev    *Device
	umem   umem
	dinbox []byte
}

// devxUmemType says how registered memory goes.
var devxUmemType = uobject.TypeAttrs{Destroy: devxUmemCleanup}

// devxUmemAccess are the access flags that memory may be registered with.
const devxUmemAccess = core.AccessLocalWrite | core.AccessRemoteWrite | core.AccessRemoteRead | core.AccessRelaxedOrdering

// Where CREATE_UMEM has what it says of the memory: its struct umem begins at byte
// 16, the list of its pages 32 bytes behind.
var (
	umemLogPageSize = ifc.Field{Off: 8*(16+19) + 3, Width: 5, Count: 1}
	umemPageOffset  = num(16+20, 4)
	umemNumMTT      = num(16+24, 8)
)

const umemMTT = 16 + 32

// Bits in the entry of a page that say how the device may use it
// (drivers/infiniband/hw/mlx5/mlx5_ib.h).
const (
	mttRead  = 1 << 0 // MLX5_IB_MTT_READ
	mttWrite = 1 << 1 // MLX5_IB_MTT_WRITE
)

// devxUmemReg is the handler of MLX5_IB_METHOD_DEVX_UMEM_REG. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_UMEM_REG) in
// drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-devx/umem-…, flags/…, const/…, mr-access/…, umem/…, pin/…, dmabuf/…,
// mlx5-cmd/…, bundle/no-memory, attr/….
func devxUmemReg(b *kernel.Bundle) error {
	t := b.Trace()
	uobj, err := b.Object(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE)
	if err != nil {
		return err
	}
	c := toUcontext(b.Ucontext())
	if c.devxUID == 0 {
		return rule.MLX5DevxUmemNoUID
	}
	access, err := b.Flags32(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, devxUmemAccess)
	if err != nil {
		return err
	}
	if t.Fail(trace.Alloc, "devx_umem") {
		return rule.MLX5DevxUmemNoMemory
	}
	o := &devxUmem{dev: c.dev}
	if o.umem, err = c.dev.devxUmemGet(b, access); err != nil {
		return err
	}
	id, err := o.create(b, c.devxUID)
	if err != nil {
		o.umem.release(t, c.dev)
		return err
	}
	uobj.HW = o
	b.FinalizeCreate(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE)
	return b.CopyToUint32(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, id)
}

// devxUmemGet pins the memory that a call names: the caller's, or a dma-buf's. It
// models devx_umem_get in
// drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: attr/…, mr-access/…, umem/…, pin/…, dmabuf/….
func (d *Device) devxUmemGet(b *kernel.Bundle, access uint32) (umem, error) {
	t := b.Trace()
	defer t.EnterInlined(moduleIB, "devx_umem_get").Leave()
	addr, err := b.Uint64(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR)
	if err != nil {
		return umem{}, err
	}
	size, err := b.Uint64(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_LEN)
	if err != nil {
		return umem{}, err
	}
	if err := core.CheckMRAccess(d.IB, access); err != nil {
		return umem{}, err
	}
	if b.IsValid(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD) {
		fd, err := b.RawFD(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD)
		if err != nil {
			return umem{}, rule.MLX5DevxUmemDmabufFD
		}
		u, err := core.GetUmemDmabufPinned(b.Task(), d.IB, d.Bus, addr, size, int(fd), access)
		if err != nil {
			return umem{}, err
		}
		return umem{Umem: &u.Umem, dma: u.Addr(), dmabuf: u}, nil
	}
	return d.umemGet(b.Task(), addr, size, access)
}

// create registers the pinned memory and returns its number. It models
// devx_umem_reg_cmd_alloc in drivers/infiniband/hw/mlx5/devx.c and the command
// that follows it.
//
// Errors: const/range, mlx5-devx/umem-page-size, bundle/no-memory, mlx5-cmd/….
func (o *devxUmem) create(b *kernel.Bundle, uid uint16) (uint32, error) {
	t := b.Trace()
	defer t.EnterInlined(moduleIB, "devx_umem_reg_cmd_alloc").Leave()
	bitmap, err := b.ConstDefault(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 1<<64-1,
		^uint64(1<<adapterPageShift-1))
	if err != nil {
		return 0, err
	}
	pageSize := o.umem.devxBestPageSize(bitmap)
	if pageSize == 0 {
		return 0, rule.MLX5DevxUmemPageSize
	}
	n := o.umem.numDMABlocks(o.umem.Address, pageSize)
	in, err := b.Alloc(umemMTT + 8*n)
	if err != nil {
		return 0, err
	}
	be.PutUint16(in, ifc.MLX5_CMD_OP_CREATE_UMEM)
	devxCmd(in).setUID(uid)
	umemNumMTT.Set(in, uint64(n))
	umemLogPageSize.Set(in, log2(pageSize)-adapterPageShift)
	umemPageOffset.Set(in, o.umem.dmaAddress()&(pageSize-1))
	mtt := uint64(mttRead)
	if o.umem.Writable {
		mtt |= mttWrite
	}
	o.umem.populatePas(pageSize, n, in[umemMTT:], mtt)
	out := make([]byte, minCommand)
	if err := o.dev.exec(t, in, out); err != nil {
		return 0, err
	}
	cr := devxCreations[ifc.MLX5_CMD_OP_CREATE_UMEM]
	id := cr.createdID(in, out)
	o.dinbox = cr.destroyCmd(in, id)
	return id, nil
}

// devxBestPageSize returns the size of the pages that memory is given to the
// device in: larger ones than the processor's only where they cover exactly the
// memory. It models devx_umem_find_best_pgsize in
// drivers/infiniband/hw/mlx5/devx.c.
func (u *umem) devxBestPageSize(bitmap uint64) uint64 {
	largest := max(uint(bits.Len64(u.Length-1)), copyuser.PageShift)
	bitmap &= (2<<largest - 1) &^ (1<<adapterPageShift - 1)
	if bitmap == 0 {
		return 0
	}
	size := u.findBestPgsz(bitmap, u.dmaAddress())
	for size > copyuser.PageSize && (u.dmaAddress()|u.Length)&(size-1) != 0 {
		size /= 2
	}
	return size
}

// devxUmemCleanup models devx_umem_cleanup in drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-cmd/….
func devxUmemCleanup(obj *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "devx_umem_cleanup").Leave()
	o := obj.HW.(*devxUmem)
	if err := o.dev.exec(t, o.dinbox, make([]byte, minCommand)); err != nil {
		return err
	}
	o.umem.release(t, o.dev)
	return nil
}
