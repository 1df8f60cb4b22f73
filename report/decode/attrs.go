package decode

import (
	"strings"

	"uverbsim/spec"
)

// attrs has the forms of attributes that are more than what their type says.
var attrs = map[string]form{
	"UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT":   flags("ib_uverbs_core_support"),
	"UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT": flags("ib_uverbs_core_support"),
	"UVERBS_ATTR_REG_DMABUF_MR_FD":           signed,
	"UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS":     flags("ib_uverbs_access_flags"),
	"UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS": flags("ib_uverbs_access_flags"),
	"MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS":      flags("ib_uverbs_access_flags"),

	"MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA": kind(Hex),
	"MLX5_IB_ATTR_GET_DATA_DIRECT_SYSFS_PATH":  text,
	"MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP":   kind(Hex),
	"MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM": signed,
	"MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID":  kind(Hex),
	"MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE": kind(Hex),
}

// attrTypes has the C types of attributes whose definitions tell only how long
// they are.
var attrTypes = map[string]string{
	"UVERBS_ATTR_ADVISE_MR_SGE_LIST":                    "struct ib_uverbs_sge[]",
	"UVERBS_ATTR_INFO_HANDLES_LIST":                     "u32[]",
	"UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES":          "struct ib_uverbs_gid_entry[]",
	"UVERBS_ATTR_READ_COUNTERS_BUFF":                    "u64[]",
	"MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET": "u32[]",
	"MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST":   "u16[]",
}

// attrValue reads the bytes of an attribute whose definition is a. ctype is the
// C type that the call gives it (see Buffers), "" if the definition tells.
func attrValue(a *spec.Attr, ctype string, b []byte) Value {
	if ctype == "" {
		ctype = attrTypes[a.Name]
	}
	if ctype == "" {
		ctype = a.CType
	}
	if f := attrs[a.Name]; f != nil && (isInteger(len(b)) || ctype == "") {
		return f(b)
	}
	if e, ok := strings.CutPrefix(ctype, "enum "); ok && isInteger(len(b)) {
		// UVERBS_ATTR_FLAGS_IN takes 4 bytes too, UVERBS_ATTR_CONST_IN only 8.
		if a.MinLen < a.Len {
			return flags(e)(b)
		}
		return enum(e)(b)
	}
	return Of(ctype, a.Name, b)
}
