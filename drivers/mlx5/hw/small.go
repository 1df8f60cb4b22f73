package hw

// Small is a small old device, for tests of limits and of programs that must do
// without: few objects and short queues, CQE version 0, no atomic operations, no
// memory windows, no device memory, no null key, completion queues that keep their
// size, and no commands of users' own.
var Small = newProfile(Profile{
	name:   "small",
	pages:  map[uint16]int32{1: 1, 2: 2},
	firsts: map[kind]firstNumbers{kindUAR: {driver: 0x10}, kindQP: {driver: 0x40}, kindMKey: {driver: 0x100}, kindSQ: {driver: 1 << 23}},
}, smallValues, map[string]string{
	"query_adapter_out.query_adapter_struct.vsd_contd_psid": "SIM0000000003",
	nodeDescription: "small, simulated",
}).WithMAC([6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, 0x20})

var smallValues = values{
	"cmd_hca_cap": {
		"log_max_qp":               6,
		"log_max_srq":              4,
		"log_max_rmp":              4,
		"log_max_cq":               6,
		"log_max_eq":               4,
		"log_max_mkey":             8,
		"log_max_pd":               5,
		"log_max_xrcd":             3,
		"log_max_transport_domain": 5,
		"log_max_rq":               4,
		"log_max_sq":               4,
		"log_max_tir":              4,
		"log_max_tis":              4,
		"log_max_mcg":              3,
		"max_qp_mcg":               4,

		"log_max_qp_sz":         8,
		"log_max_srq_sz":        6,
		"log_max_wq_sz":         6,
		"log_max_cq_sz":         8,
		"log_max_eq_sz":         16,
		"log_max_msg":           30,
		"log_max_mrw_sz":        40,
		"log_max_klm_list_size": 6,
		"max_indirection":       1,
		"fixed_buffer_size":     1,
		"max_wqe_sz_sq":         256,
		"max_wqe_sz_rq":         128,
		"log_max_stride_sz_rq":  6,
		"log_min_stride_sz_rq":  4,
		"log_max_stride_sz_sq":  6,
		"log_min_stride_sz_sq":  6,
		"log_max_ra_req_qp":     2,
		"log_max_ra_res_qp":     2,
		"local_ca_ack_delay":    16,

		"num_ports":        1,
		"port_type":        1,
		"gid_table_size":   4,
		"roce":             1,
		"eth_net_offloads": 1,
		"nic_flow_table":   1,

		"uar_4k":               1,
		"uar_sz":               5,
		"num_of_uars_per_page": 1,
		"log_pg_sz":            12,
		"bf":                   1,
		"log_bf_reg_size":      9,
		"device_frequency_mhz": 156,
		"device_frequency_khz": 156250,

		"rc":                              1,
		"uc":                              1,
		"ud":                              1,
		"xrc":                             1,
		"compact_address_vector":          1,
		"basic_cyclic_rcv_wqe":            1,
		"umr_modify_entity_size_disabled": 1,
	},
	"per_protocol_networking_offload_caps": {"csum_cap": 1, "vlan_cap": 1, "max_lso_cap": 16, "rss_ind_tbl_cap": 1, "wqe_inline_mode": 1},
	"roce_cap": {
		"l3_type":                 6,
		"roce_version":            4,
		"r_roce_dest_udp_port":    4791,
		"r_roce_max_src_udp_port": 65535,
		"r_roce_min_src_udp_port": 49152,
		"roce_address_table_size": 8,
	},
	"flow_table_nic_cap": nicFlowTables(map[string]uint64{"ft_support": 1, "max_ft_level": 3}, map[string]uint64{}),

	"query_issi_out":             {"supported_issi_dw0": 1<<0 | 1<<1},
	"query_special_contexts_out": {"resd_lkey": 0x400},
	"query_adapter_out":          {"query_adapter_struct.ieee_vendor_id": 0x2c9},
	"query_vport_state_out":      {"state": 1, "admin_state": 1},
	"nic_vport_context":          {"mtu": 1500},
	"pmtu_reg":                   {"max_mtu": 1522, "admin_mtu": 1522, "oper_mtu": 1522},
	"ptys_reg": { // 10 Gb/s
		"eth_proto_capability": 1 << 12,
		"eth_proto_admin":      1 << 12,
		"eth_proto_oper":       1 << 12,
	},
	"paos_reg": {"admin_status": 1, "oper_status": 1},
}
