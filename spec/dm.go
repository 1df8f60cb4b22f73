package spec

// objectDM declares UVERBS_OBJECT_DM as
// drivers/infiniband/core/uverbs_std_types_dm.c does.
var objectDM = Object{
	ID:    UVERBS_OBJECT_DM,
	Class: ClassIDR,
	Methods: []Method{
		{ID: UVERBS_METHOD_DM_ALLOC, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_ALLOC_DM_HANDLE, UVERBS_OBJECT_DM, AccessNew, Mandatory),
			PtrIn(UVERBS_ATTR_ALLOC_DM_LENGTH, U64, Mandatory),
			PtrIn(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, U32, Mandatory))},
		{ID: UVERBS_METHOD_DM_FREE, Destroy: true, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_FREE_DM_HANDLE, UVERBS_OBJECT_DM, AccessDestroy, Mandatory))},
	},
	Needs: []Op{OpDeallocDM},
}
