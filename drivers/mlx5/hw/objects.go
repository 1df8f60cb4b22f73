package hw

import (
	"container/heap"
	"encoding/binary"
	"slices"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// kind is a number space of firmware objects.
type kind uint8

// The number spaces. SRQ, XRC SRQ, RMP and XRQ share one, since the driver
// keeps them all in one table by number.
const (
	kindUAR kind = iota
	kindPD
	kindCQ
	kindEQ
	kindUCTX
	kindTD
	kindXRCD
	kindMKey
	kindQCounter
	kindSRQ
	kindQP
	kindDCT
	kindSQ
	kindRQ
	kindTIS
	kindTIR
	kindRQT
	kindSchedElem
	kindFlowTable
	kindFlowGroup
	kindFlowCounter
	kindPacketReformat
	kindModifyHeader
	kindGeneralObject
	kindUMEM
	numKinds
)

// kindInfo is what is fixed about a number space: its name, the widest number,
// and the capability that limits how many objects there are, as a power of two.
type kindInfo struct {
	name   string
	last   uint32
	logMax string
}

const bits24 = 1<<24 - 1

var kinds = [numKinds]kindInfo{
	kindUAR:            {"uar", bits24, ""},
	kindPD:             {"pd", bits24, "log_max_pd"},
	kindCQ:             {"cq", bits24, "log_max_cq"},
	kindEQ:             {"eq", 0xff, "log_max_eq"},
	kindUCTX:           {"uctx", ifc.MLX5_SHARED_RESOURCE_UID - 1, "log_max_uctx"},
	kindTD:             {"td", bits24, "log_max_transport_domain"},
	kindXRCD:           {"xrcd", bits24, "log_max_xrcd"},
	kindMKey:           {"mkey", bits24, "log_max_mkey"},
	kindQCounter:       {"q_counter", 0xff, ""},
	kindSRQ:            {"srq", bits24, "log_max_srq"},
	kindQP:             {"qp", bits24, "log_max_qp"},
	kindDCT:            {"dct", bits24, ""},
	kindSQ:             {"sq", bits24, "log_max_sq"},
	kindRQ:             {"rq", bits24, "log_max_rq"},
	kindTIS:            {"tis", bits24, "log_max_tis"},
	kindTIR:            {"tir", bits24, "log_max_tir"},
	kindRQT:            {"rqt", bits24, "log_max_rqt"},
	kindSchedElem:      {"scheduling_element", 1<<32 - 1, ""},
	kindFlowTable:      {"flow_table", bits24, ""},
	kindFlowGroup:      {"flow_group", 1<<32 - 1, ""},
	kindFlowCounter:    {"flow_counter", 1<<32 - 1, ""},
	kindPacketReformat: {"packet_reformat", 1<<32 - 1, ""},
	kindModifyHeader:   {"modify_header", 1<<32 - 1, ""},
	kindGeneralObject:  {"general_object", 1<<32 - 1, ""},
	kindUMEM:           {"umem", bits24, "log_max_umem"},
}

// String returns the kind's name, as Counts has it.
func (k kind) String() string { return kinds[k].name }

// object is a live number: whose it is, what is behind it, nil where the number
// is all that there is, and how many other objects need it.
type object struct {
	uid   uint16
	as    any
	users int
}

// numbers hands out the numbers of one kind, the lowest free one first. A
// DEVX user's numbers may begin elsewhere than the driver's.
type numbers struct {
	live  map[uint32]object
	spans []span // the driver's, and a DEVX user's where it is another
	max   int    // live objects; 0 is no limit of its own
}

// span is a range of numbers: those returned, and those never handed out.
type span struct {
	free      numberHeap
	next, end uint32
}

func newNumbers(k kind, p *Profile, taken int) numbers {
	first, user := p.first(k)
	first += uint32(taken)
	last := kinds[k].last
	if k == kindUAR {
		last = 1<<(p.Cap("uar_sz")+uarPagesPerMiB) - 1
	}
	n := numbers{live: map[uint32]object{}, spans: []span{{next: first, end: last}}}
	if user != 0 {
		n.spans[0].end = user - 1
		n.spans = append(n.spans, span{next: user, end: last})
	}
	if c := kinds[k].logMax; c != "" && !slices.Contains(p.beyond, k) {
		n.max = 1 << p.Cap(c)
	}
	return n
}

// uarPagesPerMiB is how many register pages of 4 KiB a MiB of the device's
// address range has, as a power of two: uar_sz counts the range in MiB.
const uarPagesPerMiB = 8

// of returns the span that a uid's numbers come from.
func (n *numbers) of(uid uint16) *span {
	if len(n.spans) > 1 && isUser(uid) {
		return &n.spans[1]
	}
	return &n.spans[0]
}

func (s *span) take() (uint32, bool) {
	if len(s.free) > 0 {
		return heap.Pop(&s.free).(uint32), true
	}
	if s.next > s.end || s.next == 0 {
		return 0, false
	}
	s.next++
	return s.next - 1, true
}

type numberHeap []uint32

func (h numberHeap) Len() int           { return len(h) }
func (h numberHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h numberHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *numberHeap) Push(x any)        { *h = append(*h, x.(uint32)) }
func (h *numberHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

func isUser(uid uint16) bool { return uid != 0 && uid != ifc.MLX5_SHARED_RESOURCE_UID }

// add makes a number for an object of that uid.
func (d *Device) add(k kind, uid uint16, as any) (uint32, *refusal) {
	ns := &d.objects[k]
	if ns.max != 0 && len(ns.live) >= ns.max {
		return 0, limitReached
	}
	n, ok := ns.of(uid).take()
	if !ok {
		return 0, limitReached
	}
	ns.live[n] = object{uid: uid, as: as}
	d.enlist(as)
	d.owned[uid]++
	return n, nil
}

// remove gives the number back.
func (d *Device) remove(k kind, n uint32) {
	ns := &d.objects[k]
	o := ns.live[n]
	delete(ns.live, n)
	d.delist(o.as)
	heap.Push(&ns.of(o.uid).free, n)
	d.owned[o.uid]--
}

// access is what a command wants with an object that it names.
type access uint8

const (
	toRead   access = iota // a query: the driver sees all, and everyone what is the driver's
	toName                 // another object shall use it: one's own or a shared one, for the driver any
	toChange               // modify or destroy: one's own; shared ones are the driver's to destroy
)

// may says whether a command under uid has that access to an object of owner.
func (a access) may(uid, owner uint16) bool {
	shared := owner == ifc.MLX5_SHARED_RESOURCE_UID
	switch a {
	case toRead:
		return uid == owner || uid == 0 || owner == 0 || shared
	case toName:
		return uid == owner || uid == 0 || shared
	}
	return uid == owner || shared && uid == 0
}

// find returns the object with that number if the uid has that access to it.
func (d *Device) find(k kind, n uint32, uid uint16, a access) (object, bool) {
	o, ok := d.objects[k].live[n]
	return o, ok && a.may(uid, o.uid)
}

// create is the command that makes an object of which this device knows no more
// than its number. The number comes back at byte at.
func create(k kind, at int) handler {
	return func(d *Device, c *command) *refusal {
		n, r := d.add(k, c.uid, nil)
		if r != nil {
			return r
		}
		binary.BigEndian.PutUint32(c.out[at:], n)
		return nil
	}
}

// destroy is the command that ends such an object: its number stands in the
// input at byte at, and is as wide as the kind's numbers are.
func destroy(k kind, at int) handler {
	return func(d *Device, c *command) *refusal {
		n := c.number(k, at)
		o, ok := d.find(k, n, c.uid, toChange)
		switch {
		case !ok:
			return noSuchObject
		case o.users > 0:
			return objectBusy
		}
		d.remove(k, n)
		return nil
	}
}

// putNumber answers with the number of what was made, which most commands have
// at byte 8.
func putNumber(out []byte, n uint32) { binary.BigEndian.PutUint32(out[8:], n) }
