package mlx5

import (
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// varTable is a struct mlx5_var_table: the device's doorbells for emulated
// virtio queues, which all contexts share.
type varTable struct {
	lock      trace.Mutex
	start     uint64 // in the device's address range
	stride    uint64 // bytes from one doorbell to the next
	doorbells areas
}

var (
	capDoorbellBarSize   = vdpa("log_doorbell_bar_size")
	capDoorbellStride    = vdpa("log_doorbell_stride")
	capDoorbellBarOffset = vdpa("doorbell_bar_offset")
)

// init models mlx5_ib_init_var_table in drivers/infiniband/hw/mlx5/main.c.
func (v *varTable) init(c *caps) {
	v.lock.Name = "bitmap_lock"
	v.start = c.get(capDoorbellBarOffset)
	v.stride = uint64(c.pow2(capDoorbellStride))
	v.doorbells = newAreas(uint64(c.pow2(capDoorbellBarSize)) * 4096 / v.stride)
}

// take returns the first doorbell that is free.
func (v *varTable) take(t *trace.Task) (uint32, bool) {
	v.lock.Lock(t)
	defer v.lock.Unlock(t)
	i, ok := v.doorbells.take(0, 1, 1)
	return uint32(i), ok
}

func (v *varTable) free(t *trace.Task, i uint32) {
	v.lock.Lock(t)
	v.doorbells.giveBack(uint64(i), 1)
	v.lock.Unlock(t)
}

// allocVAREntry models alloc_var_entry in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-var/…, umap/no-offset.
func (c *ucontext) allocVAREntry(t *trace.Task) (*userMmapEntry, error) {
	defer t.EnterInlined(moduleIB, "alloc_var_entry").Leave()
	if t.Fail(trace.Alloc, "mlx5_user_mmap_entry") {
		return nil, rule.MLX5VARNoMemory
	}
	v := &c.dev.vars
	i, ok := v.take(t)
	if !ok {
		return nil, rule.MLX5VARFull
	}
	e := &userMmapEntry{typ: mmapTypeVAR, pageIdx: i, address: v.start + uint64(i)*v.stride}
	if err := e.insert(t, c, v.stride); err != nil {
		v.free(t, i)
		return nil, err
	}
	return e, nil
}

// varObjAlloc is the handler of MLX5_IB_METHOD_VAR_OBJ_ALLOC. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_VAR_OBJ_ALLOC) in
// drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-var/…, umap/no-offset, attr/….
func varObjAlloc(b *kernel.Bundle) error {
	t := b.Trace()
	ctx, err := b.File().Ucontext(t)
	if err != nil {
		return err
	}
	e, err := toUcontext(ctx).allocVAREntry(t)
	if err != nil {
		return err
	}
	return e.answer(b, mmapAnswer{spec.MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE, spec.MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET,
		spec.MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID, spec.MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH})
}

// varIsSupported models var_is_supported in drivers/infiniband/hw/mlx5/main.c.
func (d *Device) varIsSupported() bool {
	return d.caps.get(capGeneralObjTypes)&objTypesVirtioNetQ != 0
}
