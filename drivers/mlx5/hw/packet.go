package hw

// verb is what a packet asks for or answers.
type verb uint8

const (
	verbSend verb = iota
	verbWrite
	verbRead // a request
	verbCompareSwap
	verbFetchAdd
	verbFrame // an Ethernet frame
	verbReadResponse
	verbAtomicResponse
	verbAck
)

// isResponse says that the packet goes to the end that sent the request.
func (v verb) isResponse() bool { return v >= verbReadResponse }

// isAtomic says that the packet asks for an atomic operation.
func (v verb) isAtomic() bool { return v == verbCompareSwap || v == verbFetchAdd }

// maxPayload is the largest MTU of a path, maxTrain the payload of a train.
const (
	maxPayload = 4096
	maxTrain   = 16384
)

// header has the headers of the InfiniBand transport as fields, without their
// form on a wire.
type header struct {
	// The addresses.
	from, to  [16]byte // GIDs
	sl        uint8
	hopLimit  uint8
	tclass    uint8
	flowLabel uint32

	// The base transport header.
	service     uint8
	verb        verb
	first, last bool // of a message
	solicited   bool
	ackRequest  bool
	qpn         uint32 // destination
	psn         uint32 // of the first
	packets     uint32 // how many of the MTU this is

	// The extended headers that the verb and the service have.
	source    uint32 // queue pair that a datagram comes from
	qkey      uint32
	srqn      uint32 // of XRC
	with      with
	immediate uint32 // or the key to invalidate, by with
	addr      uint64 // of remote memory
	key       uint32
	length    uint32
	swapAdd   uint64
	compare   uint64
	original  uint64 // what an atomic operation found
	syndrome  uint8  // of an acknowledgement
	msn       uint32
}

// packet is one packet between two queue pairs, or a train of them: packets of a
// message that go from a device to itself, where nothing can come between them.
type packet struct {
	header
	n    int     // bytes of payload
	buf  []byte  // maxPayload or maxTrain bytes
	next *packet // in a list
	due  int64   // when it arrives, in nanoseconds of the fabric's clock
}

// with says what the immediate field of a packet is.
type with uint8

const (
	withNothing with = iota
	withImmediate
	withInvalidate
)

// payload is the data of the packet.
func (p *packet) payload() []byte { return p.buf[:p.n] }

// The syndrome of an acknowledgement: the kind in bits 6:5, and below it the RNR
// timer or the reason. The credits that a positive one may have are never told.
const (
	ackKind      = 3 << 5
	ackPositive  = 0
	ackNotReady  = 1 << 5
	ackNegative  = 3 << 5
	ackNoCredits = 0x1f

	nakSequence    = ackNegative
	nakInvalid     = ackNegative | 1
	nakAccess      = ackNegative | 2
	nakOperational = ackNegative | 3
)

// before says whether a packet number lies before another, both modulo 2^24.
func before(a, b uint32) bool { return int32((a-b)<<8) < 0 }

// packetList is a list of packets, the oldest first.
type packetList struct {
	head, tail *packet
	n          int
}

// insert puts a packet behind those that are due no later.
func (l *packetList) insert(p *packet) {
	if l.tail == nil || l.tail.due <= p.due {
		l.push(p)
		return
	}
	at := &l.head
	for (*at).due <= p.due {
		at = &(*at).next
	}
	p.next = *at
	*at = p
	l.n++
}

func (l *packetList) push(p *packet) {
	p.next = nil
	if l.tail == nil {
		l.head = p
	} else {
		l.tail.next = p
	}
	l.tail = p
	l.n++
}

// pushFront puts a packet before all others.
func (l *packetList) pushFront(p *packet) {
	p.next = l.head
	l.head = p
	if l.tail == nil {
		l.tail = p
	}
	l.n++
}

// take removes the packets that which says, and returns them.
func (l *packetList) take(which func(*packet) bool) (taken packetList) {
	var kept packetList
	for p := l.pop(); p != nil; p = l.pop() {
		if which(p) {
			taken.push(p)
		} else {
			kept.push(p)
		}
	}
	*l = kept
	return taken
}

func (l *packetList) pop() *packet {
	p := l.head
	if p == nil {
		return nil
	}
	l.head = p.next
	if l.head == nil {
		l.tail = nil
	}
	l.n--
	p.next = nil
	return p
}
