package record

import (
	"encoding/binary"

	"uverbsim/spec"
)

// output is a part of an attribute that the kernel writes.
type output struct {
	attr uint16
	field
}

const (
	coreOut = spec.UVERBS_ATTR_CORE_OUT
	uhwOut  = spec.UVERBS_ATTR_UHW_OUT
)

// numbers are the answers that are numbers of a device.
var numbers = map[method][]output{
	command(spec.IB_USER_VERBS_CMD_ALLOC_PD):                              {{uhwOut, of[spec.Mlx5AllocPDResp]("PDN")}},
	{object: spec.UVERBS_OBJECT_PD, method: spec.MLX5_IB_METHOD_PD_QUERY}: {{spec.MLX5_IB_ATTR_QUERY_PD_RESP_PDN, u32}},

	command(spec.IB_USER_VERBS_CMD_REG_MR):   {{coreOut, of[spec.RegMRResp]("Lkey")}, {coreOut, of[spec.RegMRResp]("Rkey")}},
	command(spec.IB_USER_VERBS_CMD_REREG_MR): {{coreOut, of[spec.ReregMRResp]("Lkey")}, {coreOut, of[spec.ReregMRResp]("Rkey")}},
	command(spec.IB_USER_VERBS_CMD_ALLOC_MW): {{coreOut, of[spec.AllocMWResp]("Rkey")}},
	{object: spec.UVERBS_OBJECT_MR, method: spec.UVERBS_METHOD_DM_MR_REG}: {
		{spec.UVERBS_ATTR_REG_DM_MR_RESP_LKEY, u32}, {spec.UVERBS_ATTR_REG_DM_MR_RESP_RKEY, u32},
	},
	{object: spec.UVERBS_OBJECT_MR, method: spec.UVERBS_METHOD_REG_DMABUF_MR}: {
		{spec.UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, u32}, {spec.UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, u32},
	},
	{object: spec.UVERBS_OBJECT_MR, method: spec.UVERBS_METHOD_QUERY_MR}: {
		{spec.UVERBS_ATTR_QUERY_MR_RESP_LKEY, u32}, {spec.UVERBS_ATTR_QUERY_MR_RESP_RKEY, u32},
		{spec.UVERBS_ATTR_QUERY_MR_RESP_IOVA, u64},
	},

	{object: spec.UVERBS_OBJECT_CQ, method: spec.UVERBS_METHOD_CQ_CREATE}: cqNumber,
	command(spec.IB_USER_VERBS_CMD_CREATE_CQ):                             cqNumber,
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_CQ):                         cqNumber,

	{object: spec.UVERBS_OBJECT_QP, method: spec.UVERBS_METHOD_QP_CREATE}: append(rawNumbers, output{spec.UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, u32}),
	command(spec.IB_USER_VERBS_CMD_CREATE_QP):                             append(rawNumbers, output{coreOut, of[spec.CreateQPResp]("QPN")}),
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_QP):                         append(rawNumbers, output{coreOut, of[spec.ExCreateQPResp]("Base.QPN")}),
	command(spec.IB_USER_VERBS_CMD_OPEN_QP):                               {{coreOut, of[spec.CreateQPResp]("QPN")}},
	extended(spec.IB_USER_VERBS_EX_CMD_MODIFY_QP):                         {{uhwOut, of[spec.Mlx5ModifyQPResp]("Dctn")}},

	{object: spec.UVERBS_OBJECT_SRQ, method: spec.UVERBS_METHOD_SRQ_CREATE}: append(srqNumber, output{spec.UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, u32}),
	command(spec.IB_USER_VERBS_CMD_CREATE_SRQ):                              srqNumber,
	command(spec.IB_USER_VERBS_CMD_CREATE_XSRQ):                             append(srqNumber, output{coreOut, of[spec.CreateSRQResp]("SRQN")}),

	{object: spec.UVERBS_OBJECT_WQ, method: spec.UVERBS_METHOD_WQ_CREATE}: {{spec.UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, u32}},
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_WQ):                         {{coreOut, of[spec.ExCreateWQResp]("WQN")}},
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL):                {{coreOut, of[spec.ExCreateRWQIndTableResp]("IndTblNum")}},

	{object: spec.UVERBS_OBJECT_DM, method: spec.UVERBS_METHOD_DM_ALLOC}:               {{spec.MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, u64}},
	{object: spec.MLX5_IB_OBJECT_UAR, method: spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC}:       {{spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, u32}},
	{object: spec.MLX5_IB_OBJECT_VAR, method: spec.MLX5_IB_METHOD_VAR_OBJ_ALLOC}:       {{spec.MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID, u32}},
	{object: spec.MLX5_IB_OBJECT_PP, method: spec.MLX5_IB_METHOD_PP_OBJ_ALLOC}:         {{spec.MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, u32}},
	{object: spec.MLX5_IB_OBJECT_DEVX, method: spec.MLX5_IB_METHOD_DEVX_QUERY_UAR}:     {{spec.MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, u32}},
	{object: spec.MLX5_IB_OBJECT_DEVX_UMEM, method: spec.MLX5_IB_METHOD_DEVX_UMEM_REG}: {{spec.MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, u32}},
	{object: spec.MLX5_IB_OBJECT_DEVX_OBJ, method: spec.MLX5_IB_METHOD_DEVX_OBJ_CREATE}: {
		{spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, firmwareNumber},
	},
}

// firmwareNumber is the number of the object that a firmware command has made,
// firmwareData what follows the status of one.
var firmwareNumber, firmwareData = field{8, 4}, from(8)

var (
	cqNumber   = []output{{uhwOut, of[spec.Mlx5CreateCQResp]("CQN")}}
	srqNumber  = []output{{uhwOut, of[spec.Mlx5CreateSRQResp]("SRQN")}}
	rawNumbers = []output{
		{uhwOut, of[spec.Mlx5CreateQPResp]("Tirn")}, {uhwOut, of[spec.Mlx5CreateQPResp]("Tisn")},
		{uhwOut, of[spec.Mlx5CreateQPResp]("Rqn")}, {uhwOut, of[spec.Mlx5CreateQPResp]("Sqn")},
		{uhwOut, of[spec.Mlx5CreateQPResp]("TirIcmAddr")},
	}
)

// traffic are the answers that depend on what queues have done.
var traffic = map[method][]output{
	{object: spec.UVERBS_OBJECT_CQ, method: spec.UVERBS_METHOD_CQ_DESTROY}:   {{spec.UVERBS_ATTR_DESTROY_CQ_RESP, from(0)}},
	{object: spec.UVERBS_OBJECT_QP, method: spec.UVERBS_METHOD_QP_DESTROY}:   {{spec.UVERBS_ATTR_DESTROY_QP_RESP, from(0)}},
	{object: spec.UVERBS_OBJECT_SRQ, method: spec.UVERBS_METHOD_SRQ_DESTROY}: {{spec.UVERBS_ATTR_DESTROY_SRQ_RESP, from(0)}},
	{object: spec.UVERBS_OBJECT_WQ, method: spec.UVERBS_METHOD_WQ_DESTROY}:   {{spec.UVERBS_ATTR_DESTROY_WQ_RESP, from(0)}},
	command(spec.IB_USER_VERBS_CMD_DESTROY_CQ):                               {{coreOut, from(0)}},
	command(spec.IB_USER_VERBS_CMD_DESTROY_QP):                               {{coreOut, from(0)}},
	command(spec.IB_USER_VERBS_CMD_DESTROY_SRQ):                              {{coreOut, from(0)}},
	extended(spec.IB_USER_VERBS_EX_CMD_DESTROY_WQ):                           {{coreOut, of[spec.ExDestroyWQResp]("EventsReported")}},
	command(spec.IB_USER_VERBS_CMD_QUERY_SRQ):                                {{coreOut, of[spec.QuerySRQResp]("SRQLimit")}},
	command(spec.IB_USER_VERBS_CMD_POLL_CQ):                                  {{coreOut, from(0)}},

	{object: spec.UVERBS_OBJECT_COUNTERS, method: spec.UVERBS_METHOD_COUNTERS_READ}: {{spec.UVERBS_ATTR_READ_COUNTERS_BUFF, from(0)}},
	{object: spec.MLX5_IB_OBJECT_DEVX_OBJ, method: spec.MLX5_IB_METHOD_DEVX_OBJ_QUERY}: {
		{spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, firmwareData},
	},
}

// qpTraffic is the same of a query of a queue pair that was once ready to
// receive.
var qpTraffic = []output{
	{coreOut, of[spec.QueryQPResp]("RQPSN")}, {coreOut, of[spec.QueryQPResp]("SQPSN")},
	{coreOut, of[spec.QueryQPResp]("QPState")}, {coreOut, of[spec.QueryQPResp]("CurQPState")},
	{coreOut, of[spec.QueryQPResp]("SQDraining")},
}

// counting are the commands of MLX5_IB_METHOD_DEVX_OTHER that read counters, by
// their opcodes in include/linux/mlx5/mlx5_ifc.h.
var counting = map[uint16]bool{
	0x770: true, // MLX5_CMD_OP_QUERY_VPORT_COUNTER
	0x773: true, // MLX5_CMD_OP_QUERY_Q_COUNTER
	0x826: true, // MLX5_CMD_OP_QUERY_CONG_STATISTICS
}

// otherTraffic is the answer of one of them.
var otherTraffic = []output{{spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, firmwareData}}

// varying returns the answers of a call that are not compared; ready says of a
// queue pair's handle whether it was once ready to receive.
func varying(m method, in input, ready func(handle uint32) bool) []output {
	out := append(numbers[m][:len(numbers[m]):len(numbers[m])], traffic[m]...)
	switch m {
	case command(spec.IB_USER_VERBS_CMD_QUERY_QP):
		if ready(uint32(in.number(coreIn, of[spec.QueryQP]("QPHandle")))) {
			out = append(out, qpTraffic...)
		}
	case method{object: spec.MLX5_IB_OBJECT_DEVX, method: spec.MLX5_IB_METHOD_DEVX_OTHER}:
		if b := in[spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_IN]; len(b) >= 2 && counting[binary.BigEndian.Uint16(b)] {
			out = append(out, otherTraffic...)
		}
	}
	return out
}

// becomesReady returns the handle of the queue pair that a call makes ready to
// receive, or moves on from there.
func becomesReady(m method, in input) (handle uint32, ok bool) {
	if m != command(spec.IB_USER_VERBS_CMD_MODIFY_QP) && m != extended(spec.IB_USER_VERBS_EX_CMD_MODIFY_QP) {
		return 0, false
	}
	state := in.number(coreIn, of[spec.ModifyQP]("QPState"))
	ok = in.number(coreIn, of[spec.ModifyQP]("AttrMask"))&spec.IB_QP_STATE != 0 && state >= spec.IB_QPS_RTR
	return uint32(in.number(coreIn, of[spec.ModifyQP]("QPHandle"))), ok
}

// made is the handle, or descriptor, that a write() command returns.
type made struct {
	field
	kind string // what it is, for its name
	fd   bool
}

// makes are the write() commands that make something.
var makes = map[method]made{
	command(spec.IB_USER_VERBS_CMD_GET_CONTEXT):            {of[spec.GetContextResp]("AsyncFD"), "async", true},
	command(spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL):    {of[spec.CreateCompChannelResp]("FD"), "channel", true},
	command(spec.IB_USER_VERBS_CMD_ALLOC_PD):               {of[spec.AllocPDResp]("PDHandle"), "pd", false},
	command(spec.IB_USER_VERBS_CMD_CREATE_AH):              {of[spec.CreateAHResp]("AHHandle"), "ah", false},
	command(spec.IB_USER_VERBS_CMD_REG_MR):                 {of[spec.RegMRResp]("MRHandle"), "mr", false},
	command(spec.IB_USER_VERBS_CMD_ALLOC_MW):               {of[spec.AllocMWResp]("MWHandle"), "mw", false},
	command(spec.IB_USER_VERBS_CMD_CREATE_CQ):              {of[spec.CreateCQResp]("CQHandle"), "cq", false},
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_CQ):          {of[spec.ExCreateCQResp]("Base.CQHandle"), "cq", false},
	command(spec.IB_USER_VERBS_CMD_CREATE_QP):              {of[spec.CreateQPResp]("QPHandle"), "qp", false},
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_QP):          {of[spec.ExCreateQPResp]("Base.QPHandle"), "qp", false},
	command(spec.IB_USER_VERBS_CMD_OPEN_QP):                {of[spec.CreateQPResp]("QPHandle"), "qp", false},
	command(spec.IB_USER_VERBS_CMD_CREATE_SRQ):             {of[spec.CreateSRQResp]("SRQHandle"), "srq", false},
	command(spec.IB_USER_VERBS_CMD_CREATE_XSRQ):            {of[spec.CreateSRQResp]("SRQHandle"), "srq", false},
	command(spec.IB_USER_VERBS_CMD_OPEN_XRCD):              {of[spec.OpenXRCDResp]("XRCDHandle"), "xrcd", false},
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_FLOW):        {of[spec.CreateFlowResp]("FlowHandle"), "flow", false},
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_WQ):          {of[spec.ExCreateWQResp]("WQHandle"), "wq", false},
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL): {of[spec.ExCreateRWQIndTableResp]("IndTblHandle"), "table", false},
}

// offsets are the answers that mmap takes.
var offsets = map[method]output{
	{object: spec.MLX5_IB_OBJECT_UAR, method: spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC}: {spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, u64},
	{object: spec.MLX5_IB_OBJECT_VAR, method: spec.MLX5_IB_METHOD_VAR_OBJ_ALLOC}: {spec.MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET, u64},
}
