package spec

import "syscall"

// mlx5Devx declares what the list mlx5_ib_devx_defs of
// drivers/infiniband/hw/mlx5/devx.c does, in its order.
var mlx5Devx = []Object{
	{
		ID: MLX5_IB_OBJECT_DEVX,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_DEVX_OTHER, Attrs: Attrs(
				PtrIn(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, MinSize(sizeofGeneralObjInCmdHdr), Mandatory, AllocAndCopy),
				PtrOut(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, MinSize(sizeofGeneralObjOutCmdHdr), Mandatory))},
			{ID: MLX5_IB_METHOD_DEVX_QUERY_UAR, Attrs: Attrs(
				PtrIn(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, U32, Mandatory),
				PtrOut(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, U32, Mandatory))},
			{ID: MLX5_IB_METHOD_DEVX_QUERY_EQN, Attrs: Attrs(
				PtrIn(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, U32, Mandatory),
				PtrOut(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, U32, Mandatory))},
			{ID: MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, Attrs: Attrs(
				FDAttr(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, AccessRead, Mandatory),
				IDRAttr(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ, AccessRead),
				PtrIn(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, MinSize(2), Mandatory, AllocAndCopy),
				PtrIn(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, U64),
				PtrIn(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, U32))},
		},
		IsSupported: "devx_is_supported",
	},
	{
		ID:    MLX5_IB_OBJECT_DEVX_OBJ,
		Class: ClassIDR,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_DEVX_OBJ_CREATE, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ, AccessNew, Mandatory),
				PtrIn(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, MinSize(sizeofGeneralObjInCmdHdr), Mandatory, AllocAndCopy),
				PtrOut(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, MinSize(sizeofGeneralObjOutCmdHdr), Mandatory))},
			{ID: MLX5_IB_METHOD_DEVX_OBJ_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ, AccessDestroy, Mandatory))},
			{ID: MLX5_IB_METHOD_DEVX_OBJ_MODIFY, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, IDRAnyObject, AccessRead, Mandatory),
				PtrIn(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, MinSize(sizeofGeneralObjInCmdHdr), Mandatory, AllocAndCopy),
				PtrOut(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, MinSize(sizeofGeneralObjOutCmdHdr), Mandatory))},
			{ID: MLX5_IB_METHOD_DEVX_OBJ_QUERY, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, IDRAnyObject, AccessRead, Mandatory),
				PtrIn(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, MinSize(sizeofGeneralObjInCmdHdr), Mandatory, AllocAndCopy),
				PtrOut(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, MinSize(sizeofGeneralObjOutCmdHdr), Mandatory))},
			{ID: MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, IDRAnyObject, AccessRead, Mandatory),
				PtrIn(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, MinSize(sizeofGeneralObjInCmdHdr), Mandatory, AllocAndCopy),
				ConstIn(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, "u16", Mandatory),
				FDAttr(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, AccessRead, Mandatory),
				PtrIn(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, U64, Mandatory))},
		},
		IsSupported: "devx_is_supported",
	},
	{
		ID:    MLX5_IB_OBJECT_DEVX_UMEM,
		Class: ClassIDR,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_DEVX_UMEM_REG, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, MLX5_IB_OBJECT_DEVX_UMEM, AccessNew, Mandatory),
				PtrIn(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, U64, Mandatory),
				PtrIn(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, U64, Mandatory),
				RawFDAttr(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD),
				FlagsIn(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, "enum ib_access_flags"),
				ConstIn(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, "u64"),
				PtrOut(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, U32, Mandatory))},
			{ID: MLX5_IB_METHOD_DEVX_UMEM_DEREG, Destroy: true, Attrs: Attrs(
				IDRAttr(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, MLX5_IB_OBJECT_DEVX_UMEM, AccessDestroy, Mandatory))},
		},
		IsSupported: "devx_is_supported",
	},
	{
		ID:    MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
		Class: ClassFD, FDName: "[devx_async_cmd]", FDFlags: syscall.O_RDONLY,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC, Attrs: Attrs(
				FDAttr(MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, AccessNew, Mandatory))},
		},
		IsSupported: "devx_is_supported",
	},
	{
		ID:    MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
		Class: ClassFD, FDName: "[devx_async_event]", FDFlags: syscall.O_RDONLY,
		Methods: []Method{
			{ID: MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC, Attrs: Attrs(
				FDAttr(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, AccessNew, Mandatory),
				FlagsIn(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, "enum mlx5_ib_uapi_devx_create_event_channel_flags", Mandatory))},
		},
		IsSupported: "devx_is_supported",
	},
}

// The sizes in bytes of structs of the firmware interface
// (include/linux/mlx5/mlx5_ifc.h).
const (
	sizeofGeneralObjInCmdHdr  = 16 // struct mlx5_ifc_general_obj_in_cmd_hdr_bits
	sizeofGeneralObjOutCmdHdr = 16 // struct mlx5_ifc_general_obj_out_cmd_hdr_bits
)
