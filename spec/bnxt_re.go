package spec

// bnxtReObjects declares what the driver bnxt_re adds, in the order of
// drivers/infiniband/hw/bnxt_re/ib_verbs.c.
var bnxtReObjects = []Object{
	{
		ID:    BNXT_RE_OBJECT_ALLOC_PAGE,
		Class: ClassIDR,
		Methods: []Method{
			{ID: BNXT_RE_METHOD_ALLOC_PAGE, Attrs: Attrs(
				IDRAttr(BNXT_RE_ALLOC_PAGE_HANDLE, BNXT_RE_OBJECT_ALLOC_PAGE, AccessNew, Mandatory),
				ConstIn(BNXT_RE_ALLOC_PAGE_TYPE, "enum bnxt_re_alloc_page_type", Mandatory),
				PtrOut(BNXT_RE_ALLOC_PAGE_MMAP_OFFSET, U64, Mandatory),
				PtrOut(BNXT_RE_ALLOC_PAGE_MMAP_LENGTH, U32, Mandatory),
				PtrOut(BNXT_RE_ALLOC_PAGE_DPI, U32, Mandatory))},
			{ID: BNXT_RE_METHOD_DESTROY_PAGE, Destroy: true, Attrs: Attrs(
				IDRAttr(BNXT_RE_DESTROY_PAGE_HANDLE, BNXT_RE_OBJECT_ALLOC_PAGE, AccessDestroy, Mandatory))},
		},
	},
	{
		ID: BNXT_RE_OBJECT_NOTIFY_DRV,
		Methods: []Method{
			{ID: BNXT_RE_METHOD_NOTIFY_DRV, Attrs: Attrs()},
		},
	},
	{
		ID:    BNXT_RE_OBJECT_GET_TOGGLE_MEM,
		Class: ClassIDR,
		Methods: []Method{
			{ID: BNXT_RE_METHOD_GET_TOGGLE_MEM, Attrs: Attrs(
				IDRAttr(BNXT_RE_TOGGLE_MEM_HANDLE, BNXT_RE_OBJECT_GET_TOGGLE_MEM, AccessNew, Mandatory),
				ConstIn(BNXT_RE_TOGGLE_MEM_TYPE, "enum bnxt_re_get_toggle_mem_type", Mandatory),
				PtrIn(BNXT_RE_TOGGLE_MEM_RES_ID, U32, Mandatory),
				PtrOut(BNXT_RE_TOGGLE_MEM_MMAP_PAGE, U64, Mandatory),
				PtrOut(BNXT_RE_TOGGLE_MEM_MMAP_OFFSET, U32, Mandatory),
				PtrOut(BNXT_RE_TOGGLE_MEM_MMAP_LENGTH, U32, Mandatory))},
			{ID: BNXT_RE_METHOD_RELEASE_TOGGLE_MEM, Destroy: true, Attrs: Attrs(
				IDRAttr(BNXT_RE_RELEASE_TOGGLE_MEM_HANDLE, BNXT_RE_OBJECT_GET_TOGGLE_MEM, AccessDestroy, Mandatory))},
		},
	},
}
