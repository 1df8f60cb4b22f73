package rxe

import (
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/trace"
)

// queryQP models rxe_query_qp in drivers/infiniband/sw/rxe/rxe_verbs.c: it tells
// everything, whatever was asked for.
func queryQP(task *process.Task, ibqp *core.QP, attr *core.QPAttr, _ uint32, init *core.QPInitAttr) error {
	t := task.Trace
	defer t.Enter(module, "rxe_query_qp").Leave()
	qp := toRqp(ibqp)
	qp.toInit(t, init)
	qp.toAttr(t, attr)
	return nil
}

// toInit models rxe_qp_to_init in drivers/infiniband/sw/rxe/rxe_qp.c.
func (qp *rxeQP) toInit(t *trace.Task, init *core.QPInitAttr) {
	defer t.Enter(module, "rxe_qp_to_init").Leave()
	init.SendCQ, init.RecvCQ, init.SRQ = qp.ib.SendCQ, qp.ib.RecvCQ, qp.ib.SRQ
	qp.toCap(&init.Cap)
	init.SqSigType = qp.sqSigType
	init.Type = qp.ib.Type
}

// toAttr models rxe_qp_to_attr in drivers/infiniband/sw/rxe/rxe_qp.c.
func (qp *rxeQP) toAttr(t *trace.Task, attr *core.QPAttr) {
	defer t.Enter(module, "rxe_qp_to_attr").Leave()
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	*attr = qp.attr
	attr.RqPSN, attr.SqPSN = qp.resp.psn, qp.req.psn
	qp.toCap(&attr.Cap)
	attr.AH, attr.AltAH = avToAttr(t, &qp.priAV), avToAttr(t, &qp.altAV)
	attr.CurState = qp.attr.State
}

// toCap tells what the queues hold; those of an SRQ are not the QP's.
func (qp *rxeQP) toCap(c *core.QPCap) {
	c.MaxSendWR, c.MaxSendSGE, c.MaxInlineData = qp.sq.maxWR, qp.sq.maxSGE, qp.sq.maxInline
	if qp.srq == nil {
		c.MaxRecvWR, c.MaxRecvSGE = qp.rq.maxWR, qp.rq.maxSGE
	}
}
