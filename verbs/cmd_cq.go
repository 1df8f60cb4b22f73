package verbs

import "uverbsim/spec"

// CQ is a completion queue as the core of the library knows it: struct ibv_cq.
type CQ struct {
	Context *Context
	Channel *CompChannel // nil for a queue without events
	Handle  uint32
	CQE     uint32 // entries that it holds: the number asked for, or more

	Driver any    // what the driver's library keeps
	Event  func() // the driver's library's, called for every event; may be nil

	userHandle uint64

	compEvents, asyncEvents acks
}

// CQInitAttr says what queue is wanted: struct ibv_cq_init_attr_ex.
type CQInitAttr struct {
	CQE        uint32
	Channel    *CompChannel // nil for a queue without events
	CompVector uint32
	Flags      uint32 // IB_UVERBS_CQ_FLAGS_*
}

// CmdCreateCQ creates a completion queue; uhw is the driver's library's.
// tsIgnored says that the device does without the time stamps that Flags may
// ask for when it was created by the plain write() command. It models
// ibv_cmd_create_cq_ex in libibverbs/cmd_cq.c with verbs_init_cq.
//
// Errors: those of the kernel, and ErrNoFallback.
func (c *Context) CmdCreateCQ(cq *CQ, attr *CQInitAttr, uhw UHW, tsIgnored bool) error {
	f := c.Frame()
	defer f.Leave()
	*cq = CQ{Context: c, Channel: attr.Channel, Driver: cq.Driver, Event: cq.Event}
	cq.compEvents.init()
	cq.asyncEvents.init()
	cq.userHandle = c.addElement(cq)
	if err := c.icmdCreateCQ(f, cq, attr, uhw, tsIgnored); err != nil {
		c.delElement(cq.userHandle)
		return err
	}
	if attr.Channel != nil {
		attr.Channel.refcnt.Add(1)
	}
	return nil
}

// icmdCreateCQ models ibv_icmd_create_cq in libibverbs/cmd_cq.c.
func (c *Context) icmdCreateCQ(f *Frame, cq *CQ, attr *CQInitAttr, uhw UHW, tsIgnored bool) error {
	link := f.compat(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE,
		exHdrSize+spec.ExCreateCQSize, spec.ExCreateCQRespSize, uhw)
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, 8, link)
	handle := cmd.FillAttrOutObj(spec.UVERBS_ATTR_CREATE_CQ_HANDLE)
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cq.CQE)
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_CREATE_CQ_CQE, attr.CQE)
	cmd.FillAttrInUint64(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, cq.userHandle)
	channel := -1
	if attr.Channel != nil {
		channel = attr.Channel.FD
	}
	cmd.FillAttrInFD(spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, channel)
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, attr.CompVector)
	AttrOptional(cmd.FillAttrInFD(spec.UVERBS_ATTR_CREATE_CQ_EVENT_FD, c.AsyncFD))
	if attr.Flags != 0 {
		if attr.Flags&^spec.IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION != 0 || !tsIgnored {
			cmd.FallbackRequireEx()
		}
		cmd.FillAttrInUint32(spec.UVERBS_ATTR_CREATE_CQ_FLAGS, attr.Flags)
	}

	how, err := c.ExecuteIoctlFallback(OpCreateCQ, cmd)
	switch how {
	case Success:
		cq.Handle = ReadAttrObj(spec.UVERBS_ATTR_CREATE_CQ_HANDLE, handle)
		return nil
	case TryWrite:
		req := spec.CreateCQ{UserHandle: cq.userHandle, CQE: attr.CQE, CompVector: attr.CompVector, CompChannel: int32(channel)}
		var resp spec.CreateCQResp
		w := writeCmd{spec.IB_USER_VERBS_CMD_CREATE_CQ, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
		err = c.executeLegacy(f, w, link)
		cq.Handle, cq.CQE = resp.CQHandle, resp.CQE
	case TryWriteEx:
		req := spec.ExCreateCQ{UserHandle: cq.userHandle, CQE: attr.CQE, CompVector: attr.CompVector,
			CompChannel: int32(channel), Flags: attr.Flags}
		var resp spec.ExCreateCQResp
		command := uint32(spec.IB_USER_VERBS_CMD_FLAG_EXTENDED | spec.IB_USER_VERBS_EX_CMD_CREATE_CQ)
		err = c.executeLegacy(f, writeCmd{command, spec.Bytes(&req), nil, spec.Bytes(&resp)}, link)
		cq.Handle, cq.CQE = resp.Base.CQHandle, resp.Base.CQE
	}
	return err
}

// CmdResizeCQ models ibv_cmd_resize_cq in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (cq *CQ) CmdResizeCQ(cqe uint32, uhw UHW) error {
	req := spec.ResizeCQ{CQHandle: cq.Handle, CQE: cqe}
	var resp spec.ResizeCQResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_RESIZE_CQ, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := cq.Context.executeCmdWrite(w, uhw); err != nil {
		return err
	}
	cq.CQE = resp.CQE
	return nil
}

// AckEvents says that the program is done with so many events that it got for
// the queue. It models ibv_ack_cq_events in libibverbs/verbs.c.
func (cq *CQ) AckEvents(n uint32) { cq.compEvents.add(n) }

// CmdDestroyCQ destroys the queue, and returns when the program has acknowledged
// all the events that it has read. It models ibv_cmd_destroy_cq in
// libibverbs/cmd_cq.c with ibv_destroy_cq in libibverbs/verbs.c.
//
// Errors: those of the kernel.
func (cq *CQ) CmdDestroyCQ() error {
	c := cq.Context
	f := c.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY, 2, nil)
	var resp spec.DestroyCQResp
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_DESTROY_CQ_RESP, &resp)
	cmd.FillAttrInObj(spec.UVERBS_ATTR_DESTROY_CQ_HANDLE, cq.Handle)
	how, err := c.ExecuteIoctlFallback(OpDestroyCQ, cmd)
	if how == TryWrite {
		req := spec.DestroyCQ{CQHandle: cq.Handle}
		w := writeCmd{spec.IB_USER_VERBS_CMD_DESTROY_CQ, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
		err = c.executeLegacy(f, w, nil)
	}
	over, err := c.destroyErr(err)
	if err != nil {
		return err
	}
	if !over {
		cq.compEvents.wait(resp.CompEventsReported)
		cq.asyncEvents.wait(resp.AsyncEventsReported)
	}
	c.delElement(cq.userHandle)
	if cq.Channel != nil {
		cq.Channel.refcnt.Add(-1)
	}
	return nil
}
