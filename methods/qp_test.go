package methods

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

const (
	objQP   = spec.UVERBS_OBJECT_QP
	qpCreat = spec.UVERBS_METHOD_QP_CREATE
)

// TestQPKeepsPartsBusy follows the recorded case busy/pd-cq-with-qp.
func TestQPKeepsPartsBusy(t *testing.T) {
	r := newContext(t, nil)
	pd, cq := r.newPD(), r.newCQ()
	attrs := r.rcAttrs(pd, cq)
	r.ok(objQP, qpCreat, attrs...)
	qp := r.attr(0).Data
	require.EqualValues(t, 2, qp)
	require.Equal(t, "....!!...", r.written())
	require.Equal(t, "08000000"+"04000000"+"01000000"+"01000000"+"00000000", r.hex(addrOf(attrs[4]), 20),
		"the driver doubled max_send_wr")
	require.Equal(t, "01000000", r.hex(addrOf(attrs[5]), 4))
	require.EqualValues(t, 119, r.qp.Object.UserHandle.Load())

	_, err := r.destroy(destroyPD, pd)
	require.Equal(t, error(rule.PDBusy), err)
	resp, err := r.destroy(destroyCQ, cq)
	require.Equal(t, error(rule.CQBusy), err)
	require.Equal(t, "a5a5a5a5a5a5a5a5", resp)
	resp, err = r.destroy(destroyQP, qp)
	require.NoError(t, err)
	require.Equal(t, "00000000", resp)
	_, err = r.destroy(destroyCQ, cq)
	require.NoError(t, err)
	_, err = r.destroy(destroyPD, pd)
	require.NoError(t, err)
}

// TestQPRefused: what each type of QP may and may not be made of, and the
// order of the checks.
func TestQPRefused(t *testing.T) {
	r := newContext(t, nil)
	pd, cq, xrcd := r.newPD(), r.newCQ(), r.newXRCD()
	r.ok(objSRQ, srqCreat, r.srqAttrs(pd, spec.IB_UVERBS_SRQT_BASIC)...)
	srq := r.attr(0).Data
	r.ok(objSRQ, srqCreat, r.srqAttrs(pd, spec.IB_UVERBS_SRQT_XRC,
		num(spec.UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, 0, cq), num(spec.UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, 0, xrcd),
		ptr(spec.UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, 4, r.buf(4)))...)
	xsrq := r.attr(0).Data

	var (
		xrcdA  = num(spec.UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, 0, xrcd)
		pdA    = num(spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, pd)
		sendA  = num(spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, cq)
		recvA  = num(spec.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, cq)
		srqA   = num(spec.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, 0, srq)
		xsrqA  = num(spec.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, 0, xsrq)
		flags  = func(f uint64) spec.IoctlAttr { return num(spec.UVERBS_ATTR_CREATE_QP_FLAGS, 4, f) }
		source = num(spec.UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 4, 1)
	)
	const (
		rc, ud, raw, ini, tgt = spec.IB_UVERBS_QPT_RC, spec.IB_UVERBS_QPT_UD, spec.IB_UVERBS_QPT_RAW_PACKET,
			spec.IB_UVERBS_QPT_XRC_INI, spec.IB_UVERBS_QPT_XRC_TGT
		fcs, all = spec.IB_UVERBS_QP_CREATE_SCATTER_FCS, spec.IB_UVERBS_QP_CREATE_SQ_SIG_ALL
	)
	tests := []struct {
		name string
		typ  uint64
		more []spec.IoctlAttr
		want *rule.Rule // nil is a QP
	}{
		{"RC", rc, []spec.IoctlAttr{pdA, sendA, recvA}, nil},
		{"RC without a PD", rc, []spec.IoctlAttr{sendA, recvA}, rule.AttrAbsent},
		{"RC without a send CQ", rc, []spec.IoctlAttr{pdA, recvA}, rule.AttrAbsent},
		{"RC without a receive CQ", rc, []spec.IoctlAttr{pdA, sendA}, rule.AttrAbsent},
		{"RC with a domain", rc, []spec.IoctlAttr{pdA, sendA, recvA, xrcdA}, rule.QPForbiddenObject},
		{"RC with an SRQ", rc, []spec.IoctlAttr{pdA, sendA, recvA, srqA}, nil},
		{"RC with an XRC SRQ", rc, []spec.IoctlAttr{pdA, sendA, recvA, xsrqA}, rule.QPSRQType},
		{"RC with a flag", rc, []spec.IoctlAttr{pdA, sendA, recvA, flags(fcs)}, rule.QPFlagsType},
		{"RC that signals all", rc, []spec.IoctlAttr{pdA, sendA, recvA, flags(all)}, nil},
		{"flags come before the SRQ", rc, []spec.IoctlAttr{pdA, sendA, recvA, xsrqA, flags(fcs)}, rule.QPFlagsType},
		{"an unknown flag", ud, []spec.IoctlAttr{pdA, sendA, recvA, flags(1)}, rule.FlagsUnknown},
		{"the parts come before the flags", ud, []spec.IoctlAttr{pdA, recvA, flags(1)}, rule.AttrAbsent},
		{"UD with FCS", ud, []spec.IoctlAttr{pdA, sendA, recvA, flags(fcs)}, rule.QPFlagsRawPacket},
		{"UD with a source number", ud, []spec.IoctlAttr{pdA, sendA, recvA, source}, nil},
		{"raw packet with FCS", raw, []spec.IoctlAttr{pdA, sendA, recvA, flags(fcs)}, nil},
		{"initiator", ini, []spec.IoctlAttr{pdA, sendA}, nil},
		{"initiator with an SRQ", ini, []spec.IoctlAttr{pdA, sendA, srqA}, rule.QPForbiddenObject},
		{"target", tgt, []spec.IoctlAttr{xrcdA}, nil},
		{"target without a domain", tgt, nil, rule.AttrAbsent},
		{"target with a PD", tgt, []spec.IoctlAttr{xrcdA, pdA}, rule.QPTgtObjects},
		{"target with a CQ", tgt, []spec.IoctlAttr{recvA}, rule.QPTgtObjects},
		{"target with a basic SRQ", tgt, []spec.IoctlAttr{xrcdA, srqA}, rule.QPSRQType},
		{"target with an XRC SRQ", tgt, []spec.IoctlAttr{xrcdA, xsrqA}, nil},
		{"a type that does not exist", 5, []spec.IoctlAttr{pdA, sendA, recvA}, rule.QPType},
		{"one that 8 bits would take for RC", 0x102, []spec.IoctlAttr{pdA, sendA, recvA}, rule.QPType},
		{"a type above 32 bits", 1 << 32, nil, rule.ConstRange},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.TB = t
			err := r.call(objQP, qpCreat, r.qpAttrs(tt.typ, tt.more...)...)
			if tt.want != nil {
				require.Equal(t, error(tt.want), err)
				return
			}
			require.NoError(t, err)
			_, err = r.destroy(destroyQP, r.attr(0).Data)
			require.NoError(t, err)
		})
	}
	r.TB = t
	for _, free := range []struct {
		destroyer
		handle uint64
	}{{destroySRQ, xsrq}, {destroySRQ, srq}, {destroyXRCD, xrcd}, {destroyCQ, cq}, {destroyPD, pd}} {
		_, err := r.destroy(free.destroyer, free.handle)
		require.NoError(t, err)
	}
}

// TestRawPacketCap: a raw packet QP wants CAP_NET_RAW before anything else of
// it is looked at.
func TestRawPacketCap(t *testing.T) {
	r := newContext(t, nil)
	require.NoError(t, r.p.Capset(process.CAP_NET_RAW))
	r.refused(rule.QPRawPacketCap, objQP, qpCreat, r.qpAttrs(spec.IB_UVERBS_QPT_RAW_PACKET)...)
}

// TestQPAttrs: what reaches the driver.
func TestQPAttrs(t *testing.T) {
	var got core.QPInitAttr
	r := newContext(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.CreateQP = func(_ *core.QP, attr *core.QPInitAttr, _ *core.Udata) error { got = *attr; return nil }
	}))
	pd, cq := r.newPD(), r.newCQ()
	r.newRC(pd, cq, num(spec.UVERBS_ATTR_CREATE_QP_FLAGS, 4, spec.IB_UVERBS_QP_CREATE_SQ_SIG_ALL),
		num(spec.UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 4, 77))
	require.Equal(t, core.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}, got.Cap)
	require.EqualValues(t, spec.IB_QPT_RC, got.Type)
	require.EqualValues(t, signalAllWR, got.SqSigType)
	require.EqualValues(t, spec.IB_QP_CREATE_SOURCE_QPN, got.CreateFlags, "SQ_SIG_ALL is kept from the driver")
	require.EqualValues(t, 77, got.SourceQPN)
	r.newRC(pd, cq)
	require.EqualValues(t, signalReqWR, got.SqSigType)
	require.Zero(t, got.CreateFlags)
}

// TestMcastKeepsQP: a user has to detach its QP first; a close detaches it.
func TestMcastKeepsQP(t *testing.T) {
	r := newContext(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.AttachMcast = func(*process.Task, *core.QP, [16]byte, uint16) error { return nil }
		ops.DetachMcast = func(*process.Task, *core.QP, [16]byte, uint16) error { return nil }
	}))
	pd, cq := num(spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, r.newPD()), r.newCQ()
	r.ok(objQP, qpCreat, r.qpAttrs(spec.IB_UVERBS_QPT_UD, pd,
		num(spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, cq), num(spec.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, cq))...)
	qp := r.attr(0).Data
	group := mcastEntry{gid: [16]byte{0: 0xff, 1: 0x0e}, lid: 0xc001}
	u := r.qp.Object.Ext.(*uqp)
	u.mcastList = []mcastEntry{group}
	r.qp.Usecnt.Add(1)
	_, err := r.destroy(destroyQP, qp)
	require.Equal(t, error(rule.QPMcastAttached), err)
	u.mcastList = nil
	_, err = r.destroy(destroyQP, qp)
	require.Equal(t, error(rule.QPBusy), err)
	u.mcastList = []mcastEntry{group}
	r.took()
	require.NoError(t, r.p.Close(r.fd))
	require.Equal(t, []string{"destroy_qp", "destroy_cq", "dealloc_pd", "dealloc_ucontext"}, r.took())
}

// TestSharedQP: an XRC target QP belongs to its domain; what the user has is a
// handle, and the last handle takes the QP along. Events go to all handles.
func TestSharedQP(t *testing.T) {
	r := newContext(t, nil)
	fd := r.newAsync()
	xrcd := r.newXRCD()
	r.ok(objQP, qpCreat, r.qpAttrs(spec.IB_UVERBS_QPT_XRC_TGT, num(spec.UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, 0, xrcd))...)
	handle := r.attr(0).Data
	realQP := r.qp
	require.Nil(t, realQP.Object)
	require.EqualValues(t, 1, realQP.Usecnt.Load())

	second, err := core.OpenQP(r.p.MainTask(), realQP.XRCD, realQP.QPNum, spec.IB_QPT_XRC_TGT, qpEventHandler)
	require.NoError(t, err)
	_, err = core.OpenQP(r.p.MainTask(), realQP.XRCD, realQP.QPNum, spec.IB_QPT_RC, nil)
	require.Equal(t, error(rule.QPOpenType), err)
	_, err = core.OpenQP(r.p.MainTask(), realQP.XRCD, realQP.QPNum+1, spec.IB_QPT_XRC_TGT, nil)
	require.Equal(t, error(rule.QPOpenUnknown), err)
	require.Equal(t, error(rule.QPNotShared), core.CloseQP(nil, realQP))

	realQP.EventHandler(nil, &core.Event{Type: spec.IB_EVENT_QP_FATAL, QP: realQP})
	at := r.buf(16)
	_, err = r.p.Read(fd, at, 16)
	require.NoError(t, err)
	require.Equal(t, "77000000000000000100000000000000", r.hex(at, 16))

	_, err = r.destroy(destroyXRCD, xrcd)
	require.Equal(t, error(rule.XRCDBusy), err)
	r.took()
	resp, err := r.destroy(destroyQP, handle)
	require.NoError(t, err)
	require.Equal(t, "01000000", resp)
	require.Empty(t, r.took(), "the second handle keeps the QP")
	third, err := core.OpenQP(r.p.MainTask(), realQP.XRCD, realQP.QPNum, spec.IB_QPT_XRC_TGT, nil)
	require.NoError(t, err)
	require.NoError(t, core.CloseQP(nil, third))
	none := &core.Udata{Attrs: noAttrs{task: r.p.MainTask()}}
	require.Equal(t, error(rule.XRCDInUse), core.DeallocXRCDUser(realQP.XRCD, none))
	require.NoError(t, core.DestroyQPUser(second, none))
	require.Equal(t, []string{"destroy_qp"}, r.took())
	_, err = r.destroy(destroyXRCD, xrcd)
	require.NoError(t, err)
}

// noAttrs is a call without attributes.
type noAttrs struct {
	core.Attrs
	task *process.Task
}

func (a noAttrs) Task() *process.Task { return a.task }

// TestSharedQPNoMemory: when a shared QP cannot be entered into its domain it
// is destroyed, with the use of the domain that the kernel forgets.
func TestSharedQPNoMemory(t *testing.T) {
	fail := failing{}
	r := newContext(t, trace.NewTask(1, fail))
	xrcd := num(spec.UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, 0, r.newXRCD())
	fail["tgt_qps"] = true
	r.refused(rule.QPNoMemory, objQP, qpCreat, r.qpAttrs(spec.IB_UVERBS_QPT_XRC_TGT, xrcd)...)
	require.Equal(t, []string{"destroy_qp"}, r.took())
	require.Zero(t, r.qp.Usecnt.Load())
	require.EqualValues(t, 1, r.qp.XRCD.Usecnt.Load())
}
