package methods

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/trace"
)

// allocUcontext makes a context for the call; the file does not have it yet.
// It models ib_alloc_ucontext in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: ucontext/device-gone, ucontext/no-memory.
func allocUcontext(b *kernel.Bundle) error {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "ib_alloc_ucontext").Leave()
	f := b.File()
	dev := f.Device.SRCUDereference(t)
	if dev == nil {
		return rule.UcontextDeviceGone
	}
	if t.Fail(trace.Alloc, "ib_ucontext") {
		return rule.UcontextNoMemory
	}
	b.SetUcontext(core.NewUcontext(dev, &f.Umaps, &f.Objects))
	return nil
}

// initUcontext gives the call's context to the file, which may have only one.
// It models ib_init_ucontext in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: ucontext/file-destroyed, ucontext/twice, those of the charge and
// those of the driver.
func initUcontext(b *kernel.Bundle) error {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "ib_init_ucontext").Leave()
	f, ucontext := b.File(), b.Ucontext()
	if !f.Objects.HWDestroyRwsem.TryDownRead(t) {
		return rule.UcontextFileDestroyed
	}
	defer f.Objects.HWDestroyRwsem.UpRead(t)
	f.UcontextLock.Lock(t)
	defer f.UcontextLock.Unlock(t)
	if f.HasUcontext(t) {
		return rule.UcontextTwice
	}
	if err := ucontext.ChargeHandle(b.Task()); err != nil {
		return err
	}
	if err := ucontext.Device.Ops.AllocUcontext(ucontext, &b.DriverUdata); err != nil {
		ucontext.UnchargeHandle(b.Task())
		return err
	}
	f.SetUcontext(t, ucontext)
	return nil
}
