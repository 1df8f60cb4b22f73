package rxe

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// rxeAH is a struct rxe_ah.
type rxeAH struct {
	elem
	av spec.RxeAV
}

const createAHRespSize = 8

// createUserAH models rxe_create_ah in drivers/infiniband/sw/rxe/rxe_verbs.c.
// Where there is room for a struct rxe_create_ah_resp, the handle's number is
// written there.
//
// Errors: rxe/ah-fault, those of pool.add and of ahChkAttr.
func createUserAH(ibah *core.AH, attr *core.AHAttr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_create_ah").Leave()
	d := toRdev(ibah.Device)
	ah := new(rxeAH)
	if err := d.ahPool.add(t, &ah.elem, ah); err != nil {
		return err
	}
	ibah.Driver = ah
	if err := d.ahChkAttr(t, attr); err != nil {
		ah.cleanup(t)
		return err
	}
	resp, ok := respAddr(udata, createAHRespSize)
	if ok && resp != 0 {
		task := udata.Task()
		if !copyuser.CopyToUser(t, task.Mem, resp, spec.Bytes(&ah.index)) {
			ah.cleanup(t)
			return rule.RxeAHFault
		}
	}
	d.initAV(t, attr, &ah.av)
	ah.finalize(t)
	return nil
}

// destroyAH models rxe_destroy_ah in drivers/infiniband/sw/rxe/rxe_verbs.c.
func destroyAH(task *process.Task, ibah *core.AH, _ uint32) error {
	t := task.Trace
	defer t.Enter(module, "rxe_destroy_ah").Leave()
	ibah.Driver.(*rxeAH).cleanup(t)
	return nil
}
