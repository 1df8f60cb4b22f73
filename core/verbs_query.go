package core

import (
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// QueryQP asks the driver for a QP's attributes. It models ib_query_qp in
// drivers/infiniband/core/verbs.c.
//
// Errors: qp/no-query, and those of the driver.
func QueryQP(task *process.Task, qp *QP, attr *QPAttr, mask uint32, init *QPInitAttr) error {
	defer task.Trace.Enter(trace.Core, "ib_query_qp").Leave()
	if qp.Device.Ops.QueryQP == nil {
		return rule.QPNoQuery
	}
	return qp.Device.Ops.QueryQP(task, qp.RealQP, attr, mask, init)
}

// QuerySRQ asks the driver for an SRQ's attributes. It models ib_query_srq in
// drivers/infiniband/core/verbs.c.
//
// Errors: srq/no-query, and those of the driver.
func QuerySRQ(task *process.Task, srq *SRQ, attr *SRQAttr) error {
	defer task.Trace.Enter(trace.Core, "ib_query_srq").Leave()
	if srq.Device.Ops.QuerySRQ == nil {
		return rule.SRQNoQuery
	}
	return srq.Device.Ops.QuerySRQ(task, srq, attr)
}
