package verbs

import "uverbsim/spec"

// PD is a protection domain: struct ibv_pd.
type PD struct {
	Context *Context
	Handle  uint32
}

// CmdAllocPD models ibv_cmd_alloc_pd in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (c *Context) CmdAllocPD(uhw UHW) (*PD, error) {
	var req spec.AllocPD
	var resp spec.AllocPDResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_ALLOC_PD, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := c.executeCmdWrite(w, uhw); err != nil {
		return nil, err
	}
	return &PD{Context: c, Handle: resp.PDHandle}, nil
}

// Dealloc models ibv_cmd_dealloc_pd in libibverbs/cmd_pd.c.
//
// Errors: those of the kernel.
func (pd *PD) Dealloc() error {
	req := spec.DeallocPD{PDHandle: pd.Handle}
	return pd.Context.destroy(OpDeallocPD, spec.UVERBS_OBJECT_PD, spec.UVERBS_METHOD_PD_DESTROY,
		spec.UVERBS_ATTR_DESTROY_PD_HANDLE, pd.Handle,
		writeCmd{command: spec.IB_USER_VERBS_CMD_DEALLOC_PD, core: spec.Bytes(&req)})
}

// destroy runs a method that destroys an object and has nothing to tell.
func (c *Context) destroy(op Op, object, method, attr uint16, handle uint32, legacy writeCmd) error {
	f := c.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(object, method, 1, nil)
	cmd.FillAttrInObj(attr, handle)
	how, err := c.ExecuteIoctlFallback(op, cmd)
	if how == TryWrite {
		err = c.executeLegacy(f, legacy, nil)
	}
	_, err = c.destroyErr(err)
	return err
}
