package verbs

import "uverbsim/spec"

// AH is an address handle: struct ibv_ah.
type AH struct {
	Context *Context
	PD      *PD
	Handle  uint32
}

// CmdCreateAH makes an address handle in the kernel; uhw is the driver's
// library's. It models ibv_cmd_create_ah in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (pd *PD) CmdCreateAH(attr *AHAttr, uhw UHW) (*AH, error) {
	c := pd.Context
	g := &attr.GRH
	req := spec.CreateAH{PDHandle: pd.Handle, Attr: spec.AHAttr{
		GRH: spec.GlobalRoute{DGID: g.DGID, FlowLabel: g.FlowLabel, SGIDIndex: g.SGIDIndex,
			HopLimit: g.HopLimit, TrafficClass: g.TrafficClass},
		DLID: attr.DLID, Sl: attr.SL, SrcPathBits: attr.SrcPathBits, StaticRate: attr.StaticRate,
		IsGlobal: wireBool(attr.IsGlobal), PortNum: attr.PortNum,
	}}
	var resp spec.CreateAHResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_CREATE_AH, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := c.executeCmdWrite(w, uhw); err != nil {
		return nil, err
	}
	return &AH{Context: c, PD: pd, Handle: resp.AHHandle}, nil
}

// CmdDestroyAH models ibv_cmd_destroy_ah in libibverbs/cmd_ah.c.
//
// Errors: those of the kernel.
func (ah *AH) CmdDestroyAH() error {
	req := spec.DestroyAH{AHHandle: ah.Handle}
	return ah.Context.destroy(OpDestroyAH, spec.UVERBS_OBJECT_AH, spec.UVERBS_METHOD_AH_DESTROY,
		spec.UVERBS_ATTR_DESTROY_AH_HANDLE, ah.Handle,
		writeCmd{command: spec.IB_USER_VERBS_CMD_DESTROY_AH, core: spec.Bytes(&req)})
}
