package rxe

import (
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/trace"
)

// rxeMW is a struct rxe_mw. Windows are bound by work requests; here they stay
// as they were made.
type rxeMW struct {
	elem
	pd *rxePD
}

// allocMW models rxe_alloc_mw in drivers/infiniband/sw/rxe/rxe_mw.c.
//
// Errors: those of pool.add.
func allocMW(ibmw *core.MW, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_alloc_mw").Leave()
	d := toRdev(ibmw.Device)
	mw := &rxeMW{pd: toRpd(ibmw.PD)}
	mw.pd.get(t)
	if err := d.mwPool.add(t, &mw.elem, mw); err != nil {
		mw.pd.put(t)
		return err
	}
	ibmw.Driver = mw
	ibmw.RKey = mw.index<<8 | d.nextKey(t)
	mw.finalize(t)
	return nil
}

// deallocMW models rxe_dealloc_mw in drivers/infiniband/sw/rxe/rxe_mw.c.
func deallocMW(task *process.Task, ibmw *core.MW) error {
	t := task.Trace
	defer t.Enter(module, "rxe_dealloc_mw").Leave()
	ibmw.Driver.(*rxeMW).cleanup(t)
	return nil
}

// mwCleanup models rxe_mw_cleanup in drivers/infiniband/sw/rxe/rxe_mw.c.
func mwCleanup(t *trace.Task, obj any) {
	defer t.Enter(module, "rxe_mw_cleanup").Leave()
	obj.(*rxeMW).pd.put(t)
}
