package sysfs

import (
	"encoding/binary"
	"fmt"
	"path"
	"strings"

	"uverbsim/core"
)

func base(n *node) string { return path.Base(n.path) }

// nodeTypes are the names of enum rdma_node_type (node_type_string in
// drivers/infiniband/core/sysfs.c).
var nodeTypes = map[uint8]string{
	1: "CA", 2: "switch", 3: "router", 4: "RNIC", 5: "usNIC", 6: "usNIC UDP", 7: "unspecified",
}

// ibDevice adds the class device of an RDMA device. It models ib_dev_attrs of
// drivers/infiniband/core/sysfs.c.
func (t *Tree) ibDevice(home *node, ib *core.Device) {
	dir := home.dir("infiniband").dir(ib.Name)
	typ, known := nodeTypes[ib.NodeType]
	if !known {
		typ = "<unknown>"
	}
	dir.line("node_type", fmt.Sprintf("%d: %s", ib.NodeType, typ))
	dir.file("node_guid", 0o444, func() string { return guid(ib.Attr.NodeGUID) })
	dir.file("sys_image_guid", 0o444, func() string { return guid(ib.Attr.SysImageGUID) })
	dir.line("fw_ver", ib.Sysfs.FwStr)
	dir.file("node_desc", 0o644, func() string { return fmt.Sprintf("%.64s\n", ib.Sysfs.NodeDesc) })
	dir.file("uevent", 0o644, func() string { return "NAME=" + ib.Name + "\n" })
	for _, a := range ib.Sysfs.Attributes {
		dir.file(a.Name, 0o444, func() string { return a.Show(t.task) + "\n" })
	}
	t.classDevice(dir, home, ib, "infiniband")
	ports := dir.dir("ports")
	for port := uint32(1); port <= ib.PhysPorts; port++ {
		t.port(ports.dir(fmt.Sprint(port)), ib, port)
	}
}

// guid formats an EUI-64 as groups of 16 bits.
func guid(g [8]byte) string { return groups(g[:]) }

// groups formats big-endian groups of 16 bits, as %pI6 does.
func groups(b []byte) string {
	var s strings.Builder
	for i := 0; i < len(b); i += 2 {
		if i > 0 {
			s.WriteByte(':')
		}
		fmt.Fprintf(&s, "%04x", binary.BigEndian.Uint16(b[i:]))
	}
	s.WriteByte('\n')
	return s.String()
}
