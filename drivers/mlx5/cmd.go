package mlx5

import (
	"sync"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// The modules that this driver's functions belong to, as ftrace prints them.
const (
	moduleIB   = "mlx5_ib"
	moduleCore = "mlx5_core"
)

// statusRules says what each status becomes. It models cmd_status_to_err in
// drivers/net/ethernet/mellanox/mlx5/core/cmd.c.
var statusRules = map[hw.Status]*rule.Rule{
	hw.MLX5_CMD_STAT_INT_ERR:                rule.MLX5CmdInternal,
	hw.MLX5_CMD_STAT_BAD_OP_ERR:             rule.MLX5CmdBadOp,
	hw.MLX5_CMD_STAT_BAD_PARAM_ERR:          rule.MLX5CmdBadParam,
	hw.MLX5_CMD_STAT_BAD_SYS_STATE_ERR:      rule.MLX5CmdBadSysState,
	hw.MLX5_CMD_STAT_BAD_RES_ERR:            rule.MLX5CmdBadRes,
	hw.MLX5_CMD_STAT_RES_BUSY:               rule.MLX5CmdBusy,
	cmdStatNotReady:                         rule.MLX5CmdNotReady,
	hw.MLX5_CMD_STAT_LIM_ERR:                rule.MLX5CmdLimit,
	hw.MLX5_CMD_STAT_BAD_RES_STATE_ERR:      rule.MLX5CmdBadResState,
	hw.MLX5_CMD_STAT_IX_ERR:                 rule.MLX5CmdBadIndex,
	hw.MLX5_CMD_STAT_NO_RES_ERR:             rule.MLX5CmdNoRes,
	hw.MLX5_CMD_STAT_BAD_INP_LEN_ERR:        rule.MLX5CmdBadInputLength,
	hw.MLX5_CMD_STAT_BAD_OUTP_LEN_ERR:       rule.MLX5CmdBadOutputLength,
	hw.MLX5_CMD_STAT_BAD_QP_STATE_ERR:       rule.MLX5CmdBadQPState,
	hw.MLX5_CMD_STAT_BAD_PKT_ERR:            rule.MLX5CmdBadPacket,
	hw.MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR: rule.MLX5CmdOutstandingCQEs,
}

// cmdStatNotReady is MLX5_CMD_STAT_NOT_READY of include/linux/mlx5/device.h,
// which the emulated device never answers.
const cmdStatNotReady hw.Status = 7

// endsSomething has the commands that are taken for done when the device is in
// error, so that objects can go (mlx5_internal_err_ret_value in
// drivers/net/ethernet/mellanox/mlx5/core/cmd.c).
var endsSomething = opcodeSet(
	ifc.MLX5_CMD_OP_TEARDOWN_HCA, ifc.MLX5_CMD_OP_DISABLE_HCA, ifc.MLX5_CMD_OP_MANAGE_PAGES, ifc.MLX5_CMD_OP_DESTROY_MKEY,
	ifc.MLX5_CMD_OP_DESTROY_EQ, ifc.MLX5_CMD_OP_DESTROY_CQ, ifc.MLX5_CMD_OP_DESTROY_QP, ifc.MLX5_CMD_OP_DESTROY_PSV,
	ifc.MLX5_CMD_OP_DESTROY_SRQ, ifc.MLX5_CMD_OP_DESTROY_XRC_SRQ, ifc.MLX5_CMD_OP_DESTROY_XRQ, ifc.MLX5_CMD_OP_DESTROY_DCT,
	ifc.MLX5_CMD_OP_DEALLOC_Q_COUNTER, ifc.MLX5_CMD_OP_DESTROY_SCHEDULING_ELEMENT, ifc.MLX5_CMD_OP_DESTROY_QOS_PARA_VPORT,
	ifc.MLX5_CMD_OP_DEALLOC_PD, ifc.MLX5_CMD_OP_DEALLOC_UAR, ifc.MLX5_CMD_OP_DETACH_FROM_MCG, ifc.MLX5_CMD_OP_DEALLOC_XRCD,
	ifc.MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, ifc.MLX5_CMD_OP_DELETE_VXLAN_UDP_DPORT, ifc.MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_DESTROY_LAG, ifc.MLX5_CMD_OP_DESTROY_VPORT_LAG, ifc.MLX5_CMD_OP_DESTROY_TIR, ifc.MLX5_CMD_OP_DESTROY_SQ,
	ifc.MLX5_CMD_OP_DESTROY_RQ, ifc.MLX5_CMD_OP_DESTROY_RMP, ifc.MLX5_CMD_OP_DESTROY_TIS, ifc.MLX5_CMD_OP_DESTROY_RQT,
	ifc.MLX5_CMD_OP_DESTROY_FLOW_TABLE, ifc.MLX5_CMD_OP_DESTROY_FLOW_GROUP, ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_DEALLOC_FLOW_COUNTER, ifc.MLX5_CMD_OP_2ERR_QP, ifc.MLX5_CMD_OP_2RST_QP,
	ifc.MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT, ifc.MLX5_CMD_OP_MODIFY_FLOW_TABLE, ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ROOT, ifc.MLX5_CMD_OP_DEALLOC_PACKET_REFORMAT_CONTEXT,
	ifc.MLX5_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT, ifc.MLX5_CMD_OP_FPGA_DESTROY_QP, ifc.MLX5_CMD_OP_DESTROY_GENERAL_OBJECT,
	ifc.MLX5_CMD_OP_DEALLOC_MEMIC, ifc.MLX5_CMD_OP_PAGE_FAULT_RESUME, ifc.MLX5_CMD_OP_QUERY_ESW_FUNCTIONS,
	ifc.MLX5_CMD_OP_DEALLOC_SF, ifc.MLX5_CMD_OP_DESTROY_UCTX, ifc.MLX5_CMD_OP_DESTROY_UMEM, ifc.MLX5_CMD_OP_MODIFY_RQT)

func opcodeSet(ops ...uint16) map[uint16]bool {
	m := make(map[uint16]bool, len(ops))
	for _, op := range ops {
		m[op] = true
	}
	return m
}

// exec carries out a firmware command. A nil error means status 0. When the
// device is in error, a command that ends something succeeds. It models
// mlx5_cmd_exec in drivers/net/ethernet/mellanox/mlx5/core/cmd.c; the command
// queue in memory, its mailboxes and its completions are left out.
//
// Errors: mlx5-cmd/….
func (d *Device) exec(t *trace.Task, in, out []byte) error { return d.execIn(t, 0, in, out) }

// execIn is exec in a slot of the command queue (cmd_alloc_index).
func (d *Device) execIn(t *trace.Task, slot int, in, out []byte) error {
	defer t.Enter(moduleCore, "mlx5_cmd_exec").Leave()
	return checked(d.cmdDoIn(t, slot, in, out), in, out)
}

// checked turns the error of cmdDo into that of the command. It models
// mlx5_cmd_check in drivers/net/ethernet/mellanox/mlx5/core/cmd.c.
func checked(err error, in, out []byte) error {
	switch err {
	case rule.MLX5CmdStatus:
		return statusRule(out)
	case rule.MLX5CmdDown:
		if endsSomething[be.Uint16(in)] {
			return nil
		}
		return rule.MLX5CmdDeviceError
	default:
		return err
	}
}

// cmdDo carries out a firmware command whose status its caller looks at. It
// models mlx5_cmd_do in drivers/net/ethernet/mellanox/mlx5/core/cmd.c.
//
// Errors: mlx5-cmd/status, mlx5-cmd/down, mlx5-cmd/no-memory, mlx5-cmd/timeout.
func (d *Device) cmdDo(t *trace.Task, in, out []byte) error { return d.cmdDoIn(t, 0, in, out) }

func (d *Device) cmdDoIn(t *trace.Task, slot int, in, out []byte) error {
	if failMessage(t, in) {
		return rule.MLX5CmdNoMemory
	}
	switch err := d.HW.ExecIn(t, slot, in, out); err {
	case nil:
	case hw.ErrTimeout:
		clear(out)
		return rule.MLX5CmdTimeout
	default:
		clear(out)
		return rule.MLX5CmdDown
	}
	if status, _ := hw.Result(out); status != hw.MLX5_CMD_STAT_OK {
		return rule.MLX5CmdStatus
	}
	return nil
}

// failMessage asks whether there shall be no memory for a command's messages
// (mlx5_alloc_cmd_msg).
func failMessage(t *trace.Task, in []byte) bool {
	if t == nil {
		return false
	}
	c, ok := ifc.FindCommand(be.Uint16(in))
	if !ok {
		c.Name = "unknown command opcode"
	}
	return t.Fail(trace.Alloc, c.Name)
}

// statusRule returns the rule of a status that is not 0.
func statusRule(out []byte) error {
	status, _ := hw.Result(out)
	if r := statusRules[status]; r != nil {
		return r
	}
	return rule.MLX5CmdUnknownStatus
}

// mailbox is room for one command and its answer. It comes from the device and
// goes back there.
type mailbox struct {
	in, out []byte
	spare   *process.Spare // where the task keeps the mailbox, if it does
	_       [128]byte      // two tasks' mailboxes share no line of the cache
}

// mailboxes are those that no command uses at the moment.
type mailboxes struct {
	mu   sync.Mutex
	free []*mailbox
}

// mailbox lends room for a command: its opcode and the uid that it runs under,
// and zeros up to the length of its structure and extra bytes behind; the answer
// has the length of its structure.
func (d *Device) mailbox(opcode, uid uint16, extra int) *mailbox {
	b := &d.mailboxes
	b.mu.Lock()
	var m *mailbox
	if n := len(b.free); n > 0 {
		m, b.free = b.free[n-1], b.free[:n-1]
	}
	b.mu.Unlock()
	if m == nil {
		m = new(mailbox)
	}
	m.address(opcode, uid, extra)
	return m
}

// address makes the mailbox one of a command.
func (m *mailbox) address(opcode, uid uint16, extra int) {
	c, _ := ifc.FindCommand(opcode)
	m.in = zeros(m.in, max(int(c.In), minCommand)+extra)
	m.out = zeros(m.out, max(int(c.Out), minCommand))
	be.PutUint16(m.in, opcode)
	be.PutUint16(m.in[2:], uid)
}

// queryRoom is how long most queries and their answers are at most, in lines of
// the cache that are theirs alone.
const queryRoom = 512

// queryMailbox is mailbox for a query that a task's call makes. It is the task's
// own, so that those of several tasks have nothing in common.
func queryMailbox(task *process.Task, opcode uint16, extra int) *mailbox {
	var m *mailbox
	if s := &task.Spares[kernel.SpareDriver]; !s.Take() {
		m = newQueryMailbox()
	} else if m, _ = s.Value.(*mailbox); m == nil {
		m = newQueryMailbox()
		m.spare, s.Value = s, m
	}
	m.address(opcode, 0, extra)
	return m
}

func newQueryMailbox() *mailbox {
	return &mailbox{in: make([]byte, 0, queryRoom), out: make([]byte, 0, queryRoom)}
}

// keep gives a mailbox of queryMailbox back to the task.
func (m *mailbox) keep() {
	if m.spare != nil {
		m.spare.GiveBack()
	}
}

// querySlot is where in the command queue the task's queries are.
func querySlot(task *process.Task) int { return task.CPU % hw.QuerySlots }

// minCommand is the part of a command that travels in its queue's slot.
const minCommand = 16

// zeros returns n zero bytes, in the memory of b if that is large enough.
func zeros(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	b = b[:n]
	clear(b)
	return b
}

// giveBack returns a mailbox. Whoever has read the answer does it at once.
func (d *Device) giveBack(m *mailbox) {
	d.mailboxes.mu.Lock()
	d.mailboxes.free = append(d.mailboxes.free, m)
	d.mailboxes.mu.Unlock()
}

// setNumber writes an object number into bytes 8 to 11, where most commands
// that end something have it.
func (m *mailbox) setNumber(n uint32) { be.PutUint32(m.in[8:], n) }

// number reads the 24 bits of a new object's number from bytes 9 to 11, where
// most commands that make something have it.
func (m *mailbox) number() uint32 { return be.Uint32(m.out[8:]) & 0xffffff }

// create runs a command that has no other input than its uid and answers with
// a new number.
func (d *Device) create(t *trace.Task, opcode, uid uint16) (uint32, error) {
	m := d.mailbox(opcode, uid, 0)
	defer d.giveBack(m)
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return m.number(), nil
}

// destroy runs a command that ends the object with that number.
func (d *Device) destroy(t *trace.Task, opcode, uid uint16, n uint32) error {
	m := d.mailbox(opcode, uid, 0)
	defer d.giveBack(m)
	m.setNumber(n)
	return d.exec(t, m.in, m.out)
}

// cmdUARAlloc models mlx5_cmd_uar_alloc in drivers/infiniband/hw/mlx5/cmd.c.
func (d *Device) cmdUARAlloc(t *trace.Task, uid uint16) (uint32, error) {
	defer t.Enter(moduleIB, "mlx5_cmd_uar_alloc").Leave()
	return d.create(t, ifc.MLX5_CMD_OP_ALLOC_UAR, uid)
}

// cmdUARDealloc models mlx5_cmd_uar_dealloc in drivers/infiniband/hw/mlx5/cmd.c.
func (d *Device) cmdUARDealloc(t *trace.Task, n uint32, uid uint16) error {
	defer t.Enter(moduleIB, "mlx5_cmd_uar_dealloc").Leave()
	return d.destroy(t, ifc.MLX5_CMD_OP_DEALLOC_UAR, uid, n)
}

// cmdDeallocPD models mlx5_cmd_dealloc_pd in drivers/infiniband/hw/mlx5/cmd.c.
func (d *Device) cmdDeallocPD(t *trace.Task, pdn uint32, uid uint16) error {
	defer t.Enter(moduleIB, "mlx5_cmd_dealloc_pd").Leave()
	return d.destroy(t, ifc.MLX5_CMD_OP_DEALLOC_PD, uid, pdn)
}
