package spec

// objectQP declares UVERBS_OBJECT_QP as
// drivers/infiniband/core/uverbs_std_types_qp.c does.
var objectQP = Object{
	ID:    UVERBS_OBJECT_QP,
	Class: ClassIDR,
	Methods: []Method{
		{ID: UVERBS_METHOD_QP_CREATE, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_CREATE_QP_HANDLE, UVERBS_OBJECT_QP, AccessNew, Mandatory),
			IDRAttr(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, UVERBS_OBJECT_XRCD, AccessRead),
			IDRAttr(UVERBS_ATTR_CREATE_QP_PD_HANDLE, UVERBS_OBJECT_PD, AccessRead),
			IDRAttr(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, UVERBS_OBJECT_SRQ, AccessRead),
			IDRAttr(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, UVERBS_OBJECT_CQ, AccessRead),
			IDRAttr(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, UVERBS_OBJECT_CQ, AccessRead),
			IDRAttr(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, UVERBS_OBJECT_RWQ_IND_TBL, AccessRead),
			PtrIn(UVERBS_ATTR_CREATE_QP_USER_HANDLE, U64, Mandatory),
			PtrIn(UVERBS_ATTR_CREATE_QP_CAP, Struct[QPCap]("MaxInlineData"), Mandatory),
			ConstIn(UVERBS_ATTR_CREATE_QP_TYPE, "enum ib_uverbs_qp_type", Mandatory),
			FlagsIn(UVERBS_ATTR_CREATE_QP_FLAGS, "enum ib_uverbs_qp_create_flags"),
			PtrIn(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, U32),
			FDAttr(UVERBS_ATTR_CREATE_QP_EVENT_FD, UVERBS_OBJECT_ASYNC_EVENT, AccessRead),
			PtrOut(UVERBS_ATTR_CREATE_QP_RESP_CAP, Struct[QPCap]("MaxInlineData"), Mandatory),
			PtrOut(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, U32, Mandatory),
			UHW())},
		{ID: UVERBS_METHOD_QP_DESTROY, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_DESTROY_QP_HANDLE, UVERBS_OBJECT_QP, AccessDestroy, Mandatory),
			PtrOut(UVERBS_ATTR_DESTROY_QP_RESP, TypeOf[DestroyQPResp](), Mandatory))},
	},
	Needs: []Op{OpDestroyQP},
}
