package methods

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// Some objects are made by drivers only, or by commands that want much of
// them. makeDefs has a driver's method for each that makes one.
var makers = map[uint16]func(r *rig) any{
	spec.UVERBS_OBJECT_FLOW_ACTION: func(r *rig) any { return &core.FlowAction{Device: r.dev} },
	spec.UVERBS_OBJECT_FLOW:        func(r *rig) any { return &core.Flow{Device: r.dev} },
	spec.UVERBS_OBJECT_RWQ_IND_TBL: func(r *rig) any { return &core.RWQIndTable{Device: r.dev} },
	spec.UVERBS_OBJECT_MW:          func(r *rig) any { return &core.MW{Device: r.dev} },
	spec.UVERBS_OBJECT_AH:          func(r *rig) any { return &core.AH{Device: r.dev} },
}

const makeMethod = spec.NSFlag

func (r *rig) makeDefs() kernel.Definitions {
	defs := kernel.Definitions{Methods: map[kernel.MethodID]kernel.Handler{}}
	for id, hw := range makers {
		defs.Spec = append(defs.Spec, spec.Definition{Object: spec.Object{ID: id, Name: "MADE", Methods: []spec.Method{{
			ID: makeMethod, Name: "MAKE", Attrs: []spec.Attr{
				{ID: 0, Name: "HANDLE", Type: spec.TypeIDR, Object: id, Access: spec.AccessNew, Mandatory: true}},
		}}}})
		defs.Methods[kernel.MethodID{Object: id, Method: makeMethod}] = func(b *kernel.Bundle) error {
			o := mustObject(b, 0)
			o.HW = hw(r)
			r.made = o
			return nil
		}
	}
	return defs
}

// make makes an object of that type and returns its handle; it is r.made.
func (r *rig) make(object uint16) uint64 {
	r.Helper()
	r.ok(object, makeMethod, num(0, 0, 0))
	return r.attr(0).Data
}

var (
	destroyFlowAction = destroyer{spec.UVERBS_OBJECT_FLOW_ACTION, spec.UVERBS_METHOD_FLOW_ACTION_DESTROY, 0}
	destroyFlow       = destroyer{spec.UVERBS_OBJECT_FLOW, spec.UVERBS_METHOD_FLOW_DESTROY, 0}
	destroyRWQIndTbl  = destroyer{spec.UVERBS_OBJECT_RWQ_IND_TBL, spec.UVERBS_METHOD_RWQ_IND_TBL_DESTROY, 0}
	destroyMW         = destroyer{spec.UVERBS_OBJECT_MW, spec.UVERBS_METHOD_MW_DESTROY, 0}
	destroyAH         = destroyer{spec.UVERBS_OBJECT_AH, spec.UVERBS_METHOD_AH_DESTROY, 0}
)

// TestDestroy: the objects that are only destroyed here, what keeps them and
// what they give back.
func TestDestroy(t *testing.T) {
	t.Run("flow action", func(t *testing.T) {
		r := newContext(t, nil)
		h := r.make(spec.UVERBS_OBJECT_FLOW_ACTION)
		a := r.made.HW.(*core.FlowAction)
		a.Usecnt.Add(1)
		_, err := r.destroy(destroyFlowAction, h)
		require.Equal(t, error(rule.FlowActionBusy), err)
		a.Usecnt.Add(-1)
		_, err = r.destroy(destroyFlowAction, h)
		require.NoError(t, err)
		require.Equal(t, []string{"destroy_flow_action"}, r.took())
	})
	t.Run("flow", func(t *testing.T) {
		r := newContext(t, nil)
		h := r.make(spec.UVERBS_OBJECT_FLOW)
		qp, action, counters := &core.QP{}, &core.FlowAction{}, &core.Counters{}
		qp.Usecnt.Store(1)
		r.made.HW.(*core.Flow).QP = qp
		res := &core.FlowResources{}
		res.AddAction(nil, action)
		res.AddCounters(nil, counters)
		res.AddCounters(nil, counters)
		require.EqualValues(t, 1, action.Usecnt.Load())
		require.EqualValues(t, 2, counters.Usecnt.Load())
		r.made.Ext.(*core.UFlow).Resources = res
		_, err := r.destroy(destroyFlow, h)
		require.NoError(t, err)
		require.Equal(t, []string{"destroy_flow"}, r.took())
		require.Zero(t, qp.Usecnt.Load())
		require.Zero(t, action.Usecnt.Load())
		require.Zero(t, counters.Usecnt.Load())
	})
	t.Run("indirection table", func(t *testing.T) {
		r := newContext(t, nil)
		h := r.make(spec.UVERBS_OBJECT_RWQ_IND_TBL)
		tbl := r.made.HW.(*core.RWQIndTable)
		wq := &core.WQ{}
		wq.Usecnt.Store(2)
		tbl.Table = []*core.WQ{wq, wq}
		tbl.Usecnt.Add(1)
		_, err := r.destroy(destroyRWQIndTbl, h)
		require.Equal(t, error(rule.RWQIndTblBusy), err)
		require.EqualValues(t, 2, wq.Usecnt.Load())
		tbl.Usecnt.Add(-1)
		_, err = r.destroy(destroyRWQIndTbl, h)
		require.NoError(t, err)
		require.Zero(t, wq.Usecnt.Load())
	})
	t.Run("memory window", func(t *testing.T) {
		r := newContext(t, nil)
		h := r.make(spec.UVERBS_OBJECT_MW)
		pd := &core.PD{}
		pd.Usecnt.Store(1)
		r.made.HW.(*core.MW).PD = pd
		_, err := r.destroy(destroyMW, h)
		require.NoError(t, err)
		require.Equal(t, []string{"dealloc_mw"}, r.took())
		require.Zero(t, pd.Usecnt.Load())
	})
	t.Run("address handle", func(t *testing.T) {
		r := newContext(t, nil, lacking(func(ops *core.DeviceOps) {
			ops.DestroyAH = func(_ *process.Task, _ *core.AH, flags uint32) error {
				require.EqualValues(t, core.DestroyAHSleepable, flags)
				return nil
			}
		}))
		h := r.make(spec.UVERBS_OBJECT_AH)
		pd := &core.PD{}
		pd.Usecnt.Store(1)
		r.made.HW.(*core.AH).PD = pd
		_, err := r.destroy(destroyAH, h)
		require.NoError(t, err)
		require.Zero(t, pd.Usecnt.Load())
	})
}

// TestIndTableQP: a QP with an indirection table has no receive side of its
// own, and keeps the table.
func TestIndTableQP(t *testing.T) {
	r := newContext(t, nil)
	pd := num(spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, r.newPD())
	cq := r.newCQ()
	handle := r.make(spec.UVERBS_OBJECT_RWQ_IND_TBL)
	tbl := num(spec.UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, 0, handle)
	send := num(spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, cq)
	capOf := func(c spec.QPCap) spec.IoctlAttr {
		return ptr(spec.UVERBS_ATTR_CREATE_QP_CAP, spec.QPCapSize, r.data(spec.Bytes(&c)))
	}
	attrs := func(c spec.QPCap, more ...spec.IoctlAttr) []spec.IoctlAttr {
		return with(r.qpAttrs(spec.IB_UVERBS_QPT_RAW_PACKET, append(more, pd, tbl)...), capOf(c))
	}
	r.refused(rule.QPIndTableReceives, objQP, qpCreat, attrs(spec.QPCap{MaxRecvWR: 1})...)
	r.refused(rule.QPIndTableReceives, objQP, qpCreat, attrs(spec.QPCap{MaxRecvSGE: 1})...)
	r.refused(rule.QPIndTableReceives, objQP, qpCreat, attrs(spec.QPCap{}, num(spec.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, cq))...)
	r.refused(rule.AttrAbsent, objQP, qpCreat, attrs(spec.QPCap{MaxSendWR: 1})...)
	r.ok(objQP, qpCreat, attrs(spec.QPCap{MaxSendWR: 1}, send)...)
	require.NotNil(t, r.qp.SendCQ)
	r.ok(objQP, qpCreat, attrs(spec.QPCap{}, send)...)
	require.Nil(t, r.qp.SendCQ, "a QP that sends nothing has no use for a send CQ")
	require.Nil(t, r.qp.RecvCQ)
	_, err := r.destroy(destroyRWQIndTbl, handle)
	require.Equal(t, error(rule.RWQIndTblBusy), err)
}

// TestCloseDestroysAll: a close goes over the objects from the newest to the
// oldest, and again for those that were in use.
func TestCloseDestroysAll(t *testing.T) {
	r := newContext(t, nil)
	pd := r.newPD()
	r.newMR(pd, 0)
	r.newRC(pd, r.newCQ())
	r.took()
	require.NoError(t, r.p.Close(r.fd))
	require.Equal(t, []string{"destroy_qp", "destroy_cq", "dereg_mr", "dealloc_pd", "dealloc_ucontext"}, r.took())
}
