package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// flowAction is a struct mlx5_ib_flow_action: what is done to packets of a flow.
type flowAction struct {
	ib  core.FlowAction
	dev *Device
	end uint16 // the command that ends it, 0 for none
	id  uint32
}

// fill makes the action the object's. It models uverbs_flow_action_fill_action in
// include/rdma/uverbs_std_types.h.
func (a *flowAction) fill(b *kernel.Bundle, handle uint16) error {
	o, err := b.Object(handle)
	if err != nil {
		return err
	}
	a.ib.Device, a.ib.Driver = a.dev.IB, a
	o.HW = &a.ib
	return nil
}

// destroyFlowAction models mlx5_ib_destroy_flow_action in
// drivers/infiniband/hw/mlx5/fs.c. What the device says to it does not matter.
func destroyFlowAction(task *process.Task, ib *core.FlowAction) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_destroy_flow_action").Leave()
	if a := ib.Driver.(*flowAction); a.end != 0 {
		a.dev.destroy(t, a.end, 0, a.id) // as the kernel does
	}
	return nil
}

// modifyActionSize is the length of union set_add_copy_action_in_auto.
const modifyActionSize = 8

// Where ALLOC_MODIFY_HEADER_CONTEXT has its fields.
const (
	modHdrTableType  = 12
	modHdrNumActions = 15
	modHdrActions    = 16
)

// createModifyHeader is the handler of
// MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER) in
// drivers/infiniband/hw/mlx5/fs.c. The number of actions is cut to 8 bits.
//
// Errors: mlx5-flow/…, const/range, mlx5-cmd/…, attr/….
func createModifyHeader(b *kernel.Bundle) error {
	t := b.Trace()
	d := toUcontext(b.Ucontext()).dev
	if !d.caps.has(nicRX.maxActions) && !d.caps.has(nicTX.maxActions) && !d.caps.has(rdmaTX.maxActions) {
		return rule.MLX5ModHdrUnsupported
	}
	n, err := b.ArraySize(spec.MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, modifyActionSize)
	if err != nil {
		return err
	}
	actions, err := b.Bytes(spec.MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM)
	if err != nil {
		return err
	}
	typ, err := b.Const(spec.MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, 1<<32-1)
	if err != nil {
		return err
	}
	tables, err := d.flowNamespace(typ)
	if err != nil {
		return rule.MLX5ModHdrTableType
	}
	if t.Fail(trace.Alloc, "mlx5_ib_flow_action") {
		return rule.MLX5ModHdrNoMemory
	}
	id, err := d.modifyHeaderAlloc(t, tables, actions[:modifyActionSize*int(uint8(n))])
	if err != nil {
		return err
	}
	a := &flowAction{dev: d, end: ifc.MLX5_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT, id: id}
	return a.fill(b, spec.MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE)
}

// modifyHeaderAlloc models mlx5_modify_header_alloc in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c and
// mlx5_cmd_modify_header_alloc in drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-flow/modify-header-…, mlx5-cmd/….
func (d *Device) modifyHeaderAlloc(t *trace.Task, tables *flowTables, actions []byte) (uint32, error) {
	defer t.Enter(moduleCore, "mlx5_modify_header_alloc").Leave()
	if tables == nil {
		return 0, rule.MLX5ModHdrNoNamespace
	}
	n := uint64(len(actions) / modifyActionSize)
	if n > d.caps.get(tables.maxActions) {
		return 0, rule.MLX5ModHdrActions
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT, 0, len(actions))
	defer d.giveBack(m)
	m.in[modHdrTableType] = byte(tables.fsType)
	m.in[modHdrNumActions] = byte(n)
	copy(m.in[modHdrActions:], actions)
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return be.Uint32(m.out[8:]), nil
}

// reformat says for a way to reformat packets in which tables it is done, by
// which capability, and what it is to the device (enum mlx5_reformat_ctx_type), 0
// for what the device need not be told of.
type reformat struct {
	tables     uint8
	cap        capability
	deviceType uint8
}

// reformats models mlx5_ib_flow_action_packet_reformat_valid and
// mlx5_ib_dv_to_prm_packet_reforamt_type in drivers/infiniband/hw/mlx5/fs.c.
var reformats = map[uint8]reformat{
	spec.MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2: {
		spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, flow(nicRX.props + ".decap"), 0},
	spec.MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL: {
		spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX, flow("encap_general_header"), 2},
	spec.MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2: {
		spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, flow(nicRX.props + ".reformat_l3_tunnel_to_l2"), 3},
	spec.MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL: {
		spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX, flow(nicTX.props + ".reformat_l2_to_l3_tunnel"), 4},
}

// createPacketReformat is the handler of
// MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT) in
// drivers/infiniband/hw/mlx5/fs.c. Both types are cut to 8 bits where it is looked
// up whether the device can do it. To take an outer header off needs nothing of the
// device.
//
// Errors: mlx5-flow/…, const/range, mlx5-cmd/…, attr/….
func createPacketReformat(b *kernel.Bundle) error {
	t := b.Trace()
	d := toUcontext(b.Ucontext()).dev
	tables, err := b.Const(spec.MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, 1<<32-1)
	if err != nil {
		return err
	}
	typ, err := b.Const(spec.MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, 1<<32-1)
	if err != nil {
		return err
	}
	r, ok := reformats[uint8(typ)]
	if !ok || r.tables != uint8(tables) || !d.caps.has(r.cap) {
		return rule.MLX5ReformatUnsupported
	}
	if t.Fail(trace.Alloc, "mlx5_ib_flow_action") {
		return rule.MLX5ReformatNoMemory
	}
	a := &flowAction{dev: d}
	if typ != spec.MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2 {
		data, err := b.Bytes(spec.MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF)
		if err != nil {
			return err
		}
		if r.deviceType == 0 {
			return rule.MLX5ReformatType
		}
		if a.id, err = d.packetReformatAlloc(t, r, data); err != nil {
			return err
		}
		a.end = ifc.MLX5_CMD_OP_DEALLOC_PACKET_REFORMAT_CONTEXT
	}
	return a.fill(b, spec.MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE)
}

// Where ALLOC_PACKET_REFORMAT_CONTEXT has its fields: the header begins in front
// of the structure's end.
var (
	reformatType = num(28, 1)
	reformatSize = ifc.Field{Off: 8*30 + 6, Width: 10, Count: 1}
	reformatData = num(34, 2)

	capMaxEncapHeader = flow("max_encap_header_size")
)

// packetReformatAlloc models mlx5_packet_reformat_alloc in
// drivers/net/ethernet/mellanox/mlx5/core/fs_core.c and
// mlx5_cmd_packet_reformat_alloc in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-flow/reformat-…, mlx5-cmd/….
func (d *Device) packetReformatAlloc(t *trace.Task, r reformat, data []byte) (uint32, error) {
	defer t.Enter(moduleCore, "mlx5_packet_reformat_alloc").Leave()
	if tables, _ := d.flowNamespace(uint64(r.tables)); tables == nil {
		return 0, rule.MLX5ReformatNoNamespace
	}
	if uint64(len(data)) > d.caps.get(capMaxEncapHeader) {
		return 0, rule.MLX5ReformatSize
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT, 0, len(data))
	defer d.giveBack(m)
	reformatType.Set(m.in, uint64(r.deviceType))
	reformatSize.Set(m.in, uint64(len(data)))
	copy(m.in[reformatData.Byte():], data)
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return be.Uint32(m.out[8:]), nil
}
