package spec

import "structs"

// The enumerators and structs of include/uapi/rdma/ib_user_verbs.h.

// IB_USER_VERBS_ABI_VERSION, include/uapi/rdma/ib_user_verbs.h.
const IB_USER_VERBS_ABI_VERSION = 6

// IB_USER_VERBS_CMD_THRESHOLD, include/uapi/rdma/ib_user_verbs.h: the number
// from which on only extended commands are added.
const IB_USER_VERBS_CMD_THRESHOLD = 50

// enum ib_uverbs_write_cmds, include/uapi/rdma/ib_user_verbs.h: the
// commands of write() and of UVERBS_METHOD_INVOKE_WRITE.
const (
	IB_USER_VERBS_CMD_GET_CONTEXT = iota
	IB_USER_VERBS_CMD_QUERY_DEVICE
	IB_USER_VERBS_CMD_QUERY_PORT
	IB_USER_VERBS_CMD_ALLOC_PD
	IB_USER_VERBS_CMD_DEALLOC_PD
	IB_USER_VERBS_CMD_CREATE_AH
	IB_USER_VERBS_CMD_MODIFY_AH
	IB_USER_VERBS_CMD_QUERY_AH
	IB_USER_VERBS_CMD_DESTROY_AH
	IB_USER_VERBS_CMD_REG_MR
	IB_USER_VERBS_CMD_REG_SMR
	IB_USER_VERBS_CMD_REREG_MR
	IB_USER_VERBS_CMD_QUERY_MR
	IB_USER_VERBS_CMD_DEREG_MR
	IB_USER_VERBS_CMD_ALLOC_MW
	IB_USER_VERBS_CMD_BIND_MW
	IB_USER_VERBS_CMD_DEALLOC_MW
	IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL
	IB_USER_VERBS_CMD_CREATE_CQ
	IB_USER_VERBS_CMD_RESIZE_CQ
	IB_USER_VERBS_CMD_DESTROY_CQ
	IB_USER_VERBS_CMD_POLL_CQ
	IB_USER_VERBS_CMD_PEEK_CQ
	IB_USER_VERBS_CMD_REQ_NOTIFY_CQ
	IB_USER_VERBS_CMD_CREATE_QP
	IB_USER_VERBS_CMD_QUERY_QP
	IB_USER_VERBS_CMD_MODIFY_QP
	IB_USER_VERBS_CMD_DESTROY_QP
	IB_USER_VERBS_CMD_POST_SEND
	IB_USER_VERBS_CMD_POST_RECV
	IB_USER_VERBS_CMD_ATTACH_MCAST
	IB_USER_VERBS_CMD_DETACH_MCAST
	IB_USER_VERBS_CMD_CREATE_SRQ
	IB_USER_VERBS_CMD_MODIFY_SRQ
	IB_USER_VERBS_CMD_QUERY_SRQ
	IB_USER_VERBS_CMD_DESTROY_SRQ
	IB_USER_VERBS_CMD_POST_SRQ_RECV
	IB_USER_VERBS_CMD_OPEN_XRCD
	IB_USER_VERBS_CMD_CLOSE_XRCD
	IB_USER_VERBS_CMD_CREATE_XSRQ
	IB_USER_VERBS_CMD_OPEN_QP
)

// An enum without a name, include/uapi/rdma/ib_user_verbs.h: the extended
// commands of write().
const (
	IB_USER_VERBS_EX_CMD_QUERY_DEVICE        = IB_USER_VERBS_CMD_QUERY_DEVICE
	IB_USER_VERBS_EX_CMD_CREATE_CQ           = IB_USER_VERBS_CMD_CREATE_CQ
	IB_USER_VERBS_EX_CMD_CREATE_QP           = IB_USER_VERBS_CMD_CREATE_QP
	IB_USER_VERBS_EX_CMD_MODIFY_QP           = IB_USER_VERBS_CMD_MODIFY_QP
	IB_USER_VERBS_EX_CMD_CREATE_FLOW         = IB_USER_VERBS_CMD_THRESHOLD
	IB_USER_VERBS_EX_CMD_DESTROY_FLOW        = 51
	IB_USER_VERBS_EX_CMD_CREATE_WQ           = 52
	IB_USER_VERBS_EX_CMD_MODIFY_WQ           = 53
	IB_USER_VERBS_EX_CMD_DESTROY_WQ          = 54
	IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL  = 55
	IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL = 56
	IB_USER_VERBS_EX_CMD_MODIFY_CQ           = 57
)

// enum ib_placement_type, include/uapi/rdma/ib_user_verbs.h.
const (
	IB_FLUSH_GLOBAL     = 1 << 0
	IB_FLUSH_PERSISTENT = 1 << 1
)

// enum ib_selectivity_level, include/uapi/rdma/ib_user_verbs.h.
const (
	IB_FLUSH_RANGE = iota
	IB_FLUSH_MR
)

// AsyncEventDesc is struct ib_uverbs_async_event_desc: what a read of an
// async event file returns for each event.
type AsyncEventDesc struct {
	_         structs.HostLayout
	Element   uint64
	EventType uint32
	Reserved  uint32
}

// CompEventDesc is struct ib_uverbs_comp_event_desc: what a read of a
// completion channel returns for each event.
type CompEventDesc struct {
	_        structs.HostLayout
	CQHandle uint64
}

// CQModerationCaps is struct ib_uverbs_cq_moderation_caps.
type CQModerationCaps struct {
	_                     structs.HostLayout
	MaxCQModerationCount  uint16
	MaxCQModerationPeriod uint16
	Reserved              uint32
}

// IB_USER_VERBS_CMD_COMMAND_MASK, include/uapi/rdma/ib_user_verbs.h: the bits
// of CmdHdr.Command that are the command.
const IB_USER_VERBS_CMD_COMMAND_MASK = 0xff

// IB_USER_VERBS_CMD_FLAG_EXTENDED, include/uapi/rdma/ib_user_verbs.h: the bit
// of CmdHdr.Command that says extended.
const IB_USER_VERBS_CMD_FLAG_EXTENDED = 0x80000000

// CmdHdr is struct ib_uverbs_cmd_hdr: how a write() begins. The words are of
// 4 bytes, the header included; in an extended command they are of 8 bytes
// and count the core's part without the headers.
type CmdHdr struct {
	_        structs.HostLayout
	Command  uint32
	InWords  uint16
	OutWords uint16
}

// ExCmdHdr is struct ib_uverbs_ex_cmd_hdr: what follows CmdHdr in an extended
// command. The words are of 8 bytes.
type ExCmdHdr struct {
	_                structs.HostLayout
	Response         uint64
	ProviderInWords  uint16
	ProviderOutWords uint16
	CmdHdrReserved   uint32
}

// GetContext is struct ib_uverbs_get_context: the request of
// IB_USER_VERBS_CMD_GET_CONTEXT. The driver's part follows.
type GetContext struct {
	_        structs.HostLayout
	Response uint64
}

// GetContextResp is struct ib_uverbs_get_context_resp: the response to
// IB_USER_VERBS_CMD_GET_CONTEXT. The driver's part follows.
type GetContextResp struct {
	_              structs.HostLayout
	AsyncFD        uint32
	NumCompVectors uint32
}

// QueryDevice is struct ib_uverbs_query_device: the request of
// IB_USER_VERBS_CMD_QUERY_DEVICE. The driver's part follows.
type QueryDevice struct {
	_        structs.HostLayout
	Response uint64
}

// QueryDeviceResp is struct ib_uverbs_query_device_resp: the response to
// IB_USER_VERBS_CMD_QUERY_DEVICE.
type QueryDeviceResp struct {
	_                     structs.HostLayout
	FwVer                 uint64
	NodeGuid              uint64 // big endian
	SysImageGuid          uint64 // big endian
	MaxMRSize             uint64
	PageSizeCap           uint64
	VendorID              uint32
	VendorPartID          uint32
	HwVer                 uint32
	MaxQP                 uint32
	MaxQPWR               uint32
	DeviceCapFlags        uint32
	MaxSGE                uint32
	MaxSGERd              uint32
	MaxCQ                 uint32
	MaxCQE                uint32
	MaxMR                 uint32
	MaxPD                 uint32
	MaxQPRdAtom           uint32
	MaxEeRdAtom           uint32
	MaxResRdAtom          uint32
	MaxQPInitRdAtom       uint32
	MaxEeInitRdAtom       uint32
	AtomicCap             uint32
	MaxEe                 uint32
	MaxRdd                uint32
	MaxMW                 uint32
	MaxRawIPv6QP          uint32
	MaxRawEthyQP          uint32
	MaxMcastGrp           uint32
	MaxMcastQPAttach      uint32
	MaxTotalMcastQPAttach uint32
	MaxAH                 uint32
	MaxFmr                uint32
	MaxMapPerFmr          uint32
	MaxSRQ                uint32
	MaxSRQWR              uint32
	MaxSRQSGE             uint32
	MaxPkeys              uint16
	LocalCaAckDelay       uint8
	PhysPortCnt           uint8
	Reserved              [4]uint8
}

// ExQueryDevice is struct ib_uverbs_ex_query_device: the request of
// IB_USER_VERBS_EX_CMD_QUERY_DEVICE.
type ExQueryDevice struct {
	_        structs.HostLayout
	CompMask uint32
	Reserved uint32
}

// ODPCaps is struct ib_uverbs_odp_caps.
type ODPCaps struct {
	_                structs.HostLayout
	GeneralCaps      uint64
	PerTransportCaps struct {
		RcODPCaps uint32
		UcODPCaps uint32
		UDODPCaps uint32
	}
	Reserved uint32
}

// RSSCaps is struct ib_uverbs_rss_caps.
type RSSCaps struct {
	_                          structs.HostLayout
	SupportedQpts              uint32
	MaxRWQIndirectionTables    uint32
	MaxRWQIndirectionTableSize uint32
	Reserved                   uint32
}

// TMCaps is struct ib_uverbs_tm_caps.
type TMCaps struct {
	_              structs.HostLayout
	MaxRndvHdrSize uint32
	MaxNumTags     uint32
	Flags          uint32
	MaxOps         uint32
	MaxSGE         uint32
	Reserved       uint32
}

// ExQueryDeviceResp is struct ib_uverbs_ex_query_device_resp: the response to
// IB_USER_VERBS_EX_CMD_QUERY_DEVICE.
type ExQueryDeviceResp struct {
	_                structs.HostLayout
	Base             QueryDeviceResp
	CompMask         uint32
	ResponseLength   uint32
	ODPCaps          ODPCaps
	TimestampMask    uint64
	HcaCoreClock     uint64
	DeviceCapFlagsEx uint64
	RSSCaps          RSSCaps
	MaxWQTypeRQ      uint32
	RawPacketCaps    uint32
	TMCaps           TMCaps
	CQModerationCaps CQModerationCaps
	MaxDMSize        uint64
	XrcODPCaps       uint32
	Reserved         uint32
}

// QueryPort is struct ib_uverbs_query_port: the request of
// IB_USER_VERBS_CMD_QUERY_PORT. The driver's part follows.
type QueryPort struct {
	_        structs.HostLayout
	Response uint64
	PortNum  uint8
	Reserved [7]uint8
}

// QueryPortResp is struct ib_uverbs_query_port_resp: the response to
// IB_USER_VERBS_CMD_QUERY_PORT.
type QueryPortResp struct {
	_             structs.HostLayout
	PortCapFlags  uint32
	MaxMsgSz      uint32
	BadPkeyCntr   uint32
	QkeyViolCntr  uint32
	GIDTblLen     uint32
	PkeyTblLen    uint16
	LID           uint16
	SmLID         uint16
	State         uint8
	MaxMtu        uint8
	ActiveMtu     uint8
	Lmc           uint8
	MaxVlNum      uint8
	SmSl          uint8
	SubnetTimeout uint8
	InitTypeReply uint8
	ActiveWidth   uint8
	ActiveSpeed   uint8
	PhysState     uint8
	LinkLayer     uint8
	Flags         uint8
	Reserved      uint8
}

// AllocPD is struct ib_uverbs_alloc_pd: the request of
// IB_USER_VERBS_CMD_ALLOC_PD. The driver's part follows.
type AllocPD struct {
	_        structs.HostLayout
	Response uint64
}

// AllocPDResp is struct ib_uverbs_alloc_pd_resp: the response to
// IB_USER_VERBS_CMD_ALLOC_PD. The driver's part follows.
type AllocPDResp struct {
	_        structs.HostLayout
	PDHandle uint32
}

// DeallocPD is struct ib_uverbs_dealloc_pd: the request of
// IB_USER_VERBS_CMD_DEALLOC_PD.
type DeallocPD struct {
	_        structs.HostLayout
	PDHandle uint32
}

// OpenXRCD is struct ib_uverbs_open_xrcd: the request of
// IB_USER_VERBS_CMD_OPEN_XRCD. The driver's part follows.
type OpenXRCD struct {
	_        structs.HostLayout
	Response uint64
	FD       uint32
	Oflags   uint32
}

// OpenXRCDResp is struct ib_uverbs_open_xrcd_resp: the response to
// IB_USER_VERBS_CMD_OPEN_XRCD. The driver's part follows.
type OpenXRCDResp struct {
	_          structs.HostLayout
	XRCDHandle uint32
}

// CloseXRCD is struct ib_uverbs_close_xrcd: the request of
// IB_USER_VERBS_CMD_CLOSE_XRCD.
type CloseXRCD struct {
	_          structs.HostLayout
	XRCDHandle uint32
}

// RegMR is struct ib_uverbs_reg_mr: the request of IB_USER_VERBS_CMD_REG_MR.
// The driver's part follows.
type RegMR struct {
	_           structs.HostLayout
	Response    uint64
	Start       uint64
	Length      uint64
	HcaVA       uint64
	PDHandle    uint32
	AccessFlags uint32
}

// RegMRResp is struct ib_uverbs_reg_mr_resp: the response to
// IB_USER_VERBS_CMD_REG_MR. The driver's part follows.
type RegMRResp struct {
	_        structs.HostLayout
	MRHandle uint32
	Lkey     uint32
	Rkey     uint32
}

// ReregMR is struct ib_uverbs_rereg_mr: the request of
// IB_USER_VERBS_CMD_REREG_MR. The driver's part follows.
type ReregMR struct {
	_           structs.HostLayout
	Response    uint64
	MRHandle    uint32
	Flags       uint32
	Start       uint64
	Length      uint64
	HcaVA       uint64
	PDHandle    uint32
	AccessFlags uint32
}

// ReregMRResp is struct ib_uverbs_rereg_mr_resp: the response to
// IB_USER_VERBS_CMD_REREG_MR. The driver's part follows.
type ReregMRResp struct {
	_    structs.HostLayout
	Lkey uint32
	Rkey uint32
}

// DeregMR is struct ib_uverbs_dereg_mr: the request of
// IB_USER_VERBS_CMD_DEREG_MR.
type DeregMR struct {
	_        structs.HostLayout
	MRHandle uint32
}

// AllocMW is struct ib_uverbs_alloc_mw: the request of
// IB_USER_VERBS_CMD_ALLOC_MW. The driver's part follows.
type AllocMW struct {
	_        structs.HostLayout
	Response uint64
	PDHandle uint32
	MWType   uint8
	Reserved [3]uint8
}

// AllocMWResp is struct ib_uverbs_alloc_mw_resp: the response to
// IB_USER_VERBS_CMD_ALLOC_MW. The driver's part follows.
type AllocMWResp struct {
	_        structs.HostLayout
	MWHandle uint32
	Rkey     uint32
}

// DeallocMW is struct ib_uverbs_dealloc_mw: the request of
// IB_USER_VERBS_CMD_DEALLOC_MW.
type DeallocMW struct {
	_        structs.HostLayout
	MWHandle uint32
}

// CreateCompChannel is struct ib_uverbs_create_comp_channel: the request of
// IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL.
type CreateCompChannel struct {
	_        structs.HostLayout
	Response uint64
}

// CreateCompChannelResp is struct ib_uverbs_create_comp_channel_resp: the
// response to IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL.
type CreateCompChannelResp struct {
	_  structs.HostLayout
	FD uint32
}

// CreateCQ is struct ib_uverbs_create_cq: the request of
// IB_USER_VERBS_CMD_CREATE_CQ. The driver's part follows.
type CreateCQ struct {
	_           structs.HostLayout
	Response    uint64
	UserHandle  uint64
	CQE         uint32
	CompVector  uint32
	CompChannel int32
	Reserved    uint32
}

// enum ib_uverbs_ex_create_cq_flags, include/uapi/rdma/ib_user_verbs.h.
const (
	IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION = 1 << 0
	IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN       = 1 << 1
)

// ExCreateCQ is struct ib_uverbs_ex_create_cq: the request of
// IB_USER_VERBS_EX_CMD_CREATE_CQ.
type ExCreateCQ struct {
	_           structs.HostLayout
	UserHandle  uint64
	CQE         uint32
	CompVector  uint32
	CompChannel int32
	CompMask    uint32
	Flags       uint32
	Reserved    uint32
}

// CreateCQResp is struct ib_uverbs_create_cq_resp: the response to
// IB_USER_VERBS_CMD_CREATE_CQ. The driver's part follows.
type CreateCQResp struct {
	_        structs.HostLayout
	CQHandle uint32
	CQE      uint32
}

// ExCreateCQResp is struct ib_uverbs_ex_create_cq_resp: the response to
// IB_USER_VERBS_EX_CMD_CREATE_CQ.
type ExCreateCQResp struct {
	_              structs.HostLayout
	Base           CreateCQResp
	CompMask       uint32
	ResponseLength uint32
}

// ResizeCQ is struct ib_uverbs_resize_cq: the request of
// IB_USER_VERBS_CMD_RESIZE_CQ. The driver's part follows.
type ResizeCQ struct {
	_        structs.HostLayout
	Response uint64
	CQHandle uint32
	CQE      uint32
}

// ResizeCQResp is struct ib_uverbs_resize_cq_resp: the response to
// IB_USER_VERBS_CMD_RESIZE_CQ. The driver's part follows.
type ResizeCQResp struct {
	_        structs.HostLayout
	CQE      uint32
	Reserved uint32
}

// PollCQ is struct ib_uverbs_poll_cq: the request of
// IB_USER_VERBS_CMD_POLL_CQ.
type PollCQ struct {
	_        structs.HostLayout
	Response uint64
	CQHandle uint32
	Ne       uint32
}

// enum ib_uverbs_wc_opcode, include/uapi/rdma/ib_user_verbs.h.
const (
	IB_UVERBS_WC_SEND         = 0
	IB_UVERBS_WC_RDMA_WRITE   = 1
	IB_UVERBS_WC_RDMA_READ    = 2
	IB_UVERBS_WC_COMP_SWAP    = 3
	IB_UVERBS_WC_FETCH_ADD    = 4
	IB_UVERBS_WC_BIND_MW      = 5
	IB_UVERBS_WC_LOCAL_INV    = 6
	IB_UVERBS_WC_TSO          = 7
	IB_UVERBS_WC_FLUSH        = 8
	IB_UVERBS_WC_ATOMIC_WRITE = 9
)

// WC is struct ib_uverbs_wc: one completion, as PollCQResp holds them.
type WC struct {
	_            structs.HostLayout
	WRID         uint64
	Status       uint32
	Opcode       uint32
	VendorErr    uint32
	ByteLen      uint32
	Ex           uint32 // imm_data, big endian, or invalidate_rkey
	QPNum        uint32
	SrcQP        uint32
	WCFlags      uint32
	PkeyIndex    uint16
	Slid         uint16
	Sl           uint8
	DLIDPathBits uint8
	PortNum      uint8
	Reserved     uint8
}

// PollCQResp is struct ib_uverbs_poll_cq_resp: the response to
// IB_USER_VERBS_CMD_POLL_CQ. The array wc follows.
type PollCQResp struct {
	_        structs.HostLayout
	Count    uint32
	Reserved uint32
}

// ReqNotifyCQ is struct ib_uverbs_req_notify_cq: the request of
// IB_USER_VERBS_CMD_REQ_NOTIFY_CQ.
type ReqNotifyCQ struct {
	_             structs.HostLayout
	CQHandle      uint32
	SolicitedOnly uint32
}

// DestroyCQ is struct ib_uverbs_destroy_cq: the request of
// IB_USER_VERBS_CMD_DESTROY_CQ.
type DestroyCQ struct {
	_        structs.HostLayout
	Response uint64
	CQHandle uint32
	Reserved uint32
}

// DestroyCQResp is struct ib_uverbs_destroy_cq_resp: the response to
// IB_USER_VERBS_CMD_DESTROY_CQ.
type DestroyCQResp struct {
	_                   structs.HostLayout
	CompEventsReported  uint32
	AsyncEventsReported uint32
}

// GlobalRoute is struct ib_uverbs_global_route.
type GlobalRoute struct {
	_            structs.HostLayout
	DGID         [16]uint8
	FlowLabel    uint32
	SGIDIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	Reserved     uint8
}

// AHAttr is struct ib_uverbs_ah_attr.
type AHAttr struct {
	_           structs.HostLayout
	GRH         GlobalRoute
	DLID        uint16
	Sl          uint8
	SrcPathBits uint8
	StaticRate  uint8
	IsGlobal    uint8
	PortNum     uint8
	Reserved    uint8
}

// QPAttr is struct ib_uverbs_qp_attr.
type QPAttr struct {
	_                structs.HostLayout
	QPAttrMask       uint32
	QPState          uint32
	CurQPState       uint32
	PathMtu          uint32
	PathMigState     uint32
	Qkey             uint32
	RQPSN            uint32
	SQPSN            uint32
	DestQPNum        uint32
	QPAccessFlags    uint32
	AHAttr           AHAttr
	AltAHAttr        AHAttr
	MaxSendWR        uint32
	MaxRecvWR        uint32
	MaxSendSGE       uint32
	MaxRecvSGE       uint32
	MaxInlineData    uint32
	PkeyIndex        uint16
	AltPkeyIndex     uint16
	EnSqdAsyncNotify uint8
	SQDraining       uint8
	MaxRdAtomic      uint8
	MaxDestRdAtomic  uint8
	MinRnrTimer      uint8
	PortNum          uint8
	Timeout          uint8
	RetryCnt         uint8
	RnrRetry         uint8
	AltPortNum       uint8
	AltTimeout       uint8
	Reserved         [5]uint8
}

// CreateQP is struct ib_uverbs_create_qp: the request of
// IB_USER_VERBS_CMD_CREATE_QP. The driver's part follows.
type CreateQP struct {
	_             structs.HostLayout
	Response      uint64
	UserHandle    uint64
	PDHandle      uint32
	SendCQHandle  uint32
	RecvCQHandle  uint32
	SRQHandle     uint32
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32
	SQSigAll      uint8
	QPType        uint8
	IsSRQ         uint8
	Reserved      uint8
}

// enum ib_uverbs_create_qp_mask, include/uapi/rdma/ib_user_verbs.h.
const (
	IB_UVERBS_CREATE_QP_MASK_IND_TABLE = 1 << 0
)

// An enum without a name, include/uapi/rdma/ib_user_verbs.h: the bits of
// ExCreateQP.CompMask that the kernel knows.
const (
	IB_UVERBS_CREATE_QP_SUP_COMP_MASK = IB_UVERBS_CREATE_QP_MASK_IND_TABLE
)

// ExCreateQP is struct ib_uverbs_ex_create_qp: the request of
// IB_USER_VERBS_EX_CMD_CREATE_QP.
type ExCreateQP struct {
	_               structs.HostLayout
	UserHandle      uint64
	PDHandle        uint32
	SendCQHandle    uint32
	RecvCQHandle    uint32
	SRQHandle       uint32
	MaxSendWR       uint32
	MaxRecvWR       uint32
	MaxSendSGE      uint32
	MaxRecvSGE      uint32
	MaxInlineData   uint32
	SQSigAll        uint8
	QPType          uint8
	IsSRQ           uint8
	Reserved        uint8
	CompMask        uint32
	CreateFlags     uint32
	RWQIndTblHandle uint32
	SourceQPN       uint32
}

// OpenQP is struct ib_uverbs_open_qp: the request of
// IB_USER_VERBS_CMD_OPEN_QP. The driver's part follows.
type OpenQP struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	PDHandle   uint32
	QPN        uint32
	QPType     uint8
	Reserved   [7]uint8
}

// CreateQPResp is struct ib_uverbs_create_qp_resp: the response to
// IB_USER_VERBS_CMD_CREATE_QP, IB_USER_VERBS_CMD_OPEN_QP. The driver's part
// follows.
type CreateQPResp struct {
	_             structs.HostLayout
	QPHandle      uint32
	QPN           uint32
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32
	Reserved      uint32
}

// ExCreateQPResp is struct ib_uverbs_ex_create_qp_resp: the response to
// IB_USER_VERBS_EX_CMD_CREATE_QP.
type ExCreateQPResp struct {
	_              structs.HostLayout
	Base           CreateQPResp
	CompMask       uint32
	ResponseLength uint32
}

// QPDest is struct ib_uverbs_qp_dest: a path of a QP.
type QPDest struct {
	_            structs.HostLayout
	DGID         [16]uint8
	FlowLabel    uint32
	DLID         uint16
	Reserved     uint16
	SGIDIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	Sl           uint8
	SrcPathBits  uint8
	StaticRate   uint8
	IsGlobal     uint8
	PortNum      uint8
}

// QueryQP is struct ib_uverbs_query_qp: the request of
// IB_USER_VERBS_CMD_QUERY_QP. The driver's part follows.
type QueryQP struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	AttrMask uint32
}

// QueryQPResp is struct ib_uverbs_query_qp_resp: the response to
// IB_USER_VERBS_CMD_QUERY_QP. The driver's part follows.
type QueryQPResp struct {
	_               structs.HostLayout
	Dest            QPDest
	AltDest         QPDest
	MaxSendWR       uint32
	MaxRecvWR       uint32
	MaxSendSGE      uint32
	MaxRecvSGE      uint32
	MaxInlineData   uint32
	Qkey            uint32
	RQPSN           uint32
	SQPSN           uint32
	DestQPNum       uint32
	QPAccessFlags   uint32
	PkeyIndex       uint16
	AltPkeyIndex    uint16
	QPState         uint8
	CurQPState      uint8
	PathMtu         uint8
	PathMigState    uint8
	SQDraining      uint8
	MaxRdAtomic     uint8
	MaxDestRdAtomic uint8
	MinRnrTimer     uint8
	PortNum         uint8
	Timeout         uint8
	RetryCnt        uint8
	RnrRetry        uint8
	AltPortNum      uint8
	AltTimeout      uint8
	SQSigAll        uint8
	Reserved        [5]uint8
}

// ModifyQP is struct ib_uverbs_modify_qp: the request of
// IB_USER_VERBS_CMD_MODIFY_QP. The driver's part follows.
type ModifyQP struct {
	_                structs.HostLayout
	Dest             QPDest
	AltDest          QPDest
	QPHandle         uint32
	AttrMask         uint32
	Qkey             uint32
	RQPSN            uint32
	SQPSN            uint32
	DestQPNum        uint32
	QPAccessFlags    uint32
	PkeyIndex        uint16
	AltPkeyIndex     uint16
	QPState          uint8
	CurQPState       uint8
	PathMtu          uint8
	PathMigState     uint8
	EnSqdAsyncNotify uint8
	MaxRdAtomic      uint8
	MaxDestRdAtomic  uint8
	MinRnrTimer      uint8
	PortNum          uint8
	Timeout          uint8
	RetryCnt         uint8
	RnrRetry         uint8
	AltPortNum       uint8
	AltTimeout       uint8
	Reserved         [2]uint8
}

// ExModifyQP is struct ib_uverbs_ex_modify_qp: the request of
// IB_USER_VERBS_EX_CMD_MODIFY_QP.
type ExModifyQP struct {
	_         structs.HostLayout
	Base      ModifyQP
	RateLimit uint32
	Reserved  uint32
}

// ExModifyQPResp is struct ib_uverbs_ex_modify_qp_resp: the response to
// IB_USER_VERBS_EX_CMD_MODIFY_QP.
type ExModifyQPResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
}

// DestroyQP is struct ib_uverbs_destroy_qp: the request of
// IB_USER_VERBS_CMD_DESTROY_QP.
type DestroyQP struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	Reserved uint32
}

// DestroyQPResp is struct ib_uverbs_destroy_qp_resp: the response to
// IB_USER_VERBS_CMD_DESTROY_QP.
type DestroyQPResp struct {
	_              structs.HostLayout
	EventsReported uint32
}

// SGE is struct ib_uverbs_sge: one piece of memory of a work request.
type SGE struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint32
	Lkey   uint32
}

// enum ib_uverbs_wr_opcode, include/uapi/rdma/ib_user_verbs.h.
const (
	IB_UVERBS_WR_RDMA_WRITE                  = 0
	IB_UVERBS_WR_RDMA_WRITE_WITH_IMM         = 1
	IB_UVERBS_WR_SEND                        = 2
	IB_UVERBS_WR_SEND_WITH_IMM               = 3
	IB_UVERBS_WR_RDMA_READ                   = 4
	IB_UVERBS_WR_ATOMIC_CMP_AND_SWP          = 5
	IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD        = 6
	IB_UVERBS_WR_LOCAL_INV                   = 7
	IB_UVERBS_WR_BIND_MW                     = 8
	IB_UVERBS_WR_SEND_WITH_INV               = 9
	IB_UVERBS_WR_TSO                         = 10
	IB_UVERBS_WR_RDMA_READ_WITH_INV          = 11
	IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP   = 12
	IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD = 13
	IB_UVERBS_WR_FLUSH                       = 14
	IB_UVERBS_WR_ATOMIC_WRITE                = 15
)

// SendWR is struct ib_uverbs_send_wr: one work request of PostSend.
type SendWR struct {
	_         structs.HostLayout
	WRID      uint64
	NumSGE    uint32
	Opcode    uint32
	SendFlags uint32
	Ex        uint32    // imm_data, big endian, or invalidate_rkey
	WR        [4]uint64 // by opcode: rdma, atomic, ud
}

// SendWRRDMA is the member wr.rdma of struct ib_uverbs_send_wr.
type SendWRRDMA struct {
	_          structs.HostLayout
	RemoteAddr uint64
	Rkey       uint32
	Reserved   uint32
}

// SendWRAtomic is the member wr.atomic of struct ib_uverbs_send_wr.
type SendWRAtomic struct {
	_          structs.HostLayout
	RemoteAddr uint64
	CompareAdd uint64
	Swap       uint64
	Rkey       uint32
	Reserved   uint32
}

// SendWRUD is the member wr.ud of struct ib_uverbs_send_wr.
type SendWRUD struct {
	_          structs.HostLayout
	AH         uint32
	RemoteQPN  uint32
	RemoteQkey uint32
	Reserved   uint32
}

// PostSend is struct ib_uverbs_post_send: the request of
// IB_USER_VERBS_CMD_POST_SEND. The array send_wr follows.
type PostSend struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	WRCount  uint32
	SGECount uint32
	WQESize  uint32
}

// PostSendResp is struct ib_uverbs_post_send_resp: the response to
// IB_USER_VERBS_CMD_POST_SEND.
type PostSendResp struct {
	_     structs.HostLayout
	BadWR uint32
}

// RecvWR is struct ib_uverbs_recv_wr: one work request of PostRecv and
// PostSRQRecv.
type RecvWR struct {
	_        structs.HostLayout
	WRID     uint64
	NumSGE   uint32
	Reserved uint32
}

// PostRecv is struct ib_uverbs_post_recv: the request of
// IB_USER_VERBS_CMD_POST_RECV. The array recv_wr follows.
type PostRecv struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	WRCount  uint32
	SGECount uint32
	WQESize  uint32
}

// PostRecvResp is struct ib_uverbs_post_recv_resp: the response to
// IB_USER_VERBS_CMD_POST_RECV.
type PostRecvResp struct {
	_     structs.HostLayout
	BadWR uint32
}

// PostSRQRecv is struct ib_uverbs_post_srq_recv: the request of
// IB_USER_VERBS_CMD_POST_SRQ_RECV. The array recv follows.
type PostSRQRecv struct {
	_         structs.HostLayout
	Response  uint64
	SRQHandle uint32
	WRCount   uint32
	SGECount  uint32
	WQESize   uint32
}

// PostSRQRecvResp is struct ib_uverbs_post_srq_recv_resp: the response to
// IB_USER_VERBS_CMD_POST_SRQ_RECV.
type PostSRQRecvResp struct {
	_     structs.HostLayout
	BadWR uint32
}

// CreateAH is struct ib_uverbs_create_ah: the request of
// IB_USER_VERBS_CMD_CREATE_AH. The driver's part follows.
type CreateAH struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	PDHandle   uint32
	Reserved   uint32
	Attr       AHAttr
}

// CreateAHResp is struct ib_uverbs_create_ah_resp: the response to
// IB_USER_VERBS_CMD_CREATE_AH. The driver's part follows.
type CreateAHResp struct {
	_        structs.HostLayout
	AHHandle uint32
}

// DestroyAH is struct ib_uverbs_destroy_ah: the request of
// IB_USER_VERBS_CMD_DESTROY_AH.
type DestroyAH struct {
	_        structs.HostLayout
	AHHandle uint32
}

// AttachMcast is struct ib_uverbs_attach_mcast: the request of
// IB_USER_VERBS_CMD_ATTACH_MCAST. The driver's part follows.
type AttachMcast struct {
	_        structs.HostLayout
	GID      [16]uint8
	QPHandle uint32
	Mlid     uint16
	Reserved uint16
}

// DetachMcast is struct ib_uverbs_detach_mcast: the request of
// IB_USER_VERBS_CMD_DETACH_MCAST. The driver's part follows.
type DetachMcast struct {
	_        structs.HostLayout
	GID      [16]uint8
	QPHandle uint32
	Mlid     uint16
	Reserved uint16
}

// FlowSpecHdr is struct ib_uverbs_flow_spec_hdr: how each flow specification
// begins. The array flow_spec_data follows.
type FlowSpecHdr struct {
	_        structs.HostLayout
	Type     uint32
	Size     uint16
	Reserved uint16
}

// FlowEthFilter is struct ib_uverbs_flow_eth_filter.
type FlowEthFilter struct {
	_         structs.HostLayout
	DstMac    [6]uint8
	SrcMac    [6]uint8
	EtherType uint16 // big endian
	VlanTag   uint16 // big endian
}

// FlowSpecEth is struct ib_uverbs_flow_spec_eth.
type FlowSpecEth struct {
	_    structs.HostLayout
	Hdr  FlowSpecHdr
	Val  FlowEthFilter
	Mask FlowEthFilter
}

// FlowIPv4Filter is struct ib_uverbs_flow_ipv4_filter.
type FlowIPv4Filter struct {
	_     structs.HostLayout
	SrcIP uint32 // big endian
	DstIP uint32 // big endian
	Proto uint8
	Tos   uint8
	Ttl   uint8
	Flags uint8
}

// FlowSpecIPv4 is struct ib_uverbs_flow_spec_ipv4.
type FlowSpecIPv4 struct {
	_    structs.HostLayout
	Hdr  FlowSpecHdr
	Val  FlowIPv4Filter
	Mask FlowIPv4Filter
}

// FlowTCPUDPFilter is struct ib_uverbs_flow_tcp_udp_filter.
type FlowTCPUDPFilter struct {
	_       structs.HostLayout
	DstPort uint16 // big endian
	SrcPort uint16 // big endian
}

// FlowSpecTCPUDP is struct ib_uverbs_flow_spec_tcp_udp.
type FlowSpecTCPUDP struct {
	_    structs.HostLayout
	Hdr  FlowSpecHdr
	Val  FlowTCPUDPFilter
	Mask FlowTCPUDPFilter
}

// FlowIPv6Filter is struct ib_uverbs_flow_ipv6_filter.
type FlowIPv6Filter struct {
	_            structs.HostLayout
	SrcIP        [16]uint8
	DstIP        [16]uint8
	FlowLabel    uint32 // big endian
	NextHdr      uint8
	TrafficClass uint8
	HopLimit     uint8
	Reserved     uint8
}

// FlowSpecIPv6 is struct ib_uverbs_flow_spec_ipv6.
type FlowSpecIPv6 struct {
	_    structs.HostLayout
	Hdr  FlowSpecHdr
	Val  FlowIPv6Filter
	Mask FlowIPv6Filter
}

// FlowSpecActionTag is struct ib_uverbs_flow_spec_action_tag.
type FlowSpecActionTag struct {
	_         structs.HostLayout
	Hdr       FlowSpecHdr
	TagID     uint32
	Reserved1 uint32
}

// FlowSpecActionDrop is struct ib_uverbs_flow_spec_action_drop.
type FlowSpecActionDrop struct {
	_   structs.HostLayout
	Hdr FlowSpecHdr
}

// FlowSpecActionHandle is struct ib_uverbs_flow_spec_action_handle.
type FlowSpecActionHandle struct {
	_         structs.HostLayout
	Hdr       FlowSpecHdr
	Handle    uint32
	Reserved1 uint32
}

// FlowSpecActionCount is struct ib_uverbs_flow_spec_action_count.
type FlowSpecActionCount struct {
	_         structs.HostLayout
	Hdr       FlowSpecHdr
	Handle    uint32
	Reserved1 uint32
}

// FlowTunnelFilter is struct ib_uverbs_flow_tunnel_filter.
type FlowTunnelFilter struct {
	_        structs.HostLayout
	TunnelID uint32 // big endian
}

// FlowSpecTunnel is struct ib_uverbs_flow_spec_tunnel.
type FlowSpecTunnel struct {
	_    structs.HostLayout
	Hdr  FlowSpecHdr
	Val  FlowTunnelFilter
	Mask FlowTunnelFilter
}

// FlowSpecESPFilter is struct ib_uverbs_flow_spec_esp_filter.
type FlowSpecESPFilter struct {
	_   structs.HostLayout
	Spi uint32
	Seq uint32
}

// FlowSpecESP is struct ib_uverbs_flow_spec_esp.
type FlowSpecESP struct {
	_    structs.HostLayout
	Hdr  FlowSpecHdr
	Val  FlowSpecESPFilter
	Mask FlowSpecESPFilter
}

// FlowGREFilter is struct ib_uverbs_flow_gre_filter.
type FlowGREFilter struct {
	_          structs.HostLayout
	CKsRes0Ver uint16 // big endian
	Protocol   uint16 // big endian
	Key        uint32 // big endian
}

// FlowSpecGRE is struct ib_uverbs_flow_spec_gre.
type FlowSpecGRE struct {
	_    structs.HostLayout
	Hdr  FlowSpecHdr
	Val  FlowGREFilter
	Mask FlowGREFilter
}

// FlowMPLSFilter is struct ib_uverbs_flow_mpls_filter.
type FlowMPLSFilter struct {
	_     structs.HostLayout
	Label uint32 // big endian
}

// FlowSpecMPLS is struct ib_uverbs_flow_spec_mpls.
type FlowSpecMPLS struct {
	_    structs.HostLayout
	Hdr  FlowSpecHdr
	Val  FlowMPLSFilter
	Mask FlowMPLSFilter
}

// FlowAttr is struct ib_uverbs_flow_attr. The array flow_specs follows.
type FlowAttr struct {
	_          structs.HostLayout
	Type       uint32
	Size       uint16
	Priority   uint16
	NumOfSpecs uint8
	Reserved   [2]uint8
	Port       uint8
	Flags      uint32
}

// CreateFlow is struct ib_uverbs_create_flow: the request of
// IB_USER_VERBS_EX_CMD_CREATE_FLOW.
type CreateFlow struct {
	_        structs.HostLayout
	CompMask uint32
	QPHandle uint32
	FlowAttr FlowAttr
}

// CreateFlowResp is struct ib_uverbs_create_flow_resp: the response to
// IB_USER_VERBS_EX_CMD_CREATE_FLOW.
type CreateFlowResp struct {
	_          structs.HostLayout
	CompMask   uint32
	FlowHandle uint32
}

// DestroyFlow is struct ib_uverbs_destroy_flow: the request of
// IB_USER_VERBS_EX_CMD_DESTROY_FLOW.
type DestroyFlow struct {
	_          structs.HostLayout
	CompMask   uint32
	FlowHandle uint32
}

// CreateSRQ is struct ib_uverbs_create_srq: the request of
// IB_USER_VERBS_CMD_CREATE_SRQ. The driver's part follows.
type CreateSRQ struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	PDHandle   uint32
	MaxWR      uint32
	MaxSGE     uint32
	SRQLimit   uint32
}

// CreateXSRQ is struct ib_uverbs_create_xsrq: the request of
// IB_USER_VERBS_CMD_CREATE_XSRQ. The driver's part follows.
type CreateXSRQ struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	SRQType    uint32
	PDHandle   uint32
	MaxWR      uint32
	MaxSGE     uint32
	SRQLimit   uint32
	MaxNumTags uint32
	XRCDHandle uint32
	CQHandle   uint32
}

// CreateSRQResp is struct ib_uverbs_create_srq_resp: the response to
// IB_USER_VERBS_CMD_CREATE_SRQ, IB_USER_VERBS_CMD_CREATE_XSRQ. The driver's
// part follows.
type CreateSRQResp struct {
	_         structs.HostLayout
	SRQHandle uint32
	MaxWR     uint32
	MaxSGE    uint32
	SRQN      uint32
}

// ModifySRQ is struct ib_uverbs_modify_srq: the request of
// IB_USER_VERBS_CMD_MODIFY_SRQ. The driver's part follows.
type ModifySRQ struct {
	_         structs.HostLayout
	SRQHandle uint32
	AttrMask  uint32
	MaxWR     uint32
	SRQLimit  uint32
}

// QuerySRQ is struct ib_uverbs_query_srq: the request of
// IB_USER_VERBS_CMD_QUERY_SRQ. The driver's part follows.
type QuerySRQ struct {
	_         structs.HostLayout
	Response  uint64
	SRQHandle uint32
	Reserved  uint32
}

// QuerySRQResp is struct ib_uverbs_query_srq_resp: the response to
// IB_USER_VERBS_CMD_QUERY_SRQ.
type QuerySRQResp struct {
	_        structs.HostLayout
	MaxWR    uint32
	MaxSGE   uint32
	SRQLimit uint32
	Reserved uint32
}

// DestroySRQ is struct ib_uverbs_destroy_srq: the request of
// IB_USER_VERBS_CMD_DESTROY_SRQ.
type DestroySRQ struct {
	_         structs.HostLayout
	Response  uint64
	SRQHandle uint32
	Reserved  uint32
}

// DestroySRQResp is struct ib_uverbs_destroy_srq_resp: the response to
// IB_USER_VERBS_CMD_DESTROY_SRQ.
type DestroySRQResp struct {
	_              structs.HostLayout
	EventsReported uint32
}

// ExCreateWQ is struct ib_uverbs_ex_create_wq: the request of
// IB_USER_VERBS_EX_CMD_CREATE_WQ.
type ExCreateWQ struct {
	_           structs.HostLayout
	CompMask    uint32
	WQType      uint32
	UserHandle  uint64
	PDHandle    uint32
	CQHandle    uint32
	MaxWR       uint32
	MaxSGE      uint32
	CreateFlags uint32
	Reserved    uint32
}

// ExCreateWQResp is struct ib_uverbs_ex_create_wq_resp: the response to
// IB_USER_VERBS_EX_CMD_CREATE_WQ.
type ExCreateWQResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
	WQHandle       uint32
	MaxWR          uint32
	MaxSGE         uint32
	WQN            uint32
}

// ExDestroyWQ is struct ib_uverbs_ex_destroy_wq: the request of
// IB_USER_VERBS_EX_CMD_DESTROY_WQ.
type ExDestroyWQ struct {
	_        structs.HostLayout
	CompMask uint32
	WQHandle uint32
}

// ExDestroyWQResp is struct ib_uverbs_ex_destroy_wq_resp: the response to
// IB_USER_VERBS_EX_CMD_DESTROY_WQ.
type ExDestroyWQResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
	EventsReported uint32
	Reserved       uint32
}

// ExModifyWQ is struct ib_uverbs_ex_modify_wq: the request of
// IB_USER_VERBS_EX_CMD_MODIFY_WQ.
type ExModifyWQ struct {
	_           structs.HostLayout
	AttrMask    uint32
	WQHandle    uint32
	WQState     uint32
	CurrWQState uint32
	Flags       uint32
	FlagsMask   uint32
}

// IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE, include/uapi/rdma/ib_user_verbs.h.
const IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE = 0x0d

// ExCreateRWQIndTable is struct ib_uverbs_ex_create_rwq_ind_table: the
// request of IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL. The array wq_handles
// follows.
type ExCreateRWQIndTable struct {
	_             structs.HostLayout
	CompMask      uint32
	LogIndTblSize uint32
}

// ExCreateRWQIndTableResp is struct ib_uverbs_ex_create_rwq_ind_table_resp:
// the response to IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL.
type ExCreateRWQIndTableResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
	IndTblHandle   uint32
	IndTblNum      uint32
}

// ExDestroyRWQIndTable is struct ib_uverbs_ex_destroy_rwq_ind_table: the
// request of IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL.
type ExDestroyRWQIndTable struct {
	_            structs.HostLayout
	CompMask     uint32
	IndTblHandle uint32
}

// CQModeration is struct ib_uverbs_cq_moderation.
type CQModeration struct {
	_        structs.HostLayout
	CQCount  uint16
	CQPeriod uint16
}

// ExModifyCQ is struct ib_uverbs_ex_modify_cq: the request of
// IB_USER_VERBS_EX_CMD_MODIFY_CQ.
type ExModifyCQ struct {
	_        structs.HostLayout
	CQHandle uint32
	AttrMask uint32
	Attr     CQModeration
	Reserved uint32
}

// IB_DEVICE_NAME_MAX, include/uapi/rdma/ib_user_verbs.h.
const IB_DEVICE_NAME_MAX = 64

// enum ib_uverbs_device_cap_flags, include/uapi/rdma/ib_user_verbs.h: the
// bits of QueryDeviceResp.DeviceCapFlags and, beyond 32 bits, of
// ExQueryDeviceResp.DeviceCapFlagsEx.
const (
	IB_UVERBS_DEVICE_RESIZE_MAX_WR         = 1 << 0
	IB_UVERBS_DEVICE_BAD_PKEY_CNTR         = 1 << 1
	IB_UVERBS_DEVICE_BAD_QKEY_CNTR         = 1 << 2
	IB_UVERBS_DEVICE_RAW_MULTI             = 1 << 3
	IB_UVERBS_DEVICE_AUTO_PATH_MIG         = 1 << 4
	IB_UVERBS_DEVICE_CHANGE_PHY_PORT       = 1 << 5
	IB_UVERBS_DEVICE_UD_AV_PORT_ENFORCE    = 1 << 6
	IB_UVERBS_DEVICE_CURR_QP_STATE_MOD     = 1 << 7
	IB_UVERBS_DEVICE_SHUTDOWN_PORT         = 1 << 8
	IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT     = 1 << 10
	IB_UVERBS_DEVICE_SYS_IMAGE_GUID        = 1 << 11
	IB_UVERBS_DEVICE_RC_RNR_NAK_GEN        = 1 << 12
	IB_UVERBS_DEVICE_SRQ_RESIZE            = 1 << 13
	IB_UVERBS_DEVICE_N_NOTIFY_CQ           = 1 << 14
	IB_UVERBS_DEVICE_MEM_WINDOW            = 1 << 17
	IB_UVERBS_DEVICE_UD_IP_CSUM            = 1 << 18
	IB_UVERBS_DEVICE_XRC                   = 1 << 20
	IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS    = 1 << 21
	IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2A    = 1 << 23
	IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B    = 1 << 24
	IB_UVERBS_DEVICE_RC_IP_CSUM            = 1 << 25
	IB_UVERBS_DEVICE_RAW_IP_CSUM           = 1 << 26
	IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING = 1 << 29
	IB_UVERBS_DEVICE_RAW_SCATTER_FCS       = 1 << 34
	IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING = 1 << 36
	IB_UVERBS_DEVICE_FLUSH_GLOBAL          = 1 << 38
	IB_UVERBS_DEVICE_FLUSH_PERSISTENT      = 1 << 39
	IB_UVERBS_DEVICE_ATOMIC_WRITE          = 1 << 40
)

// enum ib_uverbs_raw_packet_caps, include/uapi/rdma/ib_user_verbs.h: the
// bits of ExQueryDeviceResp.RawPacketCaps.
const (
	IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING = 1 << 0
	IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS     = 1 << 1
	IB_UVERBS_RAW_PACKET_CAP_IP_CSUM         = 1 << 2
	IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP      = 1 << 3
)
