package spec

// The enumerators of include/rdma/ib_verbs.h whose values reach a user.

// enum ib_atomic_cap, include/rdma/ib_verbs.h.
const (
	IB_ATOMIC_NONE = iota
	IB_ATOMIC_HCA
	IB_ATOMIC_GLOB
)

// enum ib_cq_attr_mask, include/rdma/ib_verbs.h.
const (
	IB_CQ_MODERATE = 1 << 0
)

// enum ib_mtu, include/rdma/ib_verbs.h: the values of QueryPortResp.MaxMtu
// and ActiveMtu, and of a QP's path MTU.
const (
	IB_MTU_256  = 1
	IB_MTU_512  = 2
	IB_MTU_1024 = 3
	IB_MTU_2048 = 4
	IB_MTU_4096 = 5
)

// enum ib_port_state, include/rdma/ib_verbs.h: the values of
// QueryPortResp.State.
const (
	IB_PORT_NOP          = 0
	IB_PORT_DOWN         = 1
	IB_PORT_INIT         = 2
	IB_PORT_ARMED        = 3
	IB_PORT_ACTIVE       = 4
	IB_PORT_ACTIVE_DEFER = 5
)

// enum ib_port_phys_state, include/rdma/ib_verbs.h: the values of
// QueryPortResp.PhysState.
const (
	IB_PORT_PHYS_STATE_SLEEP                       = 1
	IB_PORT_PHYS_STATE_POLLING                     = 2
	IB_PORT_PHYS_STATE_DISABLED                    = 3
	IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING = 4
	IB_PORT_PHYS_STATE_LINK_UP                     = 5
	IB_PORT_PHYS_STATE_LINK_ERROR_RECOVERY         = 6
	IB_PORT_PHYS_STATE_PHY_TEST                    = 7
)

// enum ib_port_width, include/rdma/ib_verbs.h: the values of
// QueryPortResp.ActiveWidth.
const (
	IB_WIDTH_1X  = 1
	IB_WIDTH_2X  = 16
	IB_WIDTH_4X  = 2
	IB_WIDTH_8X  = 4
	IB_WIDTH_12X = 8
)

// enum ib_port_speed, include/rdma/ib_verbs.h: the values of
// QueryPortRespEx.ActiveSpeedEx and of QueryPortResp.ActiveSpeed.
const (
	IB_SPEED_SDR   = 1
	IB_SPEED_DDR   = 2
	IB_SPEED_QDR   = 4
	IB_SPEED_FDR10 = 8
	IB_SPEED_FDR   = 16
	IB_SPEED_EDR   = 32
	IB_SPEED_HDR   = 64
	IB_SPEED_NDR   = 128
	IB_SPEED_XDR   = 256
)

// enum rdma_link_layer, include/rdma/ib_verbs.h: the values of
// QueryPortResp.LinkLayer.
const (
	IB_LINK_LAYER_UNSPECIFIED = iota
	IB_LINK_LAYER_INFINIBAND
	IB_LINK_LAYER_ETHERNET
)

// enum ib_event_type, include/rdma/ib_verbs.h: the values of
// AsyncEventDesc.EventType.
const (
	IB_EVENT_CQ_ERR = iota
	IB_EVENT_QP_FATAL
	IB_EVENT_QP_REQ_ERR
	IB_EVENT_QP_ACCESS_ERR
	IB_EVENT_COMM_EST
	IB_EVENT_SQ_DRAINED
	IB_EVENT_PATH_MIG
	IB_EVENT_PATH_MIG_ERR
	IB_EVENT_DEVICE_FATAL
	IB_EVENT_PORT_ACTIVE
	IB_EVENT_PORT_ERR
	IB_EVENT_LID_CHANGE
	IB_EVENT_PKEY_CHANGE
	IB_EVENT_SM_CHANGE
	IB_EVENT_SRQ_ERR
	IB_EVENT_SRQ_LIMIT_REACHED
	IB_EVENT_QP_LAST_WQE_REACHED
	IB_EVENT_CLIENT_REREGISTER
	IB_EVENT_GID_CHANGE
	IB_EVENT_WQ_FATAL
)

// enum ib_ah_flags, include/rdma/ib_verbs.h.
const (
	IB_AH_GRH = 1
)

// enum ib_wc_status, include/rdma/ib_verbs.h: the values of WC.Status.
const (
	IB_WC_SUCCESS = iota
	IB_WC_LOC_LEN_ERR
	IB_WC_LOC_QP_OP_ERR
	IB_WC_LOC_EEC_OP_ERR
	IB_WC_LOC_PROT_ERR
	IB_WC_WR_FLUSH_ERR
	IB_WC_MW_BIND_ERR
	IB_WC_BAD_RESP_ERR
	IB_WC_LOC_ACCESS_ERR
	IB_WC_REM_INV_REQ_ERR
	IB_WC_REM_ACCESS_ERR
	IB_WC_REM_OP_ERR
	IB_WC_RETRY_EXC_ERR
	IB_WC_RNR_RETRY_EXC_ERR
	IB_WC_LOC_RDD_VIOL_ERR
	IB_WC_REM_INV_RD_REQ_ERR
	IB_WC_REM_ABORT_ERR
	IB_WC_INV_EECN_ERR
	IB_WC_INV_EEC_STATE_ERR
	IB_WC_FATAL_ERR
	IB_WC_RESP_TIMEOUT_ERR
	IB_WC_GENERAL_ERR
)

// enum ib_wc_opcode, include/rdma/ib_verbs.h.
const (
	IB_WC_SEND               = IB_UVERBS_WC_SEND
	IB_WC_RDMA_WRITE         = IB_UVERBS_WC_RDMA_WRITE
	IB_WC_RDMA_READ          = IB_UVERBS_WC_RDMA_READ
	IB_WC_COMP_SWAP          = IB_UVERBS_WC_COMP_SWAP
	IB_WC_FETCH_ADD          = IB_UVERBS_WC_FETCH_ADD
	IB_WC_BIND_MW            = IB_UVERBS_WC_BIND_MW
	IB_WC_LOCAL_INV          = IB_UVERBS_WC_LOCAL_INV
	IB_WC_LSO                = IB_UVERBS_WC_TSO
	IB_WC_ATOMIC_WRITE       = IB_UVERBS_WC_ATOMIC_WRITE
	IB_WC_REG_MR             = 10
	IB_WC_MASKED_COMP_SWAP   = 11
	IB_WC_MASKED_FETCH_ADD   = 12
	IB_WC_FLUSH              = IB_UVERBS_WC_FLUSH
	IB_WC_RECV               = 1 << 7
	IB_WC_RECV_RDMA_WITH_IMM = 129
)

// enum ib_wc_flags, include/rdma/ib_verbs.h.
const (
	IB_WC_GRH                   = 1
	IB_WC_WITH_IMM              = 1 << 1
	IB_WC_WITH_INVALIDATE       = 1 << 2
	IB_WC_IP_CSUM_OK            = 1 << 3
	IB_WC_WITH_SMAC             = 1 << 4
	IB_WC_WITH_VLAN             = 1 << 5
	IB_WC_WITH_NETWORK_HDR_TYPE = 1 << 6
)

// enum ib_srq_attr_mask, include/rdma/ib_verbs.h.
const (
	IB_SRQ_MAX_WR = 1 << 0
	IB_SRQ_LIMIT  = 1 << 1
)

// enum ib_qp_type, include/rdma/ib_verbs.h.
const (
	IB_QPT_SMI           = 0
	IB_QPT_GSI           = 1
	IB_QPT_RC            = IB_UVERBS_QPT_RC
	IB_QPT_UC            = IB_UVERBS_QPT_UC
	IB_QPT_UD            = IB_UVERBS_QPT_UD
	IB_QPT_RAW_IPV6      = 5
	IB_QPT_RAW_ETHERTYPE = 6
	IB_QPT_RAW_PACKET    = IB_UVERBS_QPT_RAW_PACKET
	IB_QPT_XRC_INI       = IB_UVERBS_QPT_XRC_INI
	IB_QPT_XRC_TGT       = IB_UVERBS_QPT_XRC_TGT
	IB_QPT_MAX           = 11
	IB_QPT_DRIVER        = IB_UVERBS_QPT_DRIVER
)

// enum ib_qp_create_flags, include/rdma/ib_verbs.h.
const (
	IB_QP_CREATE_IPOIB_UD_LSO             = 1 << 0
	IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK
	IB_QP_CREATE_CROSS_CHANNEL            = 1 << 2
	IB_QP_CREATE_MANAGED_SEND             = 1 << 3
	IB_QP_CREATE_MANAGED_RECV             = 1 << 4
	IB_QP_CREATE_NETIF_QP                 = 1 << 5
	IB_QP_CREATE_INTEGRITY_EN             = 1 << 6
	IB_QP_CREATE_NETDEV_USE               = 1 << 7
	IB_QP_CREATE_SCATTER_FCS              = IB_UVERBS_QP_CREATE_SCATTER_FCS
	IB_QP_CREATE_CVLAN_STRIPPING          = IB_UVERBS_QP_CREATE_CVLAN_STRIPPING
	IB_QP_CREATE_SOURCE_QPN               = 1 << 10
	IB_QP_CREATE_PCI_WRITE_END_PADDING    = IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING
)

// enum ib_qp_attr_mask, include/rdma/ib_verbs.h: the bits of
// ModifyQP.AttrMask.
const (
	IB_QP_STATE               = 1
	IB_QP_CUR_STATE           = 1 << 1
	IB_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2
	IB_QP_ACCESS_FLAGS        = 1 << 3
	IB_QP_PKEY_INDEX          = 1 << 4
	IB_QP_PORT                = 1 << 5
	IB_QP_QKEY                = 1 << 6
	IB_QP_AV                  = 1 << 7
	IB_QP_PATH_MTU            = 1 << 8
	IB_QP_TIMEOUT             = 1 << 9
	IB_QP_RETRY_CNT           = 1 << 10
	IB_QP_RNR_RETRY           = 1 << 11
	IB_QP_RQ_PSN              = 1 << 12
	IB_QP_MAX_QP_RD_ATOMIC    = 1 << 13
	IB_QP_ALT_PATH            = 1 << 14
	IB_QP_MIN_RNR_TIMER       = 1 << 15
	IB_QP_SQ_PSN              = 1 << 16
	IB_QP_MAX_DEST_RD_ATOMIC  = 1 << 17
	IB_QP_PATH_MIG_STATE      = 1 << 18
	IB_QP_CAP                 = 1 << 19
	IB_QP_DEST_QPN            = 1 << 20
	IB_QP_RATE_LIMIT          = 1 << 25
	IB_QP_ATTR_STANDARD_BITS  = 0x1FFFFF
)

// enum ib_qp_state, include/rdma/ib_verbs.h.
const (
	IB_QPS_RESET = iota
	IB_QPS_INIT
	IB_QPS_RTR
	IB_QPS_RTS
	IB_QPS_SQD
	IB_QPS_SQE
	IB_QPS_ERR
)

// enum ib_mig_state, include/rdma/ib_verbs.h.
const (
	IB_MIG_MIGRATED = iota
	IB_MIG_REARM
	IB_MIG_ARMED
)

// enum ib_mw_type, include/rdma/ib_verbs.h.
const (
	IB_MW_TYPE_1 = 1
	IB_MW_TYPE_2 = 2
)

// enum ib_send_flags, include/rdma/ib_verbs.h.
const (
	IB_SEND_FENCE     = 1
	IB_SEND_SIGNALED  = 1 << 1
	IB_SEND_SOLICITED = 1 << 2
	IB_SEND_INLINE    = 1 << 3
	IB_SEND_IP_CSUM   = 1 << 4
)

// enum ib_access_flags, include/rdma/ib_verbs.h.
const (
	IB_ACCESS_LOCAL_WRITE      = IB_UVERBS_ACCESS_LOCAL_WRITE
	IB_ACCESS_REMOTE_WRITE     = IB_UVERBS_ACCESS_REMOTE_WRITE
	IB_ACCESS_REMOTE_READ      = IB_UVERBS_ACCESS_REMOTE_READ
	IB_ACCESS_REMOTE_ATOMIC    = IB_UVERBS_ACCESS_REMOTE_ATOMIC
	IB_ACCESS_MW_BIND          = IB_UVERBS_ACCESS_MW_BIND
	IB_ZERO_BASED              = IB_UVERBS_ACCESS_ZERO_BASED
	IB_ACCESS_ON_DEMAND        = IB_UVERBS_ACCESS_ON_DEMAND
	IB_ACCESS_HUGETLB          = IB_UVERBS_ACCESS_HUGETLB
	IB_ACCESS_RELAXED_ORDERING = IB_UVERBS_ACCESS_RELAXED_ORDERING
	IB_ACCESS_FLUSH_GLOBAL     = IB_UVERBS_ACCESS_FLUSH_GLOBAL
	IB_ACCESS_FLUSH_PERSISTENT = IB_UVERBS_ACCESS_FLUSH_PERSISTENT
	IB_ACCESS_OPTIONAL         = IB_UVERBS_ACCESS_OPTIONAL_RANGE
	IB_ACCESS_SUPPORTED        = 0x3ff003ff
)

// enum ib_mr_rereg_flags, include/rdma/ib_verbs.h.
const (
	IB_MR_REREG_TRANS     = 1
	IB_MR_REREG_PD        = 1 << 1
	IB_MR_REREG_ACCESS    = 1 << 2
	IB_MR_REREG_SUPPORTED = 7
)

// enum ib_wq_type, include/rdma/ib_verbs.h.
const (
	IB_WQT_RQ = IB_UVERBS_WQT_RQ
)

// enum ib_wq_state, include/rdma/ib_verbs.h.
const (
	IB_WQS_RESET = iota
	IB_WQS_RDY
	IB_WQS_ERR
)

// enum ib_wq_flags, include/rdma/ib_verbs.h.
const (
	IB_WQ_FLAGS_CVLAN_STRIPPING       = IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING
	IB_WQ_FLAGS_SCATTER_FCS           = IB_UVERBS_WQ_FLAGS_SCATTER_FCS
	IB_WQ_FLAGS_DELAY_DROP            = IB_UVERBS_WQ_FLAGS_DELAY_DROP
	IB_WQ_FLAGS_PCI_WRITE_END_PADDING = IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING
)

// enum ib_wq_attr_mask, include/rdma/ib_verbs.h.
const (
	IB_WQ_STATE     = 1 << 0
	IB_WQ_CUR_STATE = 1 << 1
	IB_WQ_FLAGS     = 1 << 2
)

// enum ib_flow_attr_type, include/rdma/ib_verbs.h.
const (
	IB_FLOW_ATTR_NORMAL      = 0x0
	IB_FLOW_ATTR_ALL_DEFAULT = 0x1
	IB_FLOW_ATTR_MC_DEFAULT  = 0x2
	IB_FLOW_ATTR_SNIFFER     = 0x3
)

// enum ib_flow_spec_type, include/rdma/ib_verbs.h.
const (
	IB_FLOW_SPEC_ETH           = 0x20
	IB_FLOW_SPEC_IB            = 0x22
	IB_FLOW_SPEC_IPV4          = 0x30
	IB_FLOW_SPEC_IPV6          = 0x31
	IB_FLOW_SPEC_ESP           = 0x34
	IB_FLOW_SPEC_TCP           = 0x40
	IB_FLOW_SPEC_UDP           = 0x41
	IB_FLOW_SPEC_VXLAN_TUNNEL  = 0x50
	IB_FLOW_SPEC_GRE           = 0x51
	IB_FLOW_SPEC_MPLS          = 0x60
	IB_FLOW_SPEC_INNER         = 0x100
	IB_FLOW_SPEC_ACTION_TAG    = 0x1000
	IB_FLOW_SPEC_ACTION_DROP   = 0x1001
	IB_FLOW_SPEC_ACTION_HANDLE = 0x1002
	IB_FLOW_SPEC_ACTION_COUNT  = 0x1003
)

// enum ib_flow_flags, include/rdma/ib_verbs.h.
const (
	IB_FLOW_ATTR_FLAGS_DONT_TRAP = 1 << 1
	IB_FLOW_ATTR_FLAGS_EGRESS    = 1 << 2
	IB_FLOW_ATTR_FLAGS_RESERVED  = 1 << 3
)

// enum ib_counters_description, include/rdma/ib_verbs.h.
const (
	IB_COUNTER_PACKETS = iota
	IB_COUNTER_BYTES
)

// enum ib_flow_action_type, include/rdma/ib_verbs.h.
const (
	IB_FLOW_ACTION_UNSPECIFIED = 0
	IB_FLOW_ACTION_ESP         = 1
)

// enum rdma_transport_type, include/rdma/ib_verbs.h.
const (
	RDMA_TRANSPORT_IB = iota
	RDMA_TRANSPORT_IWARP
	RDMA_TRANSPORT_USNIC
	RDMA_TRANSPORT_USNIC_UDP
	RDMA_TRANSPORT_UNSPECIFIED
)

// enum rdma_remove_reason, include/rdma/ib_verbs.h.
const (
	RDMA_REMOVE_DESTROY = iota
	RDMA_REMOVE_CLOSE
	RDMA_REMOVE_DRIVER_REMOVE
	RDMA_REMOVE_ABORT
	RDMA_REMOVE_DRIVER_FAILURE
)
