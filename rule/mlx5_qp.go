package rule

import "syscall"

const mlx5QPC = "drivers/infiniband/hw/mlx5/qpc.c"

// The refusals of qp.c of mlx5_ib about the creation of queue pairs.
var (
	MLX5QPType = add(Rule{"mlx5-qp/type", syscall.EOPNOTSUPP, "check_qp_type", mlx5QP,
		"The device has no queue pairs of that type.",
		"Pass a type that the device has, such as IB_QPT_RC."})
	MLX5QPRawVersion = add(Rule{"mlx5-qp/raw-version", syscall.EINVAL, "check_valid_flow", mlx5QP,
		"Raw packet queue pairs want completions of version 1.",
		"Ask for max_cqe_version 1 when the context is made."})
	MLX5QPTableType = add(Rule{"mlx5-qp/table-type", syscall.EINVAL, "check_valid_flow", mlx5QP,
		"Only a raw packet queue pair has an indirection table.",
		"Pass IB_QPT_RAW_PACKET, or no table."})
	MLX5QPRequestSize = add(Rule{"mlx5-qp/request-size", syscall.EINVAL, "process_udata_size", mlx5QP,
		"The driver's part of the request is shorter than 48 bytes, where ece_options begins in struct mlx5_ib_create_qp.",
		"Pass struct mlx5_ib_create_qp, 56 bytes, in UHW_IN."})
	MLX5QPRSSRequestSize = add(Rule{"mlx5-qp/rss-request-size", syscall.EINVAL, "process_udata_size", mlx5QP,
		"The driver's part of the request is shorter than struct mlx5_ib_create_qp_rss.",
		"Pass struct mlx5_ib_create_qp_rss, 152 bytes."})
	MLX5QPRSSResponseSize = add(Rule{"mlx5-qp/rss-response-size", syscall.EINVAL, "process_udata_size", mlx5QP,
		"The driver's part of the response has no room for bfreg_index.",
		"Leave room for struct mlx5_ib_create_qp_resp."})
	MLX5QPRSSTail = add(Rule{"mlx5-qp/rss-tail", syscall.EINVAL, "process_udata_size", mlx5QP,
		"The request is longer than struct mlx5_ib_create_qp_rss and not zero behind it.",
		"Pass struct mlx5_ib_create_qp_rss, 152 bytes."})
	MLX5QPTail = add(Rule{"mlx5-qp/tail", syscall.EINVAL, "check_ucmd_data", mlx5QP,
		"The reserved field of struct mlx5_ib_create_qp, or what follows it in the request, is not zero.",
		"Clear what lies behind dci_streams."})
	MLX5QPNoMemory = add(Rule{"mlx5-qp/no-memory", syscall.ENOMEM, "mlx5_ib_create_qp", mlx5QP,
		"There was no memory for the request.",
		"Free memory and call again."})
	MLX5QPRequestFault = add(Rule{"mlx5-qp/request-fault", syscall.EFAULT, "mlx5_ib_create_qp", mlx5QP,
		"The driver's part of the request cannot be read.",
		"Pass the address of readable memory in UHW_IN."})
	MLX5QPSubtype = add(Rule{"mlx5-qp/subtype", syscall.EINVAL, "process_vendor_flags", mlx5QP,
		"A driver queue pair is neither DCT nor DCI, or both.",
		"Set MLX5_QP_FLAG_TYPE_DCT or MLX5_QP_FLAG_TYPE_DCI."})
	MLX5QPRSSFlags = add(Rule{"mlx5-qp/rss-flags", syscall.EINVAL, "process_vendor_flags", mlx5QP,
		"A queue pair with an indirection table has flags besides tunnel offloads and loopback.",
		"Pass MLX5_QP_FLAG_TUNNEL_OFFLOADS and MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_… at most."})
	MLX5QPFlags = add(Rule{"mlx5-qp/flags", syscall.EINVAL, "process_vendor_flags", mlx5QP,
		"A flag of the driver's is unknown, or not for that type of queue pairs, or the device cannot do it.",
		"Leave the flag out."})
	MLX5QPUserIndex = add(Rule{"mlx5-qp/user-index", syscall.EINVAL, "get_qp_user_index", mlx5IBH,
		"Completions of the context carry no user index, and uidx is not 0xffffff.",
		"Set uidx to 0xffffff, or ask for max_cqe_version 1 when the context is made."})
	MLX5QPDCTCreateFlags = add(Rule{"mlx5-qp/dct-create-flags", syscall.EINVAL, "process_create_flags", mlx5QP,
		"A DCT, or a queue pair with an indirection table, has flags of the core.",
		"Pass no create flags."})
	MLX5QPCreateFlags = add(Rule{"mlx5-qp/create-flags", syscall.EOPNOTSUPP, "process_create_flags", mlx5QP,
		"A flag of the core is not for that type of queue pairs, or the device cannot do it.",
		"Leave the flag out."})
	MLX5QPDCTAttr = add(Rule{"mlx5-qp/dct-attr", syscall.EINVAL, "check_qp_attr", mlx5QP,
		"A DCT has no shared receive queue, or no completion queue for receives.",
		"Pass both."})
	MLX5QPDCIAttr = add(Rule{"mlx5-qp/dci-attr", syscall.EINVAL, "check_qp_attr", mlx5QP,
		"A DCI receives nothing, but has receive work requests.",
		"Set max_recv_wr and max_recv_sge to 0."})
	MLX5QPRSSAttr = add(Rule{"mlx5-qp/rss-attr", syscall.EINVAL, "check_qp_attr", mlx5QP,
		"A queue pair with an indirection table sends nothing, but has a completion queue for sends.",
		"Pass no send CQ."})
	MLX5QPRecvSize = add(Rule{"mlx5-qp/recv-size", syscall.EINVAL, "set_rq_size", mlx5QP,
		"There are more receive work requests than 2^log_max_qp_sz.",
		"Ask for at most what QUERY_DEVICE says in max_qp_wr."})
	MLX5QPRecvShift = add(Rule{"mlx5-qp/recv-shift", syscall.EINVAL, "set_rq_size", mlx5QP,
		"The field rq_wqe_shift is 31 or more.",
		"Pass the logarithm of an entry's length."})
	MLX5QPRecvSignature = add(Rule{"mlx5-qp/recv-signature", syscall.EINVAL, "set_rq_size", mlx5QP,
		"Entries of the receive queue have no room for their signature.",
		"Pass a larger rq_wqe_shift."})
	MLX5QPRecvQueue = add(Rule{"mlx5-qp/recv-queue", syscall.EINVAL, "create_user_qp", mlx5QP,
		"There is no receive queue, but rq_wqe_count or rq_wqe_shift is not 0.",
		"Set both to 0 where max_recv_wr is 0 or there is a shared receive queue."})
	MLX5QPSendSize = add(Rule{"mlx5-qp/send-size", syscall.EINVAL, "create_user_qp", mlx5QP,
		"The field sq_wqe_count is above 2^log_max_qp_sz.",
		"Pass a smaller power of two."})
	MLX5QPUARFlags = add(Rule{"mlx5-qp/uar-flags", syscall.EINVAL, "_create_user_qp", mlx5QP,
		"Both MLX5_QP_FLAG_BFREG_INDEX and MLX5_QP_FLAG_UAR_PAGE_INDEX are set.",
		"Set one of them, or none."})
	MLX5QPCrossChannel = add(Rule{"mlx5-qp/cross-channel", syscall.EINVAL, "_create_user_qp", mlx5QP,
		"A cross-channel queue pair names no register.",
		"Set MLX5_QP_FLAG_BFREG_INDEX or MLX5_QP_FLAG_UAR_PAGE_INDEX."})
	MLX5QPNoRegister = add(Rule{"mlx5-qp/no-register", syscall.EINVAL, "alloc_bfreg", mlx5QP,
		"The context has no registers of its own and the call names no UAR.",
		"Allocate a UAR and name it by bfreg_index and MLX5_QP_FLAG_UAR_PAGE_INDEX."})
	MLX5QPRecvOverflow = add(Rule{"mlx5-qp/recv-overflow", syscall.EINVAL, "_create_user_qp", mlx5QP,
		"The receive queue is 2 GiB or longer.",
		"Pass a smaller rq_wqe_count or rq_wqe_shift."})
	MLX5QPSendShape = add(Rule{"mlx5-qp/send-shape", syscall.EINVAL, "set_user_buf_size", mlx5QP,
		"The device's send work requests are shorter than 64 bytes (capability max_wqe_sz_sq).",
		"Use another device."})
	MLX5QPSendPower = add(Rule{"mlx5-qp/send-power", syscall.EINVAL, "set_user_buf_size", mlx5QP,
		"The field sq_wqe_count is not a power of two.",
		"Round it up to a power of two, or pass 0."})
	MLX5QPBufferOverflow = add(Rule{"mlx5-qp/buffer-overflow", syscall.EINVAL, "set_user_buf_size", mlx5QP,
		"The queues together are 2 GiB or longer.",
		"Pass smaller numbers of entries."})
	MLX5QPAlignment = add(Rule{"mlx5-qp/buffer-alignment", syscall.EINVAL, "_create_user_qp", mlx5QP,
		"The buffer cannot be given to the device where it begins in its page.",
		"Align buf_addr to 64 bytes."})
	MLX5QPCommandNoMemory = add(Rule{"mlx5-qp/command-no-memory", syscall.ENOMEM, "_create_user_qp", mlx5QP,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5QPTableNoMemory = add(Rule{"mlx5-qp/table-no-memory", syscall.ENOMEM, "create_resource_common", mlx5QPC,
		"There was no memory for the queue's place in the driver's table.",
		"Free memory and call again."})
	MLX5QPDCTTableNoMemory = add(Rule{"mlx5-qp/dct-table-no-memory", syscall.ENOMEM, "mlx5_core_create_dct", mlx5QPC,
		"There was no memory for the DCT's place in the driver's table.",
		"Free memory and call again."})
	MLX5QPRawEmpty = add(Rule{"mlx5-qp/raw-empty", syscall.EINVAL, "create_raw_packet_qp", mlx5QP,
		"A raw packet queue pair has neither a send nor a receive queue.",
		"Pass sq_wqe_count or rq_wqe_count."})
	MLX5QPRawSendAlignment = add(Rule{"mlx5-qp/raw-send-alignment", syscall.EINVAL, "create_raw_packet_qp_sq", mlx5QP,
		"The send queue's buffer cannot be given to the device where it begins in its page.",
		"Align sq_buf_addr to 64 bytes."})
	MLX5QPRawSendNoMemory = add(Rule{"mlx5-qp/raw-send-no-memory", syscall.ENOMEM, "create_raw_packet_qp_sq", mlx5QP,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5QPRawRecvNoBuffer = add(Rule{"mlx5-qp/raw-recv-no-buffer", syscall.EINVAL, "create_raw_packet_qp_rq", mlx5QP,
		"The receive queue of a raw packet queue pair has no memory.",
		"Pass the address of its memory in buf_addr."})
	MLX5QPRawRecvAlignment = add(Rule{"mlx5-qp/raw-recv-alignment", syscall.EINVAL, "create_raw_packet_qp_rq", mlx5QP,
		"The receive queue's buffer cannot be given to the device where it begins in its page.",
		"Align buf_addr to 64 bytes."})
	MLX5QPRawRecvNoMemory = add(Rule{"mlx5-qp/raw-recv-no-memory", syscall.ENOMEM, "create_raw_packet_qp_rq", mlx5QP,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5QPRawTIRNoMemory = add(Rule{"mlx5-qp/raw-tir-no-memory", syscall.ENOMEM, "create_raw_packet_qp_tir", mlx5QP,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5QPRSSCompMask = add(Rule{"mlx5-qp/rss-comp-mask", syscall.EOPNOTSUPP, "create_rss_raw_qp_tir", mlx5QP,
		"The field comp_mask of struct mlx5_ib_create_qp_rss is not zero.",
		"Clear it."})
	MLX5QPRSSInner = add(Rule{"mlx5-qp/rss-inner", syscall.EOPNOTSUPP, "create_rss_raw_qp_tir", mlx5QP,
		"Inner headers are hashed only with tunnel offloads.",
		"Set MLX5_QP_FLAG_TUNNEL_OFFLOADS as well."})
	MLX5QPRSSNoMemory = add(Rule{"mlx5-qp/rss-no-memory", syscall.ENOMEM, "create_rss_raw_qp_tir", mlx5QP,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5QPRSSKey = add(Rule{"mlx5-qp/rss-key", syscall.EINVAL, "create_rss_raw_qp_tir", mlx5QP,
		"The key of the hash has not 40 bytes.",
		"Set rx_key_len to 40."})
	MLX5QPRSSFunction = add(Rule{"mlx5-qp/rss-function", syscall.EOPNOTSUPP, "create_rss_raw_qp_tir", mlx5QP,
		"The hash is not Toeplitz.",
		"Pass MLX5_RX_HASH_FUNC_TOEPLITZ."})
	MLX5QPRSSNoFields = add(Rule{"mlx5-qp/rss-no-fields", syscall.EINVAL, "create_rss_raw_qp_tir", mlx5QP,
		"No fields are hashed, but the table has more than one queue.",
		"Pass the fields to hash in rx_hash_fields_mask."})
	MLX5QPRSSBothIP = add(Rule{"mlx5-qp/rss-both-ip", syscall.EINVAL, "create_rss_raw_qp_tir", mlx5QP,
		"Addresses of IPv4 and of IPv6 are hashed.",
		"Make a queue pair for each."})
	MLX5QPRSSManyL4 = add(Rule{"mlx5-qp/rss-many-l4", syscall.EINVAL, "create_rss_raw_qp_tir", mlx5QP,
		"Fields of more than one of TCP, UDP and IPsec are hashed.",
		"Make a queue pair for each."})
	MLX5QPDCTNoMemory = add(Rule{"mlx5-qp/dct-no-memory", syscall.ENOMEM, "create_dct", mlx5QP,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5QPResponseFault = add(Rule{"mlx5-qp/response-fault", syscall.EFAULT, "mlx5_ib_create_qp", mlx5QP,
		"The driver's part of the response cannot be written.",
		"Pass the address of writable memory in UHW_OUT."})
)

// The refusals of qp.c of mlx5_ib about what queue pairs become.
var (
	MLX5ModifyQPTable = add(Rule{"mlx5-modify-qp/table", syscall.ENOSYS, "mlx5_ib_modify_qp", mlx5QP,
		"A queue pair with an indirection table has no state.",
		"Modify the work queues of the table."})
	MLX5ModifyQPRequestSize = add(Rule{"mlx5-modify-qp/request-size", syscall.EINVAL, "mlx5_ib_modify_qp", mlx5QP,
		"The driver's part of the request has 1 to 15 bytes.",
		"Pass struct mlx5_ib_modify_qp, 16 bytes, or nothing."})
	MLX5ModifyQPTail = add(Rule{"mlx5-modify-qp/tail", syscall.EOPNOTSUPP, "mlx5_ib_modify_qp", mlx5QP,
		"The request is longer than struct mlx5_ib_modify_qp and not zero behind it.",
		"Pass struct mlx5_ib_modify_qp, 16 bytes, or nothing."})
	MLX5ModifyQPRequestFault = add(Rule{"mlx5-modify-qp/request-fault", syscall.EFAULT, "mlx5_ib_modify_qp", mlx5QP,
		"The driver's part of the request cannot be read.",
		"Pass readable memory."})
	MLX5ModifyQPReserved = add(Rule{"mlx5-modify-qp/reserved", syscall.EOPNOTSUPP, "mlx5_ib_modify_qp", mlx5QP,
		"The field comp_mask or the reserved field of burst_info is not zero.",
		"Clear both."})
	MLX5ModifyQPUnderlay = add(Rule{"mlx5-modify-qp/underlay", syscall.EINVAL, "mlx5_ib_modify_qp", mlx5QP,
		"Of an underlay queue pair only the state can be changed.",
		"Pass IB_QP_STATE and IB_QP_CUR_STATE at most."})
	MLX5ModifyQPStep = add(Rule{"mlx5-modify-qp/step", syscall.EINVAL, "mlx5_ib_modify_qp", mlx5QP,
		"There is no such step from the state that the queue pair is in, or the mask is not one for it.",
		"Go through the states in their order, with the attributes that each step wants."})
	MLX5ModifyQPPort = add(Rule{"mlx5-modify-qp/port", syscall.EINVAL, "mlx5_ib_modify_qp", mlx5QP,
		"The device has no such port.",
		"Pass a port between 1 and phys_port_cnt."})
	MLX5ModifyQPPkey = add(Rule{"mlx5-modify-qp/pkey", syscall.EINVAL, "mlx5_ib_modify_qp", mlx5QP,
		"The index of the partition key is beyond the table.",
		"Pass an index below pkey_tbl_len."})
	MLX5ModifyQPAtomic = add(Rule{"mlx5-modify-qp/rd-atomic", syscall.EINVAL, "validate_rd_atomic", mlx5QP,
		"More reads and atomic operations are to be outstanding than the device can have.",
		"Pass at most what QUERY_DEVICE says in max_qp_rd_atom and max_qp_init_rd_atom."})
	MLX5ModifyQPNoMemory = add(Rule{"mlx5-modify-qp/no-memory", syscall.ENOMEM, "__mlx5_ib_modify_qp", mlx5QP,
		"There was no memory for the firmware command.",
		"Free memory and call again."})
	MLX5ModifyQPMTU = add(Rule{"mlx5-modify-qp/mtu", syscall.EINVAL, "__mlx5_ib_modify_qp", mlx5QP,
		"The path MTU is not between IB_MTU_256 and IB_MTU_4096.",
		"Pass 1 to 5."})
	MLX5ModifyQPAtomicMode = add(Rule{"mlx5-modify-qp/atomic-mode", syscall.EOPNOTSUPP, "set_qpc_atomic_flags", mlx5QP,
		"The device does no atomic operations.",
		"Leave IB_ACCESS_REMOTE_ATOMIC out."})
	MLX5ModifyQPTransition = add(Rule{"mlx5-modify-qp/transition", syscall.EINVAL, "__mlx5_ib_modify_qp", mlx5QP,
		"The device has no command for that step.",
		"Go through the states in their order; there is no way into IB_QPS_SQD."})
	MLX5ModifyQPBurst = add(Rule{"mlx5-modify-qp/burst", syscall.EINVAL, "__mlx5_ib_modify_qp", mlx5QP,
		"A burst or a packet size was given without a rate, or the device does not pace by it.",
		"Set rate_limit, or clear burst_info."})
	MLX5ModifyQPResponseFault = add(Rule{"mlx5-modify-qp/response-fault", syscall.EFAULT, "mlx5_ib_modify_qp", mlx5QP,
		"The driver's part of the response cannot be written; the queue pair has the new state.",
		"Pass writable memory."})
	MLX5ModifyDCTState = add(Rule{"mlx5-modify-dct/state", syscall.EINVAL, "mlx5_ib_modify_dct", mlx5QP,
		"The mask of a DCT's step has no IB_QP_STATE.",
		"Set IB_QP_STATE."})
	MLX5ModifyDCTMask = add(Rule{"mlx5-modify-dct/mask", syscall.EINVAL, "mlx5_ib_modify_dct", mlx5QP,
		"The mask is not exactly the one that the DCT's step wants.",
		"To INIT pass state, access flags, P_Key index and port; to RTR state, RNR timer, address vector and path MTU."})
	MLX5ModifyDCTPort = add(Rule{"mlx5-modify-dct/port", syscall.EINVAL, "mlx5_ib_modify_dct", mlx5QP,
		"The device has no such port.",
		"Pass a port between 1 and phys_port_cnt."})
	MLX5ModifyDCTAtomic = add(Rule{"mlx5-modify-dct/atomic", syscall.EOPNOTSUPP, "mlx5_ib_modify_dct", mlx5QP,
		"The device does no atomic operations.",
		"Leave IB_ACCESS_REMOTE_ATOMIC out."})
	MLX5ModifyDCTResponseSize = add(Rule{"mlx5-modify-dct/response-size", syscall.EINVAL, "mlx5_ib_modify_dct", mlx5QP,
		"The driver's part of the response is shorter than 8 bytes, where dctn ends.",
		"Leave room for struct mlx5_ib_modify_qp_resp, 16 bytes."})
	MLX5ModifyDCTTransition = add(Rule{"mlx5-modify-dct/transition", syscall.EINVAL, "mlx5_ib_modify_dct", mlx5QP,
		"A DCT goes from RESET to INIT and from there to RTR, and no other way.",
		"Follow that order."})
	MLX5ModifyDCTResponseFault = add(Rule{"mlx5-modify-dct/response-fault", syscall.EFAULT, "mlx5_ib_modify_dct", mlx5QP,
		"The DCT's number cannot be written into the driver's part of the response.",
		"Pass writable memory."})
	MLX5QueryQPTable = add(Rule{"mlx5-query-qp/table", syscall.ENOSYS, "mlx5_ib_query_qp", mlx5QP,
		"A queue pair with an indirection table has no state.",
		"Query the work queues of the table."})
	MLX5QueryQPNoMemory = add(Rule{"mlx5-query-qp/no-memory", syscall.ENOMEM, "query_qp_attr", mlx5QP,
		"There was no memory for the answer.",
		"Free memory and call again."})
	MLX5QueryDCT = add(Rule{"mlx5-query-qp/dct", syscall.EINVAL, "mlx5_ib_dct_query_qp", mlx5QP,
		"A DCT has none of the other attributes, or is not in the state RTR.",
		"Bring the DCT into RTR, and ask for what it has."})
	MLX5QueryQPRawState = add(Rule{"mlx5-query-qp/raw-state", syscall.EINVAL, "sqrq_state_to_qp_state", mlx5QP,
		"The states of the send and the receive queue do not go together.",
		"Bring the queue pair back to RESET."})
	MLX5McgUnderlay = add(Rule{"mlx5-mcg/underlay", syscall.EOPNOTSUPP, "mlx5_ib_mcg_attach", mlx5Main,
		"An underlay queue pair is in no multicast group.",
		"Attach another queue pair."})
)
