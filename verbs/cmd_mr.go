package verbs

import (
	"uverbsim/copyuser"
	"uverbsim/spec"
)

// MR is a memory region: struct ibv_mr.
type MR struct {
	Context    *Context
	PD         *PD
	Addr       copyuser.Addr
	Length     uint64
	Handle     uint32
	LKey, RKey uint32
}

// RegMR registers memory of the program, access being IB_UVERBS_ACCESS_*; iova
// is the address that remote programs use for its start. What the kernel may
// ignore it is asked for only if it knows that. It models ibv_reg_mr_iova2 in
// libibverbs/verbs.c and ibv_cmd_reg_mr in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (pd *PD) RegMR(addr copyuser.Addr, length, iova uint64, access uint32) (*MR, error) {
	c := pd.Context
	if c.CoreSupport&spec.IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS == 0 {
		access &^= spec.IB_UVERBS_ACCESS_OPTIONAL_RANGE
	}
	req := spec.RegMR{Start: uint64(addr), Length: length, HcaVA: iova, PDHandle: pd.Handle, AccessFlags: access}
	var resp spec.RegMRResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_REG_MR, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := c.executeCmdWrite(w, UHW{}); err != nil {
		return nil, err
	}
	return &MR{Context: c, PD: pd, Addr: addr, Length: length,
		Handle: resp.MRHandle, LKey: resp.Lkey, RKey: resp.Rkey}, nil
}

// Dereg models ibv_cmd_dereg_mr in libibverbs/cmd_mr.c.
//
// Errors: those of the kernel.
func (mr *MR) Dereg() error {
	req := spec.DeregMR{MRHandle: mr.Handle}
	return mr.Context.destroy(OpDeregMR, spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_MR_DESTROY,
		spec.UVERBS_ATTR_DESTROY_MR_HANDLE, mr.Handle,
		writeCmd{command: spec.IB_USER_VERBS_CMD_DEREG_MR, core: spec.Bytes(&req)})
}
