package methods

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// srqAttrs are those of an SRQ_CREATE of a basic SRQ that succeeds.
func (r *rig) srqAttrs(pd, srqType uint64, more ...spec.IoctlAttr) []spec.IoctlAttr {
	return append([]spec.IoctlAttr{
		num(spec.UVERBS_ATTR_CREATE_SRQ_HANDLE, 0, 0),
		num(spec.UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, 0, pd),
		num(spec.UVERBS_ATTR_CREATE_SRQ_TYPE, 8, srqType),
		num(spec.UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, 0x33),
		num(spec.UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, 8),
		num(spec.UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, 1),
		num(spec.UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, 0),
		ptr(spec.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4, r.buf(4)),
		ptr(spec.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4, r.buf(4)),
	}, more...)
}

const (
	objSRQ   = spec.UVERBS_OBJECT_SRQ
	srqCreat = spec.UVERBS_METHOD_SRQ_CREATE
)

func TestSRQ(t *testing.T) {
	r := newContext(t, nil)
	pd := r.newPD()
	attrs := r.srqAttrs(pd, spec.IB_UVERBS_SRQT_BASIC)
	r.ok(objSRQ, srqCreat, attrs...)
	srq := r.attr(0).Data
	require.Equal(t, "10000000", r.hex(addrOf(attrs[7]), 4), "the driver doubled max_wr")
	require.Equal(t, "01000000", r.hex(addrOf(attrs[8]), 4))
	require.EqualValues(t, 0x33, r.srq.Object.UserHandle.Load())

	_, err := r.destroy(destroyPD, pd)
	require.Equal(t, error(rule.PDBusy), err)
	cq := r.newCQ()
	qp := r.newRC(pd, cq, num(spec.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, 0, srq))
	_, err = r.destroy(destroySRQ, srq)
	require.Equal(t, error(rule.SRQBusy), err)
	_, err = r.destroy(destroyQP, qp)
	require.NoError(t, err)
	resp, err := r.destroy(destroySRQ, srq)
	require.NoError(t, err)
	require.Equal(t, "00000000", resp)
	_, err = r.destroy(destroyPD, pd)
	require.NoError(t, err)
}

func TestSRQRefused(t *testing.T) {
	r := newContext(t, nil)
	pd := r.newPD()
	cq := num(spec.UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, 0, r.newCQ())
	tests := []struct {
		name string
		typ  uint64
		more []spec.IoctlAttr
		want *rule.Rule
	}{
		{"a type that does not exist", 3, nil, rule.SRQType},
		{"one that 8 bits would take for basic", 0x100, nil, rule.SRQType},
		{"XRC without a CQ", spec.IB_UVERBS_SRQT_XRC, nil, rule.AttrAbsent},
		{"XRC without a domain", spec.IB_UVERBS_SRQT_XRC, []spec.IoctlAttr{cq}, rule.AttrAbsent},
		{"tag matching without tags", spec.IB_UVERBS_SRQT_TM, []spec.IoctlAttr{cq}, rule.AttrAbsent},
		{"a type above 32 bits", 1 << 32, nil, rule.ConstRange},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.TB = t
			r.refused(tt.want, objSRQ, srqCreat, r.srqAttrs(pd, tt.typ, tt.more...)...)
		})
	}
	r.TB = t
	_, err := r.destroy(destroyPD, pd)
	require.NoError(t, err)
}

// TestXRCSRQ: an XRC SRQ uses PD, CQ and domain, and the handle of the domain.
func TestXRCSRQ(t *testing.T) {
	r := newContext(t, nil)
	pd, cq, xrcd := r.newPD(), r.newCQ(), r.newXRCD()
	numAt := r.buf(4)
	r.ok(objSRQ, srqCreat, r.srqAttrs(pd, spec.IB_UVERBS_SRQT_XRC,
		num(spec.UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, 0, cq),
		num(spec.UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, 0, xrcd),
		ptr(spec.UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, 4, numAt))...)
	srq := r.attr(0).Data
	require.Equal(t, "01000000", r.hex(numAt, 4))
	for _, busy := range []struct {
		destroyer
		handle uint64
		want   *rule.Rule
	}{{destroyPD, pd, rule.PDBusy}, {destroyCQ, cq, rule.CQBusy}, {destroyXRCD, xrcd, rule.XRCDBusy}} {
		_, err := r.destroy(busy.destroyer, busy.handle)
		require.Equal(t, error(busy.want), err)
	}
	_, err := r.destroy(destroySRQ, srq)
	require.NoError(t, err)
	for _, free := range []struct {
		destroyer
		handle uint64
	}{{destroyXRCD, xrcd}, {destroyCQ, cq}, {destroyPD, pd}} {
		_, err := r.destroy(free.destroyer, free.handle)
		require.NoError(t, err)
	}
}

// TestSRQDriverRefuses: nothing stays in use after the driver refused.
func TestSRQDriverRefuses(t *testing.T) {
	r := newContext(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.CreateSRQ = func(*core.SRQ, *core.SRQInitAttr, *core.Udata) error { return rule.SRQNoMemory }
	}))
	pd, cq, xrcd := r.newPD(), r.newCQ(), r.newXRCD()
	r.refused(rule.SRQNoMemory, objSRQ, srqCreat, r.srqAttrs(pd, spec.IB_UVERBS_SRQT_XRC,
		num(spec.UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, 0, cq), num(spec.UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, 0, xrcd))...)
	for _, free := range []struct {
		destroyer
		handle uint64
	}{{destroyXRCD, xrcd}, {destroyCQ, cq}, {destroyPD, pd}} {
		_, err := r.destroy(free.destroyer, free.handle)
		require.NoError(t, err)
	}
}

// TestSRQEvents: an SRQ's events carry the user's handle, and those read are
// counted.
func TestSRQEvents(t *testing.T) {
	r := newContext(t, nil)
	fd := r.newAsync()
	r.ok(objSRQ, srqCreat, r.srqAttrs(r.newPD(), spec.IB_UVERBS_SRQT_BASIC)...)
	srq := r.attr(0).Data
	r.srq.EventHandler(nil, &core.Event{Type: spec.IB_EVENT_SRQ_LIMIT_REACHED, SRQ: r.srq})
	at := r.buf(16)
	_, err := r.p.Read(fd, at, 16)
	require.NoError(t, err)
	require.Equal(t, "33000000000000000f00000000000000", r.hex(at, 16))
	resp, err := r.destroy(destroySRQ, srq)
	require.NoError(t, err)
	require.Equal(t, "01000000", resp)
}
