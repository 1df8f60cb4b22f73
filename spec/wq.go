package spec

// objectWQ declares UVERBS_OBJECT_WQ as
// drivers/infiniband/core/uverbs_std_types_wq.c does.
var objectWQ = Object{
	ID:    UVERBS_OBJECT_WQ,
	Class: ClassIDR,
	Methods: []Method{
		{ID: UVERBS_METHOD_WQ_CREATE, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_CREATE_WQ_HANDLE, UVERBS_OBJECT_WQ, AccessNew, Mandatory),
			IDRAttr(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, UVERBS_OBJECT_PD, AccessRead, Mandatory),
			ConstIn(UVERBS_ATTR_CREATE_WQ_TYPE, "enum ib_wq_type", Mandatory),
			PtrIn(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, U64, Mandatory),
			PtrIn(UVERBS_ATTR_CREATE_WQ_MAX_WR, U32, Mandatory),
			PtrIn(UVERBS_ATTR_CREATE_WQ_MAX_SGE, U32, Mandatory),
			FlagsIn(UVERBS_ATTR_CREATE_WQ_FLAGS, "enum ib_uverbs_wq_flags", Mandatory),
			IDRAttr(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, UVERBS_OBJECT_CQ, AccessRead),
			FDAttr(UVERBS_ATTR_CREATE_WQ_EVENT_FD, UVERBS_OBJECT_ASYNC_EVENT, AccessRead),
			PtrOut(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, U32, Mandatory),
			PtrOut(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, U32, Mandatory),
			PtrOut(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, U32),
			UHW())},
		{ID: UVERBS_METHOD_WQ_DESTROY, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_DESTROY_WQ_HANDLE, UVERBS_OBJECT_WQ, AccessDestroy, Mandatory),
			PtrOut(UVERBS_ATTR_DESTROY_WQ_RESP, U32, Mandatory))},
	},
	Needs: []Op{OpDestroyWQ},
}
