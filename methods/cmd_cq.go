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

// The write() commands of UVERBS_OBJECT_CQ.

// createCQ makes a completion queue for both its commands, which take the
// same answer: the plain one has no room for its last members. It models
// create_cq in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-cq/comp-vector, cmd-cq/no-memory, those of the lookup of the
// channel, and those of the driver.
func createCQ(b *kernel.Bundle, cmd *spec.ExCreateCQ) error {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "create_cq").Leave()
	if cmd.CompVector >= b.File().Device.NumCompVectors {
		return rule.CmdCQCompVector
	}
	o, dev, err := uobjAlloc(b, spec.UVERBS_OBJECT_CQ)
	if err != nil {
		return err
	}
	var channel *kernel.CompletionEventFile
	if cmd.CompChannel >= 0 {
		if channel, err = lookupCompFile(b, cmd.CompChannel); err != nil {
			uobjAllocAbort(o, b)
			return err
		}
	}
	o.UserHandle.Store(cmd.UserHandle)
	u := o.Ext.(*kernel.UCQ)
	cq, err := newCQ(b, dev, o, cmd, channel)
	if err != nil {
		if channel != nil {
			kernel.ReleaseUCQ(t, channel, u)
		}
		uobjAllocAbort(o, b)
		return err
	}
	o.HW = cq
	u.SetEventFile(b.Trace(), defaultAsyncEvent(b))
	uobjFinalizeUobjCreate(o, b)

	var resp spec.ExCreateCQResp
	resp.Base.CQHandle = uint32(o.ID())
	resp.Base.CQE = cq.CQE.Load()
	resp.ResponseLength = responseLength(b, &resp)
	return response(b, &resp)
}

// newCQ is the part of createCQ that makes the queue itself.
func newCQ(b *kernel.Bundle, dev *core.Device, o *uobject.Object, cmd *spec.ExCreateCQ, channel *kernel.CompletionEventFile) (*core.CQ, error) {
	if b.Trace().Fail(trace.Alloc, "ib_cq") {
		return nil, rule.CmdCQNoMemory
	}
	cq := &core.CQ{
		Device:       dev,
		Object:       o,
		CompHandler:  kernel.CompHandler,
		EventHandler: kernel.CQEventHandler,
	}
	if channel != nil {
		cq.Context = channel
	}
	attr := core.CQInitAttr{CQE: cmd.CQE, CompVector: cmd.CompVector, Flags: cmd.Flags}
	if err := dev.Ops.CreateCQ(cq, &attr, b); err != nil {
		return nil, err
	}
	return cq, nil
}

// uverbsCreateCQ models ib_uverbs_create_cq in
// drivers/infiniband/core/uverbs_cmd.c. The request's reserved member is not
// looked at.
func uverbsCreateCQ(b *kernel.Bundle) error {
	var cmd spec.CreateCQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	return createCQ(b, &spec.ExCreateCQ{
		UserHandle:  cmd.UserHandle,
		CQE:         cmd.CQE,
		CompVector:  cmd.CompVector,
		CompChannel: cmd.CompChannel,
	})
}

// uverbsExCreateCQ is uverbsCreateCQ with flags, all of which go to the
// driver, known or not. It models ib_uverbs_ex_create_cq in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-cq/ex-comp-mask, cmd-cq/ex-reserved, and those of createCQ.
func uverbsExCreateCQ(b *kernel.Bundle) error {
	var cmd spec.ExCreateCQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.CompMask != 0 {
		return rule.CmdCQExCompMask
	}
	if cmd.Reserved != 0 {
		return rule.CmdCQExReserved
	}
	return createCQ(b, &cmd)
}

// uverbsResizeCQ changes how many entries a queue has. It models
// ib_uverbs_resize_cq in drivers/infiniband/core/uverbs_cmd.c.
func uverbsResizeCQ(b *kernel.Bundle) error {
	var cmd spec.ResizeCQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	cq, o, err := uobjGetObjRead[*core.CQ](b, spec.UVERBS_OBJECT_CQ, cmd.CQHandle)
	if err != nil {
		return err
	}
	defer uobjPutRead(o, b)
	if err := cq.Device.Ops.ResizeCQ(cq, int32(cmd.CQE), &b.DriverUdata); err != nil {
		return err
	}
	resp := spec.ResizeCQResp{CQE: cq.CQE.Load()}
	return response(b, &resp)
}

// copyWCToUser writes one completion to the user. It models copy_wc_to_user in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-cq/poll-wc-fault.
func copyWCToUser(b *kernel.Bundle, dest copyuser.Addr, wc *core.WC) error {
	t := b.Trace()
	defer t.EnterInlined(trace.Uverbs, "copy_wc_to_user").Leave()
	tmp := spec.WC{
		WRID:         wc.WRID,
		Status:       wc.Status,
		Opcode:       wc.Opcode,
		VendorErr:    wc.VendorErr,
		ByteLen:      wc.ByteLen,
		QPNum:        wc.QPNum,
		SrcQP:        wc.SrcQP,
		WCFlags:      wc.WCFlags,
		PkeyIndex:    wc.PkeyIndex,
		Slid:         uint16(wc.SLID),
		Sl:           wc.SL,
		DLIDPathBits: wc.DLIDBits,
		PortNum:      wc.PortNum,
	}
	copy(spec.Bytes(&tmp.Ex), wc.Imm[:])
	raw := b.Scratch(spec.WCSize)
	copy(raw, spec.Bytes(&tmp))
	if !copyuser.CopyToUser(t, b.Task().Mem, dest, raw) {
		return rule.CmdCQPollWCFault
	}
	return nil
}

// uverbsPollCQ takes completions out of a queue. They are written behind the
// response, whose size the user is trusted with; one that cannot be written is
// lost, and so is the count of those before it. It models ib_uverbs_poll_cq in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-cq/poll-wc-fault, cmd-cq/poll-fault, attr/flag-fault, those of
// the lookup, and those of the driver.
func uverbsPollCQ(b *kernel.Bundle) error {
	var cmd spec.PollCQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	cq, o, err := uobjGetObjRead[*core.CQ](b, spec.UVERBS_OBJECT_CQ, cmd.CQHandle)
	if err != nil {
		return err
	}
	defer uobjPutRead(o, b)
	header := b.UCore.Out
	data := header + spec.PollCQRespSize
	var resp spec.PollCQResp
	for resp.Count < cmd.Ne {
		wcs, err := cq.Device.Ops.PollCQ(b.Task(), cq, 1)
		if err != nil {
			return err
		}
		if len(wcs) == 0 {
			break
		}
		if err := copyWCToUser(b, data, &wcs[0]); err != nil {
			return err
		}
		data += spec.WCSize
		resp.Count++
	}
	raw := b.Scratch(spec.PollCQRespSize)
	copy(raw, spec.Bytes(&resp))
	if !copyuser.CopyToUser(b.Trace(), b.Task().Mem, header, raw) {
		return rule.CmdCQPollFault
	}
	if b.IsValid(spec.UVERBS_ATTR_CORE_OUT) {
		return b.OutputWritten(spec.UVERBS_ATTR_CORE_OUT)
	}
	return nil
}

// uverbsReqNotifyCQ asks for an event at the next completion. What the driver
// answers is not passed on. It models ib_uverbs_req_notify_cq in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsReqNotifyCQ(b *kernel.Bundle) error {
	var cmd spec.ReqNotifyCQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	cq, o, err := uobjGetObjRead[*core.CQ](b, spec.UVERBS_OBJECT_CQ, cmd.CQHandle)
	if err != nil {
		return err
	}
	flags := core.NotifyNextComp
	if cmd.SolicitedOnly != 0 {
		flags = core.NotifySolicited
	}
	cq.Device.Ops.ReqNotifyCQ(b.Task(), cq, flags) // as the kernel does
	uobjPutRead(o, b)
	return nil
}

// uverbsDestroyCQ destroys a queue and tells how many of its events the user
// has read. The queue is gone even if the answer cannot be written. It models
// ib_uverbs_destroy_cq in drivers/infiniband/core/uverbs_cmd.c.
func uverbsDestroyCQ(b *kernel.Bundle) error {
	var cmd spec.DestroyCQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	o, err := uobjGetDestroy(b, spec.UVERBS_OBJECT_CQ, cmd.CQHandle)
	if err != nil {
		return err
	}
	u := o.Ext.(*kernel.UCQ)
	resp := spec.DestroyCQResp{
		CompEventsReported:  u.CompEventsReported,
		AsyncEventsReported: u.EventsReported,
	}
	uobjPutDestroy(o, b)
	return response(b, &resp)
}

// uverbsExModifyCQ sets a queue's moderation. It models ib_uverbs_ex_modify_cq
// in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-cq/modify-empty, cmd-cq/modify-mask, those of the lookup,
// cq/no-moderation, and those of the driver.
func uverbsExModifyCQ(b *kernel.Bundle) error {
	var cmd spec.ExModifyCQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.AttrMask == 0 || cmd.Reserved != 0 {
		return rule.CmdCQModifyEmpty
	}
	if cmd.AttrMask > spec.IB_CQ_MODERATE {
		return rule.CmdCQModifyMask
	}
	cq, o, err := uobjGetObjRead[*core.CQ](b, spec.UVERBS_OBJECT_CQ, cmd.CQHandle)
	if err != nil {
		return err
	}
	err = core.SetCQModeration(b.Task(), cq, cmd.Attr.CQCount, cmd.Attr.CQPeriod)
	uobjPutRead(o, b)
	return err
}
