package fuzz

import (
	"encoding/binary"

	"uverbsim/spec"
)

// Where a made-up command has its request, what it is answered, and the memory of
// its queue.
const (
	requestAt  = payloadAt + 0x10000
	responseAt = payloadAt + 0x11000
	bufferAt   = payloadAt + 0x14000
	recordAt   = payloadAt + 0x1c000
)

// request is what a command is handed: the core's part and the driver's.
type request struct{ core, driver any }

// Handles of what equipped makes on mlx5.
const (
	madePD, madeCQ, madeWQ, madeSRQ, madeMR, madeXRCD = 0, 1, 10, 14, 16, 22
)

const ex = spec.IB_USER_VERBS_CMD_FLAG_EXTENDED

// requests are those of the commands of which no recorded case has one with
// something for the driver, by the command's number.
var requests = map[uint64]request{
	spec.IB_USER_VERBS_CMD_CREATE_CQ: {spec.CreateCQ{CQE: 15, CompChannel: -1},
		spec.Mlx5CreateCQ{BufAddr: bufferAt, DBAddr: recordAt, CQESize: 64}},
	spec.IB_USER_VERBS_EX_CMD_CREATE_CQ | ex: {spec.ExCreateCQ{CQE: 15, CompChannel: -1},
		spec.Mlx5CreateCQ{BufAddr: bufferAt, DBAddr: recordAt, CQESize: 64}},
	spec.IB_USER_VERBS_CMD_GET_CONTEXT: {spec.GetContext{}, spec.Mlx5AllocUcontextReqV2{TotalNumBfregs: 16, NumLowLatencyBfregs: 4}},
	spec.IB_USER_VERBS_CMD_REREG_MR: {spec.ReregMR{MRHandle: madeMR, Flags: spec.IB_MR_REREG_ACCESS, PDHandle: madePD,
		AccessFlags: spec.IB_UVERBS_ACCESS_LOCAL_WRITE}, []byte{}},
	spec.IB_USER_VERBS_CMD_REG_MR: {spec.RegMR{Start: bufferAt, HcaVA: bufferAt, Length: 4096, PDHandle: madePD,
		AccessFlags: spec.IB_UVERBS_ACCESS_LOCAL_WRITE}, []byte{}},
	spec.IB_USER_VERBS_CMD_CREATE_QP: {spec.CreateQP{PDHandle: madePD, SendCQHandle: madeCQ, RecvCQHandle: madeCQ, MaxSendWR: 8, MaxRecvWR: 8,
		MaxSendSGE: 1, MaxRecvSGE: 1, QPType: spec.IB_UVERBS_QPT_RC}, queuePair},
	spec.IB_USER_VERBS_EX_CMD_CREATE_QP | ex: {spec.ExCreateQP{PDHandle: madePD, SendCQHandle: madeCQ, RecvCQHandle: madeCQ, MaxSendWR: 8, MaxRecvWR: 8,
		MaxSendSGE: 1, MaxRecvSGE: 1, QPType: spec.IB_UVERBS_QPT_UC}, queuePair},
	spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL | ex: {[]uint32{0, 0, madeWQ, 0}, []byte{}},
	spec.IB_USER_VERBS_EX_CMD_CREATE_WQ | ex: {spec.ExCreateWQ{WQType: spec.IB_WQT_RQ, PDHandle: madePD, CQHandle: madeCQ, MaxWR: 8, MaxSGE: 1},
		spec.Mlx5CreateWQ{BufAddr: bufferAt, DBAddr: recordAt, RQWQECount: 8, RQWQEShift: 6}},
	spec.IB_USER_VERBS_EX_CMD_MODIFY_WQ | ex: {spec.ExModifyWQ{AttrMask: spec.IB_WQ_STATE, WQHandle: madeWQ, WQState: spec.IB_WQS_RDY},
		spec.Mlx5ModifyWQ{}},
	spec.IB_USER_VERBS_CMD_CREATE_SRQ: {spec.CreateSRQ{PDHandle: madePD, MaxWR: 15, MaxSGE: 1},
		spec.Mlx5CreateSRQ{BufAddr: bufferAt, DBAddr: recordAt}},
	spec.IB_USER_VERBS_CMD_CREATE_XSRQ: {spec.CreateXSRQ{PDHandle: madePD, MaxWR: 15, MaxSGE: 1, SRQType: spec.IB_UVERBS_SRQT_XRC, XRCDHandle: madeXRCD,
		CQHandle: madeCQ}, spec.Mlx5CreateSRQ{BufAddr: bufferAt, DBAddr: recordAt}},
	spec.IB_USER_VERBS_CMD_MODIFY_SRQ: {spec.ModifySRQ{SRQHandle: madeSRQ, AttrMask: spec.IB_SRQ_LIMIT, SRQLimit: 1}, []byte{}},
	spec.IB_USER_VERBS_CMD_ALLOC_PD:   {spec.AllocPD{}, []byte{}},
	spec.IB_USER_VERBS_CMD_CREATE_AH: {spec.CreateAH{PDHandle: madePD, Attr: spec.AHAttr{IsGlobal: 1, PortNum: 1,
		GRH: spec.GlobalRoute{DGID: [16]byte{0xfe, 0x80, 15: 1}}}}, []byte{}},
	spec.IB_USER_VERBS_CMD_OPEN_XRCD: {spec.OpenXRCD{FD: ^uint32(0), Oflags: 0o100}, []byte{}},
	spec.IB_USER_VERBS_CMD_OPEN_QP:   {spec.OpenQP{PDHandle: madeXRCD, QPType: spec.IB_UVERBS_QPT_XRC_TGT}, []byte{}},
}

var queuePair = spec.Mlx5CreateQP{BufAddr: bufferAt, DBAddr: recordAt, SQWQECount: 16, RQWQECount: 16, RQWQEShift: 4}

// encoded is a struct, or several numbers, in memory.
func encoded(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err) // only what is above is encoded
	}
	return b
}
