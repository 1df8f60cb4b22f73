package core

import (
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// checkAHAttr says whether an address fits the device. It models
// rdma_check_ah_attr in drivers/infiniband/core/verbs.c.
//
// Errors: ah-attr/port, ah-attr/no-grh.
func checkAHAttr(task *process.Task, dev *Device, attr *AHAttr) error {
	defer task.Trace.EnterInlined(trace.Core, "rdma_check_ah_attr").Leave()
	if !dev.IsPort(attr.PortNum) {
		return rule.AHAttrPort
	}
	if dev.IsGRHRequired() && !attr.IsGlobal {
		return rule.AHAttrNoGRH
	}
	return nil
}

// fillSGIDAttr finds the entry of the GID table that packets to the address
// come from; nil if they need none. It models rdma_fill_sgid_attr in
// drivers/infiniband/core/verbs.c.
//
// Errors: ah-attr/port, ah-attr/no-grh, gid/index, gid/empty.
func fillSGIDAttr(task *process.Task, dev *Device, attr *AHAttr) (*GIDAttr, error) {
	defer task.Trace.Enter(trace.Core, "rdma_fill_sgid_attr").Leave()
	if err := checkAHAttr(task, dev, attr); err != nil {
		return nil, err
	}
	if !attr.IsGlobal {
		return nil, nil
	}
	return GetGIDAttr(task, dev, attr.PortNum, int32(attr.SGIDIndex))
}

// resolveEthDMAC finds the MAC address that a GID is reached through, and how
// many hops a packet may take. It models ib_resolve_eth_dmac in
// drivers/infiniband/core/verbs.c.
//
// Errors: those of Device.ResolveAddr.
func resolveEthDMAC(task *process.Task, dev *Device, attr *AHAttr, sgid *GIDAttr) error {
	defer task.Trace.Enter(trace.Core, "ib_resolve_eth_dmac").Leave()
	gid := &attr.DGID
	switch {
	case !isMulticast(gid):
		return resolveUnicastGIDDMAC(task, dev, attr, sgid)
	case [12]byte(gid[:12]) == v4Mapped:
		attr.DMAC = [6]byte{0x01, 0x00, 0x5e, gid[13] & 0x7f, gid[14], gid[15]}
	default:
		attr.DMAC = [6]byte{0x33, 0x33, gid[12], gid[13], gid[14], gid[15]}
	}
	return nil
}

// gidTypeROCE is IB_GID_TYPE_ROCE of enum ib_gid_type: RoCE version 1.
const gidTypeROCE = 1

// resolveUnicastGIDDMAC models ib_resolve_unicast_gid_dmac in
// drivers/infiniband/core/verbs.c.
func resolveUnicastGIDDMAC(task *process.Task, dev *Device, attr *AHAttr, sgid *GIDAttr) error {
	defer task.Trace.Enter(trace.Core, "ib_resolve_unicast_gid_dmac").Leave()
	if gid := &attr.DGID; sgid.Type == gidTypeROCE && [8]byte(gid[:8]) == [8]byte{0xfe, 0x80} {
		attr.DMAC = [6]byte{gid[8] ^ 2, gid[9], gid[10], gid[13], gid[14], gid[15]}
		return nil
	}
	if dev.ResolveAddr == nil {
		attr.HopLimit = defaultHopLimit
		return nil
	}
	var err error
	attr.DMAC, attr.HopLimit, err = dev.ResolveAddr(task, sgid, attr.DGID)
	return err
}

// defaultHopLimit is what Linux allows a packet unless the route says
// otherwise (IPDEFTTL, IPV6_DEFAULT_HOPLIMIT).
const defaultHopLimit = 64
