package mlx5

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
)

// What this driver has and the model lacks. The operations exist, since their
// absence would prune the API; each answers the same rule. Operations that end
// what cannot be made are never called.

// createRawFlow is the handler of MLX5_IB_METHOD_CREATE_FLOW, as far as to the
// caller's right. It models UVERBS_HANDLER(MLX5_IB_METHOD_CREATE_FLOW) in
// drivers/infiniband/hw/mlx5/fs.c.
//
// Errors: mlx5-flow/privilege, mlx5/unmodelled.
func createRawFlow(b *kernel.Bundle) error {
	if !b.Task().Capable(process.CAP_NET_RAW) {
		return rule.MLX5FlowPrivilege
	}
	return rule.MLX5Unmodelled
}

// Completion queues of the kernel, which users reach by no command.
func pollCQ(*process.Task, *core.CQ, int) ([]core.WC, error)           { return nil, rule.MLX5Unmodelled }
func reqNotifyCQ(*process.Task, *core.CQ, core.NotifyFlags) error      { return rule.MLX5Unmodelled }
func postSRQRecv(*process.Task, *core.SRQ, []core.RecvWR) (int, error) { return 0, rule.MLX5Unmodelled }
func postSend(*process.Task, *core.QP, []core.SendWR) (int, error)     { return 0, rule.MLX5Unmodelled }
func postRecv(*process.Task, *core.QP, []core.RecvWR) (int, error)     { return 0, rule.MLX5Unmodelled }

// Flows, and the counters that are bound to them.
func createFlow(*core.QP, *core.FlowAttr, *core.Udata) (*core.Flow, error) {
	return nil, rule.MLX5Unmodelled
}
func destroyFlow(*process.Task, *core.Flow) error { return rule.MLX5Unmodelled }
func readCounters(*core.Counters, *core.CountersReadAttr, core.Attrs) error {
	return rule.MLX5Unmodelled
}
