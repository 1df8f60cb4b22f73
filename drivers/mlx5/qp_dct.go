package mlx5

import (
	"slices"
	"sync"
	"sync/atomic"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// dctcAt is where CREATE_DCT and QUERY_DCT's answer have the context (struct
// dctc).
const dctcAt = 16

// Of a DCT's context.
var dctc = struct {
	userIndex, cqn, atomicMode, rre, rwe, rae, csRes, minRNRNak, srqn, pd, tclass, flowLabel ifc.Field
	accessKey, mtu, port, pkeyIndex, myAddrIndex, hopLimit, ethPrio, ece                     ifc.Field
}{
	userIndex: num(dctcAt+5, 3), cqn: num(dctcAt+9, 3), atomicMode: field(dctcAt+13, 0, 4), rre: flag(dctcAt+13, 4),
	rwe: flag(dctcAt+13, 5), rae: flag(dctcAt+13, 6), csRes: num(dctcAt+17, 1), minRNRNak: field(dctcAt+18, 3, 5),
	srqn: num(dctcAt+21, 3), pd: num(dctcAt+25, 3), tclass: num(dctcAt+28, 1), flowLabel: field(dctcAt+29, 4, 20),
	accessKey: num(dctcAt+32, 8), mtu: field(dctcAt+40, 5, 3), port: num(dctcAt+41, 1), pkeyIndex: num(dctcAt+42, 2),
	myAddrIndex: num(dctcAt+45, 1), hopLimit: num(dctcAt+47, 1), ethPrio: field(dctcAt+54, 5, 3), ece: num(dctcAt+60, 4),
}

// dct is what a DCT has in place of a queue pair's. Calls that modify and query one
// hold no common lock of the driver's.
type dct struct {
	state  atomic.Uint32
	port   atomic.Uint32
	number atomic.Uint32 // of the last one that the device has made

	mu sync.Mutex
	in []byte // the command that makes it
}

// createDCT prepares the command that makes the DCT when it goes to RTR. It models
// create_dct in drivers/infiniband/hw/mlx5/qp.c for a device that is not part of
// a bond.
//
// Errors: mlx5-qp/dct-no-memory.
func (d *Device) createDCT(t *trace.Task, q *qp, p *createQPParams) error {
	defer t.EnterInlined(moduleIB, "create_dct").Leave()
	if t.Fail(trace.Alloc, "create_dct_in") {
		return rule.MLX5QPDCTNoMemory
	}
	cmd, _ := ifc.FindCommand(ifc.MLX5_CMD_OP_CREATE_DCT)
	in := make([]byte, cmd.In)
	q.uid = toPD(q.ib.PD).uid
	be.PutUint16(in, ifc.MLX5_CMD_OP_CREATE_DCT)
	be.PutUint16(in[2:], q.uid)
	dctc.pd.Set(in, uint64(toPD(q.ib.PD).pdn()))
	dctc.srqn.Set(in, uint64(toSRQ(p.attr.SRQ).srqn))
	dctc.cqn.Set(in, uint64(toCQ(p.attr.RecvCQ).cqn))
	dctc.accessKey.Set(in, p.ucmd.SQBufAddr)
	dctc.userIndex.Set(in, uint64(p.uidx))
	if d.caps.has(capECESupport) {
		dctc.ece.Set(in, uint64(p.ucmd.EceOptions))
	}
	if q.flagsEn&spec.MLX5_QP_FLAG_SCATTER_CQE != 0 && toCQ(p.attr.RecvCQ).cqeSize == 128 {
		dctc.csRes.Set(in, resScatData64CQE)
	}
	q.dct.in = in
	return nil
}

// destroyDCT models mlx5_ib_destroy_dct in drivers/infiniband/hw/mlx5/qp.c and
// mlx5_core_destroy_dct in drivers/infiniband/hw/mlx5/qpc.c. The event that says
// that the DCT has been drained is not waited for: the emulated device never has
// anything in flight.
//
// Errors: mlx5-cmd/….
func (d *Device) destroyDCT(t *trace.Task, q *qp) error {
	defer t.Enter(moduleIB, "mlx5_ib_destroy_dct").Leave()
	if q.dct.state.Load() != spec.IB_QPS_RTR {
		return nil
	}
	if err := d.destroy(t, ifc.MLX5_CMD_OP_DRAIN_DCT, q.uid, q.dct.number.Load()); err != nil {
		return err
	}
	return d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_DCT, q.uid, q.dct.number.Load())
}

// Where dctn ends in struct mlx5_ib_modify_qp_resp, and the whole.
const (
	modifyQPRespDctn = 8
	modifyQPRespSize = 16
)

// modifyDCT takes a DCT from RESET to INIT, or from INIT to RTR, which makes it.
// It models mlx5_ib_modify_dct in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-modify-dct/…, mlx5-qp/dct-table-no-memory, mlx5-cmd/….
func (d *Device) modifyDCT(q *qp, attr *core.QPAttr, mask uint32, ucmd *spec.Mlx5ModifyQP, udata *core.Udata) error {
	t := udata.Trace()
	defer t.EnterInlined(moduleIB, "mlx5_ib_modify_dct").Leave()
	if mask&spec.IB_QP_STATE == 0 {
		return rule.MLX5ModifyDCTState
	}
	was := uint8(q.dct.state.Load())
	if d.caps.has(capECESupport) && ucmd.EceOptions != 0 {
		q.dct.mu.Lock()
		dctc.ece.Set(q.dct.in, uint64(ucmd.EceOptions))
		q.dct.mu.Unlock()
	}
	var err error
	switch [2]uint8{was, attr.State} {
	case [2]uint8{spec.IB_QPS_RESET, spec.IB_QPS_INIT}:
		err = d.initDCT(q, attr, mask)
	case [2]uint8{spec.IB_QPS_INIT, spec.IB_QPS_RTR}:
		err = d.readyDCT(q, attr, mask, udata)
	default:
		err = rule.MLX5ModifyDCTTransition
	}
	if err == nil {
		q.dct.state.Store(uint32(attr.State))
	}
	return err
}

// initDCT is the part of mlx5_ib_modify_dct about INIT.
func (d *Device) initDCT(q *qp, attr *core.QPAttr, mask uint32) error {
	if mask != spec.IB_QP_STATE|spec.IB_QP_ACCESS_FLAGS|spec.IB_QP_PKEY_INDEX|spec.IB_QP_PORT {
		return rule.MLX5ModifyDCTMask
	}
	if !d.IB.IsPort(attr.PortNum) {
		return rule.MLX5ModifyDCTPort
	}
	c := &q.dct
	c.mu.Lock()
	defer c.mu.Unlock()
	dctc.rre.Set(c.in, bit(attr.AccessFlags&spec.IB_ACCESS_REMOTE_READ != 0))
	dctc.rwe.Set(c.in, bit(attr.AccessFlags&spec.IB_ACCESS_REMOTE_WRITE != 0))
	if attr.AccessFlags&spec.IB_ACCESS_REMOTE_ATOMIC != 0 {
		mode, ok := d.atomicMode(capAtomicSizeDC)
		if !ok {
			return rule.MLX5ModifyDCTAtomic
		}
		dctc.atomicMode.Set(c.in, mode)
		dctc.rae.Set(c.in, 1)
	}
	dctc.pkeyIndex.Set(c.in, uint64(attr.PkeyIndex))
	dctc.port.Set(c.in, uint64(attr.PortNum))
	c.port.Store(attr.PortNum)
	return nil
}

// readyDCT is the part of mlx5_ib_modify_dct about RTR.
func (d *Device) readyDCT(q *qp, attr *core.QPAttr, mask uint32, udata *core.Udata) error {
	t := udata.Trace()
	if udata.OutLen < modifyQPRespDctn {
		return rule.MLX5ModifyDCTResponseSize
	}
	if mask != spec.IB_QP_STATE|spec.IB_QP_MIN_RNR_TIMER|spec.IB_QP_AV|spec.IB_QP_PATH_MTU {
		return rule.MLX5ModifyDCTMask
	}
	in := q.dct.ready(attr, d.IB.LinkLayer)
	out := make([]byte, minCommand)
	if err := checked(d.coreCreateDCT(t, in, out), in, out); err != nil {
		return err
	}
	n := dctNumber(out)
	q.dct.number.Store(n)
	resp := spec.Mlx5ModifyQPResp{ResponseLength: modifyQPRespSize, Dctn: n}
	if udata.OutLen < modifyQPRespSize {
		resp.ResponseLength = modifyQPRespDctn
	}
	if d.caps.has(capECESupport) {
		resp.EceOptions = uint32(qpc.answeredECE.Get(out))
	}
	if !udata.CopyTo(spec.Bytes(&resp)[:resp.ResponseLength]) {
		d.destroy(t, ifc.MLX5_CMD_OP_DRAIN_DCT, q.uid, q.dct.number.Load())   // as the kernel does
		d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_DCT, q.uid, q.dct.number.Load()) // as the kernel does
		return rule.MLX5ModifyDCTResponseFault
	}
	return nil
}

// ready writes what RTR says into the command that makes the DCT, and returns it.
func (c *dct) ready(attr *core.QPAttr, link uint8) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	dctc.minRNRNak.Set(c.in, uint64(attr.MinRNRTimer))
	dctc.tclass.Set(c.in, uint64(attr.AH.TrafficClass))
	dctc.flowLabel.Set(c.in, uint64(attr.AH.FlowLabel))
	dctc.mtu.Set(c.in, uint64(attr.PathMTU))
	dctc.myAddrIndex.Set(c.in, uint64(attr.AH.SGIDIndex))
	dctc.hopLimit.Set(c.in, uint64(attr.AH.HopLimit))
	if link == core.LinkLayerEthernet {
		dctc.ethPrio.Set(c.in, uint64(attr.AH.SL))
	}
	return slices.Clone(c.in)
}

// What a DCT can be asked for.
const queryDCTMask = spec.IB_QP_STATE | spec.IB_QP_ACCESS_FLAGS | spec.IB_QP_PORT | spec.IB_QP_MIN_RNR_TIMER | spec.IB_QP_AV |
	spec.IB_QP_PATH_MTU | spec.IB_QP_PKEY_INDEX

// queryDCT fills in what the mask names. It models mlx5_ib_dct_query_qp in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-query-qp/dct, mlx5-query-qp/no-memory, mlx5-cmd/….
func (d *Device) queryDCT(t *trace.Task, q *qp, attr *core.QPAttr, mask uint32) error {
	defer t.EnterInlined(moduleIB, "mlx5_ib_dct_query_qp").Leave()
	if mask&^queryDCTMask != 0 || q.dct.state.Load() != spec.IB_QPS_RTR {
		return rule.MLX5QueryDCT
	}
	if t.Fail(trace.Alloc, "query_dct_out") {
		return rule.MLX5QueryQPNoMemory
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_QUERY_DCT, 0, 0)
	defer d.giveBack(m)
	m.setNumber(q.dct.number.Load())
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	has := func(bit uint32) bool { return mask&bit != 0 }
	if has(spec.IB_QP_STATE) {
		attr.State = spec.IB_QPS_RTR
	}
	if has(spec.IB_QP_ACCESS_FLAGS) {
		attr.AccessFlags = accessFlags(m.out, dctc.rre, dctc.rwe, dctc.rae)
	}
	if has(spec.IB_QP_PORT) {
		attr.PortNum = q.dct.port.Load()
	}
	if has(spec.IB_QP_MIN_RNR_TIMER) {
		attr.MinRNRTimer = uint8(dctc.minRNRNak.Get(m.out))
	}
	if has(spec.IB_QP_AV) {
		attr.AH.TrafficClass = uint8(dctc.tclass.Get(m.out))
		attr.AH.FlowLabel = uint32(dctc.flowLabel.Get(m.out))
		attr.AH.SGIDIndex = uint8(dctc.myAddrIndex.Get(m.out))
		attr.AH.HopLimit = uint8(dctc.hopLimit.Get(m.out))
	}
	if has(spec.IB_QP_PATH_MTU) {
		attr.PathMTU = uint8(dctc.mtu.Get(m.out))
	}
	if has(spec.IB_QP_PKEY_INDEX) {
		attr.PkeyIndex = uint16(dctc.pkeyIndex.Get(m.out))
	}
	return nil
}

// accessFlags returns what a context allows the other end.
func accessFlags(ctx []byte, read, write, atomic ifc.Field) (flags uint32) {
	return uint32(read.Get(ctx)*spec.IB_ACCESS_REMOTE_READ | write.Get(ctx)*spec.IB_ACCESS_REMOTE_WRITE |
		atomic.Get(ctx)*spec.IB_ACCESS_REMOTE_ATOMIC)
}
