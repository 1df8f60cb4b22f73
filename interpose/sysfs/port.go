package sysfs

import (
	"fmt"

	"uverbsim/core"
	"uverbsim/spec"
)

// portStates are the names of enum ib_port_state (state_show).
var portStates = []string{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"}

// physStates are the names of enum ib_port_phys_state (phys_state_to_str).
var physStates = []string{
	"<unknown>", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test",
}

// portFiles are the attributes of a port (port_default_attrs of
// drivers/infiniband/core/sysfs.c).
var portFiles = []struct {
	name string
	show func(*core.PortAttr) string
}{
	{"state", func(a *core.PortAttr) string {
		return fmt.Sprintf("%d: %s", a.State, named(portStates, a.State, "UNKNOWN"))
	}},
	{"lid", func(a *core.PortAttr) string { return fmt.Sprintf("0x%x", a.LID) }},
	{"lid_mask_count", func(a *core.PortAttr) string { return fmt.Sprint(a.LMC) }},
	{"sm_lid", func(a *core.PortAttr) string { return fmt.Sprintf("0x%x", a.SMLID) }},
	{"sm_sl", func(a *core.PortAttr) string { return fmt.Sprint(a.SMSL) }},
	{"cap_mask", func(a *core.PortAttr) string { return fmt.Sprintf("0x%08x", a.PortCapFlags) }},
	{"rate", rate},
	{"phys_state", func(a *core.PortAttr) string {
		return fmt.Sprintf("%d: %s", a.PhysState, named(physStates, a.PhysState, "<unknown>"))
	}},
}

func named(names []string, v uint8, otherwise string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return otherwise
}

// port adds a port's directory. It models setup_port and setup_gid_attrs in
// drivers/infiniband/core/sysfs.c. Of a port that does not answer there are no
// tables, and its files are empty.
func (t *Tree) port(dir *node, ib *core.Device, port uint32) {
	query := func() (a core.PortAttr, ok bool) {
		err := core.QueryPort(t.task, ib, port, &a)
		return a, err == nil
	}
	for _, f := range portFiles {
		dir.file(f.name, 0o444, func() string {
			a, ok := query()
			if !ok {
				return ""
			}
			return line(f.show(&a))
		})
	}
	dir.line("link_layer", linkLayer(ib.LinkLayer))
	attr, _ := query()
	gids, attrs := dir.dir("gids"), dir.dir("gid_attrs")
	ndevs, types := attrs.dir("ndevs"), attrs.dir("types")
	for i := range int32(attr.GIDTblLen) {
		name := fmt.Sprint(i)
		of := func(show func(*core.GIDAttr) string) func() string {
			return func() string {
				g, err := core.GetGIDAttr(t.task, ib, port, i)
				if err != nil {
					g = nil
				}
				return show(g)
			}
		}
		gids.file(name, 0o444, of(showGID))
		types.file(name, 0o444, of(showGIDType))
		ndevs.file(name, 0o444, of(func(g *core.GIDAttr) string { return t.showNetdev(ib, g) }))
	}
	if attr.PkeyTblLen > 0 {
		pkeys := dir.dir("pkeys")
		for i := range attr.PkeyTblLen {
			pkeys.file(fmt.Sprint(i), 0o444, func() string { return t.showPkey(ib, port, i) })
		}
	}
	t.counters(dir, ib, port)
}

// counters adds those of performance management (get_counter_table).
func (t *Tree) counters(dir *node, ib *core.Device, port uint32) {
	read := ib.Sysfs.PortCounters
	if read == nil {
		return
	}
	counters := dir.dir("counters")
	for i, c := range read(t.task, port) {
		counters.file(c.Name, 0o444, func() string { return fmt.Sprintln(read(t.task, port)[i].Value) })
	}
}

// line ends a line that there is.
func line(s string) string {
	if s == "" {
		return ""
	}
	return s + "\n"
}

// linkLayer models link_layer_show.
func linkLayer(l uint8) string {
	switch l {
	case core.LinkLayerInfiniband:
		return "InfiniBand"
	case core.LinkLayerEthernet:
		return "Ethernet"
	}
	return "Unknown"
}

// lanes are the numbers of enum ib_port_width (ib_width_enum_to_int).
var lanes = map[uint8]int{
	spec.IB_WIDTH_1X: 1, spec.IB_WIDTH_2X: 2, spec.IB_WIDTH_4X: 4, spec.IB_WIDTH_8X: 8, spec.IB_WIDTH_12X: 12,
}

// speeds are the names of enum ib_port_speed, and what a lane carries in units of
// 100 Mb/s.
var speeds = map[uint16]struct {
	name string
	rate int
}{
	spec.IB_SPEED_DDR: {"DDR", 50}, spec.IB_SPEED_QDR: {"QDR", 100}, spec.IB_SPEED_FDR10: {"FDR10", 100},
	spec.IB_SPEED_FDR: {"FDR", 140}, spec.IB_SPEED_EDR: {"EDR", 250}, spec.IB_SPEED_HDR: {"HDR", 500},
	spec.IB_SPEED_NDR: {"NDR", 1000}, spec.IB_SPEED_XDR: {"XDR", 2000}, spec.IB_SPEED_SDR: {"SDR", 25},
}

// rate models rate_show; a width that there is not cannot be read.
func rate(a *core.PortAttr) string {
	s, known := speeds[a.ActiveSpeed]
	if !known {
		s = speeds[spec.IB_SPEED_SDR]
	}
	n := lanes[a.ActiveWidth]
	if n == 0 {
		return ""
	}
	half := ""
	if s.rate*n%10 != 0 {
		half = ".5"
	}
	return fmt.Sprintf("%d%s Gb/sec (%dX %s)", s.rate*n/10, half, n, s.name)
}

// megabits is what a link of that width and speed carries, in Mb/s, 0 if that
// cannot be said.
func megabits(a *core.PortAttr) int { return 100 * speeds[a.ActiveSpeed].rate * lanes[a.ActiveWidth] }

// showGID models show_port_gid: an empty place reads as zeros.
func showGID(g *core.GIDAttr) string {
	if g == nil {
		g = new(core.GIDAttr)
	}
	return groups(g.GID[:])
}

// gidTypes are the names of enum ib_gid_type (ib_cache_gid_type_str in
// drivers/infiniband/core/cache.c).
var gidTypes = []string{"IB/RoCE v1", "IB/RoCE v1", "RoCE v2"}

// showGIDType models show_port_gid_attr_gid_type.
func showGIDType(g *core.GIDAttr) string {
	if g == nil {
		return ""
	}
	if int(g.Type) < len(gidTypes) {
		return line(gidTypes[g.Type])
	}
	return line("Invalid GID type")
}

// showNetdev models show_port_gid_attr_ndev.
func (t *Tree) showNetdev(ib *core.Device, g *core.GIDAttr) string {
	if g == nil || g.Ifindex == 0 {
		return ""
	}
	for _, n := range ib.Sysfs.Netdevs {
		if n != nil && n.Index == g.Ifindex {
			return line(t.netdevName(n))
		}
	}
	return ""
}

// showPkey models show_port_pkey.
func (t *Tree) showPkey(ib *core.Device, port uint32, index uint16) string {
	if ib.Ops.QueryPkey == nil {
		return ""
	}
	key, err := ib.Ops.QueryPkey(t.task, ib, port, index)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("0x%04x\n", key)
}
