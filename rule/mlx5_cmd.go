package rule

import "syscall"

const (
	mlx5Cmd  = "drivers/net/ethernet/mellanox/mlx5/core/cmd.c"
	mlx5Main = "drivers/infiniband/hw/mlx5/main.c"
)

// What a firmware command's status becomes (cmd_status_to_err of mlx5_core). The
// status and the syndrome of the command itself are in the trace.
var (
	MLX5CmdInternal = add(Rule{"mlx5-cmd/internal", syscall.EIO, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 1, internal error.",
		"Look up the command's syndrome in the trace; the device could not do it although it was well formed."})
	MLX5CmdBadOp = add(Rule{"mlx5-cmd/bad-op", syscall.EINVAL, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 2: it does not know the command.",
		"Use a command that this device has."})
	MLX5CmdBadParam = add(Rule{"mlx5-cmd/bad-param", syscall.EINVAL, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 3, bad parameter.",
		"Look up the command's syndrome in the trace and correct the field that it names."})
	MLX5CmdBadSysState = add(Rule{"mlx5-cmd/bad-sys-state", syscall.EIO, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 4: it has not been brought up.",
		"Wait until the device is initialized."})
	MLX5CmdBadRes = add(Rule{"mlx5-cmd/bad-resource", syscall.EINVAL, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 5: an object that it names does not exist or is another user's.",
		"Name objects that exist and were made under the same uid."})
	MLX5CmdBusy = add(Rule{"mlx5-cmd/resource-busy", syscall.EBUSY, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 6: the object is in use.",
		"Destroy first what uses it."})
	MLX5CmdNotReady = add(Rule{"mlx5-cmd/not-ready", syscall.EAGAIN, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 7, not ready.",
		"Try again."})
	MLX5CmdLimit = add(Rule{"mlx5-cmd/limit", syscall.ENOMEM, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 8: it has room for no more objects of that kind.",
		"Destroy objects of that kind."})
	MLX5CmdBadResState = add(Rule{"mlx5-cmd/bad-resource-state", syscall.EINVAL, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 9: the object's state does not permit it.",
		"Bring the object into the state that the command wants."})
	MLX5CmdBadIndex = add(Rule{"mlx5-cmd/bad-index", syscall.EINVAL, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 0xa: an index is out of range.",
		"Pass an index that the device has."})
	MLX5CmdNoRes = add(Rule{"mlx5-cmd/no-resources", syscall.EAGAIN, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 0xf, no resources.",
		"Give the device memory, or try again later."})
	MLX5CmdBadInputLength = add(Rule{"mlx5-cmd/bad-input-length", syscall.EIO, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 0x50: its input is too short.",
		"Send the whole structure of the command."})
	MLX5CmdBadOutputLength = add(Rule{"mlx5-cmd/bad-output-length", syscall.EIO, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 0x51: there is too little room for its output.",
		"Leave room for the whole answer."})
	MLX5CmdBadQPState = add(Rule{"mlx5-cmd/bad-qp-state", syscall.EINVAL, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 0x10: the queue pair is in another state.",
		"Move the queue pair through its states in their order."})
	MLX5CmdBadPacket = add(Rule{"mlx5-cmd/bad-packet", syscall.EINVAL, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 0x30: it discarded a bad management packet.",
		"Send a packet that is well formed."})
	MLX5CmdOutstandingCQEs = add(Rule{"mlx5-cmd/outstanding-cqes", syscall.EINVAL, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with status 0x40: more completions are outstanding than the new size holds.",
		"Poll the completion queue empty before making it smaller."})
	MLX5CmdUnknownStatus = add(Rule{"mlx5-cmd/unknown-status", syscall.EIO, "cmd_status_to_err", mlx5Cmd,
		"The device answered a firmware command with a status that the driver does not know.",
		"Look the status up in the trace."})
	MLX5CmdDeviceError = add(Rule{"mlx5-cmd/device-error", syscall.ENOLINK, "mlx5_internal_err_ret_value", mlx5Cmd,
		"The device is in error and takes no commands; commands that only end something are taken for done.",
		"Destroy what is left and close the file."})
	MLX5CmdDown = add(Rule{"mlx5-cmd/down", syscall.ENXIO, "cmd_exec", mlx5Cmd,
		"The device is in error and takes no commands.",
		"Destroy what is left and close the file."})
	MLX5CmdNoMemory = add(Rule{"mlx5-cmd/no-memory", syscall.ENOMEM, "mlx5_alloc_cmd_msg", mlx5Cmd,
		"There is no memory for the firmware command or its answer.",
		"Free memory and try again."})
	MLX5CmdTimeout = add(Rule{"mlx5-cmd/timeout", syscall.ETIMEDOUT, "wait_func", mlx5Cmd,
		"The device does not answer the firmware command; what became of it is unknown.",
		"Try again, or reset the device."})
	MLX5CmdStatus = add(Rule{"mlx5-cmd/status", syscall.EREMOTEIO, "cmd_status_err", mlx5Cmd,
		"The device answered the user's own firmware command with a status other than 0; the answer was copied out.",
		"Read status and syndrome in the first 8 bytes of the answer."})
)
