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
	MLX5_EVENT_TYPE_COMP     = 0x00
	MLX5_EVENT_TYPE_CQ_ERROR = 0x04
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
