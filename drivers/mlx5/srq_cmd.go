package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// Types of shared receive queues (enum ib_srq_type in
// include/uapi/rdma/ib_user_verbs.h).
const (
	srqtBasic = 0
	srqtXRC   = 1
	srqtTM    = 2
)

// field is a number of a command at a bit behind a byte.
func field(at, bit, width uint32) ifc.Field {
	return ifc.Field{Off: 8*at + bit, Width: width, Count: 1}
}

// wqFields are the fields of a struct wq that begins at a byte: a queue of work
// requests.
type wqFields struct {
	typ, signature, endPadding, pageOffset, lwm, pd, dbrAddr, logStride, logPageSize, logSize ifc.Field
	logStrides, twoByteShift, logStrideSize                                                   ifc.Field
	pas                                                                                       int
}

func wqAt(at uint32) wqFields {
	return wqFields{
		typ: field(at, 0, 4), signature: field(at, 4, 1), endPadding: field(at, 5, 2), pageOffset: field(at+5, 3, 5),
		lwm: num(at+6, 2), pd: num(at+9, 3), dbrAddr: num(at+16, 8), logStride: field(at+33, 4, 4),
		logPageSize: field(at+34, 3, 5), logSize: field(at+35, 3, 5), logStrides: field(at+38, 4, 4),
		twoByteShift: flag(at+39, 0), logStrideSize: field(at+39, 5, 3), pas: int(at + 192),
	}
}

// xrcSRQAt has the fields of a struct xrc_srqc that begins at a byte.
func xrcSRQAt(at uint32) wqFields {
	return wqFields{
		logSize: field(at, 4, 4), signature: flag(at+4, 0), logStride: field(at+4, 5, 3), pageOffset: field(at+8, 0, 6),
		logPageSize: field(at+16, 2, 6), pd: num(at+25, 3), lwm: num(at+28, 2), dbrAddr: num(at+40, 8), pas: int(at + 256),
	}
}

// srqCmds are the commands about one type of shared receive queues. Of a basic one
// the device knows as a receive memory pool, of one with tag matching as an XRQ.
type srqCmds struct {
	create, destroy, query, arm uint16
	wq                          wqFields   // in the command that makes one
	set                         []setting  // what else that command says
	logStride                   uint64     // the logarithm of a stride that the device calls 0
	cqn, userIndex              *ifc.Field // nil where there is none
	armLWM                      ifc.Field
	armSet                      []setting
	lwm                         ifc.Field // in the answer to a query
}

// setting is a field of a command with a fixed number.
type setting struct {
	field ifc.Field
	value uint64
}

// Settings of commands (include/linux/mlx5/mlx5_ifc.h).
const (
	rmpcStateRDY     = 1 // MLX5_RMPC_STATE_RDY
	xrqcTagMatching  = 1 // MLX5_XRQC_TOPOLOGY_TAG_MATCHING
	xrqcOffloadRndv  = 1 // MLX5_XRQC_OFFLOAD_RNDV
	armXRCSRQOpMod   = 1 // MLX5_ARM_XRC_SRQ_IN_OP_MOD_XRC_SRQ
	armXRQOpMod      = 2 // MLX5_ARM_RQ_IN_OP_MOD_XRQ
	srqContext       = 16
	rmpWQ            = 32 + 48
	xrqWQ            = 16 + 128
	rmpState         = 32
	srqUserIndexByte = 17
)

var (
	opMod = num(6, 2)

	xrcCQN, xrcUserIndex = num(srqContext+9, 3), num(srqContext+srqUserIndexByte, 3)
	xrqCQN, xrqUserIndex = num(srqContext+9, 3), num(srqContext+5, 3)

	xrcdField     = num(srqContext+5, 3)
	xrqLogTagList = field(srqContext+32, 0, 4)
)

// srqCommands are the commands by type.
var srqCommands = [...]srqCmds{
	srqtBasic: {
		create: ifc.MLX5_CMD_OP_CREATE_RMP, destroy: ifc.MLX5_CMD_OP_DESTROY_RMP,
		query: ifc.MLX5_CMD_OP_QUERY_RMP, arm: ifc.MLX5_CMD_OP_MODIFY_RMP,
		wq: wqAt(rmpWQ), set: []setting{{field(rmpState+1, 0, 4), rmpcStateRDY}},
		armLWM: wqAt(rmpWQ).lwm,
		armSet: []setting{{field(8, 0, 4), rmpcStateRDY}, {flag(16+7, 7), 1}, {field(rmpState+1, 0, 4), rmpcStateRDY}},
		lwm:    wqAt(rmpWQ).lwm,
	},
	srqtXRC: {
		create: ifc.MLX5_CMD_OP_CREATE_XRC_SRQ, destroy: ifc.MLX5_CMD_OP_DESTROY_XRC_SRQ,
		query: ifc.MLX5_CMD_OP_QUERY_XRC_SRQ, arm: ifc.MLX5_CMD_OP_ARM_XRC_SRQ,
		wq: xrcSRQAt(srqContext), logStride: 4, cqn: &xrcCQN, userIndex: &xrcUserIndex,
		armLWM: num(14, 2), armSet: []setting{{opMod, armXRCSRQOpMod}},
		lwm: xrcSRQAt(srqContext).lwm,
	},
	srqtTM: {
		create: ifc.MLX5_CMD_OP_CREATE_XRQ, destroy: ifc.MLX5_CMD_OP_DESTROY_XRQ,
		query: ifc.MLX5_CMD_OP_QUERY_XRQ, arm: ifc.MLX5_CMD_OP_ARM_RQ,
		wq:  wqAt(xrqWQ),
		set: []setting{{field(srqContext+2, 4, 4), xrqcTagMatching}, {field(srqContext+3, 4, 4), xrqcOffloadRndv}},
		cqn: &xrqCQN, userIndex: &xrqUserIndex,
		armLWM: num(14, 2), armSet: []setting{{opMod, armXRQOpMod}},
		lwm: wqAt(xrqWQ).lwm,
	},
}

// srqAttr is a struct mlx5_srq_attr: what a new queue is like.
type srqAttr struct {
	typ                      uint8
	uid                      uint16
	umem                     *umem // the queue's memory
	logSize, logStride       uint64
	signature                bool
	pd, cqn, xrcd, userIndex uint32
	dbr                      uint64
	logTagList               uint64
}

// coreSRQ is a struct mlx5_core_srq.
type coreSRQ struct {
	typ  uint8
	srqn uint32
	uid  uint16
}

// wqPgoffScale is what the offset of a work queue's buffer counts in: 64ths of a
// page.
const wqPgoffScale = 64

// findBestWQPgoff is findBestQuantizedPgoff for a work queue, whose offset in its
// first page may take bits of the address up to the 32nd. It models
// mlx5_umem_find_best_quantized_pgoff in drivers/infiniband/hw/mlx5/mlx5_ib.h.
func (u *umem) findBestWQPgoff(wq *wqFields) quantizedPgoff {
	const mask = 1<<32 - wqPgoffScale
	return u.findBestQuantizedPgoff(logPageSizeToBitmap(wq.logPageSize, adapterPageShift),
		uint(wq.pageOffset.Width), mask, wqPgoffScale)
}

// cmdCreateSRQ makes a shared receive queue. It models mlx5_cmd_create_srq in
// drivers/infiniband/hw/mlx5/srq_cmd.c for a device with the new interface
// (issi 1).
//
// Errors: mlx5-srq/buffer-alignment, mlx5-srq/no-memory, mlx5-cmd/….
func (d *Device) cmdCreateSRQ(t *trace.Task, srq *coreSRQ, in *srqAttr) error {
	defer t.Enter(moduleIB, "mlx5_cmd_create_srq").Leave()
	c := &srqCommands[in.typ]
	pgoff := in.umem.findBestWQPgoff(&c.wq)
	if pgoff.pageSize == 0 {
		return rule.MLX5SRQAlignment
	}
	n := in.umem.numDMABlocks(in.umem.dmaAddress(), pgoff.pageSize)
	if t.Fail(trace.Alloc, "create_srq_in") {
		return rule.MLX5SRQNoMemory
	}
	m := d.mailbox(c.create, in.uid, 8*n)
	defer d.giveBack(m)
	in.umem.populatePas(pgoff.pageSize, n, m.in[c.wq.pas:], 0)
	for _, s := range c.set {
		s.field.Set(m.in, s.value)
	}
	c.wq.signature.Set(m.in, bit(in.signature))
	c.wq.logPageSize.Set(m.in, log2(pgoff.pageSize)-adapterPageShift)
	c.wq.logStride.Set(m.in, in.logStride-c.logStride)
	c.wq.logSize.Set(m.in, in.logSize)
	c.wq.pageOffset.Set(m.in, pgoff.offset)
	c.wq.pd.Set(m.in, uint64(in.pd))
	c.wq.dbrAddr.Set(m.in, in.dbr)
	if c.cqn != nil {
		c.cqn.Set(m.in, uint64(in.cqn))
		c.userIndex.Set(m.in, uint64(in.userIndex))
	}
	switch in.typ {
	case srqtXRC:
		xrcdField.Set(m.in, uint64(in.xrcd))
	case srqtTM:
		xrqLogTagList.Set(m.in, in.logTagList)
	}
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	*srq = coreSRQ{in.typ, m.number(), in.uid}
	if t.Fail(trace.Alloc, "srq_table_entry") {
		d.destroy(t, c.destroy, in.uid, srq.srqn) // as the kernel does, whatever it answers
		return rule.MLX5SRQNoMemory
	}
	return nil
}

// cmdDestroySRQ models mlx5_cmd_destroy_srq in
// drivers/infiniband/hw/mlx5/srq_cmd.c.
//
// Errors: mlx5-cmd/….
func (d *Device) cmdDestroySRQ(t *trace.Task, srq *coreSRQ) error {
	defer t.Enter(moduleIB, "mlx5_cmd_destroy_srq").Leave()
	return d.destroy(t, srqCommands[srq.typ].destroy, srq.uid, srq.srqn)
}

// cmdArmSRQ asks for an event when fewer entries than lwm are left. It models
// mlx5_cmd_arm_srq in drivers/infiniband/hw/mlx5/srq_cmd.c.
//
// Errors: mlx5-srq/no-memory, mlx5-cmd/….
func (d *Device) cmdArmSRQ(t *trace.Task, srq *coreSRQ, lwm uint16) error {
	defer t.Enter(moduleIB, "mlx5_cmd_arm_srq").Leave()
	if srq.typ == srqtBasic && (t.Fail(trace.Alloc, "modify_rmp_in") || t.Fail(trace.Alloc, "modify_rmp_out")) {
		return rule.MLX5SRQNoMemory
	}
	c := &srqCommands[srq.typ]
	m := d.mailbox(c.arm, srq.uid, 0)
	defer d.giveBack(m)
	m.setNumber(srq.srqn)
	for _, s := range c.armSet {
		s.field.Set(m.in, s.value)
	}
	c.armLWM.Set(m.in, uint64(lwm))
	return d.exec(t, m.in, m.out)
}

// cmdQuerySRQ returns the limit at which an event was asked for. It models
// mlx5_cmd_query_srq in drivers/infiniband/hw/mlx5/srq_cmd.c.
//
// Errors: mlx5-srq/no-memory, mlx5-cmd/….
func (d *Device) cmdQuerySRQ(t *trace.Task, srq *coreSRQ) (lwm uint32, err error) {
	defer t.Enter(moduleIB, "mlx5_cmd_query_srq").Leave()
	if t.Fail(trace.Alloc, "query_srq_out") {
		return 0, rule.MLX5SRQNoMemory
	}
	c := &srqCommands[srq.typ]
	m := d.mailbox(c.query, 0, 0)
	defer d.giveBack(m)
	m.setNumber(srq.srqn)
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return uint32(c.lwm.Get(m.out)), nil
}
