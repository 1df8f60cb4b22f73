package methods

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

func TestCounters(t *testing.T) {
	const object = spec.UVERBS_OBJECT_COUNTERS
	const create, read = spec.UVERBS_METHOD_COUNTERS_CREATE, spec.UVERBS_METHOD_COUNTERS_READ
	var made *core.Counters
	r := newContext(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.CreateCounters = func(c *core.Counters, _ core.Attrs) error { made = c; return nil }
	}))
	r.ok(object, create, num(0, 0, 0))
	h := r.attr(0).Data
	attrs := func(size int, flags uint64) []spec.IoctlAttr {
		return []spec.IoctlAttr{num(spec.UVERBS_ATTR_READ_COUNTERS_HANDLE, 0, h),
			ptr(spec.UVERBS_ATTR_READ_COUNTERS_BUFF, size, r.buf(size)), num(spec.UVERBS_ATTR_READ_COUNTERS_FLAGS, 4, flags)}
	}
	r.refused(rule.CountersUnbound, object, read, attrs(16, 2)...)
	made.Usecnt.Add(1)
	r.refused(rule.FlagsUnknown, object, read, attrs(16, 2)...)
	good := attrs(20, spec.IB_UVERBS_READ_COUNTERS_PREFER_CACHED)
	r.ok(object, read, good...)
	require.Equal(t, "0100000000000000"+"0200000000000000"+"a5a5a5a5", r.hex(addrOf(good[1]), 20))
	r.ok(object, read, attrs(0, 0)...)

	_, err := r.destroy(destroyCtrs, h)
	require.Equal(t, error(rule.CountersBusy), err)
	made.Usecnt.Add(-1)
	_, err = r.destroy(destroyCtrs, h)
	require.NoError(t, err)
	require.Equal(t, []string{"destroy_counters"}, r.took())

	r = newContext(t, nil, lacking(func(ops *core.DeviceOps) { ops.CreateCounters, ops.ReadCounters, ops.AllocDM = nil, nil, nil }))
	r.refused(rule.CountersUnsupported, object, create, num(0, 0, 0))
	r.refused(rule.DMUnsupported, spec.UVERBS_OBJECT_DM, spec.UVERBS_METHOD_DM_ALLOC, num(0, 0, 0), num(1, 8, 1), num(2, 4, 0))
}

// TestCountersDriverRefuses: nothing is destroyed that the driver did not make.
func TestCountersDriverRefuses(t *testing.T) {
	r := newContext(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.CreateCounters = func(*core.Counters, core.Attrs) error { return rule.CountersNoMemory }
	}))
	r.refused(rule.CountersNoMemory, spec.UVERBS_OBJECT_COUNTERS, spec.UVERBS_METHOD_COUNTERS_CREATE, num(0, 0, 0))
	require.Empty(t, r.took())
}
