package spec

// mlx5StdTypes declares what the list mlx5_ib_std_types_defs of
// drivers/infiniband/hw/mlx5/std_types.c does, in its order.
var mlx5StdTypes = []Object{
	{
		ID: UVERBS_OBJECT_PD,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_PD_QUERY, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_QUERY_PD_HANDLE, UVERBS_OBJECT_PD, AccessRead, Mandatory),
				PtrOut(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, U32, Mandatory))},
		},
	},
	{
		ID: UVERBS_OBJECT_DEVICE,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_QUERY_PORT, Attrs: Attrs(
				PtrIn(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, U32, Mandatory),
				PtrOut(MLX5_IB_ATTR_QUERY_PORT, Struct[Mlx5UapiQueryPort]("RegC0"), Mandatory))},
			{ID: MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH, Attrs: Attrs(
				PtrOut(MLX5_IB_ATTR_GET_DATA_DIRECT_SYSFS_PATH, MinSize(0), Mandatory))},
		},
	},
}
