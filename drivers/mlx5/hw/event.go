package hw

import (
	"time"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// pending is an event on its way to an event queue, or only the interrupt of
// one whose entries are there already.
type pending struct {
	eq        *eq
	event     EQE
	cq        *cq // the queue that the event is about, nil for none
	qp        *qp // the same for a queue pair
	interrupt bool
}

func (d *Device) push(p pending) {
	d.events = append(d.events, p)
	d.kick()
}

// raise sends an event to every queue that asked for its type.
func (d *Device) raise(e EQE, about *cq) { d.raiseAbout(e, pending{cq: about}) }

// raiseAbout is raise for an event about what p names.
func (d *Device) raiseAbout(e EQE, p pending) {
	p.event = e
	for n := uint32(0); n <= kinds[kindEQ].last; n++ {
		if o, ok := d.objects[kindEQ].live[n]; ok && o.as.(*eq).takes(e.Type) {
			p.eq = o.as.(*eq)
			d.push(p)
		}
	}
}

// forget drops the events that drop says.
func (d *Device) forget(drop func(*pending) bool) {
	kept := d.events[:0]
	for i := range d.events {
		if !drop(&d.events[i]) {
			kept = append(kept, d.events[i])
		}
	}
	clear(d.events[len(kept):])
	d.events = kept
}

// kick wakes Run.
func (d *Device) kick() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// delivery is what Step does once it has let go of the device's lock.
type delivery uint8

const (
	nothing delivery = iota
	quietly          // the entry was written into a queue that is not armed
	interrupt
	handOver // the queue has no buffer
)

// Step does the next thing that the device has to do and says whether there was
// one: it delivers the oldest event that can be delivered, or else takes in one
// packet, sends one, or lets one timer expire.
//
// Delivering an event is to write the entry into its queue's buffer and to
// interrupt if the queue is armed, which disarms it. Events for a queue that is
// full wait until the driver moves its consumer index.
func (d *Device) Step() bool { return d.steps(1) > 0 }

// atOnce is how many steps are done before anybody else gets at the device.
const atOnce = 64

// Drain steps until there is nothing left to do, and returns how many steps
// that took. What comes in meanwhile from elsewhere is done too.
func (d *Device) Drain() (n int) {
	for {
		did := d.steps(atOnce)
		if did == 0 {
			return n
		}
		n += did
	}
}

// steps does at most most steps and returns how many it did.
func (d *Device) steps(most int) (n int) {
	d.mu.Lock()
	p, how := d.deliver()
	if how == nothing {
		for n < most && d.work() {
			n++
			if len(d.events) > 0 {
				break
			}
		}
		d.mu.Unlock()
		return n
	}
	d.mu.Unlock()
	switch how {
	case interrupt:
		if d.cfg.Interrupt != nil {
			d.cfg.Interrupt(p.eq.vector)
		}
	case handOver:
		if d.cfg.Event != nil {
			d.cfg.Event(p.eq.n, p.event)
		}
	}
	return 1
}

// Run steps whenever there is something to do, and moves the fabric's clock with
// the time of day, until stop is closed.
func (d *Device) Run(stop <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		d.Turn()
		timer.Stop()
		var expired <-chan time.Time
		if in, ok := d.Due(); ok {
			timer.Reset(in)
			expired = timer.C
		}
		select {
		case <-stop:
			return
		case <-d.wake:
		case <-expired:
		}
	}
}

// Turn is what Run does between two waits, for a caller with a loop of its own: it
// moves the fabric's clock to the time of day and steps until there is nothing
// left to do, on the caller's goroutine. It says whether there was anything.
func (d *Device) Turn() (busy bool) {
	d.fabric.follow()
	return d.Drain() > 0
}

// Due returns how long it takes until something happens that only time brings
// about; ok is false if nothing is waited for. The clock must follow the time of
// day, as Run and Turn have it do.
func (d *Device) Due() (in time.Duration, ok bool) {
	at, ok := d.NextDeadline()
	if !ok {
		return 0, false
	}
	d.fabric.follow()
	return max(0, at-d.fabric.Now()), true
}

func (d *Device) deliver() (pending, delivery) {
	for i := range d.events {
		p := d.events[i]
		e := p.eq
		buffered := len(e.buf.pages) > 0
		if buffered && !p.interrupt && e.full() {
			continue
		}
		d.events = append(d.events[:i], d.events[i+1:]...)
		if !buffered {
			return p, handOver
		}
		if !p.interrupt && !d.writeEQE(e, &p.event) {
			return p, quietly
		}
		if e.st != ifc.MLX5_EQC_ST_ARMED {
			return p, quietly
		}
		e.st = ifc.MLX5_EQC_ST_FIRED
		return p, interrupt
	}
	return pending{}, nothing
}

// writeEQE puts an entry into its queue. A queue whose memory cannot be reached
// takes no more.
func (d *Device) writeEQE(e *eq, event *EQE) bool {
	if e.status != ifc.MLX5_EQC_STATUS_OK {
		return false
	}
	entry := d.entry[:EQESize]
	event.encode(entry, uint8(e.pi>>e.logSize&1))
	at := uint64(e.pi&(1<<e.logSize-1)) * EQESize
	if err := d.put("eqe", &e.buf, at, entry); err != nil {
		e.status = ifc.MLX5_EQC_STATUS_EQ_WRITE_FAILURE
		return false
	}
	e.pi = (e.pi + 1) & bits24
	return true
}
