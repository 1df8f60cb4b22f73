package mlx5

import (
	"uverbsim/core"
	"uverbsim/process"
)

// createCounters has nothing to make: counters count nothing before a flow is
// bound to them. It models mlx5_ib_create_counters in
// drivers/infiniband/hw/mlx5/counters.c.
func createCounters(*core.Counters, core.Attrs) error { return nil }

// destroyCounters models mlx5_ib_destroy_counters in
// drivers/infiniband/hw/mlx5/counters.c.
func destroyCounters(task *process.Task, _ *core.Counters) error {
	task.Trace.Enter(moduleIB, "mlx5_ib_destroy_counters").Leave()
	return nil
}
