package mlx5

import (
	"uverbsim/rule"
	"uverbsim/spec"
)

var (
	capSctrDataCQE  = gen("sctr_data_cqe")
	capCrossChannel = gen("cd")
)

// qpFlag is a flag of a request and whether it can be had.
type qpFlag struct {
	flag uint32
	ok   bool
}

// accept returns those of the flags that can be had, and what is left of them.
func accept(flags uint32, known []qpFlag) (on, left uint32) {
	for _, f := range known {
		if f.ok {
			on |= flags & f.flag
		}
	}
	return on, flags &^ on
}

// Flags that do nothing where the device cannot do it.
const scatterCQEFlags = spec.MLX5_QP_FLAG_SCATTER_CQE | spec.MLX5_QP_FLAG_ALLOW_SCATTER_CQE

// rssFlags are the driver's flags for a queue pair with an indirection table.
const rssFlags = spec.MLX5_QP_FLAG_TUNNEL_OFFLOADS | spec.MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC | spec.MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC

// processVendorFlags looks at the driver's flags, which can make the queue pair
// another type whatever the core's is. It models process_vendor_flags in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/subtype, mlx5-qp/rss-flags, mlx5-qp/flags.
func (d *Device) processVendorFlags(q *qp, p *createQPParams) error {
	c := &d.caps
	flags := p.ucmd.Flags
	if p.isRSS() {
		flags = p.rss.Flags
	}
	switch flags & (spec.MLX5_QP_FLAG_TYPE_DCT | spec.MLX5_QP_FLAG_TYPE_DCI) {
	case spec.MLX5_QP_FLAG_TYPE_DCI:
		q.typ = qptDCI
	case spec.MLX5_QP_FLAG_TYPE_DCT:
		q.typ = qptDCT
	default:
		if q.typ == spec.IB_QPT_DRIVER {
			return rule.MLX5QPSubtype
		}
	}
	if !c.has(capSctrDataCQE) {
		flags &^= scatterCQEFlags
	}
	raw := q.typ == spec.IB_QPT_RAW_PACKET
	var left uint32
	q.flagsEn, left = accept(flags, []qpFlag{
		{spec.MLX5_QP_FLAG_TYPE_DCI | spec.MLX5_QP_FLAG_TYPE_DCT | spec.MLX5_QP_FLAG_SIGNATURE | scatterCQEFlags, true},
		{spec.MLX5_QP_FLAG_DCI_STREAM, c.has(capLogMaxDCIChannels)},
		{spec.MLX5_QP_FLAG_TUNNEL_OFFLOADS, raw && (c.has(capVXLAN) || c.has(capGRE) || c.has(capGENEVE))},
		{spec.MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC | spec.MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC, raw},
		{spec.MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE, q.typ == spec.IB_QPT_RC && c.has(capQPPacketBased)},
		{spec.MLX5_QP_FLAG_BFREG_INDEX | spec.MLX5_QP_FLAG_UAR_PAGE_INDEX, true},
	})
	if p.isRSS() && q.flagsEn&^rssFlags != 0 {
		return rule.MLX5QPRSSFlags
	}
	if left != 0 {
		return rule.MLX5QPFlags
	}
	return nil
}

// processCreateFlags looks at the core's flags. It models process_create_flags in
// drivers/infiniband/hw/mlx5/qp.c; a flag of the kernel's own that no user can
// set is left out.
//
// Errors: mlx5-qp/dct-create-flags, mlx5-qp/create-flags.
func (d *Device) processCreateFlags(q *qp, p *createQPParams) error {
	c := &d.caps
	raw := q.typ == spec.IB_QPT_RAW_PACKET
	if q.typ == qptDCT || raw && p.isRSS() {
		if p.attr.CreateFlags != 0 {
			return rule.MLX5QPDCTCreateFlags
		}
		return nil
	}
	ud, rawOffloads := q.typ == spec.IB_QPT_UD, raw && c.has(capEthNetOffloads)
	var left uint32
	q.flags, left = accept(p.attr.CreateFlags, []qpFlag{
		{spec.IB_QP_CREATE_NETIF_QP, d.hasBypassNamespace()},
		{spec.IB_QP_CREATE_INTEGRITY_EN, c.has(capSHO)},
		{spec.IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK, c.has(capBlockLBMC)},
		{spec.IB_QP_CREATE_CROSS_CHANNEL | spec.IB_QP_CREATE_MANAGED_SEND | spec.IB_QP_CREATE_MANAGED_RECV, c.has(capCrossChannel)},
		{spec.IB_QP_CREATE_IPOIB_UD_LSO, ud && c.has(capIPoIBBasic)},
		{spec.IB_QP_CREATE_SOURCE_QPN, ud && c.get(capPortType) != portTypeEth},
		{spec.IB_QP_CREATE_SCATTER_FCS, rawOffloads && c.has(capScatterFCS)},
		{spec.IB_QP_CREATE_CVLAN_STRIPPING, rawOffloads && c.has(capVLAN)},
		{spec.IB_QP_CREATE_PCI_WRITE_END_PADDING, c.has(capEndPad)},
	})
	if left != 0 {
		return rule.MLX5QPCreateFlags
	}
	return nil
}
