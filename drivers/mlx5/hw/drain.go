package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// opRTS2SQD is RTS2SQD_QP: the send queue is to come to rest. Linux 6.12 does not
// send it and its header has no name for it.
const opRTS2SQD = 0x508

// drainSQ lets a queue pair finish what it has fetched and fetch no more. An event
// says when that is done; SQD_RTS_QP lets it go on.
func drainSQ(d *Device, c *command) *refusal {
	q := c.qp(d, toChange)
	switch {
	case q == nil:
		return noSuchObject
	case q.state != ifc.MLX5_QP_STATE_RTS:
		return badQPState
	}
	q.state = ifc.MLX5_QP_STATE_SQ_DRAINING
	d.checkDrained(q)
	return nil
}

// checkDrained says that a queue pair has come to rest, once it has.
func (d *Device) checkDrained(q *qp) {
	if q.state == ifc.MLX5_QP_STATE_SQ_DRAINING && q.req.ring.n == 0 {
		q.state = ifc.MLX5_QP_STATE_SQD
		d.raiseQP(q, ifc.MLX5_EVENT_TYPE_SQ_DRAINED)
	}
}

// isSending says that work requests are under way or may be.
func (q *qp) isSending() bool {
	return q.state == ifc.MLX5_QP_STATE_RTS || q.state == ifc.MLX5_QP_STATE_SQ_DRAINING
}
