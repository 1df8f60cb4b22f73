package spec

// mlx5Main declares what the list mlx5_ib_defs of
// drivers/infiniband/hw/mlx5/main.c does, in its order.
var mlx5Main = []Object{
	{
		ID: UVERBS_OBJECT_DEVICE,
		Methods: []Method{
			{ID: UVERBS_METHOD_QUERY_CONTEXT, Extends: true, Attrs: Attrs(
				PtrOut(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, Struct[Mlx5AllocUcontextResp]("DumpFillMkey"), Mandatory))},
		},
	},
	{
		ID: UVERBS_OBJECT_MR,
		Methods: []Method{
			{ID: UVERBS_METHOD_REG_DMABUF_MR, Extends: true, Attrs: Attrs(
				FlagsIn(MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, "enum mlx5_ib_uapi_reg_dmabuf_flags"))},
		},
	},
	{
		ID:    MLX5_IB_OBJECT_VAR,
		Class: ClassIDR,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_VAR_OBJ_ALLOC, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_VAR, AccessNew, Mandatory),
				PtrOut(MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID, U32, Mandatory),
				PtrOut(MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH, U32, Mandatory),
				PtrOut(MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET, U64, Mandatory))},
			{ID: MLX5_IB_METHOD_VAR_OBJ_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_VAR_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_VAR, AccessDestroy, Mandatory))},
		},
		IsSupported: "var_is_supported",
	},
	{
		ID:    MLX5_IB_OBJECT_UAR,
		Class: ClassIDR,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_UAR_OBJ_ALLOC, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_UAR, AccessNew, Mandatory),
				ConstIn(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, "enum mlx5_ib_uapi_uar_alloc_type", Mandatory),
				PtrOut(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, U32, Mandatory),
				PtrOut(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, U32, Mandatory),
				PtrOut(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, U64, Mandatory))},
			{ID: MLX5_IB_METHOD_UAR_OBJ_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_UAR, AccessDestroy, Mandatory))},
		},
	},
}
