package mlx5

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// What this driver has and the model lacks. The operations exist, since their
// absence would prune the API; each answers the same rule. Operations that end
// what cannot be made are never called.

// unmodelledMethods are the driver's methods that are outside of the model.
var unmodelledMethods = []kernel.MethodID{
	{Object: spec.UVERBS_OBJECT_FLOW, Method: spec.MLX5_IB_METHOD_CREATE_FLOW},
}

func unmodelledMethod(*kernel.Bundle) error { return rule.MLX5Unmodelled }

// Completion queues of the kernel, which users reach by no command.
func pollCQ(*process.Task, *core.CQ, int) ([]core.WC, error)           { return nil, rule.MLX5Unmodelled }
func reqNotifyCQ(*process.Task, *core.CQ, core.NotifyFlags) error      { return rule.MLX5Unmodelled }
func postSRQRecv(*process.Task, *core.SRQ, []core.RecvWR) (int, error) { return 0, rule.MLX5Unmodelled }
func postSend(*process.Task, *core.QP, []core.SendWR) (int, error)     { return 0, rule.MLX5Unmodelled }
func postRecv(*process.Task, *core.QP, []core.RecvWR) (int, error)     { return 0, rule.MLX5Unmodelled }

// Memory of other devices.
func regUserMRDmabuf(*core.PD, uint64, uint64, uint64, int, uint32, core.Attrs) (*core.MR, error) {
	return nil, rule.MLX5Unmodelled
}

// Flows, and the counters that are bound to them.
func createFlow(*core.QP, *core.FlowAttr, *core.Udata) (*core.Flow, error) {
	return nil, rule.MLX5Unmodelled
}
func destroyFlow(*process.Task, *core.Flow) error { return rule.MLX5Unmodelled }
func readCounters(*core.Counters, *core.CountersReadAttr, core.Attrs) error {
	return rule.MLX5Unmodelled
}
