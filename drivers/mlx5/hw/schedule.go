package hw

import (
	"time"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// schedule puts a queue pair behind those that have something to do.
func (d *Device) schedule(q *qp) {
	if q.queued {
		return
	}
	d.enqueue(q)
	d.kick()
}

// enqueue is schedule for who goes on to work.
func (d *Device) enqueue(q *qp) {
	q.queued = true
	d.ready.push(q)
}

// ringSQ is the doorbell of a send queue: the first 8 bytes of a work request,
// whose second word has the queue's number in bits 31:8. How far the queue is
// filled stands in its doorbell record.
func (d *Device) ringSQ(uar, word uint32) {
	o, ok := d.objects[kindQP].live[word>>8]
	if !ok {
		d.ringRaw(uar, word>>8)
		return
	}
	if q := o.as.(*qp); q.uar == uar {
		d.schedule(q)
	}
}

// Scan looks at the doorbell records of all queue pairs, for a caller that does
// not see the stores to the register pages.
func (d *Device) Scan() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.objects[kindQP].live {
		if q := o.as.(*qp); q.state >= ifc.MLX5_QP_STATE_RTS {
			d.schedule(q)
		}
	}
	for _, o := range d.objects[kindSQ].live {
		d.scanRaw(o.as.(*context))
	}
}

// rarely is how many pieces of work are done before it is time to look at what is
// otherwise done when there is nothing else: timers, and receives to be flushed.
const rarely = 256

// work does the next piece of the data path: takes in a packet, sends one, or
// lets a timer expire. It says whether there was anything. What comes in and what
// goes out take turns, so that neither has to wait for the other to end.
func (d *Device) work() bool {
	if d.broken {
		return false
	}
	if p := d.loop.pop(); p != nil {
		d.receive(p)
		d.givePacket(p)
		return true
	}
	now := d.fabric.now.Load()
	d.turn++
	if d.turn%rarely == 0 && (d.expire(now) || d.flushPosted()) {
		return true
	}
	in := d.turn%2 == 0
	if in && d.raw.ready.n > 0 && d.sendNextRaw() {
		return true
	}
	return in && d.takeIn(now) || d.advanceNext() || !in && d.takeIn(now) || d.sendNextRaw() || d.expire(now) || d.flushPosted()
}

// takeIn takes in a packet that has come over a link. It says whether there was
// one.
func (d *Device) takeIn(now int64) bool {
	p, drained := d.in.pop(now)
	if p == nil {
		return false
	}
	if d.linkUp() {
		d.receive(p)
	} else {
		d.fabric.lost.Add(1)
	}
	d.givePacket(p)
	if drained {
		d.fabric.kick()
	}
	return true
}

// advanceNext does a piece of the work of the first queue pair that has any. It
// says whether one had. Those that are held back stay on the list; who has no room
// for their packets says when there is.
func (d *Device) advanceNext() bool {
	for n := d.ready.n; n > 0; n-- {
		q := *d.ready.at(0)
		d.ready.pop()
		q.queued = false
		did := d.advance(q)
		if (did || q.held) && !q.queued {
			d.enqueue(q)
		}
		if did {
			return true
		}
	}
	return false
}

// SettleQP lets one queue pair do all that it can do at once, and nothing else
// happen: for a driver that waits for a work request of its own, while nobody
// steps the device.
func (d *Device) SettleQP(qpn uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o, ok := d.objects[kindQP].live[qpn]; ok && !d.broken {
		for d.advance(o.as.(*qp)) {
		}
	}
}

// advance does one piece of a queue pair's work: answers and requests take turns.
// It says whether there was any.
func (d *Device) advance(q *qp) bool {
	q.held = false
	q.turn = !q.turn
	if q.turn && d.respond(q) || !q.held && d.pursue(q) {
		return true
	}
	return !q.turn && !q.held && d.respond(q)
}

// pursue does one piece of what a queue pair's state asks for.
func (d *Device) pursue(q *qp) bool {
	switch q.state {
	case ifc.MLX5_QP_STATE_RTS, ifc.MLX5_QP_STATE_SQ_DRAINING:
		return d.request(q)
	case ifc.MLX5_QP_STATE_SQER:
		return d.flushSend(q)
	case ifc.MLX5_QP_STATE_ERR:
		return d.flushSend(q) || d.flushRecv(q)
	}
	return false
}

// flushPosted looks for receives that were posted to a queue pair in error: no
// doorbell tells of them.
func (d *Device) flushPosted() bool {
	for i := 0; i < len(d.failed); i++ {
		if d.flushRecv(d.failed[i]) {
			return true
		}
	}
	return false
}

// watch puts the queue pair among those whose timers are looked at.
func (d *Device) watch(q *qp) {
	if !q.timed {
		q.timed = true
		d.timed = append(d.timed, q)
	}
}

// expire lets one timer that is due expire.
func (d *Device) expire(now int64) bool {
	for i := 0; i < len(d.timed); {
		q := d.timed[i]
		switch {
		case q.req.wakeAt == 0 && q.req.deadline == 0:
			q.timed = false
			last := len(d.timed) - 1
			d.timed[i] = d.timed[last]
			d.timed[last] = nil
			d.timed = d.timed[:last]
			continue
		case q.req.wakeAt != 0 && q.req.wakeAt <= now:
			q.req.wakeAt = 0
			d.schedule(q)
			return true
		case q.req.deadline != 0 && q.req.deadline <= now:
			d.timeout(q)
			return true
		}
		i++
	}
	return false
}

// NextDeadline returns when, on the fabric's clock, something happens that only
// time brings about: a packet arrives or a timer expires. Ok is false if nothing
// is waited for.
func (d *Device) NextDeadline() (at time.Duration, ok bool) {
	due, ok := d.in.nextDue()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return 0, false
	}
	for _, q := range d.timed {
		for _, t := range [...]int64{q.req.wakeAt, q.req.deadline} {
			if t != 0 && (!ok || t < due) {
				due, ok = t, true
			}
		}
	}
	return time.Duration(due), ok
}

// forgetQP takes a queue pair off all lists.
func (d *Device) forgetQP(q *qp) {
	for _, list := range []*[]*qp{&d.timed, &d.failed} {
		kept := (*list)[:0]
		for _, other := range *list {
			if other != q {
				kept = append(kept, other)
			}
		}
		clear((*list)[len(kept):])
		*list = kept
	}
	q.timed = false
}
