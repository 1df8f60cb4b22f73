package mlx5

import (
	"math/bits"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// qpCommands are the commands that take a queue pair from a state to another, by
// enum ib_qp_state; 0 is none. It is optab of __mlx5_ib_modify_qp in
// drivers/infiniband/hw/mlx5/qp.c.
var qpCommands = func() (c [spec.IB_QPS_ERR + 1][spec.IB_QPS_ERR + 1]uint16) {
	for cur := range c {
		c[cur][spec.IB_QPS_RESET], c[cur][spec.IB_QPS_ERR] = ifc.MLX5_CMD_OP_2RST_QP, ifc.MLX5_CMD_OP_2ERR_QP
	}
	c[spec.IB_QPS_RESET][spec.IB_QPS_INIT] = ifc.MLX5_CMD_OP_RST2INIT_QP
	c[spec.IB_QPS_INIT][spec.IB_QPS_INIT] = ifc.MLX5_CMD_OP_INIT2INIT_QP
	c[spec.IB_QPS_INIT][spec.IB_QPS_RTR] = ifc.MLX5_CMD_OP_INIT2RTR_QP
	c[spec.IB_QPS_RTR][spec.IB_QPS_RTS] = ifc.MLX5_CMD_OP_RTR2RTS_QP
	c[spec.IB_QPS_RTS][spec.IB_QPS_RTS] = ifc.MLX5_CMD_OP_RTS2RTS_QP
	c[spec.IB_QPS_SQD][spec.IB_QPS_RTS] = ifc.MLX5_CMD_OP_SQD_RTS_QP
	c[spec.IB_QPS_SQE][spec.IB_QPS_RTS] = ifc.MLX5_CMD_OP_SQERR2RTS_QP
	return c
}()

// qpStep is one modification of a queue pair.
type qpStep struct {
	attr      *core.QPAttr
	mask      uint32
	cur, next uint8
	ucmd      spec.Mlx5ModifyQP
	resp      spec.Mlx5ModifyQPResp
}

func (s *qpStep) has(bit uint32) bool { return s.mask&bit != 0 }

// isFirst says that the queue pair leaves RESET for INIT.
func (s *qpStep) isFirst() bool { return s.cur == spec.IB_QPS_RESET && s.next == spec.IB_QPS_INIT }

// modifyQP changes a queue pair's state and attributes. It models
// mlx5_ib_modify_qp in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-modify-qp/…, mlx5-modify-dct/…, mlx5-qp/dct-table-no-memory,
// mlx5-ah/rate, mlx5-rl/…, mlx5-cmd/….
func (d *Device) modifyQP(ib *core.QP, attr *core.QPAttr, mask uint32, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_modify_qp").Leave()
	if ib.RWQIndTable != nil {
		return rule.MLX5ModifyQPTable
	}
	s := qpStep{attr: attr, mask: mask}
	if udata.InLen != 0 {
		if err := readModifyQP(&s.ucmd, udata); err != nil {
			return err
		}
	}
	q := toQP(ib)
	if q.typ == qptDCT {
		return d.modifyDCT(q, attr, mask, &s.ucmd, udata)
	}
	q.mutex.Lock(t)
	defer q.mutex.Unlock(t)
	s.cur = q.state
	if s.has(spec.IB_QP_CUR_STATE) {
		s.cur = attr.CurState
	}
	s.next = s.cur
	if s.has(spec.IB_QP_STATE) {
		s.next = attr.State
	}
	if err := d.checkQPStep(t, q, &s); err != nil {
		return err
	}
	if s.cur == s.next && s.cur == spec.IB_QPS_RESET {
		return nil
	}
	if err := d.doQPStep(t, q, &s); err != nil {
		return err
	}
	if n := uint64(s.resp.ResponseLength); n != 0 && udata.OutLen >= n && !udata.CopyTo(spec.Bytes(&s.resp)) {
		return rule.MLX5ModifyQPResponseFault
	}
	return nil
}

// readModifyQP reads the driver's part of the request.
func readModifyQP(ucmd *spec.Mlx5ModifyQP, udata *core.Udata) error {
	buf := spec.Bytes(ucmd)
	n := uint64(len(buf))
	switch {
	case udata.InLen < n:
		return rule.MLX5ModifyQPRequestSize
	case udata.InLen > n && !udata.IsCleared(n, udata.InLen-n):
		return rule.MLX5ModifyQPTail
	case !udata.CopyFrom(buf):
		return rule.MLX5ModifyQPRequestFault
	case ucmd.CompMask != 0 || ucmd.BurstInfo.Reserved != 0:
		return rule.MLX5ModifyQPReserved
	}
	return nil
}

var (
	capLogMaxRaReqDC = gen("log_max_ra_req_dc")
	capLogMaxRaResDC = gen("log_max_ra_res_dc")
)

// checkQPStep is what mlx5_ib_modify_qp checks before it does anything.
func (d *Device) checkQPStep(t *trace.Task, q *qp, s *qpStep) error {
	switch {
	case q.flags&spec.IB_QP_CREATE_SOURCE_QPN != 0:
		if s.mask&^(spec.IB_QP_STATE|spec.IB_QP_CUR_STATE) != 0 {
			return rule.MLX5ModifyQPUnderlay
		}
	case q.typ == qptDCI:
		if !s.dciIsOK() {
			return rule.MLX5ModifyQPStep
		}
	case !core.ModifyQPIsOK(t, s.cur, s.next, uint8(q.typ), s.mask):
		return rule.MLX5ModifyQPStep
	}
	if s.has(spec.IB_QP_PORT) && !d.IB.IsPort(s.attr.PortNum) {
		return rule.MLX5ModifyQPPort
	}
	if s.has(spec.IB_QP_PKEY_INDEX) && s.attr.PkeyIndex >= d.pkeyTableLen() {
		return rule.MLX5ModifyQPPkey
	}
	res, req := capLogMaxRaResQP, capLogMaxRaReqQP
	if q.typ == qptDCI {
		res, req = capLogMaxRaResDC, capLogMaxRaReqDC
	}
	if s.has(spec.IB_QP_MAX_QP_RD_ATOMIC) && uint32(s.attr.MaxRdAtomic) > d.caps.pow2(res) ||
		s.has(spec.IB_QP_MAX_DEST_RD_ATOMIC) && uint32(s.attr.MaxDestRdAtomic) > d.caps.pow2(req) {
		return rule.MLX5ModifyQPAtomic
	}
	return nil
}

// dciIsOK says whether a DCI may take a step with the attributes that are given.
// It models modify_dci_qp_is_ok in drivers/infiniband/hw/mlx5/qp.c.
func (s *qpStep) dciIsOK() bool {
	const where = spec.IB_QP_PKEY_INDEX | spec.IB_QP_PORT
	const retry = spec.IB_QP_TIMEOUT | spec.IB_QP_RETRY_CNT | spec.IB_QP_RNR_RETRY | spec.IB_QP_MAX_QP_RD_ATOMIC | spec.IB_QP_SQ_PSN
	var required, opt uint32
	switch step := [2]uint8{s.cur, s.next}; {
	case s.next == spec.IB_QPS_RESET, s.cur != spec.IB_QPS_RESET && s.next == spec.IB_QPS_ERR:
	case step == [2]uint8{spec.IB_QPS_RESET, spec.IB_QPS_INIT}:
		required = where
	case step == [2]uint8{spec.IB_QPS_INIT, spec.IB_QPS_INIT}:
		opt = where
	case step == [2]uint8{spec.IB_QPS_INIT, spec.IB_QPS_RTR}:
		required, opt = spec.IB_QP_PATH_MTU, spec.IB_QP_PKEY_INDEX|spec.IB_QP_AV
	case step == [2]uint8{spec.IB_QPS_RTR, spec.IB_QPS_RTS}:
		required, opt = retry, spec.IB_QP_MIN_RNR_TIMER
	case step == [2]uint8{spec.IB_QPS_RTS, spec.IB_QPS_RTS}:
		opt = spec.IB_QP_MIN_RNR_TIMER
	default:
		return false
	}
	required |= spec.IB_QP_STATE
	return s.mask&required == required && s.mask&^(required|opt) == 0
}

// doQPStep takes the step. It models __mlx5_ib_modify_qp in
// drivers/infiniband/hw/mlx5/qp.c for a device that is not part of a bond. Sets of
// counters are left out.
//
// Errors: mlx5-modify-qp/…, mlx5-ah/rate, mlx5-rl/…, mlx5-cmd/….
func (d *Device) doQPStep(t *trace.Task, q *qp, s *qpStep) error {
	defer t.Enter(moduleIB, "__mlx5_ib_modify_qp").Leave()
	if t.Fail(trace.Alloc, "qpc") {
		return rule.MLX5ModifyQPNoMemory
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_RST2INIT_QP, q.uid, 0) // with a context, as all but two have
	defer d.giveBack(m)
	if err := d.setStepQPC(t, q, s, m.in); err != nil {
		return err
	}
	op := qpCommands[s.cur][s.next]
	if op == 0 {
		return rule.MLX5ModifyQPTransition
	}
	var err error
	switch {
	case q.isRaw():
		err = d.stepRawQP(t, q, s, op)
	case op == ifc.MLX5_CMD_OP_2RST_QP || op == ifc.MLX5_CMD_OP_2ERR_QP:
		s.resp.ResponseLength = modifyQPRespSize
		err = d.destroy(t, op, q.uid, q.qpn)
	default:
		s.resp.ResponseLength = modifyQPRespSize
		be.PutUint16(m.in, op)
		m.setNumber(q.qpn)
		qpc.optParamMask.Set(m.in, uint64(optParams(s, qpSTs[q.typ])))
		if d.caps.has(capECESupport) && op != ifc.MLX5_CMD_OP_SQERR2RTS_QP && op != ifc.MLX5_CMD_OP_SQD_RTS_QP {
			qpc.ece.Set(m.in, uint64(s.ucmd.EceOptions))
		}
		if err = d.exec(t, m.in, m.out); err == nil {
			s.resp.EceOptions = uint32(qpc.answeredECE.Get(m.out))
		}
	}
	if err != nil {
		return err
	}
	q.state = s.next
	if s.has(spec.IB_QP_ACCESS_FLAGS) {
		q.accessFlags = s.attr.AccessFlags
	}
	if s.has(spec.IB_QP_MAX_DEST_RD_ATOMIC) {
		q.respDepth = s.attr.MaxDestRdAtomic
	}
	if s.has(spec.IB_QP_PORT) {
		q.port = s.attr.PortNum
	}
	return nil
}

// pmStates are the device's numbers of enum ib_mig_state.
var pmStates = [...]uint64{spec.IB_MIG_MIGRATED: qpPMMigrated, spec.IB_MIG_REARM: qpPMRearm, spec.IB_MIG_ARMED: qpPMArmed}

// setStepQPC fills in the context that a step's command carries.
func (d *Device) setStepQPC(t *trace.Task, q *qp, s *qpStep, in []byte) error {
	a := s.attr
	qpc.st.Set(in, qpSTs[q.typ])
	qpc.pmState.Set(in, qpPMMigrated)
	if s.has(spec.IB_QP_PATH_MIG_STATE) && int(a.PathMigState) < len(pmStates) {
		qpc.pmState.Set(in, pmStates[a.PathMigState])
	}
	if err := d.setMTU(q, s, in); err != nil {
		return err
	}
	setIf := func(bit uint32, f ifc.Field, v uint64) {
		if s.has(bit) {
			f.Set(in, v)
		}
	}
	setIf(spec.IB_QP_DEST_QPN, qpc.remoteQPN, uint64(a.DestQPNum))
	setIf(spec.IB_QP_PKEY_INDEX, primaryPath.pkeyIndex, uint64(a.PkeyIndex))
	setIf(spec.IB_QP_PORT, primaryPath.port, uint64(a.PortNum))
	if s.has(spec.IB_QP_AV) {
		port := q.port
		if s.has(spec.IB_QP_PORT) {
			port = a.PortNum
		}
		if err := d.setPath(t, q, s, in, &primaryPath, &a.AH, port); err != nil {
			return err
		}
	}
	setIf(spec.IB_QP_TIMEOUT, primaryPath.ackTimeout, uint64(a.Timeout))
	if s.has(spec.IB_QP_ALT_PATH) {
		if err := d.setPath(t, q, s, in, &secondaryPath, &a.AltAH, a.AltPortNum); err != nil {
			return err
		}
		secondaryPath.pkeyIndex.Set(in, uint64(a.AltPkeyIndex))
		secondaryPath.ackTimeout.Set(in, uint64(a.AltTimeout))
	}
	d.setStepResources(q, in)
	const ackReqFreq = 8 // MLX5_IB_ACK_REQ_FREQ
	qpc.logAckReqFreq.Set(in, ackReqFreq)
	setIf(spec.IB_QP_RNR_RETRY, qpc.rnrRetry, uint64(a.RNRRetry))
	setIf(spec.IB_QP_RETRY_CNT, qpc.retryCount, uint64(a.RetryCnt))
	setIf(spec.IB_QP_MAX_QP_RD_ATOMIC, qpc.logSRAMax, logDepth(a.MaxRdAtomic))
	setIf(spec.IB_QP_SQ_PSN, qpc.nextSendPSN, uint64(a.SqPSN))
	setIf(spec.IB_QP_MAX_DEST_RD_ATOMIC, qpc.logRRAMax, logDepth(a.MaxDestRdAtomic))
	if s.has(spec.IB_QP_ACCESS_FLAGS | spec.IB_QP_MAX_DEST_RD_ATOMIC) {
		if err := d.setAtomicFlags(q, s, in); err != nil {
			return err
		}
	}
	setIf(spec.IB_QP_MIN_RNR_TIMER, qpc.minRNRNak, uint64(a.MinRNRTimer))
	setIf(spec.IB_QP_RQ_PSN, qpc.nextRcvPSN, uint64(a.RqPSN))
	setIf(spec.IB_QP_QKEY, qpc.qKey, uint64(a.QKey))
	if q.rq.count != 0 && s.isFirst() {
		qpc.dbrAddr.Set(in, q.db.dma)
	}
	return nil
}

// logDepth is the logarithm of a depth, rounded up.
func logDepth(n uint8) uint64 {
	if n == 0 {
		return 0
	}
	return uint64(bits.Len8(n - 1))
}

// setMTU is what __mlx5_ib_modify_qp says about the size of messages.
func (d *Device) setMTU(q *qp, s *qpStep, in []byte) error {
	mtu := s.attr.PathMTU
	switch {
	case q.typ == spec.IB_QPT_UD && q.flags&spec.IB_QP_CREATE_SOURCE_QPN == 0:
		const logMsgMax = 12
		qpc.mtu.Set(in, spec.IB_MTU_4096)
		qpc.logMsgMax.Set(in, logMsgMax)
	case s.has(spec.IB_QP_PATH_MTU):
		if mtu < spec.IB_MTU_256 || mtu > spec.IB_MTU_4096 {
			return rule.MLX5ModifyQPMTU
		}
		qpc.mtu.Set(in, uint64(mtu))
		qpc.logMsgMax.Set(in, d.caps.get(capLogMaxMsg))
	}
	return nil
}

// setStepResources names the protection domain and the completion queues again.
func (d *Device) setStepResources(q *qp, in []byte) {
	pdn := d.devr.p0
	if q.ib.PD != nil {
		pdn = toPD(q.ib.PD).pdn()
	}
	qpc.pd.Set(in, uint64(pdn))
	if q.typ == qptDCI || q.typ == spec.IB_QPT_XRC_TGT {
		return
	}
	if c := cqOf(q.ib.SendCQ); c != nil {
		qpc.cqnSnd.Set(in, uint64(c.cqn))
	}
	if c := cqOf(q.ib.RecvCQ); c != nil && q.typ != spec.IB_QPT_XRC_INI {
		qpc.cqnRcv.Set(in, uint64(c.cqn))
	}
}

// setAtomicFlags says what the other end may do. It models set_qpc_atomic_flags in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-modify-qp/atomic-mode.
func (d *Device) setAtomicFlags(q *qp, s *qpStep, in []byte) error {
	depth, access := q.respDepth, q.accessFlags
	if s.has(spec.IB_QP_MAX_DEST_RD_ATOMIC) {
		depth = s.attr.MaxDestRdAtomic
	}
	if s.has(spec.IB_QP_ACCESS_FLAGS) {
		access = s.attr.AccessFlags
	}
	if depth == 0 {
		access &= spec.IB_ACCESS_REMOTE_WRITE
	}
	qpc.rre.Set(in, bit(access&spec.IB_ACCESS_REMOTE_READ != 0))
	qpc.rwe.Set(in, bit(access&spec.IB_ACCESS_REMOTE_WRITE != 0))
	if access&spec.IB_ACCESS_REMOTE_ATOMIC != 0 {
		mode, ok := d.atomicMode(capAtomicSizeQP)
		if !ok {
			return rule.MLX5ModifyQPAtomicMode
		}
		qpc.rae.Set(in, 1)
		qpc.atomicMode.Set(in, mode)
	}
	return nil
}

var capAtomicSizeDC = atomics("atomic_size_dc")

// atomicMode returns the widest operands of atomic operations that the device can
// do, by its number; false if it does none. It models get_atomic_mode and
// atomic_size_to_mode in drivers/infiniband/hw/mlx5/qp.c.
func (d *Device) atomicMode(sizes capability) (uint64, bool) {
	const (
		standard, extended = 1<<0 | 1<<1, 1<<2 | 1<<3 // compare and swap, fetch and add
		sizeMask           = 1<<9 - 1                 // up to 256 bytes
		ibComp, mode8B     = 1, 3
	)
	if !d.caps.has(capAtomic) {
		return 0, false
	}
	ops := d.caps.get(capAtomicOperations)
	if size := d.caps.get(sizes) & sizeMask; ops&extended != 0 && size != 0 {
		return max(mode8B, uint64(bits.Len64(size)-1)), true
	}
	return ibComp, ops&standard == standard
}
