package methods

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The write() commands of UVERBS_OBJECT_FLOW.

// maxFlowSpecs is IB_FLOW_SPEC_SUPPORT_LAYERS in include/rdma/ib_verbs.h: how
// many specifications a rule has at most.
const maxFlowSpecs = 10

// sizeofFlowSpec is the size of the kernel's struct ib_uverbs_flow_spec, a
// union whose largest member is the one of IPv6, in bytes.
const sizeofFlowSpec = spec.FlowSpecIPv6Size

// checkFlowAttr checks the fixed part of a flow rule.
func checkFlowAttr(b *kernel.Bundle, cmd *spec.CreateFlow) error {
	attr := &cmd.FlowAttr
	dontTrap := attr.Flags&spec.IB_FLOW_ATTR_FLAGS_DONT_TRAP != 0
	switch {
	case cmd.CompMask != 0:
		return rule.CmdFlowCompMask
	case !b.Task().Capable(process.CAP_NET_RAW):
		return rule.CmdFlowCap
	case attr.Flags >= spec.IB_FLOW_ATTR_FLAGS_RESERVED:
		return rule.CmdFlowFlags
	case dontTrap && (attr.Type == spec.IB_FLOW_ATTR_ALL_DEFAULT || attr.Type == spec.IB_FLOW_ATTR_MC_DEFAULT):
		return rule.CmdFlowDontTrap
	case attr.NumOfSpecs > maxFlowSpecs:
		return rule.CmdFlowManySpecs
	case int(attr.Size) > int(attr.NumOfSpecs)*sizeofFlowSpec:
		return rule.CmdFlowSize
	case attr.Reserved[0] != 0 || attr.Reserved[1] != 0:
		return rule.CmdFlowReserved
	}
	return nil
}

// uverbsExCreateFlow makes a flow rule, which steers packets to a QP. It
// models ib_uverbs_ex_create_flow in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-flow/…, cmd/start-…, cmd/next-…, cmd/finish-tail, those of the
// lookups, and those of the driver.
func uverbsExCreateFlow(b *kernel.Bundle) error {
	var cmd spec.CreateFlow
	it, err := requestStart(b, &cmd)
	if err != nil {
		return err
	}
	if err := checkFlowAttr(b, &cmd); err != nil {
		return err
	}
	var specs []byte
	if cmd.FlowAttr.NumOfSpecs != 0 {
		if b.Trace().Fail(trace.Alloc, "ib_uverbs_flow_attr") {
			return rule.CmdFlowSpecsNoMemory
		}
		specs = make([]byte, cmd.FlowAttr.Size)
		if err := it.next(specs); err != nil {
			return err
		}
	}
	if err := it.finish(); err != nil {
		return err
	}
	o, dev, err := uobjAlloc(b, spec.UVERBS_OBJECT_FLOW)
	if err != nil {
		return err
	}
	if err := createFlow(b, o, dev, &cmd, specs); err != nil {
		uobjAllocAbort(o, b)
		return err
	}
	uobjFinalizeUobjCreate(o, b)
	resp := spec.CreateFlowResp{FlowHandle: uint32(o.ID())}
	return response(b, &resp)
}

// createFlow is the part of uverbsExCreateFlow that holds the QP.
func createFlow(b *kernel.Bundle, o *uobject.Object, dev *core.Device, cmd *spec.CreateFlow, specs []byte) error {
	if !dev.IsPort(uint32(cmd.FlowAttr.Port)) {
		return rule.CmdFlowPort
	}
	qp, qpObject, err := uobjGetObjRead[*core.QP](b, spec.UVERBS_OBJECT_QP, cmd.QPHandle)
	if err != nil {
		return err
	}
	defer uobjPutRead(qpObject, b)
	if qp.Type != spec.IB_QPT_UD && qp.Type != spec.IB_QPT_RAW_PACKET {
		return rule.CmdFlowQPType
	}
	if b.Trace().Fail(trace.Alloc, "ib_flow_attr") {
		return rule.CmdFlowNoMemory
	}
	resources, err := flowResourcesAlloc(b)
	if err != nil {
		return err
	}
	flow, err := newFlow(b, qp, &cmd.FlowAttr, specs, resources)
	if err != nil {
		resources.Free(b.Trace())
		return err
	}
	qp.Usecnt.Count(b.Trace(), "ib_qp", 1)
	flow.QP, flow.Device = qp, qp.Device
	o.HW = flow
	o.Ext.(*core.UFlow).Resources = resources
	return nil
}

// flowResourcesAlloc models flow_resources_alloc in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-flow/resources-no-memory.
func flowResourcesAlloc(b *kernel.Bundle) (*core.FlowResources, error) {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "flow_resources_alloc").Leave()
	if t.Fail(trace.Alloc, "ib_uflow_resources") || t.Fail(trace.Alloc, "counters") || t.Fail(trace.Alloc, "collection") {
		return nil, rule.CmdFlowResourcesNoMemory
	}
	return &core.FlowResources{}, nil
}

// newFlow reads the specifications and has the driver make the rule.
func newFlow(b *kernel.Bundle, qp *core.QP, from *spec.FlowAttr, specs []byte, resources *core.FlowResources) (*core.Flow, error) {
	attr := core.FlowAttr{
		Type:     from.Type,
		Priority: from.Priority,
		Flags:    from.Flags,
		Port:     from.Port,
	}
	for range from.NumOfSpecs {
		var hdr spec.FlowSpecHdr
		if len(specs) < spec.FlowSpecHdrSize {
			break
		}
		copy(spec.Bytes(&hdr), specs)
		if len(specs) < int(hdr.Size) {
			break
		}
		s, err := flowSpec(b, &hdr, specs[:hdr.Size], resources)
		if err != nil {
			return nil, err
		}
		attr.Specs = append(attr.Specs, s)
		specs = specs[hdr.Size:]
	}
	if len(specs) != 0 || len(attr.Specs) != int(from.NumOfSpecs) {
		return nil, rule.CmdFlowLeftover
	}
	return qp.Device.Ops.CreateFlow(qp, &attr, &b.DriverUdata)
}

// uverbsExDestroyFlow destroys a flow rule. It models ib_uverbs_ex_destroy_flow
// in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-flow/destroy-comp-mask, and those of the destruction.
func uverbsExDestroyFlow(b *kernel.Bundle) error {
	var cmd spec.DestroyFlow
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.CompMask != 0 {
		return rule.CmdFlowDestroyCompMask
	}
	return uobjPerformDestroy(b, spec.UVERBS_OBJECT_FLOW, cmd.FlowHandle)
}
