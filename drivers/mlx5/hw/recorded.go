package hw

import (
	"maps"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Recorded is the device that the reference recordings were made on: a RoCE
// adapter with one active port, CQE version 1, UARs of 4 KiB, DEVX, no memory
// key cache and no UMR.
var Recorded = newProfile(Profile{
	name:  "recorded",
	pages: map[uint16]int32{1: 4, 2: 8},
	firsts: map[kind]firstNumbers{
		kindUAR:  {driver: 0x10}, // the pages before belong to the initialization segment
		kindQP:   {driver: 0x40},
		kindMKey: {driver: 0x100},
		// A DEVX user's begin elsewhere, so that what the driver has made does not show.
		kindTIS:           {user: 0x1000},
		kindGeneralObject: {user: 0x1000},
	},
	beyond: []kind{kindSQ},
	rows:   recordedRows,
}, recordedValues, map[string]string{
	"query_adapter_out.query_adapter_struct.vsd_contd_psid": "SIM0000000001",
	nodeDescription: "mlx5virt",
})

// recordedRows are the commands whose input the recorded device did not look
// into.
var recordedRows = map[uint16]row{
	ifc.MLX5_CMD_OP_CREATE_MKEY:           {initialized, createMKeyUnchecked},
	ifc.MLX5_CMD_OP_CREATE_QP:             {initialized, createQPUnchecked},
	ifc.MLX5_CMD_OP_QUERY_QP:              {initialized, acknowledge},
	ifc.MLX5_CMD_OP_RST2INIT_QP:           {initialized, trusted(stepQP)},
	ifc.MLX5_CMD_OP_INIT2INIT_QP:          {initialized, trusted(stepQP)},
	ifc.MLX5_CMD_OP_INIT2RTR_QP:           {initialized, trusted(stepQP)},
	ifc.MLX5_CMD_OP_RTR2RTS_QP:            {initialized, trusted(stepQP)},
	ifc.MLX5_CMD_OP_RTS2RTS_QP:            {initialized, trusted(stepQP)},
	ifc.MLX5_CMD_OP_SQERR2RTS_QP:          {initialized, trusted(stepQP)},
	ifc.MLX5_CMD_OP_SQD_RTS_QP:            {initialized, trusted(stepQP)},
	ifc.MLX5_CMD_OP_2ERR_QP:               {initialized, trusted(moveQP(ifc.MLX5_QP_STATE_ERR))},
	ifc.MLX5_CMD_OP_2RST_QP:               {initialized, trusted(moveQP(ifc.MLX5_QP_STATE_RST))},
	ifc.MLX5_CMD_OP_ATTACH_TO_MCG:         {initialized, trusted(attachToMCG)},
	ifc.MLX5_CMD_OP_DETACH_FROM_MCG:       {initialized, trusted(detachFromMCG)},
	ifc.MLX5_CMD_OP_CREATE_SQ:             {initialized, createUnchecked(sqKind)},
	ifc.MLX5_CMD_OP_CREATE_RQ:             {initialized, createUnchecked(rqKind)},
	ifc.MLX5_CMD_OP_CREATE_TIS:            {initialized, createUnchecked(tisKind)},
	ifc.MLX5_CMD_OP_CREATE_TIR:            {initialized, createUnchecked(tirKind)},
	ifc.MLX5_CMD_OP_CREATE_DCT:            {initialized, createUnchecked(dctKind)},
	ifc.MLX5_CMD_OP_DESTROY_DCT:           {initialized, destroyContext(dctKind)},
	ifc.MLX5_CMD_OP_CREATE_SRQ:            {initialized, createSRQUnchecked(plainSRQ)},
	ifc.MLX5_CMD_OP_CREATE_RMP:            {initialized, createSRQUnchecked(rmp)},
	ifc.MLX5_CMD_OP_CREATE_XRQ:            {initialized, createSRQUnchecked(xrq)},
	ifc.MLX5_CMD_OP_CREATE_XRC_SRQ:        {initialized, createSRQUnchecked(xrcSRQ)},
	ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT: {initialized, createAnyObject},

	ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE:       {initialized, orElse(createFlowTable, create(kindFlowTable, 8))},
	ifc.MLX5_CMD_OP_DESTROY_FLOW_TABLE:      {initialized, orElse(destroyFlowTable, destroy(kindFlowTable, 20))},
	ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE:        {initialized, orElse(queryFlowTable, acknowledge)},
	ifc.MLX5_CMD_OP_MODIFY_FLOW_TABLE:       {initialized, orElse(modifyFlowTable, acknowledge)},
	ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ROOT:     {initialized, orElse(setFlowTableRoot, acknowledge)},
	ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP:       {initialized, orElse(createFlowGroup, create(kindFlowGroup, 8))},
	ifc.MLX5_CMD_OP_DESTROY_FLOW_GROUP:      {initialized, orElse(destroyFlowGroup, destroy(kindFlowGroup, 24))},
	ifc.MLX5_CMD_OP_QUERY_FLOW_GROUP:        {initialized, orElse(queryFlowGroup, acknowledge)},
	ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY:    {initialized, orElse(setFlowRule, acknowledge)},
	ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY: {initialized, orElse(deleteFlowRule, acknowledge)},
	ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY:  {initialized, orElse(queryFlowRule, acknowledge)},
	ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER:      {initialized, orElse(queryFlowCounter, acknowledge)},
}

// orElse is a command that this device did without looking: what cannot be done is
// answered as then.
func orElse(do, then handler) handler {
	return func(d *Device, c *command) *refusal {
		if do(d, c) == nil {
			return nil
		}
		clear(c.out)
		return then(d, c)
	}
}

// recordedValues has the fields that are not 0. Capabilities stand under the
// layout of their page, answers under that of the command's output.
var recordedValues = values{
	"cmd_hca_cap": {
		"log_max_srq_sz":                       15,
		"log_max_qp_sz":                        15,
		"log_max_qp":                           17,
		"log_max_srq":                          16,
		"log_max_cq_sz":                        22,
		"log_max_cq":                           16,
		"log_max_eq_sz":                        22,
		"log_max_mkey":                         24,
		"log_max_eq":                           6,
		"max_indirection":                      4,
		"fixed_buffer_size":                    1,
		"log_max_mrw_sz":                       40,
		"log_max_bsf_list_size":                4,
		"log_max_klm_list_size":                16,
		"log_max_ra_req_dc":                    4,
		"log_max_ra_res_dc":                    4,
		"log_max_ra_req_qp":                    4,
		"log_max_ra_res_qp":                    4,
		"gid_table_size":                       4,
		"local_ca_ack_delay":                   16,
		"port_type":                            1,
		"num_ports":                            1,
		"log_max_msg":                          30,
		"cqe_version":                          1,
		"compact_address_vector":               1,
		"sctr_data_cqe":                        1,
		"roce":                                 1,
		"atomic":                               1,
		"cq_oi":                                1,
		"cq_resize":                            1,
		"cq_moderation":                        1,
		"block_lb_mc":                          1,
		"imaicl":                               1,
		"xrc":                                  1,
		"ud":                                   1,
		"uc":                                   1,
		"rc":                                   1,
		"uar_4k":                               1,
		"uar_sz":                               5,
		"log_pg_sz":                            12,
		"bf":                                   1,
		"driver_version":                       1,
		"log_bf_reg_size":                      9,
		"max_wqe_sz_sq":                        1024,
		"max_wqe_sz_rq":                        512,
		"max_wqe_sz_sq_dc":                     512,
		"max_qp_mcg":                           240,
		"log_max_mcg":                          21,
		"log_max_transport_domain":             16,
		"log_max_pd":                           16,
		"log_max_xrcd":                         16,
		"log_max_rq":                           16,
		"log_max_sq":                           16,
		"log_max_tir":                          16,
		"log_max_tis":                          16,
		"basic_cyclic_rcv_wqe":                 1,
		"log_max_rmp":                          16,
		"log_max_rqt":                          16,
		"log_max_rqt_size":                     11,
		"log_max_tis_per_sq":                   3,
		"log_max_stride_sz_rq":                 6,
		"log_min_stride_sz_rq":                 4,
		"log_max_stride_sz_sq":                 6,
		"log_min_stride_sz_sq":                 6,
		"log_max_wq_sz":                        15,
		"log_max_vlan_list":                    9,
		"log_max_current_mc_list":              7,
		"log_max_current_uc_list":              7,
		"log_max_uctx":                         16,
		"log_max_umem":                         16,
		"log_max_l2_table":                     7,
		"device_frequency_mhz":                 156,
		"device_frequency_khz":                 156250,
		"num_of_uars_per_page":                 1,
		"eth_net_offloads":                     1,
		"hca_cap_2":                            1,
		"wq_signature":                         1,
		"null_mkey":                            1,
		"dump_fill_mkey":                       1,
		"dct":                                  1,
		"drain_sigerr":                         1,
		"sigerr_cqe":                           1,
		"ece_support":                          1,
		"umr_modify_entity_size_disabled":      1,
		"umr_fence":                            1,
		"start_pad":                            1,
		"end_pad":                              1,
		"uctx_cap":                             7,
		"umem_uid_0":                           1,
		"nic_flow_table":                       1,
		"device_memory":                        1,
		"qos":                                  1,
		"event_cap":                            1,
		"general_obj_types":                    0x2100,
		"log_max_dci_stream_channels":          4,
		"log_max_dci_errored_streams":          4,
		"shared_object_to_user_object_allowed": 1,
		"striding_rq":                          1,
		"cqe_compression":                      1,
		"cqe_compression_128":                  1,
		"cqe_128_always":                       1,
		"cqe_compression_timeout":              10,
		"cqe_compression_max_num":              64,
	},
	"per_protocol_networking_offload_caps": {
		"csum_cap":              1,
		"vlan_cap":              1,
		"max_lso_cap":           16,
		"rss_ind_tbl_cap":       11,
		"self_lb_en_modifiable": 1,
		"scatter_fcs":           1,
		"wqe_inline_mode":       1,
	},
	"atomic_caps": {
		"atomic_operations": 7,
		"atomic_size_qp":    8,
		"atomic_size_dc":    8,
		"supported_atomic_req_8B_endianness_mode_1": 1,
	},
	"roce_cap": {
		"l3_type":                 6,
		"roce_version":            4,
		"r_roce_dest_udp_port":    4791,
		"r_roce_max_src_udp_port": 65535,
		"r_roce_min_src_udp_port": 49152,
		"roce_address_table_size": 16,
	},
	"device_mem_cap": {
		"memic":                              1,
		"log_min_memic_alloc_size":           6,
		"log_max_memic_addr_alignment":       6,
		"memic_bar_start_addr":               0x1000000,
		"memic_bar_size":                     0x40000,
		"max_memic_size":                     0x20000,
		"memic_operations":                   3,
		"steering_sw_icm_start_address":      0x100000000,
		"log_steering_sw_icm_size":           24,
		"log_sw_icm_alloc_granularity":       6,
		"header_modify_sw_icm_start_address": 0x200000000,
		"log_header_modify_sw_icm_size":      24,
	},
	"virtio_emulation_cap": {
		"log_doorbell_bar_size":  4,
		"log_doorbell_stride":    12,
		"doorbell_bar_offset":    0x1200000,
		"event_mode":             3,
		"eth_frame_offload_type": 1,
	},
	"qos_cap": {
		"packet_pacing":                 1,
		"packet_pacing_uid":             1,
		"packet_pacing_burst_bound":     1,
		"packet_pacing_typical_size":    1,
		"packet_pacing_max_rate":        100000000,
		"packet_pacing_min_rate":        1000,
		"packet_pacing_rate_table_size": 128,
	},
	"device_event_cap": {
		"user_affiliated_events":   0x80191b00af,
		"user_unaffiliated_events": 0x400200,
	},
	"flow_table_nic_cap": nicFlowTables(map[string]uint64{
		"ft_support":                    1,
		"flow_counter":                  1,
		"flow_modify_en":                1,
		"modify_root":                   1,
		"identified_miss_table_mode":    1,
		"flow_table_modify":             1,
		"log_max_ft_size":               20,
		"max_ft_level":                  64,
		"log_max_ft_num":                24,
		"log_max_flow":                  20,
		"log_max_flow_counter":          16,
		"log_max_destination":           8,
		"log_max_modify_header_context": 16,
		"max_modify_header_actions":     16,
		"reformat":                      1,
		"sw_owner":                      1,
	}, map[string]uint64{
		"flow_table_properties_nic_receive.decap": 1,
		"log_max_packet_reformat_context":         16,
		"max_encap_header_size":                   128,
		"encap_general_header":                    1,
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
	"nic_vport_context": {
		"mtu":                              1500,
		"system_image_guid":                0x02005e0000530001,
		"port_guid":                        0x02005efffe005301,
		"node_guid":                        0x02005efffe005301,
		"permanent_address.mac_addr_47_32": 0x0200,
		"permanent_address.mac_addr_31_0":  0x5e005301,
	},
	"pmtu_reg": {"max_mtu": 9978, "admin_mtu": 1522, "oper_mtu": 1522},
	"ptys_reg": {
		"ext_eth_proto_capability": 1 << 12,
		"ext_eth_proto_admin":      1 << 12,
		"ext_eth_proto_oper":       1 << 12,
	},
	"paos_reg": {"admin_status": 1, "oper_status": 1},
}

// nicFlowTables spells out the flow tables' page: what receive and transmit
// have alike, and the rest.
func nicFlowTables(both, rest map[string]uint64) map[string]uint64 {
	m := maps.Clone(rest)
	for name, v := range both {
		m["flow_table_properties_nic_receive."+name] = v
		m["flow_table_properties_nic_transmit."+name] = v
	}
	return m
}
