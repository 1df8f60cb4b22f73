package spec

// Tail is an array that follows a struct in its buffer.
type Tail struct {
	Name   string
	Type   string // of an element: "u32", "struct ib_uverbs_wc"
	Count  string // how many elements, in terms of the struct's members
	Stride string // bytes from one element to the next, "" for the element's size
	Is     Meaning

	// Variants are the structs that an element may be, if they differ.
	Variants []string
}

// TailsOf returns the arrays that follow a C struct, in their order, by the name
// that an attribute's CType has.
func TailsOf(ctype string) []Tail { return tails[trimStruct(ctype)] }

// tails are the arrays without a length at the ends of the UAPI's structs, with
// what drivers/infiniband/core/uverbs_cmd.c takes behind them.
var tails = map[string][]Tail{
	"ib_uverbs_create_flow": {
		{
			Name: "flow_specs", Type: "struct ib_uverbs_flow_spec_hdr", Count: "flow_attr.num_of_specs", Stride: "flow_specs[i].size",
			Variants: []string{
				"struct ib_uverbs_flow_spec_eth", "struct ib_uverbs_flow_spec_ipv4", "struct ib_uverbs_flow_spec_ipv6",
				"struct ib_uverbs_flow_spec_tcp_udp", "struct ib_uverbs_flow_spec_esp", "struct ib_uverbs_flow_spec_gre",
				"struct ib_uverbs_flow_spec_mpls", "struct ib_uverbs_flow_spec_tunnel", "struct ib_uverbs_flow_spec_action_tag",
				"struct ib_uverbs_flow_spec_action_drop", "struct ib_uverbs_flow_spec_action_handle",
				"struct ib_uverbs_flow_spec_action_count",
			},
		},
	},
	"ib_uverbs_ex_create_rwq_ind_table": {
		{Name: "wq_handles", Type: "u32", Count: "1 << log_ind_tbl_size", Is: objects(UVERBS_OBJECT_WQ)},
	},
	"ib_uverbs_poll_cq_resp": {{Name: "wc", Type: "struct ib_uverbs_wc", Count: "count"}},
	"ib_uverbs_post_recv": {
		{Name: "recv_wr", Type: "struct ib_uverbs_recv_wr", Count: "wr_count", Stride: "wqe_size"},
		{Name: "sg_list", Type: "struct ib_uverbs_sge", Count: "sge_count"},
	},
	"ib_uverbs_post_send": {
		{Name: "send_wr", Type: "struct ib_uverbs_send_wr", Count: "wr_count", Stride: "wqe_size"},
		{Name: "sg_list", Type: "struct ib_uverbs_sge", Count: "sge_count"},
	},
	"ib_uverbs_post_srq_recv": {
		{Name: "recv", Type: "struct ib_uverbs_recv_wr", Count: "wr_count", Stride: "wqe_size"},
		{Name: "sg_list", Type: "struct ib_uverbs_sge", Count: "sge_count"},
	},
	"mlx5_ib_create_flow":               {{Name: "data", Type: "struct mlx5_ib_flow_counters_data", Count: "ncounters_data"}},
	"mlx5_ib_uapi_devx_async_cmd_hdr":   {{Name: "out_data", Type: "u8", Count: "what was read less 8"}},
	"mlx5_ib_uapi_devx_async_event_hdr": {{Name: "out_data", Type: "u8", Count: "what was read less 8"}},
}

// ElementOf returns the C type of an element of an attribute that is an array,
// "" for all others.
func ElementOf(attr string) string { return elements[attr] }

var elements = map[string]string{
	"UVERBS_ATTR_ADVISE_MR_SGE_LIST":                    "struct ib_uverbs_sge",
	"UVERBS_ATTR_INFO_HANDLES_LIST":                     "u32",
	"UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES":          "struct ib_uverbs_gid_entry",
	"UVERBS_ATTR_READ_COUNTERS_BUFF":                    "u64",
	"MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET": "u32",
	"MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST":   "u16",
}
