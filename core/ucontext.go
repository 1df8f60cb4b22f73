package core

import (
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// Ucontext is a struct ib_ucontext: what a file is to its device, from
// GET_CONTEXT to the close.
type Ucontext struct {
	Device *Device
	Umaps  *Umaps        // of the file
	File   *uobject.File // of the file
	Driver any           // the driver's own struct around it

	charge process.Charge
	mmap   mmapEntries
}

// NewUcontext returns a context that no driver knows yet, of a file whose
// mappings and objects those are.
func NewUcontext(dev *Device, umaps *Umaps, objects *uobject.File) *Ucontext {
	c := &Ucontext{Device: dev, Umaps: umaps, File: objects}
	c.mmap.mu.Name = "mmap_xa"
	return c
}

// ChargeHandle charges the context itself to the caller's control group
// (RDMACG_RESOURCE_HCA_HANDLE).
func (c *Ucontext) ChargeHandle(task *process.Task) (err error) {
	c.charge, err = tryCharge(task, c.Device, process.RDMACG_RESOURCE_HCA_HANDLE)
	return err
}

// UnchargeHandle undoes ChargeHandle.
func (c *Ucontext) UnchargeHandle(task *process.Task) {
	uncharge(task, c.charge)
	c.charge = process.Charge{}
}

// TryCharge charges one object to the caller's control group
// (RDMACG_RESOURCE_HCA_OBJECT).
func (c *Ucontext) TryCharge(task *process.Task) (process.Charge, error) {
	return tryCharge(task, c.Device, process.RDMACG_RESOURCE_HCA_OBJECT)
}

// Uncharge undoes TryCharge.
func (c *Ucontext) Uncharge(task *process.Task, ch process.Charge) { uncharge(task, ch) }

// tryCharge models ib_rdmacg_try_charge in drivers/infiniband/core/cgroup.c.
func tryCharge(task *process.Task, dev *Device, r process.CgroupResource) (process.Charge, error) {
	defer task.Trace.Enter(trace.Core, "ib_rdmacg_try_charge").Leave()
	if task.Trace.Fail(trace.Charge, "rdmacg") {
		return process.Charge{}, rule.CgroupExceeded
	}
	return task.Cgroup().TryCharge(task, dev.Name, r)
}

// uncharge models ib_rdmacg_uncharge in drivers/infiniband/core/cgroup.c.
func uncharge(task *process.Task, ch process.Charge) {
	defer task.Trace.Enter(trace.Core, "ib_rdmacg_uncharge").Leave()
	ch.Uncharge(task)
}
