package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// The fields of the NIC vport and of the registers.
var (
	vportOut   = ifc.Must("query_nic_vport_context_out").Field("nic_vport_context")
	vportIn    = ifc.Must("modify_nic_vport_context_in").Field("nic_vport_context")
	registerID = ifc.Must("access_register_in").Field("register_id")
)

// vportMAC is the port's MAC address.
var vportMAC = func() ifc.Field {
	f := ifc.Must("nic_vport_context").Field("permanent_address.mac_addr_47_32")
	f.Width = 48
	return f
}()

// vportFields has the parts of the context that can be modified: the bit of
// field_select, and what it selects.
var vportFields = []struct{ selected, part ifc.Field }{
	vportField("roce_en", "roce_en"),
	vportField("mtu", "mtu"),
	vportField("node_guid", "node_guid"),
	vportField("port_guid", "port_guid"),
	vportField("min_inline", "min_wqe_inline_mode"),
	vportField("disable_uc_local_lb", "disable_uc_local_lb"),
	vportField("disable_mc_local_lb", "disable_mc_local_lb"),
	vportField("permanent_address", "permanent_address"),
	vportField("promisc", "promisc_uc"),
	vportField("promisc", "promisc_mc"),
	vportField("promisc", "promisc_all"),
	vportField("affiliation", "affiliated_vhca_id"),
	vportField("affiliation", "affiliation_criteria"),
}

func vportField(selected, part string) struct{ selected, part ifc.Field } {
	return struct{ selected, part ifc.Field }{
		ifc.Must("modify_nic_vport_context_in").Field("field_select." + selected),
		ifc.Must("nic_vport_context").Field(part),
	}
}

func queryNICVport(d *Device, c *command) *refusal {
	copy(vportOut.Bytes(c.out), d.vport)
	return nil
}

func modifyNICVport(d *Device, c *command) *refusal {
	from := vportIn.Bytes(c.in)
	for _, f := range vportFields {
		if f.selected.Get(c.in) != 0 {
			f.part.Set(d.vport, f.part.Get(from))
		}
	}
	d.mac.Store(vportMAC.Get(d.vport))
	return nil
}

// Registers of ACCESS_REG that have a content (enum MLX5_REG_* in
// include/linux/mlx5/driver.h).
const (
	MLX5_REG_PMTU      = 0x5003
	MLX5_REG_PTYS      = 0x5004
	MLX5_REG_PAOS      = 0x5006
	MLX5_REG_NODE_DESC = 0x6001
)

// registerImages names the profile's content of a register.
var registerImages = map[uint16]string{
	MLX5_REG_PMTU:      "pmtu_reg",
	MLX5_REG_PTYS:      "ptys_reg",
	MLX5_REG_PAOS:      "paos_reg",
	MLX5_REG_NODE_DESC: nodeDescription,
}

// The operation modifiers of ACCESS_REG.
const (
	registerWrite = iota
	registerRead
)

// registerData is where a register's content begins.
const registerData = 16

// accessReg reads or writes a register. What is written to the node description
// stays; other registers take a write and answer it back. A read answers what was
// asked with, with the fields filled in that the profile has.
func accessReg(d *Device, c *command) *refusal {
	id := uint16(registerID.Get(c.in))
	asked, data := c.in[registerData:], c.out[registerData:]
	copy(data, asked)
	if c.opMod == registerWrite {
		if id == MLX5_REG_NODE_DESC {
			d.regs[id] = append([]byte(nil), asked[:min(len(asked), nodeDescriptionSize)]...)
		}
		return nil
	}
	if kept, ok := d.regs[id]; ok {
		copy(data, kept)
		return nil
	}
	for i, b := range d.cfg.Profile.image(registerImages[id]) {
		if i < len(data) {
			data[i] |= b
		}
	}
	d.followLink(id, data)
	return nil
}
