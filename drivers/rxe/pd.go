package rxe

import "uverbsim/core"

// rxePD is a struct rxe_pd.
type rxePD struct{ elem }

func toRpd(pd *core.PD) *rxePD { return pd.Driver.(*rxePD) }

// allocPD models rxe_alloc_pd in drivers/infiniband/sw/rxe/rxe_verbs.c.
//
// Errors: those of pool.add.
func allocPD(ibpd *core.PD, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_alloc_pd").Leave()
	pd := new(rxePD)
	ibpd.Driver = pd
	return toRdev(ibpd.Device).pdPool.add(t, &pd.elem, pd)
}

// deallocPD models rxe_dealloc_pd in drivers/infiniband/sw/rxe/rxe_verbs.c.
func deallocPD(ibpd *core.PD, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_dealloc_pd").Leave()
	toRpd(ibpd).cleanup(t)
	return nil
}
