package rule

import "syscall"

const (
	mlx5Devx = "drivers/infiniband/hw/mlx5/devx.c"
	eventfdC = "fs/eventfd.c"
)

// The refusals of devx.c of mlx5_ib: its users and their commands.
var (
	MLX5DevxNoUctx = add(Rule{"mlx5-devx/no-uctx", syscall.EINVAL, "mlx5_ib_devx_create", mlx5Devx,
		"The device knows no users of its own (capability log_max_uctx).",
		"Make the context without MLX5_IB_ALLOC_UCTX_DEVX."})
	MLX5DevxNoUID = add(Rule{"mlx5-devx/no-uid", syscall.EINVAL, "devx_get_uid", mlx5Devx,
		"The context is no DEVX user, and the command is none that everyone may send.",
		"Make the context with MLX5_IB_ALLOC_UCTX_DEVX."})
	MLX5DevxNoWhitelistUID = add(Rule{"mlx5-devx/no-whitelist-uid", syscall.EOPNOTSUPP, "devx_get_uid", mlx5Devx,
		"The context is no DEVX user, and the driver could make none for the commands that everyone may send.",
		"Make the context with MLX5_IB_ALLOC_UCTX_DEVX."})
	MLX5DevxNotGeneral = add(Rule{"mlx5-devx/not-general", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OTHER", mlx5Devx,
		"The command is none of the few queries that need no object.",
		"Send commands that make, change or query an object by the methods of MLX5_IB_OBJECT_DEVX_OBJ."})

	MLX5DevxCreateTunnel = add(Rule{"mlx5-devx/create-tunnel", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_CREATE", mlx5Devx,
		"The command is meant for another function: bytes 4 and 5 name a tunnel.",
		"Clear bytes 4 and 5 of the command."})
	MLX5DevxNotCreate = add(Rule{"mlx5-devx/not-create", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_CREATE", mlx5Devx,
		"The command makes no object, or more than one.",
		"Send a command that makes one object."})
	MLX5DevxCreateNoMemory = add(Rule{"mlx5-devx/create-no-memory", syscall.ENOMEM, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_CREATE", mlx5Devx,
		"There was no memory for the object.",
		"Free memory and call again."})
	MLX5DevxMkeySize = add(Rule{"mlx5-devx/mkey-size", syscall.EINVAL, "devx_handle_mkey_create", mlx5Devx,
		"CREATE_MKEY is shorter than 80 bytes, where its context ends.",
		"Send the whole struct create_mkey_in."})
	MLX5DevxModifyTunnel = add(Rule{"mlx5-devx/modify-tunnel", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_MODIFY", mlx5Devx,
		"The command is meant for another function: bytes 4 and 5 name a tunnel.",
		"Clear bytes 4 and 5 of the command."})
	MLX5DevxNotModify = add(Rule{"mlx5-devx/not-modify", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_MODIFY", mlx5Devx,
		"The command changes no object.",
		"Send a command that modifies an object."})
	MLX5DevxModifyObject = add(Rule{"mlx5-devx/modify-object", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_MODIFY", mlx5Devx,
		"The command names another object than the handle does.",
		"Put the number of the handle's object into the command."})
	MLX5DevxQueryTunnel = add(Rule{"mlx5-devx/query-tunnel", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_QUERY", mlx5Devx,
		"The command is meant for another function: bytes 4 and 5 name a tunnel.",
		"Clear bytes 4 and 5 of the command."})
	MLX5DevxNotQuery = add(Rule{"mlx5-devx/not-query", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_QUERY", mlx5Devx,
		"The command queries no object.",
		"Send a command that queries an object."})
	MLX5DevxQueryObject = add(Rule{"mlx5-devx/query-object", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_QUERY", mlx5Devx,
		"The command names another object than the handle does.",
		"Put the number of the handle's object into the command."})
	MLX5BfregIndex = add(Rule{"mlx5-bfreg/index", syscall.EINVAL, "bfregn_to_uar_index", "drivers/infiniband/hw/mlx5/qp.c",
		"The context has no such register, or the register's page is not allocated yet.",
		"Pass the number of a register whose page the context has."})
)

// Queries that are answered later.
var (
	MLX5DevxAsyncTunnel = add(Rule{"mlx5-devx/async-tunnel", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY", mlx5Devx,
		"The command is meant for another function: bytes 4 and 5 name a tunnel.",
		"Clear bytes 4 and 5 of the command."})
	MLX5DevxAsyncNotQuery = add(Rule{"mlx5-devx/async-not-query", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY", mlx5Devx,
		"The command queries no object.",
		"Send a command that queries an object."})
	MLX5DevxAsyncObject = add(Rule{"mlx5-devx/async-object", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY", mlx5Devx,
		"The command names another object than the handle does.",
		"Put the number of the handle's object into the command."})
	MLX5DevxAsyncBacklog = add(Rule{"mlx5-devx/async-backlog", syscall.EAGAIN, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY", mlx5Devx,
		"More than a MiB of answers would wait to be read.",
		"Read answers from the descriptor first."})
	MLX5DevxAsyncNoMemory = add(Rule{"mlx5-devx/async-no-memory", syscall.ENOMEM, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY", mlx5Devx,
		"There was no memory for the answer.",
		"Free memory and call again."})
	MLX5DevxCmdReadAgain = add(Rule{"mlx5-devx/cmd-read-again", syscall.EAGAIN, "devx_async_cmd_event_read", mlx5Devx,
		"No answer is there and the descriptor does not wait.",
		"Poll the descriptor, or clear O_NONBLOCK."})
	MLX5DevxCmdReadClosed = add(Rule{"mlx5-devx/cmd-read-closed", syscall.EIO, "devx_async_cmd_event_read", mlx5Devx,
		"The device went while the call waited.",
		"Close the descriptor."})
	MLX5DevxCmdReadShort = add(Rule{"mlx5-devx/cmd-read-short", syscall.ENOSPC, "devx_async_cmd_event_read", mlx5Devx,
		"The buffer is shorter than the oldest answer with its 8 bytes of header.",
		"Read into a buffer for the length that the query asked for and 8 bytes more."})
	MLX5DevxCmdReadFault = add(Rule{"mlx5-devx/cmd-read-fault", syscall.EFAULT, "devx_async_cmd_event_read", mlx5Devx,
		"The answer could not be written into the buffer; it is lost.",
		"Read into writable memory."})
)

// Events of objects and of the device.
var (
	MLX5DevxSubscribeNoUID = add(Rule{"mlx5-devx/subscribe-no-uid", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT", mlx5Devx,
		"The context is no DEVX user.",
		"Make the context with MLX5_IB_ALLOC_UCTX_DEVX."})
	MLX5DevxSubscribeCookie = add(Rule{"mlx5-devx/subscribe-cookie", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT", mlx5Devx,
		"A cookie was given for events that only signal an eventfd.",
		"Pass either FD_NUM or COOKIE."})
	MLX5DevxSubscribeCount = add(Rule{"mlx5-devx/subscribe-count", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT", mlx5Devx,
		"More than 16 event types are listed.",
		"Subscribe to 16 event types at a time."})
	MLX5DevxSubscribeType = add(Rule{"mlx5-devx/subscribe-type", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT", mlx5Devx,
		"The device tells users of no such event, or of it only with an object, or only without.",
		"Subscribe to events of the masks in the device's capabilities: affiliated ones with an object, the others without."})
	MLX5DevxSubscribeNoMemory = add(Rule{"mlx5-devx/subscribe-no-memory", syscall.ENOMEM, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT", mlx5Devx,
		"There was no memory for a subscription.",
		"Free memory and call again."})
	EventfdBad = add(Rule{"eventfd/bad", syscall.EBADF, "eventfd_fget", eventfdC,
		"The descriptor is not open.",
		"Pass an eventfd."})
	EventfdForeign = add(Rule{"eventfd/foreign", syscall.EINVAL, "eventfd_ctx_fileget", eventfdC,
		"The descriptor is not an eventfd.",
		"Pass an eventfd."})
	MLX5DevxEventReadAgain = add(Rule{"mlx5-devx/event-read-again", syscall.EAGAIN, "devx_async_event_read", mlx5Devx,
		"No event is there and the descriptor does not wait.",
		"Poll the descriptor, or clear O_NONBLOCK."})
	MLX5DevxEventReadClosed = add(Rule{"mlx5-devx/event-read-closed", syscall.EIO, "devx_async_event_read", mlx5Devx,
		"The device went while the call waited.",
		"Close the descriptor."})
	MLX5DevxEventReadOverflow = add(Rule{"mlx5-devx/event-read-overflow", syscall.EOVERFLOW, "devx_async_event_read", mlx5Devx,
		"An event was lost, since there was no memory for it.",
		"Look at all objects for what the event may have said, then read on."})
	MLX5DevxEventReadShort = add(Rule{"mlx5-devx/event-read-short", syscall.EINVAL, "devx_async_event_read", mlx5Devx,
		"The buffer is shorter than an event: 72 bytes, or 8 with MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA.",
		"Read into a buffer for a whole event."})
	MLX5DevxEventReadFault = add(Rule{"mlx5-devx/event-read-fault", syscall.EFAULT, "devx_async_event_read", mlx5Devx,
		"The event could not be written into the buffer; it is lost.",
		"Read into writable memory."})
)

// Memory that commands name by a number.
var (
	MLX5DevxUmemNoUID = add(Rule{"mlx5-devx/umem-no-uid", syscall.EINVAL, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_UMEM_REG", mlx5Devx,
		"The context is no DEVX user.",
		"Make the context with MLX5_IB_ALLOC_UCTX_DEVX."})
	MLX5DevxUmemNoMemory = add(Rule{"mlx5-devx/umem-no-memory", syscall.ENOMEM, "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_UMEM_REG", mlx5Devx,
		"There was no memory for the object.",
		"Free memory and call again."})
	MLX5DevxUmemPageSize = add(Rule{"mlx5-devx/umem-page-size", syscall.EINVAL, "devx_umem_reg_cmd_alloc", mlx5Devx,
		"The memory cannot be given to the device in pages of any size in the bitmap.",
		"Allow smaller pages, from 4096 bytes up."})
	MLX5DevxUmemDmabufFD = add(Rule{"mlx5-devx/umem-dmabuf-fd", syscall.EFAULT, "devx_umem_get", mlx5Devx,
		"The number of the dma-buf's descriptor does not fit into 32 bits.",
		"Pass the descriptor of a dma-buf."})
)
