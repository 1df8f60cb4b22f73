package spec

// mlx5Flow declares what the list mlx5_ib_flow_defs of
// drivers/infiniband/hw/mlx5/fs.c does, in its order.
var mlx5Flow = []Object{
	{
		ID:    MLX5_IB_OBJECT_FLOW_MATCHER,
		Class: ClassIDR,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_FLOW_MATCHER_CREATE, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, MLX5_IB_OBJECT_FLOW_MATCHER, AccessNew, Mandatory),
				PtrIn(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, SizeRange(1, Mlx5MatchParamsSize), Mandatory),
				EnumIn(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, mlx5FlowType, Mandatory),
				PtrIn(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, U8, Mandatory),
				FlagsIn(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, "enum ib_flow_flags"),
				ConstIn(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, "enum mlx5_ib_uapi_flow_table_type"))},
			{ID: MLX5_IB_METHOD_FLOW_MATCHER_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, MLX5_IB_OBJECT_FLOW_MATCHER, AccessDestroy, Mandatory))},
		},
	},
	{
		ID: UVERBS_OBJECT_FLOW,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_CREATE_FLOW, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_CREATE_FLOW_HANDLE, UVERBS_OBJECT_FLOW, AccessNew, Mandatory),
				PtrIn(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, SizeRange(1, Mlx5MatchParamsSize), Mandatory, AllocAndCopy),
				IDRAttr(MLX5_IB_ATTR_CREATE_FLOW_MATCHER, MLX5_IB_OBJECT_FLOW_MATCHER, AccessRead, Mandatory),
				IDRAttr(MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, UVERBS_OBJECT_QP, AccessRead),
				IDRAttr(MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, MLX5_IB_OBJECT_DEVX_OBJ, AccessRead),
				IDRsArray(MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, UVERBS_OBJECT_FLOW_ACTION, AccessRead, 1, mlx5CreateFlowMaxFlowActions),
				PtrIn(MLX5_IB_ATTR_CREATE_FLOW_TAG, U32),
				IDRsArray(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, MLX5_IB_OBJECT_DEVX_OBJ, AccessRead, 1, 1),
				PtrIn(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, MinSize(4), AllocAndCopy),
				FlagsIn(MLX5_IB_ATTR_CREATE_FLOW_FLAGS, "enum mlx5_ib_create_flow_flags"))},
			{ID: MLX5_IB_METHOD_DESTROY_FLOW, Destroy: true, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_CREATE_FLOW_HANDLE, UVERBS_OBJECT_FLOW, AccessDestroy, Mandatory))},
		},
	},
	{
		ID: UVERBS_OBJECT_FLOW_ACTION,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, UVERBS_OBJECT_FLOW_ACTION, AccessNew, Mandatory),
				PtrIn(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, MinSize(sizeofSetAddCopyActionInAuto), Mandatory, AllocAndCopy),
				ConstIn(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, "enum mlx5_ib_uapi_flow_table_type", Mandatory))},
			{ID: MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, UVERBS_OBJECT_FLOW_ACTION, AccessNew, Mandatory),
				PtrIn(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF, MinSize(1), AllocAndCopy),
				ConstIn(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, "enum mlx5_ib_uapi_flow_action_packet_reformat_type", Mandatory),
				ConstIn(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, "enum mlx5_ib_uapi_flow_table_type", Mandatory))},
		},
	},
	{
		ID:    MLX5_IB_OBJECT_STEERING_ANCHOR,
		Class: ClassIDR,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_STEERING_ANCHOR_CREATE, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE, MLX5_IB_OBJECT_STEERING_ANCHOR, AccessNew, Mandatory),
				ConstIn(MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE, "enum mlx5_ib_uapi_flow_table_type", Mandatory),
				PtrIn(MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY, U16, Mandatory),
				PtrIn(MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID, U32, Mandatory))},
			{ID: MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_STEERING_ANCHOR_DESTROY_HANDLE, MLX5_IB_OBJECT_STEERING_ANCHOR, AccessDestroy, Mandatory))},
		},
		IsSupported: "mlx5_ib_shared_ft_allowed",
	},
}

// The size in bytes of a union of the firmware interface
// (include/linux/mlx5/mlx5_ifc.h).
const (
	sizeofSetAddCopyActionInAuto = 8 // union mlx5_ifc_set_add_copy_action_in_auto_bits
)

// mlx5CreateFlowMaxFlowActions is MLX5_IB_CREATE_FLOW_MAX_FLOW_ACTIONS of
// drivers/infiniband/hw/mlx5/fs.c.
const mlx5CreateFlowMaxFlowActions = 2

// mlx5FlowType is the array mlx5_ib_flow_type of
// drivers/infiniband/hw/mlx5/fs.c: what each type of flow brings along.
var mlx5FlowType = []Attr{
	MLX5_IB_FLOW_TYPE_NORMAL:      EnumID("MLX5_IB_FLOW_TYPE_NORMAL", U16), // the priority
	MLX5_IB_FLOW_TYPE_SNIFFER:     EnumID("MLX5_IB_FLOW_TYPE_SNIFFER", NoData),
	MLX5_IB_FLOW_TYPE_ALL_DEFAULT: EnumID("MLX5_IB_FLOW_TYPE_ALL_DEFAULT", NoData),
	MLX5_IB_FLOW_TYPE_MC_DEFAULT:  EnumID("MLX5_IB_FLOW_TYPE_MC_DEFAULT", NoData),
}
