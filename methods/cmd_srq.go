package methods

import (
	"math"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The write() commands of UVERBS_OBJECT_SRQ.

// srqUses are the objects that the creation of an SRQ holds, nil where it
// holds none.
type srqUses struct {
	xrcd, cq, pd *uobject.Object
}

// createXSRQ makes a shared receive queue for both its commands. It models
// __uverbs_create_xsrq in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-srq/xrcd, those of the lookups, srq/no-memory, and those of the
// driver.
func createXSRQ(b *kernel.Bundle, cmd *spec.CreateXSRQ) error {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "__uverbs_create_xsrq").Leave()
	o, _, err := uobjAlloc(b, spec.UVERBS_OBJECT_SRQ)
	if err != nil {
		return err
	}
	u := o.Ext.(*usrq)
	var uses srqUses
	attr := core.SRQInitAttr{
		Attr:         core.SRQAttr{MaxWR: cmd.MaxWR, MaxSGE: cmd.MaxSGE, Limit: cmd.SRQLimit},
		Type:         uint8(min(cmd.SRQType, math.MaxUint8)),
		EventHandler: srqEventHandler,
	}
	srq, err := newSRQ(b, o, cmd, &attr, &uses)
	if err != nil {
		uobjPutRead(uses.pd, b)
		uobjPutRead(uses.cq, b)
		if uses.xrcd != nil {
			u.uxrcd.refcnt.Add(-1)
			uobjPutRead(uses.xrcd, b)
		}
		uobjAllocAbort(o, b)
		return err
	}
	o.HW = srq
	u.SetEventFile(b.Trace(), defaultAsyncEvent(b))
	var resp spec.CreateSRQResp
	if cmd.SRQType == spec.IB_UVERBS_SRQT_XRC {
		resp.SRQN = srq.SRQNum
	}
	uobjPutRead(uses.xrcd, b)
	uobjPutRead(uses.cq, b)
	uobjPutRead(uses.pd, b)
	uobjFinalizeUobjCreate(o, b)

	resp.SRQHandle = uint32(o.ID())
	resp.MaxWR = attr.Attr.MaxWR
	resp.MaxSGE = attr.Attr.MaxSGE
	return response(b, &resp)
}

// newSRQ is the part of createXSRQ that makes the queue itself. Whatever it
// has looked up is in uses, also after an error.
func newSRQ(b *kernel.Bundle, o *uobject.Object, cmd *spec.CreateXSRQ, attr *core.SRQInitAttr, uses *srqUses) (*core.SRQ, error) {
	if cmd.SRQType == spec.IB_UVERBS_SRQT_TM {
		attr.MaxNumTags = cmd.MaxNumTags
	}
	var err error
	if cmd.SRQType == spec.IB_UVERBS_SRQT_XRC {
		attr.XRCD, uses.xrcd, err = uobjGetObjRead[*core.XRCD](b, spec.UVERBS_OBJECT_XRCD, cmd.XRCDHandle)
		if err != nil {
			return nil, rule.CmdSRQXRCD
		}
		u := o.Ext.(*usrq)
		u.uxrcd = uses.xrcd.Ext.(*uxrcd)
		u.uxrcd.refcnt.Add(1)
	}
	if core.SRQHasCQ(cmd.SRQType) {
		attr.CQ, uses.cq, err = uobjGetObjRead[*core.CQ](b, spec.UVERBS_OBJECT_CQ, cmd.CQHandle)
		if err != nil {
			return nil, err
		}
	}
	pd, pdObject, err := uobjGetObjRead[*core.PD](b, spec.UVERBS_OBJECT_PD, cmd.PDHandle)
	if err != nil {
		return nil, err
	}
	uses.pd = pdObject
	o.UserHandle.Store(cmd.UserHandle)
	return core.CreateSRQUser(pd, attr, o, &b.DriverUdata)
}

// uverbsCreateSRQ models ib_uverbs_create_srq in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsCreateSRQ(b *kernel.Bundle) error {
	var cmd spec.CreateSRQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	return createXSRQ(b, &spec.CreateXSRQ{
		UserHandle: cmd.UserHandle,
		SRQType:    spec.IB_UVERBS_SRQT_BASIC,
		PDHandle:   cmd.PDHandle,
		MaxWR:      cmd.MaxWR,
		MaxSGE:     cmd.MaxSGE,
		SRQLimit:   cmd.SRQLimit,
	})
}

// uverbsCreateXSRQ is uverbsCreateSRQ of any type; the driver judges it. It
// models ib_uverbs_create_xsrq in drivers/infiniband/core/uverbs_cmd.c.
func uverbsCreateXSRQ(b *kernel.Bundle) error {
	var cmd spec.CreateXSRQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	return createXSRQ(b, &cmd)
}

// uverbsModifySRQ changes a queue's size or limit. It models
// ib_uverbs_modify_srq in drivers/infiniband/core/uverbs_cmd.c.
func uverbsModifySRQ(b *kernel.Bundle) error {
	var cmd spec.ModifySRQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	srq, o, err := uobjGetObjRead[*core.SRQ](b, spec.UVERBS_OBJECT_SRQ, cmd.SRQHandle)
	if err != nil {
		return err
	}
	attr := core.SRQAttr{MaxWR: cmd.MaxWR, Limit: cmd.SRQLimit}
	err = srq.Device.Ops.ModifySRQ(srq, &attr, cmd.AttrMask, &b.DriverUdata)
	uobjPutRead(o, b)
	return err
}

// uverbsQuerySRQ tells a queue's size and limit. It models ib_uverbs_query_srq
// in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: those of the lookup, srq/no-query, and those of the driver.
func uverbsQuerySRQ(b *kernel.Bundle) error {
	var cmd spec.QuerySRQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	srq, o, err := uobjGetObjRead[*core.SRQ](b, spec.UVERBS_OBJECT_SRQ, cmd.SRQHandle)
	if err != nil {
		return err
	}
	var attr core.SRQAttr
	err = core.QuerySRQ(b.Task(), srq, &attr)
	uobjPutRead(o, b)
	if err != nil {
		return err
	}
	resp := spec.QuerySRQResp{MaxWR: attr.MaxWR, MaxSGE: attr.MaxSGE, SRQLimit: attr.Limit}
	return response(b, &resp)
}

// uverbsDestroySRQ destroys a queue and tells how many of its events the user
// has read. It models ib_uverbs_destroy_srq in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsDestroySRQ(b *kernel.Bundle) error {
	var cmd spec.DestroySRQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	o, err := uobjGetDestroy(b, spec.UVERBS_OBJECT_SRQ, cmd.SRQHandle)
	if err != nil {
		return err
	}
	resp := spec.DestroySRQResp{EventsReported: o.Ext.(*usrq).EventsReported}
	uobjPutDestroy(o, b)
	return response(b, &resp)
}
