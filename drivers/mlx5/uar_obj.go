package mlx5

import (
	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// mmapObjType says how UAR and VAR objects go.
var mmapObjType = uobject.TypeAttrs{Destroy: mmapObjCleanup}

// mmapObjCleanup forbids new mappings of the object; what is behind it goes with
// the last mapping. It models mmap_obj_cleanup in
// drivers/infiniband/hw/mlx5/main.c.
func mmapObjCleanup(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "mmap_obj_cleanup").Leave()
	o.HW.(*userMmapEntry).rdma.Remove(t)
	return nil
}

// allocUAREntry allocates a UAR and gives it an offset to be mapped at. It models
// alloc_uar_entry in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-uar/no-memory, mlx5-cmd/…, umap/no-offset.
func (c *ucontext) allocUAREntry(t *trace.Task, typ mmapType) (*userMmapEntry, error) {
	defer t.EnterInlined(moduleIB, "alloc_uar_entry").Leave()
	if t.Fail(trace.Alloc, "mlx5_user_mmap_entry") {
		return nil, rule.MLX5UARNoMemory
	}
	n, err := c.dev.cmdUARAlloc(t, c.devxUID)
	if err != nil {
		return nil, err
	}
	e := &userMmapEntry{typ: typ, pageIdx: n}
	if err := e.insert(t, c, copyuser.PageSize); err != nil {
		c.dev.cmdUARDealloc(t, n, c.devxUID) // as the kernel does
		return nil, err
	}
	return e, nil
}

// uarObjAlloc is the handler of MLX5_IB_METHOD_UAR_OBJ_ALLOC. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_UAR_OBJ_ALLOC) in
// drivers/infiniband/hw/mlx5/main.c.
//
// Errors: const/range, mlx5-uar/…, mlx5-cmd/…, umap/no-offset, attr/….
func uarObjAlloc(b *kernel.Bundle) error {
	t := b.Trace()
	ctx, err := b.File().Ucontext(t)
	if err != nil {
		return err
	}
	c := toUcontext(ctx)
	typ, err := b.Const(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 1<<32-1)
	if err != nil {
		return err
	}
	if typ != spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && typ != spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC {
		return rule.MLX5UARType
	}
	mapped := mmapTypeUARNC
	if typ == spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF {
		mapped = mmapTypeUARWC
	}
	if !c.dev.wcSupport(t) && mapped == mmapTypeUARWC {
		return rule.MLX5UARNoWC
	}
	e, err := c.allocUAREntry(t, mapped)
	if err != nil {
		return err
	}
	return e.answer(b, mmapAnswer{spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET,
		spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH})
}

// mmapAnswer has the attributes that a new object with an offset answers in.
type mmapAnswer struct{ handle, offset, pageID, length uint16 }

// answer makes the entry the object's and tells the user of it. The object counts
// as made from here on, so that a fault ends it.
//
// Errors: attr/….
func (e *userMmapEntry) answer(b *kernel.Bundle, a mmapAnswer) error {
	o, err := b.Object(a.handle)
	if err != nil {
		return err
	}
	o.HW = e
	b.FinalizeCreate(a.handle)
	if err := b.CopyToUint64(a.offset, e.offset()); err != nil {
		return err
	}
	if err := b.CopyToUint32(a.pageID, e.pageIdx); err != nil {
		return err
	}
	return b.CopyToUint32(a.length, uint32(e.rdma.NPages*copyuser.PageSize))
}
