package rxe

import (
	"sync"
	"sync/atomic"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// The access rights that the driver knows (an enum without a name in
// drivers/infiniband/sw/rxe/rxe_verbs.h). On-demand paging is among them, but
// the pinning refuses it.
const (
	accessRemote      = spec.IB_ACCESS_REMOTE_READ | spec.IB_ACCESS_REMOTE_WRITE | spec.IB_ACCESS_REMOTE_ATOMIC
	accessSupportedMR = accessRemote |
		spec.IB_ACCESS_LOCAL_WRITE |
		spec.IB_ACCESS_MW_BIND |
		spec.IB_ACCESS_ON_DEMAND |
		spec.IB_ACCESS_FLUSH_GLOBAL |
		spec.IB_ACCESS_FLUSH_PERSISTENT |
		spec.IB_ACCESS_OPTIONAL
	accessSupportedQP = accessSupportedMR
)

// reregSupported is what REREG_MR may change: RXE_MR_REREG_SUPPORTED,
// drivers/infiniband/sw/rxe/rxe_verbs.h.
const reregSupported = spec.IB_MR_REREG_PD | spec.IB_MR_REREG_ACCESS

// mrState is an enum rxe_mr_state of drivers/infiniband/sw/rxe/rxe_verbs.h.
type mrState uint8

const (
	mrInvalid mrState = iota
	mrFree
	mrValid
)

// rxeMR is a struct rxe_mr.
type rxeMR struct {
	elem
	ib    *core.MR
	pd    *rxePD
	umem  *core.Umem
	numMW atomic.Int32 // windows that are bound to it

	lock   sync.Mutex // over what follows and pd, which the user can change
	access uint32
	state  mrState
}

func toRmr(mr *core.MR) *rxeMR { return mr.Driver.(*rxeMR) }

// nextKey returns the random low byte of a new key. It models rxe_get_next_key
// in drivers/infiniband/sw/rxe/rxe_mr.c for an object that had no key before.
func (d *rxeDev) nextKey(t *trace.Task) uint32 {
	defer t.EnterInlined(module, "rxe_get_next_key").Leave()
	return uint32(d.key())
}

// regUserMR models rxe_reg_user_mr in drivers/infiniband/sw/rxe/rxe_verbs.c.
// What address the user gives the memory (virtAddr) is for the core to keep.
//
// Errors: rxe/mr-access, rxe/mr-no-memory, those of pool.add and of
// mrInitUser.
func regUserMR(ibpd *core.PD, start, length, _ uint64, access uint32, udata *core.Udata) (*core.MR, error) {
	t := udata.Trace()
	defer t.Enter(module, "rxe_reg_user_mr").Leave()
	d := toRdev(ibpd.Device)
	if access&^accessSupportedMR != 0 && d.kernel.Has(spec.RxeMRAccess) {
		return nil, rule.RxeMRAccess
	}
	if t.Fail(trace.Alloc, "rxe_mr") {
		return nil, rule.RxeMRNoMemory
	}
	mr := &rxeMR{pd: toRpd(ibpd)}
	if err := d.mrPool.add(t, &mr.elem, mr); err != nil {
		return nil, err
	}
	mr.pd.get(t)
	mr.ib = &core.MR{Device: ibpd.Device, PD: ibpd, Driver: mr}
	if err := d.mrInitUser(mr, start, length, access, udata); err != nil {
		mr.cleanup(t)
		return nil, err
	}
	mr.finalize(t)
	return mr.ib, nil
}

// mrInit models rxe_mr_init in drivers/infiniband/sw/rxe/rxe_mr.c: a key is the
// MR's number and a random byte.
func (d *rxeDev) mrInit(t *trace.Task, mr *rxeMR, access uint32) {
	defer t.EnterInlined(module, "rxe_mr_init").Leave()
	key := mr.index<<8 | d.nextKey(t)
	mr.ib.LKey, mr.ib.RKey = key, key
	if access&accessRemote == 0 && !d.kernel.Has(spec.RxeMRRkey) {
		mr.ib.RKey = 0
	}
	mr.access = access
	mr.state = mrInvalid
}

// mrInitUser models rxe_mr_init_user in drivers/infiniband/sw/rxe/rxe_mr.c.
//
// Errors: rxe/mr-pages-no-memory, rxe/mr-not-persistent, those of
// core.GetUmem.
func (d *rxeDev) mrInitUser(mr *rxeMR, start, length uint64, access uint32, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_mr_init_user").Leave()
	d.mrInit(t, mr, access)
	umem, err := core.GetUmem(udata.Task(), d.ib, start, length, access)
	if err != nil {
		return err
	}
	if err := mr.fillPages(t); err != nil {
		umem.Release(t)
		return err
	}
	mr.umem = umem
	mr.ib.Type = core.MRTypeUser
	mr.state = mrValid
	return nil
}

// fillPages models alloc_mr_page_info and rxe_mr_fill_pages_from_sgt in
// drivers/infiniband/sw/rxe/rxe_mr.c. The pinned pages themselves are kept by
// the umem; no page of the modelled machine is persistent memory.
func (mr *rxeMR) fillPages(t *trace.Task) error {
	t.Enter(module, "__alloc_mr_page_info").Leave()
	if t.Fail(trace.Alloc, "rxe_mr_page") {
		return rule.RxeMRPagesNoMemory
	}
	defer t.EnterInlined(module, "rxe_mr_fill_pages_from_sgt").Leave()
	if mr.access&spec.IB_ACCESS_FLUSH_PERSISTENT != 0 {
		return rule.RxeMRNotPersistent
	}
	return nil
}

// reregUserMR models rxe_rereg_user_mr in
// drivers/infiniband/sw/rxe/rxe_verbs.c. The MR stays the same object, in which
// the caller notes the new PD.
//
// Errors: rxe/mr-rereg-flags, rxe/mr-rereg-access, those of Umem.CheckRereg.
func reregUserMR(ibmr *core.MR, flags uint32, _, _, _ uint64, access uint32, ibpd *core.PD, udata *core.Udata) (*core.MR, error) {
	t := udata.Trace()
	defer t.Enter(module, "rxe_rereg_user_mr").Leave()
	mr := toRmr(ibmr)
	if flags&^reregSupported != 0 {
		return nil, rule.RxeMRReregFlags
	}
	if err := mr.umem.CheckRereg(t, flags, access); err != nil {
		return nil, err
	}
	if flags&spec.IB_MR_REREG_ACCESS != 0 && access&^accessSupportedMR != 0 {
		return nil, rule.RxeMRReregAccess
	}
	mr.lock.Lock()
	defer mr.lock.Unlock()
	if flags&spec.IB_MR_REREG_PD != 0 {
		mr.pd.put(t)
		mr.pd = toRpd(ibpd)
		mr.pd.get(t)
	}
	if flags&spec.IB_MR_REREG_ACCESS != 0 {
		mr.access = access
	}
	return nil, nil
}

// deregMR models rxe_dereg_mr in drivers/infiniband/sw/rxe/rxe_verbs.c.
//
// Errors: rxe/mr-has-windows.
func deregMR(ibmr *core.MR, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_dereg_mr").Leave()
	mr := toRmr(ibmr)
	if mr.numMW.Load() > 0 {
		return rule.RxeMRHasWindows
	}
	mr.cleanup(t)
	return nil
}

// mrCleanup models rxe_mr_cleanup in drivers/infiniband/sw/rxe/rxe_mr.c.
func mrCleanup(t *trace.Task, obj any) {
	defer t.Enter(module, "rxe_mr_cleanup").Leave()
	mr := obj.(*rxeMR)
	mr.pd.put(t)
	mr.umem.Release(t)
}
