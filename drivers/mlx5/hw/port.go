package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// port is the device's port: its link, and what the driver has told it about
// addresses, groups and counters.
type port struct {
	up      bool
	roce    roceTable
	groups  groups
	sets    [1 << 8]*counterSet // by number, nil where there is none
	traffic [4]traffic          // by trafficCounter
	frames  [2][3]traffic       // received and sent, by casts
}

// resetPort forgets what the driver has told. The link stays as it is.
func (d *Device) resetPort() {
	d.fabric.announce(d, nil)
	d.port = port{up: d.port.up, roce: newROCETable(capROCETable.Get(d.caps[ifc.MLX5_CAP_ROCE])), groups: groups{}}
}

// PortUp says that the port's link has come up or gone down. The event about a
// change goes to the event queues that asked for it; queries of the port say how
// it is now.
func (d *Device) PortUp(up bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.port.up == up {
		return
	}
	d.port.up = up
	d.kick() // what is held back for others is lost now
	if !d.broken {
		d.raise(portEQE(up), nil)
	}
}

// Subtypes of MLX5_EVENT_TYPE_PORT_CHANGE (MLX5_PORT_CHANGE_SUBTYPE_* in
// include/linux/mlx5/device.h).
const (
	portChangeDown   = 1
	portChangeActive = 4
)

// eventPort is where an event has the number of its port, in the upper four bits,
// and onlyPort that number.
const (
	eventPort = 8
	onlyPort  = 1
)

// portEQE is the event of a port that has changed (struct mlx5_eqe_port_state).
func portEQE(up bool) (e EQE) {
	e.Type, e.Subtype = ifc.MLX5_EVENT_TYPE_PORT_CHANGE, portChangeDown
	if up {
		e.Subtype = portChangeActive
	}
	e.Data[eventPort] = onlyPort << 4
	return e
}

var vportState = ifc.Must("query_vport_state_out").Field("state")

// queryVportState answers with the state that the driver wants and the one that
// the link has.
func queryVportState(d *Device, c *command) *refusal {
	copy(c.out, d.cfg.Profile.image("query_vport_state_out"))
	vportState.Set(c.out, 0)
	if d.port.up {
		vportState.Set(c.out, 1)
	}
	return nil
}

// downRegisters has what a register says of a port that is down, and nothing of
// one that is up.
var downRegisters = map[uint16][]struct {
	field ifc.Field
	value uint64
}{
	MLX5_REG_PTYS: {
		{ifc.Must("ptys_reg").Field("ext_eth_proto_oper"), 0},
		{ifc.Must("ptys_reg").Field("eth_proto_oper"), 0},
		{ifc.Must("ptys_reg").Field("ib_proto_oper"), 0},
		{ifc.Must("ptys_reg").Field("ib_link_width_oper"), 0},
	},
	MLX5_REG_PAOS: {{ifc.Must("paos_reg").Field("oper_status"), paosDown}},
}

// paosDown is MLX5_PORT_DOWN of include/linux/mlx5/port.h.
const paosDown = 2

// followLink changes a register's content that depends on the link. A content too
// short for that stays.
func (d *Device) followLink(id uint16, data []byte) {
	if d.port.up {
		return
	}
	for _, r := range downRegisters[id] {
		if int(r.field.Off+r.field.Width+7)/8 <= len(data) {
			r.field.Set(data, r.value)
		}
	}
}

// The fields of the commands about the port as InfiniBand has it.
var (
	hcaVport      = ifc.Must("query_hca_vport_context_out").Field("hca_vport_context")
	hcaPhysState  = ifc.Must("hca_vport_context").Field("port_physical_state")
	hcaPortState  = ifc.Must("hca_vport_context").Field("port_state")
	hcaVportState = ifc.Must("hca_vport_context").Field("vport_state")
	hcaGUIDs      = []struct{ to, from ifc.Field }{
		{ifc.Must("hca_vport_context").Field("system_image_guid"), ifc.Must("nic_vport_context").Field("system_image_guid")},
		{ifc.Must("hca_vport_context").Field("port_guid"), ifc.Must("nic_vport_context").Field("port_guid")},
		{ifc.Must("hca_vport_context").Field("node_guid"), ifc.Must("nic_vport_context").Field("node_guid")},
	}
	pkeyIndex = ifc.Must("query_hca_vport_pkey_in").Field("pkey_index")
	pkeyList  = ifc.Must("query_hca_vport_pkey_out").Field("pkey").Byte()
)

// The states of a port and of its link (enum ib_port_state and ib_port_phys_state
// in include/rdma/ib_verbs.h).
const (
	portDown       = 1
	portActive     = 4
	physPolling    = 2
	physLinkUp     = 5
	vportStateUp   = 1
	vportStateDown = 0
)

func queryHCAVport(d *Device, c *command) *refusal {
	ctx := hcaVport.Bytes(c.out)
	phys, state, vport := uint64(physPolling), uint64(portDown), uint64(vportStateDown)
	if d.port.up {
		phys, state, vport = physLinkUp, portActive, vportStateUp
	}
	hcaPhysState.Set(ctx, phys)
	hcaPortState.Set(ctx, state)
	hcaVportState.Set(ctx, vport)
	for _, g := range hcaGUIDs {
		g.to.Set(ctx, g.from.Get(d.vport))
	}
	return nil
}

// defaultPkey is the only partition key of a RoCE port: the default partition, as
// a full member.
const (
	defaultPkey = 0xffff
	allPkeys    = 0xffff // an index that asks for the whole table
)

// queryHCAVportPkey answers with the partition key at an index: the default one
// at the first, none elsewhere.
func queryHCAVportPkey(d *Device, c *command) *refusal {
	if i := pkeyIndex.Get(c.in); i != 0 && i != allPkeys {
		return nil
	}
	if list := c.out[pkeyList:]; len(list) >= 4 {
		list[2], list[3] = defaultPkey>>8, defaultPkey&0xff
	}
	return nil
}
