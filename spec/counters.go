package spec

// objectCounters declares UVERBS_OBJECT_COUNTERS as
// drivers/infiniband/core/uverbs_std_types_counters.c does.
var objectCounters = Object{
	ID:    UVERBS_OBJECT_COUNTERS,
	Class: ClassIDR,
	Methods: []Method{
		{ID: UVERBS_METHOD_COUNTERS_CREATE, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS, AccessNew, Mandatory))},
		{ID: UVERBS_METHOD_COUNTERS_DESTROY, Destroy: true, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS, AccessDestroy, Mandatory))},
		{ID: UVERBS_METHOD_COUNTERS_READ, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_READ_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS, AccessRead, Mandatory),
			PtrOut(UVERBS_ATTR_READ_COUNTERS_BUFF, MinSize(0), Mandatory),
			FlagsIn(UVERBS_ATTR_READ_COUNTERS_FLAGS, "enum ib_uverbs_read_counters_flags"))},
	},
	Needs: []Op{OpDestroyCounters},
}
