package verbs

import (
	"fmt"
	"syscall"

	"uverbsim/spec"
)

// SRQ is a shared receive queue as the core of the library knows it: struct
// ibv_srq with struct verbs_srq.
type SRQ struct {
	Context *Context
	PD      *PD
	Type    SRQType
	XRCD    *XRCD // of an XRC queue
	CQ      *CQ   // of an XRC or a tag matching queue
	Handle  uint32
	Num     uint32 // the number of an XRC queue on the device

	Driver any // what the driver's library keeps

	userHandle uint64
	events     acks
}

// SRQAttr are the attributes of a shared receive queue: struct ibv_srq_attr.
type SRQAttr struct {
	MaxWR    uint32
	MaxSGE   uint32
	SRQLimit uint32 // when fewer requests are left, an event is raised; 0 for none
}

// SRQInitAttr says what shared receive queue is wanted: struct
// ibv_srq_init_attr_ex. When the queue was created, Attr has what it can hold.
type SRQInitAttr struct {
	Attr SRQAttr
	Type SRQType
	PD   *PD
	XRCD *XRCD // of an XRC queue
	CQ   *CQ   // of an XRC or a tag matching queue

	MaxNumTags uint32 // of a tag matching queue
}

// ErrSRQParts is the error of an XRC queue without its domain or completion
// queue, and of a tag matching queue without completion queue or tags. Its errno
// is EINVAL.
var ErrSRQParts = fmt.Errorf("verbs: a shared receive queue of that type needs more objects: %w", syscall.EINVAL)

// CmdCreateSRQ creates a shared receive queue; uhw is the driver's library's. It
// models ibv_cmd_create_srq and ibv_cmd_create_srq_ex in libibverbs/cmd_srq.c.
//
// Errors: ErrSRQParts, those of the kernel, and ErrNoFallback.
func (c *Context) CmdCreateSRQ(srq *SRQ, attr *SRQInitAttr, uhw UHW) error {
	f := c.Frame()
	defer f.Leave()
	*srq = SRQ{Context: c, PD: attr.PD, Type: attr.Type, XRCD: attr.XRCD, CQ: attr.CQ, Driver: srq.Driver}
	srq.events.init()
	srq.userHandle = c.addElement(srq)
	if err := c.icmdCreateSRQ(f, srq, attr, uhw); err != nil {
		c.delElement(srq.userHandle)
		return err
	}
	return nil
}

// icmdCreateSRQ models ibv_icmd_create_srq in libibverbs/cmd_srq.c.
func (c *Context) icmdCreateSRQ(f *Frame, srq *SRQ, attr *SRQInitAttr, uhw UHW) error {
	link := f.compat(spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_CREATE,
		cmdHdrSize+spec.CreateXSRQSize, spec.CreateSRQRespSize, uhw)
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_CREATE, 13, link)
	var num uint32
	if err := attr.fillParts(cmd, &num); err != nil {
		return err
	}
	handle := cmd.FillAttrOutObj(spec.UVERBS_ATTR_CREATE_SRQ_HANDLE)
	cmd.FillAttrConstIn(spec.UVERBS_ATTR_CREATE_SRQ_TYPE, uint64(attr.Type))
	cmd.FillAttrInUint64(spec.UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, srq.userHandle)
	cmd.FillAttrInObj(spec.UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, attr.PD.Handle)
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_CREATE_SRQ_MAX_WR, attr.Attr.MaxWR)
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_CREATE_SRQ_MAX_SGE, attr.Attr.MaxSGE)
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_CREATE_SRQ_LIMIT, attr.Attr.SRQLimit)
	cmd.FillAttrInFD(spec.UVERBS_ATTR_CREATE_SRQ_EVENT_FD, c.AsyncFD)
	var maxWR, maxSGE uint32
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &maxWR)
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &maxSGE)
	how, err := c.ExecuteIoctlFallback(OpCreateSRQ, cmd)
	switch how {
	case Success:
		srq.Handle, srq.Num = ReadAttrObj(spec.UVERBS_ATTR_CREATE_SRQ_HANDLE, handle), num
		attr.Attr.MaxWR, attr.Attr.MaxSGE = maxWR, maxSGE
		return nil
	case TryWrite:
		return c.writeCreateSRQ(f, srq, attr, link)
	}
	return err
}

// fillParts adds the objects that a queue of that type has; num is where an XRC
// queue's number goes.
func (attr *SRQInitAttr) fillParts(cmd *CommandBuffer, num *uint32) error {
	switch attr.Type {
	case IBV_SRQT_XRC:
		if attr.XRCD == nil || attr.CQ == nil {
			return ErrSRQParts
		}
		cmd.FillAttrInObj(spec.UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, attr.XRCD.Handle)
		cmd.FillAttrInObj(spec.UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, attr.CQ.Handle)
		FillAttrOutPtr(cmd, spec.UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, num)
	case IBV_SRQT_TM:
		if attr.CQ == nil || attr.MaxNumTags == 0 {
			return ErrSRQParts
		}
		cmd.FillAttrInObj(spec.UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, attr.CQ.Handle)
		cmd.FillAttrInUint32(spec.UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, attr.MaxNumTags)
	}
	return nil
}

// writeCreateSRQ is the command's write() form, which is another one for queues
// that are not basic.
func (c *Context) writeCreateSRQ(f *Frame, srq *SRQ, attr *SRQInitAttr, link *CommandBuffer) error {
	var resp spec.CreateSRQResp
	basic := spec.CreateSRQ{UserHandle: srq.userHandle, PDHandle: attr.PD.Handle,
		MaxWR: attr.Attr.MaxWR, MaxSGE: attr.Attr.MaxSGE, SRQLimit: attr.Attr.SRQLimit}
	w := writeCmd{spec.IB_USER_VERBS_CMD_CREATE_SRQ, spec.Bytes(&basic), &basic.Response, spec.Bytes(&resp)}
	x := spec.CreateXSRQ{UserHandle: srq.userHandle, SRQType: uint32(attr.Type), PDHandle: attr.PD.Handle,
		MaxWR: attr.Attr.MaxWR, MaxSGE: attr.Attr.MaxSGE, SRQLimit: attr.Attr.SRQLimit}
	switch attr.Type {
	case IBV_SRQT_XRC:
		x.XRCDHandle, x.CQHandle = attr.XRCD.Handle, attr.CQ.Handle
	case IBV_SRQT_TM:
		x.MaxNumTags, x.CQHandle = attr.MaxNumTags, attr.CQ.Handle
	}
	if attr.Type != IBV_SRQT_BASIC {
		w = writeCmd{spec.IB_USER_VERBS_CMD_CREATE_XSRQ, spec.Bytes(&x), &x.Response, spec.Bytes(&resp)}
	}
	if err := c.executeLegacy(f, w, link); err != nil {
		return err
	}
	srq.Handle, srq.Num = resp.SRQHandle, resp.SRQN
	attr.Attr.MaxWR, attr.Attr.MaxSGE = resp.MaxWR, resp.MaxSGE
	return nil
}

// Modify sets the attributes that the mask, IBV_SRQ_*, names. It models
// ibv_cmd_modify_srq in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (srq *SRQ) Modify(attr *SRQAttr, mask uint32) error {
	req := spec.ModifySRQ{SRQHandle: srq.Handle, AttrMask: mask, MaxWR: attr.MaxWR, SRQLimit: attr.SRQLimit}
	w := writeCmd{command: spec.IB_USER_VERBS_CMD_MODIFY_SRQ, core: spec.Bytes(&req)}
	return srq.Context.executeCmdWrite(w, UHW{})
}

// Query models ibv_cmd_query_srq in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (srq *SRQ) Query() (SRQAttr, error) {
	req := spec.QuerySRQ{SRQHandle: srq.Handle}
	var resp spec.QuerySRQResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_QUERY_SRQ, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := srq.Context.executeCmdWrite(w, UHW{}); err != nil {
		return SRQAttr{}, err
	}
	return SRQAttr{MaxWR: resp.MaxWR, MaxSGE: resp.MaxSGE, SRQLimit: resp.SRQLimit}, nil
}

// CmdDestroySRQ destroys the queue, and returns when the program has
// acknowledged all the events that it has read. It models ibv_cmd_destroy_srq in
// libibverbs/cmd_srq.c.
//
// Errors: those of the kernel.
func (srq *SRQ) CmdDestroySRQ() error {
	c := srq.Context
	f := c.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_DESTROY, 2, nil)
	var resp spec.DestroySRQResp
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_DESTROY_SRQ_RESP, &resp)
	cmd.FillAttrInObj(spec.UVERBS_ATTR_DESTROY_SRQ_HANDLE, srq.Handle)
	how, err := c.ExecuteIoctlFallback(OpDestroySRQ, cmd)
	if how == TryWrite {
		req := spec.DestroySRQ{SRQHandle: srq.Handle}
		w := writeCmd{spec.IB_USER_VERBS_CMD_DESTROY_SRQ, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
		err = c.executeLegacy(f, w, nil)
	}
	over, err := c.destroyErr(err)
	if err != nil {
		return err
	}
	if !over {
		srq.events.wait(resp.EventsReported)
	}
	c.delElement(srq.userHandle)
	return nil
}
