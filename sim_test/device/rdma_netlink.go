//go:build linux

package device

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

// The RDMA netlink family (include/uapi/rdma/rdma_netlink.h): commands of its
// nldev client, and their attributes.
const (
	rdmaNLNldev = 5 << 10

	RDMA_NLDEV_CMD_GET     = rdmaNLNldev | 1
	RDMA_NLDEV_CMD_NEWLINK = rdmaNLNldev | 3
	RDMA_NLDEV_CMD_DELLINK = rdmaNLNldev | 4

	RDMA_NLDEV_ATTR_DEV_INDEX = 1
	RDMA_NLDEV_ATTR_DEV_NAME  = 2
	RDMA_NLDEV_ATTR_NDEV_NAME = 51
	RDMA_NLDEV_ATTR_LINK_TYPE = 65
)

// NewLink makes a software RDMA device on a network device, as "rdma link add
// NAME type TYPE netdev NETDEV" does.
func NewLink(name, typ, netdev string) error {
	var a []byte
	a = putAttr(a, RDMA_NLDEV_ATTR_DEV_NAME, cstring(name))
	a = putAttr(a, RDMA_NLDEV_ATTR_NDEV_NAME, cstring(netdev))
	a = putAttr(a, RDMA_NLDEV_ATTR_LINK_TYPE, cstring(typ))
	_, err := netlink(unix.NETLINK_RDMA, RDMA_NLDEV_CMD_NEWLINK, unix.NLM_F_ACK, a)
	return err
}

// deleteLink takes a software RDMA device away and returns when it is gone.
func deleteLink(name string) error {
	index, err := linkIndex(name)
	if err != nil {
		return err
	}
	a := putAttr(nil, RDMA_NLDEV_ATTR_DEV_INDEX, binary.LittleEndian.AppendUint32(nil, index))
	_, err = netlink(unix.NETLINK_RDMA, RDMA_NLDEV_CMD_DELLINK, unix.NLM_F_ACK, a)
	return err
}

// linkIndex is the index of an RDMA device.
func linkIndex(name string) (uint32, error) {
	messages, err := netlink(unix.NETLINK_RDMA, RDMA_NLDEV_CMD_GET, unix.NLM_F_DUMP, nil)
	if err != nil {
		return 0, err
	}
	for _, m := range messages {
		attrs := attrsOf(m)
		if strings.TrimRight(string(attrs[RDMA_NLDEV_ATTR_DEV_NAME]), "\x00") == name && len(attrs[RDMA_NLDEV_ATTR_DEV_INDEX]) >= 4 {
			return binary.LittleEndian.Uint32(attrs[RDMA_NLDEV_ATTR_DEV_INDEX]), nil
		}
	}
	return 0, unix.ENODEV
}
