package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/trace"
)

// Where the commands about flow tables, groups and rules have their fields.
var (
	ftType      = num(16, 1)
	ftID        = num(21, 3)
	ftLevel     = num(25, 1)
	ftLogSize   = num(27, 1)
	fgStart     = num(28, 4)
	fgEnd       = num(36, 4)
	fgID        = num(24, 4)
	fteIgnore   = flag(24, 0) // ignore_flow_level
	fteIndex    = num(32, 4)
	fteGroup    = num(64+4, 4)
	fteAction   = num(64+14, 2)
	fteNumDest  = num(64+17, 3)
	fteDestType = num(64+752, 1)
	fteDestID   = num(64+752+1, 3)
)

// What becomes of a packet that a rule matches (include/linux/mlx5/mlx5_ifc.h).
const (
	flowActionDrop    = 2 // MLX5_FLOW_CONTEXT_ACTION_DROP
	flowActionFwdDest = 4 // MLX5_FLOW_CONTEXT_ACTION_FWD_DEST
	flowDestFlowTable = 1 // MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE

	fteDestLength = 8 // of struct dest_format_struct
)

// flowCommand begins a command about flow tables of a type.
func (d *Device) flowCommand(op uint16, tables *flowTables, table uint32, extra int) *mailbox {
	m := d.mailbox(op, 0, extra)
	ftType.Set(m.in, tables.fsType)
	ftID.Set(m.in, uint64(table))
	return m
}

// createFlowTable models mlx5_cmd_create_flow_table in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-cmd/….
func (d *Device) createFlowTable(t *trace.Task, tables *flowTables, uid uint16, level, logSize uint64) (uint32, error) {
	defer t.Enter(moduleCore, "mlx5_cmd_create_flow_table").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, uid, 0)
	defer d.giveBack(m)
	ftType.Set(m.in, tables.fsType)
	ftLevel.Set(m.in, level)
	ftLogSize.Set(m.in, logSize)
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

// createFlowGroup makes the group that one rule of an anchor lies in. It models
// mlx5_cmd_create_flow_group in drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-cmd/….
func (d *Device) createFlowGroup(t *trace.Task, p *flowPrio, rule uint32) error {
	defer t.Enter(moduleCore, "mlx5_cmd_create_flow_group").Leave()
	m := d.flowCommand(ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP, p.tables, p.anchor, 0)
	defer d.giveBack(m)
	fgStart.Set(m.in, uint64(rule))
	fgEnd.Set(m.in, uint64(rule))
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	p.groups[rule] = m.number()
	return nil
}

// destroyFlowGroup models mlx5_cmd_destroy_flow_group in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
func (d *Device) destroyFlowGroup(t *trace.Task, p *flowPrio, rule uint32) {
	defer t.Enter(moduleCore, "mlx5_cmd_destroy_flow_group").Leave()
	m := d.flowCommand(ifc.MLX5_CMD_OP_DESTROY_FLOW_GROUP, p.tables, p.anchor, 0)
	defer d.giveBack(m)
	fgID.Set(m.in, uint64(p.groups[rule]))
	d.exec(t, m.in, m.out) // as the kernel does
}

// setAnchorRule models mlx5_cmd_set_fte in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-cmd/….
func (d *Device) setAnchorRule(t *trace.Task, p *flowPrio, rule uint32) error {
	defer t.Enter(moduleCore, "mlx5_cmd_set_fte").Leave()
	m := d.flowCommand(ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, p.tables, p.anchor, fteDestLength)
	defer d.giveBack(m)
	fteIndex.Set(m.in, uint64(rule))
	fteGroup.Set(m.in, uint64(p.groups[rule]))
	fteAction.Set(m.in, flowActionDrop)
	if rule == anchorGoto {
		fteIgnore.Set(m.in, 1)
		fteAction.Set(m.in, flowActionFwdDest)
		fteNumDest.Set(m.in, 1)
		fteDestType.Set(m.in, flowDestFlowTable)
		fteDestID.Set(m.in, uint64(p.table))
	}
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	p.hasRule[rule] = true
	return nil
}

// deleteAnchorRule models mlx5_cmd_delete_fte in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
func (d *Device) deleteAnchorRule(t *trace.Task, p *flowPrio, rule uint32) {
	if !p.hasRule[rule] {
		return
	}
	p.hasRule[rule] = false
	defer t.Enter(moduleCore, "mlx5_cmd_delete_fte").Leave()
	m := d.flowCommand(ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY, p.tables, p.anchor, 0)
	defer d.giveBack(m)
	fteIndex.Set(m.in, uint64(rule))
	d.exec(t, m.in, m.out) // as the kernel does
}
