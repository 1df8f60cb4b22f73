package core

import (
	"uverbsim/rule"
	"uverbsim/trace"
)

// AllocXRCDUser makes an XRC domain, which is shared through inode; nil is one
// that is not shared. It models ib_alloc_xrcd_user in
// drivers/infiniband/core/verbs.c.
//
// Errors: xrcd/unsupported, xrcd/no-memory, and those of the driver.
func AllocXRCDUser(dev *Device, inode any, udata *Udata) (*XRCD, error) {
	t := udata.Trace()
	defer t.Enter(trace.Core, "ib_alloc_xrcd_user").Leave()
	if dev.Ops.AllocXRCD == nil {
		return nil, rule.XRCDUnsupported
	}
	if t.Fail(trace.Alloc, "ib_xrcd") {
		return nil, rule.XRCDNoMemory
	}
	xrcd := &XRCD{Device: dev, Inode: inode}
	xrcd.tgtQPsRwsem.Name, xrcd.tgtQPs.mu.Name = "tgt_qps_rwsem", "xa_lock"
	if err := dev.Ops.AllocXRCD(xrcd, udata); err != nil {
		return nil, err
	}
	return xrcd, nil
}

// DeallocXRCDUser ends an XRC domain that nothing uses any more. It models
// ib_dealloc_xrcd_user in drivers/infiniband/core/verbs.c.
//
// Errors: xrcd/in-use, and those of the driver.
func DeallocXRCDUser(xrcd *XRCD, udata *Udata) error {
	t := udata.Trace()
	defer t.Enter(trace.Core, "ib_dealloc_xrcd_user").Leave()
	if xrcd.Usecnt.Read(t, "ib_xrcd") != 0 {
		return rule.XRCDInUse
	}
	if !xrcd.tgtQPs.empty(t) {
		t.Warn("ib_dealloc_xrcd_user")
	}
	return xrcd.Device.Ops.DeallocXRCD(xrcd, udata)
}
