package methods

import (
	"syscall"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The objects of drivers/infiniband/core/uverbs_std_types.c. They are made by
// write() commands; here is how they are destroyed.
var (
	objectPD          = object{id: spec.UVERBS_OBJECT_PD, typ: &uobject.TypeAttrs{Destroy: freePD}}
	objectMW          = object{id: spec.UVERBS_OBJECT_MW, typ: &uobject.TypeAttrs{Destroy: freeMW}}
	objectAH          = object{id: spec.UVERBS_OBJECT_AH, typ: &uobject.TypeAttrs{Destroy: freeAH}}
	objectRWQIndTbl   = object{id: spec.UVERBS_OBJECT_RWQ_IND_TBL, typ: &uobject.TypeAttrs{Destroy: freeRWQIndTbl}}
	objectFlow        = object{id: spec.UVERBS_OBJECT_FLOW, typ: &uobject.TypeAttrs{New: newUFlow, Destroy: freeFlow}}
	objectXRCD        = object{id: spec.UVERBS_OBJECT_XRCD, typ: &uobject.TypeAttrs{New: newUXRCD, Destroy: freeXRCD}}
	objectCompChannel = object{id: spec.UVERBS_OBJECT_COMP_CHANNEL, typ: &uobject.TypeAttrs{
		New: func() any { return new(kernel.CompletionEventFile) }, DestroyFD: completionEventFileDestroyUobj,
		FileOps: &kernel.CompEventFops, FDFlags: syscall.O_RDONLY}}
)

func newUFlow() any { return new(core.UFlow) }
func newUXRCD() any { return new(uxrcd) }

// freePD ends a protection domain that nothing lives in any more. It models
// uverbs_free_pd.
//
// Errors: pd/busy, and those of the driver.
func freePD(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "uverbs_free_pd").Leave()
	pd := o.HW.(*core.PD)
	if pd.Usecnt.Read(attrs.Task().Trace, "ib_pd") != 0 {
		return rule.PDBusy
	}
	return core.DeallocPDUser(pd, core.UdataOf(attrs))
}

// freeAH destroys an address handle. It models uverbs_free_ah.
func freeAH(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "uverbs_free_ah").Leave()
	return core.DestroyAHUser(attrs.Task(), o.HW.(*core.AH), core.DestroyAHSleepable)
}

// freeMW ends a memory window. It models uverbs_free_mw.
func freeMW(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "uverbs_free_mw").Leave()
	return deallocMW(attrs.Task(), o.HW.(*core.MW))
}

// deallocMW models uverbs_dealloc_mw in
// drivers/infiniband/core/uverbs_main.c.
func deallocMW(task *process.Task, mw *core.MW) error {
	defer task.Trace.Enter(trace.Uverbs, "uverbs_dealloc_mw").Leave()
	if err := mw.Device.Ops.DeallocMW(task, mw); err != nil {
		return err
	}
	mw.PD.Usecnt.Count(task.Trace, "ib_pd", -1)
	return nil
}

// freeFlow destroys a flow rule and gives back what it used. It models
// uverbs_free_flow.
func freeFlow(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "uverbs_free_flow").Leave()
	flow := o.HW.(*core.Flow)
	qp := flow.QP
	if err := flow.Device.Ops.DestroyFlow(attrs.Task(), flow); err != nil {
		return err
	}
	if qp != nil {
		qp.Usecnt.Count(t, "ib_qp", -1)
	}
	o.Ext.(*core.UFlow).Resources.Free(t)
	return nil
}

// freeRWQIndTbl destroys an indirection table that no QP uses any more. It
// models uverbs_free_rwq_ind_tbl.
//
// Errors: rwq-ind-tbl/busy, and those of the driver.
func freeRWQIndTbl(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "uverbs_free_rwq_ind_tbl").Leave()
	tbl := o.HW.(*core.RWQIndTable)
	if tbl.Usecnt.Read(attrs.Task().Trace, "ib_rwq_ind_table") != 0 {
		return rule.RWQIndTblBusy
	}
	if err := tbl.Device.Ops.DestroyRWQIndTable(attrs.Task(), tbl); err != nil {
		return err
	}
	for _, wq := range tbl.Table {
		wq.Usecnt.Count(attrs.Task().Trace, "ib_wq", -1)
	}
	return nil
}

// freeXRCD ends one handle of an XRC domain, and the domain itself with the
// last. It models uverbs_free_xrcd.
//
// Errors: xrcd/busy, xrcd/in-use, and those of the driver.
func freeXRCD(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "uverbs_free_xrcd").Leave()
	if o.Ext.(*uxrcd).refcnt.Load() != 0 {
		return rule.XRCDBusy
	}
	b := attrs.(*kernel.Bundle)
	dev := b.File().Device
	dev.XRCDTreeMutex.Lock(t)
	defer dev.XRCDTreeMutex.Unlock(t)
	return uverbsDeallocXRCD(o.HW.(*core.XRCD), b)
}

// completionEventFileDestroyUobj closes a completion channel. It models
// uverbs_completion_event_file_destroy_uobj.
func completionEventFileDestroyUobj(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "uverbs_completion_event_file_destroy_uobj").Leave()
	o.Ext.(*kernel.CompletionEventFile).Free(t)
}
