package stub

import (
	"math"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// uar is a UAR object: a page that can be mapped at an offset of its own.
type uar struct {
	entry core.MmapEntry
	id    uint32
}

// The page offsets of UARs, as mlx5 has them: MLX5_IB_MMAP_OFFSET_START and
// MLX5_IB_MMAP_OFFSET_END of drivers/infiniband/hw/mlx5/mlx5_ib.h in the upper
// half.
const (
	firstUARPgoff = 9 << 16
	lastUARPgoff  = 255<<16 + 0xffff
)

// allocUAR makes a UAR. Its object exists before the answers are written.
func (d *Driver) allocUAR(b *kernel.Bundle) error {
	o, err := b.Object(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE)
	if err != nil {
		return err
	}
	uc, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	typ, err := b.Const(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, math.MaxUint32)
	if err != nil {
		return err
	}
	if typ > spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC {
		return uarType
	}
	u := new(uar)
	if err := uc.InsertMmapEntry(b.Trace(), &u.entry, copyuser.PageSize, firstUARPgoff, lastUARPgoff); err != nil {
		return err
	}
	d.trail.said("alloc_uar")
	u.id = d.uarIDs.Add(1)
	o.HW = u
	b.FinalizeCreate(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE)
	if err := b.CopyToUint64(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, u.entry.Pgoff<<copyuser.PageShift); err != nil {
		return err
	}
	if err := b.CopyToUint64(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, copyuser.PageSize); err != nil {
		return err
	}
	return b.CopyToUint32(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, u.id)
}

func (d *Driver) freeUAR(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	d.trail.said("free_uar")
	d.trail.ended("uar")
	o.HW.(*uar).entry.Remove(attrs.Task().Trace)
	return nil
}

func (d *Driver) mmapFree(*trace.Task, *core.MmapEntry) { d.trail.said("mmap_free") }
