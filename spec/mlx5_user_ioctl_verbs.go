package spec

import "structs"

// The enumerators and structs of include/uapi/rdma/mlx5_user_ioctl_verbs.h.

// enum mlx5_ib_uapi_flow_action_flags,
// include/uapi/rdma/mlx5_user_ioctl_verbs.h.
const (
	MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA = 1 << 0
)

// enum mlx5_ib_uapi_flow_table_type,
// include/uapi/rdma/mlx5_user_ioctl_verbs.h.
const (
	MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX  = 0x0
	MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX  = 0x1
	MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB     = 0x2
	MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX = 0x3
	MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX = 0x4
)

// enum mlx5_ib_uapi_flow_action_packet_reformat_type,
// include/uapi/rdma/mlx5_user_ioctl_verbs.h.
const (
	MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2 = 0x0
	MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL = 0x1
	MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2 = 0x2
	MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL = 0x3
)

// enum mlx5_ib_uapi_reg_dmabuf_flags,
// include/uapi/rdma/mlx5_user_ioctl_verbs.h.
const (
	MLX5_IB_UAPI_REG_DMABUF_ACCESS_DATA_DIRECT = 1 << 0
)

// Mlx5UapiDevxAsyncCmdHdr is struct mlx5_ib_uapi_devx_async_cmd_hdr: how each
// answer read from an [devx_async_cmd] file begins. The array out_data
// follows.
type Mlx5UapiDevxAsyncCmdHdr struct {
	_    structs.HostLayout
	WRID uint64
}

// enum mlx5_ib_uapi_dm_type, include/uapi/rdma/mlx5_user_ioctl_verbs.h.
const (
	MLX5_IB_UAPI_DM_TYPE_MEMIC = iota
	MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM
	MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM
	MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM
	MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM
)

// enum mlx5_ib_uapi_devx_create_event_channel_flags,
// include/uapi/rdma/mlx5_user_ioctl_verbs.h.
const (
	MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA = 1 << 0
)

// Mlx5UapiDevxAsyncEventHdr is struct mlx5_ib_uapi_devx_async_event_hdr: how
// each event read from a [devx_async_event] file begins. The array out_data
// follows.
type Mlx5UapiDevxAsyncEventHdr struct {
	_      structs.HostLayout
	Cookie uint64
}

// enum mlx5_ib_uapi_pp_alloc_flags,
// include/uapi/rdma/mlx5_user_ioctl_verbs.h.
const (
	MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX = 1 << 0
)

// enum mlx5_ib_uapi_uar_alloc_type,
// include/uapi/rdma/mlx5_user_ioctl_verbs.h.
const (
	MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF = 0x0
	MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC = 0x1
)

// enum mlx5_ib_uapi_query_port_flags,
// include/uapi/rdma/mlx5_user_ioctl_verbs.h.
const (
	MLX5_IB_UAPI_QUERY_PORT_VPORT                 = 1 << 0
	MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID         = 1 << 1
	MLX5_IB_UAPI_QUERY_PORT_VPORT_STEERING_ICM_RX = 1 << 2
	MLX5_IB_UAPI_QUERY_PORT_VPORT_STEERING_ICM_TX = 1 << 3
	MLX5_IB_UAPI_QUERY_PORT_VPORT_REG_C0          = 1 << 4
	MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID     = 1 << 5
)

// Mlx5UapiReg is struct mlx5_ib_uapi_reg.
type Mlx5UapiReg struct {
	_     structs.HostLayout
	Value uint32
	Mask  uint32
}

// Mlx5UapiQueryPort is struct mlx5_ib_uapi_query_port: what
// MLX5_IB_METHOD_QUERY_PORT writes.
type Mlx5UapiQueryPort struct {
	_                  structs.HostLayout
	Flags              uint64
	Vport              uint16
	VportVhcaID        uint16
	EswOwnerVhcaID     uint16
	Rsvd0              uint16
	VportSteeringIcmRx uint64
	VportSteeringIcmTx uint64
	RegC0              Mlx5UapiReg
}
