package mlx5

import (
	"math/bits"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// qpSTs are the device's numbers of the types of queue pairs (to_mlx5_st in
// drivers/infiniband/hw/mlx5/qp.c).
var qpSTs = map[uint16]uint64{
	spec.IB_QPT_RC: qpSTRC, spec.IB_QPT_UC: qpSTUC, spec.IB_QPT_UD: qpSTUD, spec.IB_QPT_XRC_INI: qpSTXRC,
	spec.IB_QPT_XRC_TGT: qpSTXRC, qptDCI: qpSTDCI, spec.IB_QPT_RAW_PACKET: qpSTRawEthertype,
}

// createUserQP makes a queue pair in the user's memory. It models create_user_qp
// and create_dci in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/…, mlx5-ts/…, mlx5-bfreg/index, mlx5-doorbell/no-memory,
// mlx5-cmd/…, umem/…, pin/….
func (d *Device) createUserQP(t *trace.Task, q *qp, p *createQPParams) error {
	name := "create_user_qp"
	if q.typ == qptDCI {
		name = "create_dci"
	}
	defer t.EnterInlined(moduleIB, name).Leave()
	if err := q.setRQSize(&d.caps, p); err != nil {
		return err
	}
	if int32(p.ucmd.RQWQEShift) != q.rq.shift || int32(p.ucmd.RQWQECount) != q.rq.count {
		return rule.MLX5QPRecvQueue
	}
	if p.ucmd.SQWQECount > d.caps.pow2(capLogMaxQPSz) {
		return rule.MLX5QPSendSize
	}
	var ts uint64
	if p.attr.Type != spec.IB_QPT_RAW_PACKET || q.typ == qptDCI {
		var err error
		if ts, err = d.tsCaps(capQPTSFormat).ofQP(cqOf(p.attr.SendCQ), cqOf(p.attr.RecvCQ)); err != nil {
			return err
		}
	}
	m, sqSize, err := d.prepareUserQP(t, q, p)
	if err != nil {
		return err
	}
	defer d.giveBack(m)
	if d.caps.has(capECESupport) {
		qpc.ece.Set(m.in, uint64(p.ucmd.EceOptions))
	}
	qpc.tsFormat.Set(m.in, ts)
	d.setQPC(q, p, m.in)
	if q.isRaw() {
		err = d.createRawPacketQP(q, p, m.in, sqSize)
	} else if q.qpn, err = d.createResource(t, &resQP, m); err == nil {
		d.tellECE(p, m.out)
	}
	if err != nil {
		q.release(t, p.c)
	}
	return err
}

// cqOf returns the driver's part of a completion queue, nil of none.
func cqOf(c *core.CQ) *cq {
	if c == nil {
		return nil
	}
	return toCQ(c)
}

// tellECE puts what the device made of the enhanced connection's options into the
// response.
func (d *Device) tellECE(p *createQPParams, out []byte) {
	if d.caps.has(capECESupport) {
		p.resp.EceOptions = uint32(qpc.answeredECE.Get(out))
	}
}

// chooseUAR returns the page of registers that a queue pair is rung through: the
// one that the user names, or that of a register which the driver chooses.
//
// Errors: mlx5-qp/cross-channel, mlx5-qp/uar-flags, mlx5-qp/no-register,
// mlx5-bfreg/index.
func (q *qp) chooseUAR(t *trace.Task, p *createQPParams) (uint32, error) {
	const uarFlags = spec.MLX5_QP_FLAG_UAR_PAGE_INDEX | spec.MLX5_QP_FLAG_BFREG_INDEX
	switch q.flagsEn & uarFlags {
	case spec.MLX5_QP_FLAG_UAR_PAGE_INDEX:
		return p.ucmd.BfregIndex, nil
	case spec.MLX5_QP_FLAG_BFREG_INDEX:
		return p.c.bfregnToUARIndex(t, p.ucmd.BfregIndex, true)
	case uarFlags:
		return 0, rule.MLX5QPUARFlags
	}
	if q.flags&spec.IB_QP_CREATE_CROSS_CHANNEL != 0 {
		return 0, rule.MLX5QPCrossChannel
	}
	n, err := p.c.allocBfreg(t)
	if err != nil {
		return 0, err
	}
	q.bfregn = n
	return p.c.bfregnToUARIndex(t, n, false)
}

// adjustBfregn counts a register as if pages had four, as the user does. It models
// adjust_bfregn in drivers/infiniband/hw/mlx5/qp.c.
func adjustBfregn(n uint32) uint32 {
	const bfregsPerUAR = 4 // MLX5_BFREGS_PER_UAR
	return n/nonFPBfregsPerUAR*bfregsPerUAR + n%nonFPBfregsPerUAR
}

// prepareUserQP chooses the register, pins the memory and the doorbell record, and
// begins the command. It returns the length of the send queue where that has
// memory of its own. It models _create_user_qp in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/…, mlx5-bfreg/index, mlx5-doorbell/no-memory, umem/…, pin/….
func (d *Device) prepareUserQP(t *trace.Task, q *qp, p *createQPParams) (m *mailbox, sqSize uint64, err error) {
	defer t.Enter(moduleIB, "_create_user_qp").Leave()
	uar, err := q.chooseUAR(t, p)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			q.umem.release(t, d)
			if q.bfregn != invalidBfreg {
				p.c.bfregs.freeBfreg(t, q.bfregn)
			}
		}
	}()
	if _, ok := shlOverflow(q.rq.count, q.rq.shift); !ok {
		return nil, 0, rule.MLX5QPRecvOverflow
	}
	sizes, err := q.setUserBufSize(&d.caps, p)
	if err != nil {
		return nil, 0, err
	}
	task := p.udata.Task()
	fields := wqFields{logPageSize: qpc.logPageSize, pageOffset: qpc.pageOffset}
	var pgoff quantizedPgoff
	var pages int
	if p.ucmd.BufAddr != 0 && sizes.buf != 0 {
		if q.umem, err = d.umemGet(task, p.ucmd.BufAddr, sizes.buf, 0); err != nil {
			return nil, 0, err
		}
		if pgoff = q.umem.findBestWQPgoff(&fields); pgoff.pageSize == 0 {
			return nil, 0, rule.MLX5QPAlignment
		}
		pages = q.umem.numDMABlocks(q.umem.dmaAddress(), pgoff.pageSize)
	}
	if t.Fail(trace.Alloc, "create_qp_in") {
		return nil, 0, rule.MLX5QPCommandNoMemory
	}
	if err := p.c.mapDBUser(task, p.ucmd.DBAddr, &q.db); err != nil {
		return nil, 0, err
	}
	if p.attr.Type != spec.IB_QPT_XRC_INI {
		q.uid = toPD(q.ib.PD).uid
	}
	m = d.mailbox(ifc.MLX5_CMD_OP_CREATE_QP, q.uid, 8*pages)
	if pages != 0 {
		q.umem.populatePas(pgoff.pageSize, pages, m.in[createQPPas:], 0)
		qpc.logPageSize.Set(m.in, log2(pgoff.pageSize)-adapterPageShift)
		qpc.pageOffset.Set(m.in, pgoff.offset)
	}
	qpc.uarPage.Set(m.in, uint64(uar))
	p.resp.BfregIndex = invalidBfreg
	if q.bfregn != invalidBfreg {
		p.resp.BfregIndex = adjustBfregn(q.bfregn)
	}
	return m, sizes.sq, nil
}

// setQPC fills in the context of a new queue pair.
func (d *Device) setQPC(q *qp, p *createQPParams, in []byte) {
	attr, dci := p.attr, q.typ == qptDCI
	qpc.st.Set(in, qpSTs[q.typ])
	qpc.pmState.Set(in, qpPMMigrated)
	qpc.pd.Set(in, uint64(toPD(q.ib.PD).pdn()))
	qpc.signature.Set(in, bit(q.flagsEn&spec.MLX5_QP_FLAG_SIGNATURE != 0))
	if !dci {
		q.setLoopback(in)
		qpc.creditMode.Set(in, bit(q.flagsEn&spec.MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE != 0))
	}
	q.setCrossChannel(in)
	if q.flagsEn&spec.MLX5_QP_FLAG_SCATTER_CQE != 0 {
		d.setScatterCQE(q, attr, in)
	}
	if q.rq.count != 0 {
		qpc.logRQStride.Set(in, uint64(q.rq.shift-4))
		qpc.logRQSize.Set(in, log2floor(q.rq.count))
	}
	if q.flagsEn&spec.MLX5_QP_FLAG_DCI_STREAM != 0 && dci {
		qpc.logDCIChannels.Set(in, uint64(p.ucmd.DCIStreams.LogNumConcurent))
		qpc.logDCIErrored.Set(in, uint64(p.ucmd.DCIStreams.LogNumErrored))
	}
	qpc.rqType.Set(in, q.rxType(attr))
	if dci || q.sq.count != 0 {
		qpc.logSQSize.Set(in, log2floor(q.sq.count))
	} else {
		qpc.noSQ.Set(in, 1)
		if attr.SRQ != nil && attr.SRQ.Type == srqtTM {
			qpc.offloadType.Set(in, offloadTypeRNDV)
		}
	}
	d.setDefaultResources(attr, in)
	if attr.SendCQ != nil {
		qpc.cqnSnd.Set(in, uint64(toCQ(attr.SendCQ).cqn))
	}
	if attr.RecvCQ != nil {
		qpc.cqnRcv.Set(in, uint64(toCQ(attr.RecvCQ).cqn))
	}
	qpc.dbrAddr.Set(in, q.db.dma)
	d.setUserIndexAndPadding(q, p, in)
}

// setUserIndexAndPadding also takes back the flag for the padding, which
// QUERY_QP's answer does not have; a raw packet queue pair keeps it for its
// receive queue.
func (d *Device) setUserIndexAndPadding(q *qp, p *createQPParams, in []byte) {
	if d.caps.get(capCQEVersion) == cqeVersionV1 {
		qpc.userIndex.Set(in, uint64(p.uidx))
	}
	if q.flags&spec.IB_QP_CREATE_PCI_WRITE_END_PADDING != 0 && q.typ != spec.IB_QPT_RAW_PACKET {
		qpc.endPadding.Set(in, wqEndPadAlign)
		q.flags &^= spec.IB_QP_CREATE_PCI_WRITE_END_PADDING
	}
}

func (q *qp) setLoopback(in []byte) {
	qpc.blockLBMC.Set(in, bit(q.flags&spec.IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK != 0))
	qpc.cdSlaveReceive.Set(in, bit(q.flags&spec.IB_QP_CREATE_MANAGED_RECV != 0))
}

func (q *qp) setCrossChannel(in []byte) {
	qpc.cdMaster.Set(in, bit(q.flags&spec.IB_QP_CREATE_CROSS_CHANNEL != 0))
	qpc.cdSlaveSend.Set(in, bit(q.flags&spec.IB_QP_CREATE_MANAGED_SEND != 0))
}

// log2floor is ilog2 of the kernel.
func log2floor(n int32) uint64 { return uint64(bits.Len32(uint32(n)) - 1) }

// setScatterCQE lets short messages go into the completion itself. It models
// configure_requester_scat_cqe in drivers/infiniband/hw/mlx5/qp.c and what its
// callers do.
func (d *Device) setScatterCQE(q *qp, attr *core.QPInitAttr, in []byte) {
	const large = 128
	size := func(c *core.CQ) uint32 {
		if c == nil {
			return 0
		}
		return toCQ(c).cqeSize
	}
	if q.typ != qptDCI && (attr.Type == spec.IB_QPT_RC || attr.Type == spec.IB_QPT_UC) {
		qpc.csRes.Set(in, resScatData32CQE)
		if size(attr.RecvCQ) == large {
			qpc.csRes.Set(in, resScatData64CQE)
		}
	}
	if q.typ != qptDCI && q.typ != spec.IB_QPT_RC || q.flagsEn&spec.MLX5_QP_FLAG_ALLOW_SCATTER_CQE == 0 && !q.sigAll {
		return
	}
	qpc.csReq.Set(in, reqScatData32CQE)
	if size(attr.SendCQ) == large {
		qpc.csReq.Set(in, reqScatData64CQE)
	}
}

// rxType models get_rx_type in drivers/infiniband/hw/mlx5/qp.c.
func (q *qp) rxType(attr *core.QPInitAttr) uint64 {
	switch {
	case attr.SRQ != nil, q.typ == spec.IB_QPT_XRC_TGT, q.typ == spec.IB_QPT_XRC_INI, q.typ == qptDCI:
		return srqRQ
	case !hasRQ(attr):
		return zeroLenRQ
	}
	return nonZeroRQ
}

// setDefaultResources names objects of the driver's own where the user has none.
func (d *Device) setDefaultResources(attr *core.QPInitAttr, in []byte) {
	r := &d.devr
	switch {
	case attr.Type == spec.IB_QPT_XRC_INI:
		qpc.cqnRcv.Set(in, uint64(r.c0.cqn))
		qpc.xrcd.Set(in, uint64(d.xrcdn[1]))
		qpc.srqn.Set(in, uint64(r.s0.srqn))
	case attr.SRQ != nil:
		qpc.xrcd.Set(in, uint64(d.xrcdn[0]))
		qpc.srqn.Set(in, uint64(toSRQ(attr.SRQ).srqn))
	default:
		qpc.xrcd.Set(in, uint64(d.xrcdn[1]))
		qpc.srqn.Set(in, uint64(r.s1.srqn))
	}
}

// createXRCTgtQP makes the receiving end of an XRC connection, which has no queues
// of its own. It models create_xrc_tgt_qp in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/command-no-memory, mlx5-qp/table-no-memory, mlx5-cmd/….
func (d *Device) createXRCTgtQP(t *trace.Task, q *qp, p *createQPParams) error {
	defer t.EnterInlined(moduleIB, "create_xrc_tgt_qp").Leave()
	if t.Fail(trace.Alloc, "create_qp_in") {
		return rule.MLX5QPCommandNoMemory
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_QP, 0, 0)
	defer d.giveBack(m)
	r := &d.devr
	qpc.st.Set(m.in, qpSTXRC)
	qpc.pmState.Set(m.in, qpPMMigrated)
	qpc.pd.Set(m.in, uint64(r.p0))
	q.setLoopback(m.in)
	q.setCrossChannel(m.in)
	qpc.tsFormat.Set(m.in, d.tsCaps(capQPTSFormat).unlessAsked())
	qpc.rqType.Set(m.in, srqRQ)
	qpc.noSQ.Set(m.in, 1)
	qpc.cqnRcv.Set(m.in, uint64(r.c0.cqn))
	qpc.cqnSnd.Set(m.in, uint64(r.c0.cqn))
	qpc.srqn.Set(m.in, uint64(r.s0.srqn))
	qpc.xrcd.Set(m.in, uint64(toXRCDN(p.attr.XRCD)))
	d.setUserIndexAndPadding(q, p, m.in)
	var err error
	q.qpn, err = d.createResource(t, &resQP, m)
	return err
}
