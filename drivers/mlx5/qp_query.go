package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// queryQP tells a queue pair's attributes. It models mlx5_ib_query_qp in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-query-qp/…, mlx5-cmd/….
func (d *Device) queryQP(task *process.Task, ib *core.QP, attr *core.QPAttr, mask uint32, init *core.QPInitAttr) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_query_qp").Leave()
	if ib.RWQIndTable != nil {
		return rule.MLX5QueryQPTable
	}
	*attr, *init = core.QPAttr{}, core.QPInitAttr{}
	q := toQP(ib)
	if q.typ == qptDCT {
		return d.queryDCT(t, q, attr, mask)
	}
	q.mutex.Lock(t)
	defer q.mutex.Unlock(t)
	if q.isRaw() {
		if err := d.queryRawQP(t, q); err != nil {
			return err
		}
		attr.PortNum = 1
	} else if err := d.queryQPAttr(t, q, attr); err != nil {
		return err
	}
	attr.State, attr.CurState = q.state, q.state
	attr.Cap = core.QPCap{MaxRecvWR: uint32(q.rq.count), MaxRecvSGE: q.maxGS}
	*init = core.QPInitAttr{Type: uint8(q.typ), SendCQ: ib.SendCQ, RecvCQ: ib.RecvCQ, SRQ: ib.SRQ, Cap: attr.Cap,
		CreateFlags: q.flags, SqSigType: signalReqWR}
	if q.sigAll {
		init.SqSigType = signalAllWR
	}
	return nil
}

// signalReqWR is IB_SIGNAL_REQ_WR.
const signalReqWR = 1

// qpStates are enum ib_qp_state by the device's numbers (to_ib_qp_state in
// drivers/infiniband/hw/mlx5/qp.c).
var qpStates = [...]uint8{spec.IB_QPS_RESET, spec.IB_QPS_INIT, spec.IB_QPS_RTR, spec.IB_QPS_RTS, spec.IB_QPS_SQE, spec.IB_QPS_SQD,
	spec.IB_QPS_ERR, sqDraining: spec.IB_QPS_SQD}

// sqDraining is MLX5_QP_STATE_SQ_DRAINING.
const sqDraining = 7

// queryQPAttr models query_qp_attr in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-query-qp/no-memory, mlx5-cmd/….
func (d *Device) queryQPAttr(t *trace.Task, q *qp, attr *core.QPAttr) error {
	defer t.EnterInlined(moduleIB, "query_qp_attr").Leave()
	if t.Fail(trace.Alloc, "query_qp_out") {
		return rule.MLX5QueryQPNoMemory
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_QUERY_QP, 0, 0)
	defer d.giveBack(m)
	m.setNumber(q.qpn)
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	ctx := m.out
	if state := qpc.state.Get(ctx); state < uint64(len(qpStates)) {
		q.state = qpStates[state]
		attr.SQDraining = uint8(bit(state == sqDraining))
	}
	attr.PathMTU = uint8(qpc.mtu.Get(ctx))
	for mig, state := range pmStates {
		if state == qpc.pmState.Get(ctx) {
			attr.PathMigState = uint8(mig)
		}
	}
	attr.QKey = uint32(qpc.qKey.Get(ctx))
	attr.RqPSN, attr.SqPSN = uint32(qpc.nextRcvPSN.Get(ctx)), uint32(qpc.nextSendPSN.Get(ctx))
	attr.DestQPNum = uint32(qpc.remoteQPN.Get(ctx))
	attr.AccessFlags = accessFlags(ctx, qpc.rre, qpc.rwe, qpc.rae)
	attr.MaxRdAtomic, attr.MaxDestRdAtomic = 1<<qpc.logSRAMax.Get(ctx), 1<<qpc.logRRAMax.Get(ctx)
	attr.MinRNRTimer = uint8(qpc.minRNRNak.Get(ctx))
	attr.RetryCnt, attr.RNRRetry = uint8(qpc.retryCount.Get(ctx)), uint8(qpc.rnrRetry.Get(ctx))
	if q.isConnected() {
		attr.AH, attr.AltAH = d.toAHAttr(ctx, &primaryPath), d.toAHAttr(ctx, &secondaryPath)
		attr.AltPkeyIndex = uint16(secondaryPath.pkeyIndex.Get(ctx))
		attr.AltPortNum = uint32(secondaryPath.port.Get(ctx))
	}
	attr.PkeyIndex, attr.PortNum = uint16(primaryPath.pkeyIndex.Get(ctx)), uint32(primaryPath.port.Get(ctx))
	attr.Timeout, attr.AltTimeout = uint8(primaryPath.ackTimeout.Get(ctx)), uint8(secondaryPath.ackTimeout.Get(ctx))
	return nil
}

// Beyond states: a queue that is not there, a queue pair whose state its queues
// do not tell, and queues that do not go together.
const (
	rawStateNone = rawStateERR + 1
	stateKept    = spec.IB_QPS_ERR + 1
	stateBad     = spec.IB_QPS_ERR + 2
)

// rawStates are the states of a queue pair for raw packets, by that of its receive
// queue and that of its send queue. It is sqrq_trans of sqrq_state_to_qp_state in
// drivers/infiniband/hw/mlx5/qp.c.
var rawStates = [rawStateNone + 1][rawStateNone + 1]uint8{
	rawStateRST:  {rawStateRST: spec.IB_QPS_RESET, rawStateRDY: stateBad, rawStateERR: stateBad, rawStateNone: spec.IB_QPS_RESET},
	rawStateRDY:  {rawStateRST: stateKept, rawStateRDY: stateKept, rawStateERR: spec.IB_QPS_SQE, rawStateNone: stateKept},
	rawStateERR:  {rawStateRST: stateBad, rawStateRDY: stateBad, rawStateERR: spec.IB_QPS_ERR, rawStateNone: spec.IB_QPS_ERR},
	rawStateNone: {rawStateRST: stateKept, rawStateRDY: stateKept, rawStateERR: stateKept, rawStateNone: stateBad},
}

// queryRawQP asks for the state of a queue pair's queues. It models
// query_raw_packet_qp_state in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-query-qp/raw-state, mlx5-query-qp/no-memory, mlx5-cmd/….
func (d *Device) queryRawQP(t *trace.Task, q *qp) (err error) {
	defer t.EnterInlined(moduleIB, "query_raw_packet_qp_state").Leave()
	sq, rq := uint64(rawStateNone), uint64(rawStateNone)
	r := &q.raw
	if q.sq.count != 0 {
		if sq, err = d.queryRawQueue(t, ifc.MLX5_CMD_OP_QUERY_SQ, r.sqn); err != nil {
			return err
		}
		r.sqState = sq
	}
	if q.rq.count != 0 {
		if t.Fail(trace.Alloc, "query_rq_out") {
			return rule.MLX5QueryQPNoMemory
		}
		if rq, err = d.queryRawQueue(t, ifc.MLX5_CMD_OP_QUERY_RQ, r.rqn); err != nil {
			return err
		}
		r.rqState = rq
	}
	if rq > rawStateNone || sq > rawStateNone || rawStates[rq][sq] == stateBad {
		t.Warn("sqrq_state_to_qp_state")
		return rule.MLX5QueryQPRawState
	}
	if s := rawStates[rq][sq]; s != stateKept {
		q.state = s
	}
	return nil
}

// queryRawQueue returns the state of a send or a receive queue, which their
// answers have at the same place.
func (d *Device) queryRawQueue(t *trace.Task, op uint16, n uint32) (uint64, error) {
	m := d.mailbox(op, 0, 0)
	defer d.giveBack(m)
	m.setNumber(n)
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return sqc.state.Get(m.out), nil
}
