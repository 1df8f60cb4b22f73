package spec

import "structs"

// The enumerators and structs of include/uapi/rdma/ib_user_ioctl_verbs.h.

// IB_UVERBS_ACCESS_OPTIONAL_FIRST, include/uapi/rdma/ib_user_ioctl_verbs.h:
// the first bit that a device may ignore.
const IB_UVERBS_ACCESS_OPTIONAL_FIRST = 1 << 20

// IB_UVERBS_ACCESS_OPTIONAL_LAST, include/uapi/rdma/ib_user_ioctl_verbs.h:
// the last bit that a device may ignore.
const IB_UVERBS_ACCESS_OPTIONAL_LAST = 1 << 29

// enum ib_uverbs_core_support, include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS = 1 << 0
)

// enum ib_uverbs_access_flags, include/uapi/rdma/ib_user_ioctl_verbs.h:
// what may be done with a memory region. The bits of
// IB_UVERBS_ACCESS_OPTIONAL_RANGE a device may ignore.
const (
	IB_UVERBS_ACCESS_LOCAL_WRITE      = 1 << 0
	IB_UVERBS_ACCESS_REMOTE_WRITE     = 1 << 1
	IB_UVERBS_ACCESS_REMOTE_READ      = 1 << 2
	IB_UVERBS_ACCESS_REMOTE_ATOMIC    = 1 << 3
	IB_UVERBS_ACCESS_MW_BIND          = 1 << 4
	IB_UVERBS_ACCESS_ZERO_BASED       = 1 << 5
	IB_UVERBS_ACCESS_ON_DEMAND        = 1 << 6
	IB_UVERBS_ACCESS_HUGETLB          = 1 << 7
	IB_UVERBS_ACCESS_FLUSH_GLOBAL     = 1 << 8
	IB_UVERBS_ACCESS_FLUSH_PERSISTENT = 1 << 9
	IB_UVERBS_ACCESS_RELAXED_ORDERING = IB_UVERBS_ACCESS_OPTIONAL_FIRST
	IB_UVERBS_ACCESS_OPTIONAL_RANGE   = 0x3ff00000
)

// enum ib_uverbs_srq_type, include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_SRQT_BASIC = iota
	IB_UVERBS_SRQT_XRC
	IB_UVERBS_SRQT_TM
)

// enum ib_uverbs_wq_type, include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_WQT_RQ = 0
)

// enum ib_uverbs_wq_flags, include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING       = 1 << 0
	IB_UVERBS_WQ_FLAGS_SCATTER_FCS           = 1 << 1
	IB_UVERBS_WQ_FLAGS_DELAY_DROP            = 1 << 2
	IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING = 1 << 3
)

// enum ib_uverbs_qp_type, include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_QPT_RC         = 2
	IB_UVERBS_QPT_UC         = 3
	IB_UVERBS_QPT_UD         = 4
	IB_UVERBS_QPT_RAW_PACKET = 8
	IB_UVERBS_QPT_XRC_INI    = 9
	IB_UVERBS_QPT_XRC_TGT    = 10
	IB_UVERBS_QPT_DRIVER     = 0xFF
)

// enum ib_uverbs_qp_create_flags, include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK = 1 << 1
	IB_UVERBS_QP_CREATE_SCATTER_FCS              = 1 << 8
	IB_UVERBS_QP_CREATE_CVLAN_STRIPPING          = 1 << 9
	IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING    = 1 << 11
	IB_UVERBS_QP_CREATE_SQ_SIG_ALL               = 1 << 12
)

// enum ib_uverbs_query_port_cap_flags,
// include/uapi/rdma/ib_user_ioctl_verbs.h: the bits of
// QueryPortResp.PortCapFlags.
const (
	IB_UVERBS_PCF_SM                              = 1 << 1
	IB_UVERBS_PCF_NOTICE_SUP                      = 1 << 2
	IB_UVERBS_PCF_TRAP_SUP                        = 1 << 3
	IB_UVERBS_PCF_OPT_IPD_SUP                     = 1 << 4
	IB_UVERBS_PCF_AUTO_MIGR_SUP                   = 1 << 5
	IB_UVERBS_PCF_SL_MAP_SUP                      = 1 << 6
	IB_UVERBS_PCF_MKEY_NVRAM                      = 1 << 7
	IB_UVERBS_PCF_PKEY_NVRAM                      = 1 << 8
	IB_UVERBS_PCF_LED_INFO_SUP                    = 1 << 9
	IB_UVERBS_PCF_SM_DISABLED                     = 1 << 10
	IB_UVERBS_PCF_SYS_IMAGE_GUID_SUP              = 1 << 11
	IB_UVERBS_PCF_PKEY_SW_EXT_PORT_TRAP_SUP       = 1 << 12
	IB_UVERBS_PCF_EXTENDED_SPEEDS_SUP             = 1 << 14
	IB_UVERBS_PCF_CM_SUP                          = 1 << 16
	IB_UVERBS_PCF_SNMP_TUNNEL_SUP                 = 1 << 17
	IB_UVERBS_PCF_REINIT_SUP                      = 1 << 18
	IB_UVERBS_PCF_DEVICE_MGMT_SUP                 = 1 << 19
	IB_UVERBS_PCF_VENDOR_CLASS_SUP                = 1 << 20
	IB_UVERBS_PCF_DR_NOTICE_SUP                   = 1 << 21
	IB_UVERBS_PCF_CAP_MASK_NOTICE_SUP             = 1 << 22
	IB_UVERBS_PCF_BOOT_MGMT_SUP                   = 1 << 23
	IB_UVERBS_PCF_LINK_LATENCY_SUP                = 1 << 24
	IB_UVERBS_PCF_CLIENT_REG_SUP                  = 1 << 25
	IB_UVERBS_PCF_LINK_SPEED_WIDTH_TABLE_SUP      = 1 << 27
	IB_UVERBS_PCF_VENDOR_SPECIFIC_MADS_TABLE_SUP  = 1 << 28
	IB_UVERBS_PCF_MCAST_PKEY_TRAP_SUPPRESSION_SUP = 1 << 29
	IB_UVERBS_PCF_MCAST_FDB_TOP_SUP               = 1 << 30
	IB_UVERBS_PCF_HIERARCHY_INFO_SUP              = 1 << 31
	IB_UVERBS_PCF_IP_BASED_GIDS                   = 1 << 26
)

// enum ib_uverbs_query_port_flags, include/uapi/rdma/ib_user_ioctl_verbs.h:
// the bits of QueryPortResp.Flags.
const (
	IB_UVERBS_QPF_GRH_REQUIRED = 1 << 0
)

// enum ib_uverbs_flow_action_esp_keymat,
// include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM = 0
)

// enum ib_uverbs_flow_action_esp_keymat_aes_gcm_iv_algo,
// include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ = 0
)

// FlowActionESPKeymatAesGcm is struct
// ib_uverbs_flow_action_esp_keymat_aes_gcm.
type FlowActionESPKeymatAesGcm struct {
	_      structs.HostLayout
	Iv     uint64
	IvAlgo uint32
	Salt   uint32
	IcvLen uint32
	KeyLen uint32
	AesKey [8]uint32
}

// enum ib_uverbs_flow_action_esp_replay,
// include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE = iota
	IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP
)

// FlowActionESPReplayBmp is struct ib_uverbs_flow_action_esp_replay_bmp.
type FlowActionESPReplayBmp struct {
	_    structs.HostLayout
	Size uint32
}

// enum ib_uverbs_flow_action_esp_flags,
// include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO  = 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD   = 1 << 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TUNNEL         = 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT      = 1 << 1
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_DECRYPT        = 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT        = 1 << 2
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW = 1 << 3
)

// FlowActionESPEncap is struct ib_uverbs_flow_action_esp_encap.
type FlowActionESPEncap struct {
	_       structs.HostLayout
	ValPtr  uint64
	NextPtr uint64
	Len     uint16
	Type    uint16
	_       [4]byte
}

// FlowActionESP is struct ib_uverbs_flow_action_esp.
type FlowActionESP struct {
	_             structs.HostLayout
	Spi           uint32
	Seq           uint32
	TfcPad        uint32
	Flags         uint32
	HardLimitPkts uint64
}

// enum ib_uverbs_read_counters_flags,
// include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_READ_COUNTERS_PREFER_CACHED = 1 << 0
)

// enum ib_uverbs_advise_mr_advice, include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH = iota
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT
)

// enum ib_uverbs_advise_mr_flag, include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_ADVISE_MR_FLAG_FLUSH = 1 << 0
)

// QueryPortRespEx is struct ib_uverbs_query_port_resp_ex: what
// UVERBS_METHOD_QUERY_PORT writes to UVERBS_ATTR_QUERY_PORT_RESP.
type QueryPortRespEx struct {
	_             structs.HostLayout
	LegacyResp    QueryPortResp
	PortCapFlags2 uint16
	Reserved      [2]uint8
	ActiveSpeedEx uint32
}

// QPCap is struct ib_uverbs_qp_cap: how many work requests and how much data
// a QP holds.
type QPCap struct {
	_             structs.HostLayout
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32
}

// enum rdma_driver_id, include/uapi/rdma/ib_user_ioctl_verbs.h: the values
// of IoctlHdr.DriverID.
const (
	RDMA_DRIVER_UNKNOWN    = 0
	RDMA_DRIVER_MLX5       = 1
	RDMA_DRIVER_MLX4       = 2
	RDMA_DRIVER_CXGB3      = 3
	RDMA_DRIVER_CXGB4      = 4
	RDMA_DRIVER_MTHCA      = 5
	RDMA_DRIVER_BNXT_RE    = 6
	RDMA_DRIVER_OCRDMA     = 7
	RDMA_DRIVER_NES        = 8
	RDMA_DRIVER_I40IW      = 9
	RDMA_DRIVER_IRDMA      = RDMA_DRIVER_I40IW
	RDMA_DRIVER_VMW_PVRDMA = 10
	RDMA_DRIVER_QEDR       = 11
	RDMA_DRIVER_HNS        = 12
	RDMA_DRIVER_USNIC      = 13
	RDMA_DRIVER_RXE        = 14
	RDMA_DRIVER_HFI1       = 15
	RDMA_DRIVER_QIB        = 16
	RDMA_DRIVER_EFA        = 17
	RDMA_DRIVER_SIW        = 18
	RDMA_DRIVER_ERDMA      = 19
	RDMA_DRIVER_MANA       = 20
)

// enum ib_uverbs_gid_type, include/uapi/rdma/ib_user_ioctl_verbs.h.
const (
	IB_UVERBS_GID_TYPE_IB = iota
	IB_UVERBS_GID_TYPE_ROCE_V1
	IB_UVERBS_GID_TYPE_ROCE_V2
)

// GIDEntry is struct ib_uverbs_gid_entry: one entry of a GID table.
type GIDEntry struct {
	_             structs.HostLayout
	GID           [2]uint64
	GIDIndex      uint32
	PortNum       uint32
	GIDType       uint32
	NetdevIfindex uint32
}
