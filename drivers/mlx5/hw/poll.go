package hw

import (
	"encoding/binary"
	"slices"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/drivers/mlx5/hw/words"
)

// A register page may be memory that its user stores to unseen. Poll looks at the
// doorbells there, and what it finds tells less than a store does: of two
// doorbells at the same register only the later one is left. But each user says
// in the doorbell record what it wants before it rings. So when a register of
// send queues was rung, all of the page's send queues look at their records, and
// when that of completion queues was, the device looks at the records of all of
// these.

// pageUsers are the queues whose contexts name a register page.
type pageUsers struct {
	cqs []*cq
	qps []*qp
	sqs []*context
}

// pageOf returns the register page that an object's context names; false for one
// without doorbells of a user's.
func pageOf(as any) (page uint32, ok bool) {
	switch q := as.(type) {
	case *cq:
		return q.uar, true
	case *qp:
		return q.uar, true
	case *context:
		return uint32(q.get(sqWQ.uar)), q.of.kind == kindSQ
	}
	return 0, false
}

// enlist enters a new object among the users of its page.
func (d *Device) enlist(as any) {
	page, ok := pageOf(as)
	if !ok {
		return
	}
	u := d.users[page]
	if u == nil {
		u = &pageUsers{}
		d.users[page] = u
	}
	switch q := as.(type) {
	case *cq:
		u.cqs = append(u.cqs, q)
	case *qp:
		u.qps = append(u.qps, q)
	case *context:
		u.sqs = append(u.sqs, q)
	}
}

// delist takes out an object that ends.
func (d *Device) delist(as any) {
	page, ok := pageOf(as)
	if !ok {
		return
	}
	u := d.users[page]
	switch q := as.(type) {
	case *cq:
		u.cqs = without(u.cqs, q)
	case *qp:
		u.qps = without(u.qps, q)
	case *context:
		u.sqs = without(u.sqs, q)
	}
	if len(u.cqs)+len(u.qps)+len(u.sqs) == 0 {
		delete(d.users, page)
	}
}

func without[T comparable](list []T, gone T) []T {
	i := slices.Index(list, gone)
	return slices.Delete(list, i, i+1)
}

// polledSends are the places of a page where users ring send queues: two
// buffers of each of the two sets that the driver gives out
// (MLX5_NON_FP_BFREGS_PER_UAR in include/linux/mlx5/device.h).
const polledSends = 4

// Poll looks at memory that stands for the register page and does what stores to
// the page would have done: it takes the doorbell of completion queues and those
// of send queues at 0x800, 0x900, 0xa00 and 0xb00. The doorbells of event queues
// are the driver's, and its page is none that users map. Poll says whether it
// found any. It may be called by several goroutines at once, and while the user
// stores.
//
// From the first call on the device knows that nobody tells it of stores to this
// page, so that call should come before the user can make a queue.
func (p *uarPage) Poll(frame *[uarPageSize]byte) (rang bool) {
	b := frame[:]
	if !p.polled.Load() {
		p.announce()
	}
	arm := words.Load64(b, ifc.MLX5_CQ_DOORBELL)
	var sends uint64
	for i := range polledSends {
		sends |= words.Load64(b, ifc.MLX5_BF_OFFSET+i*sendDoorbellStep)
	}
	if arm|sends == 0 {
		return false
	}
	if arm != 0 {
		arm = words.Swap64(b, ifc.MLX5_CQ_DOORBELL, 0)
	}
	var rung [polledSends]uint32
	if sends != 0 {
		for i := range rung {
			if at := ifc.MLX5_BF_OFFSET + i*sendDoorbellStep; words.Load64(b, at) != 0 {
				rung[i] = uint32(words.Swap64(b, at, 0))
			}
		}
	}
	p.d.ring(p.index, arm, rung, sends != 0)
	return true
}

// announce notes that the page is polled.
func (p *uarPage) announce() {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.d.polled[p.index] = true
	p.polled.Store(true)
}

// ring does what was found in a register page: the doorbell of a completion
// queue, if there was one, and the second words of send queues'.
func (d *Device) ring(page uint32, arm uint64, rung [polledSends]uint32, sends bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.objects[kindUAR].live[page]; !ok || d.broken {
		return
	}
	if arm != 0 {
		cqn := uint32(arm) & bits24
		d.armCQ(page, uint32(arm>>32), cqn)
		d.armOthers(page, cqn)
	}
	if sends {
		for _, word := range rung {
			if word != 0 {
				d.ringSQ(page, word)
			}
		}
		d.scanPage(page)
	}
}

// scanPage looks at the doorbell records of a page's send queues.
func (d *Device) scanPage(page uint32) {
	u := d.users[page]
	if u == nil {
		return
	}
	for _, q := range u.qps {
		if q.state >= ifc.MLX5_QP_STATE_RTS {
			d.schedule(q)
		}
	}
	for _, o := range u.sqs {
		d.scanRaw(o)
	}
}

// notArmed is what the device puts where a polled user's record says what the
// queue is armed for: the user has 0 there, and that is also what it writes to
// arm a queue for the first completion. No arming looks like this.
const notArmed = 0xffffffff

// recordArm is where a completion queue's doorbell record says what it is armed
// for.
const recordArm = 4

// markUnarmed makes the first arming of a new queue tell from none. Users write
// this word and do not read it. If it cannot be written the queue is armed with
// the first doorbell of its page, which may be an event too many.
func (d *Device) markUnarmed(q *cq) {
	if !d.polled[q.uar] || q.has(cqc.recordUMEM) {
		return
	}
	word := d.entry[:4]
	binary.BigEndian.PutUint32(word, notArmed)
	_ = d.write("cq doorbell record", word, q.record+recordArm)
}

// armOthers arms those of a page's completion queues whose records say so, beside
// one whose doorbell was found. What a queue is armed for already, and what
// the last event has answered, armCQ tells apart.
func (d *Device) armOthers(page, found uint32) {
	u := d.users[page]
	if u == nil {
		return
	}
	for _, q := range u.cqs {
		word := d.entry[:4]
		if q.n == found || d.read("cq doorbell record", word, q.record+recordArm) != nil {
			continue
		}
		if w := binary.BigEndian.Uint32(word); w != notArmed {
			d.armCQ(page, w, q.n)
		}
	}
}
