package spec

// objectCQ declares UVERBS_OBJECT_CQ as
// drivers/infiniband/core/uverbs_std_types_cq.c does.
var objectCQ = Object{
	ID:    UVERBS_OBJECT_CQ,
	Class: ClassIDR,
	Methods: []Method{
		{ID: UVERBS_METHOD_CQ_CREATE, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_CREATE_CQ_HANDLE, UVERBS_OBJECT_CQ, AccessNew, Mandatory),
			PtrIn(UVERBS_ATTR_CREATE_CQ_CQE, U32, Mandatory),
			PtrIn(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, U64, Mandatory),
			FDAttr(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, UVERBS_OBJECT_COMP_CHANNEL, AccessRead),
			PtrIn(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, U32, Mandatory),
			FlagsIn(UVERBS_ATTR_CREATE_CQ_FLAGS, "enum ib_uverbs_ex_create_cq_flags"),
			PtrOut(UVERBS_ATTR_CREATE_CQ_RESP_CQE, U32, Mandatory),
			FDAttr(UVERBS_ATTR_CREATE_CQ_EVENT_FD, UVERBS_OBJECT_ASYNC_EVENT, AccessRead),
			UHW())},
		{ID: UVERBS_METHOD_CQ_DESTROY, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_DESTROY_CQ_HANDLE, UVERBS_OBJECT_CQ, AccessDestroy, Mandatory),
			PtrOut(UVERBS_ATTR_DESTROY_CQ_RESP, TypeOf[DestroyCQResp](), Mandatory))},
	},
	Needs: []Op{OpDestroyCQ},
}
