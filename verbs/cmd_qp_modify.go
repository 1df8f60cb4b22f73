package verbs

import (
	"fmt"
	"syscall"

	"uverbsim/spec"
)

// ErrQPAttrMask is the error of attributes that only the extended command, or
// none, can tell. Its errno is EOPNOTSUPP.
var ErrQPAttrMask = fmt.Errorf("verbs: the plain command cannot tell one of the attributes: %w", syscall.EOPNOTSUPP)

// copyModifyQPFields models copy_modify_qp_fields in libibverbs/cmd.c.
func copyModifyQPFields(qp *QP, attr *QPAttr, mask uint32) spec.ModifyQP {
	cmd := spec.ModifyQP{QPHandle: qp.Handle, AttrMask: mask}
	for i := range modifyFields {
		if mask&modifyFields[i].mask != 0 {
			modifyFields[i].copy(&cmd, attr)
		}
	}
	return cmd
}

// modified keeps the state that the program has set, as ibv_modify_qp in
// libibverbs/verbs.c does.
func (qp *QP) modified(attr *QPAttr, mask uint32) {
	if mask&IBV_QP_STATE != 0 {
		qp.State = attr.QPState
	}
}

// CmdModifyQP sets the attributes that the mask, IBV_QP_*, names. It models
// ibv_cmd_modify_qp in libibverbs/cmd.c.
//
// Errors: ErrQPAttrMask, and those of the kernel.
func (qp *QP) CmdModifyQP(attr *QPAttr, mask uint32) error {
	if mask >= IBV_QP_RATE_LIMIT {
		return ErrQPAttrMask
	}
	req := copyModifyQPFields(qp, attr, mask)
	w := writeCmd{command: spec.IB_USER_VERBS_CMD_MODIFY_QP, core: spec.Bytes(&req)}
	if err := qp.Context.executeCmdWrite(w, UHW{}); err != nil {
		return err
	}
	qp.modified(attr, mask)
	return nil
}

// CmdModifyQPEx is CmdModifyQP by the extended command, which has a rate limit
// and driver's parts. It models ibv_cmd_modify_qp_ex in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (qp *QP) CmdModifyQPEx(attr *QPAttr, mask uint32, uhw UHW) error {
	req := spec.ExModifyQP{Base: copyModifyQPFields(qp, attr, mask)}
	if mask&IBV_QP_RATE_LIMIT != 0 {
		req.RateLimit = attr.RateLimit
	}
	var resp spec.ExModifyQPResp
	command := uint32(spec.IB_USER_VERBS_CMD_FLAG_EXTENDED | spec.IB_USER_VERBS_EX_CMD_MODIFY_QP)
	if err := qp.Context.executeCmdWrite(writeCmd{command, spec.Bytes(&req), nil, spec.Bytes(&resp)}, uhw); err != nil {
		return err
	}
	qp.modified(attr, mask)
	return nil
}

// CmdQueryQP asks for the attributes of the mask; the answer has more of them
// than that. It also tells whether every request of the send queue brings a
// completion. It models ibv_cmd_query_qp in libibverbs/cmd.c.
//
// Errors: ErrQPAttrMask, and those of the kernel.
func (qp *QP) CmdQueryQP(mask uint32) (attr *QPAttr, sqSigAll bool, err error) {
	if mask >= IBV_QP_RATE_LIMIT {
		return nil, false, ErrQPAttrMask
	}
	req := spec.QueryQP{QPHandle: qp.Handle, AttrMask: mask}
	var resp spec.QueryQPResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_QUERY_QP, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := qp.Context.executeCmdWrite(w, UHW{}); err != nil {
		return nil, false, err
	}
	a := attrOf(&resp)
	if mask&IBV_QP_STATE != 0 {
		qp.State = a.QPState
	}
	return &a, resp.SQSigAll != 0, nil
}

// QPOpenAttr names a queue pair that another program has made: struct
// ibv_qp_open_attr.
type QPOpenAttr struct {
	QPNum uint32
	XRCD  *XRCD
	Type  QPType
}

// CmdOpenQP opens an XRC target of another program that shares the domain. It
// models ibv_cmd_open_qp in libibverbs/cmd.c.
//
// Errors: ErrQPParent, and those of the kernel.
func (c *Context) CmdOpenQP(qp *QP, attr *QPOpenAttr) error {
	if attr.XRCD == nil {
		return ErrQPParent
	}
	*qp = QP{Context: c, XRCD: attr.XRCD, Num: attr.QPNum, Type: attr.Type, State: IBV_QPS_UNKNOWN, Driver: qp.Driver}
	qp.events.init()
	qp.userHandle = c.addElement(qp)
	req := spec.OpenQP{UserHandle: qp.userHandle, PDHandle: attr.XRCD.Handle, QPN: attr.QPNum, QPType: uint8(attr.Type)}
	var resp spec.CreateQPResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_OPEN_QP, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := c.executeCmdWrite(w, UHW{}); err != nil {
		c.delElement(qp.userHandle)
		return err
	}
	qp.Handle = resp.QPHandle
	return nil
}

// AttachMcast makes the queue pair receive what is sent to a multicast group. It
// models ibv_cmd_attach_mcast in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (qp *QP) AttachMcast(gid [16]byte, mlid uint16) error {
	req := spec.AttachMcast{GID: gid, QPHandle: qp.Handle, Mlid: mlid}
	w := writeCmd{command: spec.IB_USER_VERBS_CMD_ATTACH_MCAST, core: spec.Bytes(&req)}
	return qp.Context.executeCmdWrite(w, UHW{})
}

// DetachMcast models ibv_cmd_detach_mcast in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (qp *QP) DetachMcast(gid [16]byte, mlid uint16) error {
	req := spec.DetachMcast{GID: gid, QPHandle: qp.Handle, Mlid: mlid}
	w := writeCmd{command: spec.IB_USER_VERBS_CMD_DETACH_MCAST, core: spec.Bytes(&req)}
	_, err := qp.Context.destroyErr(qp.Context.executeCmdWrite(w, UHW{}))
	return err
}
