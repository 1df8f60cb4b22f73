package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// qp is a struct mlx5_ib_qp: a queue pair. To the device one for raw packets is a
// send queue and a receive queue of their own, and one with an indirection table
// is a transport interface receive (TIR). A DCT is no more than the command that
// will make it, until it goes to RTR.
type qp struct {
	ib      *core.QP
	typ     uint16 // enum ib_qp_type, or one of the driver's own
	flags   uint32 // the IB_QP_CREATE_… that are on
	flagsEn uint32 // the MLX5_QP_FLAG_… that are on
	state   uint8
	port    uint32
	uid     uint16
	qpn     uint32
	mutex   trace.Mutex

	umem   umem // the queues' memory
	db     doorbell
	bfregn uint32 // invalidBfreg where the driver has not chosen it
	rq     qpQueue
	sq     qpQueue
	maxGS  uint32 // pieces of memory in a receive work request
	sigAll bool   // every send work request makes a completion

	accessFlags uint32 // atomic_rd_en
	respDepth   uint8

	raw   rawPacketQP
	isRSS bool
	dct   dct
}

// qpQueue is the size of one of a queue pair's queues.
type qpQueue struct{ count, shift int32 }

// Types of queue pairs that only this driver has (drivers/infiniband/hw/mlx5/mlx5_ib.h).
const (
	qptDCI = 0x1002 // MLX5_IB_QPT_DCI
	qptDCT = 0x1003 // MLX5_IB_QPT_DCT
)

// invalidBfreg is MLX5_IB_INVALID_BFREG.
const invalidBfreg = 1 << 31

// toQP models to_mqp.
func toQP(q *core.QP) *qp { return q.Driver.(*qp) }

// State is the state that the driver takes the queue pair to be in.
func (q *qp) State(t *trace.Task) uint8 {
	if q.typ == qptDCT {
		return uint8(q.dct.state.Load())
	}
	q.mutex.Lock(t)
	defer q.mutex.Unlock(t)
	return q.state
}

// isRaw says that the device knows the queue pair as two queues.
func (q *qp) isRaw() bool {
	return q.typ == spec.IB_QPT_RAW_PACKET || q.flags&spec.IB_QP_CREATE_SOURCE_QPN != 0
}

// createQPParams is a struct mlx5_create_qp_params.
type createQPParams struct {
	udata *core.Udata
	c     *ucontext
	attr  *core.QPInitAttr
	ucmd  spec.Mlx5CreateQP
	rss   spec.Mlx5CreateQPRSS // of a queue pair with an indirection table, in ucmd's place
	uidx  uint32
	resp  spec.Mlx5CreateQPResp
}

func (p *createQPParams) isRSS() bool { return p.attr.RWQIndTable != nil }

// hasRequest says that the caller is a user with a request. An XRC target is the
// core's own.
func (p *createQPParams) hasRequest() bool { return p.attr.Type != spec.IB_QPT_XRC_TGT }

// Where what users of long ago do not send, and what must be zero, begins in
// struct mlx5_ib_create_qp.
const (
	createQPOldSize  = 48
	createQPReserved = 54
)

// createQP makes a queue pair. It models mlx5_ib_create_qp in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/…, mlx5-uidx/range, mlx5-ts/…, mlx5-bfreg/index,
// mlx5-doorbell/no-memory, mlx5-srq/no-memory, mlx5-eq/no-memory, mlx5-cmd/…,
// umem/…, pin/….
func (d *Device) createQP(ib *core.QP, attr *core.QPInitAttr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_create_qp").Leave()
	if err := d.devResSRQInit(t); err != nil {
		return err
	}
	if attr.Type == spec.IB_QPT_DRIVER && !d.caps.has(capDCT) {
		return rule.MLX5QPType
	}
	p := &createQPParams{udata: udata, c: toUcontext(udata.Attrs.Ucontext()), attr: attr, uidx: defaultUserIndex}
	q := &qp{ib: ib, typ: uint16(attr.Type), bfregn: invalidBfreg, sigAll: attr.SqSigType == signalAllWR}
	q.mutex.Name = "mutex"
	if p.hasRequest() {
		if err := p.checkValidFlow(); err != nil {
			return err
		}
		if err := p.read(t); err != nil {
			return err
		}
		if err := d.processVendorFlags(q, p); err != nil {
			return err
		}
		if err := p.setUserIndex(); err != nil {
			return err
		}
	}
	if err := d.processCreateFlags(q, p); err != nil {
		return err
	}
	if err := q.checkAttr(attr); err != nil {
		return err
	}
	if err := d.createAnyQP(t, q, p); err != nil {
		return err
	}
	if p.hasRequest() {
		resp := spec.Bytes(&p.resp)
		if !udata.CopyTo(resp[:min(udata.OutLen, uint64(len(resp)))]) {
			if q.typ != qptDCT {
				d.destroyQPCommon(t, q, p.c)
			}
			return rule.MLX5QPResponseFault
		}
	}
	ib.QPNum, ib.Driver = q.qpn, q
	if !q.isRaw() && !q.isRSS && q.typ != qptDCT {
		d.qps.set(q.qpn, q)
	}
	return nil
}

// signalAllWR is IB_SIGNAL_ALL_WR.
const signalAllWR = 0

// checkValidFlow models check_valid_flow in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/raw-version, mlx5-qp/table-type.
func (p *createQPParams) checkValidFlow() error {
	raw := p.attr.Type == spec.IB_QPT_RAW_PACKET
	if raw && p.c.cqeVersion == 0 {
		return rule.MLX5QPRawVersion
	}
	if !raw && p.isRSS() {
		return rule.MLX5QPTableType
	}
	return nil
}

// read reads the user's part of the request. It models process_udata_size and
// check_ucmd_data in drivers/infiniband/hw/mlx5/qp.c, and what follows them.
//
// Errors: mlx5-qp/….
func (p *createQPParams) read(t *trace.Task) error {
	udata := p.udata
	buf, n := spec.Bytes(&p.ucmd), udata.InLen
	if p.isRSS() {
		buf = spec.Bytes(&p.rss)
		size := uint64(len(buf))
		switch {
		case n < size:
			return rule.MLX5QPRSSRequestSize
		case udata.OutLen < 4: // where bfreg_index ends in struct mlx5_ib_create_qp_resp
			return rule.MLX5QPRSSResponseSize
		case n > size && !udata.IsCleared(size, n-size):
			return rule.MLX5QPRSSTail
		}
	} else {
		switch {
		case n < createQPOldSize:
			return rule.MLX5QPRequestSize
		case n > createQPReserved && !udata.IsCleared(createQPReserved, n-createQPReserved):
			return rule.MLX5QPTail
		}
	}
	if t.Fail(trace.Alloc, "ucmd") {
		return rule.MLX5QPNoMemory
	}
	if !udata.CopyFrom(buf[:min(n, uint64(len(buf)))]) {
		return rule.MLX5QPRequestFault
	}
	return nil
}

// setUserIndex models get_qp_uidx in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/user-index, mlx5-uidx/range.
func (p *createQPParams) setUserIndex() (err error) {
	if !p.isRSS() {
		p.uidx, err = p.c.userIndex(p.ucmd.Uidx, true, rule.MLX5QPUserIndex)
	}
	return err
}

// checkAttr models check_qp_attr in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/dct-attr, mlx5-qp/dci-attr, mlx5-qp/rss-attr.
func (q *qp) checkAttr(attr *core.QPInitAttr) error {
	switch {
	case q.typ == qptDCT && (attr.SRQ == nil || attr.RecvCQ == nil):
		return rule.MLX5QPDCTAttr
	case q.typ == qptDCI && (attr.Cap.MaxRecvWR != 0 || attr.Cap.MaxRecvSGE != 0):
		return rule.MLX5QPDCIAttr
	case q.typ == spec.IB_QPT_RAW_PACKET && attr.RWQIndTable != nil && attr.SendCQ != nil:
		return rule.MLX5QPRSSAttr
	}
	return nil
}

// createAnyQP models create_qp in drivers/infiniband/hw/mlx5/qp.c. The queue pairs
// of management (SMI and GSI) are the kernel's own and left out.
//
// Errors: mlx5-qp/…, mlx5-ts/…, mlx5-bfreg/index, mlx5-doorbell/no-memory,
// mlx5-cmd/…, umem/…, pin/….
func (d *Device) createAnyQP(t *trace.Task, q *qp, p *createQPParams) error {
	defer t.EnterInlined(moduleIB, "create_qp").Leave()
	switch {
	case p.isRSS():
		return d.createRSSRawQPTIR(t, q, p)
	case q.typ == qptDCT:
		return d.createDCT(t, q, p)
	case q.typ == spec.IB_QPT_XRC_TGT:
		return d.createXRCTgtQP(t, q, p)
	}
	return d.createUserQP(t, q, p)
}

// destroyQP models mlx5_ib_destroy_qp in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-cmd/….
func (d *Device) destroyQP(ib *core.QP, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_destroy_qp").Leave()
	q := toQP(ib)
	if q.typ == qptDCT {
		return d.destroyDCT(t, q)
	}
	d.destroyQPCommon(t, q, toUcontext(udata.Attrs.Ucontext()))
	return nil
}

// destroyQPCommon ends a queue pair, whatever the device answers. It models
// destroy_qp_common in drivers/infiniband/hw/mlx5/qp.c.
func (d *Device) destroyQPCommon(t *trace.Task, q *qp, c *ucontext) {
	defer t.Enter(moduleIB, "destroy_qp_common").Leave()
	if q.isRSS {
		d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_TIR, q.uid, q.raw.tirn) // as the kernel does
		return
	}
	if q.state != spec.IB_QPS_RESET {
		if q.isRaw() {
			d.modifyRawPacketQP(t, q, &modifyRawQPParam{operation: ifc.MLX5_CMD_OP_2RST_QP}) // as the kernel does
		} else {
			d.destroy(t, ifc.MLX5_CMD_OP_2RST_QP, q.uid, q.qpn) // as the kernel does
		}
	}
	if q.isRaw() {
		d.destroyRawPacketQP(t, q)
	} else {
		d.qps.set(q.qpn, nil)
		d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_QP, q.uid, q.qpn) // as the kernel does
	}
	q.release(t, c)
}

// release gives back what a queue pair of a user holds beside the device's
// objects; an XRC target holds nothing. It models destroy_qp in
// drivers/infiniband/hw/mlx5/qp.c.
func (q *qp) release(t *trace.Task, c *ucontext) {
	defer t.EnterInlined(moduleIB, "destroy_qp").Leave()
	if q.db.page == nil {
		return
	}
	c.unmapDBUser(t, &q.db)
	q.umem.release(t, c.dev)
	if q.bfregn != invalidBfreg {
		c.bfregs.freeBfreg(t, q.bfregn)
	}
}

// hasDevxID says that DEVX commands name the queue pair, or one of the objects
// that it consists of, by that number. It models the part of devx_is_valid_obj_id
// in drivers/infiniband/hw/mlx5/devx.c about queue pairs.
func (q *qp) hasDevxID(id uint64) bool {
	r := &q.raw
	switch {
	case q.isRaw():
		return encObjID(ifc.MLX5_CMD_OP_CREATE_RQ, 0, r.rqn) == id || encObjID(ifc.MLX5_CMD_OP_CREATE_SQ, 0, r.sqn) == id ||
			encObjID(ifc.MLX5_CMD_OP_CREATE_TIR, 0, r.tirn) == id || encObjID(ifc.MLX5_CMD_OP_CREATE_TIS, 0, r.tisn) == id
	case q.typ == qptDCT:
		return encObjID(ifc.MLX5_CMD_OP_CREATE_DCT, 0, q.dct.number.Load()) == id
	}
	return encObjID(ifc.MLX5_CMD_OP_CREATE_QP, 0, q.ib.QPNum) == id
}
