package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// rawPacketQP is a struct mlx5_ib_raw_packet_qp: what a queue pair for raw packets
// is to the device. Packets go out of the send queue through a transport interface
// send (TIS), and come into the receive queue through a TIR.
type rawPacketQP struct {
	tisn, sqn, rqn, tirn uint32
	sqUmem               umem
	sqState, rqState     uint64
	pacing               pacing
	pacingIndex          uint16
}

// Where CREATE_SQ and MODIFY_SQ have the queue's context, and in it the struct wq.
const (
	sqcAt = 32
	sqcWQ = sqcAt + 48
)

// Of a send queue's context (struct sqc).
var sqc = struct {
	flushInError, multiPkt, state, allowSWP, tsFormat, userIndex, cqn, pacingIndex, tisLstSz, tisNum0 ifc.Field
}{
	flushInError: flag(sqcAt, 3), multiPkt: flag(sqcAt, 4), state: field(sqcAt+1, 0, 4), allowSWP: flag(sqcAt+1, 5),
	tsFormat: field(sqcAt+3, 2, 2), userIndex: num(sqcAt+5, 3), cqn: num(sqcAt+9, 3), pacingIndex: num(sqcAt+30, 2),
	tisLstSz: num(sqcAt+32, 2), tisNum0: num(sqcAt+45, 3),
}

var (
	sqWQ      = wqAt(sqcWQ)
	sqUARPage = num(sqcWQ+13, 3)
	rqWQ      = wqAt(rqcWQ)
)

// Of a TIS's context and of a TIR's, in the commands that make them.
const (
	tisTD     = 32 + 37 // transport_domain
	tisQPN    = 32 + 41 // underlay_qpn
	tirAt     = 32
	tirRQN    = tirAt + 29 // inline_rqn
	tirTunnel = tirAt + 32 // tunneled_offload_en
	tirRQT    = tirAt + 33 // indirect_table
	tirTD     = tirAt + 37 // transport_domain
	tirKey    = tirAt + 40 // rx_hash_toeplitz_key
	tirOuter  = tirAt + 80 // rx_hash_field_selector_outer
	tirInner  = tirAt + 84 // rx_hash_field_selector_inner
)

var (
	tirDispType   = field(tirAt+4, 0, 4)
	tirHashFn     = field(tirAt+36, 0, 4)
	tirLBBlock    = field(tirAt+36, 6, 2)
	tirTunnelFlag = flag(tirTunnel, 2)
)

// createRawPacketQP makes the queues of a queue pair whose context has been filled
// in as for any other. It models create_raw_packet_qp in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/raw-…, mlx5-qp/table-no-memory, mlx5-ts/format, mlx5-cmd/…,
// umem/…, pin/….
func (d *Device) createRawPacketQP(q *qp, p *createQPParams, qpin []byte, sqSize uint64) error {
	t := p.udata.Trace()
	defer t.EnterInlined(moduleIB, "create_raw_packet_qp").Leave()
	r := &q.raw
	if q.sq.count == 0 && q.rq.count == 0 {
		return rule.MLX5QPRawEmpty
	}
	if q.sq.count != 0 {
		if err := d.createRawTIS(t, q, p); err != nil {
			return err
		}
		if err := d.createRawSQ(q, p, qpin, sqSize); err != nil {
			d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_TIS, q.uid, r.tisn) // as the kernel does
			return err
		}
		q.qpn = r.sqn
		if q.uid != 0 {
			p.resp.Tisn, p.resp.Sqn = r.tisn, r.sqn
			p.resp.CompMask |= spec.MLX5_IB_CREATE_QP_RESP_MASK_TISN | spec.MLX5_IB_CREATE_QP_RESP_MASK_SQN
		}
	}
	if q.rq.count != 0 {
		if err := d.createRawReceiver(t, q, p, qpin); err != nil {
			d.destroyRawSender(t, q)
			return err
		}
	}
	return nil
}

// createRawReceiver makes the receive queue and its TIR.
func (d *Device) createRawReceiver(t *trace.Task, q *qp, p *createQPParams, qpin []byte) error {
	r := &q.raw
	if err := d.createRawRQ(q, p, qpin); err != nil {
		return err
	}
	if err := d.createRawTIR(t, q, p); err != nil {
		d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_RQ, q.uid, r.rqn) // as the kernel does
		return err
	}
	if q.sq.count == 0 {
		q.qpn = r.rqn
	}
	if q.uid != 0 {
		p.resp.Rqn = r.rqn
		p.resp.CompMask |= spec.MLX5_IB_CREATE_QP_RESP_MASK_RQN
	}
	return nil
}

// createRawTIS models create_raw_packet_qp_tis in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-cmd/….
func (d *Device) createRawTIS(t *trace.Task, q *qp, p *createQPParams) error {
	defer t.EnterInlined(moduleIB, "create_raw_packet_qp_tis").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_TIS, q.uid, 0)
	defer d.giveBack(m)
	num(tisTD, 3).Set(m.in, uint64(p.c.tdn))
	if q.flags&spec.IB_QP_CREATE_SOURCE_QPN != 0 {
		num(tisQPN, 3).Set(m.in, uint64(p.attr.SourceQPN))
	}
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	q.raw.tisn = m.number()
	return nil
}

// createRawSQ models create_raw_packet_qp_sq in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-ts/format, mlx5-qp/raw-send-…, mlx5-qp/table-no-memory,
// mlx5-cmd/…, umem/…, pin/….
func (d *Device) createRawSQ(q *qp, p *createQPParams, qpin []byte, size uint64) (err error) {
	task := p.udata.Task()
	t := task.Trace
	defer t.EnterInlined(moduleIB, "create_raw_packet_qp_sq").Leave()
	ts, err := d.tsCaps(capSQTSFormat).of(toCQ(p.attr.SendCQ))
	if err != nil {
		return err
	}
	r := &q.raw
	if r.sqUmem, err = d.umemGet(task, p.ucmd.SQBufAddr, size, 0); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			r.sqUmem.release(t, d)
		}
	}()
	pgoff := r.sqUmem.findBestWQPgoff(&sqWQ)
	if pgoff.pageSize == 0 {
		return rule.MLX5QPRawSendAlignment
	}
	if t.Fail(trace.Alloc, "create_sq_in") {
		return rule.MLX5QPRawSendNoMemory
	}
	n := r.sqUmem.numDMABlocks(r.sqUmem.dmaAddress(), pgoff.pageSize)
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_SQ, q.uid, 8*n)
	defer d.giveBack(m)
	sqc.flushInError.Set(m.in, 1)
	sqc.multiPkt.Set(m.in, bit(d.caps.has(capMultiPktWQE)))
	sqc.allowSWP.Set(m.in, bit(d.caps.has(capEthNetOffloads) && d.caps.has(capSWP)))
	sqc.tsFormat.Set(m.in, ts)
	sqc.userIndex.Set(m.in, qpc.userIndex.Get(qpin))
	sqc.cqn.Set(m.in, qpc.cqnSnd.Get(qpin))
	sqc.tisLstSz.Set(m.in, 1)
	sqc.tisNum0.Set(m.in, uint64(r.tisn))
	sqUARPage.Set(m.in, qpc.uarPage.Get(qpin))
	d.setRawWQ(m.in, &sqWQ, qpin, &r.sqUmem, pgoff, n)
	sqWQ.logStride.Set(m.in, sendWQEShift)
	sqWQ.logSize.Set(m.in, qpc.logSQSize.Get(qpin))
	r.sqn, err = d.createResource(t, &resSQ, m)
	return err
}

// setRawWQ fills in what both queues say about their memory.
func (d *Device) setRawWQ(in []byte, wq *wqFields, qpin []byte, u *umem, pgoff quantizedPgoff, pages int) {
	wq.typ.Set(in, wqTypeCyclic)
	wq.pd.Set(in, qpc.pd.Get(qpin))
	wq.dbrAddr.Set(in, qpc.dbrAddr.Get(qpin))
	wq.logPageSize.Set(in, log2(pgoff.pageSize)-adapterPageShift)
	wq.pageOffset.Set(in, pgoff.offset)
	u.populatePas(pgoff.pageSize, pages, in[wq.pas:], 0)
}

// createRawRQ models create_raw_packet_qp_rq in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-ts/format, mlx5-qp/raw-recv-…, mlx5-qp/table-no-memory,
// mlx5-cmd/….
func (d *Device) createRawRQ(q *qp, p *createQPParams, qpin []byte) error {
	t := p.udata.Trace()
	defer t.EnterInlined(moduleIB, "create_raw_packet_qp_rq").Leave()
	ts, err := d.tsCaps(capRQTSFormat).of(toCQ(p.attr.RecvCQ))
	if err != nil {
		return err
	}
	if q.umem.Umem == nil { // the kernel follows a null pointer
		t.Warn("create_raw_packet_qp_rq")
		return rule.MLX5QPRawRecvNoBuffer
	}
	pgoff := q.umem.findBestWQPgoff(&rqWQ)
	if pgoff.pageSize == 0 {
		return rule.MLX5QPRawRecvAlignment
	}
	if t.Fail(trace.Alloc, "create_rq_in") {
		return rule.MLX5QPRawRecvNoMemory
	}
	n := q.umem.numDMABlocks(q.umem.dmaAddress(), pgoff.pageSize)
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_RQ, q.uid, 8*n)
	defer d.giveBack(m)
	rqc.keepVLAN.Set(m.in, bit(q.flags&spec.IB_QP_CREATE_CVLAN_STRIPPING == 0))
	rqc.tsFormat.Set(m.in, ts)
	rqc.flushInError.Set(m.in, 1)
	rqc.userIndex.Set(m.in, qpc.userIndex.Get(qpin))
	rqc.cqn.Set(m.in, qpc.cqnRcv.Get(qpin))
	rqc.scatterFCS.Set(m.in, bit(q.flags&spec.IB_QP_CREATE_SCATTER_FCS != 0))
	d.setRawWQ(m.in, &rqWQ, qpin, &q.umem, pgoff, n)
	if q.flags&spec.IB_QP_CREATE_PCI_WRITE_END_PADDING != 0 {
		rqWQ.endPadding.Set(m.in, wqEndPadAlign)
	}
	const strideUnit = 4 // the logarithm of what log_rq_stride counts in
	rqWQ.logStride.Set(m.in, qpc.logRQStride.Get(qpin)+strideUnit)
	rqWQ.logSize.Set(m.in, qpc.logRQSize.Get(qpin))
	q.raw.rqn, err = d.createResource(t, &resRQ, m)
	return err
}

// createRawTIR models create_raw_packet_qp_tir in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/raw-tir-no-memory, mlx5-cmd/….
func (d *Device) createRawTIR(t *trace.Task, q *qp, p *createQPParams) error {
	defer t.EnterInlined(moduleIB, "create_raw_packet_qp_tir").Leave()
	if t.Fail(trace.Alloc, "create_tir_in") {
		return rule.MLX5QPRawTIRNoMemory
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_TIR, q.uid, 0)
	defer d.giveBack(m)
	num(tirRQN, 3).Set(m.in, uint64(q.raw.rqn))
	return d.createTIR(t, q, p, m, q.uid != 0)
}

// createTIR fills in what all TIRs of queue pairs say, makes one, and tells the
// user its number. A loop-back that can be switched off is left out, as for
// transport domains.
func (d *Device) createTIR(t *trace.Task, q *qp, p *createQPParams, m *mailbox, tell bool) error {
	num(tirTD, 3).Set(m.in, uint64(p.c.tdn))
	tirTunnelFlag.Set(m.in, bit(q.flagsEn&spec.MLX5_QP_FLAG_TUNNEL_OFFLOADS != 0))
	const blockUnicast, blockMulticast = 1, 2 // MLX5_TIRC_SELF_LB_BLOCK_BLOCK_…
	tirLBBlock.Set(m.in, blockUnicast*bit(q.flagsEn&spec.MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC != 0)|
		blockMulticast*bit(q.flagsEn&spec.MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC != 0))
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	q.raw.tirn = m.number()
	if !tell {
		return nil
	}
	p.resp.Tirn = q.raw.tirn
	p.resp.CompMask |= spec.MLX5_IB_CREATE_QP_RESP_MASK_TIRN
	if d.caps.has(capRXSWOwner) || d.caps.has(capRXSWOwnerV2) {
		low, middle, high := num(12, 4).Get(m.out), num(8, 1).Get(m.out), num(1, 3).Get(m.out)
		p.resp.TirIcmAddr = low | middle<<32 | high<<40
		p.resp.CompMask |= spec.MLX5_IB_CREATE_QP_RESP_MASK_TIR_ICM_ADDR
	}
	return nil
}

// destroyRawPacketQP models destroy_raw_packet_qp in
// drivers/infiniband/hw/mlx5/qp.c.
func (d *Device) destroyRawPacketQP(t *trace.Task, q *qp) {
	defer t.EnterInlined(moduleIB, "destroy_raw_packet_qp").Leave()
	if q.rq.count != 0 {
		d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_TIR, q.uid, q.raw.tirn) // as the kernel does
		d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_RQ, q.uid, q.raw.rqn)   // as the kernel does
	}
	d.destroyRawSender(t, q)
}

// destroyRawSender ends the send queue and its TIS, if there are any.
func (d *Device) destroyRawSender(t *trace.Task, q *qp) {
	if q.sq.count == 0 {
		return
	}
	r := &q.raw
	d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_SQ, q.uid, r.sqn) // as the kernel does
	r.sqUmem.release(t, d)
	d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_TIS, q.uid, r.tisn) // as the kernel does
}
