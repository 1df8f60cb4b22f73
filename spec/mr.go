package spec

// objectMR declares UVERBS_OBJECT_MR as
// drivers/infiniband/core/uverbs_std_types_mr.c does.
var objectMR = Object{
	ID:    UVERBS_OBJECT_MR,
	Class: ClassIDR,
	Methods: []Method{
		{ID: UVERBS_METHOD_ADVISE_MR, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, UVERBS_OBJECT_PD, AccessRead, Mandatory),
			ConstIn(UVERBS_ATTR_ADVISE_MR_ADVICE, "enum ib_uverbs_advise_mr_advice", Mandatory),
			FlagsIn(UVERBS_ATTR_ADVISE_MR_FLAGS, "enum ib_uverbs_advise_mr_flag", Mandatory),
			PtrIn(UVERBS_ATTR_ADVISE_MR_SGE_LIST, MinSize(SGESize), Mandatory, AllocAndCopy))},
		{ID: UVERBS_METHOD_DM_MR_REG, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_REG_DM_MR_HANDLE, UVERBS_OBJECT_MR, AccessNew, Mandatory),
			PtrIn(UVERBS_ATTR_REG_DM_MR_OFFSET, U64, Mandatory),
			PtrIn(UVERBS_ATTR_REG_DM_MR_LENGTH, U64, Mandatory),
			IDRAttr(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, UVERBS_OBJECT_PD, AccessRead, Mandatory),
			FlagsIn(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, "enum ib_access_flags"),
			IDRAttr(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, UVERBS_OBJECT_DM, AccessRead, Mandatory),
			PtrOut(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, U32, Mandatory),
			PtrOut(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, U32, Mandatory))},
		{ID: UVERBS_METHOD_MR_DESTROY, Destroy: true, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_DESTROY_MR_HANDLE, UVERBS_OBJECT_MR, AccessDestroy, Mandatory))},
		{ID: UVERBS_METHOD_QUERY_MR, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_QUERY_MR_HANDLE, UVERBS_OBJECT_MR, AccessRead, Mandatory),
			PtrOut(UVERBS_ATTR_QUERY_MR_RESP_RKEY, U32, Mandatory),
			PtrOut(UVERBS_ATTR_QUERY_MR_RESP_LKEY, U32, Mandatory),
			PtrOut(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, U64, Mandatory),
			PtrOut(UVERBS_ATTR_QUERY_MR_RESP_IOVA, U64))},
		{ID: UVERBS_METHOD_REG_DMABUF_MR, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, UVERBS_OBJECT_MR, AccessNew, Mandatory),
			IDRAttr(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, UVERBS_OBJECT_PD, AccessRead, Mandatory),
			PtrIn(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, U64, Mandatory),
			PtrIn(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, U64, Mandatory),
			PtrIn(UVERBS_ATTR_REG_DMABUF_MR_IOVA, U64, Mandatory),
			PtrIn(UVERBS_ATTR_REG_DMABUF_MR_FD, U32, Mandatory),
			FlagsIn(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, "enum ib_access_flags"),
			PtrOut(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, U32, Mandatory),
			PtrOut(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, U32, Mandatory))},
	},
	Needs: []Op{OpDeregMR},
}
