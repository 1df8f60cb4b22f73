package verbs

import "uverbsim/spec"

// QPType is enum ibv_qp_type of libibverbs/verbs.h.
type QPType uint8

// The members of enum ibv_qp_type.
const (
	IBV_QPT_RC         QPType = spec.IB_UVERBS_QPT_RC
	IBV_QPT_UC         QPType = spec.IB_UVERBS_QPT_UC
	IBV_QPT_UD         QPType = spec.IB_UVERBS_QPT_UD
	IBV_QPT_RAW_PACKET QPType = spec.IB_UVERBS_QPT_RAW_PACKET
	IBV_QPT_XRC_SEND   QPType = spec.IB_UVERBS_QPT_XRC_INI
	IBV_QPT_XRC_RECV   QPType = spec.IB_UVERBS_QPT_XRC_TGT
	IBV_QPT_DRIVER     QPType = spec.IB_UVERBS_QPT_DRIVER
)

// QPState is enum ibv_qp_state of libibverbs/verbs.h.
type QPState uint8

// The members of enum ibv_qp_state.
const (
	IBV_QPS_RESET   QPState = spec.IB_QPS_RESET
	IBV_QPS_INIT    QPState = spec.IB_QPS_INIT
	IBV_QPS_RTR     QPState = spec.IB_QPS_RTR
	IBV_QPS_RTS     QPState = spec.IB_QPS_RTS
	IBV_QPS_SQD     QPState = spec.IB_QPS_SQD
	IBV_QPS_SQE     QPState = spec.IB_QPS_SQE
	IBV_QPS_ERR     QPState = spec.IB_QPS_ERR
	IBV_QPS_UNKNOWN QPState = 7
)

// MTU is enum ibv_mtu of libibverbs/verbs.h.
type MTU uint8

// The members of enum ibv_mtu.
const (
	IBV_MTU_256  MTU = spec.IB_MTU_256
	IBV_MTU_512  MTU = spec.IB_MTU_512
	IBV_MTU_1024 MTU = spec.IB_MTU_1024
	IBV_MTU_2048 MTU = spec.IB_MTU_2048
	IBV_MTU_4096 MTU = spec.IB_MTU_4096
)

// MigState is enum ibv_mig_state of libibverbs/verbs.h.
type MigState uint8

// The members of enum ibv_mig_state.
const (
	IBV_MIG_MIGRATED MigState = spec.IB_MIG_MIGRATED
	IBV_MIG_REARM    MigState = spec.IB_MIG_REARM
	IBV_MIG_ARMED    MigState = spec.IB_MIG_ARMED
)

// enum ibv_qp_attr_mask of libibverbs/verbs.h: which members of QPAttr count.
const (
	IBV_QP_STATE               = spec.IB_QP_STATE
	IBV_QP_CUR_STATE           = spec.IB_QP_CUR_STATE
	IBV_QP_EN_SQD_ASYNC_NOTIFY = spec.IB_QP_EN_SQD_ASYNC_NOTIFY
	IBV_QP_ACCESS_FLAGS        = spec.IB_QP_ACCESS_FLAGS
	IBV_QP_PKEY_INDEX          = spec.IB_QP_PKEY_INDEX
	IBV_QP_PORT                = spec.IB_QP_PORT
	IBV_QP_QKEY                = spec.IB_QP_QKEY
	IBV_QP_AV                  = spec.IB_QP_AV
	IBV_QP_PATH_MTU            = spec.IB_QP_PATH_MTU
	IBV_QP_TIMEOUT             = spec.IB_QP_TIMEOUT
	IBV_QP_RETRY_CNT           = spec.IB_QP_RETRY_CNT
	IBV_QP_RNR_RETRY           = spec.IB_QP_RNR_RETRY
	IBV_QP_RQ_PSN              = spec.IB_QP_RQ_PSN
	IBV_QP_MAX_QP_RD_ATOMIC    = spec.IB_QP_MAX_QP_RD_ATOMIC
	IBV_QP_ALT_PATH            = spec.IB_QP_ALT_PATH
	IBV_QP_MIN_RNR_TIMER       = spec.IB_QP_MIN_RNR_TIMER
	IBV_QP_SQ_PSN              = spec.IB_QP_SQ_PSN
	IBV_QP_MAX_DEST_RD_ATOMIC  = spec.IB_QP_MAX_DEST_RD_ATOMIC
	IBV_QP_PATH_MIG_STATE      = spec.IB_QP_PATH_MIG_STATE
	IBV_QP_CAP                 = spec.IB_QP_CAP
	IBV_QP_DEST_QPN            = spec.IB_QP_DEST_QPN
	IBV_QP_RATE_LIMIT          = spec.IB_QP_RATE_LIMIT
)

// enum ibv_qp_create_flags of libibverbs/verbs.h.
const (
	IBV_QP_CREATE_BLOCK_SELF_MCAST_LB   = spec.IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK
	IBV_QP_CREATE_SCATTER_FCS           = spec.IB_UVERBS_QP_CREATE_SCATTER_FCS
	IBV_QP_CREATE_CVLAN_STRIPPING       = spec.IB_UVERBS_QP_CREATE_CVLAN_STRIPPING
	IBV_QP_CREATE_SOURCE_QPN            = spec.IB_QP_CREATE_SOURCE_QPN
	IBV_QP_CREATE_PCI_WRITE_END_PADDING = spec.IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING
)

// enum ibv_qp_create_send_ops_flags of libibverbs/verbs.h: what a queue pair is
// to be able to send.
const (
	IBV_QP_EX_WITH_RDMA_WRITE           = 1 << 0
	IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM  = 1 << 1
	IBV_QP_EX_WITH_SEND                 = 1 << 2
	IBV_QP_EX_WITH_SEND_WITH_IMM        = 1 << 3
	IBV_QP_EX_WITH_RDMA_READ            = 1 << 4
	IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP   = 1 << 5
	IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD = 1 << 6
	IBV_QP_EX_WITH_LOCAL_INV            = 1 << 7
	IBV_QP_EX_WITH_BIND_MW              = 1 << 8
	IBV_QP_EX_WITH_SEND_WITH_INV        = 1 << 9
	IBV_QP_EX_WITH_TSO                  = 1 << 10
	IBV_QP_EX_WITH_ATOMIC_WRITE         = 1 << 12
)

// WROpcode is enum ibv_wr_opcode of libibverbs/verbs.h.
type WROpcode uint8

// The members of enum ibv_wr_opcode.
const (
	IBV_WR_RDMA_WRITE           WROpcode = spec.IB_UVERBS_WR_RDMA_WRITE
	IBV_WR_RDMA_WRITE_WITH_IMM  WROpcode = spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM
	IBV_WR_SEND                 WROpcode = spec.IB_UVERBS_WR_SEND
	IBV_WR_SEND_WITH_IMM        WROpcode = spec.IB_UVERBS_WR_SEND_WITH_IMM
	IBV_WR_RDMA_READ            WROpcode = spec.IB_UVERBS_WR_RDMA_READ
	IBV_WR_ATOMIC_CMP_AND_SWP   WROpcode = spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP
	IBV_WR_ATOMIC_FETCH_AND_ADD WROpcode = spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD
	IBV_WR_LOCAL_INV            WROpcode = spec.IB_UVERBS_WR_LOCAL_INV
	IBV_WR_BIND_MW              WROpcode = spec.IB_UVERBS_WR_BIND_MW
	IBV_WR_SEND_WITH_INV        WROpcode = spec.IB_UVERBS_WR_SEND_WITH_INV
	IBV_WR_TSO                  WROpcode = spec.IB_UVERBS_WR_TSO
	IBV_WR_DRIVER1              WROpcode = 11
)

// SendFlags is enum ibv_send_flags of libibverbs/verbs.h.
type SendFlags uint32

// The members of enum ibv_send_flags.
const (
	IBV_SEND_FENCE     SendFlags = spec.IB_SEND_FENCE
	IBV_SEND_SIGNALED  SendFlags = spec.IB_SEND_SIGNALED
	IBV_SEND_SOLICITED SendFlags = spec.IB_SEND_SOLICITED
	IBV_SEND_INLINE    SendFlags = spec.IB_SEND_INLINE
	IBV_SEND_IP_CSUM   SendFlags = spec.IB_SEND_IP_CSUM
)

// enum ibv_access_flags of libibverbs/verbs.h.
const (
	IBV_ACCESS_LOCAL_WRITE      = spec.IB_UVERBS_ACCESS_LOCAL_WRITE
	IBV_ACCESS_REMOTE_WRITE     = spec.IB_UVERBS_ACCESS_REMOTE_WRITE
	IBV_ACCESS_REMOTE_READ      = spec.IB_UVERBS_ACCESS_REMOTE_READ
	IBV_ACCESS_REMOTE_ATOMIC    = spec.IB_UVERBS_ACCESS_REMOTE_ATOMIC
	IBV_ACCESS_MW_BIND          = spec.IB_UVERBS_ACCESS_MW_BIND
	IBV_ACCESS_ZERO_BASED       = spec.IB_UVERBS_ACCESS_ZERO_BASED
	IBV_ACCESS_ON_DEMAND        = spec.IB_UVERBS_ACCESS_ON_DEMAND
	IBV_ACCESS_HUGETLB          = spec.IB_UVERBS_ACCESS_HUGETLB
	IBV_ACCESS_RELAXED_ORDERING = spec.IB_UVERBS_ACCESS_RELAXED_ORDERING
	IBV_ACCESS_OPTIONAL_RANGE   = spec.IB_UVERBS_ACCESS_OPTIONAL_RANGE
)

// MWType is enum ibv_mw_type of libibverbs/verbs.h.
type MWType uint8

// The members of enum ibv_mw_type.
const (
	IBV_MW_TYPE_1 MWType = spec.IB_MW_TYPE_1
	IBV_MW_TYPE_2 MWType = spec.IB_MW_TYPE_2
)

// enum ibv_rereg_mr_flags of libibverbs/verbs.h: what a reregistration changes.
const (
	IBV_REREG_MR_CHANGE_TRANSLATION = spec.IB_MR_REREG_TRANS
	IBV_REREG_MR_CHANGE_PD          = spec.IB_MR_REREG_PD
	IBV_REREG_MR_CHANGE_ACCESS      = spec.IB_MR_REREG_ACCESS
	IBV_REREG_MR_FLAGS_SUPPORTED    = spec.IB_MR_REREG_SUPPORTED
)

// enum ibv_advise_mr_advice and its flags, libibverbs/verbs.h.
const (
	IBV_ADVISE_MR_ADVICE_PREFETCH          = spec.IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH
	IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE    = spec.IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE
	IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT = spec.IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT

	IBV_ADVISE_MR_FLAG_FLUSH = spec.IB_UVERBS_ADVISE_MR_FLAG_FLUSH
)

// SRQType is enum ibv_srq_type of libibverbs/verbs.h.
type SRQType uint8

// The members of enum ibv_srq_type.
const (
	IBV_SRQT_BASIC SRQType = spec.IB_UVERBS_SRQT_BASIC
	IBV_SRQT_XRC   SRQType = spec.IB_UVERBS_SRQT_XRC
	IBV_SRQT_TM    SRQType = spec.IB_UVERBS_SRQT_TM
)

// enum ibv_srq_attr_mask of libibverbs/verbs.h: which members of SRQAttr count.
const (
	IBV_SRQ_MAX_WR = spec.IB_SRQ_MAX_WR
	IBV_SRQ_LIMIT  = spec.IB_SRQ_LIMIT
)

// enum ibv_gid_type of libibverbs/verbs.h.
const (
	IBV_GID_TYPE_IB      = spec.IB_UVERBS_GID_TYPE_IB
	IBV_GID_TYPE_ROCE_V1 = spec.IB_UVERBS_GID_TYPE_ROCE_V1
	IBV_GID_TYPE_ROCE_V2 = spec.IB_UVERBS_GID_TYPE_ROCE_V2
)

// EventType is enum ibv_event_type of libibverbs/verbs.h.
type EventType uint32

// The members of enum ibv_event_type.
const (
	IBV_EVENT_CQ_ERR              EventType = spec.IB_EVENT_CQ_ERR
	IBV_EVENT_QP_FATAL            EventType = spec.IB_EVENT_QP_FATAL
	IBV_EVENT_QP_REQ_ERR          EventType = spec.IB_EVENT_QP_REQ_ERR
	IBV_EVENT_QP_ACCESS_ERR       EventType = spec.IB_EVENT_QP_ACCESS_ERR
	IBV_EVENT_COMM_EST            EventType = spec.IB_EVENT_COMM_EST
	IBV_EVENT_SQ_DRAINED          EventType = spec.IB_EVENT_SQ_DRAINED
	IBV_EVENT_PATH_MIG            EventType = spec.IB_EVENT_PATH_MIG
	IBV_EVENT_PATH_MIG_ERR        EventType = spec.IB_EVENT_PATH_MIG_ERR
	IBV_EVENT_DEVICE_FATAL        EventType = spec.IB_EVENT_DEVICE_FATAL
	IBV_EVENT_PORT_ACTIVE         EventType = spec.IB_EVENT_PORT_ACTIVE
	IBV_EVENT_PORT_ERR            EventType = spec.IB_EVENT_PORT_ERR
	IBV_EVENT_LID_CHANGE          EventType = spec.IB_EVENT_LID_CHANGE
	IBV_EVENT_PKEY_CHANGE         EventType = spec.IB_EVENT_PKEY_CHANGE
	IBV_EVENT_SM_CHANGE           EventType = spec.IB_EVENT_SM_CHANGE
	IBV_EVENT_SRQ_ERR             EventType = spec.IB_EVENT_SRQ_ERR
	IBV_EVENT_SRQ_LIMIT_REACHED   EventType = spec.IB_EVENT_SRQ_LIMIT_REACHED
	IBV_EVENT_QP_LAST_WQE_REACHED EventType = spec.IB_EVENT_QP_LAST_WQE_REACHED
	IBV_EVENT_CLIENT_REREGISTER   EventType = spec.IB_EVENT_CLIENT_REREGISTER
	IBV_EVENT_GID_CHANGE          EventType = spec.IB_EVENT_GID_CHANGE
	IBV_EVENT_WQ_FATAL            EventType = spec.IB_EVENT_WQ_FATAL
)
