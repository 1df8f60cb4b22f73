package rule

import "syscall"

// The refusals of qp.c of mlx5_ib about receive work queues and the tables that
// spread packets over them.
var (
	MLX5TimestampFormat = add(Rule{"mlx5-ts/format", syscall.EOPNOTSUPP, "get_ts_format", mlx5QP,
		"The device does not stamp this kind of queue's completions with the clock that the completion queue wants.",
		"Make the completion queue without time stamps of that clock."})
	MLX5TimestampMismatch = add(Rule{"mlx5-ts/mismatch", syscall.EOPNOTSUPP, "get_qp_ts_format", mlx5QP,
		"The completion queues for sends and receives want stamps of different clocks.",
		"Use completion queues of one kind."})
	MLX5WQResponseSize = add(Rule{"mlx5-wq/response-size", syscall.EINVAL, "mlx5_ib_create_wq", mlx5QP,
		"The driver's part of the response has 1 to 7 bytes.",
		"Pass room for struct mlx5_ib_create_wq_resp, 8 bytes, in UHW_OUT, or none."})
	MLX5WQPrivilege = add(Rule{"mlx5-wq/privilege", syscall.EPERM, "mlx5_ib_create_wq", mlx5QP,
		"The caller lacks CAP_SYS_RAWIO, which delayed drops want.",
		"Leave IB_WQ_FLAGS_DELAY_DROP out."})
	MLX5WQNoMemory = add(Rule{"mlx5-wq/no-memory", syscall.ENOMEM, "mlx5_ib_create_wq", mlx5QP,
		"There was no memory for the queue.",
		"Free memory and call again."})
	MLX5WQRequestSize = add(Rule{"mlx5-wq/request-size", syscall.EINVAL, "prepare_user_rq", mlx5QP,
		"The driver's part of the request is shorter than 40 bytes, where single_stride_log_num_of_bytes ends.",
		"Pass struct mlx5_ib_create_wq, 48 bytes, in UHW_IN."})
	MLX5WQTail = add(Rule{"mlx5-wq/tail", syscall.EOPNOTSUPP, "prepare_user_rq", mlx5QP,
		"The request is longer than struct mlx5_ib_create_wq and not zero behind it.",
		"Pass struct mlx5_ib_create_wq, 48 bytes, in UHW_IN."})
	MLX5WQRequestFault = add(Rule{"mlx5-wq/request-fault", syscall.EFAULT, "prepare_user_rq", mlx5QP,
		"The driver's part of the request cannot be read.",
		"Pass the address of readable memory in UHW_IN."})
	MLX5WQCompMask = add(Rule{"mlx5-wq/comp-mask", syscall.EOPNOTSUPP, "prepare_user_rq", mlx5QP,
		"The field comp_mask has bits above the first.",
		"Pass 0 or MLX5_IB_CREATE_WQ_STRIDING_RQ."})
	MLX5WQNoStriding = add(Rule{"mlx5-wq/no-striding", syscall.EOPNOTSUPP, "prepare_user_rq", mlx5QP,
		"The device has no striding receive queues.",
		"Leave MLX5_IB_CREATE_WQ_STRIDING_RQ out."})
	MLX5WQStrideSize = add(Rule{"mlx5-wq/stride-size", syscall.EINVAL, "prepare_user_rq", mlx5QP,
		"The logarithm of a stride's length is not between 6 and 13.",
		"Pass strides of 64 to 8192 bytes."})
	MLX5WQStrides = add(Rule{"mlx5-wq/strides", syscall.EINVAL, "prepare_user_rq", mlx5QP,
		"The logarithm of a work request's strides is out of the range that the device can do, 9 to 16 or 3 to 16.",
		"Pass what QUERY_DEVICE says in striding_rq_caps."})
	MLX5WQSize = add(Rule{"mlx5-wq/size", syscall.EINVAL, "set_user_rq_size", mlx5QP,
		"There are more than 2^log_max_wq_sz work requests.",
		"Ask for at most what QUERY_DEVICE says in max_wq_type_rq."})
	MLX5WQEmpty = add(Rule{"mlx5-wq/empty", syscall.EINVAL, "set_user_rq_size", mlx5QP,
		"The field rq_wqe_count is 0.",
		"Pass the number of entries that the buffer has room for."})
	MLX5WQOverflow = add(Rule{"mlx5-wq/overflow", syscall.EINVAL, "set_user_rq_size", mlx5QP,
		"The field rq_wqe_count, shifted by rq_wqe_shift, does not fit into 64 bits.",
		"Pass the logarithm of an entry's length in rq_wqe_shift."})
	MLX5WQNoBuffer = add(Rule{"mlx5-wq/no-buffer", syscall.EINVAL, "create_user_rq", mlx5QP,
		"The field buf_addr is 0.",
		"Pass the address of the queue's memory."})
	MLX5WQAlignment = add(Rule{"mlx5-wq/buffer-alignment", syscall.EINVAL, "create_user_rq", mlx5QP,
		"The buffer cannot be given to the device where it begins in its page.",
		"Align buf_addr to 64 bytes."})
	MLX5WQCommandNoMemory = add(Rule{"mlx5-wq/command-no-memory", syscall.ENOMEM, "create_rq", mlx5QP,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5WQEndPadding = add(Rule{"mlx5-wq/end-padding", syscall.EOPNOTSUPP, "create_rq", mlx5QP,
		"The device does not pad what it writes.",
		"Leave IB_WQ_FLAGS_PCI_WRITE_END_PADDING out."})
	MLX5WQVLAN = add(Rule{"mlx5-wq/vlan", syscall.EOPNOTSUPP, "create_rq", mlx5QP,
		"The device strips no VLAN tags.",
		"Leave IB_WQ_FLAGS_CVLAN_STRIPPING out."})
	MLX5WQScatterFCS = add(Rule{"mlx5-wq/scatter-fcs", syscall.EOPNOTSUPP, "create_rq", mlx5QP,
		"The device does not hand checksums of frames over.",
		"Leave IB_WQ_FLAGS_SCATTER_FCS out."})
	MLX5WQDelayDrop = add(Rule{"mlx5-wq/delay-drop", syscall.EOPNOTSUPP, "create_rq", mlx5QP,
		"The device drops packets at once.",
		"Leave IB_WQ_FLAGS_DELAY_DROP out."})
	MLX5WQResponseFault = add(Rule{"mlx5-wq/response-fault", syscall.EFAULT, "mlx5_ib_create_wq", mlx5QP,
		"The driver's part of the response cannot be written.",
		"Pass the address of writable memory in UHW_OUT."})
	MLX5ModifyWQRequestSize = add(Rule{"mlx5-modify-wq/request-size", syscall.EINVAL, "mlx5_ib_modify_wq", mlx5QP,
		"The driver's part of the request is shorter than 8 bytes.",
		"Pass struct mlx5_ib_modify_wq, 8 bytes of zeros."})
	MLX5ModifyWQTail = add(Rule{"mlx5-modify-wq/tail", syscall.EOPNOTSUPP, "mlx5_ib_modify_wq", mlx5QP,
		"The request is longer than struct mlx5_ib_modify_wq and not zero behind it.",
		"Pass struct mlx5_ib_modify_wq, 8 bytes of zeros."})
	MLX5ModifyWQRequestFault = add(Rule{"mlx5-modify-wq/request-fault", syscall.EFAULT, "mlx5_ib_modify_wq", mlx5QP,
		"The driver's part of the request cannot be read.",
		"Pass readable memory."})
	MLX5ModifyWQReserved = add(Rule{"mlx5-modify-wq/reserved", syscall.EOPNOTSUPP, "mlx5_ib_modify_wq", mlx5QP,
		"The field comp_mask or reserved is not zero.",
		"Pass struct mlx5_ib_modify_wq, 8 bytes of zeros."})
	MLX5ModifyWQNoMemory = add(Rule{"mlx5-modify-wq/no-memory", syscall.ENOMEM, "mlx5_ib_modify_wq", mlx5QP,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5ModifyWQVLAN = add(Rule{"mlx5-modify-wq/vlan", syscall.EOPNOTSUPP, "mlx5_ib_modify_wq", mlx5QP,
		"The device strips no VLAN tags.",
		"Leave IB_WQ_FLAGS_CVLAN_STRIPPING out of flags_mask."})
	MLX5ModifyWQEndPadding = add(Rule{"mlx5-modify-wq/end-padding", syscall.EOPNOTSUPP, "mlx5_ib_modify_wq", mlx5QP,
		"The padding of a queue is not changed.",
		"Leave IB_WQ_FLAGS_PCI_WRITE_END_PADDING out of flags_mask."})
	MLX5RQTRequest = add(Rule{"mlx5-rqt/request", syscall.EOPNOTSUPP, "mlx5_ib_create_rwq_ind_table", mlx5QP,
		"The driver's part of the request is not all zero.",
		"Pass no driver's part."})
	MLX5RQTSize = add(Rule{"mlx5-rqt/size", syscall.EINVAL, "mlx5_ib_create_rwq_ind_table", mlx5QP,
		"The table is larger than 2^log_max_rqt_size.",
		"Ask for at most what QUERY_DEVICE says in max_rwq_indirection_table_size."})
	MLX5RQTResponseSize = add(Rule{"mlx5-rqt/response-size", syscall.EINVAL, "mlx5_ib_create_rwq_ind_table", mlx5QP,
		"The driver's part of the response has 1 to 7 bytes.",
		"Leave room for struct mlx5_ib_create_rwq_ind_tbl_resp, 8 bytes, or none."})
	MLX5RQTNoMemory = add(Rule{"mlx5-rqt/no-memory", syscall.ENOMEM, "mlx5_ib_create_rwq_ind_table", mlx5QP,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5RQTResponseFault = add(Rule{"mlx5-rqt/response-fault", syscall.EFAULT, "mlx5_ib_create_rwq_ind_table", mlx5QP,
		"The driver's part of the response cannot be written.",
		"Pass writable memory."})
)
