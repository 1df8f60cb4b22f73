package methods

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// flowSpecBytes is a specification of that type with these bytes behind the
// header.
func flowSpecBytes(typ uint32, body ...byte) []byte {
	hdr := spec.FlowSpecHdr{Type: typ, Size: uint16(spec.FlowSpecHdrSize + len(body))}
	return append(bytesOf(hdr), body...)
}

// filterBytes is a filter: a value and a mask of n bytes each, all v.
func filterBytes(typ uint32, n int, v byte) []byte {
	body := make([]byte, 2*n)
	for i := range body {
		body[i] = v
	}
	return flowSpecBytes(typ, body...)
}

// flowRequest puts a CREATE_FLOW together.
func flowRequest(qp uint32, specs ...[]byte) []byte {
	cmd := spec.CreateFlow{QPHandle: qp, FlowAttr: spec.FlowAttr{Priority: 3, Port: 1, NumOfSpecs: uint8(len(specs))}}
	var body []byte
	for _, s := range specs {
		body = append(body, s...)
	}
	cmd.FlowAttr.Size = uint16(len(body))
	b := append(bytesOf(cmd), body...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// flowRig is a rig with a raw packet QP, whose rules are noted.
func flowRig(t *testing.T) (r *rig, qp uint32, made *core.FlowAttr) {
	made = new(core.FlowAttr)
	r = newCommands(t, func(ops *core.DeviceOps) {
		ops.CreateFlow = func(_ *core.QP, attr *core.FlowAttr, _ *core.Udata) (*core.Flow, error) {
			*made = *attr
			return new(core.Flow), nil
		}
	})
	return r, r.qpByWrite(spec.IB_QPT_RAW_PACKET), made
}

func (r *rig) createFlow(request []byte) (spec.CreateFlowResp, error) {
	resp := r.resp(spec.CreateFlowRespSize)
	err := r.commandEx(spec.IB_USER_VERBS_EX_CMD_CREATE_FLOW, request, resp)
	return decode[spec.CreateFlowResp](r, r.hex(resp.at, resp.n)), err
}

// TestCreateFlow: the specifications as a driver gets them, and what the rule
// counts as its own until it is destroyed.
func TestCreateFlow(t *testing.T) {
	r, qp, made := flowRig(t)
	tag := flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_TAG, 5, 0, 0, 0, 0, 0, 0, 0)
	eth := filterBytes(spec.IB_FLOW_SPEC_ETH, 8, 0x11) // the first half of what the kernel knows
	got, err := r.createFlow(flowRequest(qp, eth, flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_DROP), tag))
	require.NoError(t, err)
	require.EqualValues(t, qp+1, got.FlowHandle)
	half := append(filterBytes(0, 4, 0x11)[spec.FlowSpecHdrSize:], make([]byte, 8)...)
	require.Equal(t, &core.FlowAttr{Priority: 3, Port: 1, Specs: []core.FlowSpec{
		{Type: spec.IB_FLOW_SPEC_ETH, Value: half, Mask: half},
		{Type: spec.IB_FLOW_SPEC_ACTION_DROP},
		{Type: spec.IB_FLOW_SPEC_ACTION_TAG, TagID: 5},
	}}, made)

	_, err = r.destroy(destroyQP, uint64(qp))
	require.Equal(t, error(rule.QPBusy), err)
	destroy := func(cmd spec.DestroyFlow) error {
		return r.commandEx(spec.IB_USER_VERBS_EX_CMD_DESTROY_FLOW, bytesOf(cmd), respBuf{})
	}
	require.Equal(t, error(rule.CmdFlowDestroyCompMask), destroy(spec.DestroyFlow{CompMask: 1, FlowHandle: got.FlowHandle}))
	require.NoError(t, destroy(spec.DestroyFlow{FlowHandle: got.FlowHandle}))
	_, err = r.destroy(destroyQP, uint64(qp))
	require.NoError(t, err)
}

// TestCreateFlowChecks: the checks of the rule itself, all but the last two
// before anything is looked up.
func TestCreateFlowChecks(t *testing.T) {
	r, qp, _ := flowRig(t)
	rc := r.qpByWrite(spec.IB_QPT_RC)
	const dontTrap = spec.IB_FLOW_ATTR_FLAGS_DONT_TRAP
	tests := []struct {
		name string
		qp   uint32
		mask uint32
		attr spec.FlowAttr
		want error
	}{
		{"comp_mask before flags", 99, 1, spec.FlowAttr{Flags: 8}, rule.CmdFlowCompMask},
		{"flags before the number of specifications", 99, 0, spec.FlowAttr{Flags: 8, NumOfSpecs: 11}, rule.CmdFlowFlags},
		{"a default rule that does not trap", 99, 0, spec.FlowAttr{Flags: dontTrap, Type: spec.IB_FLOW_ATTR_MC_DEFAULT, NumOfSpecs: 11}, rule.CmdFlowDontTrap},
		{"11 specifications", 99, 0, spec.FlowAttr{NumOfSpecs: 11, Size: 11*88 + 1}, rule.CmdFlowManySpecs},
		{"a size before reserved", 99, 0, spec.FlowAttr{NumOfSpecs: 1, Size: 89, Reserved: [2]uint8{1: 1}}, rule.CmdFlowSize},
		{"reserved before the port", 99, 0, spec.FlowAttr{Reserved: [2]uint8{1: 1}, Port: 2}, rule.CmdFlowReserved},
		{"the port before the QP", 99, 0, spec.FlowAttr{Port: 2}, rule.CmdFlowPort},
		{"an unknown QP", 99, 0, spec.FlowAttr{Port: 1}, rule.ObjectNotFound},
		{"an RC QP", rc, 0, spec.FlowAttr{Port: 1}, rule.CmdFlowQPType},
		{"a normal rule may let packets pass", qp, 0, spec.FlowAttr{Port: 1, Flags: dontTrap}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.createFlow(bytesOf(spec.CreateFlow{CompMask: tt.mask, QPHandle: tt.qp, FlowAttr: tt.attr}))
			require.Equal(t, tt.want, err)
		})
	}
}

// TestCreateFlowCap: CAP_NET_RAW is asked for before the QP is looked up, and
// after comp_mask.
func TestCreateFlowCap(t *testing.T) {
	r, _, _ := flowRig(t)
	r.drop(process.CAP_NET_RAW)
	_, err := r.createFlow(bytesOf(spec.CreateFlow{QPHandle: 99}))
	require.Equal(t, error(rule.CmdFlowCap), err)
	_, err = r.createFlow(bytesOf(spec.CreateFlow{CompMask: 1}))
	require.Equal(t, error(rule.CmdFlowCompMask), err)
}

// TestFlowSpecs: the checks of the specifications.
func TestFlowSpecs(t *testing.T) {
	const inner = spec.IB_FLOW_SPEC_INNER
	reserved := flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_DROP)
	reserved[6] = 1
	short := flowSpecBytes(spec.IB_FLOW_SPEC_ETH)
	binary.LittleEndian.PutUint16(short[4:], 4)
	long := filterBytes(spec.IB_FLOW_SPEC_TCP, 8, 0)
	longMask := filterBytes(spec.IB_FLOW_SPEC_TCP, 8, 0)
	longMask[len(longMask)-1] = 1
	label := filterBytes(spec.IB_FLOW_SPEC_IPV6, 36, 0)
	label[spec.FlowSpecHdrSize+33] = 0x10
	tests := []struct {
		name string
		spec []byte
		want error
	}{
		{"reserved", reserved, rule.CmdFlowSpecReserved},
		{"a tag without a number", flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_TAG), rule.CmdFlowTagSize},
		{"a drop with a number", flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_DROP, 0, 0, 0, 0), rule.CmdFlowDropSize},
		{"an action without a handle", flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_HANDLE), rule.CmdFlowActionSize},
		{"an unknown action", flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_HANDLE, 99, 0, 0, 0, 0, 0, 0, 0), rule.ObjectNotFound},
		{"counters without a handle", flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_COUNT), rule.CmdFlowCountSize},
		{"an object that is no counters", flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_COUNT, 0, 0, 0, 0, 0, 0, 0, 0), rule.ObjectWrongType},
		{"an unknown type of action", flowSpecBytes(0x1004), rule.CmdFlowActionType},
		{"a filter shorter than its header", short, rule.CmdFlowFilterShort},
		{"a value of 2 bytes", filterBytes(spec.IB_FLOW_SPEC_TCP, 2, 0), rule.CmdFlowFilterAlignment},
		{"a tunnel in a tunnel", filterBytes(spec.IB_FLOW_SPEC_VXLAN_TUNNEL|inner, 4, 0), rule.CmdFlowFilterInnerTunnel},
		{"an unknown filter", filterBytes(0x21, 4, 0), rule.CmdFlowFilterType},
		{"an empty filter", filterBytes(spec.IB_FLOW_SPEC_ETH, 0, 0), rule.CmdFlowFilterSize},
		{"a longer mask", longMask, rule.CmdFlowFilterSize},
		{"a flow label of 21 bits", label, rule.CmdFlowLabel},
		{"a tunnel of 25 bits", filterBytes(spec.IB_FLOW_SPEC_VXLAN_TUNNEL, 4, 1), rule.CmdFlowTunnelID},
		{"a longer filter of zeros", long, nil},
		{"an inner filter", filterBytes(spec.IB_FLOW_SPEC_IPV4|inner, 12, 1), nil},
		{"the 40 bytes of an IPv6 filter", filterBytes(spec.IB_FLOW_SPEC_IPV6, 40, 0), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, qp, made := flowRig(t)
			_, err := r.createFlow(flowRequest(qp, tt.spec))
			require.Equal(t, tt.want, err)
			if err == nil {
				require.Len(t, made.Specs, 1)
			}
			r.requireUnused()
		})
	}
}

// TestFlowLeftover: size and num_of_specs have to fit the specifications.
func TestFlowLeftover(t *testing.T) {
	r, qp, _ := flowRig(t)
	drop := flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_DROP)
	change := func(specs, size int, b []byte) []byte {
		b[16], b[12], b[13] = byte(specs), byte(size), 0
		return b
	}
	for _, tt := range []struct {
		specs, size int
		request     []byte
		want        error
	}{
		{1, 16, flowRequest(qp, drop, drop), rule.CmdFlowLeftover},
		{3, 16, flowRequest(qp, drop, drop), rule.CmdFlowLeftover},
		{2, 12, flowRequest(qp, drop, drop), rule.CmdFinishTail},
		{2, 24, flowRequest(qp, drop, drop), rule.CmdNextShort},
		{2, 16, flowRequest(qp, drop, drop), nil},
	} {
		_, err := r.createFlow(change(tt.specs, tt.size, tt.request))
		require.Equal(t, tt.want, err)
	}
}

// TestFlowResources: a rule counts the actions and counters that it names, as
// often as it names them, and gives them back after a failure.
func TestFlowResources(t *testing.T) {
	r, qp, _ := flowRig(t)
	r.ok(spec.UVERBS_OBJECT_COUNTERS, spec.UVERBS_METHOD_COUNTERS_CREATE, num(spec.UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0, 0))
	handle := r.attr(0).Data
	count := flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_COUNT, byte(handle), 0, 0, 0, 0, 0, 0, 0)
	_, err := r.createFlow(flowRequest(qp, count, flowSpecBytes(0x1004)))
	require.Equal(t, error(rule.CmdFlowActionType), err)
	flow, err := r.createFlow(flowRequest(qp, count, count))
	require.NoError(t, err)
	_, err = r.destroy(destroyCtrs, handle)
	require.ErrorContains(t, err, "EBUSY")
	require.NoError(t, r.commandEx(spec.IB_USER_VERBS_EX_CMD_DESTROY_FLOW, bytesOf(spec.DestroyFlow{FlowHandle: flow.FlowHandle}), respBuf{}))
	_, err = r.destroy(destroyCtrs, handle)
	require.NoError(t, err)
}
