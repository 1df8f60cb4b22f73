package hw

import (
	"slices"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// The fields of the commands about multicast groups.
var (
	mcgGID = ifc.Must("attach_to_mcg_in").Field("multicast_gid")

	capLogMaxMCG = ifc.Must("cmd_hca_cap").Field("log_max_mcg")
	capMaxQPMCG  = ifc.Must("cmd_hca_cap").Field("max_qp_mcg")
)

// groups has the queue pairs that receive what is sent to a multicast GID, in
// the order in which they came.
type groups map[[16]byte][]uint32

// attachToMCG lets a queue pair receive what is sent to a group. One that does
// already changes nothing.
func attachToMCG(d *Device, c *command) *refusal {
	n := c.number(kindQP, 8)
	if _, ok := d.find(kindQP, n, c.uid, toChange); !ok {
		return noSuchQP
	}
	gid := [16]byte(mcgGID.Bytes(c.in))
	members, known := d.port.groups[gid]
	switch {
	case slices.Contains(members, n):
		return nil
	case !known && len(d.port.groups) >= 1<<d.cap(capLogMaxMCG):
		return tooManyGroups
	case uint64(len(members)) >= d.cap(capMaxQPMCG):
		return groupFull
	}
	d.port.groups[gid] = append(members, n)
	return nil
}

func detachFromMCG(d *Device, c *command) *refusal {
	n := c.number(kindQP, 8)
	if _, ok := d.find(kindQP, n, c.uid, toChange); !ok {
		return noSuchQP
	}
	if !d.leave([16]byte(mcgGID.Bytes(c.in)), n) {
		return notAttached
	}
	return nil
}

// leave takes a queue pair out of a group, and says whether it was in it.
func (d *Device) leave(gid [16]byte, qpn uint32) bool {
	members := d.port.groups[gid]
	i := slices.Index(members, qpn)
	if i < 0 {
		return false
	}
	if len(members) == 1 {
		delete(d.port.groups, gid)
	} else {
		d.port.groups[gid] = slices.Delete(members, i, i+1)
	}
	return true
}

// leaveGroups takes a queue pair that ends out of all its groups.
func (d *Device) leaveGroups(qpn uint32) {
	for gid := range d.port.groups {
		d.leave(gid, qpn)
	}
}

// mcgQPs calls f for each queue pair of a group. F must not change the group.
func (d *Device) mcgQPs(gid [16]byte, f func(qpn uint32)) {
	for _, n := range d.port.groups[gid] {
		f(n)
	}
}
