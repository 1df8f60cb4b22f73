package methods

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The write() commands of UVERBS_OBJECT_MR.

// samePageOffset says whether both addresses lie equally far in their pages.
func samePageOffset(a, b uint64) bool {
	return copyuser.Addr(a).PageOffset() == copyuser.Addr(b).PageOffset()
}

// uverbsRegMR registers memory of the user. It models ib_uverbs_reg_mr in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-mr/alignment, mr-access/…, those of the lookup of the PD, and
// those of the driver.
func uverbsRegMR(b *kernel.Bundle) error {
	var cmd spec.RegMR
	if err := request(b, &cmd); err != nil {
		return err
	}
	if !samePageOffset(cmd.Start, cmd.HcaVA) {
		return rule.CmdMRAlignment
	}
	o, dev, err := uobjAlloc(b, spec.UVERBS_OBJECT_MR)
	if err != nil {
		return err
	}
	mr, err := regMR(b, dev, &cmd)
	if err != nil {
		uobjAllocAbort(o, b)
		return err
	}
	o.HW = mr
	uobjFinalizeUobjCreate(o, b)
	resp := spec.RegMRResp{MRHandle: uint32(o.ID()), Lkey: mr.LKey, Rkey: mr.RKey}
	return response(b, &resp)
}

// regMR is the part of uverbsRegMR that makes the region itself.
func regMR(b *kernel.Bundle, dev *core.Device, cmd *spec.RegMR) (*core.MR, error) {
	if err := core.CheckMRAccess(dev, cmd.AccessFlags); err != nil {
		return nil, err
	}
	pd, pdObject, err := uobjGetObjRead[*core.PD](b, spec.UVERBS_OBJECT_PD, cmd.PDHandle)
	if err != nil {
		return nil, err
	}
	defer uobjPutRead(pdObject, b)
	mr, err := pd.Device.Ops.RegUserMR(pd, cmd.Start, cmd.Length, cmd.HcaVA, cmd.AccessFlags, &b.DriverUdata)
	if err != nil {
		return nil, err
	}
	mr.Device, mr.PD = pd.Device, pd
	mr.Type, mr.DM = core.MRTypeUser, nil
	mr.IOVA, mr.Length = cmd.HcaVA, cmd.Length
	pd.Usecnt.Count(b.Trace(), "ib_pd", 1)
	return mr, nil
}

// uverbsReregMR changes a region: what memory it has, its PD, its access
// rights. A driver may make a new region for that; the old one's handle then
// names the new one. It models ib_uverbs_rereg_mr in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-mr/rereg-nothing, cmd-mr/rereg-flags, cmd-mr/rereg-alignment,
// cmd-mr/rereg-dm, mr-access/…, those of the lookups, and those of the driver.
func uverbsReregMR(b *kernel.Bundle) error {
	var cmd spec.ReregMR
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.Flags == 0 {
		return rule.CmdMRReregNothing
	}
	if cmd.Flags&^spec.IB_MR_REREG_SUPPORTED != 0 {
		return rule.CmdMRReregFlags
	}
	if cmd.Flags&spec.IB_MR_REREG_TRANS != 0 && !samePageOffset(cmd.Start, cmd.HcaVA) {
		return rule.CmdMRReregAlignment
	}
	o, err := uobjGetWrite(b, spec.UVERBS_OBJECT_MR, cmd.MRHandle)
	if err != nil {
		return err
	}
	replaced, err := reregMR(b, o, &cmd)
	if !replaced {
		uobjPutWrite(o, b)
	}
	return err
}

// reregMR is uverbsReregMR with the region locked, up to its response. It says
// whether the region was replaced by a new one; o is put then.
func reregMR(b *kernel.Bundle, o *uobject.Object, cmd *spec.ReregMR) (replaced bool, err error) {
	mr := o.HW.(*core.MR)
	if mr.DM != nil {
		return false, rule.CmdMRReregDM
	}
	if cmd.Flags&spec.IB_MR_REREG_ACCESS != 0 {
		if err := core.CheckMRAccess(mr.Device, cmd.AccessFlags); err != nil {
			return false, err
		}
	}
	pd := mr.PD
	if cmd.Flags&spec.IB_MR_REREG_PD != 0 {
		newPD, pdObject, err := uobjGetObjRead[*core.PD](b, spec.UVERBS_OBJECT_PD, cmd.PDHandle)
		if err != nil {
			return false, err
		}
		if newPD == pd {
			uobjPutRead(pdObject, b)
			cmd.Flags &^= spec.IB_MR_REREG_PD
		} else {
			pd = newPD
			defer uobjPutRead(pdObject, b)
		}
	}

	// The driver may make a new region; an object to hold it has to be ready.
	fresh, dev, err := uobjAlloc(b, spec.UVERBS_OBJECT_MR)
	if err != nil {
		return false, err
	}
	newMR, err := dev.Ops.ReregUserMR(mr, cmd.Flags, cmd.Start, cmd.Length, cmd.HcaVA, cmd.AccessFlags, pd, &b.DriverUdata)
	if err != nil {
		uobjAllocAbort(fresh, b)
		return false, err
	}
	if newMR == nil {
		reregInPlace(b.Trace(), mr, cmd, pd)
		defer uobjAllocAbort(fresh, b)
	} else {
		newMR.Device, newMR.PD, newMR.Type = pd.Device, pd, core.MRTypeUser
		pd.Usecnt.Count(b.Trace(), "ib_pd", 1)
		fresh.HW = newMR
		uobject.Assign(o, fresh, b)
		uobject.AllocCommit(fresh, b)
		uobjPutDestroy(o, b)
		replaced, mr = true, newMR
	}
	resp := spec.ReregMRResp{Lkey: mr.LKey, Rkey: mr.RKey}
	return replaced, response(b, &resp)
}

// reregInPlace notes what the driver changed in the region itself.
func reregInPlace(t *trace.Task, mr *core.MR, cmd *spec.ReregMR, pd *core.PD) {
	if cmd.Flags&spec.IB_MR_REREG_PD != 0 {
		pd.Usecnt.Count(t, "ib_pd", 1)
		mr.PD.Usecnt.Count(t, "ib_pd", -1)
		mr.PD = pd
	}
	if cmd.Flags&spec.IB_MR_REREG_TRANS != 0 {
		mr.IOVA, mr.Length = cmd.HcaVA, cmd.Length
	}
}

// uverbsDeregMR ends a region. It models ib_uverbs_dereg_mr in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsDeregMR(b *kernel.Bundle) error {
	var cmd spec.DeregMR
	if err := request(b, &cmd); err != nil {
		return err
	}
	return uobjPerformDestroy(b, spec.UVERBS_OBJECT_MR, cmd.MRHandle)
}
