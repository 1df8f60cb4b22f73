package core

import (
	"uverbsim/rule"
	"uverbsim/trace"
)

// CreateUserAH makes an address handle of the PD. On Ethernet it finds the MAC
// address and stores it in attr. It models rdma_create_user_ah in
// drivers/infiniband/core/verbs.c.
//
// Errors: ah-attr/…, gid/…, ah/no-memory, and those of the driver.
func CreateUserAH(pd *PD, attr *AHAttr, udata *Udata) (*AH, error) {
	task := udata.Task()
	defer task.Trace.Enter(trace.Core, "rdma_create_user_ah").Leave()
	dev := pd.Device
	sgid, err := fillSGIDAttr(task, dev, attr)
	if err != nil {
		return nil, err
	}
	if dev.IsRoCE() {
		if err := resolveEthDMAC(task, dev, attr, sgid); err != nil {
			return nil, err
		}
	}
	return createAH(pd, attr, udata)
}

// createAH models _rdma_create_ah in drivers/infiniband/core/verbs.c.
func createAH(pd *PD, attr *AHAttr, udata *Udata) (*AH, error) {
	t := udata.Trace()
	defer t.Enter(trace.Core, "_rdma_create_ah").Leave()
	if t.Fail(trace.Alloc, "ib_ah") {
		return nil, rule.AHNoMemory
	}
	ah := &AH{Device: pd.Device, PD: pd, Attr: *attr}
	if err := pd.Device.Ops.CreateUserAH(ah, attr, udata); err != nil {
		return nil, err
	}
	pd.Usecnt.Count(t, "ib_pd", 1)
	return ah, nil
}
