package methods

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// objectCQ is UVERBS_OBJECT_CQ
// (drivers/infiniband/core/uverbs_std_types_cq.c).
var objectCQ = object{
	id: spec.UVERBS_OBJECT_CQ,
	typ: &uobject.TypeAttrs{
		New:     func() any { return new(kernel.UCQ) },
		Destroy: freeCQ,
	},
	methods: map[uint16]kernel.Handler{
		spec.UVERBS_METHOD_CQ_CREATE:  cqCreate,
		spec.UVERBS_METHOD_CQ_DESTROY: cqDestroy,
	},
}

// freeCQ destroys a completion queue and drops its unread events. It models
// uverbs_free_cq.
//
// Errors: cq/busy, and those of the driver.
func freeCQ(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "uverbs_free_cq").Leave()
	cq := o.HW.(*core.CQ)
	channel, _ := cq.Context.(*kernel.CompletionEventFile)
	if err := core.DestroyCQUser(cq, core.UdataOf(attrs)); err != nil {
		return err
	}
	kernel.ReleaseUCQ(t, channel, o.Ext.(*kernel.UCQ))
	return nil
}

// cqCreate makes a completion queue. Its handle was written back before, and
// stays written whatever happens here. It is the handler of
// UVERBS_METHOD_CQ_CREATE.
//
// Errors: cq/unsupported, flags/…, cq/comp-vector, cq/no-memory,
// attr/output-fault, attr/flag-fault, and those of the driver.
func cqCreate(b *kernel.Bundle) error {
	o := mustObject(b, spec.UVERBS_ATTR_CREATE_CQ_HANDLE)
	dev := b.Ucontext().Device
	if dev.Ops.CreateCQ == nil || dev.Ops.DestroyCQ == nil {
		return rule.CQUnsupported
	}
	var attr core.CQInitAttr
	var err error
	if attr.CompVector, err = b.Uint32(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR); err != nil {
		return err
	}
	if attr.CQE, err = b.Uint32(spec.UVERBS_ATTR_CREATE_CQ_CQE); err != nil {
		return err
	}
	userHandle, err := b.Uint64(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE)
	if err != nil {
		return err
	}
	attr.Flags, err = b.Flags32(spec.UVERBS_ATTR_CREATE_CQ_FLAGS,
		spec.IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION|spec.IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)
	if err != nil {
		return err
	}

	t := b.Trace()
	cq := &core.CQ{Device: dev, Object: o, CompHandler: kernel.CompHandler, EventHandler: kernel.CQEventHandler}
	channel, err := b.Object(spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)
	if err == nil {
		channel.Get(t)
		cq.Context = channel.Ext.(*kernel.CompletionEventFile)
	}
	u := o.Ext.(*kernel.UCQ)
	u.SetEventFile(t, b.AsyncEvent(spec.UVERBS_ATTR_CREATE_CQ_EVENT_FD))
	if err := makeCQ(b, cq, &attr); err != nil {
		putEventFile(t, &u.UEvent)
		if channel != nil {
			channel.Put(t)
		}
		return err
	}
	o.HW = cq
	o.UserHandle.Store(userHandle)
	b.FinalizeCreate(spec.UVERBS_ATTR_CREATE_CQ_HANDLE)
	return b.CopyToUint32(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, cq.CQE.Load())
}

// makeCQ is the part of the handler after which there is a queue.
func makeCQ(b *kernel.Bundle, cq *core.CQ, attr *core.CQInitAttr) error {
	if attr.CompVector >= b.File().Device.NumCompVectors {
		return rule.CQCompVector
	}
	if b.Trace().Fail(trace.Alloc, "ib_cq") {
		return rule.CQNoMemory
	}
	return cq.Device.Ops.CreateCQ(cq, attr, b)
}

// cqDestroy tells how many events of a queue, destroyed just before, the user
// has read. It is the handler of UVERBS_METHOD_CQ_DESTROY.
//
// Errors: attr/output-fault, attr/flag-fault.
func cqDestroy(b *kernel.Bundle) error {
	u := mustObject(b, spec.UVERBS_ATTR_DESTROY_CQ_HANDLE).Ext.(*kernel.UCQ)
	resp := spec.DestroyCQResp{CompEventsReported: u.CompEventsReported, AsyncEventsReported: u.EventsReported}
	raw := b.Scratch(spec.DestroyCQRespSize)
	copy(raw, spec.Bytes(&resp))
	return b.CopyTo(spec.UVERBS_ATTR_DESTROY_CQ_RESP, raw)
}
