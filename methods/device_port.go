package methods

import (
	"sync"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// portAttrs lends the struct that a driver fills in, so that asking for a port
// allocates nothing. Those of two processors share no line of the cache.
var portAttrs = sync.Pool{New: func() any {
	lent := new(struct {
		core.PortAttr
		_ [128]byte
	})
	return &lent.PortAttr
}}

// queryPort tells the state of a port. It is the handler of
// UVERBS_METHOD_QUERY_PORT.
//
// Errors: query-port/unsupported, const/range, port/invalid,
// attr/output-fault, attr/flag-fault, those of Ucontext and those of the
// driver.
func queryPort(b *kernel.Bundle) error {
	ucontext, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	dev := ucontext.Device
	if dev.Ops.QueryPort == nil {
		return rule.QueryPortUnsupported
	}
	port, err := b.Const(spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1<<8-1)
	if err != nil {
		return err
	}
	attr := portAttrs.Get().(*core.PortAttr)
	defer portAttrs.Put(attr)
	if err := core.QueryPort(b.Task(), dev, uint32(port), attr); err != nil {
		return err
	}
	var resp spec.QueryPortRespEx
	copyPortAttrToResp(b.Trace(), attr, &resp.LegacyResp, dev)
	resp.PortCapFlags2 = attr.PortCapFlags2
	if dev.Kernel.Has(spec.QueryPortSpeedEx) {
		resp.ActiveSpeedEx = uint32(attr.ActiveSpeed)
	}
	raw := b.Scratch(len(spec.Bytes(&resp)))
	copy(raw, spec.Bytes(&resp))
	return b.CopyToStructOrZero(spec.UVERBS_ATTR_QUERY_PORT_RESP, raw)
}

// copyPortAttrToResp fills in what QUERY_PORT has always told. Speeds above
// NDR do not fit and are told as NDR. It models copy_port_attr_to_resp in
// drivers/infiniband/core/uverbs_std_types_device.c, without OPA.
func copyPortAttrToResp(t *trace.Task, attr *core.PortAttr, resp *spec.QueryPortResp, dev *core.Device) {
	defer t.Enter(trace.Uverbs, "copy_port_attr_to_resp").Leave()
	resp.State = attr.State
	resp.MaxMtu = attr.MaxMTU
	resp.ActiveMtu = attr.ActiveMTU
	resp.GIDTblLen = attr.GIDTblLen
	resp.PortCapFlags = makePortCapFlags(attr)
	resp.MaxMsgSz = attr.MaxMsgSz
	resp.BadPkeyCntr = attr.BadPkeyCntr
	resp.QkeyViolCntr = attr.QkeyViolCntr
	resp.PkeyTblLen = attr.PkeyTblLen
	if dev.IsGRHRequired() {
		resp.Flags |= spec.IB_UVERBS_QPF_GRH_REQUIRED
	}
	resp.LID = uint16(attr.LID)
	resp.SmLID = uint16(attr.SMLID)
	resp.Lmc = attr.LMC
	resp.MaxVlNum = attr.MaxVLNum
	resp.SmSl = attr.SMSL
	resp.SubnetTimeout = attr.SubnetTimeout
	resp.InitTypeReply = attr.InitTypeReply
	resp.ActiveWidth = attr.ActiveWidth
	resp.ActiveSpeed = uint8(min(attr.ActiveSpeed, spec.IB_SPEED_NDR))
	resp.PhysState = attr.PhysState
	resp.LinkLayer = dev.LinkLayer
}

// makePortCapFlags returns the port's capability mask, in which bit 26 says
// that GIDs come from IP addresses. It models make_port_cap_flags in
// drivers/infiniband/core/uverbs.h.
func makePortCapFlags(attr *core.PortAttr) uint32 {
	flags := attr.PortCapFlags &^ spec.IB_UVERBS_PCF_IP_BASED_GIDS
	if attr.IPGIDs {
		flags |= spec.IB_UVERBS_PCF_IP_BASED_GIDS
	}
	return flags
}
