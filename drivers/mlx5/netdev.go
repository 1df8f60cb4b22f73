package mlx5

import (
	"net/netip"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
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
func (d *Device) initGIDs() {
	if !d.caps.has(capROCE) {
		return
	}
	d.IB.GIDTblLen = int32(d.caps.get(capROCEAddressTable))
	if !d.hasNetdev() {
		return
	}
	linkLocal := [16]byte{0: 0xfe, 1: 0x80}
	mac := d.mac
	copy(linkLocal[8:], []byte{mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]})
	d.addrs = append([]netip.Addr{netip.AddrFrom16(linkLocal)}, d.cfg.Addrs...)
	for i, a := range d.addrs {
		d.IB.GIDs = append(d.IB.GIDs, core.GIDAttr{
			GID: a.As16(), Index: uint32(i), Port: 1, Type: gidTypeROCEv2, Ifindex: netdevIndex})
	}
}

// resolveAddr finds the MAC address behind a GID. The device's own addresses are
// its own MAC; on its subnets nobody else is there, so that the resolution ends
// by a time-out; no other network has a route.
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
			return mac, 0, rule.MLX5NetNoNeighbour
		}
	}
	return mac, 0, rule.MLX5NetNoRoute
}
