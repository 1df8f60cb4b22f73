package mlx5

import (
	"net/netip"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// gidTypeROCEv2 is IB_GID_TYPE_ROCE_UDP_ENCAP.
const gidTypeROCEv2 = 2

// The network device on the port, as the kernel numbers it behind the loop-back,
// and the routes that its addresses bring: their subnets.
const (
	netdevIndex  = 2
	ipv4Prefix   = 24
	ipv6Prefix   = 64
	linkHopLimit = 64 // IPDEFTTL, and the default for IPv6
)

// initGIDs makes the port's GIDs: one for the link-local address that the
// network device makes of its MAC address, and one for each other address
// (drivers/infiniband/core/roce_gid_mgmt.c).
//
// Errors: mlx5-cmd/….
func (d *Device) initGIDs(t *trace.Task) error {
	if !d.caps.has(capROCE) {
		return nil
	}
	d.IB.GIDTblLen = int32(d.caps.get(capROCEAddressTable))
	if !d.hasNetdev() {
		return nil
	}
	linkLocal := [16]byte{0: 0xfe, 1: 0x80}
	mac := d.mac
	copy(linkLocal[8:], []byte{mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]})
	d.addrs = append([]netip.Addr{netip.AddrFrom16(linkLocal)}, d.cfg.Addrs...)
	for i, a := range d.addrs {
		g := core.GIDAttr{GID: a.As16(), Index: uint32(i), Port: 1, Type: gidTypeROCEv2, Ifindex: netdevIndex}
		if err := d.addGID(t, &g, a); err != nil {
			return err
		}
		d.IB.GIDs = append(d.IB.GIDs, g)
	}
	return nil
}

// The fields of the command that fills a place of the device's table of GIDs.
var (
	roceIndex   = ifc.Must("set_roce_address_in").Field("roce_address_index")
	roceGID     = ifc.Must("set_roce_address_in").Field("roce_address.source_l3_address")
	roceMACHigh = ifc.Must("set_roce_address_in").Field("roce_address.source_mac_47_32")
	roceMACLow  = ifc.Must("set_roce_address_in").Field("roce_address.source_mac_31_0")
	roceL3Type  = ifc.Must("set_roce_address_in").Field("roce_address.roce_l3_type")
	roceVersion = ifc.Must("set_roce_address_in").Field("roce_address.roce_version")
)

// What a GID of RoCE version 2 is to the device (enum mlx5_roce_l3_type and
// MLX5_ROCE_VERSION_2).
const (
	roceL3IPv4   = 0
	roceL3IPv6   = 1
	roceVersion2 = 2
)

// addGID tells the device of a GID. It models mlx5_ib_add_gid in
// drivers/infiniband/hw/mlx5/main.c and mlx5_core_roce_gid_set in
// drivers/net/ethernet/mellanox/mlx5/core/lib/gid.c.
//
// Errors: mlx5-cmd/….
func (d *Device) addGID(t *trace.Task, g *core.GIDAttr, a netip.Addr) error {
	defer t.Enter(moduleIB, "mlx5_ib_add_gid").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_SET_ROCE_ADDRESS, 0, 0)
	defer d.giveBack(m)
	roceIndex.Set(m.in, uint64(g.Index))
	copy(roceGID.Bytes(m.in), g.GID[:])
	roceMACHigh.Set(m.in, uint64(be.Uint16(d.mac[:])))
	roceMACLow.Set(m.in, uint64(be.Uint32(d.mac[2:])))
	roceL3Type.Set(m.in, roceL3IPv6)
	if a.Unmap().Is4() {
		roceL3Type.Set(m.in, roceL3IPv4)
	}
	roceVersion.Set(m.in, roceVersion2)
	return d.exec(t, m.in, m.out)
}

// netdevEvent follows the link of the port, and tells the users of the device
// when it has come up or gone down. It models what the Ethernet driver does at a
// change of the port, and mlx5_netdev_event in drivers/infiniband/hw/mlx5/main.c.
func (d *Device) netdevEvent(t *trace.Task, eqe *hw.EQE) {
	if eqe.Type != eventPortChange || !d.hasNetdev() {
		return
	}
	defer t.Enter(moduleIB, "mlx5_netdev_event").Leave()
	const subtypeActive = 4 // MLX5_PORT_CHANGE_SUBTYPE_ACTIVE
	up := eqe.Subtype == subtypeActive
	if d.carrier.Swap(up) == up || !d.active.Load() {
		return
	}
	typ := uint32(spec.IB_EVENT_PORT_ERR)
	if up {
		typ = spec.IB_EVENT_PORT_ACTIVE
	}
	d.IB.DispatchEvent(t, &core.Event{Type: typ, Port: 1})
}

// resolveAddr finds the MAC address behind a GID. The device's own addresses are
// its own MAC; on its subnets the adapters of its fabric answer, and for an
// address of nobody the resolution ends by a time-out; no other network has a
// route.
//
// Errors: mlx5-net/….
func (d *Device) resolveAddr(_ *process.Task, _ *core.GIDAttr, dgid [16]byte) (mac [6]byte, hopLimit uint8, err error) {
	to := netip.AddrFrom16(dgid).Unmap()
	for _, a := range d.addrs {
		a = a.Unmap()
		if a == to {
			return d.mac, linkHopLimit, nil
		}
		bits := ipv6Prefix
		if a.Is4() {
			bits = ipv4Prefix
		}
		if p, err := a.Prefix(bits); err == nil && p.Contains(to) {
			if mac, ok := d.HW.Fabric().Resolve(dgid); ok {
				return mac, linkHopLimit, nil
			}
			return mac, 0, rule.MLX5NetNoNeighbour
		}
	}
	return mac, 0, rule.MLX5NetNoRoute
}
