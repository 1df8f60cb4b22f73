//go:build linux

package device

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Sizes in netlink messages (include/uapi/linux/netlink.h).
const (
	netlinkHeader = 16
	nlaHeader     = 4
	nlaTypeMask   = 0x3fff
	netlinkAlign  = 4
	netlinkAnswer = 32 << 10 // room for a datagram
)

func cstring(s string) []byte { return append([]byte(s), 0) }

func aligned(n int) int { return (n + netlinkAlign - 1) &^ (netlinkAlign - 1) }

func putAttr(b []byte, typ uint16, data []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(nlaHeader+len(data)))
	b = binary.LittleEndian.AppendUint16(b, typ)
	b = append(b, data...)
	return append(b, make([]byte, aligned(len(data))-len(data))...)
}

func attrsOf(b []byte) map[uint16][]byte {
	attrs := map[uint16][]byte{}
	for len(b) >= nlaHeader {
		n := int(binary.LittleEndian.Uint16(b))
		if n < nlaHeader || n > len(b) {
			break
		}
		attrs[binary.LittleEndian.Uint16(b[2:])&nlaTypeMask] = b[nlaHeader:n]
		b = b[min(aligned(n), len(b)):]
	}
	return attrs
}

// netlink sends a request to a family and returns what the messages of the
// answer carry.
func netlink(family int, typ, flags uint16, payload []byte) ([][]byte, error) {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, family)
	if err != nil {
		return nil, err
	}
	defer unix.Close(s)
	m := binary.LittleEndian.AppendUint32(nil, uint32(netlinkHeader+len(payload)))
	m = binary.LittleEndian.AppendUint16(m, typ)
	m = binary.LittleEndian.AppendUint16(m, unix.NLM_F_REQUEST|flags)
	m = append(m, make([]byte, netlinkHeader-len(m))...)
	if err := unix.Sendto(s, append(m, payload...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	var out [][]byte
	for {
		b := make([]byte, netlinkAnswer)
		n, _, err := unix.Recvfrom(s, b, 0)
		if err != nil {
			return nil, err
		}
		var done bool
		if out, done, err = takeMessages(out, b[:n]); done || err != nil {
			return out, err
		}
	}
}

// takeMessages takes the messages out of a datagram and says whether the answer
// ends with it.
func takeMessages(out [][]byte, b []byte) (_ [][]byte, done bool, err error) {
	for len(b) >= netlinkHeader {
		n := int(binary.LittleEndian.Uint32(b))
		if n < netlinkHeader || n > len(b) {
			return out, true, errors.New("a netlink message that is longer than its datagram")
		}
		switch typ := binary.LittleEndian.Uint16(b[4:]); {
		case typ == unix.NLMSG_DONE:
			return out, true, nil
		case typ == unix.NLMSG_ERROR && n < netlinkHeader+4:
			return out, true, fmt.Errorf("a netlink error of %d bytes", n)
		case typ == unix.NLMSG_ERROR:
			if errno := int32(binary.LittleEndian.Uint32(b[netlinkHeader:])); errno != 0 {
				return out, true, unix.Errno(-errno)
			}
			return out, true, nil
		}
		out = append(out, b[netlinkHeader:n])
		b = b[min(aligned(n), len(b)):]
	}
	return out, false, nil
}
