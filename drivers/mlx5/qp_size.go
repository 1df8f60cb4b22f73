package mlx5

import (
	"math/bits"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// sendWQEShift is the logarithm of MLX5_SEND_WQE_BB, what send queues count in.
const sendWQEShift = 6

// shlOverflow shifts an int as the kernel's check_shl_overflow does
// (include/linux/overflow.h); false is an overflow.
func shlOverflow(n, shift int32) (int32, bool) {
	if n < 0 || shift < 0 || shift > 31 || bits.Len32(uint32(n))+int(shift) > 31 {
		return 0, false
	}
	return n << shift, true
}

// hasRQ models qp_has_rq in drivers/infiniband/hw/mlx5/qp.c.
func hasRQ(attr *core.QPInitAttr) bool {
	return attr.Type != spec.IB_QPT_XRC_INI && attr.SRQ == nil && attr.Cap.MaxRecvWR != 0
}

// setRQSize models set_rq_size in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/recv-size, mlx5-qp/recv-shift, mlx5-qp/recv-signature.
func (q *qp) setRQSize(c *caps, p *createQPParams) error {
	limits := &p.attr.Cap
	if limits.MaxRecvWR > c.pow2(capLogMaxQPSz) {
		return rule.MLX5QPRecvSize
	}
	if !hasRQ(p.attr) {
		limits.MaxRecvWR, limits.MaxRecvSGE = 0, 0
		return nil
	}
	q.rq = qpQueue{int32(p.ucmd.RQWQECount), int32(p.ucmd.RQWQEShift)}
	size, ok := shlOverflow(1, q.rq.shift)
	if !ok {
		return rule.MLX5QPRecvShift
	}
	signature := uint32(bit(q.flagsEn&spec.MLX5_QP_FLAG_SIGNATURE != 0))
	segs := uint32(size) / dataSegSize
	if segs < signature {
		return rule.MLX5QPRecvSignature
	}
	q.maxGS = segs - signature
	return nil
}

// bufSizes are the lengths of a queue pair's memory, and of the send queue's where
// that lies by itself.
type bufSizes struct{ buf, sq uint64 }

// setUserBufSize models set_user_buf_size in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/send-shape, mlx5-qp/send-power, mlx5-qp/buffer-overflow.
func (q *qp) setUserBufSize(c *caps, p *createQPParams) (bufSizes, error) {
	if c.get(capMaxWQESzSQ) < 1<<sendWQEShift {
		return bufSizes{}, rule.MLX5QPSendShape
	}
	if n := p.ucmd.SQWQECount; n&(n-1) != 0 {
		return bufSizes{}, rule.MLX5QPSendPower
	}
	q.sq = qpQueue{int32(p.ucmd.SQWQECount), sendWQEShift}
	rq, _ := shlOverflow(q.rq.count, q.rq.shift) // its caller has looked
	sq, ok := shlOverflow(q.sq.count, q.sq.shift)
	if !ok {
		return bufSizes{}, rule.MLX5QPBufferOverflow
	}
	if p.attr.Type == spec.IB_QPT_RAW_PACKET || q.flags&spec.IB_QP_CREATE_SOURCE_QPN != 0 {
		return bufSizes{uint64(rq), uint64(sq)}, nil
	}
	if sum := int64(rq) + int64(sq); sum != int64(int32(sum)) {
		return bufSizes{}, rule.MLX5QPBufferOverflow
	}
	return bufSizes{buf: uint64(rq) + uint64(sq)}, nil
}
