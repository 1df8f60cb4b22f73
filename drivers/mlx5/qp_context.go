package mlx5

import "uverbsim/drivers/mlx5/hw/ifc"

// qpcAt is where CREATE_QP, the commands that change a queue pair and the answer
// to QUERY_QP have its context (struct qpc).
const qpcAt = 24

// Of a queue pair's context, from the beginning of the command.
var qpc = struct {
	state, st, pmState, creditMode, offloadType, endPadding                           ifc.Field
	signature, blockLBMC, pd, mtu, logMsgMax, logRQSize, logRQStride, noSQ, logSQSize ifc.Field
	tsFormat, counterSet, uarPage, userIndex, logPageSize, remoteQPN                  ifc.Field
	logAckReqFreq, logSRAMax, retryCount, rnrRetry, nextSendPSN                       ifc.Field
	logDCIChannels, cqnSnd, logDCIErrored, logRRAMax, atomicMode, rre, rwe, rae       ifc.Field
	pageOffset, cdSlaveReceive, cdSlaveSend, cdMaster, minRNRNak, nextRcvPSN, xrcd    ifc.Field
	cqnRcv, dbrAddr, qKey, rqType, srqn, csReq, csRes                                 ifc.Field
	optParamMask, ece, answeredECE, fastRegister, reservedLKey                        ifc.Field
}{
	state: field(qpcAt, 0, 4), st: num(qpcAt+1, 1), pmState: field(qpcAt+2, 3, 2), creditMode: field(qpcAt+2, 6, 2),
	offloadType: field(qpcAt+3, 0, 4), endPadding: field(qpcAt+3, 4, 2), signature: flag(qpcAt+4, 0), blockLBMC: flag(qpcAt+4, 1),
	pd: num(qpcAt+5, 3), mtu: field(qpcAt+8, 0, 3), logMsgMax: field(qpcAt+8, 3, 5), logRQSize: field(qpcAt+9, 1, 4),
	logRQStride: field(qpcAt+9, 5, 3), noSQ: flag(qpcAt+10, 0), logSQSize: field(qpcAt+10, 1, 4), tsFormat: field(qpcAt+11, 0, 2),
	counterSet: num(qpcAt+12, 1), uarPage: num(qpcAt+13, 3), userIndex: num(qpcAt+17, 3), logPageSize: field(qpcAt+20, 3, 5),
	remoteQPN: num(qpcAt+21, 3), logAckReqFreq: field(qpcAt+112, 0, 4), logSRAMax: field(qpcAt+113, 0, 3),
	retryCount: field(qpcAt+113, 5, 3), rnrRetry: field(qpcAt+114, 0, 3), nextSendPSN: num(qpcAt+121, 3),
	logDCIChannels: field(qpcAt+124, 3, 5), cqnSnd: num(qpcAt+125, 3), logDCIErrored: field(qpcAt+128, 3, 5),
	logRRAMax: field(qpcAt+145, 0, 3), atomicMode: field(qpcAt+145, 4, 4), rre: flag(qpcAt+146, 0), rwe: flag(qpcAt+146, 1),
	rae: flag(qpcAt+146, 2), pageOffset: field(qpcAt+146, 4, 6), cdSlaveReceive: flag(qpcAt+147, 5), cdSlaveSend: flag(qpcAt+147, 6),
	cdMaster: flag(qpcAt+147, 7), minRNRNak: field(qpcAt+148, 3, 5), nextRcvPSN: num(qpcAt+149, 3), xrcd: num(qpcAt+153, 3),
	cqnRcv: num(qpcAt+157, 3), dbrAddr: num(qpcAt+160, 8), qKey: num(qpcAt+168, 4), rqType: field(qpcAt+172, 5, 3),
	srqn: num(qpcAt+173, 3), csReq: num(qpcAt+198, 1), csRes: num(qpcAt+199, 1),
	optParamMask: num(16, 4), ece: num(20, 4), answeredECE: num(12, 4), fastRegister: flag(qpcAt+114, 4),
	reservedLKey: flag(qpcAt+11, 3),
}

// createQPPas is where CREATE_QP has the addresses of the queues' pages.
const createQPPas = 272

// adsFields are the fields of a path to the other end (struct ads).
type adsFields struct {
	pkeyIndex, grh, mlid, rlid, ackTimeout, srcAddrIndex, statRate, hopLimit, tclass, flowLabel ifc.Field
	dscp, udpSport, ethPrio, sl, port                                                           ifc.Field
	rgid, rmac                                                                                  int
}

func adsAt(at uint32) adsFields {
	return adsFields{
		pkeyIndex: num(at+2, 2), grh: flag(at+5, 0), mlid: field(at+5, 1, 7), rlid: num(at+6, 2), ackTimeout: field(at+8, 0, 5),
		srcAddrIndex: num(at+9, 1), statRate: field(at+10, 4, 4), hopLimit: num(at+11, 1), tclass: field(at+12, 4, 8),
		flowLabel: field(at+13, 4, 20), dscp: field(at+33, 2, 6), udpSport: num(at+34, 2), ethPrio: field(at+36, 1, 3),
		sl: field(at+36, 4, 4), port: num(at+37, 1), rgid: int(at + 16), rmac: int(at + 38),
	}
}

// The two paths of a queue pair.
var (
	primaryPath   = adsAt(qpcAt + 24)
	secondaryPath = adsAt(qpcAt + 68)
)

// Numbers in a queue pair's context (include/linux/mlx5/qp.h and mlx5_ifc.h).
const (
	qpSTRC           = 0x0
	qpSTUC           = 0x1
	qpSTUD           = 0x2
	qpSTXRC          = 0x3
	qpSTDCI          = 0x5
	qpSTRawEthertype = 0x9

	qpPMArmed    = 0
	qpPMRearm    = 1
	qpPMMigrated = 3

	nonZeroRQ = 0 // MLX5_NON_ZERO_RQ
	srqRQ     = 1 // MLX5_SRQ_RQ
	zeroLenRQ = 3 // MLX5_ZERO_LEN_RQ

	offloadTypeRNDV = 1 // MLX5_QPC_OFFLOAD_TYPE_RNDV

	resScatData32CQE = 0x01 // MLX5_RES_SCAT_DATA32_CQE
	resScatData64CQE = 0x02 // MLX5_RES_SCAT_DATA64_CQE
	reqScatData32CQE = 0x11 // MLX5_REQ_SCAT_DATA32_CQE
	reqScatData64CQE = 0x22 // MLX5_REQ_SCAT_DATA64_CQE
)
