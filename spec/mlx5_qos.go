package spec

// mlx5QoS declares what the list mlx5_ib_qos_defs of
// drivers/infiniband/hw/mlx5/qos.c does, in its order.
var mlx5QoS = []Object{
	{
		ID:    MLX5_IB_OBJECT_PP,
		Class: ClassIDR,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_PP_OBJ_ALLOC, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_PP, AccessNew, Mandatory),
				PtrIn(MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX, SizeRange(1, sizeofSetPpRateLimitContext), Mandatory, AllocAndCopy),
				FlagsIn(MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS, "enum mlx5_ib_uapi_pp_alloc_flags", Mandatory),
				PtrOut(MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, U16, Mandatory))},
			{ID: MLX5_IB_METHOD_PP_OBJ_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_PP_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_PP, AccessDestroy, Mandatory))},
		},
		IsSupported: "pp_is_supported",
	},
}

// The size in bytes of a struct of the firmware interface
// (include/linux/mlx5/mlx5_ifc.h).
const (
	sizeofSetPpRateLimitContext = 48 // struct mlx5_ifc_set_pp_rate_limit_context_bits
)
