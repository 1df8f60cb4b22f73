package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// modifyRawQPParam is a struct mlx5_modify_raw_qp_param.
type modifyRawQPParam struct {
	operation  uint16
	counterSet bool
	pace       bool // by pacing
	pacing     pacing
}

// stepRawQP is the part of __mlx5_ib_modify_qp about queue pairs for raw packets.
//
// Errors: mlx5-modify-qp/burst, mlx5-modify-qp/transition, mlx5-rl/…, mlx5-cmd/….
func (d *Device) stepRawQP(t *trace.Task, q *qp, s *qpStep, op uint16) error {
	p := modifyRawQPParam{operation: op, counterSet: s.isFirst()}
	if s.has(spec.IB_QP_RATE_LIMIT) {
		burst := &s.ucmd.BurstInfo
		p.pace, p.pacing.rate = true, s.attr.RateLimit
		if burst.MaxBurstSz != 0 && (p.pacing.rate == 0 || !d.caps.has(capPPBurstBound)) ||
			burst.TypicalPktSz != 0 && (p.pacing.rate == 0 || !d.caps.has(capPPTypicalSize)) {
			return rule.MLX5ModifyQPBurst
		}
		p.pacing.maxBurst, p.pacing.typicalPkt = burst.MaxBurstSz, burst.TypicalPktSz
	}
	return d.modifyRawPacketQP(t, q, &p)
}

// States of a send queue and of a receive queue (MLX5_SQC_STATE_… and
// MLX5_RQC_STATE_… in include/linux/mlx5/mlx5_ifc.h).
const (
	rawStateRST = 0
	rawStateRDY = 1
	rawStateERR = 3
)

// modifyRawPacketQP takes the queues of a queue pair for raw packets to the states
// that a command for other queue pairs stands for. It models modify_raw_packet_qp
// in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-modify-qp/transition, mlx5-rl/…, mlx5-cmd/….
func (d *Device) modifyRawPacketQP(t *trace.Task, q *qp, p *modifyRawQPParam) error {
	defer t.Enter(moduleIB, "modify_raw_packet_qp").Leave()
	hasRQ := q.rq.count != 0
	var rq, sq uint64
	switch p.operation {
	case ifc.MLX5_CMD_OP_RST2INIT_QP:
		rq, sq = rawStateRDY, rawStateRST
	case ifc.MLX5_CMD_OP_2ERR_QP:
		rq, sq = rawStateERR, rawStateERR
	case ifc.MLX5_CMD_OP_2RST_QP:
		rq, sq = rawStateRST, rawStateRST
	case ifc.MLX5_CMD_OP_RTR2RTS_QP, ifc.MLX5_CMD_OP_RTS2RTS_QP:
		hasRQ, sq = false, rawStateRDY
	case ifc.MLX5_CMD_OP_INIT2INIT_QP, ifc.MLX5_CMD_OP_INIT2RTR_QP:
		return nil
	default:
		t.Warn("modify_raw_packet_qp")
		return rule.MLX5ModifyQPTransition
	}
	if hasRQ {
		if err := d.modifyRawRQ(t, q, rq, p); err != nil {
			return err
		}
	}
	if q.sq.count != 0 {
		return d.modifyRawSQ(t, q, sq, p)
	}
	return nil
}

// modifyRawRQ models modify_raw_packet_qp_rq in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-modify-qp/no-memory, mlx5-cmd/….
func (d *Device) modifyRawRQ(t *trace.Task, q *qp, state uint64, p *modifyRawQPParam) error {
	defer t.EnterInlined(moduleIB, "modify_raw_packet_qp_rq").Leave()
	if t.Fail(trace.Alloc, "modify_rq_in") {
		return rule.MLX5ModifyQPNoMemory
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_MODIFY_RQ, q.uid, 0)
	defer d.giveBack(m)
	m.setNumber(q.raw.rqn)
	rqCurState.Set(m.in, q.raw.rqState)
	rqc.state.Set(m.in, state)
	if p.counterSet && d.caps.has(capModifyRQSetID) {
		rqModifyMask.Set(m.in, modifyRQCounterSet)
	}
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	q.raw.rqState = state
	return nil
}

// sqModifyMask is modify_bitmask of MODIFY_SQ, which has the state that the queue
// is in where MODIFY_RQ has it.
var sqModifyMask = num(16, 8)

const modifySQPacing = 1

// modifyRawSQ also puts the queue's rate into the device's table, or takes it out
// when the queue stops. It models modify_raw_packet_qp_sq in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-modify-qp/no-memory, mlx5-rl/…, mlx5-cmd/….
func (d *Device) modifyRawSQ(t *trace.Task, q *qp, state uint64, p *modifyRawQPParam) error {
	defer t.EnterInlined(moduleIB, "modify_raw_packet_qp_sq").Leave()
	if t.Fail(trace.Alloc, "modify_sq_in") {
		return rule.MLX5ModifyQPNoMemory
	}
	r := &q.raw
	m := d.mailbox(ifc.MLX5_CMD_OP_MODIFY_SQ, q.uid, 0)
	defer d.giveBack(m)
	m.setNumber(r.sqn)
	rqCurState.Set(m.in, r.sqState)
	sqc.state.Set(m.in, state)
	to, index := r.pacing, r.pacingIndex
	if p.pace && state == rawStateRDY {
		to = p.pacing
	}
	changed := to != r.pacing
	if changed {
		index = 0
		if to.rate != 0 {
			var err error
			if index, err = d.rlAddRate(t, &to); err != nil {
				return err
			}
		}
		sqModifyMask.Set(m.in, modifySQPacing)
		sqc.pacingIndex.Set(m.in, uint64(index))
	}
	if err := d.exec(t, m.in, m.out); err != nil {
		if changed && to.rate != 0 {
			d.rlRemoveRateRaw(t, index)
		}
		return err
	}
	if r.pacing.rate != 0 && (changed || state != rawStateRDY) {
		d.rlRemoveRateRaw(t, r.pacingIndex)
	}
	if state != rawStateRDY {
		to, index = pacing{}, 0
	}
	r.pacing, r.pacingIndex, r.sqState = to, index, state
	return nil
}
