package methods

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestWQ: a work queue keeps PD and CQ, an indirection table the work queue.
func TestWQ(t *testing.T) {
	const object, create = spec.UVERBS_OBJECT_WQ, spec.UVERBS_METHOD_WQ_CREATE
	r := newContext(t, nil)
	fd := r.newAsync()
	pd, cq := r.newPD(), r.newCQ()
	attrs := func(typ, flags uint64) []spec.IoctlAttr {
		return []spec.IoctlAttr{
			num(spec.UVERBS_ATTR_CREATE_WQ_HANDLE, 0, 0),
			num(spec.UVERBS_ATTR_CREATE_WQ_PD_HANDLE, 0, pd),
			num(spec.UVERBS_ATTR_CREATE_WQ_TYPE, 8, typ),
			num(spec.UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 8, 0x44),
			num(spec.UVERBS_ATTR_CREATE_WQ_MAX_WR, 4, 8),
			num(spec.UVERBS_ATTR_CREATE_WQ_MAX_SGE, 4, 2),
			num(spec.UVERBS_ATTR_CREATE_WQ_FLAGS, 4, flags),
			num(spec.UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, 0, cq),
			ptr(spec.UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4, r.buf(4)),
			ptr(spec.UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4, r.buf(4)),
			ptr(spec.UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4, r.buf(4)),
		}
	}
	r.refused(rule.FlagsUnknown, object, create, attrs(1, 1<<4)...)
	r.refused(rule.ConstRange, object, create, attrs(1<<32, 0)...)
	r.refused(rule.WQType, object, create, attrs(1, 0)...)
	r.took()
	r.refused(rule.AttrAbsent, object, create, without(attrs(0, 0), spec.UVERBS_ATTR_CREATE_WQ_CQ_HANDLE)...)
	require.Equal(t, []string{"destroy_wq"}, r.took())
	// WQ_NUM is optional for the parser only: the queue is made and then
	// destroyed for the want of it.
	r.took()
	r.refused(rule.AttrAbsent, object, create, without(attrs(0, 0), spec.UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM)...)
	require.Equal(t, []string{"destroy_wq"}, r.took())

	good := attrs(0, 15)
	r.ok(object, create, good...)
	wq := r.attr(0).Data
	require.Equal(t, "08000000", r.hex(addrOf(good[8]), 4))
	require.Equal(t, "02000000", r.hex(addrOf(good[9]), 4))
	require.Equal(t, "03000000", r.hex(addrOf(good[10]), 4), "two were made before")
	_, err := r.destroy(destroyPD, pd)
	require.Equal(t, error(rule.PDBusy), err)
	_, err = r.destroy(destroyCQ, cq)
	require.Equal(t, error(rule.CQBusy), err)

	r.wq.EventHandler(nil, &core.Event{Type: spec.IB_EVENT_WQ_FATAL, WQ: r.wq})
	at := r.buf(16)
	_, err = r.p.Read(fd, at, 16)
	require.NoError(t, err)
	require.Equal(t, "44000000000000001300000000000000", r.hex(at, 16))

	r.wq.Usecnt.Add(1)
	resp, err := r.destroy(destroyWQ, wq)
	require.Equal(t, error(rule.WQBusy), err)
	require.Equal(t, "a5a5a5a5", resp)
	r.wq.Usecnt.Add(-1)
	resp, err = r.destroy(destroyWQ, wq)
	require.NoError(t, err)
	require.Equal(t, "01000000", resp)
	_, err = r.destroy(destroyCQ, cq)
	require.NoError(t, err)
	_, err = r.destroy(destroyPD, pd)
	require.NoError(t, err)
}
