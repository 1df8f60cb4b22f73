package hw

// ConnectX6Dx is the device for programs: a 100 Gb/s RoCE adapter with the
// numbers of a ConnectX-6 Dx. It says yes to what this device carries out: RC, UC,
// UD and XRC queue pairs with shared receive queues, RDMA, atomic operations on 8
// bytes, memory windows of both types, device memory, memory that is paged on
// demand, multicast, and completion queues with resizing, moderation and entries of
// 128 bytes; raw packets with check sums, VLAN tags and segmentation, spread over
// queues by a hash, and steered by users' rules that receive, drop, count and mark. To
// what it does not carry out it says no: dynamically connected transport, tag
// matching, striding receive queues, rules that change headers, packet pacing, and
// scattering to or compressing completions.
var ConnectX6Dx = newProfile(Profile{
	name:  "connectx6dx",
	pages: map[uint16]int32{1: 4, 2: 8},
	firsts: map[kind]firstNumbers{
		kindUAR:  {driver: 0x10}, // the pages before belong to the initialization segment
		kindQP:   {driver: 0x40},
		kindMKey: {driver: 0x100},
		kindSQ:   {driver: 1 << 23}, // a doorbell names a queue pair or one of these
	},
}, connectX6DxValues, map[string]string{
	"query_adapter_out.query_adapter_struct.vsd_contd_psid": "SIM0000000002",
	nodeDescription: "ConnectX-6 Dx, simulated",
}).WithMAC([6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, 0x10})

var connectX6DxValues = values{
	"cmd_hca_cap": {
		// How many there are.
		"log_max_qp":               17,
		"log_max_srq":              23,
		"log_max_rmp":              23,
		"log_max_cq":               24,
		"log_max_eq":               6,
		"log_max_mkey":             24,
		"log_max_pd":               23,
		"log_max_xrcd":             23,
		"log_max_transport_domain": 23,
		"log_max_rq":               16,
		"log_max_sq":               16,
		"log_max_tir":              16,
		"log_max_tis":              16,
		"log_max_rqt":              8,
		"log_max_mcg":              21,
		"max_qp_mcg":               240,
		"log_max_uctx":             16,
		"log_max_umem":             23,
		"log_max_l2_table":         7,
		"log_max_vlan_list":        9,
		"log_max_current_mc_list":  7,
		"log_max_current_uc_list":  7,

		// How large they are.
		"log_max_qp_sz":         15,
		"log_max_srq_sz":        15,
		"log_max_wq_sz":         15,
		"log_max_cq_sz":         22,
		"log_max_eq_sz":         22,
		"log_max_rqt_size":      7,
		"log_max_msg":           30,
		"log_max_mrw_sz":        40,
		"log_max_klm_list_size": 16,
		"log_max_bsf_list_size": 4,
		"max_indirection":       4,
		"fixed_buffer_size":     1,
		"max_wqe_sz_sq":         1024,
		"max_wqe_sz_rq":         512,
		"max_wqe_sz_sq_dc":      512,
		"log_max_stride_sz_rq":  6,
		"log_min_stride_sz_rq":  4,
		"log_max_stride_sz_sq":  6,
		"log_min_stride_sz_sq":  6,
		"log_max_tis_per_sq":    3,
		"log_max_ra_req_qp":     4,
		"log_max_ra_res_qp":     4,
		"local_ca_ack_delay":    16,

		// The port.
		"num_ports":        1,
		"port_type":        1,
		"gid_table_size":   4,
		"roce":             1,
		"eth_net_offloads": 1,
		"nic_flow_table":   1,

		// Registers and the clock.
		"uar_4k":               1,
		"uar_sz":               5,
		"num_of_uars_per_page": 1,
		"log_pg_sz":            12,
		"bf":                   1,
		"log_bf_reg_size":      9,
		"device_frequency_mhz": 1000,
		"device_frequency_khz": 1000000,
		"driver_version":       1,

		// Queue pairs.
		"rc":                     1,
		"uc":                     1,
		"ud":                     1,
		"xrc":                    1,
		"compact_address_vector": 1,
		"block_lb_mc":            1,
		"basic_cyclic_rcv_wqe":   1,
		"atomic":                 1,

		// Completion queues.
		"cqe_version":    1,
		"cq_oi":          1,
		"cq_resize":      1,
		"cq_moderation":  1,
		"cqe_128_always": 1,

		// Memory.
		"imaicl":                          1,
		"null_mkey":                       1,
		"dump_fill_mkey":                  1,
		"device_memory":                   1,
		"umr_fence":                       1,
		"umr_extended_translation_offset": 1,
		"pg":                              1,

		// Counters.
		"max_qp_cnt":                64,
		"out_of_seq_cnt":            1,
		"retransmission_q_counters": 1,
		"enhanced_error_q_counters": 1,
		"vport_counters":            1,

		// Users' own firmware commands.
		"uctx_cap":                             7,
		"umem_uid_0":                           1,
		"event_cap":                            1,
		"shared_object_to_user_object_allowed": 1,
	},
	"per_protocol_networking_offload_caps": {
		"csum_cap":              1,
		"vlan_cap":              1,
		"max_lso_cap":           16,
		"rss_ind_tbl_cap":       7,
		"self_lb_en_modifiable": 1,
		"wqe_inline_mode":       1,
	},
	"atomic_caps": {
		"atomic_operations":                         3, // compare and swap, fetch and add
		"atomic_size_qp":                            8,
		"supported_atomic_req_8B_endianness_mode_1": 1,
	},
	"odp_cap": {
		"transport_page_fault_scheme_cap.rc_odp_caps.send":         1,
		"transport_page_fault_scheme_cap.rc_odp_caps.receive":      1,
		"transport_page_fault_scheme_cap.rc_odp_caps.write":        1,
		"transport_page_fault_scheme_cap.rc_odp_caps.read":         1,
		"transport_page_fault_scheme_cap.rc_odp_caps.atomic":       1,
		"transport_page_fault_scheme_cap.rc_odp_caps.srq_receive":  1,
		"transport_page_fault_scheme_cap.ud_odp_caps.send":         1,
		"transport_page_fault_scheme_cap.xrc_odp_caps.send":        1,
		"transport_page_fault_scheme_cap.xrc_odp_caps.write":       1,
		"transport_page_fault_scheme_cap.xrc_odp_caps.read":        1,
		"transport_page_fault_scheme_cap.xrc_odp_caps.atomic":      1,
		"transport_page_fault_scheme_cap.xrc_odp_caps.srq_receive": 1,
	},
	"roce_cap": {
		"l3_type":                 6,
		"roce_version":            4,
		"r_roce_dest_udp_port":    4791,
		"r_roce_max_src_udp_port": 65535,
		"r_roce_min_src_udp_port": 49152,
		"roce_address_table_size": 255,
	},
	"device_mem_cap": {
		"memic":                        1,
		"log_min_memic_alloc_size":     6,
		"log_max_memic_addr_alignment": 6,
		"memic_bar_start_addr":         0x1000000,
		"memic_bar_size":               0x40000,
		"max_memic_size":               0x20000,
		"memic_operations":             3,
	},
	"device_event_cap": {
		// Completions, and what queue pairs and shared receive queues tell.
		"user_affiliated_events":   0x1b00af,
		"user_unaffiliated_events": 1 << 9, // the port
	},
	"flow_table_nic_cap": nicFlowTables(map[string]uint64{
		"ft_support":                 1,
		"flow_counter":               1,
		"flow_modify_en":             1,
		"modify_root":                1,
		"identified_miss_table_mode": 1,
		"flow_table_modify":          1,
		"log_max_ft_size":            20,
		"max_ft_level":               64,
		"log_max_ft_num":             24,
		"log_max_flow":               20,
		"log_max_flow_counter":       4,
		"log_max_destination":        8,
	}, map[string]uint64{
		"nic_rx_multi_path_tirs": 1,
	}),

	"query_issi_out": {"supported_issi_dw0": 1<<0 | 1<<1},
	"query_special_contexts_out": {
		"dump_fill_mkey":              0x600,
		"resd_lkey":                   0x400,
		"null_mkey":                   0x500,
		"terminate_scatter_list_mkey": 0x700,
	},
	"query_adapter_out":     {"query_adapter_struct.ieee_vendor_id": 0x2c9},
	"query_vport_state_out": {"state": 1, "admin_state": 1},
	"nic_vport_context":     {"mtu": 1500},
	"pmtu_reg":              {"max_mtu": 9978, "admin_mtu": 1522, "oper_mtu": 1522},
	"ptys_reg": { // 100 Gb/s on four lanes
		"ext_eth_proto_capability": 1 << 9,
		"ext_eth_proto_admin":      1 << 9,
		"ext_eth_proto_oper":       1 << 9,
	},
	"paos_reg": {"admin_status": 1, "oper_status": 1},
}
