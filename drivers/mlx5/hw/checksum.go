package hw

import "encoding/binary"

// The check sums of the Internet protocols: the one's complement of the one's
// complement sum of 16-bit words (RFC 1071).

// sum adds bytes to a sum that is not folded yet. All but the last part of what
// is summed up has an even length.
func sum(s uint32, p []byte) uint32 {
	be := binary.BigEndian
	for ; len(p) >= 2; p = p[2:] {
		if s += uint32(be.Uint16(p)); s>>31 != 0 {
			s = s&0xffff + s>>16
		}
	}
	if len(p) == 1 {
		s += uint32(p[0]) << 8
	}
	return s
}

// fold makes 16 bits of a sum.
func fold(s uint32) uint16 {
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return uint16(s)
}

// networkSumOK says that there is an IP header and nothing is wrong with its check
// sum. That of version 6 has none.
func (l *layers) networkSumOK(b []byte) bool {
	return l.is6() || l.is4() && fold(sum(0, b[l.l3:l.l3+l.l3Size])) == 0xffff
}

// transportSum is the sum over the header and the data of TCP or UDP, with what
// they count of the IP header.
func (l *layers) transportSum(b []byte) uint16 {
	s := sum(uint32(l.proto)+uint32(l.end-l.l4), nil)
	if l.is4() {
		s = sum(s, b[l.l3+12:l.l3+20])
	} else {
		s = sum(s, b[l.l3+8:l.l3+40])
	}
	return fold(sum(s, b[l.l4:l.end]))
}

// sumAt is where the check sum of TCP or UDP stands.
func (l *layers) sumAt() int {
	if l.udp {
		return l.l4 + 6
	}
	return l.l4 + 16
}

// transportSumOK says that there is a TCP or UDP header, whole, and nothing is
// wrong with its check sum. UDP over IPv4 may have none.
func (l *layers) transportSumOK(b []byte) bool {
	switch {
	case !l.tcp && !l.udp, l.fragment:
		return false
	case l.udp && l.is4() && binary.BigEndian.Uint16(b[l.sumAt():]) == 0:
		return true
	}
	return l.transportSum(b) == 0xffff
}

// setNetworkSum fills in the check sum of an IPv4 header.
func (l *layers) setNetworkSum(b []byte) {
	if !l.is4() {
		return
	}
	at := b[l.l3+10:]
	binary.BigEndian.PutUint16(at, 0)
	binary.BigEndian.PutUint16(at, ^fold(sum(0, b[l.l3:l.l3+l.l3Size])))
}

// setTransportSum fills in the check sum of TCP or UDP.
func (l *layers) setTransportSum(b []byte) {
	if !l.tcp && !l.udp || l.fragment {
		return
	}
	at := b[l.sumAt():]
	binary.BigEndian.PutUint16(at, 0)
	s := ^l.transportSum(b)
	if s == 0 && l.udp {
		s = 0xffff // 0 says that there is none
	}
	binary.BigEndian.PutUint16(at, s)
}
