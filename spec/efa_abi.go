package spec

import "structs"

// The enumerators and structs of include/uapi/rdma/efa-abi.h.

// EFA_UVERBS_ABI_VERSION, include/uapi/rdma/efa-abi.h.
const EFA_UVERBS_ABI_VERSION = 1

// An enum without a name, include/uapi/rdma/efa-abi.h: the bits of
// EfaAllocUcontextCmd.CompMask.
const (
	EFA_ALLOC_UCONTEXT_CMD_COMP_TX_BATCH  = 1 << 0
	EFA_ALLOC_UCONTEXT_CMD_COMP_MIN_SQ_WR = 1 << 1
)

// EfaAllocUcontextCmd is struct efa_ibv_alloc_ucontext_cmd.
type EfaAllocUcontextCmd struct {
	_          structs.HostLayout
	CompMask   uint32
	Reserved20 [4]uint8
}

// enum efa_ibv_user_cmds_supp_udata, include/uapi/rdma/efa-abi.h.
const (
	EFA_USER_CMDS_SUPP_UDATA_QUERY_DEVICE = 1 << 0
	EFA_USER_CMDS_SUPP_UDATA_CREATE_AH    = 1 << 1
)

// EfaAllocUcontextResp is struct efa_ibv_alloc_ucontext_resp.
type EfaAllocUcontextResp struct {
	_                 structs.HostLayout
	CompMask          uint32
	CmdsSuppUdataMask uint32
	SubCqsPerCQ       uint16
	InlineBufSize     uint16
	MaxLlqSize        uint32
	MaxTxBatch        uint16
	MinSQWR           uint16
	ReservedA0        [4]uint8
}

// EfaAllocPDResp is struct efa_ibv_alloc_pd_resp.
type EfaAllocPDResp struct {
	_          structs.HostLayout
	CompMask   uint32
	PDN        uint16
	Reserved30 [2]uint8
}

// An enum without a name, include/uapi/rdma/efa-abi.h: the bits of
// EfaCreateCQ.Flags.
const (
	EFA_CREATE_CQ_WITH_COMPLETION_CHANNEL = 1 << 0
	EFA_CREATE_CQ_WITH_SGID               = 1 << 1
)

// EfaCreateCQ is struct efa_ibv_create_cq.
type EfaCreateCQ struct {
	_           structs.HostLayout
	CompMask    uint32
	CQEntrySize uint32
	NumSubCqs   uint16
	Flags       uint8
	Reserved58  [5]uint8
}

// An enum without a name, include/uapi/rdma/efa-abi.h: the bits of
// EfaCreateCQResp.CompMask.
const (
	EFA_CREATE_CQ_RESP_DB_OFF = 1 << 0
)

// EfaCreateCQResp is struct efa_ibv_create_cq_resp.
type EfaCreateCQResp struct {
	_          structs.HostLayout
	CompMask   uint32
	Reserved20 [4]uint8
	QMmapKey   uint64
	QMmapSize  uint64
	CQIdx      uint16
	ReservedD0 [2]uint8
	DBOff      uint32
	DBMmapKey  uint64
}

// An enum without a name, include/uapi/rdma/efa-abi.h: the values of
// EfaCreateQP.DriverQPType.
const (
	EFA_QP_DRIVER_TYPE_SRD = 0
)

// An enum without a name, include/uapi/rdma/efa-abi.h: the bits of
// EfaCreateQP.Flags.
const (
	EFA_CREATE_QP_WITH_UNSOLICITED_WRITE_RECV = 1 << 0
)

// EfaCreateQP is struct efa_ibv_create_qp.
type EfaCreateQP struct {
	_            structs.HostLayout
	CompMask     uint32
	RQRingSize   uint32
	SQRingSize   uint32
	DriverQPType uint32
	Flags        uint16
	Reserved90   [6]uint8
}

// EfaCreateQPResp is struct efa_ibv_create_qp_resp.
type EfaCreateQPResp struct {
	_              structs.HostLayout
	CompMask       uint32
	RQDBOffset     uint32
	SQDBOffset     uint32
	LlqDescOffset  uint32
	RQMmapKey      uint64
	RQMmapSize     uint64
	RQDBMmapKey    uint64
	SQDBMmapKey    uint64
	LlqDescMmapKey uint64
	SendSubCQIdx   uint16
	RecvSubCQIdx   uint16
	Reserved1e0    [4]uint8
}

// EfaCreateAHResp is struct efa_ibv_create_ah_resp.
type EfaCreateAHResp struct {
	_                structs.HostLayout
	CompMask         uint32
	EfaAddressHandle uint16
	Reserved30       [2]uint8
}

// An enum without a name, include/uapi/rdma/efa-abi.h: the bits of
// EfaExQueryDeviceResp.DeviceCaps.
const (
	EFA_QUERY_DEVICE_CAPS_RDMA_READ              = 1 << 0
	EFA_QUERY_DEVICE_CAPS_RNR_RETRY              = 1 << 1
	EFA_QUERY_DEVICE_CAPS_CQ_NOTIFICATIONS       = 1 << 2
	EFA_QUERY_DEVICE_CAPS_CQ_WITH_SGID           = 1 << 3
	EFA_QUERY_DEVICE_CAPS_DATA_POLLING_128       = 1 << 4
	EFA_QUERY_DEVICE_CAPS_RDMA_WRITE             = 1 << 5
	EFA_QUERY_DEVICE_CAPS_UNSOLICITED_WRITE_RECV = 1 << 6
)

// EfaExQueryDeviceResp is struct efa_ibv_ex_query_device_resp.
type EfaExQueryDeviceResp struct {
	_           structs.HostLayout
	CompMask    uint32
	MaxSQWR     uint32
	MaxRQWR     uint32
	MaxSQSGE    uint16
	MaxRQSGE    uint16
	MaxRDMASize uint32
	DeviceCaps  uint32
}

// An enum without a name, include/uapi/rdma/efa-abi.h: the bits of
// EFA_IB_ATTR_QUERY_MR_RESP_IC_ID_VALIDITY.
const (
	EFA_QUERY_MR_VALIDITY_RECV_IC_ID      = 1 << 0
	EFA_QUERY_MR_VALIDITY_RDMA_READ_IC_ID = 1 << 1
	EFA_QUERY_MR_VALIDITY_RDMA_RECV_IC_ID = 1 << 2
)

// enum efa_query_mr_attrs, include/uapi/rdma/efa-abi.h.
const (
	EFA_IB_ATTR_QUERY_MR_HANDLE = NSFlag + iota
	EFA_IB_ATTR_QUERY_MR_RESP_IC_ID_VALIDITY
	EFA_IB_ATTR_QUERY_MR_RESP_RECV_IC_ID
	EFA_IB_ATTR_QUERY_MR_RESP_RDMA_READ_IC_ID
	EFA_IB_ATTR_QUERY_MR_RESP_RDMA_RECV_IC_ID
)

// enum efa_mr_methods, include/uapi/rdma/efa-abi.h.
const (
	EFA_IB_METHOD_MR_QUERY = NSFlag
)
