package core

import (
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// DestroyCQUser destroys a completion queue that nothing uses any more. It
// models ib_destroy_cq_user in drivers/infiniband/core/verbs.c.
//
// Errors: cq/busy, and those of the driver.
func DestroyCQUser(cq *CQ, udata *Udata) error {
	defer udata.Trace().Enter(trace.Core, "ib_destroy_cq_user").Leave()
	if cq.Usecnt.Read(udata.Trace(), "ib_cq") != 0 {
		return rule.CQBusy
	}
	return cq.Device.Ops.DestroyCQ(cq, udata)
}

// SetCQModeration says after how many completions, or how many microseconds,
// the queue raises its event. It models rdma_set_cq_moderation in
// drivers/infiniband/core/verbs.c.
//
// Errors: cq/no-moderation, and those of the driver.
func SetCQModeration(task *process.Task, cq *CQ, count, period uint16) error {
	defer task.Trace.Enter(trace.Core, "rdma_set_cq_moderation").Leave()
	if cq.Device.Ops.ModifyCQ == nil {
		return rule.CQNoModeration
	}
	return cq.Device.Ops.ModifyCQ(task, cq, count, period)
}
