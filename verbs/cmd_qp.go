package verbs

import (
	"fmt"
	"syscall"

	"uverbsim/spec"
)

// QP is a queue pair as the core of the library knows it: struct ibv_qp with
// struct verbs_qp.
type QP struct {
	Context *Context
	PD      *PD
	XRCD    *XRCD // of an XRC target
	SendCQ  *CQ
	RecvCQ  *CQ
	SRQ     *SRQ // nil if the queue pair has a receive queue of its own
	Handle  uint32
	Num     uint32 // its number on the device
	Type    QPType

	// State is what the program has made of the queue pair, or what it was when
	// it was last queried; the device may have moved it on.
	State QPState

	Driver any // what the driver's library keeps

	userHandle uint64
	events     acks
}

// QPCap is how much a queue pair can hold: struct ibv_qp_cap.
type QPCap struct {
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32 // bytes
}

// QPInitAttr says what queue pair is wanted: struct ibv_qp_init_attr_ex. An XRC
// target has an XRCD, all others have a PD. When the queue pair was created, Cap
// has what it can hold.
type QPInitAttr struct {
	SendCQ, RecvCQ *CQ
	SRQ            *SRQ
	Cap            QPCap
	Type           QPType
	SQSigAll       bool // every request of the send queue brings a completion

	PD          *PD
	XRCD        *XRCD
	CreateFlags uint32 // IBV_QP_CREATE_*; 0 counts as not given
	SourceQPN   uint32 // with IBV_QP_CREATE_SOURCE_QPN
}

// Errors of CmdCreateQP that the library finds itself; their errno is EINVAL.
var (
	ErrQPParent      = fmt.Errorf("verbs: an XRC target needs a domain of XRC, any other queue pair a protection domain: %w", syscall.EINVAL)
	ErrQPType        = fmt.Errorf("verbs: the library knows no queue pairs of that type: %w", syscall.EINVAL)
	ErrQPCreateFlags = fmt.Errorf("verbs: the library does not know one of the flags of the queue pair: %w", syscall.EINVAL)
)

// createQPFlags is CREATE_QP_EX_SUP_CREATE_FLAGS of libibverbs/cmd_qp.c.
const createQPFlags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB | IBV_QP_CREATE_SCATTER_FCS |
	IBV_QP_CREATE_CVLAN_STRIPPING | IBV_QP_CREATE_SOURCE_QPN | IBV_QP_CREATE_PCI_WRITE_END_PADDING

// CmdCreateQP creates a queue pair; uhw is the driver's library's. What the
// kernel made of attr.Cap is in it afterwards. It models ibv_cmd_create_qp_ex2
// in libibverbs/cmd_qp.c.
//
// Errors: ErrQPParent, ErrQPType, ErrQPCreateFlags, those of the kernel, and
// ErrNoFallback.
func (c *Context) CmdCreateQP(qp *QP, attr *QPInitAttr, uhw UHW) error {
	f := c.Frame()
	defer f.Leave()
	*qp = QP{Context: c, PD: attr.PD, SendCQ: attr.SendCQ, RecvCQ: attr.RecvCQ, SRQ: attr.SRQ,
		Type: attr.Type, State: IBV_QPS_RESET, Driver: qp.Driver}
	if attr.Type == IBV_QPT_XRC_RECV {
		qp.XRCD = attr.XRCD
	}
	qp.events.init()
	qp.userHandle = c.addElement(qp)
	if err := c.icmdCreateQP(f, qp, attr, uhw); err != nil {
		c.delElement(qp.userHandle)
		return err
	}
	return nil
}

// qpRequest is what both forms of the command say, by handles.
type qpRequest struct {
	pd, sendCQ, recvCQ, srq uint32
	isSRQ                   bool
	cap                     spec.QPCap
}

// icmdCreateQP models ibv_icmd_create_qp in libibverbs/cmd_qp.c.
func (c *Context) icmdCreateQP(f *Frame, qp *QP, attr *QPInitAttr, uhw UHW) error {
	link := f.compat(spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE,
		exHdrSize+spec.ExCreateQPSize, spec.ExCreateQPRespSize, uhw)
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE, 15, link)
	var req qpRequest
	if err := req.fillParents(cmd, attr); err != nil {
		return err
	}
	req.cap = attr.Cap.wire()
	handle := cmd.FillAttrOutObj(spec.UVERBS_ATTR_CREATE_QP_HANDLE)
	cmd.FillAttrConstIn(spec.UVERBS_ATTR_CREATE_QP_TYPE, uint64(attr.Type))
	cmd.FillAttrInUint64(spec.UVERBS_ATTR_CREATE_QP_USER_HANDLE, qp.userHandle)
	FillAttrInPtr(cmd, spec.UVERBS_ATTR_CREATE_QP_CAP, &req.cap)
	cmd.FillAttrInFD(spec.UVERBS_ATTR_CREATE_QP_EVENT_FD, c.AsyncFD)
	if err := attr.fillFlags(cmd); err != nil {
		return err
	}
	if attr.SRQ != nil {
		req.srq, req.isSRQ = attr.SRQ.Handle, true
		cmd.FillAttrInObj(spec.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, req.srq)
	}
	respCap := req.cap
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_CREATE_QP_RESP_CAP, &respCap)
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qp.Num)
	how, err := c.ExecuteIoctlFallback(OpCreateQP, cmd)
	switch how {
	case Success:
		qp.Handle = ReadAttrObj(spec.UVERBS_ATTR_CREATE_QP_HANDLE, handle)
		attr.Cap = capOf(&respCap)
		return nil
	case TryWrite:
		return c.writeCreateQP(f, qp, attr, &req, link)
	case TryWriteEx:
		return c.writeExCreateQP(f, qp, attr, &req, link)
	}
	return err
}

// fillParents adds the objects that a queue pair of that type belongs to.
func (req *qpRequest) fillParents(cmd *CommandBuffer, attr *QPInitAttr) error {
	switch attr.Type {
	case IBV_QPT_XRC_RECV:
		if attr.XRCD == nil {
			return ErrQPParent
		}
		req.pd = attr.XRCD.Handle
		cmd.FillAttrInObj(spec.UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, req.pd)
		return nil
	case IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_DRIVER:
	default:
		return ErrQPType
	}
	if attr.PD == nil {
		return ErrQPParent
	}
	req.pd, req.sendCQ = attr.PD.Handle, attr.SendCQ.Handle
	cmd.FillAttrInObj(spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE, req.pd)
	cmd.FillAttrInObj(spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, req.sendCQ)
	if attr.Type == IBV_QPT_XRC_SEND {
		attr.Cap.MaxRecvWR, attr.Cap.MaxRecvSGE = 0, 0 // as the write() command does it
		return nil
	}
	req.recvCQ = attr.RecvCQ.Handle
	cmd.FillAttrInObj(spec.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, req.recvCQ)
	return nil
}

// fillFlags adds the flags if there are any. The number of the source queue pair
// is a flag for write() only.
func (attr *QPInitAttr) fillFlags(cmd *CommandBuffer) error {
	var flags uint32
	if attr.SQSigAll {
		flags |= spec.IB_UVERBS_QP_CREATE_SQ_SIG_ALL
	}
	if attr.CreateFlags != 0 {
		if attr.CreateFlags&^createQPFlags != 0 {
			return ErrQPCreateFlags
		}
		cmd.FallbackRequireEx()
		flags |= attr.CreateFlags
		if attr.CreateFlags&IBV_QP_CREATE_SOURCE_QPN != 0 {
			cmd.FillAttrInUint32(spec.UVERBS_ATTR_CREATE_QP_SOURCE_QPN, attr.SourceQPN)
			flags &^= IBV_QP_CREATE_SOURCE_QPN
		}
	}
	if flags != 0 {
		cmd.FillAttrInUint32(spec.UVERBS_ATTR_CREATE_QP_FLAGS, flags)
	}
	return nil
}

func (q *QPCap) wire() spec.QPCap {
	return spec.QPCap{MaxSendWR: q.MaxSendWR, MaxRecvWR: q.MaxRecvWR,
		MaxSendSGE: q.MaxSendSGE, MaxRecvSGE: q.MaxRecvSGE, MaxInlineData: q.MaxInlineData}
}

func capOf(w *spec.QPCap) QPCap {
	return QPCap{MaxSendWR: w.MaxSendWR, MaxRecvWR: w.MaxRecvWR,
		MaxSendSGE: w.MaxSendSGE, MaxRecvSGE: w.MaxRecvSGE, MaxInlineData: w.MaxInlineData}
}

// writeCreateQP is the command's write() form.
func (c *Context) writeCreateQP(f *Frame, qp *QP, attr *QPInitAttr, r *qpRequest, link *CommandBuffer) error {
	req := spec.CreateQP{
		UserHandle: qp.userHandle, PDHandle: r.pd, SendCQHandle: r.sendCQ, RecvCQHandle: r.recvCQ, SRQHandle: r.srq,
		MaxSendWR: r.cap.MaxSendWR, MaxRecvWR: r.cap.MaxRecvWR, MaxSendSGE: r.cap.MaxSendSGE,
		MaxRecvSGE: r.cap.MaxRecvSGE, MaxInlineData: r.cap.MaxInlineData,
		SQSigAll: wireBool(attr.SQSigAll), QPType: uint8(attr.Type), IsSRQ: wireBool(r.isSRQ),
	}
	var resp spec.CreateQPResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_CREATE_QP, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := c.executeLegacy(f, w, link); err != nil {
		return err
	}
	qp.created(attr, &resp)
	return nil
}

// writeExCreateQP is the command's extended write() form.
func (c *Context) writeExCreateQP(f *Frame, qp *QP, attr *QPInitAttr, r *qpRequest, link *CommandBuffer) error {
	req := spec.ExCreateQP{
		UserHandle: qp.userHandle, PDHandle: r.pd, SendCQHandle: r.sendCQ, RecvCQHandle: r.recvCQ, SRQHandle: r.srq,
		MaxSendWR: r.cap.MaxSendWR, MaxRecvWR: r.cap.MaxRecvWR, MaxSendSGE: r.cap.MaxSendSGE,
		MaxRecvSGE: r.cap.MaxRecvSGE, MaxInlineData: r.cap.MaxInlineData,
		SQSigAll: wireBool(attr.SQSigAll), QPType: uint8(attr.Type), IsSRQ: wireBool(r.isSRQ),
		CreateFlags: attr.CreateFlags,
	}
	if attr.CreateFlags&IBV_QP_CREATE_SOURCE_QPN != 0 {
		req.SourceQPN = attr.SourceQPN
	}
	var resp spec.ExCreateQPResp
	command := uint32(spec.IB_USER_VERBS_CMD_FLAG_EXTENDED | spec.IB_USER_VERBS_EX_CMD_CREATE_QP)
	if err := c.executeLegacy(f, writeCmd{command, spec.Bytes(&req), nil, spec.Bytes(&resp)}, link); err != nil {
		return err
	}
	qp.created(attr, &resp.Base)
	return nil
}

// created takes over what write() answered.
func (qp *QP) created(attr *QPInitAttr, resp *spec.CreateQPResp) {
	qp.Handle, qp.Num = resp.QPHandle, resp.QPN
	attr.Cap = QPCap{MaxSendWR: resp.MaxSendWR, MaxRecvWR: resp.MaxRecvWR,
		MaxSendSGE: resp.MaxSendSGE, MaxRecvSGE: resp.MaxRecvSGE, MaxInlineData: resp.MaxInlineData}
}

func wireBool(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// CmdDestroyQP destroys the queue pair, and returns when the program has
// acknowledged all the events that it has read. It models ibv_cmd_destroy_qp in
// libibverbs/cmd_qp.c.
//
// Errors: those of the kernel.
func (qp *QP) CmdDestroyQP() error {
	c := qp.Context
	f := c.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_DESTROY, 2, nil)
	var resp spec.DestroyQPResp
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_DESTROY_QP_RESP, &resp)
	cmd.FillAttrInObj(spec.UVERBS_ATTR_DESTROY_QP_HANDLE, qp.Handle)
	how, err := c.ExecuteIoctlFallback(OpDestroyQP, cmd)
	if how == TryWrite {
		req := spec.DestroyQP{QPHandle: qp.Handle}
		w := writeCmd{spec.IB_USER_VERBS_CMD_DESTROY_QP, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
		err = c.executeLegacy(f, w, nil)
	}
	over, err := c.destroyErr(err)
	if err != nil {
		return err
	}
	if !over {
		qp.events.wait(resp.EventsReported)
	}
	c.delElement(qp.userHandle)
	return nil
}
