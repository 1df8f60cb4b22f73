package sysfs

import (
	"fmt"

	"uverbsim/core"
	"uverbsim/kernel"
)

// Device numbers of uverbs (drivers/infiniband/core/uverbs_main.c): the first
// numFixedMinor devices have fixed ones, the others those of a major number that
// is allocated; it is the last that is left for that.
const (
	uverbsMajor   = 231 // IB_UVERBS_MAJOR
	baseMinor     = 192 // IB_UVERBS_BASE_MINOR
	numFixedMinor = 32  // IB_UVERBS_NUM_FIXED_MINOR
	dynamicMajor  = 511
)

// deviceNumber models the choice of a number in ib_uverbs_add_one.
func deviceNumber(num int) (major, minor uint32) {
	if num >= numFixedMinor {
		return dynamicMajor, uint32(num - numFixedMinor)
	}
	return uverbsMajor, uint32(baseMinor + num)
}

// nodeMode is the mode of a uverbs device node (uverbs_devnode).
const nodeMode = 0o666

// uverbs adds the class device uverbsN and its node.
func (t *Tree) uverbs(home *node, d *kernel.Device, ib *core.Device) {
	name := fmt.Sprintf("uverbs%d", d.Num)
	major, minor := deviceNumber(d.Num)
	number := fmt.Sprintf("%d:%d", major, minor)

	dir := home.dir("infiniband_verbs").dir(name)
	dir.line("abi_version", fmt.Sprint(ib.UverbsABI))
	dir.line("dev", number)
	dir.line("ibdev", ib.Name)
	dir.file("uevent", 0o644, func() string {
		return fmt.Sprintf("MAJOR=%d\nMINOR=%d\nDEVNAME=infiniband/%s\nDEVMODE=%#04o\n", major, minor, name, nodeMode)
	})
	t.classDevice(dir, home, ib, "infiniband_verbs")
	t.root.dirs("/sys/dev/char").link(number, dir)

	file := t.root.dirs("/dev/infiniband").file(name, nodeMode, func() string { return "" })
	file.device = &deviceNode{num: d.Num, major: major, minor: minor}
	t.root.dirs("/dev/char").link(number, file)
}

// classDevice adds the links of a device of a class to and from the class, and to
// what it is a part of.
func (t *Tree) classDevice(dir, home *node, ib *core.Device, class string) {
	c := t.root.dirs("/sys/class/" + class)
	dir.link("subsystem", c)
	c.link(base(dir), dir)
	if ib.Sysfs.PCI != nil {
		dir.link("device", home)
	}
}
