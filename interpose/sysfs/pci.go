package sysfs

import (
	"encoding/binary"
	"fmt"
	"strings"

	"uverbsim/core"
)

// linkSpeeds are those of the generations of PCI Express, from the first on, in
// GT/s.
var linkSpeeds = []string{"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"}

// pciFunction adds a function of the bus and returns its directory. It models
// drivers/pci/pci-sysfs.c for a function that is on its root bus, with its
// driver bound.
func (t *Tree) pciFunction(f *core.PCIFunction) *node {
	root := "pci"
	if i := strings.LastIndexByte(f.Address, ':'); i > 0 {
		root += f.Address[:i]
	}
	dir := t.root.dirs("/sys/devices/" + root + "/" + f.Address)
	bus := t.root.dirs("/sys/bus/pci")
	dir.link("subsystem", bus)
	bus.dir("devices").link(f.Address, dir)
	if f.Driver != "" {
		driver := bus.dir("drivers").dir(f.Driver)
		dir.link("driver", driver)
		driver.link(f.Address, dir)
	}
	for name, text := range t.pciLines(f) {
		dir.line(name, text)
	}
	for name, text := range pciWritable {
		dir.file(name, 0o644, func() string { return text + "\n" })
	}
	dir.file("numa_node", 0o644, func() string { return fmt.Sprintln(f.NUMANode) })
	dir.file("uevent", 0o644, func() string { return pciUevent(f) })
	dir.file("resource", 0o444, func() string { return pciResource(f) })
	dir.file("config", 0o644, func() string { return pciConfig(f) })
	return dir
}

// pciLines are the files that have one line and cannot be written.
func (t *Tree) pciLines(f *core.PCIFunction) map[string]string {
	lines := map[string]string{
		"vendor":                   fmt.Sprintf("0x%04x", f.Vendor),
		"device":                   fmt.Sprintf("0x%04x", f.Device),
		"subsystem_vendor":         fmt.Sprintf("0x%04x", f.SubsystemVendor),
		"subsystem_device":         fmt.Sprintf("0x%04x", f.SubsystemDevice),
		"class":                    fmt.Sprintf("0x%06x", f.Class),
		"revision":                 fmt.Sprintf("0x%02x", f.Revision),
		"modalias":                 pciModalias(f),
		"local_cpus":               cpuMask(t.opts.CPUs),
		"local_cpulist":            cpuList(t.opts.CPUs),
		"irq":                      "0", // MSI-X alone
		"ari_enabled":              "0",
		"dma_mask_bits":            "64",
		"consistent_dma_mask_bits": "64",
		"power_state":              "D0",
	}
	if f.LinkGen >= 1 && f.LinkGen <= len(linkSpeeds) {
		for _, which := range []string{"current", "max"} {
			lines[which+"_link_speed"] = linkSpeeds[f.LinkGen-1] + " GT/s PCIe"
			lines[which+"_link_width"] = fmt.Sprint(f.LinkWidth)
		}
	}
	return lines
}

// pciWritable are the files that root may write, as they are unless it does.
var pciWritable = map[string]string{
	"enable": "1", "broken_parity_status": "0", "d3cold_allowed": "0", "msi_bus": "1", "driver_override": "(null)",
}

// pciModalias models modalias_show in drivers/pci/pci-sysfs.c.
func pciModalias(f *core.PCIFunction) string {
	return fmt.Sprintf("pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X", f.Vendor, f.Device,
		f.SubsystemVendor, f.SubsystemDevice, uint8(f.Class>>16), uint8(f.Class>>8), uint8(f.Class))
}

// pciUevent models pci_uevent in drivers/pci/pci-driver.c.
func pciUevent(f *core.PCIFunction) string {
	driver := ""
	if f.Driver != "" {
		driver = "DRIVER=" + f.Driver + "\n"
	}
	return driver + fmt.Sprintf("PCI_CLASS=%04X\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:%04X\nPCI_SLOT_NAME=%s\nMODALIAS=%s\n",
		f.Class, f.Vendor, f.Device, f.SubsystemVendor, f.SubsystemDevice, f.Address, pciModalias(f))
}

// What a function has of resources: six base addresses, the ROM and, where
// virtual functions can be, six of theirs (PCI_NUM_RESOURCES without bridges).
const (
	pciResources = 13
	// pciBARFlags: memory of 64 bits that can be prefetched, aligned to its
	// size (include/linux/ioport.h).
	pciBARFlags = 0x14220c
)

// pciResource models resource_show for a function with one base address.
func pciResource(f *core.PCIFunction) string {
	var s strings.Builder
	for i := range pciResources {
		var start, end, flags uint64
		if i == 0 && f.BARSize != 0 {
			start, end, flags = f.BARAddr, f.BARAddr+f.BARSize-1, pciBARFlags
		}
		fmt.Fprintf(&s, "0x%016x 0x%016x 0x%016x\n", start, end, flags)
	}
	return s.String()
}

// pciConfig is the configuration space: the header, and the capability that tells
// of the link (include/uapi/linux/pci_regs.h). Other capabilities are left out.
func pciConfig(f *core.PCIFunction) string {
	const (
		size, capAt = 256, 0x40
		command     = 0x0406 // memory, bus master, no INTx
		status      = 0x0010 // has capabilities
		bar64       = 0xc    // a base address of 64 bits, prefetchable
		express     = 0x10   // PCI_CAP_ID_EXP
		endpoint    = 0x0002 // version 2 of the capability, an endpoint
	)
	b := make([]byte, size)
	le := binary.LittleEndian
	le.PutUint16(b[0x00:], f.Vendor)
	le.PutUint16(b[0x02:], f.Device)
	le.PutUint16(b[0x04:], command)
	le.PutUint16(b[0x06:], status)
	le.PutUint32(b[0x08:], f.Class<<8|uint32(f.Revision))
	le.PutUint64(b[0x10:], f.BARAddr|bar64)
	le.PutUint16(b[0x2c:], f.SubsystemVendor)
	le.PutUint16(b[0x2e:], f.SubsystemDevice)
	b[0x34] = capAt
	b[capAt] = express
	le.PutUint16(b[capAt+0x02:], endpoint)
	link := uint16(f.LinkGen | f.LinkWidth<<4)
	le.PutUint32(b[capAt+0x0c:], uint32(link))
	le.PutUint16(b[capAt+0x12:], link)
	return string(b)
}

// cpuMask is a mask of the first n processors, in groups of 32 bits (%*pb).
func cpuMask(n int) string {
	top := ""
	if r := n % 32; r != 0 {
		top = fmt.Sprintf("%0*x", (r+3)/4, uint32(1)<<r-1)
	}
	rest := strings.TrimPrefix(strings.Repeat(",ffffffff", n/32), ",")
	return strings.Trim(top+","+rest, ",")
}

// cpuList is the list of the first n processors (%*pbl).
func cpuList(n int) string {
	if n == 1 {
		return "0"
	}
	return fmt.Sprintf("0-%d", n-1)
}
