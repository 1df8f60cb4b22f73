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

// objectSRQ is UVERBS_OBJECT_SRQ
// (drivers/infiniband/core/uverbs_std_types_srq.c).
var objectSRQ = object{
	id: spec.UVERBS_OBJECT_SRQ,
	typ: &uobject.TypeAttrs{
		New:     func() any { return new(usrq) },
		Destroy: freeSRQ,
	},
	methods: map[uint16]kernel.Handler{
		spec.UVERBS_METHOD_SRQ_CREATE:  srqCreate,
		spec.UVERBS_METHOD_SRQ_DESTROY: srqDestroy,
	},
}

// freeSRQ destroys a shared receive queue and drops its unread events. It
// models uverbs_free_srq.
//
// Errors: srq/busy, and those of the driver.
func freeSRQ(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "uverbs_free_srq").Leave()
	srq, u := o.HW.(*core.SRQ), o.Ext.(*usrq)
	if err := core.DestroySRQUser(srq, core.UdataOf(attrs)); err != nil {
		return err
	}
	if srq.Type == spec.IB_UVERBS_SRQT_XRC {
		u.uxrcd.refcnt.Add(-1)
	}
	u.UEvent.Release(t)
	return nil
}

// srqCreate makes a shared receive queue. It is the handler of
// UVERBS_METHOD_SRQ_CREATE.
//
// Errors: const/range, attr/absent, srq/xrcd-gone, srq/type, srq/no-memory,
// attr/output-fault, attr/flag-fault, and those of the driver.
func srqCreate(b *kernel.Bundle) error {
	o := mustObject(b, spec.UVERBS_ATTR_CREATE_SRQ_HANDLE)
	pd := mustHW[*core.PD](b, spec.UVERBS_ATTR_CREATE_SRQ_PD_HANDLE)
	attr := core.SRQInitAttr{EventHandler: srqEventHandler}
	var err error
	if attr.Attr.MaxSGE, err = b.Uint32(spec.UVERBS_ATTR_CREATE_SRQ_MAX_SGE); err != nil {
		return err
	}
	if attr.Attr.MaxWR, err = b.Uint32(spec.UVERBS_ATTR_CREATE_SRQ_MAX_WR); err != nil {
		return err
	}
	if attr.Attr.Limit, err = b.Uint32(spec.UVERBS_ATTR_CREATE_SRQ_LIMIT); err != nil {
		return err
	}
	userHandle, err := b.Uint64(spec.UVERBS_ATTR_CREATE_SRQ_USER_HANDLE)
	if err != nil {
		return err
	}
	srqType, err := b.Const(spec.UVERBS_ATTR_CREATE_SRQ_TYPE, math.MaxUint32)
	if err != nil {
		return err
	}
	attr.Type = uint8(srqType)
	if core.SRQHasCQ(uint32(srqType)) {
		if attr.CQ, err = attrHW[*core.CQ](b, spec.UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE); err != nil {
			return err
		}
	}
	u := o.Ext.(*usrq)
	switch srqType {
	case spec.IB_UVERBS_SRQT_XRC:
		xrcdUobj, err := b.Object(spec.UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE)
		if err != nil {
			return err
		}
		xrcd, ok := xrcdUobj.HW.(*core.XRCD)
		if !ok {
			return rule.SRQXRCDGone
		}
		attr.XRCD = xrcd
		u.uxrcd = xrcdUobj.Ext.(*uxrcd)
		u.uxrcd.refcnt.Add(1)
	case spec.IB_UVERBS_SRQT_TM:
		if attr.MaxNumTags, err = b.Uint32(spec.UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS); err != nil {
			return err
		}
	case spec.IB_UVERBS_SRQT_BASIC:
	default:
		return rule.SRQType
	}
	return makeSRQ(b, o, pd, &attr, userHandle)
}

// makeSRQ is srqCreate from the event file on.
func makeSRQ(b *kernel.Bundle, o *uobject.Object, pd *core.PD, attr *core.SRQInitAttr, userHandle uint64) error {
	u := o.Ext.(*usrq)
	u.SetEventFile(b.Trace(), b.AsyncEvent(spec.UVERBS_ATTR_CREATE_SRQ_EVENT_FD))
	o.UserHandle.Store(userHandle)
	srq, err := core.CreateSRQUser(pd, attr, o, &b.DriverUdata)
	if err != nil {
		putEventFile(b.Trace(), &u.UEvent)
		if u.uxrcd != nil {
			u.uxrcd.refcnt.Add(-1)
		}
		return err
	}
	o.HW = srq
	b.FinalizeCreate(spec.UVERBS_ATTR_CREATE_SRQ_HANDLE)
	if err := b.CopyToUint32(spec.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, attr.Attr.MaxWR); err != nil {
		return err
	}
	if err := b.CopyToUint32(spec.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, attr.Attr.MaxSGE); err != nil {
		return err
	}
	if attr.Type == spec.IB_UVERBS_SRQT_XRC {
		return b.CopyToUint32(spec.UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, srq.SRQNum)
	}
	return nil
}

// srqDestroy tells how many events of a queue, destroyed just before, the user
// has read. It is the handler of UVERBS_METHOD_SRQ_DESTROY.
//
// Errors: attr/output-fault, attr/flag-fault.
func srqDestroy(b *kernel.Bundle) error {
	u := mustObject(b, spec.UVERBS_ATTR_DESTROY_SRQ_HANDLE).Ext.(*usrq)
	return b.CopyToUint32(spec.UVERBS_ATTR_DESTROY_SRQ_RESP, u.EventsReported)
}
