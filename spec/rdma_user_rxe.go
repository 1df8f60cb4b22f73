package spec

import "structs"

// The enumerators and structs of include/uapi/rdma/rdma_user_rxe.h.

// An enum without a name, include/uapi/rdma/rdma_user_rxe.h: the values of
// RxeAV.NetworkType.
const (
	RXE_NETWORK_TYPE_IPV4 = 1
	RXE_NETWORK_TYPE_IPV6 = 2
)

// RxeGlobalRoute is struct rxe_global_route.
type RxeGlobalRoute struct {
	_            structs.HostLayout
	DGID         [16]uint8
	FlowLabel    uint32
	SGIDIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	_            [1]byte
}

// RxeAV is struct rxe_av.
type RxeAV struct {
	_           structs.HostLayout
	PortNum     uint8
	NetworkType uint8
	Dmac        [6]uint8
	GRH         RxeGlobalRoute
	SGIDAddr    [28]byte // struct sockaddr_in or sockaddr_in6
	DGIDAddr    [28]byte // struct sockaddr_in or sockaddr_in6
}

// RxeSendWR is struct rxe_send_wr.
type RxeSendWR struct {
	_         structs.HostLayout
	WRID      uint64
	Reserved  uint32
	Opcode    uint32
	SendFlags uint32
	Ex        uint32     // imm_data, big endian, or invalidate_rkey
	WR        [15]uint64 // by opcode: flush, rdma, atomic, ud, mw
}

// RxeSendWRFlush is the member wr.flush of struct rxe_send_wr.
type RxeSendWRFlush struct {
	_          structs.HostLayout
	RemoteAddr uint64
	Length     uint32
	Rkey       uint32
	Type       uint8
	Level      uint8
	_          [6]byte
}

// RxeSendWRRDMA is the member wr.rdma of struct rxe_send_wr.
type RxeSendWRRDMA struct {
	_          structs.HostLayout
	RemoteAddr uint64
	Rkey       uint32
	Reserved   uint32
}

// RxeSendWRAtomic is the member wr.atomic of struct rxe_send_wr.
type RxeSendWRAtomic struct {
	_          structs.HostLayout
	RemoteAddr uint64
	CompareAdd uint64
	Swap       uint64
	Rkey       uint32
	Reserved   uint32
}

// RxeSendWRUD is the member wr.ud of struct rxe_send_wr.
type RxeSendWRUD struct {
	_          structs.HostLayout
	RemoteQPN  uint32
	RemoteQkey uint32
	PkeyIndex  uint16
	Reserved   uint16
	AHNum      uint32
	Pad        [4]uint32
	AV         RxeAV
}

// RxeSendWRMW is the member wr.mw of struct rxe_send_wr.
type RxeSendWRMW struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint64
	MRLkey uint32
	MWRkey uint32
	Rkey   uint32
	Access uint32
}

// RxeSGE is struct rxe_sge.
type RxeSGE struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint32
	Lkey   uint32
}

// RxeMminfo is struct mminfo: where to mmap a queue of rxe, and its length in
// bytes.
type RxeMminfo struct {
	_      structs.HostLayout
	Offset uint64
	Size   uint32
	Pad    uint32
}

// RxeDMAInfo is struct rxe_dma_info. inline_data, atomic_wr or sge follows.
type RxeDMAInfo struct {
	_         structs.HostLayout
	Length    uint32
	Resid     uint32
	CurSGE    uint32
	NumSGE    uint32
	SGEOffset uint32
	Reserved  uint32
}

// RxeSendWQE is struct rxe_send_wqe: one element of a send queue.
type RxeSendWQE struct {
	_           structs.HostLayout
	WR          RxeSendWR
	Status      uint32
	State       uint32
	IOVA        uint64
	Mask        uint32
	FirstPSN    uint32
	LastPSN     uint32
	AckLength   uint32
	Ssn         uint32
	HasRdAtomic uint32
	DMA         RxeDMAInfo
}

// RxeRecvWQE is struct rxe_recv_wqe: one element of a receive queue.
type RxeRecvWQE struct {
	_        structs.HostLayout
	WRID     uint64
	Reserved uint32
	Padding  uint32
	DMA      RxeDMAInfo
}

// RxeCreateAHResp is struct rxe_create_ah_resp: the driver's part of
// CreateAHResp.
type RxeCreateAHResp struct {
	_        structs.HostLayout
	AHNum    uint32
	Reserved uint32
}

// RxeCreateCQResp is struct rxe_create_cq_resp: the driver's part of the
// answer to a CQ's creation.
type RxeCreateCQResp struct {
	_  structs.HostLayout
	Mi RxeMminfo
}

// RxeResizeCQResp is struct rxe_resize_cq_resp: the driver's part of
// ResizeCQResp.
type RxeResizeCQResp struct {
	_  structs.HostLayout
	Mi RxeMminfo
}

// RxeCreateQPResp is struct rxe_create_qp_resp: the driver's part of the
// answer to a QP's creation.
type RxeCreateQPResp struct {
	_    structs.HostLayout
	RQMi RxeMminfo
	SQMi RxeMminfo
}

// RxeCreateSRQResp is struct rxe_create_srq_resp: the driver's part of the
// answer to an SRQ's creation.
type RxeCreateSRQResp struct {
	_        structs.HostLayout
	Mi       RxeMminfo
	SRQNum   uint32
	Reserved uint32
}

// RxeModifySRQCmd is struct rxe_modify_srq_cmd: the driver's part of
// ModifySRQ.
type RxeModifySRQCmd struct {
	_            structs.HostLayout
	MmapInfoAddr uint64
}

// RxeQueueBuf is struct rxe_queue_buf: how a queue shared with the user
// begins. The array data follows.
type RxeQueueBuf struct {
	_             structs.HostLayout
	Log2ElemSize  uint32
	IndexMask     uint32
	Pad1          [30]uint32
	ProducerIndex uint32
	Pad2          [31]uint32
	ConsumerIndex uint32
	Pad3          [31]uint32
}
