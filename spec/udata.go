package spec

// Udata has the C structs of a driver's part of a request and of its answer
// (struct ib_udata, include/rdma/ib_verbs.h). Where a driver has several, they
// are in the order of their size; which it is, the length tells.
type Udata struct{ In, Out []string }

type udataKey struct {
	driver  uint32
	command uint8
}

// udata has the drivers' parts of the write() commands, by what the headers of
// the drivers say (mlx5-abi.h, rdma_user_rxe.h, efa-abi.h, bnxt_re-abi.h in
// include/uapi/rdma). An extended command has the number, and the part, of the
// one that it extends.
var udata = map[udataKey]Udata{
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_GET_CONTEXT}: {
		In:  []string{"struct mlx5_ib_alloc_ucontext_req", "struct mlx5_ib_alloc_ucontext_req_v2"},
		Out: []string{"struct mlx5_ib_alloc_ucontext_resp"},
	},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_QUERY_DEVICE}: {Out: []string{"struct mlx5_ib_query_device_resp"}},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_ALLOC_PD}:     {Out: []string{"struct mlx5_ib_alloc_pd_resp"}},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_CREATE_AH}:    {Out: []string{"struct mlx5_ib_create_ah_resp"}},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_ALLOC_MW}:     {In: []string{"struct mlx5_ib_alloc_mw"}},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_CREATE_CQ}: {
		In: []string{"struct mlx5_ib_create_cq"}, Out: []string{"struct mlx5_ib_create_cq_resp"},
	},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_RESIZE_CQ}: {In: []string{"struct mlx5_ib_resize_cq"}},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_CREATE_QP}: {
		In:  []string{"struct mlx5_ib_create_qp", "struct mlx5_ib_create_qp_rss"},
		Out: []string{"struct mlx5_ib_create_qp_resp"},
	},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_MODIFY_QP}: {
		In: []string{"struct mlx5_ib_modify_qp"}, Out: []string{"struct mlx5_ib_modify_qp_resp"},
	},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_CREATE_SRQ}: {
		In: []string{"struct mlx5_ib_create_srq"}, Out: []string{"struct mlx5_ib_create_srq_resp"},
	},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_CREATE_XSRQ}: {
		In: []string{"struct mlx5_ib_create_srq"}, Out: []string{"struct mlx5_ib_create_srq_resp"},
	},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_EX_CMD_CREATE_FLOW}: {In: []string{"struct mlx5_ib_create_flow"}},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_EX_CMD_CREATE_WQ}: {
		In: []string{"struct mlx5_ib_create_wq"}, Out: []string{"struct mlx5_ib_create_wq_resp"},
	},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_EX_CMD_MODIFY_WQ}:          {In: []string{"struct mlx5_ib_modify_wq"}},
	{RDMA_DRIVER_MLX5, IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL}: {Out: []string{"struct mlx5_ib_create_rwq_ind_tbl_resp"}},

	{RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_CREATE_AH}:   {Out: []string{"struct rxe_create_ah_resp"}},
	{RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_CREATE_CQ}:   {Out: []string{"struct rxe_create_cq_resp"}},
	{RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_RESIZE_CQ}:   {Out: []string{"struct rxe_resize_cq_resp"}},
	{RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_CREATE_QP}:   {Out: []string{"struct rxe_create_qp_resp"}},
	{RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_CREATE_SRQ}:  {Out: []string{"struct rxe_create_srq_resp"}},
	{RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_CREATE_XSRQ}: {Out: []string{"struct rxe_create_srq_resp"}},
	{RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_MODIFY_SRQ}:  {In: []string{"struct rxe_modify_srq_cmd"}},

	{RDMA_DRIVER_EFA, IB_USER_VERBS_CMD_GET_CONTEXT}: {
		In: []string{"struct efa_ibv_alloc_ucontext_cmd"}, Out: []string{"struct efa_ibv_alloc_ucontext_resp"},
	},
	{RDMA_DRIVER_EFA, IB_USER_VERBS_CMD_QUERY_DEVICE}: {Out: []string{"struct efa_ibv_ex_query_device_resp"}},
	{RDMA_DRIVER_EFA, IB_USER_VERBS_CMD_ALLOC_PD}:     {Out: []string{"struct efa_ibv_alloc_pd_resp"}},
	{RDMA_DRIVER_EFA, IB_USER_VERBS_CMD_CREATE_AH}:    {Out: []string{"struct efa_ibv_create_ah_resp"}},
	{RDMA_DRIVER_EFA, IB_USER_VERBS_CMD_CREATE_CQ}: {
		In: []string{"struct efa_ibv_create_cq"}, Out: []string{"struct efa_ibv_create_cq_resp"},
	},
	{RDMA_DRIVER_EFA, IB_USER_VERBS_CMD_CREATE_QP}: {
		In: []string{"struct efa_ibv_create_qp"}, Out: []string{"struct efa_ibv_create_qp_resp"},
	},

	{RDMA_DRIVER_BNXT_RE, IB_USER_VERBS_CMD_GET_CONTEXT}: {
		In: []string{"struct bnxt_re_uctx_req"}, Out: []string{"struct bnxt_re_uctx_resp"},
	},
	{RDMA_DRIVER_BNXT_RE, IB_USER_VERBS_CMD_ALLOC_PD}: {Out: []string{"struct bnxt_re_pd_resp"}},
	{RDMA_DRIVER_BNXT_RE, IB_USER_VERBS_CMD_CREATE_CQ}: {
		In: []string{"struct bnxt_re_cq_req"}, Out: []string{"struct bnxt_re_cq_resp"},
	},
	{RDMA_DRIVER_BNXT_RE, IB_USER_VERBS_CMD_RESIZE_CQ}: {In: []string{"struct bnxt_re_resize_cq_req"}},
	{RDMA_DRIVER_BNXT_RE, IB_USER_VERBS_CMD_CREATE_QP}: {
		In: []string{"struct bnxt_re_qp_req"}, Out: []string{"struct bnxt_re_qp_resp"},
	},
	{RDMA_DRIVER_BNXT_RE, IB_USER_VERBS_CMD_CREATE_SRQ}: {
		In: []string{"struct bnxt_re_srq_req"}, Out: []string{"struct bnxt_re_srq_resp"},
	},
}

// commandOf has the write() command that a method with UVERBS_ATTR_UHW_IN and
// UVERBS_ATTR_UHW_OUT does the same as: a driver's part is the same for both.
var commandOf = map[[2]uint16]uint8{
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT}: IB_USER_VERBS_CMD_GET_CONTEXT,
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE}:       IB_USER_VERBS_CMD_CREATE_CQ,
	{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE}:       IB_USER_VERBS_CMD_CREATE_QP,
	{UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE}:     IB_USER_VERBS_CMD_CREATE_SRQ,
	{UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE}:       IB_USER_VERBS_EX_CMD_CREATE_WQ,
}

// UdataOf returns a driver's part of a write() command, extended or not.
func UdataOf(driver uint32, command uint8) Udata { return udata[udataKey{driver, command}] }

// UdataOfMethod returns a driver's part of a method of the core's other than
// UVERBS_METHOD_INVOKE_WRITE, whose command tells it.
func UdataOfMethod(driver uint32, object, method uint16) Udata {
	c, ok := commandOf[[2]uint16{object, method}]
	if !ok {
		return Udata{}
	}
	return UdataOf(driver, c)
}
