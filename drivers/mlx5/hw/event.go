package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// pending is an event on its way to an event queue, or only the interrupt of
// one whose entries are there already.
type pending struct {
	eq        *eq
	event     EQE
	cq        *cq // the queue that the event is about, nil for none
	interrupt bool
}

func (d *Device) push(p pending) {
	d.events = append(d.events, p)
	d.kick()
}

// raise sends an event to every queue that asked for its type.
func (d *Device) raise(e EQE, about *cq) {
	for n := uint32(0); n <= kinds[kindEQ].last; n++ {
		if o, ok := d.objects[kindEQ].live[n]; ok && o.as.(*eq).takes(e.Type) {
			d.push(pending{eq: o.as.(*eq), event: e, cq: about})
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

// Step delivers the oldest event that can be delivered and says whether there
// was one. It writes the entry into its queue's buffer and interrupts if the
// queue is armed, which disarms it. Events for a queue that is full wait until
// the driver moves its consumer index.
func (d *Device) Step() bool {
	d.mu.Lock()
	p, how := d.deliver()
	d.mu.Unlock()
	switch how {
	case nothing:
		return false
	case interrupt:
		if d.cfg.Interrupt != nil {
			d.cfg.Interrupt(p.eq.vector)
		}
	case handOver:
		if d.cfg.Event != nil {
			d.cfg.Event(p.eq.n, p.event)
		}
	}
	return true
}

// Run steps whenever there is something to deliver, until stop is closed.
func (d *Device) Run(stop <-chan struct{}) {
	for {
		for d.Step() {
		}
		select {
		case <-stop:
			return
		case <-d.wake:
		}
	}
}

// Pending returns how many events wait for Step.
func (d *Device) Pending() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.events)
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
	if err := d.putOwned("eqe", &e.buf, at, entry); err != nil {
		e.status = ifc.MLX5_EQC_STATUS_EQ_WRITE_FAILURE
		return false
	}
	e.pi = (e.pi + 1) & bits24
	return true
}
