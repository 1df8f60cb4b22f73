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
	Access     uint32 // IBV_ACCESS_* that the program has asked for
}

// RegMR registers memory of the program, access being IB_UVERBS_ACCESS_*; iova
// is the address that remote programs use for its start. What the kernel may
// ignore it is asked for only if it knows that. It models ibv_reg_mr_iova2 in
// libibverbs/verbs.c and ibv_cmd_reg_mr in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (pd *PD) RegMR(addr copyuser.Addr, length, iova uint64, access uint32) (*MR, error) {
	c, asked := pd.Context, access
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
		Handle: resp.MRHandle, LKey: resp.Lkey, RKey: resp.Rkey, Access: asked}, nil
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

// Rereg changes the region as flags, IBV_REREG_MR_*, say: what memory it has,
// which domain it is of, and what it may be used for. What is not changed is
// not looked at. It models ibv_rereg_mr in libibverbs/verbs.c and
// ibv_cmd_rereg_mr in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (mr *MR) Rereg(flags uint32, pd *PD, addr copyuser.Addr, length uint64, access uint32) error {
	req := spec.ReregMR{MRHandle: mr.Handle, Flags: flags, Start: uint64(addr), Length: length,
		HcaVA: uint64(addr), AccessFlags: access}
	if flags&IBV_REREG_MR_CHANGE_PD != 0 {
		req.PDHandle = pd.Handle
	}
	var resp spec.ReregMRResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_REREG_MR, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := mr.Context.executeCmdWrite(w, UHW{}); err != nil {
		return err
	}
	mr.LKey, mr.RKey = resp.Lkey, resp.Rkey
	if flags&IBV_REREG_MR_CHANGE_PD != 0 {
		mr.PD = pd
	}
	if flags&IBV_REREG_MR_CHANGE_TRANSLATION != 0 {
		mr.Addr, mr.Length = addr, length
	}
	return nil
}

// AdviseMR tells the kernel what the program will do with parts of regions,
// IBV_ADVISE_MR_ADVICE_*. It models ibv_cmd_advise_mr in libibverbs/cmd_mr.c.
//
// Errors: those of the kernel.
func (pd *PD) AdviseMR(advice, flags uint32, sges []SGE) error {
	c := pd.Context
	f := c.Frame()
	defer f.Leave()
	list := make([]byte, 0, len(sges)*spec.SGESize)
	for _, s := range sges {
		w := spec.SGE{Addr: uint64(s.Addr), Length: s.Length, Lkey: s.LKey}
		list = append(list, spec.Bytes(&w)...)
	}
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_ADVISE_MR, 4, nil)
	cmd.FillAttrInObj(spec.UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pd.Handle)
	cmd.FillAttrConstIn(spec.UVERBS_ATTR_ADVISE_MR_ADVICE, uint64(advice))
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_ADVISE_MR_FLAGS, flags)
	cmd.FillAttrIn(spec.UVERBS_ATTR_ADVISE_MR_SGE_LIST, list)
	return c.ExecuteIoctl(cmd)
}
