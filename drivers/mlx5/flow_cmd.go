package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// Where SET_FLOW_TABLE_ENTRY has the struct flow_context, and in it the value that
// packets are compared with and the list of destinations and counters.
const (
	fteContext = 64
	fteValue   = fteContext + 64
	fteDests   = fteContext + 768
)

// fgCriteria is where CREATE_FLOW_GROUP has the mask of what its rules compare.
const fgCriteria = 64

// Where the commands about flow tables, groups and rules have their fields.
var (
	ftType      = num(16, 1)
	ftID        = num(21, 3)
	ftLevel     = num(25, 1)
	ftLogSize   = num(27, 1)
	ftMiss      = field(24, 4, 4)
	ftMissID    = num(29, 3)
	ftModSelect = num(14, 2) // of MODIFY_FLOW_TABLE
	fgStart     = num(28, 4)
	fgEnd       = num(36, 4)
	fgID        = num(24, 4)
	fgEnable    = num(63, 1)
	fteModify   = num(27, 1)
	fteIgnore   = flag(24, 0) // ignore_flow_level
	fteIndex    = num(32, 4)
	fteGroup    = num(fteContext+4, 4)
	fteTag      = num(fteContext+9, 3)
	fteAction   = num(fteContext+14, 2)
	fteNumDest  = num(fteContext+17, 3)
	fteNumCount = num(fteContext+21, 3)
	fteReformat = num(fteContext+24, 4)
	fteModHdr   = num(fteContext+28, 4)
)

// What becomes of a packet that a rule matches (include/linux/mlx5/mlx5_ifc.h).
const (
	flowActionAllow    = 0x1  // MLX5_FLOW_CONTEXT_ACTION_ALLOW
	flowActionDrop     = 0x2  // MLX5_FLOW_CONTEXT_ACTION_DROP
	flowActionFwdDest  = 0x4  // MLX5_FLOW_CONTEXT_ACTION_FWD_DEST
	flowActionCount    = 0x8  // MLX5_FLOW_CONTEXT_ACTION_COUNT
	flowActionReformat = 0x10 // MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT
	flowActionDecap    = 0x20 // MLX5_FLOW_CONTEXT_ACTION_DECAP
	flowActionModHdr   = 0x40 // MLX5_FLOW_CONTEXT_ACTION_MOD_HDR

	flowDestFlowTable = 1 // MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE
	flowDestTIR       = 2 // MLX5_IFC_FLOW_DESTINATION_TYPE_TIR

	flowMissFwd  = 1 // MLX5_FLOW_TABLE_MISS_ACTION_FWD
	flowModMiss  = 1 // MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID
	setFTEModify = 1 // the operation modifier for an entry that is there

	fteDestLength = 8 // of struct dest_format_struct
)

// flowCommand begins a command about flow tables of a type.
func (d *Device) flowCommand(op uint16, tables *flowTables, table uint32, extra int) *mailbox {
	m := d.mailbox(op, 0, extra)
	ftType.Set(m.in, tables.fsType)
	ftID.Set(m.in, uint64(table))
	return m
}

// setMiss says where packets go that no rule of a table is for.
func setMiss(in []byte, next *flowTable) {
	if next != nil {
		ftMiss.Set(in, flowMissFwd)
		ftMissID.Set(in, uint64(next.id))
	}
}

// createFlowTable models mlx5_cmd_create_flow_table in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-cmd/….
func (d *Device) createFlowTable(t *trace.Task, tables *flowTables, uid uint16, level, logSize uint64, next *flowTable) (uint32, error) {
	defer t.Enter(moduleCore, "mlx5_cmd_create_flow_table").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, uid, 0)
	defer d.giveBack(m)
	ftType.Set(m.in, tables.fsType)
	ftLevel.Set(m.in, level)
	ftLogSize.Set(m.in, logSize)
	setMiss(m.in, next)
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return m.number(), nil
}

// destroyFlowTable models mlx5_cmd_destroy_flow_table in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
func (d *Device) destroyFlowTable(t *trace.Task, tables *flowTables, table uint32) {
	defer t.Enter(moduleCore, "mlx5_cmd_destroy_flow_table").Leave()
	m := d.flowCommand(ifc.MLX5_CMD_OP_DESTROY_FLOW_TABLE, tables, table, 0)
	defer d.giveBack(m)
	d.exec(t, m.in, m.out) // as the kernel does
}

// modifyFlowTable models mlx5_cmd_modify_flow_table in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-cmd/….
func (d *Device) modifyFlowTable(t *trace.Task, ft, next *flowTable) error {
	defer t.Enter(moduleCore, "mlx5_cmd_modify_flow_table").Leave()
	m := d.flowCommand(ifc.MLX5_CMD_OP_MODIFY_FLOW_TABLE, ft.ns, ft.id, 0)
	defer d.giveBack(m)
	ftModSelect.Set(m.in, flowModMiss)
	setMiss(m.in, next)
	return d.exec(t, m.in, m.out)
}

// setFlowTableRoot models mlx5_cmd_update_root_ft in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-cmd/….
func (d *Device) setFlowTableRoot(t *trace.Task, ft *flowTable) error {
	defer t.Enter(moduleCore, "mlx5_cmd_update_root_ft").Leave()
	m := d.flowCommand(ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ROOT, ft.ns, ft.id, 0)
	defer d.giveBack(m)
	return d.exec(t, m.in, m.out)
}

// createFlowGroup models mlx5_cmd_create_flow_group in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-cmd/….
func (d *Device) createFlowGroup(t *trace.Task, g *flowGroup) error {
	defer t.Enter(moduleCore, "mlx5_cmd_create_flow_group").Leave()
	m := d.flowCommand(ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP, g.table.ns, g.table.id, 0)
	defer d.giveBack(m)
	fgStart.Set(m.in, uint64(g.start))
	fgEnd.Set(m.in, uint64(g.start+g.max-1))
	fgEnable.Set(m.in, uint64(g.enable))
	copy(m.in[fgCriteria:], g.criteria[:])
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	g.id = m.number()
	return nil
}

// destroyFlowGroup models mlx5_cmd_destroy_flow_group in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
func (d *Device) destroyFlowGroup(t *trace.Task, tables *flowTables, table, group uint32) {
	defer t.Enter(moduleCore, "mlx5_cmd_destroy_flow_group").Leave()
	m := d.flowCommand(ifc.MLX5_CMD_OP_DESTROY_FLOW_GROUP, tables, table, 0)
	defer d.giveBack(m)
	fgID.Set(m.in, uint64(group))
	d.exec(t, m.in, m.out) // as the kernel does
}

// setFTE makes an entry, or with operation modifier setFTEModify changes what the
// mask says of one. It models mlx5_cmd_set_fte in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-flow/many-counters, mlx5-cmd/….
func (d *Device) setFTE(t *trace.Task, e *fte, opMod uint16, mask uint8) error {
	defer t.Enter(moduleCore, "mlx5_cmd_set_fte").Leave()
	ft := e.group.table
	m := d.flowCommand(ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, ft.ns, ft.id, len(e.dests)*fteDestLength)
	defer d.giveBack(m)
	be.PutUint16(m.in[6:], opMod)
	fteModify.Set(m.in, uint64(mask))
	fteIndex.Set(m.in, uint64(e.index))
	fteGroup.Set(m.in, uint64(e.group.id))
	fteTag.Set(m.in, uint64(e.tag))
	fteAction.Set(m.in, uint64(e.act.action))
	fteIgnore.Set(m.in, bit(e.act.ignoreLevel))
	if e.act.reformat != nil {
		fteReformat.Set(m.in, uint64(e.act.reformat.id))
	}
	if e.act.modifyHdr != nil {
		fteModHdr.Set(m.in, uint64(e.act.modifyHdr.id))
	}
	copy(m.in[fteValue:], e.value[:])
	list := m.in[fteDests:]
	if e.act.action&flowActionFwdDest != 0 {
		n := uint64(0)
		for _, dest := range e.dests {
			typ, id := uint32(flowDestTIR), dest.id
			switch dest.typ {
			case destNone, destCounter:
				continue
			case destFlowTable:
				typ, id = flowDestFlowTable, dest.table.id
			case destFlowTableNum:
				typ = flowDestFlowTable
			}
			be.PutUint32(list, typ<<24|id)
			list = list[fteDestLength:]
			n++
		}
		fteNumDest.Set(m.in, n)
	}
	if e.act.action&flowActionCount != 0 {
		n := uint64(0)
		for _, dest := range e.dests {
			if dest.typ == destCounter {
				be.PutUint32(list, dest.id)
				list = list[fteDestLength:]
				n++
			}
		}
		if n > uint64(d.caps.pow2(ft.ns.logMaxCounters)) {
			return rule.MLX5FlowManyCounters
		}
		fteNumCount.Set(m.in, n)
	}
	return d.exec(t, m.in, m.out)
}

// updateFTE models mlx5_cmd_update_fte in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-flow/no-modify, mlx5-flow/many-counters, mlx5-cmd/….
func (d *Device) updateFTE(t *trace.Task, e *fte, mask uint8) error {
	if !d.caps.has(nicRX.flowModify) {
		return rule.MLX5FlowNoModify
	}
	return d.setFTE(t, e, setFTEModify, mask)
}

// deleteFTE models mlx5_cmd_delete_fte in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
func (d *Device) deleteFTE(t *trace.Task, e *fte) {
	defer t.Enter(moduleCore, "mlx5_cmd_delete_fte").Leave()
	ft := e.group.table
	m := d.flowCommand(ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY, ft.ns, ft.id, 0)
	defer d.giveBack(m)
	fteIndex.Set(m.in, uint64(e.index))
	d.exec(t, m.in, m.out) // as the kernel does
}
