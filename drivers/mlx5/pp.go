package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// pp is a struct mlx5_ib_pp: a rate that a user has.
type pp struct {
	dev   *Device
	index uint16
}

// ppObjType says how rates go.
var ppObjType = uobject.TypeAttrs{Destroy: ppObjCleanup}

// ppObjAlloc is the handler of MLX5_IB_METHOD_PP_OBJ_ALLOC. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_PP_OBJ_ALLOC) in
// drivers/infiniband/hw/mlx5/qos.c.
//
// Errors: mlx5-pp/…, flags/…, mlx5-rl/…, mlx5-cmd/…, attr/….
func ppObjAlloc(b *kernel.Bundle) error {
	t := b.Trace()
	o, err := b.Object(spec.MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE)
	if err != nil {
		return err
	}
	ctx, err := b.File().Ucontext(t)
	if err != nil {
		return err
	}
	c := toUcontext(ctx)
	if c.devxUID == 0 {
		return rule.MLX5PPNoUID
	}
	if t.Fail(trace.Alloc, "mlx5_ib_pp") {
		return rule.MLX5PPNoMemory
	}
	in, err := b.Bytes(spec.MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX)
	if err != nil {
		return err
	}
	var limit rateLimit
	copy(limit[:], in)
	flags, err := b.Flags32(spec.MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS, spec.MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX)
	if err != nil {
		return err
	}
	dedicated, uid := flags&spec.MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX != 0, uint16(ifc.MLX5_SHARED_RESOURCE_UID)
	if dedicated {
		uid = c.devxUID
	}
	index, err := c.dev.rlAddRateRaw(t, &limit, uid, dedicated)
	if err != nil {
		return err
	}
	o.HW = &pp{c.dev, index}
	b.FinalizeCreate(spec.MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE)
	return b.CopyTo(spec.MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, le.AppendUint16(nil, index))
}

// ppObjCleanup models pp_obj_cleanup in drivers/infiniband/hw/mlx5/qos.c.
func ppObjCleanup(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "pp_obj_cleanup").Leave()
	p := o.HW.(*pp)
	p.dev.rlRemoveRateRaw(t, p.index)
	return nil
}
