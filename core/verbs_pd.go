package core

import "uverbsim/trace"

// DeallocPDUser ends a protection domain that nothing lives in any more. It
// models ib_dealloc_pd_user in drivers/infiniband/core/verbs.c.
func DeallocPDUser(pd *PD, udata *Udata) error {
	defer udata.Trace().Enter(trace.Core, "ib_dealloc_pd_user").Leave()
	return pd.Device.Ops.DeallocPD(pd, udata)
}
