package mlx5

import (
	"math"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// The capabilities that QUERY_DEVICE tells.
var (
	capLogPgSz           = gen("log_pg_sz")
	capPKV               = gen("pkv")
	capQKV               = gen("qkv")
	capAPM               = gen("apm")
	capSHO               = gen("sho")
	capBlockLBMC         = gen("block_lb_mc")
	capLogMaxMkey        = gen("log_max_mkey")
	capIPoIBBasic        = gen("ipoib_basic_offloads")
	capRQDelayDrop       = gen("rq_delay_drop")
	capGeneralNotify     = gen("general_notification_event")
	capEndPad            = gen("end_pad")
	capLogMaxCQ          = gen("log_max_cq")
	capLogMaxPD          = gen("log_max_pd")
	capLogMaxRaReqQP     = gen("log_max_ra_req_qp")
	capLogMaxRaResQP     = gen("log_max_ra_res_qp")
	capLogMaxSRQ         = gen("log_max_srq")
	capLocalCAAckDelay   = gen("local_ca_ack_delay")
	capMaxSGLOptimized   = gen("max_sgl_for_optimized_performance")
	capLogMaxMcg         = gen("log_max_mcg")
	capMaxQPMcg          = gen("max_qp_mcg")
	capLogMaxRQT         = gen("log_max_rqt")
	capLogMaxRQTSize     = gen("log_max_rqt_size")
	capLogMaxRQ          = gen("log_max_rq")
	capTagMatching       = gen("tag_matching")
	capLogTagListSz      = gen("log_tag_matching_list_sz")
	capRndvOffloadRC     = gen("rndv_offload_rc")
	capCQECompMaxNum     = gen("cqe_compression_max_num")
	capQPPacketBased     = gen("qp_packet_based")
	capStridingRQ        = gen("striding_rq")
	capExtStrideRange    = gen("ext_stride_num_range")
	capLogMaxDCIChannels = gen("log_max_dci_stream_channels")
	capLogMaxDCIErrored  = gen("log_max_dci_errored_streams")

	capCsum           = eth("csum_cap")
	capVLAN           = eth("vlan_cap")
	capMaxLSO         = eth("max_lso_cap")
	capScatterFCS     = eth("scatter_fcs")
	capMultiPktWQE    = eth("multi_pkt_send_wqe")
	capEnhMultiPktWQE = eth("enhanced_multi_pkt_send_wqe")
	capSWP            = eth("swp")
	capSWPCsum        = eth("swp_csum")
	capSWPLSO         = eth("swp_lso")
	capVXLAN          = eth("tunnel_stateless_vxlan")
	capGENEVE         = eth("tunnel_stateless_geneve_rx")
	capGRE            = eth("tunnel_stateless_gre")
	capMPLSGRE        = eth("tunnel_stateless_mpls_over_gre")
	capMPLSUDP        = eth("tunnel_stateless_mpls_over_udp")

	capAtomicOperations = atomics("atomic_operations")
	capAtomicSizeQP     = atomics("atomic_size_qp")
	capAtomicEndianness = atomics("atomic_req_8B_endianness_mode")

	capMaxMemicSize = devMem("max_memic_size")

	capPacketPacing    = qos("packet_pacing")
	capPacketPacingUID = qos("packet_pacing_uid")
	capPPMaxRate       = qos("packet_pacing_max_rate")
	capPPMinRate       = qos("packet_pacing_min_rate")
	capPPBurstBound    = qos("packet_pacing_burst_bound")
	capPPTypicalSize   = qos("packet_pacing_typical_size")
	capMaxFTLevel      = flow("flow_table_properties_nic_receive.max_ft_level")
	systemImageGUID    = ifc.Must("query_nic_vport_context_out").Field("nic_vport_context.system_image_guid")
	nodeGUID           = ifc.Must("query_nic_vport_context_out").Field("nic_vport_context.node_guid")
	qkeyViolations     = ifc.Must("query_nic_vport_context_out").Field("nic_vport_context.qkey_violation_counter")
	vportMAC           = ifc.Must("query_nic_vport_context_out").Field("nic_vport_context.permanent_address")
	adapterVendorID    = ifc.Must("query_adapter_out").Field("query_adapter_struct.ieee_vendor_id")
)

// queryVport asks for a field of the NIC vport's context.
func (d *Device) queryVport(t *trace.Task, f ifc.Field) (uint64, error) {
	m := d.mailbox(ifc.MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT, 0, 0)
	defer d.giveBack(m)
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return f.Get(m.out), nil
}

// queryVendorID models mlx5_core_query_vendor_id in
// drivers/net/ethernet/mellanox/mlx5/core/fw.c.
func (d *Device) queryVendorID(t *trace.Task) (uint32, error) {
	defer t.Enter(moduleCore, "mlx5_core_query_vendor_id").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_QUERY_ADAPTER, 0, 0)
	defer d.giveBack(m)
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return uint32(adapterVendorID.Get(m.out)), nil
}

// Fields of DeviceAttr that are the same for every device of this driver
// (include/rdma/ib_verbs.h and include/linux/mlx5).
const (
	ibkSGGapsReg              = 1 << 3 // IBK_SG_GAPS_REG
	ibkIntegrityHandover      = 1 << 1 // IBK_INTEGRITY_HANDOVER
	ibkBlockMulticastLoopback = 1 << 5 // IBK_BLOCK_MULTICAST_LOOPBACK
	ibkUDTSO                  = 1 << 6 // IBK_UD_TSO

	dataSegSize   = 16              // sizeof(struct mlx5_wqe_data_seg)
	ctrlSegSize   = 16              // sizeof(struct mlx5_wqe_ctrl_seg)
	raddrSegSize  = 16              // sizeof(struct mlx5_wqe_raddr_seg)
	maxSQDesc     = 512             // what a send work request may have
	maxSGERd      = (512 - 32) / 16 // MLX5_MAX_SGE_RD
	sendWQEBB     = 64              // MLX5_SEND_WQE_BB
	maxCQCount    = 1<<16 - 1       // MLX5_MAX_CQ_COUNT
	minPkeyTable  = 128             // MLX5_MIN_PKEY_TABLE_SIZE
	tmMaxSGE      = 1               // MLX5_TM_MAX_SGE
	tmMaxRndvSize = 64              // MLX5_TM_MAX_RNDV_MSG_SIZE
	tmCapRndvRC   = 1 << 0          // IB_TM_CAP_RNDV_RC
	atomicOps     = 1<<0 | 1<<1     // MLX5_ATOMIC_OPS_CMP_SWAP, MLX5_ATOMIC_OPS_FETCH_ADD
	atomicSize8   = 1 << 3          // MLX5_ATOMIC_SIZE_QP_8BYTES
	timestampMask = 1<<63 - 1
	rawPacketQPs  = 1 << spec.IB_QPT_RAW_PACKET
	maxSQOverhead = 148 // of an XRC work request with an UMR, the largest there is (mlx5_ib_calc_max_sq_overhead)
)

// Where the members of struct mlx5_ib_query_device_resp end. A member is told
// only to a user whose response reaches that far.
const (
	endResponseLength = 8
	endTSOCaps        = 16
	endRSSCaps        = 32
	endCQECompCaps    = 40
	endPacketPacing   = 56
	endMultiPkt       = 60
	endFlags          = 64
	endSwParsing      = 72
	endStridingRQ     = 96
	endTunnelOffloads = 100
	endDCIStreams     = 102
	endReserved       = 104
	endRegC0          = 112
)

// flagIf is a bit that a capability stands for.
type flagIf struct {
	has  capability
	flag uint64
}

// flags are those bits whose capabilities the device has.
func (c *caps) flags(list []flagIf) (bits uint64) {
	for _, f := range list {
		if c.has(f.has) {
			bits |= f.flag
		}
	}
	return bits
}

// deviceCapFlags has the bits of device_cap_flags that a capability of its own
// decides.
var deviceCapFlags = []flagIf{
	{capPKV, spec.IB_UVERBS_DEVICE_BAD_PKEY_CNTR},
	{capQKV, spec.IB_UVERBS_DEVICE_BAD_QKEY_CNTR},
	{capAPM, spec.IB_UVERBS_DEVICE_AUTO_PATH_MIG},
	{capXRC, spec.IB_UVERBS_DEVICE_XRC},
	{capIMAICL, spec.IB_UVERBS_DEVICE_MEM_WINDOW | spec.IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B},
	{capIPoIBBasic, spec.IB_UVERBS_DEVICE_UD_IP_CSUM},
	{capEndPad, spec.IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING},
}

// kernelCapFlags is the same for kernel_cap_flags.
var kernelCapFlags = []flagIf{
	{capIMAICL, ibkSGGapsReg},
	{capSHO, ibkIntegrityHandover},
	{capBlockLBMC, ibkBlockMulticastLoopback},
	{capIPoIBBasic, ibkUDTSO},
}

// queryDevice says what the device can do; udata is nil when the kernel itself
// asks. It models mlx5_ib_query_device in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-query-device/…, mlx5-cmd/….
func (d *Device) queryDevice(task *process.Task, _ *core.Device, props *core.DeviceAttr, udata *core.Udata) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_query_device").Leave()
	var outLen uint64
	if udata != nil {
		outLen = udata.OutLen
	}
	if outLen != 0 && outLen < endResponseLength {
		return rule.MLX5QueryDeviceResponse
	}
	if udata != nil && udata.InLen != 0 && !udata.IsCleared(0, udata.InLen) {
		return rule.MLX5QueryDeviceRequest
	}
	*props = core.DeviceAttr{NodeGUID: props.NodeGUID}
	if err := d.fillDeviceAttr(t, props); err != nil {
		return err
	}
	if udata == nil {
		props.ODP = kernelODPCaps(props.ODP)
	}
	if outLen == 0 {
		return nil
	}
	resp := d.queryDeviceResp(outLen)
	if !udata.CopyTo(spec.Bytes(&resp)[:resp.ResponseLength]) {
		return rule.MLX5QueryDeviceFault
	}
	return nil
}

// fillDeviceAttr is the part of mlx5_ib_query_device that is about the core's
// struct ib_device_attr.
func (d *Device) fillDeviceAttr(t *trace.Task, props *core.DeviceAttr) error {
	c := &d.caps
	guid, err := d.queryVport(t, systemImageGUID)
	if err != nil {
		return err
	}
	be.PutUint64(props.SysImageGUID[:], guid)
	props.MaxPkeys = d.pkeyTableLen()
	if props.VendorID, err = d.queryVendorID(t); err != nil {
		return err
	}
	props.FwVer = fwRevMajor<<32 | fwRevMinor<<16 | fwRevSubminor
	props.VendorPartID, props.HwVer = uint32(d.cfg.PCI.Device), uint32(d.cfg.PCI.Revision)

	props.DeviceCapFlags = spec.IB_UVERBS_DEVICE_CHANGE_PHY_PORT | spec.IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
		spec.IB_UVERBS_DEVICE_SYS_IMAGE_GUID | spec.IB_UVERBS_DEVICE_RC_RNR_NAK_GEN | c.flags(deviceCapFlags)
	props.KernelCapFlags = c.flags(kernelCapFlags)
	if d.odpCaps.General&odpSupport != 0 {
		props.KernelCapFlags |= core.KernelOnDemandPaging
	}
	props.ODP = d.odpCaps
	if !c.has(capUMREntityFixed) {
		props.DeviceCapFlags |= spec.IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS
	}
	if c.has(capIMAICL) {
		props.MaxMW = c.pow2(capLogMaxMkey)
	}
	d.fillRawPacketCaps(props)
	if c.has(capMemic) {
		props.MaxDMSize = c.get(capMaxMemicSize)
	}
	if d.hasBypassNamespace() {
		props.DeviceCapFlags |= spec.IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING
	}
	d.fillLimits(props)
	return nil
}

// fillRawPacketCaps is about packets of Ethernet.
func (d *Device) fillRawPacketCaps(props *core.DeviceAttr) {
	c := &d.caps
	if c.has(capEthNetOffloads) {
		if c.has(capCsum) {
			props.DeviceCapFlags |= spec.IB_UVERBS_DEVICE_RAW_IP_CSUM
			props.RawPacketCaps |= spec.IB_UVERBS_RAW_PACKET_CAP_IP_CSUM
		}
		if c.has(capVLAN) {
			props.RawPacketCaps |= spec.IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING
		}
		if c.has(capScatterFCS) {
			props.DeviceCapFlags |= spec.IB_UVERBS_DEVICE_RAW_SCATTER_FCS
			props.RawPacketCaps |= spec.IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS
		}
	}
	if c.has(capRQDelayDrop) && c.has(capGeneralNotify) {
		props.RawPacketCaps |= spec.IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP
	}
}

// fillLimits is about numbers and sizes.
func (d *Device) fillLimits(props *core.DeviceAttr) {
	c := &d.caps
	maxRQSG := uint32(c.get(capMaxWQESzRQ)) / dataSegSize
	props.MaxMRSize = math.MaxUint64
	props.PageSizeCap = ^(uint64(c.pow2(capLogPgSz)) - 1)
	props.MaxQP = c.pow2(capLogMaxQP)
	props.MaxQPWR = c.pow2(capLogMaxQPSz) * sendWQEBB / uint32(roundUpPow2(maxSQOverhead+dataSegSize))
	props.MaxSendSGE = (min(uint32(c.get(capMaxWQESzSQ)), maxSQDesc) - ctrlSegSize - raddrSegSize) / dataSegSize
	props.MaxRecvSGE = maxRQSG
	props.MaxSGERd = maxSGERd
	props.MaxCQ = c.pow2(capLogMaxCQ)
	props.MaxCQE = c.pow2(capLogMaxCQSz) - 1
	props.MaxMR = c.pow2(capLogMaxMkey)
	props.MaxPD = c.pow2(capLogMaxPD)
	props.MaxQPRdAtom = c.pow2(capLogMaxRaReqQP)
	props.MaxQPInitRdAtom = c.pow2(capLogMaxRaResQP)
	props.MaxSRQ = c.pow2(capLogMaxSRQ)
	props.MaxSRQWR = c.pow2(capLogMaxSRQSz) - 1
	props.LocalCAAckDelay = uint8(c.get(capLocalCAAckDelay))
	props.MaxResRdAtom = props.MaxQPRdAtom * props.MaxQP
	props.MaxSRQSGE = maxRQSG - 1
	props.MaxSGLRd = uint32(c.get(capMaxSGLOptimized))
	props.AtomicCap = spec.IB_ATOMIC_NONE
	if c.get(capAtomicOperations)&atomicOps == atomicOps && c.get(capAtomicSizeQP)&atomicSize8 != 0 && c.has(capAtomicEndianness) {
		props.AtomicCap = spec.IB_ATOMIC_HCA
	}
	props.MaskedAtomicCap = spec.IB_ATOMIC_NONE
	props.MaxMcastGrp = c.pow2(capLogMaxMcg)
	props.MaxMcastQPAttach = uint32(c.get(capMaxQPMcg))
	props.MaxTotalMcastQPAttach = props.MaxMcastQPAttach * props.MaxMcastGrp
	props.MaxAH = math.MaxInt32
	props.HcaCoreClock = c.get(capDeviceFrequency)
	props.TimestampMask = timestampMask
	if d.IB.LinkLayer == core.LinkLayerEthernet {
		props.RSS = core.RSSCaps{
			SupportedQPTs:              rawPacketQPs,
			MaxRWQIndirectionTables:    c.pow2(capLogMaxRQT),
			MaxRWQIndirectionTableSize: c.pow2(capLogMaxRQTSize),
		}
		props.MaxWQTypeRQ = c.pow2(capLogMaxRQ)
	}
	if c.has(capTagMatching) {
		props.TM = core.TMCaps{MaxNumTags: c.pow2(capLogTagListSz) - 1, MaxOps: c.pow2(capLogMaxQPSz), MaxSGE: tmMaxSGE}
		if c.has(capRndvOffloadRC) {
			props.TM.Flags, props.TM.MaxRndvHdrSize = tmCapRndvRC, tmMaxRndvSize
		}
	}
	if c.has(capCQModeration) {
		props.CQModeration = core.CQCaps{MaxCQModerationCount: maxCQCount, MaxCQModerationPeriod: maxCQPeriod}
	}
}

// pkeyTableLen models mlx5_to_sw_pkey_sz in include/linux/mlx5/driver.h.
func (d *Device) pkeyTableLen() uint16 {
	return uint16(minPkeyTable << d.caps.get(capPkeyTableSize))
}

var capPkeyTableSize = gen("pkey_table_size")

// queryDeviceResp is the part of mlx5_ib_query_device that is about the driver's
// part of the response. A member's size counts for the response's length where
// its end lies in outLen.
func (d *Device) queryDeviceResp(outLen uint64) (resp spec.Mlx5QueryDeviceResp) {
	c := &d.caps
	resp.ResponseLength = endResponseLength
	tell := func(start, end uint64) bool {
		if end > outLen {
			return false
		}
		resp.ResponseLength += uint32(end - start)
		return true
	}
	if c.has(capEthNetOffloads) {
		// The size of the first member counts only where the device has it.
		if c.has(capMaxLSO) && tell(endResponseLength, endTSOCaps) {
			resp.TSOCaps = spec.Mlx5TSOCaps{MaxTSO: c.pow2(capMaxLSO), SupportedQpts: rawPacketQPs}
		}
		if tell(endTSOCaps, endRSSCaps) {
			resp.RSSCaps = spec.Mlx5RSSCaps{RxHashFunction: spec.MLX5_RX_HASH_FUNC_TOEPLITZ, RxHashFieldsMask: rxHashFields}
		}
	} else {
		tell(endResponseLength, endTSOCaps)
		tell(endTSOCaps, endRSSCaps)
	}
	if tell(endRSSCaps, endCQECompCaps) && c.has(capCQECompression) {
		resp.CQECompCaps = spec.Mlx5CQECompCaps{
			MaxNum: uint32(c.get(capCQECompMaxNum)),
			SupportedFormat: spec.MLX5_IB_CQE_RES_FORMAT_HASH | spec.MLX5_IB_CQE_RES_FORMAT_CSUM |
				uint32(c.flags([]flagIf{{capMiniCQEStride, spec.MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX}})),
		}
	}
	if tell(endCQECompCaps, endPacketPacing) && c.has(capPacketPacing) && c.has(capQoS) {
		resp.PacketPacingCaps = spec.Mlx5PacketPacingCaps{
			QPRateLimitMax: uint32(c.get(capPPMaxRate)), QPRateLimitMin: uint32(c.get(capPPMinRate)), SupportedQpts: rawPacketQPs,
		}
		if c.has(capPPBurstBound) && c.has(capPPTypicalSize) {
			resp.PacketPacingCaps.CapFlags = spec.MLX5_IB_PP_SUPPORT_BURST
		}
	}
	if tell(endPacketPacing, endMultiPkt) {
		resp.Mlx5IbSupportMultiPktSendWqes = uint32(c.flags([]flagIf{
			{capMultiPktWQE, spec.MLX5_IB_ALLOW_MPW}, {capEnhMultiPktWQE, spec.MLX5_IB_SUPPORT_EMPW}}))
	}
	if tell(endMultiPkt, endFlags) {
		resp.Flags = spec.MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT | uint32(c.flags([]flagIf{
			{capCQEComp128, spec.MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP},
			{capCQE128Always, spec.MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD},
			{capQPPacketBased, spec.MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE}}))
	}
	if tell(endFlags, endSwParsing) && c.has(capSWP) {
		resp.SwParsingCaps = spec.Mlx5SwParsingCaps{SupportedQpts: rawPacketQPs, SwParsingOffloads: spec.MLX5_IB_SW_PARSING |
			uint32(c.flags([]flagIf{{capSWPCsum, spec.MLX5_IB_SW_PARSING_CSUM}, {capSWPLSO, spec.MLX5_IB_SW_PARSING_LSO}}))}
	}
	if tell(endSwParsing, endStridingRQ) && c.has(capStridingRQ) {
		resp.StridingRQCaps = spec.Mlx5StridingRQCaps{
			MinSingleStrideLogNumOfBytes: minStrideLogBytes, MaxSingleStrideLogNumOfBytes: maxStrideLogBytes,
			MinSingleWQELogNumOfStrides: minLogStrides, MaxSingleWQELogNumOfStrides: maxLogStrides, SupportedQpts: rawPacketQPs,
		}
		if c.has(capExtStrideRange) {
			resp.StridingRQCaps.MinSingleWQELogNumOfStrides = extMinLogStrides
		}
	}
	if tell(endStridingRQ, endTunnelOffloads) {
		resp.TunnelOffloadsCaps = uint32(c.flags([]flagIf{
			{capVXLAN, spec.MLX5_IB_TUNNELED_OFFLOADS_VXLAN}, {capGENEVE, spec.MLX5_IB_TUNNELED_OFFLOADS_GENEVE},
			{capGRE, spec.MLX5_IB_TUNNELED_OFFLOADS_GRE}, {capMPLSGRE, spec.MLX5_IB_TUNNELED_OFFLOADS_MPLS_GRE},
			{capMPLSUDP, spec.MLX5_IB_TUNNELED_OFFLOADS_MPLS_UDP}}))
	}
	if tell(endTunnelOffloads, endDCIStreams) {
		resp.DCIStreamsCaps = spec.Mlx5DCIStreamsCaps{
			MaxLogNumConcurent: uint8(c.get(capLogMaxDCIChannels)), MaxLogNumErrored: uint8(c.get(capLogMaxDCIErrored))}
	}
	if d.machine.Kernel().Has(spec.MLX5QueryDeviceRegC0) {
		tell(endDCIStreams, endReserved)
		tell(endReserved, endRegC0)
	}
	return resp
}

// rxHashFields are the fields of packets that the device can spread them by.
const rxHashFields = spec.MLX5_RX_HASH_SRC_IPV4 | spec.MLX5_RX_HASH_DST_IPV4 | spec.MLX5_RX_HASH_SRC_IPV6 |
	spec.MLX5_RX_HASH_DST_IPV6 | spec.MLX5_RX_HASH_SRC_PORT_TCP | spec.MLX5_RX_HASH_DST_PORT_TCP |
	spec.MLX5_RX_HASH_SRC_PORT_UDP | spec.MLX5_RX_HASH_DST_PORT_UDP | spec.MLX5_RX_HASH_INNER
