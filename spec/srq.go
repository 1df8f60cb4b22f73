package spec

// objectSRQ declares UVERBS_OBJECT_SRQ as
// drivers/infiniband/core/uverbs_std_types_srq.c does.
var objectSRQ = Object{
	ID:    UVERBS_OBJECT_SRQ,
	Class: ClassIDR,
	Methods: []Method{
		{ID: UVERBS_METHOD_SRQ_CREATE, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_CREATE_SRQ_HANDLE, UVERBS_OBJECT_SRQ, AccessNew, Mandatory),
			IDRAttr(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, UVERBS_OBJECT_PD, AccessRead, Mandatory),
			ConstIn(UVERBS_ATTR_CREATE_SRQ_TYPE, "enum ib_uverbs_srq_type", Mandatory),
			PtrIn(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, U64, Mandatory),
			PtrIn(UVERBS_ATTR_CREATE_SRQ_MAX_WR, U32, Mandatory),
			PtrIn(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, U32, Mandatory),
			PtrIn(UVERBS_ATTR_CREATE_SRQ_LIMIT, U32, Mandatory),
			IDRAttr(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, UVERBS_OBJECT_XRCD, AccessRead),
			IDRAttr(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, UVERBS_OBJECT_CQ, AccessRead),
			PtrIn(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, U32),
			FDAttr(UVERBS_ATTR_CREATE_SRQ_EVENT_FD, UVERBS_OBJECT_ASYNC_EVENT, AccessRead),
			PtrOut(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, U32, Mandatory),
			PtrOut(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, U32, Mandatory),
			PtrOut(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, U32),
			UHW())},
		{ID: UVERBS_METHOD_SRQ_DESTROY, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_DESTROY_SRQ_HANDLE, UVERBS_OBJECT_SRQ, AccessDestroy, Mandatory),
			PtrOut(UVERBS_ATTR_DESTROY_SRQ_RESP, TypeOf[DestroySRQResp](), Mandatory))},
	},
	Needs: []Op{OpDestroySRQ},
}
