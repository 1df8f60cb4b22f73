package mlx5

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// named are fields by the names that include/linux/mlx5/mlx5_ifc.h has for them.
type named map[string]ifc.Field

// names has the fields of a work queue by their names in struct wq.
func (w *wqFields) names() named {
	return named{
		"wq_type": w.typ, "wq_signature": w.signature, "end_padding_mode": w.endPadding, "page_offset": w.pageOffset,
		"lwm": w.lwm, "pd": w.pd, "dbr_addr": w.dbrAddr, "log_wq_stride": w.logStride, "log_wq_pg_sz": w.logPageSize,
		"log_wq_sz": w.logSize, "log_wqe_num_of_strides": w.logStrides, "two_byte_shift_en": w.twoByteShift,
		"log_wqe_stride_size": w.logStrideSize,
	}
}

// names has the fields of a path by their names in struct ads.
func (a *adsFields) names() named {
	return named{
		"pkey_index": a.pkeyIndex, "grh": a.grh, "mlid": a.mlid, "rlid": a.rlid, "ack_timeout": a.ackTimeout,
		"src_addr_index": a.srcAddrIndex, "stat_rate": a.statRate, "hop_limit": a.hopLimit, "tclass": a.tclass,
		"flow_label": a.flowLabel, "dscp": a.dscp, "udp_sport": a.udpSport, "eth_prio": a.ethPrio, "sl": a.sl,
		"vhca_port_num": a.port,
	}
}

// TestFields holds the places of fields in commands against mlx5_ifc.h.
func TestFields(t *testing.T) {
	xrc, rmp, xrq := &srqCommands[srqtXRC], &srqCommands[srqtBasic], &srqCommands[srqtTM]
	for _, c := range []struct {
		command, in string // the struct of the command, and the structs in it that have the fields
		fields      named
	}{
		{"create_qp_in", "", named{"opt_param_mask": qpc.optParamMask, "ece": qpc.ece}},
		{"create_qp_out", "", named{"ece": qpc.answeredECE}},
		{"create_qp_in", "qpc.", named{
			"state": qpc.state, "st": qpc.st, "pm_state": qpc.pmState, "req_e2e_credit_mode": qpc.creditMode,
			"offload_type": qpc.offloadType, "end_padding_mode": qpc.endPadding, "wq_signature": qpc.signature,
			"block_lb_mc": qpc.blockLBMC, "pd": qpc.pd, "mtu": qpc.mtu, "log_msg_max": qpc.logMsgMax,
			"log_rq_size": qpc.logRQSize, "log_rq_stride": qpc.logRQStride, "no_sq": qpc.noSQ, "log_sq_size": qpc.logSQSize,
			"ts_format": qpc.tsFormat, "rlky": qpc.reservedLKey, "counter_set_id": qpc.counterSet, "uar_page": qpc.uarPage,
			"user_index": qpc.userIndex, "log_page_size": qpc.logPageSize, "remote_qpn": qpc.remoteQPN,
			"log_ack_req_freq": qpc.logAckReqFreq, "log_sra_max": qpc.logSRAMax, "retry_count": qpc.retryCount,
			"rnr_retry": qpc.rnrRetry, "fre": qpc.fastRegister, "next_send_psn": qpc.nextSendPSN,
			"log_num_dci_stream_channels": qpc.logDCIChannels, "cqn_snd": qpc.cqnSnd,
			"log_num_dci_errored_streams": qpc.logDCIErrored, "log_rra_max": qpc.logRRAMax, "atomic_mode": qpc.atomicMode,
			"rre": qpc.rre, "rwe": qpc.rwe, "rae": qpc.rae, "page_offset": qpc.pageOffset,
			"cd_slave_receive": qpc.cdSlaveReceive, "cd_slave_send": qpc.cdSlaveSend, "cd_master": qpc.cdMaster,
			"min_rnr_nak": qpc.minRNRNak, "next_rcv_psn": qpc.nextRcvPSN, "xrcd": qpc.xrcd, "cqn_rcv": qpc.cqnRcv,
			"dbr_addr": qpc.dbrAddr, "q_key": qpc.qKey, "rq_type": qpc.rqType, "srqn_rmpn_xrqn": qpc.srqn,
			"cs_req": qpc.csReq, "cs_res": qpc.csRes,
		}},
		{"create_qp_in", "qpc.primary_address_path.", primaryPath.names()},
		{"create_qp_in", "qpc.secondary_address_path.", secondaryPath.names()},
		{"create_dct_in", "dct_context_entry.", named{
			"user_index": dctc.userIndex, "cqn": dctc.cqn, "atomic_mode": dctc.atomicMode, "rre": dctc.rre, "rwe": dctc.rwe,
			"rae": dctc.rae, "cs_res": dctc.csRes, "min_rnr_nak": dctc.minRNRNak, "srqn_xrqn": dctc.srqn, "pd": dctc.pd,
			"tclass": dctc.tclass, "flow_label": dctc.flowLabel, "dc_access_key": dctc.accessKey, "mtu": dctc.mtu,
			"port": dctc.port, "pkey_index": dctc.pkeyIndex, "my_addr_index": dctc.myAddrIndex, "hop_limit": dctc.hopLimit,
			"eth_prio": dctc.ethPrio, "ece": dctc.ece,
		}},
		{"create_rq_in", "ctx.", named{
			"delay_drop_en": rqc.delayDrop, "scatter_fcs": rqc.scatterFCS, "vsd": rqc.keepVLAN, "mem_rq_type": rqc.memType,
			"state": rqc.state, "flush_in_error_en": rqc.flushInError, "ts_format": rqc.tsFormat,
			"user_index": rqc.userIndex, "cqn": rqc.cqn, "counter_set_id": rqc.counterSet, "rmpn": rqc.rmpn,
		}},
		{"create_rq_in", "ctx.wq.", rqWQ.names()},
		{"create_sq_in", "ctx.", named{
			"flush_in_error_en": sqc.flushInError, "allow_multi_pkt_send_wqe": sqc.multiPkt, "state": sqc.state,
			"allow_swp": sqc.allowSWP, "ts_format": sqc.tsFormat, "user_index": sqc.userIndex, "cqn": sqc.cqn,
			"packet_pacing_rate_limit_index": sqc.pacingIndex, "tis_lst_sz": sqc.tisLstSz, "tis_num_0": sqc.tisNum0,
		}},
		{"create_sq_in", "ctx.wq.", sqWQ.names()},
		{"create_sq_in", "ctx.wq.", named{"uar_page": sqUARPage}},
		{"modify_sq_in", "", named{"modify_bitmask": sqModifyMask}},
		{"create_rmp_in", "ctx.wq.", rmp.wq.names()},
		{"create_rmp_in", "ctx.", named{"state": rmp.set[0].field}},
		{"modify_rmp_in", "ctx.wq.", named{"lwm": rmp.armLWM}},
		{"modify_rmp_in", "", named{"rmp_state": rmp.armSet[0].field, "bitmask.lwm": rmp.armSet[1].field,
			"ctx.state": rmp.armSet[2].field}},
		{"query_rmp_out", "rmp_context.wq.", named{"lwm": rmp.lwm}},
		{"create_xrc_srq_in", "xrc_srq_context_entry.", named{
			"log_xrc_srq_size": xrc.wq.logSize, "wq_signature": xrc.wq.signature, "log_rq_stride": xrc.wq.logStride,
			"xrcd": xrcdField, "page_offset": xrc.wq.pageOffset, "cqn": *xrc.cqn, "log_page_size": xrc.wq.logPageSize,
			"user_index": *xrc.userIndex, "pd": xrc.wq.pd, "lwm": xrc.wq.lwm,
		}},
		{"arm_xrc_srq_in", "", named{"lwm": xrc.armLWM, "op_mod": xrc.armSet[0].field}},
		{"query_xrc_srq_out", "xrc_srq_context_entry.", named{"lwm": xrc.lwm}},
		{"create_xrq_in", "xrq_context.wq.", xrq.wq.names()},
		{"create_xrq_in", "xrq_context.", named{
			"topology": xrq.set[0].field, "offload": xrq.set[1].field, "cqn": *xrq.cqn, "user_index": *xrq.userIndex,
			"tag_matching_topology_context.log_matching_list_sz": xrqLogTagList,
		}},
		{"arm_rq_in", "", named{"lwm": xrq.armLWM, "op_mod": xrq.armSet[0].field}},
		{"query_xrq_out", "xrq_context.wq.", named{"lwm": xrq.lwm}},
		{"create_cq_in", "cq_context.", named{"apu_cq": apuCQ}},
		{"create_umem_in", "umem.", named{"log_page_size": umemLogPageSize, "page_offset": umemPageOffset, "num_of_mtt": umemNumMTT}},
		{"set_fte_in", "", named{"ignore_flow_level": fteIgnore, "modify_enable_mask": fteModify, "flow_index": fteIndex}},
		{"set_fte_in", "flow_context.", named{
			"group_id": fteGroup, "flow_tag": fteTag, "action": fteAction, "destination_list_size": fteNumDest,
			"flow_counter_list_size": fteNumCount, "packet_reformat_id": fteReformat, "modify_header_id": fteModHdr,
		}},
		{"create_flow_group_in", "", named{
			"table_type": ftType, "table_id": ftID, "start_flow_index": fgStart, "end_flow_index": fgEnd,
			"match_criteria_enable": fgEnable,
		}},
		{"modify_flow_table_in", "", named{"modify_field_select": ftModSelect}},
	} {
		layout := ifc.Find(c.command)
		require.NotNil(t, layout, c.command)
		for name, got := range c.fields {
			want, ok := layout.Lookup(c.in + name)
			require.True(t, ok, "%s has no %s%s", c.command, c.in, name)
			require.Equal(t, [2]uint32{want.Off, want.Width}, [2]uint32{got.Off, got.Width}, "%s: %s%s", c.command, c.in, name)
		}
	}
	for _, c := range []struct {
		command, field string
		at             int
	}{
		{"create_qp_in", "pas", createQPPas},
		{"create_qp_in", "qpc.primary_address_path.rgid_rip", primaryPath.rgid},
		{"create_qp_in", "qpc.primary_address_path.rmac_47_32", primaryPath.rmac},
		{"create_qp_in", "qpc.secondary_address_path.rgid_rip", secondaryPath.rgid},
		{"create_qp_in", "qpc.secondary_address_path.rmac_47_32", secondaryPath.rmac},
		{"create_rq_in", "ctx.wq.pas", rqWQ.pas},
		{"create_sq_in", "ctx.wq.pas", sqWQ.pas},
		{"create_rmp_in", "ctx.wq.pas", rmp.wq.pas},
		{"create_xrq_in", "xrq_context.wq.pas", xrq.wq.pas},
		{"create_xrc_srq_in", "pas", xrc.wq.pas},
		{"create_umem_in", "umem.mtt", umemMTT},
	} {
		require.Equal(t, ifc.Must(c.command).Field(c.field).Byte(), c.at, "%s: %s", c.command, c.field)
	}
}
