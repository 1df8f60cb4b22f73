package core

import (
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// KernelOnDemandPaging is IBK_ON_DEMAND_PAGING of enum
// ib_uverbs_kernel_cap_flags (include/rdma/ib_verbs.h), a bit of
// DeviceAttr.KernelCapFlags.
const KernelOnDemandPaging = 1 << 2

// CheckMRAccess says whether the device can register memory with those access
// rights. It models ib_check_mr_access in include/rdma/ib_verbs.h.
//
// Errors: mr-access/needs-local-write, mr-access/unknown,
// mr-access/no-on-demand, mr-access/on-demand-invalid, mr-access/no-flush.
func CheckMRAccess(dev *Device, access uint32) error {
	if access&(AccessRemoteAtomic|AccessRemoteWrite) != 0 && access&AccessLocalWrite == 0 {
		return rule.MRAccessNeedsLocalWrite
	}
	if access&^accessSupported(dev.Kernel) != 0 {
		return rule.MRAccessUnknown
	}
	if access&AccessOnDemand != 0 && dev.Attr.KernelCapFlags&KernelOnDemandPaging == 0 {
		if !dev.Kernel.Has(spec.OnDemandUnsupported) {
			return rule.MRAccessOnDemandInvalid
		}
		return rule.MRAccessNoOnDemand
	}
	caps := dev.Attr.DeviceCapFlags
	if access&AccessFlushGlobal != 0 && caps&spec.IB_UVERBS_DEVICE_FLUSH_GLOBAL == 0 ||
		access&AccessFlushPersistent != 0 && caps&spec.IB_UVERBS_DEVICE_FLUSH_PERSISTENT == 0 {
		return rule.MRAccessNoFlush
	}
	return nil
}

// accessSupported has the access rights that a kernel knows
// (IB_ACCESS_SUPPORTED in include/rdma/ib_verbs.h).
func accessSupported(k *spec.Kernel) uint32 {
	if !k.Has(spec.MRAccessFlush) {
		return AccessSupported &^ (AccessFlushGlobal | AccessFlushPersistent)
	}
	return AccessSupported
}

// DeregMRUser ends a memory region. It models ib_dereg_mr_user in
// drivers/infiniband/core/verbs.c.
func DeregMRUser(mr *MR, udata *Udata) error {
	t := udata.Trace()
	defer t.Enter(trace.Core, "ib_dereg_mr_user").Leave()
	pd, dm := mr.PD, mr.DM
	if err := mr.Device.Ops.DeregMR(mr, udata); err != nil {
		return err
	}
	pd.Usecnt.Count(t, "ib_pd", -1)
	if dm != nil {
		dm.Usecnt.Count(t, "ib_dm", -1)
	}
	return nil
}
