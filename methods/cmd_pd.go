package methods

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// The write() commands of UVERBS_OBJECT_PD.

// uverbsAllocPD makes a protection domain. It models ib_uverbs_alloc_pd in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-pd/no-memory, and those of the driver.
func uverbsAllocPD(b *kernel.Bundle) error {
	var cmd spec.AllocPD
	if err := request(b, &cmd); err != nil {
		return err
	}
	o, dev, err := uobjAlloc(b, spec.UVERBS_OBJECT_PD)
	if err != nil {
		return err
	}
	if b.Trace().Fail(trace.Alloc, "ib_pd") {
		uobjAllocAbort(o, b)
		return rule.CmdPDNoMemory
	}
	pd := &core.PD{Device: dev}
	if err := dev.Ops.AllocPD(pd, &b.DriverUdata); err != nil {
		uobjAllocAbort(o, b)
		return err
	}
	o.HW = pd
	uobjFinalizeUobjCreate(o, b)
	resp := spec.AllocPDResp{PDHandle: uint32(o.ID())}
	return response(b, &resp)
}

// uverbsDeallocPD ends a protection domain. It models ib_uverbs_dealloc_pd in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsDeallocPD(b *kernel.Bundle) error {
	var cmd spec.DeallocPD
	if err := request(b, &cmd); err != nil {
		return err
	}
	return uobjPerformDestroy(b, spec.UVERBS_OBJECT_PD, cmd.PDHandle)
}
