package spec

// Role says what a number in a wire struct or in an attribute stands for, as
// somebody must know who stands between a program and the kernel.
type Role uint8

// The roles. The zero value is a number that stands for itself.
const (
	RolePlain Role = iota
	// RoleUserAddr is an address in the caller's memory: the kernel reads or
	// writes there, or pins the pages so that the device can.
	RoleUserAddr
	// RoleResponse is the address in the caller's memory of the answer to a
	// write() command. UVERBS_METHOD_INVOKE_WRITE ignores it.
	RoleResponse
	// RoleDeviceAddr is an address that the device knows: of a memory region,
	// or of the adapter's own memory. The kernel does not follow it.
	RoleDeviceAddr
	// RoleMmapOffset is what the caller hands to mmap() as offset.
	RoleMmapOffset
	// RoleFD is a file descriptor of the calling process.
	RoleFD
	// RoleHandle is a handle of an object of the same open file.
	RoleHandle
	// RoleCookie is a number that the kernel keeps and hands back unread.
	RoleCookie
)

var roleNames = [...]string{
	"plain", "user_address", "response_address", "device_address", "mmap_offset", "fd", "handle", "cookie",
}

// String returns the role's name: "user_address".
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return "?"
}

// Meaning is what is known of a number beyond its size.
type Meaning struct {
	Role Role
	// RoleHandle and RoleFD: the types of objects that it may name, by id. A
	// descriptor without one is of another kind of file, which Note tells.
	Objects []uint16
	// RoleUserAddr: how many bytes there are, in terms of the members beside
	// it.
	Bytes string
	Note  string // when it holds, "" for always
}

// MeaningOf returns what a member of a C struct stands for, by the name that an
// attribute's CType has: "struct ib_uverbs_reg_mr", "start". It says whether
// that was decided: every member of 8 bytes, and every other whose name could be
// that of an address, a handle or a descriptor, is.
func MeaningOf(ctype, member string) (m Meaning, decided bool) {
	m, decided = meanings[trimStruct(ctype)+"."+member]
	return m, decided
}

// MeaningOfAttr returns what the data of a pointer attribute stands for, by the
// attribute's name. Of one whose data is a struct MeaningOf tells more.
func MeaningOfAttr(name string) (m Meaning, decided bool) {
	m, decided = attrMeanings[name]
	return m, decided
}

func objects(ids ...uint16) Meaning { return Meaning{Role: RoleHandle, Objects: ids} }

func fdOf(object uint16, note string) Meaning {
	return Meaning{Role: RoleFD, Objects: []uint16{object}, Note: note}
}

func userAddr(bytes, note string) Meaning {
	return Meaning{Role: RoleUserAddr, Bytes: bytes, Note: note}
}

const doorbellRecord = "8, with the rest of their page"

// meaningRows has the decisions, by what is meant; the members are written
// "struct.member" without the word struct.
var meaningRows = []struct {
	is      Meaning
	members []string
}{
	{Meaning{Role: RoleResponse}, []string{
		"ib_uverbs_alloc_mw.response", "ib_uverbs_alloc_pd.response", "ib_uverbs_create_ah.response",
		"ib_uverbs_create_comp_channel.response", "ib_uverbs_create_cq.response", "ib_uverbs_create_qp.response",
		"ib_uverbs_create_srq.response", "ib_uverbs_create_xsrq.response", "ib_uverbs_destroy_cq.response",
		"ib_uverbs_destroy_qp.response", "ib_uverbs_destroy_srq.response", "ib_uverbs_ex_cmd_hdr.response",
		"ib_uverbs_get_context.response", "ib_uverbs_open_qp.response", "ib_uverbs_open_xrcd.response",
		"ib_uverbs_poll_cq.response", "ib_uverbs_post_recv.response", "ib_uverbs_post_send.response",
		"ib_uverbs_post_srq_recv.response", "ib_uverbs_query_device.response", "ib_uverbs_query_port.response",
		"ib_uverbs_query_qp.response", "ib_uverbs_query_srq.response", "ib_uverbs_reg_mr.response",
		"ib_uverbs_rereg_mr.response", "ib_uverbs_resize_cq.response",
	}},

	// Addresses in the caller's memory.
	{userAddr("length", "pinned, but with IB_ACCESS_ON_DEMAND"),
		[]string{"ib_uverbs_reg_mr.start"}},
	{userAddr("length", "if flags has IB_MR_REREG_TRANS"), []string{"ib_uverbs_rereg_mr.start"}},
	{userAddr("roundup_pow_of_two(cqe + 1) * cqe_size", "pinned"),
		[]string{"mlx5_ib_create_cq.buf_addr", "mlx5_ib_resize_cq.buf_addr"}},
	{userAddr("(rq_wqe_count << rq_wqe_shift) + (sq_wqe_count << 6)",
		"pinned; of a raw packet QP only the receive queue"),
		[]string{"mlx5_ib_create_qp.buf_addr"}},
	{userAddr("sq_wqe_count << 6", "of a raw packet QP; a DCT has its access key here, a number"),
		[]string{"mlx5_ib_create_qp.sq_buf_addr"}},
	{userAddr("roundup_pow_of_two(max_wr + 1) * max(32, roundup_pow_of_two(16 + 16 * max_sge))", "pinned"),
		[]string{"mlx5_ib_create_srq.buf_addr"}},
	{userAddr("rq_wqe_count << rq_wqe_shift", "pinned"), []string{"mlx5_ib_create_wq.buf_addr"}},
	{userAddr(doorbellRecord, "pinned"), []string{
		"mlx5_ib_create_cq.db_addr", "mlx5_ib_create_qp.db_addr", "mlx5_ib_create_srq.db_addr", "mlx5_ib_create_wq.db_addr",
	}},
	{userAddr("ncounters * 8", "read once"),
		[]string{"mlx5_ib_flow_counters_data.counters_data"}},
	{userAddr("16: a struct mminfo", "written if the SRQ's size changes"), []string{"rxe_modify_srq_cmd.mmap_info_addr"}},
	{userAddr("what the completion queue needs", "pinned"), []string{"bnxt_re_cq_req.cq_va", "bnxt_re_resize_cq_req.cq_va"}},
	{userAddr("what the send queue needs", "pinned"), []string{"bnxt_re_qp_req.qpsva"}},
	{userAddr("what the receive queue needs", "pinned"), []string{"bnxt_re_qp_req.qprva"}},
	{userAddr("what the queue needs", "pinned"), []string{"bnxt_re_srq_req.srqva"}},
	{userAddr("len", "no method of this kernel takes the struct"), []string{"ib_uverbs_flow_action_esp_encap.val_ptr"}},
	{userAddr("24: the next struct of this kind", "no method of this kernel takes the struct"),
		[]string{"ib_uverbs_flow_action_esp_encap.next_ptr"}},

	// Addresses that the kernel does not follow.
	{Meaning{Role: RoleDeviceAddr}, []string{
		"ib_uverbs_reg_mr.hca_va", "ib_uverbs_rereg_mr.hca_va", "ib_uverbs_sge.addr",
		"ib_uverbs_send_wr.rdma.remote_addr", "ib_uverbs_send_wr.atomic.remote_addr",
		"mlx5_ib_create_qp_resp.tir_icm_addr", "mlx5_ib_uapi_query_port.vport_steering_icm_rx",
		"mlx5_ib_uapi_query_port.vport_steering_icm_tx", "rxe_send_wqe.iova", "rxe_sge.addr",
		"rxe_send_wr.flush.remote_addr", "rxe_send_wr.rdma.remote_addr", "rxe_send_wr.atomic.remote_addr", "rxe_send_wr.mw.addr",
	}},
	{Meaning{Role: RoleMmapOffset}, []string{
		"bnxt_re_pd_resp.dbr", "efa_ibv_create_cq_resp.q_mmap_key", "efa_ibv_create_cq_resp.db_mmap_key",
		"efa_ibv_create_qp_resp.rq_mmap_key", "efa_ibv_create_qp_resp.rq_db_mmap_key",
		"efa_ibv_create_qp_resp.sq_db_mmap_key", "efa_ibv_create_qp_resp.llq_desc_mmap_key", "mminfo.offset",
	}},

	// Descriptors.
	{fdOf(UVERBS_OBJECT_COMP_CHANNEL, "-1 is none"), []string{"ib_uverbs_create_cq.comp_channel", "ib_uverbs_ex_create_cq.comp_channel"}},
	{fdOf(UVERBS_OBJECT_COMP_CHANNEL, ""), []string{"ib_uverbs_create_comp_channel_resp.fd"}},
	{fdOf(UVERBS_OBJECT_ASYNC_EVENT, ""), []string{"ib_uverbs_get_context_resp.async_fd"}},
	{Meaning{Role: RoleFD, Note: "any file, whose inode names the domain; -1 is none"}, []string{"ib_uverbs_open_xrcd.fd"}},

	// Handles.
	{objects(UVERBS_OBJECT_PD), []string{
		"ib_uverbs_alloc_mw.pd_handle", "ib_uverbs_alloc_pd_resp.pd_handle", "ib_uverbs_create_ah.pd_handle",
		"ib_uverbs_create_srq.pd_handle", "ib_uverbs_create_xsrq.pd_handle", "ib_uverbs_dealloc_pd.pd_handle",
		"ib_uverbs_ex_create_wq.pd_handle", "ib_uverbs_reg_mr.pd_handle",
	}},
	{Meaning{Role: RoleHandle, Objects: []uint16{UVERBS_OBJECT_PD}, Note: "if flags has IB_MR_REREG_PD"},
		[]string{"ib_uverbs_rereg_mr.pd_handle"}},
	{Meaning{Role: RoleHandle, Objects: []uint16{UVERBS_OBJECT_PD, UVERBS_OBJECT_XRCD}, Note: "an XRCD if qp_type is IB_QPT_XRC_TGT"},
		[]string{"ib_uverbs_create_qp.pd_handle", "ib_uverbs_ex_create_qp.pd_handle"}},
	{Meaning{Role: RoleHandle, Objects: []uint16{UVERBS_OBJECT_XRCD}}, []string{
		"ib_uverbs_open_qp.pd_handle", "ib_uverbs_open_xrcd_resp.xrcd_handle", "ib_uverbs_close_xrcd.xrcd_handle",
	}},
	{Meaning{Role: RoleHandle, Objects: []uint16{UVERBS_OBJECT_XRCD}, Note: "if srq_type is IB_SRQT_XRC"},
		[]string{"ib_uverbs_create_xsrq.xrcd_handle"}},
	{Meaning{Role: RoleHandle, Objects: []uint16{UVERBS_OBJECT_CQ}, Note: "if srq_type is IB_SRQT_XRC or IB_SRQT_TM"},
		[]string{"ib_uverbs_create_xsrq.cq_handle"}},
	{objects(UVERBS_OBJECT_CQ), []string{
		"ib_uverbs_create_cq_resp.cq_handle", "ib_uverbs_destroy_cq.cq_handle", "ib_uverbs_poll_cq.cq_handle",
		"ib_uverbs_req_notify_cq.cq_handle", "ib_uverbs_resize_cq.cq_handle", "ib_uverbs_ex_modify_cq.cq_handle",
		"ib_uverbs_ex_create_wq.cq_handle", "ib_uverbs_create_qp.send_cq_handle", "ib_uverbs_create_qp.recv_cq_handle",
		"ib_uverbs_ex_create_qp.send_cq_handle", "ib_uverbs_ex_create_qp.recv_cq_handle",
	}},
	{Meaning{Role: RoleHandle, Objects: []uint16{UVERBS_OBJECT_SRQ}, Note: "if is_srq is set"},
		[]string{"ib_uverbs_create_qp.srq_handle", "ib_uverbs_ex_create_qp.srq_handle"}},
	{objects(UVERBS_OBJECT_SRQ), []string{
		"ib_uverbs_create_srq_resp.srq_handle", "ib_uverbs_destroy_srq.srq_handle", "ib_uverbs_modify_srq.srq_handle",
		"ib_uverbs_post_srq_recv.srq_handle", "ib_uverbs_query_srq.srq_handle",
	}},
	{objects(UVERBS_OBJECT_QP), []string{
		"ib_uverbs_attach_mcast.qp_handle", "ib_uverbs_detach_mcast.qp_handle", "ib_uverbs_create_flow.qp_handle",
		"ib_uverbs_create_qp_resp.qp_handle", "ib_uverbs_destroy_qp.qp_handle", "ib_uverbs_modify_qp.qp_handle",
		"ib_uverbs_post_recv.qp_handle", "ib_uverbs_post_send.qp_handle", "ib_uverbs_query_qp.qp_handle",
	}},
	{objects(UVERBS_OBJECT_MR), []string{
		"ib_uverbs_reg_mr_resp.mr_handle", "ib_uverbs_rereg_mr.mr_handle", "ib_uverbs_dereg_mr.mr_handle",
	}},
	{objects(UVERBS_OBJECT_MW), []string{"ib_uverbs_alloc_mw_resp.mw_handle", "ib_uverbs_dealloc_mw.mw_handle"}},
	{objects(UVERBS_OBJECT_AH), []string{"ib_uverbs_create_ah_resp.ah_handle", "ib_uverbs_destroy_ah.ah_handle"}},
	{Meaning{Role: RoleHandle, Objects: []uint16{UVERBS_OBJECT_AH}, Note: "if the QP is UD"}, []string{"ib_uverbs_send_wr.ud.ah"}},
	{objects(UVERBS_OBJECT_FLOW), []string{"ib_uverbs_create_flow_resp.flow_handle", "ib_uverbs_destroy_flow.flow_handle"}},
	{objects(UVERBS_OBJECT_FLOW_ACTION), []string{"ib_uverbs_flow_spec_action_handle.handle"}},
	{objects(UVERBS_OBJECT_COUNTERS), []string{"ib_uverbs_flow_spec_action_count.handle"}},
	{objects(UVERBS_OBJECT_RWQ_IND_TBL), []string{
		"ib_uverbs_ex_create_rwq_ind_table_resp.ind_tbl_handle", "ib_uverbs_ex_destroy_rwq_ind_table.ind_tbl_handle",
	}},
	{Meaning{Role: RoleHandle, Objects: []uint16{UVERBS_OBJECT_RWQ_IND_TBL}, Note: "if comp_mask has IB_UVERBS_CREATE_QP_MASK_IND_TABLE"},
		[]string{"ib_uverbs_ex_create_qp.rwq_ind_tbl_handle"}},
	{objects(UVERBS_OBJECT_WQ), []string{
		"ib_uverbs_ex_create_wq_resp.wq_handle", "ib_uverbs_ex_destroy_wq.wq_handle", "ib_uverbs_ex_modify_wq.wq_handle",
	}},

	// Numbers that the kernel hands back.
	{Meaning{Role: RoleCookie}, []string{
		"ib_uverbs_create_ah.user_handle", "ib_uverbs_create_cq.user_handle", "ib_uverbs_create_qp.user_handle",
		"ib_uverbs_create_srq.user_handle", "ib_uverbs_create_xsrq.user_handle", "ib_uverbs_ex_create_cq.user_handle",
		"ib_uverbs_ex_create_qp.user_handle", "ib_uverbs_ex_create_wq.user_handle", "ib_uverbs_open_qp.user_handle",
		"ib_uverbs_recv_wr.wr_id", "ib_uverbs_send_wr.wr_id", "ib_uverbs_wc.wr_id",
		"mlx5_ib_uapi_devx_async_cmd_hdr.wr_id", "mlx5_ib_uapi_devx_async_event_hdr.cookie",
		"rxe_recv_wqe.wr_id", "rxe_send_wr.wr_id",
		"bnxt_re_cq_req.cq_handle", "bnxt_re_qp_req.qp_handle", "bnxt_re_srq_req.srq_handle",
	}},
	{Meaning{Role: RoleCookie, Note: "the object's user_handle"}, []string{
		"ib_uverbs_async_event_desc.element", "ib_uverbs_comp_event_desc.cq_handle",
	}},

	// What stands for itself.
	{Meaning{}, []string{
		"bnxt_re_cq_resp.comp_mask", "bnxt_re_qp_req.comp_mask", "bnxt_re_srq_resp.comp_mask", "bnxt_re_uctx_req.comp_mask",
		"bnxt_re_uctx_resp.comp_mask",
		"efa_ibv_create_ah_resp.efa_address_handle", // the adapter's number
		"efa_ibv_create_cq_resp.q_mmap_size", "efa_ibv_create_qp_resp.rq_mmap_size",
		"ib_uverbs_ex_query_device_resp.timestamp_mask", "ib_uverbs_ex_query_device_resp.hca_core_clock",
		"ib_uverbs_ex_query_device_resp.device_cap_flags_ex", "ib_uverbs_ex_query_device_resp.max_dm_size",
		"ib_uverbs_flow_action_esp.hard_limit_pkts", "ib_uverbs_flow_action_esp_keymat_aes_gcm.iv",
		"ib_uverbs_gid_entry.gid", "ib_uverbs_odp_caps.general_caps",
		"ib_uverbs_query_device_resp.fw_ver", "ib_uverbs_query_device_resp.node_guid",
		"ib_uverbs_query_device_resp.sys_image_guid", "ib_uverbs_query_device_resp.max_mr_size",
		"ib_uverbs_query_device_resp.page_size_cap", "ib_uverbs_reg_mr.length", "ib_uverbs_rereg_mr.length",
		"ib_uverbs_send_wr.atomic.compare_add", "ib_uverbs_send_wr.atomic.swap",
		"ib_uverbs_send_wr.wr", // a union, whose members are decided by themselves
		"mlx5_ib_alloc_ucontext_req_v2.lib_caps", "mlx5_ib_alloc_ucontext_resp.hca_core_clock_offset",
		"mlx5_ib_clock_info.nsec", "mlx5_ib_clock_info.cycles", "mlx5_ib_clock_info.frac", "mlx5_ib_clock_info.mask",
		"mlx5_ib_clock_info.overflow_period", "mlx5_ib_create_qp_rss.rx_hash_fields_mask", "mlx5_ib_rss_caps.rx_hash_fields_mask",
		"mlx5_ib_uapi_query_port.flags", "rxe_av.sgid_addr", "rxe_av.dgid_addr",
		"rxe_send_wr.atomic.compare_add", "rxe_send_wr.atomic.swap", "rxe_send_wr.mw.length",
		"rxe_send_wr.wr", // as of ib_uverbs_send_wr, in memory that the program shares with the driver
	}},
}

var meanings = func() map[string]Meaning {
	m := map[string]Meaning{}
	for _, r := range meaningRows {
		for _, name := range r.members {
			m[name] = r.is
		}
	}
	return m
}()

// attrMeanings has what the data of the attributes stands for that is more than
// a number: of those that take or give 8 bytes, and of those whose names could
// be those of addresses, handles and descriptors, all are here.
var attrMeanings = map[string]Meaning{
	"UVERBS_ATTR_CREATE_CQ_USER_HANDLE":  {Role: RoleCookie},
	"UVERBS_ATTR_CREATE_QP_USER_HANDLE":  {Role: RoleCookie},
	"UVERBS_ATTR_CREATE_SRQ_USER_HANDLE": {Role: RoleCookie},
	"UVERBS_ATTR_CREATE_WQ_USER_HANDLE":  {Role: RoleCookie},

	"UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT":         {},
	"UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT":       {},
	"UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE":       {},
	"UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES": {},
	"UVERBS_ATTR_INFO_OBJECT_ID":                   {},
	"UVERBS_ATTR_INFO_TOTAL_HANDLES":               {},
	"UVERBS_ATTR_INFO_HANDLES_LIST":                {Role: RoleHandle, Note: "an array of 4 bytes each, of the type that UVERBS_ATTR_INFO_OBJECT_ID names"},

	"UVERBS_ATTR_ALLOC_DM_LENGTH":                       {},
	"UVERBS_ATTR_REG_DM_MR_OFFSET":                      {},
	"UVERBS_ATTR_REG_DM_MR_LENGTH":                      {},
	"UVERBS_ATTR_QUERY_MR_RESP_LENGTH":                  {},
	"UVERBS_ATTR_QUERY_MR_RESP_IOVA":                    {Role: RoleDeviceAddr},
	"UVERBS_ATTR_REG_DMABUF_MR_OFFSET":                  {},
	"UVERBS_ATTR_REG_DMABUF_MR_LENGTH":                  {},
	"UVERBS_ATTR_REG_DMABUF_MR_IOVA":                    {Role: RoleDeviceAddr},
	"UVERBS_ATTR_REG_DMABUF_MR_FD":                      {Role: RoleFD, Note: "a dma-buf"},
	"MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET": {},
	"UVERBS_ATTR_ADVISE_MR_SGE_LIST":                    {},
	"MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR":                   {Role: RoleUserAddr, Bytes: "the value of REG_LEN", Note: "pinned; of a dma-buf the offset"},
	"MLX5_IB_ATTR_DEVX_UMEM_REG_LEN":                    {},
	"MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD":              {Role: RoleFD, Note: "a dma-buf"},
	"MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP":            {},

	"MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID":  {Role: RoleCookie},
	"MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE": {Role: RoleCookie},
	"MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM": {Role: RoleFD, Note: "an eventfd"},

	"MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET":       {Role: RoleDeviceAddr, Note: "of steering memory; of MEMIC it is the offset in the page"},
	"MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET": {},
	"MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP":            {},
	"MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX":   {},
	"MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET":       {},
	"MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH":             {},
	"MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET":        {Role: RoleMmapOffset},
	"MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET":        {Role: RoleMmapOffset},
	"BNXT_RE_ALLOC_PAGE_MMAP_OFFSET":                {Role: RoleMmapOffset},
	"BNXT_RE_TOGGLE_MEM_MMAP_PAGE":                  {Role: RoleMmapOffset},
	"BNXT_RE_TOGGLE_MEM_MMAP_OFFSET":                {},

	"MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID": {Role: RoleUserAddr, Bytes: "4", Note: "declared as a value, but the answer is written there"},
}

// WrittenTo says of an attribute that is declared as PTR_IN whether its handler
// writes to it all the same, at the address that its value is. There is one, in
// drivers/infiniband/hw/mlx5/fs.c.
func WrittenTo(name string) bool { return name == "MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID" }
