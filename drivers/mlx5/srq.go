package mlx5

import (
	"math/bits"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// srq is a struct mlx5_ib_srq: a user's shared receive queue.
type srq struct {
	coreSRQ
	ib   *core.SRQ
	umem umem
	db   doorbell

	max       uint64 // entries
	stride    uint64 // bytes of each
	maxGS     uint32 // pieces of memory in each
	signature bool
	mutex     trace.Mutex
}

// toSRQ models to_msrq.
func toSRQ(s *core.SRQ) *srq { return s.Driver.(*srq) }

// srqEventNotifier hands an event to the queue that it is about. It models
// srq_event_notifier in drivers/infiniband/hw/mlx5/srq_cmd.c and
// mlx5_ib_srq_event in drivers/infiniband/hw/mlx5/srq.c.
func (d *Device) srqEventNotifier(t *trace.Task, eqe *hw.EQE) {
	typ := uint32(spec.IB_EVENT_SRQ_LIMIT_REACHED)
	switch eqe.Type {
	case eventSRQRQLimit:
	case eventSRQCatasError:
		typ = spec.IB_EVENT_SRQ_ERR
	default:
		return
	}
	defer t.Enter(moduleIB, "srq_event_notifier").Leave()
	_, n := eventObject(eqe)
	q := d.srqs.get(n)
	if q != nil && q.ib.EventHandler != nil {
		q.ib.EventHandler(t, &core.Event{Type: typ, SRQ: q.ib})
	}
}

const (
	srqNextSegSize = 16 // struct mlx5_wqe_srq_next_seg
	minSRQWQESize  = 32

	defaultUserIndex = 0xffffff // MLX5_IB_DEFAULT_UIDX
)

var capLogTagList = gen("log_tag_matching_list_sz")

// createSRQUser reads the user's part of the request, and pins the queue's memory
// and the page of its doorbell record. It models create_srq_user in
// drivers/infiniband/hw/mlx5/srq.c.
//
// Errors: mlx5-srq/…, mlx5-uidx/range, mlx5-doorbell/no-memory, umem/…, pin/….
func (d *Device) createSRQUser(q *srq, in *srqAttr, udata *core.Udata, size uint64) error {
	task := udata.Task()
	t := task.Trace
	defer t.EnterInlined(moduleIB, "create_srq_user").Leave()
	var ucmd spec.Mlx5CreateSRQ
	buf := spec.Bytes(&ucmd)
	n := uint64(len(buf))
	if !udata.CopyFrom(buf[:min(udata.InLen, n)]) {
		return rule.MLX5SRQRequestFault
	}
	if ucmd.Reserved0 != 0 || ucmd.Reserved1 != 0 {
		return rule.MLX5SRQReserved
	}
	if udata.InLen > n && !udata.IsCleared(n, udata.InLen-n) {
		return rule.MLX5SRQTail
	}
	c := toUcontext(udata.Attrs.Ucontext())
	var err error
	if in.typ != srqtBasic {
		const uidxEnd = 28 // where uidx ends in struct mlx5_ib_create_srq
		if in.userIndex, err = c.userIndex(ucmd.Uidx, udata.InLen >= uidxEnd, rule.MLX5SRQUserIndex); err != nil {
			return err
		}
	}
	q.signature = ucmd.Flags&spec.MLX5_SRQ_FLAG_SIGNATURE != 0
	if q.umem, err = d.umemGet(task, ucmd.BufAddr, size, 0); err != nil {
		return err
	}
	if err := c.mapDBUser(task, ucmd.DBAddr, &q.db); err != nil {
		q.umem.release(t, d)
		return err
	}
	if in.typ != srqtXRC {
		in.uid = toPD(q.ib.PD).uid
	}
	if d.caps.get(capCQEVersion) != cqeVersionV1 {
		in.userIndex = 0
	}
	return nil
}

// cqeVersionV1 is MLX5_CQE_VERSION_V1.
const cqeVersionV1 = 1

// userIndex returns the number by which completions name their queue to the user:
// the user's own, where completions carry one and the request has it; refused
// says that it is the other way round. It models get_srq_user_index,
// get_qp_user_index and verify_assign_uidx in
// drivers/infiniband/hw/mlx5/mlx5_ib.h.
//
// Errors: refused, mlx5-uidx/range.
func (c *ucontext) userIndex(uidx uint32, has bool, refused *rule.Rule) (uint32, error) {
	switch {
	case has && c.cqeVersion == 0 && uidx == defaultUserIndex:
		return defaultUserIndex, nil
	case has != (c.cqeVersion != 0):
		return 0, refused
	case c.cqeVersion == 0:
		return defaultUserIndex, nil
	case uidx >= defaultUserIndex:
		return 0, rule.MLX5UserIndexRange
	}
	return uidx, nil
}

// destroyUser models destroy_srq_user in drivers/infiniband/hw/mlx5/srq.c.
func (q *srq) destroyUser(t *trace.Task, c *ucontext) {
	defer t.EnterInlined(moduleIB, "destroy_srq_user").Leave()
	c.unmapDBUser(t, &q.db)
	q.umem.release(t, c.dev)
}

// createSRQ makes a shared receive queue of a power of two of entries, one of
// which stays free. It models mlx5_ib_create_srq in
// drivers/infiniband/hw/mlx5/srq.c.
//
// Errors: mlx5-srq/…, mlx5-uidx/range, mlx5-doorbell/no-memory, mlx5-cmd/…,
// mlx5-eq/no-memory, umem/…, pin/….
func (d *Device) createSRQ(ib *core.SRQ, attr *core.SRQInitAttr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_create_srq").Leave()
	if int(attr.Type) >= len(srqCommands) {
		return rule.MLX5SRQType
	}
	maxSGE := d.caps.get(capMaxWQESzRQ) / dataSegSize
	if attr.Attr.MaxWR >= d.caps.pow2(capLogMaxSRQSz) || uint64(attr.Attr.MaxSGE) > maxSGE {
		return rule.MLX5SRQSize
	}
	if err := d.devResCQInit(t); err != nil {
		return err
	}
	q := &srq{ib: ib, max: roundUpPow2(uint64(attr.Attr.MaxWR) + 1), maxGS: attr.Attr.MaxSGE}
	q.mutex.Name = "mutex"
	stride := max(minSRQWQESize, roundUpPow2(srqNextSegSize+uint64(q.maxGS)*dataSegSize))
	q.stride = stride
	in := &srqAttr{typ: attr.Type, umem: &q.umem, logSize: log2(q.max), logStride: log2(stride)}
	if err := d.createSRQUser(q, in, udata, q.max*stride); err != nil {
		return err
	}
	if err := d.finishCreateSRQ(q, in, attr, udata); err != nil {
		q.destroyUser(t, toUcontext(udata.Attrs.Ucontext()))
		return err
	}
	ib.Driver = q
	attr.Attr.MaxWR = uint32(q.max - 1)
	return nil
}

// finishCreateSRQ is mlx5_ib_create_srq behind create_srq_user.
func (d *Device) finishCreateSRQ(q *srq, in *srqAttr, attr *core.SRQInitAttr, udata *core.Udata) error {
	t := udata.Trace()
	in.signature = q.signature
	in.xrcd = d.xrcdn[0]
	if attr.Type == srqtXRC && attr.XRCD != nil {
		in.xrcd = toXRCDN(attr.XRCD)
	}
	if attr.Type == srqtTM {
		in.logTagList = uint64(bits.Len32(attr.MaxNumTags))
		if in.logTagList > d.caps.get(capLogTagList) {
			return rule.MLX5SRQTags
		}
	}
	in.cqn = d.devr.c0.cqn
	if attr.Type != srqtBasic {
		in.cqn = toCQ(attr.CQ).cqn
	}
	in.pd, in.dbr = toPD(q.ib.PD).pdn(), q.db.dma
	if err := d.cmdCreateSRQ(t, &q.coreSRQ, in); err != nil {
		return err
	}
	d.srqs.set(q.srqn, q)
	q.ib.SRQNum = q.srqn
	resp := spec.Mlx5CreateSRQResp{SRQN: q.srqn}
	buf := spec.Bytes(&resp)
	if !udata.CopyTo(buf[:min(udata.OutLen, uint64(len(buf)))]) {
		d.srqs.set(q.srqn, nil)
		d.cmdDestroySRQ(t, &q.coreSRQ) // as the kernel does
		return rule.MLX5SRQResponseFault
	}
	return nil
}

// modifySRQ asks for an event when a queue runs dry. It models mlx5_ib_modify_srq
// in drivers/infiniband/hw/mlx5/srq.c.
//
// Errors: mlx5-srq/resize, mlx5-srq/limit, mlx5-cmd/….
func (d *Device) modifySRQ(ib *core.SRQ, attr *core.SRQAttr, mask uint32, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_modify_srq").Leave()
	if mask&spec.IB_SRQ_MAX_WR != 0 {
		return rule.MLX5SRQResize
	}
	if mask&spec.IB_SRQ_LIMIT == 0 {
		return nil
	}
	q := toSRQ(ib)
	if uint64(attr.Limit) >= q.max {
		return rule.MLX5SRQLimit
	}
	q.mutex.Lock(t)
	defer q.mutex.Unlock(t)
	return d.cmdArmSRQ(t, &q.coreSRQ, uint16(attr.Limit))
}

// querySRQ models mlx5_ib_query_srq in drivers/infiniband/hw/mlx5/srq.c.
//
// Errors: mlx5-srq/query-no-memory, mlx5-cmd/….
func (d *Device) querySRQ(task *process.Task, ib *core.SRQ, attr *core.SRQAttr) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_query_srq").Leave()
	if t.Fail(trace.Alloc, "mlx5_srq_attr") {
		return rule.MLX5SRQQueryNoMemory
	}
	q := toSRQ(ib)
	lwm, err := d.cmdQuerySRQ(t, &q.coreSRQ)
	if err != nil {
		return err
	}
	*attr = core.SRQAttr{MaxWR: uint32(q.max - 1), MaxSGE: q.maxGS, Limit: lwm}
	return nil
}

// destroySRQ models mlx5_ib_destroy_srq in drivers/infiniband/hw/mlx5/srq.c.
//
// Errors: mlx5-cmd/….
func (d *Device) destroySRQ(ib *core.SRQ, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_destroy_srq").Leave()
	q := toSRQ(ib)
	d.srqs.set(q.srqn, nil)
	if err := d.cmdDestroySRQ(t, &q.coreSRQ); err != nil {
		d.srqs.set(q.srqn, q)
		return err
	}
	q.destroyUser(t, toUcontext(udata.Attrs.Ucontext()))
	return nil
}
