package ifc

// What a completion queue entry is for, bits 7:4 of its last byte
// (enum MLX5_CQE_* in include/linux/mlx5/cq.h).
const (
	MLX5_CQE_REQ           = 0
	MLX5_CQE_RESP_WR_IMM   = 1
	MLX5_CQE_RESP_SEND     = 2
	MLX5_CQE_RESP_SEND_IMM = 3
	MLX5_CQE_RESP_SEND_INV = 4
	MLX5_CQE_RESIZE_CQ     = 5
	MLX5_CQE_SIG_ERR       = 12
	MLX5_CQE_REQ_ERR       = 13
	MLX5_CQE_RESP_ERR      = 14
	MLX5_CQE_INVALID       = 15

	MLX5_CQE_OWNER_MASK = 1
)

// Why a work request failed, byte 55 of an error entry
// (enum MLX5_CQE_SYNDROME_* in include/linux/mlx5/cq.h).
const (
	MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR        = 0x01
	MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR         = 0x02
	MLX5_CQE_SYNDROME_LOCAL_PROT_ERR          = 0x04
	MLX5_CQE_SYNDROME_WR_FLUSH_ERR            = 0x05
	MLX5_CQE_SYNDROME_MW_BIND_ERR             = 0x06
	MLX5_CQE_SYNDROME_BAD_RESP_ERR            = 0x10
	MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR        = 0x11
	MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR    = 0x12
	MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR       = 0x13
	MLX5_CQE_SYNDROME_REMOTE_OP_ERR           = 0x14
	MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR = 0x15
	MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR       = 0x16
	MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR      = 0x22
)

// What MODIFY_CQ changes (include/linux/mlx5/cq.h): the operation modifier that
// resizes, its fields, and the fields of the other one.
const (
	MLX5_CQ_OPMOD_RESIZE          = 1
	MLX5_MODIFY_CQ_MASK_LOG_SIZE  = 1 << 0
	MLX5_MODIFY_CQ_MASK_PG_OFFSET = 1 << 1
	MLX5_MODIFY_CQ_MASK_PG_SIZE   = 1 << 2

	MLX5_CQ_MODIFY_PERIOD      = 1 << 0
	MLX5_CQ_MODIFY_COUNT       = 1 << 1
	MLX5_CQ_MODIFY_OVERRUN     = 1 << 2
	MLX5_CQ_MODIFY_PERIOD_MODE = 1 << 4
)

// The cqe_sz of a completion queue context: entries of 64 bytes, entries of 128
// whose second half is the entry, and the same with the first half always
// written (enum CQE_STRIDE_* in include/linux/mlx5/cq.h).
const (
	CQE_STRIDE_64      = 0
	CQE_STRIDE_128     = 1
	CQE_STRIDE_128_PAD = 2
)

// Whether a completion queue works, and whether it has been asked to tell
// (MLX5_CQC_STATUS_* and MLX5_CQC_ST_* in include/linux/mlx5/mlx5_ifc.h).
const (
	MLX5_CQC_STATUS_OK            = 0x0
	MLX5_CQC_STATUS_CQ_OVERFLOW   = 0x9
	MLX5_CQC_STATUS_CQ_WRITE_FAIL = 0xa

	MLX5_CQC_ST_SOLICITED_NOTIFICATION_REQUEST_ARMED = 0x6
	MLX5_CQC_ST_NOTIFICATION_REQUEST_ARMED           = 0x9
	MLX5_CQC_ST_FIRED                                = 0xa
)

// The same for an event queue (MLX5_EQC_STATUS_* and MLX5_EQC_ST_* in
// include/linux/mlx5/mlx5_ifc.h).
const (
	MLX5_EQC_STATUS_OK               = 0x0
	MLX5_EQC_STATUS_EQ_WRITE_FAILURE = 0xa

	MLX5_EQC_ST_ARMED = 0x9
	MLX5_EQC_ST_FIRED = 0xa
)

// Event types, byte 1 of an event queue entry (enum mlx5_event in
// include/linux/mlx5/device.h).
const (
	MLX5_EVENT_TYPE_COMP               = 0x00
	MLX5_EVENT_TYPE_PATH_MIG           = 0x01
	MLX5_EVENT_TYPE_COMM_EST           = 0x02
	MLX5_EVENT_TYPE_SQ_DRAINED         = 0x03
	MLX5_EVENT_TYPE_CQ_ERROR           = 0x04
	MLX5_EVENT_TYPE_WQ_CATAS_ERROR     = 0x05
	MLX5_EVENT_TYPE_PATH_MIG_FAILED    = 0x07
	MLX5_EVENT_TYPE_INTERNAL_ERROR     = 0x08
	MLX5_EVENT_TYPE_PORT_CHANGE        = 0x09
	MLX5_EVENT_TYPE_CMD                = 0x0a
	MLX5_EVENT_TYPE_PAGE_REQUEST       = 0x0b
	MLX5_EVENT_TYPE_PAGE_FAULT         = 0x0c
	MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR = 0x10
	MLX5_EVENT_TYPE_WQ_ACCESS_ERROR    = 0x11
	MLX5_EVENT_TYPE_SRQ_CATAS_ERROR    = 0x12
	MLX5_EVENT_TYPE_SRQ_LAST_WQE       = 0x13
	MLX5_EVENT_TYPE_SRQ_RQ_LIMIT       = 0x14
	MLX5_EVENT_TYPE_XRQ_ERROR          = 0x18
	MLX5_EVENT_TYPE_DCT_DRAINED        = 0x1c
	MLX5_EVENT_TYPE_DCT_KEY_VIOLATION  = 0x1d
)

// Registers of a UAR page (include/linux/mlx5/doorbell.h; the two event queue
// doorbells are the driver's own offsets): arm a completion queue, move an event
// queue's consumer index and arm it, the same without arming, and the first
// byte that belongs to send queues.
const (
	MLX5_CQ_DOORBELL    = 0x20
	MLX5_EQ_DOORBELL    = 0x40
	MLX5_EQ_DOORBELL_CI = 0x48
	MLX5_BF_OFFSET      = 0x800

	// In the word that arms a completion queue.
	MLX5_CQ_DB_REQ_NOT_SOL = 1 << 24
	MLX5_CQ_DB_REQ_NOT     = 0
)

// The user id of what all users share (MLX5_SHARED_RESOURCE_UID in
// include/linux/mlx5/mlx5_ifc.h).
const MLX5_SHARED_RESOURCE_UID = 0xffff

// CapType is what QUERY_HCA_CAP asks for (enum mlx5_cap_type in
// include/linux/mlx5/device.h).
type CapType uint16

// The capability pages that have a layout here.
const (
	MLX5_CAP_GENERAL           CapType = 0x00
	MLX5_CAP_ETHERNET_OFFLOADS CapType = 0x01
	MLX5_CAP_ODP               CapType = 0x02
	MLX5_CAP_ATOMIC            CapType = 0x03
	MLX5_CAP_ROCE              CapType = 0x04
	MLX5_CAP_FLOW_TABLE        CapType = 0x07
	MLX5_CAP_QOS               CapType = 0x0c
	MLX5_CAP_DEV_MEM           CapType = 0x0f
	MLX5_CAP_VDPA_EMULATION    CapType = 0x13
	MLX5_CAP_DEV_EVENT         CapType = 0x14
	MLX5_CAP_GENERAL_2         CapType = 0x20
)

// CapLayouts names the layout of each capability page.
var CapLayouts = map[CapType]string{
	MLX5_CAP_GENERAL:           "cmd_hca_cap",
	MLX5_CAP_ETHERNET_OFFLOADS: "per_protocol_networking_offload_caps",
	MLX5_CAP_ODP:               "odp_cap",
	MLX5_CAP_ATOMIC:            "atomic_caps",
	MLX5_CAP_ROCE:              "roce_cap",
	MLX5_CAP_FLOW_TABLE:        "flow_table_nic_cap",
	MLX5_CAP_QOS:               "qos_cap",
	MLX5_CAP_DEV_MEM:           "device_mem_cap",
	MLX5_CAP_VDPA_EMULATION:    "virtio_emulation_cap",
	MLX5_CAP_DEV_EVENT:         "device_event_cap",
	MLX5_CAP_GENERAL_2:         "cmd_hca_cap_2",
}

// Bits of the operation modifier of QUERY_HCA_CAP beside the page
// (enum mlx5_cap_mode in include/linux/mlx5/device.h).
const (
	HCA_CAP_OPMOD_GET_MAX = 0
	HCA_CAP_OPMOD_GET_CUR = 1
)

// What a queue pair is for, st of its context (MLX5_QP_ST_* in
// include/linux/mlx5/qp.h and mlx5_ifc.h).
const (
	MLX5_QP_ST_RC            = 0x0
	MLX5_QP_ST_UC            = 0x1
	MLX5_QP_ST_UD            = 0x2
	MLX5_QP_ST_XRC           = 0x3
	MLX5_QP_ST_MLX           = 0x4
	MLX5_QP_ST_DCI           = 0x5
	MLX5_QP_ST_DCT           = 0x6
	MLX5_QP_ST_QP0           = 0x7
	MLX5_QP_ST_QP1           = 0x8
	MLX5_QP_ST_RAW_ETHERTYPE = 0x9
	MLX5_QP_ST_RAW_IPV6      = 0xa
	MLX5_QP_ST_SNIFFER       = 0xb
	MLX5_QP_ST_REG_UMR       = 0xc
	MLX5_QP_ST_PTP_1588      = 0xd
	MLX5_QP_ST_SYNC_UMR      = 0xe
)

// The state of a queue pair (enum mlx5_qp_state in include/linux/mlx5/qp.h).
const (
	MLX5_QP_STATE_RST         = 0
	MLX5_QP_STATE_INIT        = 1
	MLX5_QP_STATE_RTR         = 2
	MLX5_QP_STATE_RTS         = 3
	MLX5_QP_STATE_SQER        = 4
	MLX5_QP_STATE_SQD         = 5
	MLX5_QP_STATE_ERR         = 6
	MLX5_QP_STATE_SQ_DRAINING = 7
)

// Where a queue pair's receives come from, rq_type of its context
// (MLX5_*_RQ in include/linux/mlx5/qp.h).
const (
	MLX5_NON_ZERO_RQ = 0
	MLX5_SRQ_RQ      = 1
	MLX5_CRQ_RQ      = 2
	MLX5_ZERO_LEN_RQ = 3
)

// What of a context a transition changes beside what it always changes
// (enum mlx5_qp_optpar in include/linux/mlx5/qp.h).
const (
	MLX5_QP_OPTPAR_ALT_ADDR_PATH     = 1 << 0
	MLX5_QP_OPTPAR_RRE               = 1 << 1
	MLX5_QP_OPTPAR_RAE               = 1 << 2
	MLX5_QP_OPTPAR_RWE               = 1 << 3
	MLX5_QP_OPTPAR_PKEY_INDEX        = 1 << 4
	MLX5_QP_OPTPAR_Q_KEY             = 1 << 5
	MLX5_QP_OPTPAR_RNR_TIMEOUT       = 1 << 6
	MLX5_QP_OPTPAR_PRIMARY_ADDR_PATH = 1 << 7
	MLX5_QP_OPTPAR_SRA_MAX           = 1 << 8
	MLX5_QP_OPTPAR_RRA_MAX           = 1 << 9
	MLX5_QP_OPTPAR_PM_STATE          = 1 << 10
	MLX5_QP_OPTPAR_RETRY_COUNT       = 1 << 12
	MLX5_QP_OPTPAR_RNR_RETRY         = 1 << 13
	MLX5_QP_OPTPAR_ACK_TIMEOUT       = 1 << 14
	MLX5_QP_OPTPAR_PRI_PORT          = 1 << 16
	MLX5_QP_OPTPAR_COUNTER_SET_ID    = 1 << 25
)

// What a work request does, the lowest byte of its first word
// (enum MLX5_OPCODE_* in include/linux/mlx5/device.h).
const (
	MLX5_OPCODE_NOP            = 0x00
	MLX5_OPCODE_SEND_INVAL     = 0x01
	MLX5_OPCODE_RDMA_WRITE     = 0x08
	MLX5_OPCODE_RDMA_WRITE_IMM = 0x09
	MLX5_OPCODE_SEND           = 0x0a
	MLX5_OPCODE_SEND_IMM       = 0x0b
	MLX5_OPCODE_TSO            = 0x0e
	MLX5_OPCODE_RDMA_READ      = 0x10
	MLX5_OPCODE_ATOMIC_CS      = 0x11
	MLX5_OPCODE_ATOMIC_FA      = 0x12
	MLX5_OPCODE_UMR            = 0x25
)

// Bits of byte 11 of a work request, fm_ce_se (enum in include/linux/mlx5/qp.h):
// whether it wants a completion, whether the receiver shall be told, and what
// it waits for.
const (
	MLX5_WQE_CTRL_CQ_UPDATE         = 2 << 2
	MLX5_WQE_CTRL_CE_MASK           = 3 << 2
	MLX5_WQE_CTRL_SOLICITED         = 1 << 1
	MLX5_FENCE_MODE_MASK            = 7 << 5
	MLX5_FENCE_MODE_INITIATOR_SMALL = 1 << 5
	MLX5_FENCE_MODE_FENCE           = 2 << 5
	MLX5_FENCE_MODE_STRONG_ORDERING = 3 << 5
	MLX5_FENCE_MODE_SMALL_AND_FENCE = 4 << 5
)

// Of the segments of a work request (include/linux/mlx5/qp.h): the key that ends
// a list, and the bit of a length that says that the data follows.
const (
	MLX5_INVALID_LKEY = 0x100
	MLX5_INLINE_SEG   = 1 << 31
)
