package verbs

import "uverbsim/spec"

// MW is a memory window: struct ibv_mw. RKey changes with every bind.
type MW struct {
	Context *Context
	PD      *PD
	Handle  uint32
	RKey    uint32
	Type    MWType
}

// AllocMW makes a memory window that is bound to nothing. It models
// ibv_cmd_alloc_mw in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (pd *PD) AllocMW(typ MWType) (*MW, error) {
	req := spec.AllocMW{PDHandle: pd.Handle, MWType: uint8(typ)}
	var resp spec.AllocMWResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_ALLOC_MW, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := pd.Context.executeCmdWrite(w, UHW{}); err != nil {
		return nil, err
	}
	return &MW{Context: pd.Context, PD: pd, Handle: resp.MWHandle, RKey: resp.Rkey, Type: typ}, nil
}

// Dealloc models ibv_cmd_dealloc_mw in libibverbs/cmd_mw.c.
//
// Errors: those of the kernel.
func (mw *MW) Dealloc() error {
	req := spec.DeallocMW{MWHandle: mw.Handle}
	return mw.Context.destroy(OpDeallocMW, spec.UVERBS_OBJECT_MW, spec.UVERBS_METHOD_MW_DESTROY,
		spec.UVERBS_ATTR_DESTROY_MW_HANDLE, mw.Handle,
		writeCmd{command: spec.IB_USER_VERBS_CMD_DEALLOC_MW, core: spec.Bytes(&req)})
}

// IncRKey returns the key with the next number in its lowest 8 bits, which are
// the program's to choose. It models ibv_inc_rkey of libibverbs/verbs.h.
func IncRKey(rkey uint32) uint32 { return rkey&^0xff | (rkey+1)&0xff }
