package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// The fields of the NIC vport that say which frames the device keeps to itself.
var (
	vportNoUnicastLoop   = ifc.Must("nic_vport_context").Field("disable_uc_local_lb")
	vportNoMulticastLoop = ifc.Must("nic_vport_context").Field("disable_mc_local_lb")
	pmtuMax              = ifc.Must("pmtu_reg").Field("max_mtu")
)

// wireOverhead is what a frame has beyond the MTU of its port: the Ethernet header
// and two tags.
const wireOverhead = etherHeader + 2*vlanTag

// minWire is the shortest frame on a wire; shorter ones are filled up with zeros.
const minWire = 60

// transmitFrame lets a frame out. One for the address of an adapter goes there;
// one for a group, or for an address that none has, goes to all of them. What goes
// to the device itself too is subject to what its vport and its interfaces say
// about loop-back. A frame that is longer than the port allows is lost, and so is
// one for an adapter that has too many waiting: nobody is told.
func (d *Device) transmitFrame(p *passing) {
	group := isMulticastMAC(p.bytes)
	d.countFrame(true, p.bytes)
	if most := pmtuMax.Get(d.cfg.Profile.image("pmtu_reg")); uint64(len(p.bytes)) > most+wireOverhead {
		d.fabric.lost.Add(1)
		return
	}
	f := d.fabric
	f.mu.RLock()
	devices := f.devices
	f.mu.RUnlock()
	to := macOf(p.bytes)
	known := false
	for _, other := range devices {
		known = known || !group && other.mac.Load() == to
	}
	for _, other := range devices {
		if known && other.mac.Load() != to {
			continue
		}
		if other == d {
			d.loopFrame(p, group)
			continue
		}
		if !d.linkUp() || other.in.full.Load() {
			f.lost.Add(1)
			continue
		}
		c := d.framePacket(p.bytes)
		for c.n < minWire {
			c.buf[c.n] = 0
			c.n++
		}
		f.transmit(other, c)
	}
}

// loopFrame sends a frame back to the device itself, if its vport lets it.
func (d *Device) loopFrame(p *passing, group bool) {
	no := vportNoUnicastLoop
	if group {
		no = vportNoMulticastLoop
	}
	if no.Get(d.vport) != 0 {
		return
	}
	c := d.framePacket(p.bytes)
	c.source, c.first = p.domain, true
	d.loop.push(c)
}

// framePacket is a packet that is a frame. In one that goes from the device to
// itself, the first flag is set and the source is the sender's transport domain.
func (d *Device) framePacket(b []byte) (c *packet) {
	if len(b) > maxPayload {
		c = d.takeTrain()
	} else {
		c = d.takePacket()
	}
	c.verb = verbFrame
	c.n = copy(c.buf, b)
	return c
}

// receiveFrame takes in a frame: it goes through the tables for received ones.
func (d *Device) receiveFrame(c *packet) {
	p := &d.raw.inner
	*p = passing{bytes: c.payload(), own: c.first, domain: c.source}
	p.layers = layersOf(p.bytes, 0)
	d.countFrame(false, p.bytes)
	d.steer(tableNICRX, p)
}

// macOf is the address that a frame goes to, as a number.
func macOf(frame []byte) (mac uint64) {
	for _, b := range frame[:macSize] {
		mac = mac<<8 | uint64(b)
	}
	return mac
}

// casts are the kinds of addresses that frames are counted by.
var casts = [...]string{"unicast", "multicast", "broadcast"}

// frameFields has where the counters of frames stand in the answer to
// QUERY_VPORT_COUNTER, first those of received ones.
var frameFields = func() (fs [2][len(casts)]struct{ packets, octets ifc.Field }) {
	for i, way := range [...]string{"received_eth_", "transmitted_eth_"} {
		for j, cast := range casts {
			fs[i][j] = trafficField(way + cast)
		}
	}
	return fs
}()

// countFrame counts a frame that was received or sent.
func (d *Device) countFrame(tx bool, b []byte) {
	way, cast := 0, 0
	if tx {
		way = 1
	}
	switch {
	case macOf(b) == 1<<48-1:
		cast = 2
	case isMulticastMAC(b):
		cast = 1
	}
	t := &d.port.frames[way][cast]
	t.packets++
	t.octets += uint64(len(b))
}
