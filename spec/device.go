package spec

// objectDevice declares UVERBS_OBJECT_DEVICE as
// drivers/infiniband/core/uverbs_std_types_device.c does.
var objectDevice = Object{
	ID: UVERBS_OBJECT_DEVICE,
	Methods: []Method{
		{ID: UVERBS_METHOD_GET_CONTEXT, Attrs: Attrs(
			PtrOut(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, U32),
			PtrOut(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, U64),
			UHW())},
		{ID: UVERBS_METHOD_INVOKE_WRITE, Attrs: Attrs(
			ConstIn(UVERBS_ATTR_WRITE_CMD, "enum ib_uverbs_write_cmds", Mandatory),
			PtrIn(UVERBS_ATTR_CORE_IN, MinSize(4)),
			PtrOut(UVERBS_ATTR_CORE_OUT, MinSize(0)),
			UHW())},
		{ID: UVERBS_METHOD_INFO_HANDLES, Attrs: Attrs(
			ConstIn(UVERBS_ATTR_INFO_OBJECT_ID, "enum uverbs_default_objects", Mandatory),
			PtrOut(UVERBS_ATTR_INFO_TOTAL_HANDLES, U32),
			PtrOut(UVERBS_ATTR_INFO_HANDLES_LIST, MinSize(4)))},
		{ID: UVERBS_METHOD_QUERY_PORT, Attrs: Attrs(
			ConstIn(UVERBS_ATTR_QUERY_PORT_PORT_NUM, "u8", Mandatory),
			PtrOut(UVERBS_ATTR_QUERY_PORT_RESP, Struct[QueryPortRespEx]("ActiveSpeedEx"), Mandatory))},
		{ID: UVERBS_METHOD_QUERY_CONTEXT, Attrs: Attrs(
			PtrOut(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, U32),
			PtrOut(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, U64))},
		{ID: UVERBS_METHOD_QUERY_GID_TABLE, Attrs: Attrs(
			ConstIn(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, "u64", Mandatory),
			FlagsIn(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, "u32"),
			PtrOut(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, MinSize(0), Mandatory),
			PtrOut(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, U64, Mandatory))},
		{ID: UVERBS_METHOD_QUERY_GID_ENTRY, Attrs: Attrs(
			ConstIn(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, "u32", Mandatory),
			ConstIn(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, "u32", Mandatory),
			FlagsIn(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, "u32", Mandatory),
			PtrOut(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, Struct[GIDEntry]("NetdevIfindex"), Mandatory))},
	},
}
