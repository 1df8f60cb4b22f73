package spec

// mlx5DM declares what the list mlx5_ib_dm_defs of
// drivers/infiniband/hw/mlx5/dm.c does, in its order.
var mlx5DM = []Object{
	{
		ID: UVERBS_OBJECT_DM,
		Methods: []Method{
			{ID: UVERBS_METHOD_DM_ALLOC, Extends: true, Attrs: Attrs(
				PtrOut(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, U64, Mandatory),
				PtrOut(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, U16),
				ConstIn(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, "enum mlx5_ib_uapi_dm_type"))},
		},
	},
	{
		ID: UVERBS_OBJECT_DM,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_DM_MAP_OP_ADDR, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE, UVERBS_OBJECT_DM, AccessRead, Mandatory),
				PtrIn(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP, U8, Mandatory),
				PtrOut(MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET, U64, Mandatory),
				PtrOut(MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX, U16))},
			{ID: MLX5_IB_METHOD_DM_QUERY, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, UVERBS_OBJECT_DM, AccessRead, Mandatory),
				PtrOut(MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, U64, Mandatory),
				PtrOut(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, U16, Mandatory),
				PtrOut(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, U64, Mandatory))},
		},
	},
}
