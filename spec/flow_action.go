package spec

// objectFlowAction declares UVERBS_OBJECT_FLOW_ACTION as
// drivers/infiniband/core/uverbs_std_types_flow_action.c does.
var objectFlowAction = Object{
	ID:    UVERBS_OBJECT_FLOW_ACTION,
	Class: ClassIDR,
	Methods: []Method{
		{ID: UVERBS_METHOD_FLOW_ACTION_DESTROY, Destroy: true, Attrs: Attrs(
			IDRAttr(UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, UVERBS_OBJECT_FLOW_ACTION, AccessDestroy, Mandatory))},
	},
	Needs: []Op{OpDestroyFlowAction},
}
