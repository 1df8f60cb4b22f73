package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// link is a width and a speed of a port.
type link struct {
	width uint8
	speed uint16
}

// legacyLinks says what each protocol of Ethernet is to InfiniBand, by the
// protocol's bit in ptys_reg (enum mlx5e_link_mode in include/linux/mlx5/port.h).
// It models translate_eth_legacy_proto_oper in drivers/infiniband/hw/mlx5/main.c.
var legacyLinks = map[uint32]link{
	1 << 0: {spec.IB_WIDTH_1X, spec.IB_SPEED_SDR}, 1 << 1: {spec.IB_WIDTH_1X, spec.IB_SPEED_SDR},
	1 << 24: {spec.IB_WIDTH_1X, spec.IB_SPEED_SDR}, 1 << 25: {spec.IB_WIDTH_1X, spec.IB_SPEED_SDR},
	1 << 2: {spec.IB_WIDTH_1X, spec.IB_SPEED_QDR}, 1 << 3: {spec.IB_WIDTH_1X, spec.IB_SPEED_QDR},
	1 << 4: {spec.IB_WIDTH_1X, spec.IB_SPEED_QDR}, 1 << 12: {spec.IB_WIDTH_1X, spec.IB_SPEED_QDR},
	1 << 13: {spec.IB_WIDTH_1X, spec.IB_SPEED_QDR}, 1 << 14: {spec.IB_WIDTH_1X, spec.IB_SPEED_QDR},
	1 << 26: {spec.IB_WIDTH_1X, spec.IB_SPEED_QDR},
	1 << 27: {spec.IB_WIDTH_1X, spec.IB_SPEED_EDR}, 1 << 28: {spec.IB_WIDTH_1X, spec.IB_SPEED_EDR},
	1 << 29: {spec.IB_WIDTH_1X, spec.IB_SPEED_EDR},
	1 << 6:  {spec.IB_WIDTH_4X, spec.IB_SPEED_QDR}, 1 << 7: {spec.IB_WIDTH_4X, spec.IB_SPEED_QDR},
	1 << 15: {spec.IB_WIDTH_4X, spec.IB_SPEED_QDR}, 1 << 16: {spec.IB_WIDTH_4X, spec.IB_SPEED_QDR},
	1 << 18: {spec.IB_WIDTH_1X, spec.IB_SPEED_HDR}, 1 << 30: {spec.IB_WIDTH_1X, spec.IB_SPEED_HDR},
	1 << 31: {spec.IB_WIDTH_1X, spec.IB_SPEED_HDR},
	1 << 8:  {spec.IB_WIDTH_4X, spec.IB_SPEED_FDR},
	1 << 20: {spec.IB_WIDTH_4X, spec.IB_SPEED_EDR}, 1 << 21: {spec.IB_WIDTH_4X, spec.IB_SPEED_EDR},
	1 << 22: {spec.IB_WIDTH_4X, spec.IB_SPEED_EDR}, 1 << 23: {spec.IB_WIDTH_4X, spec.IB_SPEED_EDR},
}

// extLinks is the same for the extended protocols (enum mlx5e_ext_link_mode). It
// models translate_eth_ext_proto_oper in drivers/infiniband/hw/mlx5/main.c.
var extLinks = map[uint32]link{
	1 << 0: {spec.IB_WIDTH_1X, spec.IB_SPEED_SDR}, 1 << 1: {spec.IB_WIDTH_1X, spec.IB_SPEED_SDR},
	1 << 3: {spec.IB_WIDTH_1X, spec.IB_SPEED_DDR}, 1 << 4: {spec.IB_WIDTH_1X, spec.IB_SPEED_QDR},
	1 << 5: {spec.IB_WIDTH_4X, spec.IB_SPEED_QDR}, 1 << 6: {spec.IB_WIDTH_1X, spec.IB_SPEED_EDR},
	1 << 7: {spec.IB_WIDTH_2X, spec.IB_SPEED_EDR}, 1 << 8: {spec.IB_WIDTH_1X, spec.IB_SPEED_HDR},
	1 << 9: {spec.IB_WIDTH_4X, spec.IB_SPEED_EDR}, 1 << 10: {spec.IB_WIDTH_2X, spec.IB_SPEED_HDR},
	1 << 11: {spec.IB_WIDTH_1X, spec.IB_SPEED_NDR}, 1 << 12: {spec.IB_WIDTH_4X, spec.IB_SPEED_HDR},
	1 << 13: {spec.IB_WIDTH_2X, spec.IB_SPEED_NDR}, 1 << 15: {spec.IB_WIDTH_8X, spec.IB_SPEED_HDR},
	1 << 16: {spec.IB_WIDTH_4X, spec.IB_SPEED_NDR}, 1 << 19: {spec.IB_WIDTH_8X, spec.IB_SPEED_NDR},
}

var (
	registerID    = ifc.Must("access_register_in").Field("register_id")
	registerData  = ifc.Must("access_register_in").Field("register_data").Byte()
	ptysLocalPort = ifc.Must("ptys_reg").Field("local_port")
	ptysProtoMask = ifc.Must("ptys_reg").Field("proto_mask")
	ptysExtCap    = ifc.Must("ptys_reg").Field("ext_eth_proto_capability")
	ptysExtOper   = ifc.Must("ptys_reg").Field("ext_eth_proto_oper")
	ptysOper      = ifc.Must("ptys_reg").Field("eth_proto_oper")

	capLogMaxMsg = gen("log_max_msg")
)

const (
	ptysEthernet = 1 << 2 // MLX5_PTYS_EN
	registerRead = 1      // operation modifier of ACCESS_REG
)

// accessReg reads a register of size bytes; fill writes what is asked with. It
// models mlx5_core_access_reg in
// drivers/net/ethernet/mellanox/mlx5/core/port.c for reading. The answer is valid
// until the mailbox is given back.
//
// Errors: mlx5-cmd/….
func (d *Device) accessReg(t *trace.Task, slot int, m *mailbox, size int, id uint16, fill func(data []byte)) ([]byte, error) {
	defer t.Enter(moduleCore, "mlx5_core_access_reg").Leave()
	m.out = zeros(m.out, registerData+size)
	be.PutUint16(m.in[6:], registerRead)
	registerID.Set(m.in, uint64(id))
	if fill != nil {
		fill(m.in[registerData:])
	}
	if err := d.execIn(t, slot, m.in, m.out); err != nil {
		return nil, err
	}
	return m.out[registerData:], nil
}

// queryPort says how a port is. Its link is Ethernet's: state and MTU are those
// of the network device on it. It models mlx5_ib_query_port and
// mlx5_query_port_roce in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-cmd/….
func (d *Device) queryPort(task *process.Task, _ *core.Device, port uint32, props *core.PortAttr) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_query_port").Leave()
	defer t.Enter(moduleIB, "mlx5_query_port_roce").Leave()
	l, err := d.operLink(task, port)
	if err != nil {
		return err
	}
	*props = core.PortAttr{
		ActiveWidth: l.width, ActiveSpeed: l.speed,
		MaxMTU: spec.IB_MTU_4096, MaxMsgSz: d.caps.pow2(capLogMaxMsg), PkeyTblLen: 1,
		State: spec.IB_PORT_DOWN, PhysState: spec.IB_PORT_PHYS_STATE_DISABLED,
	}
	if d.caps.has(capROCE) {
		props.PortCapFlags = spec.IB_UVERBS_PCF_CM_SUP
		props.IPGIDs = true
		props.GIDTblLen = uint32(d.IB.GIDTblLen)
		m := queryMailbox(task, ifc.MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT, 0)
		if err := d.execIn(t, querySlot(task), m.in, m.out); err == nil {
			props.QkeyViolCntr = uint32(qkeyViolations.Get(m.out))
		}
		m.keep()
	}
	if !d.hasNetdev() {
		return nil
	}
	if d.carrier.Load() {
		props.State, props.PhysState = spec.IB_PORT_ACTIVE, spec.IB_PORT_PHYS_STATE_LINK_UP
	}
	props.ActiveMTU = min(props.MaxMTU, ethMTU(d.cfg.MTU))
	return nil
}

var ptysSize = ifc.Must("ptys_reg").Size()

// operLink returns the width and the speed that a port has at the moment.
//
// Errors: mlx5-cmd/….
func (d *Device) operLink(task *process.Task, port uint32) (link, error) {
	m := queryMailbox(task, ifc.MLX5_CMD_OP_ACCESS_REG, ptysSize)
	defer m.keep()
	ptys, err := d.accessReg(task.Trace, querySlot(task), m, ptysSize, hw.MLX5_REG_PTYS, func(data []byte) {
		ptysLocalPort.Set(data, uint64(port))
		ptysProtoMask.Set(data, ptysEthernet)
	})
	if err != nil {
		return link{}, err
	}
	l, known := link{}, false
	if ptysExtCap.Get(ptys) != 0 {
		l, known = extLinks[uint32(ptysExtOper.Get(ptys))]
	} else {
		l, known = legacyLinks[uint32(ptysOper.Get(ptys))]
	}
	if !known {
		l = link{spec.IB_WIDTH_4X, spec.IB_SPEED_QDR}
	}
	return l, nil
}

// hasNetdev says whether the Ethernet driver makes a network device on the port.
// It models mlx5_eth_supported in drivers/net/ethernet/mellanox/mlx5/core/dev.c.
func (d *Device) hasNetdev() bool {
	c := &d.caps
	return c.has(capEthNetOffloads) && c.has(capNICFlowTable) && c.has(capCsum) && c.has(capMaxLSO) && c.has(capVLAN) &&
		c.has(capRSSIndTable) && c.get(capMaxFTLevel) >= 3
}

var capRSSIndTable = eth("rss_ind_tbl_cap")

// ethMTU is the MTU of InfiniBand that fits into one of Ethernet, without the
// largest headers. It models iboe_get_mtu in include/rdma/ib_addr.h.
func ethMTU(mtu int) uint8 {
	const headers = 40 + 8 + 12 + 4 + 28 + 4 // GRH, UDP, BTH, XRC, atomic, ICRC
	for enum := uint8(spec.IB_MTU_4096); enum >= spec.IB_MTU_256; enum-- {
		if mtu-headers >= 128<<enum {
			return enum
		}
	}
	return 0
}

// queryPkey asks for a partition key. It models mlx5_ib_query_pkey in
// drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-cmd/….
func (d *Device) queryPkey(task *process.Task, _ *core.Device, port uint32, index uint16) (uint16, error) {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_query_pkey").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_QUERY_HCA_VPORT_PKEY, 0, 0)
	defer d.giveBack(m)
	const portNum, pkeyIndex, pkey = 9, 14, 18 // bytes of query_hca_vport_pkey_in and of the answer's first key
	m.in[portNum] = uint8(port)
	be.PutUint16(m.in[pkeyIndex:], index)
	m.out = zeros(m.out, pkey+2)
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return be.Uint16(m.out[pkey:]), nil
}

// queryGID models mlx5_ib_query_gid in drivers/infiniband/hw/mlx5/main.c, which
// knows the GIDs of InfiniBand links only.
//
// Errors: mlx5-query-gid/roce.
func (d *Device) queryGID(task *process.Task, _ *core.Device, _ uint32, _ int) ([16]byte, error) {
	defer task.Trace.Enter(moduleIB, "mlx5_ib_query_gid").Leave()
	return [16]byte{}, rule.MLX5QueryGID
}

// methodQueryPort is the handler of MLX5_IB_METHOD_QUERY_PORT: what only a
// device with an embedded switch or several ports has to say, so nothing here. It
// models UVERBS_HANDLER(MLX5_IB_METHOD_QUERY_PORT) in
// drivers/infiniband/hw/mlx5/std_types.c.
//
// Errors: mlx5-query-port/port-fault, mlx5-query-port/port, attr/….
func methodQueryPort(b *kernel.Bundle) error {
	port, err := b.Uint32(spec.MLX5_IB_ATTR_QUERY_PORT_PORT_NUM)
	if err != nil {
		return rule.MLX5QueryPortFault
	}
	ctx, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	if !ctx.Device.IsPort(port) {
		return rule.MLX5QueryPortPort
	}
	return b.CopyToStructOrZero(spec.MLX5_IB_ATTR_QUERY_PORT, b.Scratch(spec.Mlx5UapiQueryPortSize))
}

var (
	capDataDirect = gen("data_direct")
	capQueryVUID  = capOf(ifc.MLX5_CAP_GENERAL_2, "query_vuid")
)

// dataDirectPath is what sysfs calls the second function of a card, through
// which other devices' memory is reached.
const dataDirectPath = "/devices/pci0001:00/0001:00:01.0"

// methodDataDirectPath is the handler of
// MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH. Of a card's second function no more
// than its path is modelled, and a card has one if it has the capabilities for
// it. It models UVERBS_HANDLER(MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH) in
// drivers/infiniband/hw/mlx5/std_types.c.
//
// Errors: mlx5-data-direct/none, mlx5-data-direct/space, attr/….
func methodDataDirectPath(b *kernel.Bundle) error {
	const attr = spec.MLX5_IB_ATTR_GET_DATA_DIRECT_SYSFS_PATH
	room, err := b.Len(attr)
	if err != nil {
		return err
	}
	ctx, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	if d := toUcontext(ctx).dev; !d.caps.has(capDataDirect) || !d.caps.has(capQueryVUID) {
		return rule.MLX5DataDirectNone
	}
	path := append([]byte(dataDirectPath), 0)
	if len(path) > room {
		return rule.MLX5DataDirectSpace
	}
	return b.CopyTo(attr, path)
}
