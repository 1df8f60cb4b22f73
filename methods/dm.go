package methods

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// objectDM is UVERBS_OBJECT_DM
// (drivers/infiniband/core/uverbs_std_types_dm.c).
var objectDM = object{
	id:  spec.UVERBS_OBJECT_DM,
	typ: &uobject.TypeAttrs{Destroy: freeDM},
	methods: map[uint16]kernel.Handler{
		spec.UVERBS_METHOD_DM_ALLOC: dmAlloc,
	},
}

// freeDM gives memory of the device back that no MR covers any more. It models
// uverbs_free_dm.
//
// Errors: dm/busy, and those of the driver.
func freeDM(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "uverbs_free_dm").Leave()
	dm := o.HW.(*core.DM)
	if dm.Usecnt.Read(attrs.Task().Trace, "ib_dm") != 0 {
		return rule.DMBusy
	}
	return dm.Device.Ops.DeallocDM(dm, attrs.(core.Attrs))
}

// dmAlloc takes memory of the device. It is the handler of
// UVERBS_METHOD_DM_ALLOC.
//
// Errors: dm/unsupported, and those of the driver.
func dmAlloc(b *kernel.Bundle) error {
	o := mustObject(b, spec.UVERBS_ATTR_ALLOC_DM_HANDLE)
	ucontext := b.Ucontext()
	dev := ucontext.Device
	if dev.Ops.AllocDM == nil {
		return rule.DMUnsupported
	}
	var attr core.DMAllocAttr
	var err error
	if attr.Length, err = b.Uint64(spec.UVERBS_ATTR_ALLOC_DM_LENGTH); err != nil {
		return err
	}
	if attr.Alignment, err = b.Uint32(spec.UVERBS_ATTR_ALLOC_DM_ALIGNMENT); err != nil {
		return err
	}
	dm, err := dev.Ops.AllocDM(ucontext, &attr, b)
	if err != nil {
		return err
	}
	dm.Device, dm.Length = dev, uint32(attr.Length)
	dm.Usecnt.Store(0)
	o.HW = dm
	return nil
}
