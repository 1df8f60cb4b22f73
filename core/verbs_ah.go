package core

import (
	"uverbsim/process"
	"uverbsim/trace"
)

// How an address handle may be destroyed (enum rdma_destroy_ah_flags in
// include/rdma/ib_verbs.h).
const DestroyAHSleepable = 1 << 0 // RDMA_DESTROY_AH_SLEEPABLE

// DestroyAHUser destroys an address handle. It models rdma_destroy_ah_user in
// drivers/infiniband/core/verbs.c.
func DestroyAHUser(task *process.Task, ah *AH, flags uint32) error {
	defer task.Trace.Enter(trace.Core, "rdma_destroy_ah_user").Leave()
	if err := ah.Device.Ops.DestroyAH(task, ah, flags); err != nil {
		return err
	}
	ah.PD.Usecnt.Count(task.Trace, "ib_pd", -1)
	return nil
}
