package ifc

// The states of queues and of what receives through them
// (include/linux/mlx5/mlx5_ifc.h).
const (
	MLX5_SRQC_STATE_GOOD  = 0x0
	MLX5_SRQC_STATE_ERROR = 0x1

	MLX5_XRC_SRQC_STATE_GOOD  = 0x0
	MLX5_XRC_SRQC_STATE_ERROR = 0x1

	MLX5_RMPC_STATE_RDY = 0x1
	MLX5_RMPC_STATE_ERR = 0x3

	MLX5_XRQC_STATE_GOOD  = 0x0
	MLX5_XRQC_STATE_ERROR = 0x1

	MLX5_SQC_STATE_RST = 0x0
	MLX5_SQC_STATE_RDY = 0x1
	MLX5_SQC_STATE_ERR = 0x3

	MLX5_RQC_STATE_RST = 0x0
	MLX5_RQC_STATE_RDY = 0x1
	MLX5_RQC_STATE_ERR = 0x3

	MLX5_DCTC_STATE_ACTIVE   = 0x0
	MLX5_DCTC_STATE_DRAINING = 0x1
	MLX5_DCTC_STATE_DRAINED  = 0x2
)

// How the entries of a work queue follow each other (the same header).
const (
	MLX5_WQ_TYPE_LINKED_LIST             = 0x0
	MLX5_WQ_TYPE_CYCLIC                  = 0x1
	MLX5_WQ_TYPE_LINKED_LIST_STRIDING_RQ = 0x2
	MLX5_WQ_TYPE_CYCLIC_STRIDING_RQ      = 0x3
)

// Where a receive queue has its entries, and how a transport interface finds its
// queue (the same header).
const (
	MLX5_RQC_MEM_RQ_TYPE_MEMORY_RQ_INLINE = 0x0
	MLX5_RQC_MEM_RQ_TYPE_MEMORY_RQ_RMP    = 0x1

	MLX5_TIRC_DISP_TYPE_DIRECT   = 0x0
	MLX5_TIRC_DISP_TYPE_INDIRECT = 0x1
)

// What MODIFY_RQ and MODIFY_SQ change beside the state (the same header, but for
// the last, which the driver writes as a number).
const (
	MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_VSD               = 1 << 1
	MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_SCATTER_FCS       = 1 << 2
	MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_RQ_COUNTER_SET_ID = 1 << 3

	MLX5_MODIFY_SQ_IN_MODIFY_BITMASK_PACKET_PACING = 1 << 0
)
