package mlx5

import (
	"sync/atomic"

	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// flowMatcher is a struct mlx5_ib_flow_matcher: which bits of a packet's headers
// flows compare.
type flowMatcher struct {
	mask     []byte
	flowType int
	priority uint16
	criteria uint8  // match_criteria_enable: the parts of the mask that count
	tables   uint64 // MLX5_IB_UAPI_FLOW_TABLE_TYPE_…
	usecnt   atomic.Int32
}

// flowMatcherType says how matchers go.
var flowMatcherType = uobject.TypeAttrs{Destroy: flowMatcherCleanup}

// flowMatcherCreate is the handler of MLX5_IB_METHOD_FLOW_MATCHER_CREATE. It
// models UVERBS_HANDLER(MLX5_IB_METHOD_FLOW_MATCHER_CREATE) in
// drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/…, const/range, flags/…, attr/….
func flowMatcherCreate(b *kernel.Bundle) error {
	t := b.Trace()
	o, err := b.Object(spec.MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE)
	if err != nil {
		return err
	}
	if t.Fail(trace.Alloc, "mlx5_ib_flow_matcher") {
		return rule.MLX5MatcherNoMemory
	}
	n, err := b.Len(spec.MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK)
	if err != nil {
		return err
	}
	m := &flowMatcher{mask: make([]byte, n)}
	if err := b.CopyFrom(m.mask, spec.MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK); err != nil {
		return err
	}
	if m.flowType, err = b.Enum(spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE); err != nil {
		return err
	}
	var arg [2]byte
	if m.flowType == spec.MLX5_IB_FLOW_TYPE_NORMAL {
		if err := b.CopyFrom(arg[:], spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE); err != nil {
			return err
		}
		m.priority = le.Uint16(arg[:])
	}
	if err := b.CopyFrom(arg[:1], spec.MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA); err != nil {
		return err
	}
	m.criteria = arg[0]
	if m.tables, err = matcherNS(b); err != nil {
		return err
	}
	if m.tables == spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB {
		return rule.MLX5MatcherFDB
	}
	o.HW = m
	return nil
}

// matcherNS returns the type of the tables that a matcher is for. It models
// mlx5_ib_matcher_ns in drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/matcher-type-and-flags, mlx5-flow/table-type, const/range,
// flags/….
func matcherNS(b *kernel.Bundle) (uint64, error) {
	defer b.Trace().EnterInlined(moduleIB, "mlx5_ib_matcher_ns").Leave()
	const typ, flags = spec.MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS
	if b.IsValid(typ) && b.IsValid(flags) {
		return 0, rule.MLX5MatcherBoth
	}
	if b.IsValid(typ) {
		v, err := b.Const(typ, 1<<32-1)
		if err == nil && v > spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX {
			err = rule.MLX5FlowTableType
		}
		return v, err
	}
	f, err := b.Flags32(flags, spec.IB_FLOW_ATTR_FLAGS_EGRESS)
	if err != nil {
		return 0, err
	}
	if f != 0 {
		return spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX, nil
	}
	return spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, nil
}

// flowMatcherCleanup models flow_matcher_cleanup in
// drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/matcher-busy.
func flowMatcherCleanup(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	defer attrs.Task().Trace.Enter(moduleIB, "flow_matcher_cleanup").Leave()
	if o.HW.(*flowMatcher).usecnt.Load() != 0 {
		return rule.MLX5MatcherBusy
	}
	return nil
}
