package core

import (
	"uverbsim/spec"
	"uverbsim/trace"
)

// numQPTypes is IB_QPT_MAX of enum ib_qp_type, whose types above it are the
// drivers' own and have no attributes here.
const numQPTypes = spec.IB_QPT_MAX

// qpStep is one step of a QP from a state to another: the attributes that it
// must be given and those that it may be given besides, by type.
type qpStep struct {
	valid         bool
	required, opt [numQPTypes]uint32
}

// byType makes the row of a table for the types that have attributes: reliable
// and unreliable connections, datagrams and the two special types, which want
// the same as each other, and XRC's two ends.
func byType(rc, uc, ud, special, xrcIni, xrcTgt uint32) [numQPTypes]uint32 {
	return [numQPTypes]uint32{
		spec.IB_QPT_RC: rc, spec.IB_QPT_UC: uc, spec.IB_QPT_UD: ud,
		spec.IB_QPT_SMI: special, spec.IB_QPT_GSI: special,
		spec.IB_QPT_XRC_INI: xrcIni, spec.IB_QPT_XRC_TGT: xrcTgt,
	}
}

// rawPacket adds what a QP for raw packets is given to a row.
func rawPacket(mask uint32, row [numQPTypes]uint32) [numQPTypes]uint32 {
	row[spec.IB_QPT_RAW_PACKET] = mask
	return row
}

// Sets of attributes that the table below repeats.
const (
	qpToInit       = spec.IB_QP_PKEY_INDEX | spec.IB_QP_PORT | spec.IB_QP_ACCESS_FLAGS
	qpToInitUD     = spec.IB_QP_PKEY_INDEX | spec.IB_QP_PORT | spec.IB_QP_QKEY
	qpPkeyQkey     = spec.IB_QP_PKEY_INDEX | spec.IB_QP_QKEY
	qpPath         = spec.IB_QP_AV | spec.IB_QP_PATH_MTU | spec.IB_QP_DEST_QPN | spec.IB_QP_RQ_PSN
	qpPathResp     = qpPath | spec.IB_QP_MAX_DEST_RD_ATOMIC | spec.IB_QP_MIN_RNR_TIMER
	qpAltPath      = spec.IB_QP_ALT_PATH | spec.IB_QP_ACCESS_FLAGS | spec.IB_QP_PKEY_INDEX
	qpRetry        = spec.IB_QP_TIMEOUT | spec.IB_QP_RETRY_CNT | spec.IB_QP_RNR_RETRY | spec.IB_QP_SQ_PSN | spec.IB_QP_MAX_QP_RD_ATOMIC
	qpCurQkey      = spec.IB_QP_CUR_STATE | spec.IB_QP_QKEY
	qpMigrate      = spec.IB_QP_CUR_STATE | spec.IB_QP_ALT_PATH | spec.IB_QP_ACCESS_FLAGS | spec.IB_QP_PATH_MIG_STATE
	qpMigrateResp  = qpMigrate | spec.IB_QP_MIN_RNR_TIMER
	qpNotify       = spec.IB_QP_EN_SQD_ASYNC_NOTIFY
	qpSQDCommon    = spec.IB_QP_AV | spec.IB_QP_ALT_PATH | spec.IB_QP_ACCESS_FLAGS | spec.IB_QP_PKEY_INDEX | spec.IB_QP_PATH_MIG_STATE
	qpSQDConnected = qpSQDCommon | spec.IB_QP_PORT | spec.IB_QP_TIMEOUT
	qpSQDReq       = qpSQDConnected | spec.IB_QP_RETRY_CNT | spec.IB_QP_RNR_RETRY | spec.IB_QP_MAX_QP_RD_ATOMIC
	qpSQDResp      = qpSQDConnected | spec.IB_QP_MAX_DEST_RD_ATOMIC | spec.IB_QP_MIN_RNR_TIMER
)

// qpSteps is qp_state_table of drivers/infiniband/core/verbs.c, by the present
// state and the next.
var qpSteps = [spec.IB_QPS_ERR + 1][spec.IB_QPS_ERR + 1]qpStep{
	spec.IB_QPS_RESET: {
		spec.IB_QPS_RESET: {valid: true},
		spec.IB_QPS_INIT: {valid: true,
			required: rawPacket(spec.IB_QP_PORT, byType(qpToInit, qpToInit, qpToInitUD, qpPkeyQkey, qpToInit, qpToInit))},
	},
	spec.IB_QPS_INIT: {
		spec.IB_QPS_RESET: {valid: true},
		spec.IB_QPS_ERR:   {valid: true},
		spec.IB_QPS_INIT: {valid: true,
			opt: byType(qpToInit, qpToInit, qpToInitUD, qpPkeyQkey, qpToInit, qpToInit)},
		spec.IB_QPS_RTR: {valid: true,
			required: byType(qpPathResp, qpPath, 0, 0, qpPath, qpPathResp),
			opt:      byType(qpAltPath, qpAltPath, qpPkeyQkey, qpPkeyQkey, qpAltPath, qpAltPath)},
	},
	spec.IB_QPS_RTR: {
		spec.IB_QPS_RESET: {valid: true},
		spec.IB_QPS_ERR:   {valid: true},
		spec.IB_QPS_RTS: {valid: true,
			required: byType(qpRetry, spec.IB_QP_SQ_PSN, spec.IB_QP_SQ_PSN, spec.IB_QP_SQ_PSN, qpRetry, spec.IB_QP_TIMEOUT|spec.IB_QP_SQ_PSN),
			opt:      rawPacket(spec.IB_QP_RATE_LIMIT, byType(qpMigrateResp, qpMigrate, qpCurQkey, qpCurQkey, qpMigrate, qpMigrateResp))},
	},
	spec.IB_QPS_RTS: {
		spec.IB_QPS_RESET: {valid: true},
		spec.IB_QPS_ERR:   {valid: true},
		spec.IB_QPS_RTS: {valid: true,
			opt: rawPacket(spec.IB_QP_RATE_LIMIT, byType(qpMigrateResp, qpMigrate, qpCurQkey, qpCurQkey, qpMigrate, qpMigrateResp))},
		spec.IB_QPS_SQD: {valid: true,
			opt: byType(qpNotify, qpNotify, qpNotify, qpNotify, qpNotify, qpNotify)},
	},
	spec.IB_QPS_SQD: {
		spec.IB_QPS_RESET: {valid: true},
		spec.IB_QPS_ERR:   {valid: true},
		spec.IB_QPS_RTS: {valid: true,
			opt: byType(qpMigrateResp, qpMigrate, qpCurQkey, qpCurQkey, qpMigrate, qpMigrateResp)},
		spec.IB_QPS_SQD: {valid: true,
			opt: byType(qpSQDReq|qpSQDResp, qpSQDCommon, qpPkeyQkey, qpPkeyQkey, qpSQDReq, qpSQDResp)},
	},
	spec.IB_QPS_SQE: {
		spec.IB_QPS_RESET: {valid: true},
		spec.IB_QPS_ERR:   {valid: true},
		spec.IB_QPS_RTS: {valid: true,
			opt: byType(0, spec.IB_QP_CUR_STATE|spec.IB_QP_ACCESS_FLAGS, qpCurQkey, qpCurQkey, 0, 0)},
	},
	spec.IB_QPS_ERR: {
		spec.IB_QPS_RESET: {valid: true},
		spec.IB_QPS_ERR:   {valid: true},
	},
}

// ModifyQPIsOK says whether a QP of that type may go from one state to the
// next with the attributes in mask. States are at most IB_QPS_ERR. It models
// ib_modify_qp_is_ok in drivers/infiniband/core/verbs.c.
func ModifyQPIsOK(t *trace.Task, cur, next uint8, qpType uint8, mask uint32) bool {
	defer t.Enter(trace.Core, "ib_modify_qp_is_ok").Leave()
	if mask&spec.IB_QP_CUR_STATE != 0 {
		switch cur {
		case spec.IB_QPS_RTR, spec.IB_QPS_RTS, spec.IB_QPS_SQD, spec.IB_QPS_SQE:
		default:
			return false
		}
	}
	required, opt, ok := QPStep(cur, next, qpType)
	return ok && mask&required == required && mask&^(required|opt|spec.IB_QP_STATE) == 0
}

// QPStep is what a QP of that type must be given to go from one state to another,
// as IB_QP_ bits, and what it may be given besides; not ok if there is no such step.
// States are at most IB_QPS_ERR.
func QPStep(cur, next, qpType uint8) (required, opt uint32, ok bool) {
	step := &qpSteps[cur][next]
	if qpType < numQPTypes {
		required, opt = step.required[qpType], step.opt[qpType]
	}
	return required, opt, step.valid
}
