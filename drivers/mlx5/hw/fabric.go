package hw

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Link is what happens to packets between two devices. The zero value loses,
// delays and reorders nothing. Packets between queue pairs of one device do not
// go over the link.
type Link struct {
	Loss    float64       // of all packets, this part is lost
	Reorder float64       // this part comes Jitter late
	Delay   time.Duration // from the sender to the receiver
	Jitter  time.Duration // how much later a reordered packet comes; Delay if zero
	Seed    uint64        // of the random numbers that the above are drawn with
}

// Fabric joins devices: what one sends to the address of another arrives there.
// It also has the clock that time-outs run on, which begins at 0 and stands still
// unless somebody moves it. Its methods may be called by several goroutines at
// once.
type Fabric struct {
	now   atomic.Int64 // nanoseconds
	start sync.Once
	epoch time.Time // when the clock was 0, if it follows the time of day

	mu      sync.RWMutex // over what follows; the devices' locks come before it
	devices []*Device
	owners  map[[16]byte]*Device // by GID
	link    Link
	dice    *rand.Rand

	poolMu sync.Mutex
	pool   packetList // that nobody uses

	lost atomic.Uint64
}

// NewFabric returns a fabric of such links. Config.Fabric puts a device into it.
func NewFabric(link Link) *Fabric {
	f := &Fabric{owners: map[[16]byte]*Device{}}
	f.SetLink(link)
	return f
}

// SetLink changes what happens to packets that are sent from now on.
func (f *Fabric) SetLink(link Link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link = link
	f.dice = rand.New(rand.NewPCG(link.Seed, link.Seed))
}

// Now is the time on the fabric's clock.
func (f *Fabric) Now() time.Duration { return time.Duration(f.now.Load()) }

// Advance moves the clock. What becomes due by it is done by the devices' next
// steps.
func (f *Fabric) Advance(d time.Duration) {
	f.now.Add(int64(d))
	f.kick()
}

// follow moves the clock with the time of day since it was first called.
func (f *Fabric) follow() {
	f.start.Do(func() { f.epoch = time.Now().Add(-f.Now()) })
	f.advanceTo(int64(time.Since(f.epoch)))
}

// advanceTo moves the clock to a later time.
func (f *Fabric) advanceTo(t int64) {
	for {
		now := f.now.Load()
		if t <= now || f.now.CompareAndSwap(now, t) {
			return
		}
	}
}

// Lost returns how many packets the links have lost, and how many had no device
// to go to.
func (f *Fabric) Lost() uint64 { return f.lost.Load() }

func (f *Fabric) join(d *Device) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.devices = append(f.devices, d)
}

// Leave takes a device off the fabric. What is on its way there is lost.
func (f *Fabric) Leave(d *Device) {
	defer f.kick() // who has waited for room there need not any more
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.Index(f.devices, d); i >= 0 {
		f.devices = slices.Delete(slices.Clone(f.devices), i, i+1)
	}
	f.disown(d)
}

// announce says which addresses a device has from now on. A GID that two devices
// claim is that of the last one.
func (f *Fabric) announce(d *Device, gids [][16]byte) {
	defer f.kick()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.disown(d)
	for _, g := range gids {
		f.owners[g] = d
	}
}

// disown takes all addresses from a device. The caller holds the lock.
func (f *Fabric) disown(d *Device) {
	maps.DeleteFunc(f.owners, func(_ [16]byte, owner *Device) bool { return owner == d })
}

// Resolve returns the MAC address that a GID is reached through; ok is false if no
// device has that GID.
func (f *Fabric) Resolve(gid [16]byte) (mac [6]byte, ok bool) {
	d := f.owner(gid)
	if d == nil {
		return mac, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.port.roce.places {
		if a := &d.port.roce.places[i]; a.gid == gid {
			return a.mac, true
		}
	}
	return mac, false
}

// owner returns the device with that address, nil if there is none.
func (f *Fabric) owner(gid [16]byte) *Device {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.owners[gid]
}

func (f *Fabric) kick() {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, d := range f.devices {
		d.kick()
	}
}

// take returns a packet to be filled in: its headers are zero, its payload is
// what it was.
func (f *Fabric) take() *packet {
	f.poolMu.Lock()
	p := f.pool.pop()
	f.poolMu.Unlock()
	if p == nil {
		return newPacket(maxPayload)
	}
	p.reset()
	return p
}

// newPacket makes a packet with room for a payload.
func newPacket(room int) *packet {
	p := &packet{buf: make([]byte, room)}
	p.reset()
	return p
}

// reset empties a packet that was used.
func (p *packet) reset() { p.header, p.n, p.due = header{packets: 1}, 0, 0 }

// keptPackets is how many packets a device keeps for itself.
const keptPackets = 64

// takePacket is Fabric.take for a device, which has some of its own.
func (d *Device) takePacket() *packet {
	p := d.packets.pop()
	if p == nil {
		return d.fabric.take()
	}
	p.reset()
	return p
}

// takeTrain is takePacket for a payload that is longer than a packet's.
func (d *Device) takeTrain() *packet {
	p := d.trains.pop()
	if p == nil {
		return newPacket(maxTrain)
	}
	p.reset()
	return p
}

// givePacket gives a packet back.
func (d *Device) givePacket(p *packet) {
	if len(p.buf) == maxTrain {
		d.trains.pushFront(p)
		return
	}
	if d.packets.n < keptPackets {
		d.packets.pushFront(p) // the last one is still in the processor's cache
		return
	}
	d.fabric.give(p)
}

// give gives a packet back.
func (f *Fabric) give(p *packet) {
	f.poolMu.Lock()
	f.pool.pushFront(p)
	f.poolMu.Unlock()
}

// inbox is where a device's packets arrive, in the order in which they are due.
type inbox struct {
	mu   sync.Mutex
	list packetList   // due at once, or once those before are
	late packetList   // held up by the link, the earliest first
	full atomic.Bool  // senders shall wait
	has  atomic.Int32 // packets in both lists
}

// roomInInbox is how many packets wait for a device until others hold theirs
// back.
const roomInInbox = 1024

func (in *inbox) push(p *packet, now int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if p.due <= now && in.late.head == nil {
		in.list.push(p)
	} else {
		in.late.insert(p)
	}
	if in.list.n >= roomInInbox {
		in.full.Store(true)
	}
	in.has.Add(1)
}

// pop takes the next packet that is due. Drained says that senders which were
// held back may go on.
func (in *inbox) pop(now int64) (p *packet, drained bool) {
	if in.has.Load() == 0 {
		return nil, false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if p = in.list.pop(); p == nil {
		if h := in.late.head; h == nil || h.due > now {
			return nil, false
		}
		p = in.late.pop()
	}
	in.has.Add(-1)
	return p, in.reopen()
}

// reopen lets senders go on that were held back, once there is room again. It says
// whether it did.
func (in *inbox) reopen() bool {
	return in.list.n < roomInInbox/2 && in.full.CompareAndSwap(true, false)
}

// take removes what which says of that which has arrived. Drained is as with pop.
func (in *inbox) take(which func(*packet) bool) (taken packetList, drained bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	taken = in.list.take(which)
	in.has.Add(-int32(taken.n))
	return taken, in.reopen()
}

// discard drops what which says of that which waits for this device.
func (d *Device) discard(which func(*packet) bool) {
	arrived, drained := d.in.take(which)
	for _, l := range []packetList{d.loop.take(which), arrived} {
		for p := l.pop(); p != nil; p = l.pop() {
			d.givePacket(p)
		}
	}
	if drained {
		d.fabric.kick()
	}
}

// nextDue is when the next packet arrives; ok is false if none is on its way.
func (in *inbox) nextDue() (due int64, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.list.head != nil {
		return 0, true
	}
	if in.late.head != nil {
		return in.late.head.due, true
	}
	return 0, false
}

// outcome is what became of a packet that was to be sent.
type outcome uint8

const (
	sent outcome = iota
	congested
	unsent // there is nothing to send yet, or at all
)

// send brings a packet to the device that has its destination's address, or to
// all others too if that is a group. A packet for nobody is lost. Congested means
// that the receiver has too many waiting; the packet is still the caller's. Near
// is a receiver that is known to be on this device.
func (d *Device) send(p *packet, near bool) outcome {
	f := d.fabric
	switch {
	case near || d.ownsGID(p.to):
		d.loop.push(p)
		d.countPort(true, false, int(p.packets), p.n)
		return sent
	case isGroup(&p.to):
		d.sendToGroup(p)
		return sent
	}
	to := f.owner(p.to)
	if to == nil || !d.linkUp() {
		f.lost.Add(1)
		d.givePacket(p)
		return sent
	}
	if to.in.full.Load() {
		return congested
	}
	d.countPort(true, false, 1, p.n)
	f.transmit(to, p)
	return sent
}

// transmit puts a packet onto the link to a device.
func (f *Fabric) transmit(to *Device, p *packet) {
	now := f.now.Load()
	p.due = now
	if !f.roll(p) {
		f.lost.Add(1)
		f.give(p)
		return
	}
	to.in.push(p, now)
	to.kick()
}

// roll lets the link's chances decide: false is a loss.
func (f *Fabric) roll(p *packet) bool {
	f.mu.RLock()
	l := f.link
	f.mu.RUnlock()
	if l.Loss == 0 && l.Delay == 0 && l.Reorder == 0 {
		return true
	}
	f.mu.Lock()
	loss, reorder := f.dice.Float64(), f.dice.Float64()
	f.mu.Unlock()
	if loss < l.Loss {
		return false
	}
	p.due += int64(l.Delay)
	if reorder < l.Reorder {
		late := l.Jitter
		if late == 0 {
			late = l.Delay
		}
		p.due += int64(late)
	}
	return true
}

// isGroup says whether a GID is that of a multicast group: ff00::/8, or an IPv4
// group behind ::ffff.
func isGroup(gid *[16]byte) bool {
	return gid[0] == 0xff || isIPv4(gid) && gid[12]>>4 == 0xe
}

// isIPv4 says whether a GID has the form ::ffff:a.b.c.d.
func isIPv4(gid *[16]byte) bool {
	return [12]byte(gid[:12]) == [12]byte{10: 0xff, 11: 0xff}
}

// sendToGroup brings a copy to every device on the fabric, this one among them.
func (d *Device) sendToGroup(p *packet) {
	f := d.fabric
	d.countPort(true, true, 1, p.n)
	f.mu.RLock()
	devices := f.devices
	f.mu.RUnlock()
	for _, to := range devices {
		if to != d && (!d.linkUp() || to.in.full.Load()) {
			f.lost.Add(1)
			continue
		}
		c := d.takePacket()
		c.header, c.n = p.header, copy(c.buf, p.payload())
		if to == d {
			d.loop.push(c)
			continue
		}
		f.transmit(to, c)
	}
	d.givePacket(p)
}

// linkUp says whether the port carries packets.
func (d *Device) linkUp() bool { return d.port.up }
