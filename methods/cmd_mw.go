package methods

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// The write() commands of UVERBS_OBJECT_MW.

// uverbsAllocMW makes a memory window. It models ib_uverbs_alloc_mw in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-mw/type, cmd-mw/no-memory, those of the lookup of the PD, and
// those of the driver.
func uverbsAllocMW(b *kernel.Bundle) error {
	var cmd spec.AllocMW
	if err := request(b, &cmd); err != nil {
		return err
	}
	o, dev, err := uobjAlloc(b, spec.UVERBS_OBJECT_MW)
	if err != nil {
		return err
	}
	mw, err := allocMW(b, dev, &cmd)
	if err != nil {
		uobjAllocAbort(o, b)
		return err
	}
	o.HW = mw
	uobjFinalizeUobjCreate(o, b)
	resp := spec.AllocMWResp{MWHandle: uint32(o.ID()), Rkey: mw.RKey}
	return response(b, &resp)
}

// allocMW is the part of uverbsAllocMW that makes the window itself.
func allocMW(b *kernel.Bundle, dev *core.Device, cmd *spec.AllocMW) (*core.MW, error) {
	pd, pdObject, err := uobjGetObjRead[*core.PD](b, spec.UVERBS_OBJECT_PD, cmd.PDHandle)
	if err != nil {
		return nil, err
	}
	defer uobjPutRead(pdObject, b)
	if cmd.MWType != spec.IB_MW_TYPE_1 && cmd.MWType != spec.IB_MW_TYPE_2 {
		return nil, rule.CmdMWType
	}
	if b.Trace().Fail(trace.Alloc, "ib_mw") {
		return nil, rule.CmdMWNoMemory
	}
	mw := &core.MW{Device: dev, PD: pd, Type: cmd.MWType}
	if err := pd.Device.Ops.AllocMW(mw, &b.DriverUdata); err != nil {
		return nil, err
	}
	pd.Usecnt.Count(b.Trace(), "ib_pd", 1)
	return mw, nil
}

// uverbsDeallocMW ends a memory window. It models ib_uverbs_dealloc_mw in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsDeallocMW(b *kernel.Bundle) error {
	var cmd spec.DeallocMW
	if err := request(b, &cmd); err != nil {
		return err
	}
	return uobjPerformDestroy(b, spec.UVERBS_OBJECT_MW, cmd.MWHandle)
}
