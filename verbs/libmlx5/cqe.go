package libmlx5

import (
	"encoding/binary"

	"uverbsim/spec"
)

// cqe64Size is the length of struct mlx5_cqe64 (providers/mlx5/mlx5dv.h); an
// entry of 128 bytes ends with one.
const cqe64Size = 64

// Where struct mlx5_cqe64 and struct mlx5_err_cqe have what, in bytes. Numbers
// are big-endian.
const (
	cqeMLPath        = 17
	cqeSLID          = 22
	cqeFlagsRQPN     = 24
	cqeSRQNUidx      = 32
	cqeImmInvalPKey  = 36
	cqeByteCnt       = 44
	cqeTimestamp     = 48
	cqeVendorErrSynd = 54
	cqeSyndrome      = 55
	cqeSopDropQPN    = 56
	cqeWQECounter    = 60
	cqeOpOwn         = 63
	cqeVLANInfo      = 30
)

// How an entry says that a request on a shared receive queue was not served for
// want of a page: MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR and
// MLX5_CQE_VENDOR_SYNDROME_ODP_PFAULT.
const (
	syndromeRemoteAborted = 0x22
	vendorODPPfault       = 0x93
)

// What the upper half of an entry's last byte says: an enum without a name in
// providers/mlx5/mlx5dv.h (MLX5_CQE_*). Its lowest bit is the owner.
const (
	cqeReq         = 0
	cqeRespWRImm   = 1
	cqeRespSend    = 2
	cqeRespSendImm = 3
	cqeRespSendInv = 4
	cqeResizeCQ    = 5
	cqeReqErr      = 13
	cqeRespErr     = 14
	cqeInvalid     = 15

	cqeOwnerMask = 1

	// Where the data of a short message is, if it is in the entry: in the first
	// half of its 64 bytes, or in the 64 bytes in front of them
	// (MLX5_INLINE_SCATTER_32 and MLX5_INLINE_SCATTER_64).
	cqeInlineScatter32 = 0x4
	cqeInlineScatter64 = 0x8
)

// Status says how a work request ended: enum ibv_wc_status of
// libibverbs/verbs.h.
type Status uint8

// The members of enum ibv_wc_status that a device can report.
const (
	IBV_WC_SUCCESS           Status = 0
	IBV_WC_LOC_LEN_ERR       Status = 1
	IBV_WC_LOC_QP_OP_ERR     Status = 2
	IBV_WC_LOC_PROT_ERR      Status = 4
	IBV_WC_WR_FLUSH_ERR      Status = 5
	IBV_WC_MW_BIND_ERR       Status = 6
	IBV_WC_BAD_RESP_ERR      Status = 7
	IBV_WC_LOC_ACCESS_ERR    Status = 8
	IBV_WC_REM_INV_REQ_ERR   Status = 9
	IBV_WC_REM_ACCESS_ERR    Status = 10
	IBV_WC_REM_OP_ERR        Status = 11
	IBV_WC_RETRY_EXC_ERR     Status = 12
	IBV_WC_RNR_RETRY_EXC_ERR Status = 13
	IBV_WC_REM_ABORT_ERR     Status = 16
	IBV_WC_GENERAL_ERR       Status = 21
)

// statusOf has the status of each syndrome, MLX5_CQE_SYNDROME_* of
// providers/mlx5/mlx5dv.h; any other is a general error.
var statusOf = map[byte]Status{
	0x01: IBV_WC_LOC_LEN_ERR,
	0x02: IBV_WC_LOC_QP_OP_ERR,
	0x04: IBV_WC_LOC_PROT_ERR,
	0x05: IBV_WC_WR_FLUSH_ERR,
	0x06: IBV_WC_MW_BIND_ERR,
	0x10: IBV_WC_BAD_RESP_ERR,
	0x11: IBV_WC_LOC_ACCESS_ERR,
	0x12: IBV_WC_REM_INV_REQ_ERR,
	0x13: IBV_WC_REM_ACCESS_ERR,
	0x14: IBV_WC_REM_OP_ERR,
	0x15: IBV_WC_RETRY_EXC_ERR,
	0x16: IBV_WC_RNR_RETRY_EXC_ERR,
	0x22: IBV_WC_REM_ABORT_ERR,
}

// Opcode says what a work request did: enum ibv_wc_opcode of
// libibverbs/verbs.h.
type Opcode uint16

// The members of enum ibv_wc_opcode that work requests of queue pairs have.
const (
	IBV_WC_SEND               Opcode = spec.IB_UVERBS_WC_SEND
	IBV_WC_RDMA_WRITE         Opcode = spec.IB_UVERBS_WC_RDMA_WRITE
	IBV_WC_RDMA_READ          Opcode = spec.IB_UVERBS_WC_RDMA_READ
	IBV_WC_COMP_SWAP          Opcode = spec.IB_UVERBS_WC_COMP_SWAP
	IBV_WC_FETCH_ADD          Opcode = spec.IB_UVERBS_WC_FETCH_ADD
	IBV_WC_BIND_MW            Opcode = spec.IB_UVERBS_WC_BIND_MW
	IBV_WC_LOCAL_INV          Opcode = spec.IB_UVERBS_WC_LOCAL_INV
	IBV_WC_TSO                Opcode = spec.IB_UVERBS_WC_TSO
	IBV_WC_RECV               Opcode = 1 << 7
	IBV_WC_RECV_RDMA_WITH_IMM Opcode = 1<<7 + 1
)

// The bits of WC.Flags: enum ibv_wc_flags of libibverbs/verbs.h.
const (
	IBV_WC_GRH      = 1 << 0
	IBV_WC_WITH_IMM = 1 << 1
	IBV_WC_WITH_INV = 1 << 3
)

// WC is a completion: struct ibv_wc of libibverbs/verbs.h. WQECounter is the
// request's number on its queue.
type WC struct {
	WRID      uint64 // of the work request
	Status    Status
	Opcode    Opcode // of no meaning if Status is not IBV_WC_SUCCESS
	VendorErr uint8  // of no meaning if Status is IBV_WC_SUCCESS
	Flags     uint8  // IBV_WC_*

	ByteLen    uint32
	Imm        uint32 // immediate data or invalidated key, by Flags
	QPNum      uint32
	SrcQP      uint32
	PKeyIndex  uint16
	SLID       uint16
	SL         uint8
	PathBits   uint8
	WQECounter uint16
	Timestamp  uint64 // of the device's clock
}

// sendOp is what a completed request of the send queue was.
type sendOp struct {
	op    Opcode
	flags uint8
	len   func(cqe []byte) uint32 // nil if the length is not told
}

// sendOps has it by the opcode in the queue.
var sendOps = [256]sendOp{
	opcodeSendInval:    {op: IBV_WC_SEND},
	opcodeRDMAWrite:    {op: IBV_WC_RDMA_WRITE},
	opcodeRDMAWriteImm: {op: IBV_WC_RDMA_WRITE, flags: IBV_WC_WITH_IMM},
	opcodeSend:         {op: IBV_WC_SEND},
	opcodeSendImm:      {op: IBV_WC_SEND, flags: IBV_WC_WITH_IMM},
	opcodeTSO:          {op: IBV_WC_TSO},
	opcodeRDMARead:     {op: IBV_WC_RDMA_READ, len: byteCnt},
	opcodeAtomicCS:     {op: IBV_WC_COMP_SWAP, len: atomicLen},
	opcodeAtomicFA:     {op: IBV_WC_FETCH_ADD, len: atomicLen},
}

func byteCnt(cqe []byte) uint32 { return binary.BigEndian.Uint32(cqe[cqeByteCnt:]) }
func atomicLen([]byte) uint32   { return 8 }

// parseCQE takes from an entry what it says by itself, as mlx5_parse_cqe in
// providers/mlx5/cq.c does. It returns false for an entry that tells of no work
// request.
func parseCQE(cqe []byte, wc *WC) (ok bool) {
	be := binary.BigEndian
	sop := be.Uint32(cqe[cqeSopDropQPN:])
	*wc = WC{QPNum: sop & 0xffffff, WQECounter: be.Uint16(cqe[cqeWQECounter:])}
	switch cqe[cqeOpOwn] >> 4 {
	case cqeReq:
		send := &sendOps[sop>>24]
		wc.Opcode, wc.Flags = send.op, send.flags
		if send.len != nil {
			wc.ByteLen = send.len(cqe)
		}
	case cqeRespWRImm:
		wc.responder(cqe, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM)
	case cqeRespSend:
		wc.responder(cqe, IBV_WC_RECV, 0)
	case cqeRespSendImm:
		wc.responder(cqe, IBV_WC_RECV, IBV_WC_WITH_IMM)
	case cqeRespSendInv:
		wc.responder(cqe, IBV_WC_RECV, IBV_WC_WITH_INV)
	case cqeReqErr, cqeRespErr:
		wc.VendorErr = cqe[cqeVendorErrSynd]
		wc.Status = errorStatus(cqe)
		return true
	default:
		return false
	}
	wc.Timestamp = be.Uint64(cqe[cqeTimestamp:])
	return true
}

// errorStatus models mlx5_handle_error_cqe in providers/mlx5/cq.c.
func errorStatus(cqe []byte) Status {
	if s, ok := statusOf[cqe[cqeSyndrome]]; ok {
		return s
	}
	return IBV_WC_GENERAL_ERR
}

// responder models handle_responder in providers/mlx5/cq.c.
func (wc *WC) responder(cqe []byte, op Opcode, flags uint8) {
	be := binary.BigEndian
	wc.Opcode, wc.Flags = op, flags
	wc.ByteLen = byteCnt(cqe)
	if imm := be.Uint32(cqe[cqeImmInvalPKey:]); flags != 0 {
		wc.Imm = imm
	}
	rqpn := be.Uint32(cqe[cqeFlagsRQPN:])
	wc.SLID = be.Uint16(cqe[cqeSLID:])
	wc.SL = uint8(rqpn>>24) & 0xf
	wc.SrcQP = rqpn & 0xffffff
	wc.PathBits = cqe[cqeMLPath] & 0x7f
	if rqpn>>28&3 != 0 {
		wc.Flags |= IBV_WC_GRH
	}
	wc.PKeyIndex = uint16(be.Uint32(cqe[cqeImmInvalPKey:]))
}
