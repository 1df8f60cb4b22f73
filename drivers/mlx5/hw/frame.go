package hw

import "encoding/binary"

// Ethernet frames are bytes as on a wire, without the check sum at the end. What
// the device finds in one is its layers.

// Types of what a frame carries (include/uapi/linux/if_ether.h).
const (
	etherIPv4     = 0x0800
	etherIPv6     = 0x86dd
	etherVLAN     = 0x8100
	etherSVLAN    = 0x88a8
	etherMPLS     = 0x8847
	etherMPLSMany = 0x8848
	etherTEB      = 0x6558 // Ethernet inside of GRE
)

// Protocols inside of IP (include/uapi/linux/in.h and in6.h).
const (
	protoHopOpts  = 0
	protoIPIP     = 4
	protoTCP      = 6
	protoUDP      = 17
	protoIPv6     = 41
	protoRouting  = 43
	protoFragment = 44
	protoGRE      = 47
	protoDstOpts  = 60
)

// Lengths of headers in bytes.
const (
	etherHeader = 14
	macSize     = 6
	vlanTag     = 4
	ipv4Header  = 20
	ipv6Header  = 40
	tcpHeader   = 20
	udpHeader   = 8
	vxlanHeader = 8
	greHeader   = 4
)

// UDP ports that say what lies behind.
const (
	portVXLAN = 4789
	portMPLS  = 6635
)

// tag is a VLAN tag.
type tag struct{ tpid, tci uint16 }

// layers are the headers of a frame, or of what is inside of a tunnel, by offset
// in the frame. A header that is cut off is not there.
type layers struct {
	ethernet  bool
	mac       int
	tags      [2]tag // the outer one first; later ones do not count
	tagged    int
	etherType uint16 // behind the tags

	version  uint8 // of IP, 0 for something else
	l3       int
	l3Size   int // with options and extension headers
	proto    uint8
	fragment bool
	later    bool // a fragment without the header of the layer above

	l4  int // offset of what proto names; of a TCP or UDP header, where tcp or udp is set
	tcp bool
	udp bool

	payload int // behind all of these
	end     int // where the IP packet ends by its length field, at most at the frame's end
}

// is4 says that there is an IPv4 header.
func (l *layers) is4() bool { return l.version == 4 }

// is6 says that there is an IPv6 header.
func (l *layers) is6() bool { return l.version == 6 }

// layersOf finds the headers from the MAC addresses at an offset on.
func layersOf(b []byte, at int) (l layers) {
	be := binary.BigEndian
	l.end = len(b)
	if len(b) < at+etherHeader {
		return l
	}
	l.ethernet, l.mac = true, at
	at += 2 * macSize
	typ := be.Uint16(b[at:])
	at += 2
	for (typ == etherVLAN || typ == etherSVLAN) && len(b) >= at+vlanTag {
		if l.tagged < len(l.tags) {
			l.tags[l.tagged] = tag{typ, be.Uint16(b[at:])}
			l.tagged++
		}
		typ = be.Uint16(b[at+2:])
		at += vlanTag
	}
	l.etherType, l.payload = typ, at
	l.network(b, at)
	return l
}

// packetOf finds the headers from an IP header at an offset on.
func packetOf(b []byte, at int, typ uint16) (l layers) {
	l.end, l.etherType, l.payload = len(b), typ, at
	l.network(b, at)
	return l
}

// network finds the IP header by the ether type, and what follows it.
func (l *layers) network(b []byte, at int) {
	switch l.etherType {
	case etherIPv4:
		l.ipv4(b, at)
	case etherIPv6:
		l.ipv6(b, at)
	}
	if l.version == 0 || l.later {
		return
	}
	switch left := len(b) - l.payload; {
	case l.proto == protoTCP && left >= tcpHeader:
		size := int(b[l.payload+12]>>4) * 4
		if size < tcpHeader || size > left {
			return
		}
		l.tcp, l.l4 = true, l.payload
		l.payload += size
	case l.proto == protoUDP && left >= udpHeader:
		l.udp, l.l4 = true, l.payload
		l.payload += udpHeader
	}
	l.payload = min(l.payload, len(b))
	l.end = max(l.end, l.payload)
}

func (l *layers) ipv4(b []byte, at int) {
	be := binary.BigEndian
	if len(b) < at+ipv4Header || b[at]>>4 != 4 {
		return
	}
	size := int(b[at]&0xf) * 4
	if size < ipv4Header || len(b) < at+size {
		return
	}
	l.version, l.l3, l.l3Size, l.proto = 4, at, size, b[at+9]
	const moreOrOffset, offset = 0x3fff, 0x1fff
	word := be.Uint16(b[at+6:])
	l.fragment, l.later = word&moreOrOffset != 0, word&offset != 0
	l.payload = at + size
	l.end = min(len(b), max(at+int(be.Uint16(b[at+2:])), l.payload))
}

// ipv6 passes over the extension headers that lie between.
func (l *layers) ipv6(b []byte, at int) {
	be := binary.BigEndian
	if len(b) < at+ipv6Header || b[at]>>4 != 6 {
		return
	}
	l.version, l.l3, l.proto = 6, at, b[at+6]
	next := at + ipv6Header
	for len(b) >= next+8 && !l.later {
		size := 8
		switch l.proto {
		case protoHopOpts, protoRouting, protoDstOpts:
			size += int(b[next+1]) * 8
		case protoFragment:
			l.fragment, l.later = true, be.Uint16(b[next+2:])>>3 != 0
		default:
			size = 0
		}
		if size == 0 || len(b) < next+size {
			break
		}
		l.proto = b[next]
		next += size
	}
	l.payload, l.l3Size = next, next-at
	l.end = min(len(b), max(at+ipv6Header+int(be.Uint16(b[at+4:])), next))
}

// tunnel is what a frame says of the tunnel that it goes through.
type tunnel struct {
	gre      uint16 // flags and version
	greProto uint16
	greKey   uint32
	hasGRE   bool
	vni      uint32
	hasVXLAN bool
	mpls     uint32 // the first label word of the frame itself, of GRE or of UDP
	mplsOver uint8  // protocol: 0 the frame, or GRE or UDP
	hasMPLS  bool

	inner layers
}

// tunnelOf finds the tunnel that a frame with these outer headers goes through.
func tunnelOf(b []byte, l *layers) (t tunnel) {
	be := binary.BigEndian
	rest := b[min(l.payload, len(b)):]
	label := func(over uint8, p []byte) {
		if len(p) >= 4 {
			t.mpls, t.mplsOver, t.hasMPLS = be.Uint32(p), over, true
		}
	}
	switch {
	case l.version == 0 && (l.etherType == etherMPLS || l.etherType == etherMPLSMany):
		label(0, rest)
	case l.later || l.version == 0:
	case l.proto == protoIPIP:
		t.inner = packetOf(b, l.payload, etherIPv4)
	case l.proto == protoIPv6:
		t.inner = packetOf(b, l.payload, etherIPv6)
	case l.proto == protoGRE:
		t.findGRE(b, l.payload, label)
	case l.udp && be.Uint16(b[l.l4+2:]) == portVXLAN && len(rest) >= vxlanHeader:
		t.hasVXLAN, t.vni = true, be.Uint32(rest[4:])>>8
		t.inner = layersOf(b, l.payload+vxlanHeader)
	case l.udp && be.Uint16(b[l.l4+2:]) == portMPLS:
		label(protoUDP, rest)
	}
	return t
}

// The bits of a GRE header that say which optional words follow.
const (
	greChecksum = 1 << 15
	greKey      = 1 << 13
	greSequence = 1 << 12
)

func (t *tunnel) findGRE(b []byte, at int, label func(uint8, []byte)) {
	be := binary.BigEndian
	if len(b) < at+greHeader {
		return
	}
	t.hasGRE, t.gre, t.greProto = true, be.Uint16(b[at:]), be.Uint16(b[at+2:])
	at += greHeader
	for _, bit := range [...]uint16{greChecksum, greKey, greSequence} {
		if t.gre&bit == 0 {
			continue
		}
		if len(b) < at+4 {
			return
		}
		if bit == greKey {
			t.greKey = be.Uint32(b[at:])
		}
		at += 4
	}
	switch t.greProto {
	case etherTEB:
		t.inner = layersOf(b, at)
	case etherMPLS:
		label(protoGRE, b[at:])
	default:
		t.inner = packetOf(b, at, t.greProto)
	}
}
