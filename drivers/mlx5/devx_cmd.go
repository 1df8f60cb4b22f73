package mlx5

import (
	"slices"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/rule"
)

// devxCmd is a firmware command that a user wrote: a struct
// general_obj_in_cmd_hdr and what follows. It is at least as long as its opcode's
// structure.
type devxCmd []byte

func (c devxCmd) opcode() uint16  { return be.Uint16(c) }
func (c devxCmd) tunnel() uint16  { return be.Uint16(c[4:]) } // vhca_tunnel_id
func (c devxCmd) objType() uint16 { return be.Uint16(c[6:]) } // op_mod of most commands

func (c devxCmd) setUID(uid uint16) { be.PutUint16(c[2:], uid) }

// commandIn returns the command in an attribute. Fields that a short command
// lacks are zero, as the device takes them.
func commandIn(b *kernel.Bundle, attr uint16) (devxCmd, error) {
	in, err := b.Bytes(attr)
	if err != nil {
		return nil, err
	}
	spec, _ := ifc.FindCommand(be.Uint16(in))
	if n := max(int(spec.In), minCommand); len(in) < n {
		in = append(slices.Grow([]byte(nil), n), in...)[:n]
	}
	return in, nil
}

// num is the big-endian number of n bytes at a byte of a command.
func num(at, n uint32) ifc.Field { return ifc.Field{Off: 8 * at, Width: 8 * n, Count: 1} }

// flag is a bit of a byte of a command, counted from the most significant one.
func flag(at, bit uint32) ifc.Field { return ifc.Field{Off: 8*at + bit, Width: 1, Count: 1} }

// The places where most commands have an object's number.
var (
	num24 = num(9, 3)
	num32 = num(8, 4)
)

// Where the commands about flow tables say whose table it is, and which.
var (
	otherVport  = flag(8, 0)
	vportNumber = num(10, 2)
	tableType   = num(16, 1)
	tableID     = num(21, 3)
	groupID     = num(24, 4)
	flowIndex   = num(32, 4)

	ofFlowTable = []ifc.Field{otherVport, vportNumber, tableType}
	inFlowTable = append(slices.Clone(ofFlowTable), tableID)
)

// tableCmdSize is the length of the commands that end something of a flow table,
// and of DESTROY_SCHEDULING_ELEMENT and DELETE_L2_TABLE_ENTRY.
const tableCmdSize = 64

// devxCreation is a command that makes an object, and the one that ends it.
type devxCreation struct {
	opcode  uint16
	id      ifc.Field // of the object's number
	inInput bool      // which stands in the command itself, not in its answer

	end     uint16
	endID   ifc.Field
	endSize int         // 16 if zero
	keeps   []ifc.Field // of the first command, which the other repeats
}

// devxCreations are the commands that make an object. It models
// devx_get_created_obj_id, devx_obj_build_destroy_cmd and devx_is_obj_create_cmd
// in drivers/infiniband/hw/mlx5/devx.c.
var devxCreations = index([]devxCreation{
	{opcode: ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT, id: num32, end: ifc.MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, endID: num32,
		keeps: []ifc.Field{num(6, 2)}},
	{opcode: ifc.MLX5_CMD_OP_CREATE_UMEM, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_UMEM, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_MKEY, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_MKEY, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_CQ, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_CQ, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_ALLOC_PD, id: num24, end: ifc.MLX5_CMD_OP_DEALLOC_PD, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, id: num24, end: ifc.MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_RMP, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_RMP, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_SQ, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_SQ, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_RQ, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_RQ, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_RQT, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_RQT, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_TIR, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_TIR, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_TIS, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_TIS, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_ALLOC_Q_COUNTER, id: num(11, 1), end: ifc.MLX5_CMD_OP_DEALLOC_Q_COUNTER, endID: num(11, 1)},
	{opcode: ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_FLOW_TABLE, endID: tableID,
		endSize: tableCmdSize, keeps: ofFlowTable},
	{opcode: ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_FLOW_GROUP, endID: groupID,
		endSize: tableCmdSize, keeps: inFlowTable},
	{opcode: ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, id: flowIndex, inInput: true,
		end: ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY, endID: flowIndex, endSize: tableCmdSize, keeps: inFlowTable},
	{opcode: ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER, id: num32, end: ifc.MLX5_CMD_OP_DEALLOC_FLOW_COUNTER, endID: num32},
	{opcode: ifc.MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT, id: num32,
		end: ifc.MLX5_CMD_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, endID: num32},
	{opcode: ifc.MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT, id: num32,
		end: ifc.MLX5_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT, endID: num32},
	{opcode: ifc.MLX5_CMD_OP_CREATE_SCHEDULING_ELEMENT, id: num(16, 4), end: ifc.MLX5_CMD_OP_DESTROY_SCHEDULING_ELEMENT,
		endID: num(12, 4), endSize: tableCmdSize, keeps: []ifc.Field{num(8, 1)}},
	{opcode: ifc.MLX5_CMD_OP_ADD_VXLAN_UDP_DPORT, id: num(14, 2), inInput: true,
		end: ifc.MLX5_CMD_OP_DELETE_VXLAN_UDP_DPORT, endID: num(14, 2)},
	{opcode: ifc.MLX5_CMD_OP_SET_L2_TABLE_ENTRY, id: num(21, 3), inInput: true,
		end: ifc.MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY, endID: num(21, 3), endSize: tableCmdSize},
	{opcode: ifc.MLX5_CMD_OP_CREATE_QP, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_QP, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_SRQ, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_SRQ, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_XRC_SRQ, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_XRC_SRQ, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_DCT, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_DCT, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_XRQ, id: num24, end: ifc.MLX5_CMD_OP_DESTROY_XRQ, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_ATTACH_TO_MCG, id: num24, inInput: true, end: ifc.MLX5_CMD_OP_DETACH_FROM_MCG, endID: num24,
		endSize: 32, keeps: []ifc.Field{num(16, 8), num(24, 8)}},
	{opcode: ifc.MLX5_CMD_OP_ALLOC_XRCD, id: num24, end: ifc.MLX5_CMD_OP_DEALLOC_XRCD, endID: num24},
	{opcode: ifc.MLX5_CMD_OP_CREATE_PSV, id: num(17, 3), end: ifc.MLX5_CMD_OP_DESTROY_PSV, endID: num24},
})

func index(list []devxCreation) map[uint16]*devxCreation {
	m := make(map[uint16]*devxCreation, len(list))
	for i := range list {
		m[list[i].opcode] = &list[i]
	}
	return m
}

// numPSV is how many signature objects CREATE_PSV shall make.
var numPSV = ifc.Field{Off: 64, Width: 4, Count: 1}

// creation returns how the command makes an object, or nil if it does not. It
// models devx_is_obj_create_cmd in drivers/infiniband/hw/mlx5/devx.c.
func (c devxCmd) creation() *devxCreation {
	switch c.opcode() {
	case ifc.MLX5_CMD_OP_CREATE_UMEM: // has a method of its own
		return nil
	case ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY:
		if c.objType() != 0 { // changes one
			return nil
		}
	case ifc.MLX5_CMD_OP_CREATE_PSV:
		if numPSV.Get(c) != 1 {
			return nil
		}
	}
	return devxCreations[c.opcode()]
}

// createdID returns the number of the object that the command has made. It
// models devx_get_created_obj_id in drivers/infiniband/hw/mlx5/devx.c.
func (cr *devxCreation) createdID(in devxCmd, out []byte) uint32 {
	if cr.inInput {
		return uint32(cr.id.Get(in))
	}
	if int(cr.id.Off+cr.id.Width) > 8*len(out) {
		return 0 // the user left no room for it
	}
	return uint32(cr.id.Get(out))
}

// destroyCmd returns the command that ends the object. It models
// devx_obj_build_destroy_cmd in drivers/infiniband/hw/mlx5/devx.c.
func (cr *devxCreation) destroyCmd(in devxCmd, id uint32) []byte {
	din := make([]byte, max(cr.endSize, minCommand))
	be.PutUint16(din, cr.end)
	be.PutUint16(din[2:], be.Uint16(in[2:]))
	for _, f := range cr.keeps {
		f.Set(din, f.Get(in))
	}
	cr.endID.Set(din, uint64(id))
	return din
}

// devxAccess is a command that changes or queries an object: the command by which
// the object was made, and where its number stands.
type devxAccess struct {
	created uint16
	id      ifc.Field
}

// devxModifications are the commands that change an object. It models
// devx_is_obj_modify_cmd and its part of devx_get_obj_id in
// drivers/infiniband/hw/mlx5/devx.c.
var devxModifications = map[uint16]devxAccess{
	ifc.MLX5_CMD_OP_MODIFY_GENERAL_OBJECT:     {ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT, num32},
	ifc.MLX5_CMD_OP_MODIFY_CQ:                 {ifc.MLX5_CMD_OP_CREATE_CQ, num24},
	ifc.MLX5_CMD_OP_MODIFY_RMP:                {ifc.MLX5_CMD_OP_CREATE_RMP, num24},
	ifc.MLX5_CMD_OP_MODIFY_SQ:                 {ifc.MLX5_CMD_OP_CREATE_SQ, num24},
	ifc.MLX5_CMD_OP_MODIFY_RQ:                 {ifc.MLX5_CMD_OP_CREATE_RQ, num24},
	ifc.MLX5_CMD_OP_MODIFY_RQT:                {ifc.MLX5_CMD_OP_CREATE_RQT, num24},
	ifc.MLX5_CMD_OP_MODIFY_TIR:                {ifc.MLX5_CMD_OP_CREATE_TIR, num24},
	ifc.MLX5_CMD_OP_MODIFY_TIS:                {ifc.MLX5_CMD_OP_CREATE_TIS, num24},
	ifc.MLX5_CMD_OP_MODIFY_FLOW_TABLE:         {ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, tableID},
	ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY:      {ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, flowIndex},
	ifc.MLX5_CMD_OP_MODIFY_SCHEDULING_ELEMENT: {ifc.MLX5_CMD_OP_CREATE_SCHEDULING_ELEMENT, num(12, 4)},
	ifc.MLX5_CMD_OP_ADD_VXLAN_UDP_DPORT:       {ifc.MLX5_CMD_OP_ADD_VXLAN_UDP_DPORT, num(14, 2)},
	ifc.MLX5_CMD_OP_SET_L2_TABLE_ENTRY:        {ifc.MLX5_CMD_OP_SET_L2_TABLE_ENTRY, num(21, 3)},
	ifc.MLX5_CMD_OP_RST2INIT_QP:               {ifc.MLX5_CMD_OP_CREATE_QP, num24},
	ifc.MLX5_CMD_OP_INIT2RTR_QP:               {ifc.MLX5_CMD_OP_CREATE_QP, num24},
	ifc.MLX5_CMD_OP_INIT2INIT_QP:              {ifc.MLX5_CMD_OP_CREATE_QP, num24},
	ifc.MLX5_CMD_OP_RTR2RTS_QP:                {ifc.MLX5_CMD_OP_CREATE_QP, num24},
	ifc.MLX5_CMD_OP_RTS2RTS_QP:                {ifc.MLX5_CMD_OP_CREATE_QP, num24},
	ifc.MLX5_CMD_OP_SQERR2RTS_QP:              {ifc.MLX5_CMD_OP_CREATE_QP, num24},
	ifc.MLX5_CMD_OP_2ERR_QP:                   {ifc.MLX5_CMD_OP_CREATE_QP, num24},
	ifc.MLX5_CMD_OP_2RST_QP:                   {ifc.MLX5_CMD_OP_CREATE_QP, num24},
	ifc.MLX5_CMD_OP_ARM_XRC_SRQ:               {ifc.MLX5_CMD_OP_CREATE_XRC_SRQ, num24},
	ifc.MLX5_CMD_OP_ARM_RQ:                    {ifc.MLX5_CMD_OP_CREATE_RQ, num24},
	ifc.MLX5_CMD_OP_ARM_DCT_FOR_KEY_VIOLATION: {ifc.MLX5_CMD_OP_CREATE_DCT, num24},
	ifc.MLX5_CMD_OP_ARM_XRQ:                   {ifc.MLX5_CMD_OP_CREATE_XRQ, num24},
	ifc.MLX5_CMD_OP_SET_XRQ_DC_PARAMS_ENTRY:   {ifc.MLX5_CMD_OP_CREATE_XRQ, num24},
	ifc.MLX5_CMD_OP_RELEASE_XRQ_ERROR:         {ifc.MLX5_CMD_OP_CREATE_XRQ, num24},
	ifc.MLX5_CMD_OP_MODIFY_XRQ:                {ifc.MLX5_CMD_OP_CREATE_XRQ, num24},
}

// modification returns the object that the command changes; false if it does not
// change one.
func (c devxCmd) modification() (devxAccess, bool) {
	if c.opcode() == ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY && c.objType() != 1 { // makes one
		return devxAccess{}, false
	}
	a, ok := devxModifications[c.opcode()]
	return a, ok
}

// devxQueries are the commands that query an object. It models
// devx_is_obj_query_cmd and its part of devx_get_obj_id in
// drivers/infiniband/hw/mlx5/devx.c.
var devxQueries = map[uint16]devxAccess{
	ifc.MLX5_CMD_OP_QUERY_GENERAL_OBJECT:          {ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT, num32},
	ifc.MLX5_CMD_OP_QUERY_MKEY:                    {ifc.MLX5_CMD_OP_CREATE_MKEY, num24},
	ifc.MLX5_CMD_OP_QUERY_CQ:                      {ifc.MLX5_CMD_OP_CREATE_CQ, num24},
	ifc.MLX5_CMD_OP_QUERY_RMP:                     {ifc.MLX5_CMD_OP_CREATE_RMP, num24},
	ifc.MLX5_CMD_OP_QUERY_SQ:                      {ifc.MLX5_CMD_OP_CREATE_SQ, num24},
	ifc.MLX5_CMD_OP_QUERY_RQ:                      {ifc.MLX5_CMD_OP_CREATE_RQ, num24},
	ifc.MLX5_CMD_OP_QUERY_RQT:                     {ifc.MLX5_CMD_OP_CREATE_RQT, num24},
	ifc.MLX5_CMD_OP_QUERY_TIR:                     {ifc.MLX5_CMD_OP_CREATE_TIR, num24},
	ifc.MLX5_CMD_OP_QUERY_TIS:                     {ifc.MLX5_CMD_OP_CREATE_TIS, num24},
	ifc.MLX5_CMD_OP_QUERY_Q_COUNTER:               {ifc.MLX5_CMD_OP_ALLOC_Q_COUNTER, num(31, 1)},
	ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE:              {ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, tableID},
	ifc.MLX5_CMD_OP_QUERY_FLOW_GROUP:              {ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP, groupID},
	ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY:        {ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, flowIndex},
	ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER:            {ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER, num(28, 4)},
	ifc.MLX5_CMD_OP_QUERY_MODIFY_HEADER_CONTEXT:   {ifc.MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT, num32},
	ifc.MLX5_CMD_OP_QUERY_SCHEDULING_ELEMENT:      {ifc.MLX5_CMD_OP_CREATE_SCHEDULING_ELEMENT, num(12, 4)},
	ifc.MLX5_CMD_OP_QUERY_L2_TABLE_ENTRY:          {ifc.MLX5_CMD_OP_SET_L2_TABLE_ENTRY, num(21, 3)},
	ifc.MLX5_CMD_OP_QUERY_QP:                      {ifc.MLX5_CMD_OP_CREATE_QP, num24},
	ifc.MLX5_CMD_OP_QUERY_SRQ:                     {ifc.MLX5_CMD_OP_CREATE_SRQ, num24},
	ifc.MLX5_CMD_OP_QUERY_XRC_SRQ:                 {ifc.MLX5_CMD_OP_CREATE_XRC_SRQ, num24},
	ifc.MLX5_CMD_OP_QUERY_DCT:                     {ifc.MLX5_CMD_OP_CREATE_DCT, num24},
	ifc.MLX5_CMD_OP_QUERY_XRQ:                     {ifc.MLX5_CMD_OP_CREATE_XRQ, num24},
	ifc.MLX5_CMD_OP_QUERY_XRQ_DC_PARAMS_ENTRY:     {ifc.MLX5_CMD_OP_CREATE_XRQ, num24},
	ifc.MLX5_CMD_OP_QUERY_XRQ_ERROR_PARAMS:        {ifc.MLX5_CMD_OP_CREATE_XRQ, num24},
	ifc.MLX5_CMD_OP_QUERY_PACKET_REFORMAT_CONTEXT: {ifc.MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT, num32},
}

// query returns the object that the command queries; false if it does not query
// one.
func (c devxCmd) query() (devxAccess, bool) {
	a, ok := devxQueries[c.opcode()]
	return a, ok
}

// encObjID tells objects of all kinds apart: their numbers together with the
// command, and the type of a general object, by which they were made. It models
// get_enc_obj_id in drivers/infiniband/hw/mlx5/devx.c.
func encObjID(created, objType uint16, id uint32) uint64 {
	return uint64(objType)<<48 | uint64(created)<<32 | uint64(id)
}

// objectID returns which object the command names. It models devx_get_obj_id in
// drivers/infiniband/hw/mlx5/devx.c.
func (a devxAccess) objectID(c devxCmd) uint64 {
	var objType uint16
	if a.created == ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT {
		objType = c.objType()
	}
	return encObjID(a.created, objType, uint32(a.id.Get(c)))
}

// wqUmemValid returns the two bits of a work queue that begins at a byte.
func wqUmemValid(wq uint32) []ifc.Field { return []ifc.Field{flag(wq+36, 0), flag(wq+36, 1)} }

// umemValid has the bits that say that addresses in a command are numbers of
// registered memory and offsets in it, which is the only thing that users may
// write there. It models devx_set_umem_valid in
// drivers/infiniband/hw/mlx5/devx.c.
var umemValid = map[uint16][]ifc.Field{
	ifc.MLX5_CMD_OP_CREATE_MKEY:    {flag(12, 1)},
	ifc.MLX5_CMD_OP_CREATE_CQ:      {flag(92, 0), flag(16, 6)},
	ifc.MLX5_CMD_OP_MODIFY_CQ:      {flag(92, 0)},
	ifc.MLX5_CMD_OP_CREATE_QP:      {flag(268, 0), flag(24+208, 3)},
	ifc.MLX5_CMD_OP_CREATE_RQ:      wqUmemValid(32 + 48),
	ifc.MLX5_CMD_OP_CREATE_SQ:      wqUmemValid(32 + 48),
	ifc.MLX5_CMD_OP_CREATE_RMP:     wqUmemValid(32 + 48),
	ifc.MLX5_CMD_OP_CREATE_XRQ:     wqUmemValid(16 + 128),
	ifc.MLX5_CMD_OP_CREATE_XRC_SRQ: {flag(92, 0), flag(16+8, 7)},
}

func (c devxCmd) setUmemValid() {
	for _, f := range umemValid[c.opcode()] {
		f.Set(c, 1)
	}
}

// devxWhitelist are the commands that contexts may send that are no DEVX users.
// It models devx_is_whitelist_cmd in drivers/infiniband/hw/mlx5/devx.c.
var devxWhitelist = opcodeSet(ifc.MLX5_CMD_OP_QUERY_HCA_CAP, ifc.MLX5_CMD_OP_QUERY_HCA_VPORT_CONTEXT,
	ifc.MLX5_CMD_OP_QUERY_ESW_VPORT_CONTEXT, ifc.MLX5_CMD_OP_QUERY_ESW_FUNCTIONS)

// uid returns the uid that the command has to run under. It models devx_get_uid
// in drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-devx/no-whitelist-uid, mlx5-devx/no-uid.
func (c devxCmd) uid(ctx *ucontext) (uint16, error) {
	switch {
	case ctx.devxUID != 0:
		return ctx.devxUID, nil
	case !devxWhitelist[c.opcode()]:
		return 0, rule.MLX5DevxNoUID
	case ctx.dev.whitelistUID == 0:
		return 0, rule.MLX5DevxNoWhitelistUID
	}
	return ctx.dev.whitelistUID, nil
}

// Commands whose opcodes are in this range are all general ones
// (MLX5_CMD_OP_GENERAL_START and _END).
const (
	generalStart = 0xb00
	generalEnd   = 0xd00
)

var devxGeneral = opcodeSet(ifc.MLX5_CMD_OP_QUERY_HCA_CAP, ifc.MLX5_CMD_OP_QUERY_HCA_VPORT_CONTEXT,
	ifc.MLX5_CMD_OP_QUERY_ESW_VPORT_CONTEXT, ifc.MLX5_CMD_OP_QUERY_VPORT_STATE, ifc.MLX5_CMD_OP_QUERY_ADAPTER,
	ifc.MLX5_CMD_OP_QUERY_ISSI, ifc.MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT, ifc.MLX5_CMD_OP_QUERY_ROCE_ADDRESS,
	ifc.MLX5_CMD_OP_QUERY_VNIC_ENV, ifc.MLX5_CMD_OP_QUERY_VPORT_COUNTER, ifc.MLX5_CMD_OP_GET_DROPPED_PACKET_LOG,
	ifc.MLX5_CMD_OP_NOP, ifc.MLX5_CMD_OP_QUERY_CONG_STATUS, ifc.MLX5_CMD_OP_QUERY_CONG_PARAMS,
	ifc.MLX5_CMD_OP_QUERY_CONG_STATISTICS, ifc.MLX5_CMD_OP_QUERY_LAG, ifc.MLX5_CMD_OP_QUERY_ESW_FUNCTIONS)

var capTunnelCommands = gen("vhca_tunnel_commands")

// isGeneral says whether the command needs no object. It models
// devx_is_general_cmd in drivers/infiniband/hw/mlx5/devx.c.
func (c devxCmd) isGeneral(d *Device) bool {
	op := c.opcode()
	return d.caps.has(capTunnelCommands) && c.tunnel() != 0 || op >= generalStart && op < generalEnd || devxGeneral[op]
}
