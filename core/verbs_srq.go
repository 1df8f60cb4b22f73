package core

import (
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// SRQHasCQ says whether SRQs of that type have a completion queue. It models
// ib_srq_has_cq in include/rdma/ib_verbs.h.
func SRQHasCQ(srqType uint32) bool {
	return srqType == spec.IB_UVERBS_SRQT_XRC || srqType == spec.IB_UVERBS_SRQT_TM
}

// CreateSRQUser makes a shared receive queue of o and counts it as a user of
// what it is made of. The driver writes into attr what the queue really holds.
// It models ib_create_srq_user in drivers/infiniband/core/verbs.c.
//
// Errors: srq/no-memory, and those of the driver.
func CreateSRQUser(pd *PD, attr *SRQInitAttr, o *uobject.Object, udata *Udata) (*SRQ, error) {
	t := udata.Trace()
	defer t.Enter(trace.Core, "ib_create_srq_user").Leave()
	if t.Fail(trace.Alloc, "ib_srq") {
		return nil, rule.SRQNoMemory
	}
	srq := &SRQ{Device: pd.Device, PD: pd, Object: o, Type: attr.Type, EventHandler: attr.EventHandler}
	if SRQHasCQ(uint32(srq.Type)) {
		srq.CQ = attr.CQ
	}
	if srq.Type == spec.IB_UVERBS_SRQT_XRC {
		srq.XRCD = attr.XRCD
	}
	srq.countUses(t, 1)
	if err := pd.Device.Ops.CreateSRQ(srq, attr, udata); err != nil {
		srq.countUses(t, -1)
		return nil, err
	}
	return srq, nil
}

// DestroySRQUser destroys a shared receive queue that no QP uses any more. It
// models ib_destroy_srq_user in drivers/infiniband/core/verbs.c.
//
// Errors: srq/busy, and those of the driver.
func DestroySRQUser(srq *SRQ, udata *Udata) error {
	t := udata.Trace()
	defer t.Enter(trace.Core, "ib_destroy_srq_user").Leave()
	if srq.Usecnt.Read(t, "ib_srq") != 0 {
		return rule.SRQBusy
	}
	if err := srq.Device.Ops.DestroySRQ(srq, udata); err != nil {
		return err
	}
	srq.countUses(t, -1)
	return nil
}

// countUses changes the use counts of what the queue is made of.
func (srq *SRQ) countUses(t *trace.Task, n int32) {
	srq.PD.Usecnt.Count(t, "ib_pd", n)
	if srq.XRCD != nil {
		srq.XRCD.Usecnt.Count(t, "ib_xrcd", n)
	}
	if srq.CQ != nil {
		srq.CQ.Usecnt.Count(t, "ib_cq", n)
	}
}
