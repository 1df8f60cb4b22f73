package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/spec"
	"uverbsim/trace"
)

// qpEvents are the events of enum ib_event_type by those of the device, as
// mlx5_ib_handle_qp_event in drivers/infiniband/hw/mlx5/qp.c has them.
var qpEvents = map[uint8]uint32{
	eventPathMig:       spec.IB_EVENT_PATH_MIG,
	eventCommEst:       spec.IB_EVENT_COMM_EST,
	eventSQDrained:     spec.IB_EVENT_SQ_DRAINED,
	eventSRQLastWQE:    spec.IB_EVENT_QP_LAST_WQE_REACHED,
	eventWQCatasError:  spec.IB_EVENT_QP_FATAL,
	eventPathMigFailed: spec.IB_EVENT_PATH_MIG_ERR,
	eventWQInvalReq:    spec.IB_EVENT_QP_REQ_ERR,
	eventWQAccessError: spec.IB_EVENT_QP_ACCESS_ERR,
}

// rscEventNotifier hands an event to the queue pair that it is about. It models
// rsc_event_notifier in drivers/infiniband/hw/mlx5/qpc.c and mlx5_ib_qp_event in
// drivers/infiniband/hw/mlx5/qp.c; what the kernel leaves to a work queue is done
// at once. Events about the queues of raw packet queue pairs are left out.
func (d *Device) rscEventNotifier(t *trace.Task, eqe *hw.EQE) {
	typ, ok := qpEvents[eqe.Type]
	if !ok {
		return
	}
	defer t.Enter(moduleIB, "rsc_event_notifier").Leave()
	kind, n := eventObject(eqe)
	if kind != eventQueueTypeQP {
		return
	}
	if q := d.qps.get(n); q != nil && q.ib.EventHandler != nil {
		q.ib.EventHandler(t, &core.Event{Type: typ, QP: q.ib})
	}
}
