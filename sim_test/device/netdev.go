//go:build linux

package device

import (
	"encoding/binary"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// netdevIndex is the index of a network device.
func netdevIndex(name string) (int, error) {
	line, err := readLine("/sys/class/net/" + name + "/ifindex")
	if err != nil {
		return 0, unix.ENODEV
	}
	return strconv.Atoi(line)
}

// ifinfomsg is a struct ifinfomsg (include/uapi/linux/rtnetlink.h).
func ifinfomsg(index int, flags, change uint32) []byte {
	b := make([]byte, 4, unix.SizeofIfInfomsg)
	b = binary.NativeEndian.AppendUint32(b, uint32(index))
	b = binary.NativeEndian.AppendUint32(b, flags)
	return binary.NativeEndian.AppendUint32(b, change)
}

// SetUp takes a network device up or down.
func SetUp(name string, up bool) error {
	index, err := netdevIndex(name)
	if err != nil {
		return err
	}
	flags := uint32(0)
	if up {
		flags = unix.IFF_UP
	}
	_, err = netlink(unix.NETLINK_ROUTE, unix.RTM_NEWLINK, unix.NLM_F_ACK, ifinfomsg(index, flags, unix.IFF_UP))
	return err
}

// SetHardwareAddr gives a network device its MAC address.
func SetHardwareAddr(name string, mac [6]byte) error {
	index, err := netdevIndex(name)
	if err != nil {
		return err
	}
	_, err = netlink(unix.NETLINK_ROUTE, unix.RTM_NEWLINK, unix.NLM_F_ACK, putAttr(ifinfomsg(index, 0, 0), unix.IFLA_ADDRESS, mac[:]))
	return err
}

// AddAddr gives a network device an IPv4 address.
func AddAddr(name string, addr netip.Prefix) error {
	index, err := netdevIndex(name)
	if err != nil {
		return err
	}
	ip := addr.Addr().As4()
	b := []byte{unix.AF_INET, byte(addr.Bits()), 0, 0} // struct ifaddrmsg (include/uapi/linux/if_addr.h)
	b = binary.NativeEndian.AppendUint32(b, uint32(index))
	b = putAttr(b, unix.IFA_LOCAL, ip[:])
	b = putAttr(b, unix.IFA_ADDRESS, ip[:])
	_, err = netlink(unix.NETLINK_ROUTE, unix.RTM_NEWADDR, unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_EXCL, b)
	return err
}
