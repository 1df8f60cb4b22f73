package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// The fields of the commands about the table of GIDs.
var (
	roceIndex   = ifc.Must("set_roce_address_in").Field("roce_address_index")
	roceIn      = ifc.Must("set_roce_address_in").Field("roce_address")
	roceOut     = ifc.Must("query_roce_address_out").Field("roce_address")
	roceGID     = ifc.Must("roce_addr_layout").Field("source_l3_address")
	roceMACHigh = ifc.Must("roce_addr_layout").Field("source_mac_47_32")
	roceMACLow  = ifc.Must("roce_addr_layout").Field("source_mac_31_0")
	roceVersion = ifc.Must("roce_addr_layout").Field("roce_version")

	capROCETable    = ifc.Must("roce_cap").Field("roce_address_table_size")
	capROCEVersions = ifc.Must("roce_cap").Field("roce_version")
)

// roceAddress is a place of the table of GIDs: a roce_addr_layout as the driver
// gave it, and what of it is wanted with each packet.
type roceAddress struct {
	ctx []byte
	gid [16]byte
	mac [6]byte
}

// roceTable is the table of GIDs, and how often each of them is in it.
type roceTable struct {
	places []roceAddress
	owned  map[[16]byte]int
}

func newROCETable(size uint64) roceTable {
	return roceTable{places: make([]roceAddress, size), owned: map[[16]byte]int{}}
}

// roceAddress finds the place of the table that a command names.
func (c *command) roceAddress(d *Device) *roceAddress {
	i := roceIndex.Get(c.in)
	if i >= uint64(len(d.port.roce.places)) {
		return nil
	}
	return &d.port.roce.places[i]
}

// setROCEAddress fills a place of the table, or empties it by a GID of zeros.
func setROCEAddress(d *Device, c *command) *refusal {
	a := c.roceAddress(d)
	if a == nil {
		return badGIDIndex
	}
	b := roceAddress{ctx: append([]byte(nil), roceIn.Bytes(c.in)...)}
	copy(b.gid[:], roceGID.Bytes(b.ctx))
	var mac [8]byte
	binary.BigEndian.PutUint64(mac[:], roceMACHigh.Get(b.ctx)<<32|roceMACLow.Get(b.ctx))
	copy(b.mac[:], mac[2:])
	table := &d.port.roce
	if b.isUsed() {
		if capROCEVersions.Get(d.caps[ifc.MLX5_CAP_ROCE])>>roceVersion.Get(b.ctx)&1 == 0 {
			return badROCEVersion
		}
		table.owned[b.gid]++
	}
	if a.isUsed() {
		if table.owned[a.gid]--; table.owned[a.gid] == 0 {
			delete(table.owned, a.gid)
		}
	}
	*a = b
	d.fabric.announce(d, d.gids())
	for _, o := range d.objects[kindQP].live {
		if q, ok := o.as.(*qp); ok {
			q.near = d.ownsGID(q.peer.remote)
		}
	}
	return nil
}

func queryROCEAddress(d *Device, c *command) *refusal {
	a := c.roceAddress(d)
	if a == nil {
		return badGIDIndex
	}
	copy(roceOut.Bytes(c.out), a.ctx)
	return nil
}

// isUsed says that the place has a GID.
func (a *roceAddress) isUsed() bool { return a.gid != [16]byte{} }

// gid returns the GID at a place of the table and the MAC address to send from.
// It is false for a place that is empty or beyond the table.
func (d *Device) gid(index uint8) (gid [16]byte, mac [6]byte, ok bool) {
	if int(index) >= len(d.port.roce.places) {
		return gid, mac, false
	}
	a := &d.port.roce.places[index]
	return a.gid, a.mac, a.isUsed()
}

// ownsGID says whether a GID is in the table.
func (d *Device) ownsGID(gid [16]byte) bool { return d.port.roce.owned[gid] > 0 }

// gids returns each GID of the table once, in no particular order.
func (d *Device) gids() [][16]byte {
	list := make([][16]byte, 0, len(d.port.roce.owned))
	for g := range d.port.roce.owned {
		list = append(list, g)
	}
	return list
}
