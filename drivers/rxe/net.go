package rxe

import (
	"net/netip"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// gidTable makes the table of GIDs as drivers/infiniband/core/roce_gid_mgmt.c
// does for a device that speaks RoCE v2 only: the default GID first, then one
// for each address.
func gidTable(cfg *Config) []core.GIDAttr {
	linkLocal := [16]byte{0: 0xfe, 1: 0x80}
	guid := eui48(cfg.MAC)
	copy(linkLocal[8:], guid[:])
	addrs := [][16]byte{linkLocal}
	for _, a := range cfg.Addrs {
		addrs = append(addrs, a.As16())
	}
	var gids []core.GIDAttr
	for i, gid := range addrs {
		gids = append(gids, core.GIDAttr{
			GID: gid, Index: uint32(i), Port: numPorts,
			Type: spec.IB_UVERBS_GID_TYPE_ROCE_V2, Ifindex: ifindex,
		})
	}
	return gids
}

// SetLink tells a device of this driver that its interface was connected or
// disconnected: the port changes, and its event goes to all handlers before
// SetLink returns. It models rxe_port_up and rxe_port_down in
// drivers/infiniband/sw/rxe/rxe_net.c.
func SetLink(t *trace.Task, dev *core.Device, up bool) {
	name, state, event := "rxe_port_down", uint8(spec.IB_PORT_DOWN), uint32(spec.IB_EVENT_PORT_ERR)
	if up {
		name, state, event = "rxe_port_up", spec.IB_PORT_ACTIVE, spec.IB_EVENT_PORT_ACTIVE
	}
	defer t.Enter(module, name).Leave()
	d := toRdev(dev)
	d.usdevLock.Lock(t)
	port := *d.port.Load()
	port.State = state
	d.port.Store(&port)
	d.usdevLock.Unlock(t)
	dev.DispatchEvent(t, &core.Event{Type: event, Port: numPorts})
}

// ifindex is the interface's number: the first after the loopback's.
const ifindex = 2

// linkLocalNet is the network of link-local addresses, fe80::/64, which is the
// only one that the interface has an IPv6 route to.
var linkLocalNet = [8]byte{0xfe, 0x80}

// defaultHopLimit is what packets are allowed unless the route says otherwise.
const defaultHopLimit = 64

// network is what the interface is connected to: a dummy interface, which asks
// nobody for a MAC address (IFF_NOARP) and takes its own.
type network struct {
	mac [6]byte
}

// resolve finds the MAC address that packets from one GID to another go to. It
// models rdma_resolve_ip in drivers/infiniband/core/addr.c for an interface
// without a gateway. An IPv4 address is taken to be on the link, as the kernel
// takes one when the interface is given; an IPv6 address needs a route, and
// there are those of link-local addresses and of groups.
//
// Errors: rxe/addr-family, rxe/addr-no-route.
func (n network) resolve(_ *process.Task, sgid *core.GIDAttr, dgid [16]byte) (mac [6]byte, hopLimit uint8, err error) {
	dst := netip.AddrFrom16(dgid)
	switch {
	case netip.AddrFrom16(sgid.GID).Is4In6() != dst.Is4In6():
		return mac, 0, rule.RxeAddrFamily
	case !dst.Is4In6() && !dst.IsMulticast() && [8]byte(dgid[:8]) != linkLocalNet:
		return mac, 0, rule.RxeAddrNoRoute
	}
	return n.mac, defaultHopLimit, nil
}
