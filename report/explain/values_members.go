package explain

import (
	"encoding/binary"
	"strings"

	"uverbsim/spec"
)

// speaksOf are the members of the request, attributes and limits that rules are on, where the
// condition has no names for them: it asks for a table of the driver, or for a
// number that the driver has made of them. What a call does not have is left out.
// A text with a colon is a value that the rule itself tells of.
var speaksOf = map[string][]string{
	"cmd-mcast/not-attached":               {"gid", "mlid"},
	"cmd-mr/rereg-dm":                      {"mr_handle"},
	"cmd-post/recv-many-sges":              {"sge_count"},
	"cmd-post/recv-sge-fault":              {"sge_count"},
	"cmd-post/send-sge-fault":              {"sge_count"},
	"cmd/next-short":                       {"CORE_IN"},
	"cmd/start-short":                      {"CORE_IN"},
	"gid-table/too-small":                  {"UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES", "gid_tbl_len"},
	"info-handles/list":                    {"UVERBS_ATTR_INFO_HANDLES_LIST"},
	"mlx5-data-direct/space":               {"MLX5_IB_ATTR_GET_DATA_DIRECT_SYSFS_PATH"},
	"mlx5-devx/mkey-size":                  {"opcode", "CMD_IN"},
	"mlx5-dm/full":                         {"UVERBS_ATTR_ALLOC_DM_LENGTH"},
	"mlx5-flow/action-twice":               {"MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS"},
	"mlx5-flow/counters-twice":             {"MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX"},
	"mlx5-flow/destination":                {"MLX5_IB_ATTR_CREATE_FLOW_DEST_QP", "MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX"},
	"mlx5-flow/raw-counter":                {"MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX", "MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET"},
	"mlx5-flow/raw-counter-offsets":        {"MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX", "MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET"},
	"mlx5-flow/raw-devx-destination":       {"MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX"},
	"mlx5-flow/raw-priority":               {"MLX5_IB_ATTR_CREATE_FLOW_MATCHER"},
	"mlx5-flow/raw-qp-type":                {"MLX5_IB_ATTR_CREATE_FLOW_DEST_QP"},
	"mlx5-flow/raw-rdma-destination":       {"MLX5_IB_ATTR_CREATE_FLOW_DEST_QP", "MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX"},
	"mlx5-flow/raw-rdma-table":             {"MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX"},
	"mlx5-flow/raw-type":                   {"MLX5_IB_ATTR_CREATE_FLOW_MATCHER"},
	"mlx5-modify-qp/table":                 {"qp_handle"},
	"mlx5-mr/page-size":                    {"start", "hca_va", "length", "UVERBS_ATTR_REG_DMABUF_MR_OFFSET", "UVERBS_ATTR_REG_DMABUF_MR_IOVA"},
	"mlx5-qp/buffer-overflow":              {"sq_wqe_count", "rq_wqe_count", "rq_wqe_shift"},
	"mlx5-qp/create-flags":                 {"UVERBS_ATTR_CREATE_QP_FLAGS", "create_flags", "UVERBS_ATTR_CREATE_QP_TYPE", "qp_type"},
	"mlx5-qp/rss-both-ip":                  {"rx_hash_fields_mask"},
	"mlx5-qp/rss-many-l4":                  {"rx_hash_fields_mask"},
	"mlx5-qp/uar-flags":                    {"flags"},
	"mlx5-query-qp/table":                  {"qp_handle"},
	"mlx5-rl/full":                         {"rate_limit", "MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX"},
	"mlx5-srq/type":                        {"UVERBS_ATTR_CREATE_SRQ_TYPE", "srq_type"},
	"mlx5-ts/mismatch":                     {"UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE", "UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE", "send_cq_handle", "recv_cq_handle"},
	"mlx5-uar/no-write-combining":          {"MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE"},
	"query-gid-table/empty":                {"UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES", "UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE"},
	"qp/mcast-attached":                    {"UVERBS_ATTR_DESTROY_QP_HANDLE", "qp_handle"},
	"rxe/post-send-state":                  {"qp_handle"},
	"rxe/qp-access":                        {"qp_access_flags"},
	"rxe/srq-limit":                        {"srq_limit"},
	"rxe/srq-limit-max":                    {"srq_limit", "max_srq_wr"},
	"rxe/srq-type":                         {"UVERBS_ATTR_CREATE_SRQ_TYPE", "srq_type"},
	"cmd-qp/type":                          {"qp_type"},
	"cmd-qp/xrcd":                          {"pd_handle"},
	"cmd/request-fault":                    {"CORE_IN"},
	"gid/empty":                            {"UVERBS_ATTR_QUERY_GID_ENTRY_PORT", "UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX", "port_num", "sgid_index"},
	"gid/index":                            {"sgid_index", "gid_index", "gid_tbl_len"},
	"mlx5-ah/rate":                         {"static_rate"},
	"mlx5-cmd/status":                      {"opcode", "CMD_OUT"},
	"mlx5-cq/no-eq":                        {"opcode", "CMD_IN"},
	"mlx5-cq/no-uar":                       {"flags", "MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX", dynamic},
	"mlx5-cq/padding":                      {"flags", "cqe_size", "cqe_128_always"},
	"mlx5-bfreg/index":                     {"MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX", "bfreg_index"},
	"mlx5-devx/async-not-query":            {"opcode", "CMD_IN"},
	"mlx5-devx/async-object":               {"MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE", "opcode", "CMD_IN"},
	"mlx5-devx/async-tunnel":               {"vhca_tunnel_id", "CMD_IN"},
	"mlx5-devx/create-tunnel":              {"vhca_tunnel_id", "CMD_IN"},
	"mlx5-devx/modify-object":              {"MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE", "opcode", "CMD_IN"},
	"mlx5-devx/modify-tunnel":              {"vhca_tunnel_id", "CMD_IN"},
	"mlx5-devx/no-uid":                     {"opcode", noDevx},
	"mlx5-devx/not-create":                 {"opcode", "CMD_IN"},
	"mlx5-devx/not-general":                {"opcode", "CMD_IN"},
	"mlx5-devx/not-modify":                 {"opcode", "CMD_IN"},
	"mlx5-devx/not-query":                  {"opcode", "CMD_IN"},
	"mlx5-devx/query-object":               {"MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE", "opcode", "CMD_IN"},
	"mlx5-devx/query-tunnel":               {"vhca_tunnel_id", "CMD_IN"},
	"mlx5-devx/subscribe-cookie":           {"MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM", "MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE"},
	"mlx5-devx/subscribe-count":            {"MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST"},
	"mlx5-devx/subscribe-no-uid":           {noDevx},
	"mlx5-devx/subscribe-type":             {"MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST", "MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE"},
	"mlx5-devx/umem-no-uid":                {noDevx},
	"mlx5-devx/umem-page-size":             {"MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP", "MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR", "MLX5_IB_ATTR_DEVX_UMEM_REG_LEN"},
	"mlx5-dm/icm-full":                     {"UVERBS_ATTR_ALLOC_DM_LENGTH"},
	"mlx5-dm/icm-length":                   {"UVERBS_ATTR_ALLOC_DM_LENGTH"},
	"mlx5-dm/icm-none":                     {"MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE"},
	"mlx5-dm/length":                       {"UVERBS_ATTR_ALLOC_DM_LENGTH"},
	"mlx5-dm/no-patterns":                  {"MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE"},
	"mlx5-dm/query-type":                   {"MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE"},
	"mlx5-dm/type":                         {"MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE"},
	"mlx5-flow/anchor-no-namespace":        {"MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE"},
	"mlx5-flow/modify-header-actions":      {"MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM"},
	"mlx5-flow/modify-header-no-namespace": {"MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE"},
	"mlx5-flow/modify-header-table-type":   {"MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE"},
	"mlx5-flow/reformat-unsupported":       {"MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE", "MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE"},
	"mlx5-flow/table-type":                 {"MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE", "MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE"},
	"mlx5-net/no-neighbour":                {"dgid"},
	"mlx5-net/no-route":                    {"dgid"},
	"mlx5-pp/no-uid":                       {noDevx},
	"mlx5-qp/recv-queue":                   {"rq_wqe_count", "rq_wqe_shift", "max_recv_wr", "max_recv_sge"},
	"mlx5-qp/send-size":                    {"sq_wqe_count", "log_max_qp_sz"},
	"mlx5-qp/subtype":                      {"UVERBS_ATTR_CREATE_QP_TYPE", "qp_type", "flags"},
	"mlx5-qp/user-index":                   {"uidx", "cqe_version: 0: the context was made with version 0 of the completion entries"},
	"mlx5-resize/buffer-alignment":         {"buf_addr"},
	"mlx5-resize/request-fault":            {"UHW_IN"},
	"mlx5-rl/range":                        {"MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX", "rate_limit", "packet_pacing_min_rate", "packet_pacing_max_rate"},
	"rxe/create-cq-udata":                  {"UHW_OUT"},
	"rxe/create-qp-flags":                  {"UVERBS_ATTR_CREATE_QP_FLAGS", "create_flags"},
	"rxe/create-qp-udata-out":              {"UHW_OUT"},
	"rxe/create-srq-udata":                 {"UHW_OUT"},
	"rxe/mr-not-persistent":                {"access_flags"},
	"ucontext/twice":                       {"ufile->ucontext: there is one: GET_CONTEXT has succeeded on this descriptor before"},
	"write/mode":                           {"f_mode: the descriptor is not open for writing"},
	"write/response-fault":                 {"RESPONSE"},
}

const (
	noDevx  = "devx_uid: 0: the context was made without MLX5_IB_ALLOC_UCTX_DEVX"
	dynamic = "lib_uar_dyn: true: the context was made with MLX5_LIB_CAP_DYN_UAR"
)

// speaks are the values that the table has for a rule.
func (r *request) speaks(rule string) (out []Value) {
	for _, name := range speaksOf[rule] {
		out = append(out, r.memberValue(name)...)
	}
	return out
}

// memberValue finds a value by its name in the table.
func (r *request) memberValue(name string) []Value {
	if name, says, ok := strings.Cut(name, ": "); ok {
		return []Value{text(name, "%s", says)}
	}
	switch name {
	case "UHW_IN", "UHW_OUT", "CORE_IN", "CORE_OUT":
		return r.part(name)
	case "CMD_IN", "CMD_OUT":
		if a := r.firmware(name); a != "" {
			return r.attrValue(a)
		}
		return nil
	case "opcode":
		return r.commandField("opcode", 0)
	case "vhca_tunnel_id":
		return r.commandField("vhca_tunnel_id", 4)
	case "RESPONSE":
		return r.responseWord()
	}
	if strings.Contains(name, "_ATTR_") {
		if !r.takesAttr(name) {
			return nil
		}
		return r.attrValue(name)
	}
	for _, list := range [][]Value{r.driver, r.core} {
		for _, v := range list {
			if v.Name == name {
				return []Value{v}
			}
		}
	}
	if v, ok := r.deviceLimit(name); ok {
		return []Value{v}
	}
	if r.call.Cap != nil {
		if n, ok := r.call.Cap(name); ok {
			return []Value{number(name, n)}
		}
	}
	return nil
}

// deviceLimit is a limit of the device, under a name that tells it from a member
// of the request that is called the same.
func (r *request) deviceLimit(name string) (Value, bool) {
	for _, v := range r.device() {
		if v.Name == name {
			return r.ofDevice(v), true
		}
	}
	return Value{}, false
}

// ofDevice marks a limit of the device that the request has a member for.
func (r *request) ofDevice(v Value) Value {
	for _, list := range [][]Value{r.core, r.driver, r.attributes()} {
		if _, same := among(list, v.Name); same != nil {
			v.Name = "the device's " + v.Name
			return v
		}
	}
	return v
}

// firmware is the attribute that has a command for the firmware, or its answer.
func (r *request) firmware(end string) string {
	if r.method == nil {
		return ""
	}
	for i := range r.method.Attrs {
		if name := r.method.Attrs[i].Name; strings.HasSuffix(name, "_"+end) {
			return name
		}
	}
	return ""
}

// commandField are two bytes of the command for the firmware.
func (r *request) commandField(name string, at int) []Value {
	a := r.sent(r.firmware("CMD_IN"))
	if a == nil || len(a.In) < at+2 {
		return nil
	}
	return []Value{text(name, "%#x", binary.BigEndian.Uint16(a.In[at:]))}
}

// part is a part of the request or of the response of a command: how long it is,
// and where. A write() has the driver's part behind the core's.
func (r *request) part(name string) []Value {
	attr := "UVERBS_ATTR_" + name
	if r.write != nil {
		return r.writePart(name)
	}
	a := r.sent(attr)
	switch {
	case r.ioctl == nil:
		return nil
	case a == nil && !r.takesAttr(attr):
		return nil
	case a == nil:
		return []Value{text(attr, "not sent")}
	case a.Pointer:
		return []Value{text(attr, "%s", pointsTo(int(a.Len), a.Data))}
	}
	return []Value{text(attr, "%d bytes, in the attribute itself", a.Len)}
}

func (r *request) writePart(name string) []Value {
	if r.command == nil || !r.write.Readable {
		return nil
	}
	header := uint64(spec.CmdHdrSize)
	if r.command.Ex {
		header += spec.ExCmdHdrSize
	}
	switch name {
	case "CORE_IN":
		return []Value{text("request", "%d bytes at %#x, of which %d are wanted", r.call.Length-min(header, r.call.Length), r.call.Addr+header, r.command.ReqSize)}
	case "UHW_IN":
		n := r.driverLength("", "in_words", func(w *spec.Write) uint8 { return w.ReqSize })
		if n.kind != numeric {
			return nil
		}
		core := uint64(r.command.ReqSize)
		if v := r.write.Header.Field("in_words"); r.command.Ex && v != nil {
			core = 8 * v.Num
		}
		return []Value{text("driver's part", "%s bytes at %#x", n.n, r.call.Addr+header+core)}
	case "UHW_OUT":
		n := r.driverLength("", "out_words", func(w *spec.Write) uint8 { return w.RespSize })
		if n.kind != numeric {
			return nil
		}
		return []Value{text("driver's part of the response", "%s bytes", n.n)}
	}
	return nil
}

// responseWord is where the address of the response stands, in the first bytes
// of a request.
func (r *request) responseWord() []Value {
	if r.write == nil {
		return nil
	}
	return []Value{text("response", "the 8 bytes at %#x", r.call.Addr+spec.CmdHdrSize)}
}
