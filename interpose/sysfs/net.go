package sysfs

import (
	"fmt"
	"net"

	"uverbsim/core"
)

// netdevName is what clients are told that a network device is called.
func (t *Tree) netdevName(n *core.Netdev) string {
	if t.opts.Interface != "" {
		return t.opts.Interface
	}
	return n.Name
}

// netdevs adds the network devices of a function.
func (t *Tree) netdevs(home *node, ib *core.Device) {
	for i, n := range ib.Sysfs.Netdevs {
		if n != nil {
			t.netdev(home, ib, uint32(i+1), n)
		}
	}
}

// netFixed are the files that say the same of every idle device of Ethernet that is
// up.
var netFixed = map[string]string{
	"addr_assign_type": "0", "addr_len": "6", "broadcast": "ff:ff:ff:ff:ff:ff", "dev_id": "0x0", "dormant": "0",
	"link_mode": "0", "name_assign_type": "1", "testing": "0", "type": "1",
}

// netWritable are those of them that root may write.
var netWritable = map[string]string{
	"flags":             "0x1003", // IFF_UP, IFF_BROADCAST, IFF_MULTICAST
	"gro_flush_timeout": "0", "napi_defer_hard_irqs": "0", "netdev_group": "0", "proto_down": "0", "threaded": "0",
	"tx_queue_len": "1000",
}

// netStatistics are the counters of struct rtnl_link_stats64. What the RDMA device
// carries is not counted by the network device.
var netStatistics = []string{
	"collisions", "multicast", "rx_bytes", "rx_compressed", "rx_crc_errors", "rx_dropped", "rx_errors", "rx_fifo_errors",
	"rx_frame_errors", "rx_length_errors", "rx_missed_errors", "rx_nohandler", "rx_over_errors", "rx_packets",
	"tx_aborted_errors", "tx_bytes", "tx_carrier_errors", "tx_compressed", "tx_dropped", "tx_errors", "tx_fifo_errors",
	"tx_heartbeat_errors", "tx_packets", "tx_window_errors",
}

// netdev adds a network device. It models net/core/net-sysfs.c.
func (t *Tree) netdev(home *node, ib *core.Device, port uint32, n *core.Netdev) {
	name := t.netdevName(n)
	dir := home.dir("net").dir(name)
	dir.link("device", home)
	dir.link("subsystem", t.root.dirs("/sys/class/net"))
	for name, text := range netFixed {
		dir.line(name, text)
	}
	for name, text := range netWritable {
		dir.file(name, 0o644, func() string { return text + "\n" })
	}
	dir.line("address", net.HardwareAddr(n.MAC[:]).String())
	dir.line("dev_port", fmt.Sprint(port-1))
	dir.line("ifindex", fmt.Sprint(n.Index))
	dir.line("iflink", fmt.Sprint(n.Index))
	dir.file("ifalias", 0o644, func() string { return "" })
	dir.file("mtu", 0o644, func() string { return fmt.Sprintln(n.MTU) })
	dir.file("uevent", 0o644, func() string { return fmt.Sprintf("INTERFACE=%s\nIFINDEX=%d\n", name, n.Index) })
	ifUp := func(up, down string) func() string {
		return func() string {
			if n.Carrier == nil || n.Carrier() {
				return up + "\n"
			}
			return down + "\n"
		}
	}
	dir.file("carrier", 0o644, ifUp("1", "0"))
	dir.file("operstate", 0o444, ifUp("up", "down"))
	dir.file("duplex", 0o444, ifUp("full", "unknown"))
	dir.file("speed", 0o444, func() string {
		var a core.PortAttr
		if err := core.QueryPort(t.task, ib, port, &a); err != nil {
			return ""
		}
		return ifUp(fmt.Sprint(megabits(&a)), "-1")()
	})
	stats := dir.dir("statistics")
	for _, name := range netStatistics {
		stats.line(name, "0")
	}
}
