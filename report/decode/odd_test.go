package decode

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
)

// odd are the names and numbers of what a call has that the kernel refuses.
func odd(fields []Field) map[string]uint64 {
	m := map[string]uint64{}
	for _, f := range fields {
		m[f.Name] = f.Value.Num
	}
	return m
}

// TestOddHeader: the length counts the header and every attribute, and what is
// reserved is 0.
func TestOddHeader(t *testing.T) {
	c := take(spec.RDMA_DRIVER_MLX5, spec.UVERBS_OBJECT_PD, spec.UVERBS_METHOD_PD_DESTROY, []spec.IoctlAttr{{Data: 7}})
	require.Empty(t, Call(c).Odd)
	h := &c.Ioctl.Header
	h.Length, h.Reserved1, h.Reserved2 = 39, 1<<40, 9
	require.Equal(t, map[string]uint64{"length": 39, "reserved1": 1 << 40, "reserved2": 9}, odd(Call(c).Odd))
	h.Length = 24 + 16
	require.Equal(t, map[string]uint64{"reserved1": 1 << 40, "reserved2": 9}, odd(Call(c).Odd))
}

// TestOddAttr: an object has no length, but other attributes do; elem_id of an
// ENUM_IN is in what is reserved in others.
func TestOddAttr(t *testing.T) {
	of := func(object, method uint16, a spec.IoctlAttr) map[string]uint64 {
		return odd(Call(take(spec.RDMA_DRIVER_MLX5, object, method, []spec.IoctlAttr{a})).Attrs[0].Odd)
	}
	destroy := func(a spec.IoctlAttr) map[string]uint64 {
		return of(spec.UVERBS_OBJECT_PD, spec.UVERBS_METHOD_PD_DESTROY, a)
	}
	const handle, valid = spec.UVERBS_ATTR_DESTROY_PD_HANDLE, spec.UVERBS_ATTR_F_MANDATORY | spec.UVERBS_ATTR_F_VALID_OUTPUT
	require.Empty(t, destroy(spec.IoctlAttr{AttrID: handle, Flags: valid, Data: 7}))
	require.Equal(t, map[string]uint64{"len": 4}, destroy(spec.IoctlAttr{AttrID: handle, Len: 4, Data: 7}))
	require.Equal(t, map[string]uint64{"flags": 4}, destroy(spec.IoctlAttr{AttrID: handle, Flags: valid | 4, Data: 7}))
	require.Equal(t, map[string]uint64{"reserved": 0x0100}, destroy(spec.IoctlAttr{AttrID: handle, AttrData: 0x0100, Data: 7}))
	require.Empty(t, destroy(spec.IoctlAttr{AttrID: 77, Len: 4, Data: 7}), "nobody knows what it is")
	cqe := spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_CQE, Len: 4, Data: 16}
	require.Empty(t, of(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, cqe))
	choice := spec.IoctlAttr{AttrID: spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, AttrData: 1}
	const matcher, create = spec.MLX5_IB_OBJECT_FLOW_MATCHER, spec.MLX5_IB_METHOD_FLOW_MATCHER_CREATE
	require.Empty(t, of(matcher, create, choice))
	choice.AttrData = 0x0201
	require.Equal(t, map[string]uint64{"reserved": 2}, of(matcher, create, choice))
}

// TestUnknownAttr: of an attribute that nobody knows what was in it is shown, and
// what is in it afterwards if that is another number.
func TestUnknownAttr(t *testing.T) {
	c := take(spec.RDMA_DRIVER_MLX5, spec.UVERBS_OBJECT_PD, spec.UVERBS_METHOD_PD_DESTROY, []spec.IoctlAttr{{AttrID: 77, Data: 7}})
	a := Call(c).Attrs[0]
	require.Equal(t, number(Hex, 7), *a.In)
	require.Nil(t, a.Out)
	c.Ioctl.Attrs[0].After.Data = 9
	a = Call(c).Attrs[0]
	require.Equal(t, number(Hex, 7), *a.In)
	require.Equal(t, number(Hex, 9), *a.Out)
}

// TestFlowSpecEnds: a specification that is nothing but its header may be the
// last, and one that is cut is none.
func TestFlowSpecEnds(t *testing.T) {
	flow := spec.CreateFlow{}
	drop := spec.FlowSpecHdr{Type: spec.IB_FLOW_SPEC_ACTION_DROP, Size: spec.FlowSpecHdrSize}
	b := slices.Concat(spec.Bytes(&flow), spec.Bytes(&drop))
	v := StructOf("struct ib_uverbs_create_flow", b)
	require.Len(t, v.Field("flow_specs").Items, 1)
	require.Empty(t, v.Tail)
	v = StructOf("struct ib_uverbs_create_flow", b[:len(b)-1])
	require.Empty(t, v.Field("flow_specs").Items)
	require.Equal(t, spec.Bytes(&drop)[:7], v.Tail)
}

// TestFlowSpecType: the bit of an inner header goes with types that there are.
func TestFlowSpecType(t *testing.T) {
	require.Equal(t, named(spec.IB_FLOW_SPEC_TCP, "IB_FLOW_SPEC_TCP"), flowSpecType([]byte{spec.IB_FLOW_SPEC_TCP, 0, 0, 0}))
	require.Equal(t, Value{Kind: Flags, Num: 0x140, Names: []string{"IB_FLOW_SPEC_TCP", "IB_FLOW_SPEC_INNER"}}, flowSpecType([]byte{0x40, 1, 0, 0}))
	require.Equal(t, named(0x199, ""), flowSpecType([]byte{0x99, 1, 0, 0}))
	require.Equal(t, named(0x99, ""), flowSpecType([]byte{0x99, 0, 0, 0}))
}
