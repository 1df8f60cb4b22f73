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

// objectWQ is UVERBS_OBJECT_WQ
// (drivers/infiniband/core/uverbs_std_types_wq.c).
var objectWQ = object{
	id: spec.UVERBS_OBJECT_WQ,
	typ: &uobject.TypeAttrs{
		New:     func() any { return new(uwq) },
		Destroy: freeWQ,
	},
	methods: map[uint16]kernel.Handler{
		spec.UVERBS_METHOD_WQ_CREATE:  wqCreate,
		spec.UVERBS_METHOD_WQ_DESTROY: wqDestroy,
	},
}

// freeWQ destroys a work queue and drops its unread events. It models
// uverbs_free_wq.
//
// Errors: wq/busy, and those of the driver.
func freeWQ(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "uverbs_free_wq").Leave()
	if err := core.DestroyWQUser(o.HW.(*core.WQ), core.UdataOf(attrs)); err != nil {
		return err
	}
	o.Ext.(*uwq).UEvent.Release(t)
	return nil
}

// wqCreate makes a receive work queue. Its completion queue is optional for
// the parser only: without one the kernel hands the driver an error pointer,
// and falls over that itself if the driver did not. Here the driver gets nil,
// and then the call ends. It is the handler of UVERBS_METHOD_WQ_CREATE.
//
// Errors: flags/…, const/range, wq/type, attr/absent, attr/output-fault,
// attr/flag-fault, and those of the driver.
func wqCreate(b *kernel.Bundle) error {
	t := b.Trace()
	o := mustObject(b, spec.UVERBS_ATTR_CREATE_WQ_HANDLE)
	pd := mustHW[*core.PD](b, spec.UVERBS_ATTR_CREATE_WQ_PD_HANDLE)
	cq, noCQ := attrHW[*core.CQ](b, spec.UVERBS_ATTR_CREATE_WQ_CQ_HANDLE)
	attr := core.WQInitAttr{CQ: cq, EventHandler: wqEventHandler}
	var err error
	attr.CreateFlags, err = b.Flags32(spec.UVERBS_ATTR_CREATE_WQ_FLAGS,
		spec.IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING|
			spec.IB_UVERBS_WQ_FLAGS_SCATTER_FCS|
			spec.IB_UVERBS_WQ_FLAGS_DELAY_DROP|
			spec.IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING)
	if err != nil {
		return err
	}
	if attr.MaxSGE, err = b.Uint32(spec.UVERBS_ATTR_CREATE_WQ_MAX_SGE); err != nil {
		return err
	}
	if attr.MaxWR, err = b.Uint32(spec.UVERBS_ATTR_CREATE_WQ_MAX_WR); err != nil {
		return err
	}
	userHandle, err := b.Uint64(spec.UVERBS_ATTR_CREATE_WQ_USER_HANDLE)
	if err != nil {
		return err
	}
	wqType, err := b.Const(spec.UVERBS_ATTR_CREATE_WQ_TYPE, math.MaxUint32)
	if err != nil {
		return err
	}
	if wqType != wqtRQ {
		return rule.WQType
	}
	attr.Type = uint8(wqType)

	u := o.Ext.(*uwq)
	u.SetEventFile(b.Trace(), b.AsyncEvent(spec.UVERBS_ATTR_CREATE_WQ_EVENT_FD))
	o.UserHandle.Store(userHandle)
	wq, err := pd.Device.Ops.CreateWQ(pd, &attr, &b.DriverUdata)
	if err != nil {
		putEventFile(t, &u.UEvent)
		return err
	}
	wq.Type, wq.CQ, wq.PD, wq.Device, wq.Object = attr.Type, cq, pd, pd.Device, o
	if noCQ != nil {
		t.Warn("ib_uverbs_handler_UVERBS_METHOD_WQ_CREATE")
		pd.Device.Ops.DestroyWQ(wq, getClearedUdata(b)) // the call has failed already
		putEventFile(t, &u.UEvent)
		return noCQ
	}
	o.HW = wq
	wq.Usecnt.Store(0)
	pd.Usecnt.Count(t, "ib_pd", 1)
	cq.Usecnt.Count(t, "ib_cq", 1)
	b.FinalizeCreate(spec.UVERBS_ATTR_CREATE_WQ_HANDLE)
	if err := b.CopyToUint32(spec.UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, attr.MaxWR); err != nil {
		return err
	}
	if err := b.CopyToUint32(spec.UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, attr.MaxSGE); err != nil {
		return err
	}
	return b.CopyToUint32(spec.UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, wq.WQNum)
}

// wqtRQ is IB_WQT_RQ of enum ib_wq_type (include/rdma/ib_verbs.h), the only
// type of a work queue.
const wqtRQ = 0

// wqDestroy tells how many events of a queue, destroyed just before, the user
// has read. It is the handler of UVERBS_METHOD_WQ_DESTROY.
//
// Errors: attr/output-fault, attr/flag-fault.
func wqDestroy(b *kernel.Bundle) error {
	u := mustObject(b, spec.UVERBS_ATTR_DESTROY_WQ_HANDLE).Ext.(*uwq)
	return b.CopyToUint32(spec.UVERBS_ATTR_DESTROY_WQ_RESP, u.EventsReported)
}
