package methods

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// TestCommandsWithoutMemory: each allocation of a command can fail; the handle
// is free again then, nothing is in use, and the same command succeeds later.
func TestCommandsWithoutMemory(t *testing.T) {
	fail := failing{}
	r := newContext(t, trace.NewTask(1, fail), lacking(cmdOps(nil)))
	cq := r.cqByWrite(createCQCmd)
	pd := uint32(r.newPD())
	wq := r.createWQ(pd, cq)
	srq := decode[spec.CreateSRQResp](t, r.commanded(spec.IB_USER_VERBS_CMD_CREATE_SRQ, bytesOf(spec.CreateSRQ{PDHandle: pd}), spec.CreateSRQRespSize)).SRQHandle
	cmd := rcCmd(pd, cq)
	cmd.QPType = spec.IB_QPT_UD
	made, err := r.createQP(cmd)
	require.NoError(t, err)
	qp := made.QPHandle
	ahCmd := spec.CreateAH{PDHandle: pd, Attr: spec.AHAttr{GRH: route, IsGlobal: 1, PortNum: 1}}
	answer, err := r.createAH(ahCmd)
	require.NoError(t, err)
	ah := decode[spec.CreateAHResp](t, answer).AHHandle

	send := sendRequest(qp, 64, []spec.SendWR{{Opcode: spec.IB_UVERBS_WR_SEND, WR: words(ah)}})
	recv := recvRequest(qp, 16, make([]spec.RecvWR, 1))
	srqRecv := recvRequest(srq, 16, make([]spec.RecvWR, 1))
	flow := flowRequest(qp, flowSpecBytes(spec.IB_FLOW_SPEC_ACTION_DROP))
	tests := []struct {
		what    string
		want    *rule.Rule
		cmd     uint8
		ex      bool
		request []byte
		resp    int
	}{
		{"ib_pd", rule.CmdPDNoMemory, spec.IB_USER_VERBS_CMD_ALLOC_PD, false, bytesOf(spec.AllocPD{}), 4},
		{"ib_cq", rule.CmdCQNoMemory, spec.IB_USER_VERBS_CMD_CREATE_CQ, false, bytesOf(createCQCmd), 8},
		{"ib_mw", rule.CmdMWNoMemory, spec.IB_USER_VERBS_CMD_ALLOC_MW, false, bytesOf(spec.AllocMW{PDHandle: pd, MWType: 1}), 8},
		{"ib_ah", rule.AHNoMemory, spec.IB_USER_VERBS_CMD_CREATE_AH, false, bytesOf(ahCmd), 4},
		{"ib_xrcd", rule.XRCDNoMemory, spec.IB_USER_VERBS_CMD_OPEN_XRCD, false, bytesOf(spec.OpenXRCD{FD: ^uint32(0)}), 4},
		{"ib_qp", rule.QPNoMemory, spec.IB_USER_VERBS_CMD_CREATE_QP, false, bytesOf(cmd), spec.CreateQPRespSize},
		{"ib_srq", rule.SRQNoMemory, spec.IB_USER_VERBS_CMD_CREATE_SRQ, false, bytesOf(spec.CreateSRQ{PDHandle: pd}), spec.CreateSRQRespSize},
		{"ib_qp_attr", rule.CmdQPQueryNoMemory, spec.IB_USER_VERBS_CMD_QUERY_QP, false, bytesOf(spec.QueryQP{QPHandle: qp}), spec.QueryQPRespSize},
		{"ib_qp_attr", rule.CmdQPModifyNoMemory, spec.IB_USER_VERBS_CMD_MODIFY_QP, false, bytesOf(spec.ModifyQP{QPHandle: qp}), 0},
		{"ib_uverbs_mcast_entry", rule.CmdMcastNoMemory, spec.IB_USER_VERBS_CMD_ATTACH_MCAST, false, bytesOf(spec.AttachMcast{GID: [16]uint8{0xff}, QPHandle: qp}), 0},
		{"ib_uverbs_send_wr", rule.CmdPostSendNoMemory, spec.IB_USER_VERBS_CMD_POST_SEND, false, send, 4},
		{"ib_send_wr", rule.CmdPostSendWRNoMemory, spec.IB_USER_VERBS_CMD_POST_SEND, false, send, 4},
		{"ib_uverbs_recv_wr", rule.CmdPostRecvNoMemory, spec.IB_USER_VERBS_CMD_POST_RECV, false, recv, 4},
		{"ib_recv_wr", rule.CmdPostRecvWRNoMemory, spec.IB_USER_VERBS_CMD_POST_SRQ_RECV, false, srqRecv, 4},
		{"wqs_handles", rule.CmdRWQHandlesNoMemory, spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, true, tableRequest(0, wq), 16},
		{"wqs", rule.CmdRWQTableNoMemory, spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, true, tableRequest(0, wq), 16},
		{"ib_rwq_ind_table", rule.CmdRWQNoMemory, spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, true, tableRequest(0, wq), 16},
		{"ib_uverbs_flow_attr", rule.CmdFlowSpecsNoMemory, spec.IB_USER_VERBS_EX_CMD_CREATE_FLOW, true, flow, 8},
		{"ib_flow_attr", rule.CmdFlowNoMemory, spec.IB_USER_VERBS_EX_CMD_CREATE_FLOW, true, flow, 8},
		{"ib_uflow_resources", rule.CmdFlowResourcesNoMemory, spec.IB_USER_VERBS_EX_CMD_CREATE_FLOW, true, flow, 8},
	}
	for _, tt := range tests {
		t.Run(tt.want.ID, func(t *testing.T) {
			run := r.command
			if tt.ex {
				run = r.commandEx
			}
			_, handles := r.qp.Object.File().Counts()
			fail[tt.what] = true
			require.Equal(t, error(tt.want), run(tt.cmd, tt.request, r.resp(tt.resp)))
			delete(fail, tt.what)
			_, after := r.qp.Object.File().Counts()
			require.Equal(t, handles, after)
			r.requireUnused()
			require.NoError(t, run(tt.cmd, tt.request, r.resp(tt.resp)))
		})
	}
}
