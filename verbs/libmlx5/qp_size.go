package libmlx5

import (
	"fmt"
	"math"
	"math/bits"
	"syscall"

	"uverbsim/verbs"
)

// The lengths of the segments of a request, in bytes: providers/mlx5/mlx5dv.h
// and wqe.h.
const (
	ctrlSegSize        = 16 // struct mlx5_wqe_ctrl_seg
	raddrSegSize       = 16 // struct mlx5_wqe_raddr_seg
	atomicSegSize      = 16 // struct mlx5_wqe_atomic_seg
	datagramSegSize    = 48 // struct mlx5_wqe_datagram_seg
	xrcSegSize         = 16 // struct mlx5_wqe_xrc_seg
	dataSegSize        = 16 // struct mlx5_wqe_data_seg
	inlineSegSize      = 4  // struct mlx5_wqe_inline_seg
	umrCtrlSegSize     = 48 // struct mlx5_wqe_umr_ctrl_seg
	mkeyContextSegSize = 64 // struct mlx5_wqe_mkey_context_seg
	umrKLMSegSize      = 64 // struct mlx5_wqe_umr_klm_seg with its padding
	srqNextSegSize     = 16 // struct mlx5_wqe_srq_next_seg
)

// sendWQEBB is the unit in which send queues count, MLX5_SEND_WQE_BB bytes.
const (
	sendWQEBB    = 1 << sendWQEShift
	sendWQEShift = 6 // MLX5_SEND_WQE_SHIFT
)

// Errors of CreateQP that the library finds itself; their errno is EINVAL.
var (
	ErrSendSize = fmt.Errorf("libmlx5: a send request of that many pieces or inline bytes is too long for the device: %w", syscall.EINVAL)
	ErrSendWR   = fmt.Errorf("libmlx5: a send queue of that many requests is too long for the device: %w", syscall.EINVAL)
	ErrRecvSize = fmt.Errorf("libmlx5: a receive request of that many pieces is too long for the device: %w", syscall.EINVAL)
	ErrRecvWR   = fmt.Errorf("libmlx5: a receive queue of that many requests is too long for the device: %w", syscall.EINVAL)
)

// sendOpsOf are the operations that a queue pair is made for unless it is told:
// sq_overhead in providers/mlx5/verbs.c.
func sendOpsOf(typ verbs.QPType) uint64 {
	if typ == verbs.IBV_QPT_UD {
		return sendOpsUD | verbs.IBV_QP_EX_WITH_TSO
	}
	return sendOpsRC
}

// transportSize is how long the segments are that every request of such a queue
// pair has behind the control segment.
var transportSize = map[verbs.QPType]uint64{
	verbs.IBV_QPT_RC:       0,
	verbs.IBV_QPT_UC:       0,
	verbs.IBV_QPT_UD:       datagramSegSize,
	verbs.IBV_QPT_XRC_SEND: xrcSegSize,
	verbs.IBV_QPT_XRC_RECV: xrcSegSize,
}

// sqOverhead models sq_overhead and _sq_overhead in providers/mlx5/verbs.c: how
// long a request can be without its data.
func sqOverhead(typ verbs.QPType, ops uint64) uint64 {
	size := uint64(ctrlSegSize)
	if ops&(verbs.IBV_QP_EX_WITH_RDMA_WRITE|verbs.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM|verbs.IBV_QP_EX_WITH_RDMA_READ) != 0 {
		size = max(size, ctrlSegSize+raddrSegSize)
	}
	if ops&(verbs.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP|verbs.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD) != 0 {
		size = max(size, ctrlSegSize+raddrSegSize+atomicSegSize)
	}
	if ops&(verbs.IBV_QP_EX_WITH_BIND_MW|verbs.IBV_QP_EX_WITH_LOCAL_INV) != 0 {
		size = max(size, ctrlSegSize+umrCtrlSegSize+mkeyContextSegSize+umrKLMSegSize)
	}
	return size + transportSize[typ]
}

// qpSize is the layout of a queue pair's buffer: the receive queue, and the send
// queue behind it.
type qpSize struct {
	sqWQECnt  uint32 // units of sendWQEBB
	sqMaxPost uint32 // requests
	sqMaxGS   uint32
	maxInline uint32

	rqWQECnt   uint32
	rqWQEShift uint32
	rqMaxGS    uint32

	sqOffset uint64 // bytes
	length   uint64
}

// calcWQSize models mlx5_calc_wq_size in providers/mlx5/verbs.c. The inline
// bytes that there is room for go back to cap.
//
// Errors: ErrSendSize, ErrSendWR, ErrRecvSize, ErrRecvWR.
func (c *Context) calcWQSize(attr *QPInitAttr, ops uint64) (s qpSize, err error) {
	sq, err := c.calcSQSize(&s, attr, ops)
	if err != nil {
		return s, err
	}
	rq, err := c.calcRQSize(&s, attr)
	if err != nil {
		return s, err
	}
	s.sqOffset, s.length = rq, sq+rq
	return s, nil
}

// calcSQSize models mlx5_calc_sq_size in providers/mlx5/verbs.c.
func (c *Context) calcSQSize(s *qpSize, attr *QPInitAttr, ops uint64) (uint64, error) {
	if attr.Cap.MaxSendWR == 0 {
		return 0, nil
	}
	wqe, err := c.calcSendWQE(attr, ops)
	if err != nil {
		return 0, err
	}
	s.maxInline = uint32(wqe - sqOverhead(attr.Type, ops) - inlineSegSize)
	attr.Cap.MaxInlineData = s.maxInline
	if attr.Cap.MaxSendWR > math.MaxInt32/max(uint32(c.Resp.MaxSQDescSz), 1) {
		return 0, ErrSendWR
	}
	size := roundupPowOfTwo(uint64(attr.Cap.MaxSendWR) * wqe)
	s.sqWQECnt = uint32(size / sendWQEBB)
	if s.sqWQECnt > c.Resp.MaxSendWqebb {
		return 0, ErrSendWR
	}
	s.sqMaxGS = attr.Cap.MaxSendSGE
	s.sqMaxPost = uint32(size / wqe)
	return size, nil
}

// calcSendWQE models mlx5_calc_send_wqe in providers/mlx5/verbs.c: how long the
// longest request is.
func (c *Context) calcSendWQE(attr *QPInitAttr, ops uint64) (uint64, error) {
	limit := uint64(c.Resp.MaxSQDescSz)
	size := sqOverhead(attr.Type, ops)
	var inline uint64
	if n := uint64(attr.Cap.MaxInlineData); n != 0 {
		inline = size + align(inlineSegSize+n, 16)
	}
	if size > limit || uint64(attr.Cap.MaxSendSGE) > (limit-size)/dataSegSize {
		return 0, ErrSendSize
	}
	total := max(size+uint64(attr.Cap.MaxSendSGE)*dataSegSize, inline)
	if total = align(total, sendWQEBB); total > limit {
		return 0, ErrSendSize
	}
	return total, nil
}

// calcRQSize models mlx5_calc_rq_size and mlx5_calc_rcv_wqe in
// providers/mlx5/verbs.c. With a shared queue there is no other.
func (c *Context) calcRQSize(s *qpSize, attr *QPInitAttr) (uint64, error) {
	if attr.Cap.MaxRecvWR == 0 {
		return 0, nil
	}
	if attr.Cap.MaxRecvWR > c.Resp.MaxRecvWR {
		return 0, ErrRecvWR
	}
	if attr.SRQ != nil {
		return 0, nil
	}
	wqe := dataSegSize * uint64(max(attr.Cap.MaxRecvSGE, 1))
	if wqe > uint64(c.Resp.MaxRQDescSz) {
		return 0, ErrRecvSize
	}
	if wqe = roundupPowOfTwo(wqe); wqe > uint64(c.Resp.MaxRQDescSz) {
		return 0, ErrRecvSize
	}
	size := max(roundupPowOfTwo(uint64(attr.Cap.MaxRecvWR))*wqe, sendWQEBB)
	s.rqWQECnt = uint32(size / wqe)
	s.rqWQEShift = uint32(bits.TrailingZeros64(wqe))
	s.rqMaxGS = uint32(wqe / dataSegSize)
	return size, nil
}

// align rounds n up to a multiple of a power of two.
func align(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }

// roundupPowOfTwo returns the next power of two; that of 0 is 1.
func roundupPowOfTwo(n uint64) uint64 {
	if n == 0 {
		return 1
	}
	return alignQueueSize(n)
}
