package spec

// mlx5CreateCQ declares what the list mlx5_ib_create_cq_defs of
// drivers/infiniband/hw/mlx5/cq.c does, in its order.
var mlx5CreateCQ = []Object{
	{
		ID: UVERBS_OBJECT_CQ,
		Methods: []Method{
			{ID: UVERBS_METHOD_CQ_CREATE, Extends: true, Attrs: Attrs(
				PtrIn(MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, U32))},
		},
	},
}
