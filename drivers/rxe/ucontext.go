package rxe

import (
	"uverbsim/core"
	"uverbsim/process"
)

// rxeUcontext is a struct rxe_ucontext.
type rxeUcontext struct{ elem }

// allocUcontext models rxe_alloc_ucontext in
// drivers/infiniband/sw/rxe/rxe_verbs.c. The driver's part of the request is
// not looked at.
//
// Errors: those of pool.add.
func allocUcontext(ctx *core.Ucontext, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(module, "rxe_alloc_ucontext").Leave()
	uc := new(rxeUcontext)
	ctx.Driver = uc
	return toRdev(ctx.Device).ucPool.add(t, &uc.elem, uc)
}

// deallocUcontext models rxe_dealloc_ucontext in
// drivers/infiniband/sw/rxe/rxe_verbs.c.
func deallocUcontext(task *process.Task, ctx *core.Ucontext) {
	t := task.Trace
	defer t.Enter(module, "rxe_dealloc_ucontext").Leave()
	ctx.Driver.(*rxeUcontext).cleanup(t)
}
