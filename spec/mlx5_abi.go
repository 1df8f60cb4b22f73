package spec

import "structs"

// The enumerators and structs of include/uapi/rdma/mlx5-abi.h.

// An enum without a name, include/uapi/rdma/mlx5-abi.h: the bits of
// Mlx5CreateQP.Flags and Mlx5CreateQPRSS.Flags.
const (
	MLX5_QP_FLAG_SIGNATURE                = 1 << 0
	MLX5_QP_FLAG_SCATTER_CQE              = 1 << 1
	MLX5_QP_FLAG_TUNNEL_OFFLOADS          = 1 << 2
	MLX5_QP_FLAG_BFREG_INDEX              = 1 << 3
	MLX5_QP_FLAG_TYPE_DCT                 = 1 << 4
	MLX5_QP_FLAG_TYPE_DCI                 = 1 << 5
	MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC     = 1 << 6
	MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC     = 1 << 7
	MLX5_QP_FLAG_ALLOW_SCATTER_CQE        = 1 << 8
	MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE = 1 << 9
	MLX5_QP_FLAG_UAR_PAGE_INDEX           = 1 << 10
	MLX5_QP_FLAG_DCI_STREAM               = 1 << 11
)

// An enum without a name, include/uapi/rdma/mlx5-abi.h: the bits of
// Mlx5CreateSRQ.Flags.
const (
	MLX5_SRQ_FLAG_SIGNATURE = 1 << 0
)

// An enum without a name, include/uapi/rdma/mlx5-abi.h: the bits of
// Mlx5CreateWQ.Flags.
const (
	MLX5_WQ_FLAG_SIGNATURE = 1 << 0
)

// MLX5_IB_UVERBS_ABI_VERSION, include/uapi/rdma/mlx5-abi.h.
const MLX5_IB_UVERBS_ABI_VERSION = 1

// Mlx5AllocUcontextReq is struct mlx5_ib_alloc_ucontext_req: the driver's
// part of GetContext, first version.
type Mlx5AllocUcontextReq struct {
	_                   structs.HostLayout
	TotalNumBfregs      uint32
	NumLowLatencyBfregs uint32
}

// enum mlx5_lib_caps, include/uapi/rdma/mlx5-abi.h: the bits of
// Mlx5AllocUcontextReqV2.LibCaps.
const (
	MLX5_LIB_CAP_4K_UAR  = 1 << 0
	MLX5_LIB_CAP_DYN_UAR = 1 << 1
)

// enum mlx5_ib_alloc_uctx_v2_flags, include/uapi/rdma/mlx5-abi.h: the bits
// of Mlx5AllocUcontextReqV2.Flags.
const (
	MLX5_IB_ALLOC_UCTX_DEVX = 1 << 0
)

// Mlx5AllocUcontextReqV2 is struct mlx5_ib_alloc_ucontext_req_v2: the
// driver's part of GetContext and of UVERBS_METHOD_GET_CONTEXT, second
// version.
type Mlx5AllocUcontextReqV2 struct {
	_                   structs.HostLayout
	TotalNumBfregs      uint32
	NumLowLatencyBfregs uint32
	Flags               uint32
	CompMask            uint32
	MaxCQEVersion       uint8
	Reserved0           uint8
	Reserved1           uint16
	Reserved2           uint32
	LibCaps             uint64
}

// enum mlx5_ib_alloc_ucontext_resp_mask, include/uapi/rdma/mlx5-abi.h: the
// bits of Mlx5AllocUcontextResp.CompMask.
const (
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET = 1 << 0
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY    = 1 << 1
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE               = 1 << 2
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS           = 1 << 3
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS      = 1 << 4
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_MKEY_UPDATE_TAG   = 1 << 5
)

// enum mlx5_user_cmds_supp_uhw, include/uapi/rdma/mlx5-abi.h: the bits of
// Mlx5AllocUcontextResp.CmdsSuppUhw.
const (
	MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE = 1 << 0
	MLX5_USER_CMDS_SUPP_UHW_CREATE_AH    = 1 << 1
)

// enum mlx5_user_inline_mode, include/uapi/rdma/mlx5-abi.h: the values of
// Mlx5AllocUcontextResp.EthMinInline.
const (
	MLX5_USER_INLINE_MODE_NA = iota
	MLX5_USER_INLINE_MODE_NONE
	MLX5_USER_INLINE_MODE_L2
	MLX5_USER_INLINE_MODE_IP
	MLX5_USER_INLINE_MODE_TCP_UDP
)

// An enum without a name, include/uapi/rdma/mlx5-abi.h: the bits of
// Mlx5AllocUcontextResp.FlowActionFlags.
const (
	MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_ESP_AES_GCM              = 1 << 0
	MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_ESP_AES_GCM_REQ_METADATA = 1 << 1
	MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_ESP_AES_GCM_SPI_STEERING = 1 << 2
	MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_ESP_AES_GCM_FULL_OFFLOAD = 1 << 3
	MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_ESP_AES_GCM_TX_IV_IS_ESN = 1 << 4
)

// Mlx5AllocUcontextResp is struct mlx5_ib_alloc_ucontext_resp: the driver's
// part of GetContextResp, of the answer of UVERBS_METHOD_GET_CONTEXT, and the
// whole of MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX.
type Mlx5AllocUcontextResp struct {
	_                  structs.HostLayout
	QPTabSize          uint32
	BfRegSize          uint32
	TotBfregs          uint32
	CacheLineSize      uint32
	MaxSQDescSz        uint16
	MaxRQDescSz        uint16
	MaxSendWqebb       uint32
	MaxRecvWR          uint32
	MaxSRQRecvWR       uint32
	NumPorts           uint16
	FlowActionFlags    uint16
	CompMask           uint32
	ResponseLength     uint32
	CQEVersion         uint8
	CmdsSuppUhw        uint8
	EthMinInline       uint8
	ClockInfoVersions  uint8
	HcaCoreClockOffset uint64
	LogUARSize         uint32
	NumUarsPerPage     uint32
	NumDynBfregs       uint32
	DumpFillMkey       uint32
}

// Mlx5AllocPDResp is struct mlx5_ib_alloc_pd_resp: the driver's part of
// AllocPDResp.
type Mlx5AllocPDResp struct {
	_   structs.HostLayout
	PDN uint32
}

// Mlx5TSOCaps is struct mlx5_ib_tso_caps.
type Mlx5TSOCaps struct {
	_             structs.HostLayout
	MaxTSO        uint32
	SupportedQpts uint32
}

// Mlx5RSSCaps is struct mlx5_ib_rss_caps.
type Mlx5RSSCaps struct {
	_                structs.HostLayout
	RxHashFieldsMask uint64
	RxHashFunction   uint8
	Reserved         [7]uint8
}

// enum mlx5_ib_cqe_comp_res_format, include/uapi/rdma/mlx5-abi.h: the
// values of Mlx5CreateCQ.CQECompResFormat.
const (
	MLX5_IB_CQE_RES_FORMAT_HASH        = 1 << 0
	MLX5_IB_CQE_RES_FORMAT_CSUM        = 1 << 1
	MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX = 1 << 2
)

// Mlx5CQECompCaps is struct mlx5_ib_cqe_comp_caps.
type Mlx5CQECompCaps struct {
	_               structs.HostLayout
	MaxNum          uint32
	SupportedFormat uint32
}

// enum mlx5_ib_packet_pacing_cap_flags, include/uapi/rdma/mlx5-abi.h.
const (
	MLX5_IB_PP_SUPPORT_BURST = 1 << 0
)

// Mlx5PacketPacingCaps is struct mlx5_packet_pacing_caps.
type Mlx5PacketPacingCaps struct {
	_              structs.HostLayout
	QPRateLimitMin uint32
	QPRateLimitMax uint32
	SupportedQpts  uint32
	CapFlags       uint8
	Reserved       [3]uint8
}

// enum mlx5_ib_mpw_caps, include/uapi/rdma/mlx5-abi.h.
const (
	MPW_RESERVED         = 1 << 0
	MLX5_IB_ALLOW_MPW    = 1 << 1
	MLX5_IB_SUPPORT_EMPW = 1 << 2
)

// enum mlx5_ib_sw_parsing_offloads, include/uapi/rdma/mlx5-abi.h.
const (
	MLX5_IB_SW_PARSING      = 1 << 0
	MLX5_IB_SW_PARSING_CSUM = 1 << 1
	MLX5_IB_SW_PARSING_LSO  = 1 << 2
)

// Mlx5SwParsingCaps is struct mlx5_ib_sw_parsing_caps.
type Mlx5SwParsingCaps struct {
	_                 structs.HostLayout
	SwParsingOffloads uint32
	SupportedQpts     uint32
}

// Mlx5StridingRQCaps is struct mlx5_ib_striding_rq_caps.
type Mlx5StridingRQCaps struct {
	_                            structs.HostLayout
	MinSingleStrideLogNumOfBytes uint32
	MaxSingleStrideLogNumOfBytes uint32
	MinSingleWQELogNumOfStrides  uint32
	MaxSingleWQELogNumOfStrides  uint32
	SupportedQpts                uint32
	Reserved                     uint32
}

// Mlx5DCIStreamsCaps is struct mlx5_ib_dci_streams_caps.
type Mlx5DCIStreamsCaps struct {
	_                  structs.HostLayout
	MaxLogNumConcurent uint8
	MaxLogNumErrored   uint8
}

// enum mlx5_ib_query_dev_resp_flags, include/uapi/rdma/mlx5-abi.h.
const (
	MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP      = 1 << 0
	MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD       = 1 << 1
	MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE = 1 << 2
	MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT       = 1 << 3
)

// enum mlx5_ib_tunnel_offloads, include/uapi/rdma/mlx5-abi.h.
const (
	MLX5_IB_TUNNELED_OFFLOADS_VXLAN    = 1 << 0
	MLX5_IB_TUNNELED_OFFLOADS_GRE      = 1 << 1
	MLX5_IB_TUNNELED_OFFLOADS_GENEVE   = 1 << 2
	MLX5_IB_TUNNELED_OFFLOADS_MPLS_GRE = 1 << 3
	MLX5_IB_TUNNELED_OFFLOADS_MPLS_UDP = 1 << 4
)

// Mlx5QueryDeviceResp is struct mlx5_ib_query_device_resp: the driver's part
// of ExQueryDeviceResp.
type Mlx5QueryDeviceResp struct {
	_                             structs.HostLayout
	CompMask                      uint32
	ResponseLength                uint32
	TSOCaps                       Mlx5TSOCaps
	RSSCaps                       Mlx5RSSCaps
	CQECompCaps                   Mlx5CQECompCaps
	PacketPacingCaps              Mlx5PacketPacingCaps
	Mlx5IbSupportMultiPktSendWqes uint32
	Flags                         uint32
	SwParsingCaps                 Mlx5SwParsingCaps
	StridingRQCaps                Mlx5StridingRQCaps
	TunnelOffloadsCaps            uint32
	DCIStreamsCaps                Mlx5DCIStreamsCaps
	Reserved                      uint16
	RegC0                         Mlx5UapiReg
}

// enum mlx5_ib_create_cq_flags, include/uapi/rdma/mlx5-abi.h: the bits of
// Mlx5CreateCQ.Flags.
const (
	MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD   = 1 << 0
	MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX = 1 << 1
	MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS   = 1 << 2
)

// Mlx5CreateCQ is struct mlx5_ib_create_cq: the driver's part of a CQ's
// creation.
type Mlx5CreateCQ struct {
	_                structs.HostLayout
	BufAddr          uint64
	DBAddr           uint64
	CQESize          uint32
	CQECompEn        uint8
	CQECompResFormat uint8
	Flags            uint16
	UARPageIndex     uint16
	Reserved0        uint16
	Reserved1        uint32
}

// Mlx5CreateCQResp is struct mlx5_ib_create_cq_resp: the driver's part of the
// answer to a CQ's creation.
type Mlx5CreateCQResp struct {
	_        structs.HostLayout
	CQN      uint32
	Reserved uint32
}

// Mlx5ResizeCQ is struct mlx5_ib_resize_cq: the driver's part of ResizeCQ.
type Mlx5ResizeCQ struct {
	_         structs.HostLayout
	BufAddr   uint64
	CQESize   uint16
	Reserved0 uint16
	Reserved1 uint32
}

// Mlx5CreateSRQ is struct mlx5_ib_create_srq: the driver's part of an SRQ's
// creation.
type Mlx5CreateSRQ struct {
	_         structs.HostLayout
	BufAddr   uint64
	DBAddr    uint64
	Flags     uint32
	Reserved0 uint32
	Uidx      uint32
	Reserved1 uint32
}

// Mlx5CreateSRQResp is struct mlx5_ib_create_srq_resp: the driver's part of
// the answer to an SRQ's creation.
type Mlx5CreateSRQResp struct {
	_        structs.HostLayout
	SRQN     uint32
	Reserved uint32
}

// Mlx5CreateQPDCIStreams is struct mlx5_ib_create_qp_dci_streams.
type Mlx5CreateQPDCIStreams struct {
	_               structs.HostLayout
	LogNumConcurent uint8
	LogNumErrored   uint8
}

// Mlx5CreateQP is struct mlx5_ib_create_qp: the driver's part of a QP's
// creation.
type Mlx5CreateQP struct {
	_          structs.HostLayout
	BufAddr    uint64
	DBAddr     uint64
	SQWQECount uint32
	RQWQECount uint32
	RQWQEShift uint32
	Flags      uint32
	Uidx       uint32
	BfregIndex uint32
	SQBufAddr  uint64 // or access_key
	EceOptions uint32
	DCIStreams Mlx5CreateQPDCIStreams
	Reserved   uint16
}

// enum mlx5_rx_hash_function_flags, include/uapi/rdma/mlx5-abi.h.
const (
	MLX5_RX_HASH_FUNC_TOEPLITZ = 1 << 0
)

// enum mlx5_rx_hash_fields, include/uapi/rdma/mlx5-abi.h.
const (
	MLX5_RX_HASH_SRC_IPV4     = 1 << 0
	MLX5_RX_HASH_DST_IPV4     = 1 << 1
	MLX5_RX_HASH_SRC_IPV6     = 1 << 2
	MLX5_RX_HASH_DST_IPV6     = 1 << 3
	MLX5_RX_HASH_SRC_PORT_TCP = 1 << 4
	MLX5_RX_HASH_DST_PORT_TCP = 1 << 5
	MLX5_RX_HASH_SRC_PORT_UDP = 1 << 6
	MLX5_RX_HASH_DST_PORT_UDP = 1 << 7
	MLX5_RX_HASH_IPSEC_SPI    = 1 << 8
	MLX5_RX_HASH_INNER        = 1 << 31
)

// Mlx5CreateQPRSS is struct mlx5_ib_create_qp_rss: the driver's part of the
// creation of a QP with an indirection table.
type Mlx5CreateQPRSS struct {
	_                structs.HostLayout
	RxHashFieldsMask uint64
	RxHashFunction   uint8
	RxKeyLen         uint8
	Reserved         [6]uint8
	RxHashKey        [128]uint8
	CompMask         uint32
	Flags            uint32
}

// enum mlx5_ib_create_qp_resp_mask, include/uapi/rdma/mlx5-abi.h: the bits
// of Mlx5CreateQPResp.CompMask.
const (
	MLX5_IB_CREATE_QP_RESP_MASK_TIRN         = 1 << 0
	MLX5_IB_CREATE_QP_RESP_MASK_TISN         = 1 << 1
	MLX5_IB_CREATE_QP_RESP_MASK_RQN          = 1 << 2
	MLX5_IB_CREATE_QP_RESP_MASK_SQN          = 1 << 3
	MLX5_IB_CREATE_QP_RESP_MASK_TIR_ICM_ADDR = 1 << 4
)

// Mlx5CreateQPResp is struct mlx5_ib_create_qp_resp: the driver's part of the
// answer to a QP's creation.
type Mlx5CreateQPResp struct {
	_          structs.HostLayout
	BfregIndex uint32
	EceOptions uint32
	CompMask   uint32
	Tirn       uint32
	Tisn       uint32
	Rqn        uint32
	Sqn        uint32
	Reserved1  uint32
	TirIcmAddr uint64
}

// Mlx5AllocMW is struct mlx5_ib_alloc_mw: the driver's part of AllocMW.
type Mlx5AllocMW struct {
	_         structs.HostLayout
	CompMask  uint32
	NumKlms   uint8
	Reserved1 uint8
	Reserved2 uint16
}

// enum mlx5_ib_create_wq_mask, include/uapi/rdma/mlx5-abi.h.
const (
	MLX5_IB_CREATE_WQ_STRIDING_RQ = 1 << 0
)

// Mlx5CreateWQ is struct mlx5_ib_create_wq: the driver's part of a WQ's
// creation.
type Mlx5CreateWQ struct {
	_                         structs.HostLayout
	BufAddr                   uint64
	DBAddr                    uint64
	RQWQECount                uint32
	RQWQEShift                uint32
	UserIndex                 uint32
	Flags                     uint32
	CompMask                  uint32
	SingleStrideLogNumOfBytes uint32
	SingleWQELogNumOfStrides  uint32
	TwoByteShiftEn            uint32
}

// Mlx5CreateAHResp is struct mlx5_ib_create_ah_resp: the driver's part of
// CreateAHResp.
type Mlx5CreateAHResp struct {
	_              structs.HostLayout
	ResponseLength uint32
	Dmac           [6]uint8
	Reserved       [6]uint8
}

// Mlx5BurstInfo is struct mlx5_ib_burst_info.
type Mlx5BurstInfo struct {
	_            structs.HostLayout
	MaxBurstSz   uint32
	TypicalPktSz uint16
	Reserved     uint16
}

// Mlx5ModifyQP is struct mlx5_ib_modify_qp: the driver's part of ExModifyQP.
type Mlx5ModifyQP struct {
	_          structs.HostLayout
	CompMask   uint32
	BurstInfo  Mlx5BurstInfo
	EceOptions uint32
}

// Mlx5ModifyQPResp is struct mlx5_ib_modify_qp_resp: the driver's part of
// ExModifyQPResp.
type Mlx5ModifyQPResp struct {
	_              structs.HostLayout
	ResponseLength uint32
	Dctn           uint32
	EceOptions     uint32
	Reserved       uint32
}

// Mlx5CreateWQResp is struct mlx5_ib_create_wq_resp: the driver's part of the
// answer to a WQ's creation.
type Mlx5CreateWQResp struct {
	_              structs.HostLayout
	ResponseLength uint32
	Reserved       uint32
}

// Mlx5CreateRWQIndTblResp is struct mlx5_ib_create_rwq_ind_tbl_resp: the
// driver's part of ExCreateRWQIndTableResp.
type Mlx5CreateRWQIndTblResp struct {
	_              structs.HostLayout
	ResponseLength uint32
	Reserved       uint32
}

// Mlx5ModifyWQ is struct mlx5_ib_modify_wq: the driver's part of ExModifyWQ.
type Mlx5ModifyWQ struct {
	_        structs.HostLayout
	CompMask uint32
	Reserved uint32
}

// Mlx5ClockInfo is struct mlx5_ib_clock_info: the page that
// MLX5_IB_MMAP_CLOCK_INFO maps.
type Mlx5ClockInfo struct {
	_              structs.HostLayout
	Sign           uint32
	Resv           uint32
	Nsec           uint64
	Cycles         uint64
	Frac           uint64
	Mult           uint32
	Shift          uint32
	Mask           uint64
	OverflowPeriod uint64
}

// enum mlx5_ib_mmap_cmd, include/uapi/rdma/mlx5-abi.h: what a page offset
// of mmap asks for.
const (
	MLX5_IB_MMAP_REGULAR_PAGE         = 0
	MLX5_IB_MMAP_GET_CONTIGUOUS_PAGES = 1
	MLX5_IB_MMAP_WC_PAGE              = 2
	MLX5_IB_MMAP_NC_PAGE              = 3
	MLX5_IB_MMAP_CORE_CLOCK           = 5
	MLX5_IB_MMAP_ALLOC_WC             = 6
	MLX5_IB_MMAP_CLOCK_INFO           = 7
	MLX5_IB_MMAP_DEVICE_MEM           = 8
)

// An enum without a name, include/uapi/rdma/mlx5-abi.h: the bit of
// Mlx5ClockInfo.Sign that says the kernel is writing.
const (
	MLX5_IB_CLOCK_INFO_KERNEL_UPDATING = 1
)

// An enum without a name, include/uapi/rdma/mlx5-abi.h: the bit numbers of
// Mlx5AllocUcontextResp.ClockInfoVersions.
const (
	MLX5_IB_CLOCK_INFO_V1 = 0
)

// Mlx5FlowCountersDesc is struct mlx5_ib_flow_counters_desc.
type Mlx5FlowCountersDesc struct {
	_           structs.HostLayout
	Description uint32
	Index       uint32
}

// Mlx5FlowCountersData is struct mlx5_ib_flow_counters_data.
type Mlx5FlowCountersData struct {
	_            structs.HostLayout
	CountersData uint64
	Ncounters    uint32
	Reserved     uint32
}

// Mlx5CreateFlow is struct mlx5_ib_create_flow: the driver's part of
// CreateFlow. The array data follows.
type Mlx5CreateFlow struct {
	_             structs.HostLayout
	NcountersData uint32
	Reserved      uint32
}
