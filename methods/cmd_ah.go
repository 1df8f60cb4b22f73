package methods

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
)

// The write() commands of UVERBS_OBJECT_AH.

// uverbsCreateAH makes an address handle. It models ib_uverbs_create_ah in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-ah/port, those of the lookup of the PD, and those of the
// resolution of the address and of the driver.
func uverbsCreateAH(b *kernel.Bundle) error {
	var cmd spec.CreateAH
	if err := request(b, &cmd); err != nil {
		return err
	}
	o, dev, err := uobjAlloc(b, spec.UVERBS_OBJECT_AH)
	if err != nil {
		return err
	}
	ah, err := createAH(b, dev, &cmd)
	if err != nil {
		uobjAllocAbort(o, b)
		return err
	}
	o.UserHandle.Store(cmd.UserHandle)
	o.HW = ah
	uobjFinalizeUobjCreate(o, b)
	resp := spec.CreateAHResp{AHHandle: uint32(o.ID())}
	return response(b, &resp)
}

// createAH is the part of uverbsCreateAH that makes the handle itself.
func createAH(b *kernel.Bundle, dev *core.Device, cmd *spec.CreateAH) (*core.AH, error) {
	if !dev.IsPort(uint32(cmd.Attr.PortNum)) {
		return nil, rule.CmdAHPort
	}
	pd, pdObject, err := uobjGetObjRead[*core.PD](b, spec.UVERBS_OBJECT_PD, cmd.PDHandle)
	if err != nil {
		return nil, err
	}
	defer uobjPutRead(pdObject, b)
	attr := core.AHAttr{
		DLID:        uint32(cmd.Attr.DLID),
		SL:          cmd.Attr.Sl,
		SrcPathBits: cmd.Attr.SrcPathBits,
		StaticRate:  cmd.Attr.StaticRate,
		PortNum:     uint32(cmd.Attr.PortNum),
	}
	if cmd.Attr.IsGlobal != 0 {
		grh := &cmd.Attr.GRH
		attr.IsGlobal = true
		attr.DGID = grh.DGID
		attr.FlowLabel = grh.FlowLabel
		attr.SGIDIndex = grh.SGIDIndex
		attr.HopLimit = grh.HopLimit
		attr.TrafficClass = grh.TrafficClass
	}
	return core.CreateUserAH(pd, &attr, &b.DriverUdata)
}

// uverbsDestroyAH ends an address handle. It models ib_uverbs_destroy_ah in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsDestroyAH(b *kernel.Bundle) error {
	var cmd spec.DestroyAH
	if err := request(b, &cmd); err != nil {
		return err
	}
	return uobjPerformDestroy(b, spec.UVERBS_OBJECT_AH, cmd.AHHandle)
}
