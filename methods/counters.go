package methods

import (
	"encoding/binary"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// objectCounters is UVERBS_OBJECT_COUNTERS
// (drivers/infiniband/core/uverbs_std_types_counters.c).
var objectCounters = object{
	id:  spec.UVERBS_OBJECT_COUNTERS,
	typ: &uobject.TypeAttrs{Destroy: freeCounters},
	methods: map[uint16]kernel.Handler{
		spec.UVERBS_METHOD_COUNTERS_CREATE: countersCreate,
		spec.UVERBS_METHOD_COUNTERS_READ:   countersRead,
	},
}

// freeCounters ends a set of counters that no flow rule counts into any more.
// It models uverbs_free_counters.
//
// Errors: counters/busy, and those of the driver.
func freeCounters(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "uverbs_free_counters").Leave()
	c := o.HW.(*core.Counters)
	if c.Usecnt.Read(attrs.Task().Trace, "ib_counters") != 0 {
		return rule.CountersBusy
	}
	return c.Device.Ops.DestroyCounters(attrs.Task(), c)
}

// countersCreate makes a set of counters. It is the handler of
// UVERBS_METHOD_COUNTERS_CREATE.
//
// Errors: counters/unsupported, counters/no-memory, and those of the driver.
func countersCreate(b *kernel.Bundle) error {
	o := mustObject(b, spec.UVERBS_ATTR_CREATE_COUNTERS_HANDLE)
	dev := b.Ucontext().Device
	if dev.Ops.CreateCounters == nil {
		return rule.CountersUnsupported
	}
	if b.Trace().Fail(trace.Alloc, "ib_counters") {
		return rule.CountersNoMemory
	}
	c := &core.Counters{Device: dev}
	o.HW = c
	return dev.Ops.CreateCounters(c, b)
}

// countersRead reads counters that a flow rule counts into, as many as the
// user has room for. It is the handler of UVERBS_METHOD_COUNTERS_READ.
//
// Errors: counters/read-unsupported, counters/unbound, flags/…,
// bundle/no-memory, attr/output-fault, attr/flag-fault, and those of the driver.
func countersRead(b *kernel.Bundle) error {
	c := mustHW[*core.Counters](b, spec.UVERBS_ATTR_READ_COUNTERS_HANDLE)
	if c.Device.Ops.ReadCounters == nil {
		return rule.CountersReadUnsupported
	}
	if c.Usecnt.Read(b.Trace(), "ib_counters") == 0 {
		return rule.CountersUnbound
	}
	var attr core.CountersReadAttr
	var err error
	attr.Flags, err = b.Flags32(spec.UVERBS_ATTR_READ_COUNTERS_FLAGS, spec.IB_UVERBS_READ_COUNTERS_PREFER_CACHED)
	if err != nil {
		return err
	}
	size, err := b.Len(spec.UVERBS_ATTR_READ_COUNTERS_BUFF)
	if err != nil {
		return err
	}
	raw, err := b.Alloc(size &^ 7)
	if err != nil {
		return err
	}
	attr.Buf = make([]uint64, size/8)
	if err := c.Device.Ops.ReadCounters(c, &attr, b); err != nil {
		return err
	}
	for i, v := range attr.Buf {
		binary.LittleEndian.PutUint64(raw[8*i:], v)
	}
	return b.CopyTo(spec.UVERBS_ATTR_READ_COUNTERS_BUFF, raw)
}
