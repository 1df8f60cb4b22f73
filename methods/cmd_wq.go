package methods

import (
	"math"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// The write() commands of UVERBS_OBJECT_WQ.

// uverbsExCreateWQ makes a receive work queue. It models ib_uverbs_ex_create_wq
// in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-wq/create-comp-mask, those of the lookups, and those of the
// driver.
func uverbsExCreateWQ(b *kernel.Bundle) error {
	var cmd spec.ExCreateWQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.CompMask != 0 {
		return rule.CmdWQCreateCompMask
	}
	o, _, err := uobjAlloc(b, spec.UVERBS_OBJECT_WQ)
	if err != nil {
		return err
	}
	attr := core.WQInitAttr{
		Type:         uint8(min(cmd.WQType, math.MaxUint8)),
		MaxWR:        cmd.MaxWR,
		MaxSGE:       cmd.MaxSGE,
		CreateFlags:  cmd.CreateFlags,
		EventHandler: wqEventHandler,
	}
	wq, err := newWQ(b, o, &cmd, &attr)
	if err != nil {
		uobjAllocAbort(o, b)
		return err
	}
	uobjFinalizeUobjCreate(o, b)
	resp := spec.ExCreateWQResp{
		WQHandle: uint32(o.ID()),
		MaxWR:    attr.MaxWR,
		MaxSGE:   attr.MaxSGE,
		WQN:      wq.WQNum,
	}
	resp.ResponseLength = responseLength(b, &resp)
	return response(b, &resp)
}

// newWQ is the part of uverbsExCreateWQ that holds the PD and the CQ.
func newWQ(b *kernel.Bundle, o *uobject.Object, cmd *spec.ExCreateWQ, attr *core.WQInitAttr) (*core.WQ, error) {
	pd, pdObject, err := uobjGetObjRead[*core.PD](b, spec.UVERBS_OBJECT_PD, cmd.PDHandle)
	if err != nil {
		return nil, err
	}
	cq, cqObject, err := uobjGetObjRead[*core.CQ](b, spec.UVERBS_OBJECT_CQ, cmd.CQHandle)
	if err != nil {
		uobjPutRead(pdObject, b)
		return nil, err
	}
	attr.CQ = cq
	o.UserHandle.Store(cmd.UserHandle)
	wq, err := pd.Device.Ops.CreateWQ(pd, attr, &b.DriverUdata)
	if err != nil {
		uobjPutRead(cqObject, b)
		uobjPutRead(pdObject, b)
		return nil, err
	}
	wq.Object, o.HW = o, wq
	wq.Type, wq.CQ, wq.PD, wq.Device = attr.Type, cq, pd, pd.Device
	pd.Usecnt.Count(b.Trace(), "ib_pd", 1)
	cq.Usecnt.Count(b.Trace(), "ib_cq", 1)
	o.Ext.(*uwq).SetEventFile(b.Trace(), defaultAsyncEvent(b))
	uobjPutRead(pdObject, b)
	uobjPutRead(cqObject, b)
	return wq, nil
}

// uverbsExDestroyWQ destroys a queue and tells how many of its events the user
// has read. It models ib_uverbs_ex_destroy_wq in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-wq/destroy-comp-mask, and those of the destruction.
func uverbsExDestroyWQ(b *kernel.Bundle) error {
	var cmd spec.ExDestroyWQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.CompMask != 0 {
		return rule.CmdWQDestroyCompMask
	}
	var resp spec.ExDestroyWQResp
	resp.ResponseLength = responseLength(b, &resp)
	o, err := uobjGetDestroy(b, spec.UVERBS_OBJECT_WQ, cmd.WQHandle)
	if err != nil {
		return err
	}
	resp.EventsReported = o.Ext.(*uwq).EventsReported
	uobjPutDestroy(o, b)
	return response(b, &resp)
}

// wqAttrs are the attributes that a modify knows (enum ib_wq_attr_mask).
const wqAttrs = spec.IB_WQ_STATE | spec.IB_WQ_CUR_STATE | spec.IB_WQ_FLAGS

// uverbsExModifyWQ changes a queue. A state that is out of range leaves the
// queue locked shared for ever, so that it can no longer be destroyed but by
// closing the file, and never freed. It models ib_uverbs_ex_modify_wq in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-wq/modify-nothing, cmd-wq/modify-mask, cmd-wq/modify-cur-state,
// cmd-wq/modify-state, those of the lookup, and those of the driver.
func uverbsExModifyWQ(b *kernel.Bundle) error {
	var cmd spec.ExModifyWQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.AttrMask == 0 {
		return rule.CmdWQModifyNothing
	}
	if cmd.AttrMask > wqAttrs {
		return rule.CmdWQModifyMask
	}
	wq, o, err := uobjGetObjRead[*core.WQ](b, spec.UVERBS_OBJECT_WQ, cmd.WQHandle)
	if err != nil {
		return err
	}
	var attr core.WQAttr
	if cmd.AttrMask&spec.IB_WQ_FLAGS != 0 {
		attr.Flags, attr.FlagsMask = cmd.Flags, cmd.FlagsMask
	}
	attr.CurState = wq.State.Load()
	if cmd.AttrMask&spec.IB_WQ_CUR_STATE != 0 {
		if cmd.CurrWQState > spec.IB_WQS_ERR {
			o.Lose()
			return rule.CmdWQModifyCurState
		}
		attr.CurState = cmd.CurrWQState
	}
	attr.State = attr.CurState
	if cmd.AttrMask&spec.IB_WQ_STATE != 0 {
		if cmd.WQState > spec.IB_WQS_ERR {
			o.Lose()
			return rule.CmdWQModifyState
		}
		attr.State = cmd.WQState
	}
	err = wq.Device.Ops.ModifyWQ(wq, &attr, cmd.AttrMask, &b.DriverUdata)
	uobjPutRead(o, b)
	return err
}
