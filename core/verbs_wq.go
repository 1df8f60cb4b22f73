package core

import (
	"uverbsim/rule"
	"uverbsim/trace"
)

// DestroyWQUser destroys a work queue that no indirection table uses any more.
// It models ib_destroy_wq_user in drivers/infiniband/core/verbs.c.
//
// Errors: wq/busy, and those of the driver.
func DestroyWQUser(wq *WQ, udata *Udata) error {
	t := udata.Trace()
	defer t.Enter(trace.Core, "ib_destroy_wq_user").Leave()
	cq, pd := wq.CQ, wq.PD
	if wq.Usecnt.Read(t, "ib_wq") != 0 {
		return rule.WQBusy
	}
	if err := wq.Device.Ops.DestroyWQ(wq, udata); err != nil {
		return err
	}
	pd.Usecnt.Count(t, "ib_pd", -1)
	cq.Usecnt.Count(t, "ib_cq", -1)
	return nil
}
