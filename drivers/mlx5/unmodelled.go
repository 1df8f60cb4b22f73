package mlx5

import (
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
)

// What this driver has and the model lacks: the data path of the kernel's own
// queues, which users reach by no command. The operations exist, since their absence
// would prune the API; each answers the same rule.

func pollCQ(*process.Task, *core.CQ, int) ([]core.WC, error)           { return nil, rule.MLX5Unmodelled }
func reqNotifyCQ(*process.Task, *core.CQ, core.NotifyFlags) error      { return rule.MLX5Unmodelled }
func postSRQRecv(*process.Task, *core.SRQ, []core.RecvWR) (int, error) { return 0, rule.MLX5Unmodelled }
func postSend(*process.Task, *core.QP, []core.SendWR) (int, error)     { return 0, rule.MLX5Unmodelled }
func postRecv(*process.Task, *core.QP, []core.RecvWR) (int, error)     { return 0, rule.MLX5Unmodelled }
